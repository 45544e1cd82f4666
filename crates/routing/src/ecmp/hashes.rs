//! Hash functions of switches: a registry.

use darkfiber_fabric::Registry;

use super::header::mixed;

/// A hash function of a family of switches.
pub struct HashFunction {
    /// Name of the function in specifications.
    pub name: &'static str,
    /// In half a line.
    pub summary: &'static str,
    /// Effect of the seed, and which switches use the function.
    pub doc: &'static str,
    /// Bits of the hash, among which it is rotated.
    pub bits: u32,
    hash: fn(&[u8], u32) -> u32,
}

impl HashFunction {
    /// The hash of the key read from a packet, with a switch's seed.
    #[inline]
    pub fn hash(&self, key: &[u8], seed: u32) -> u32 {
        (self.hash)(key, seed)
    }

    /// A hash with its bits turned.
    #[inline]
    pub fn rotated(&self, hash: u32, by: u32) -> u32 {
        if self.bits == 16 {
            return u32::from((hash as u16).rotate_left(by));
        }
        hash.rotate_left(by)
    }
}

darkfiber_fabric::named!(HashFunction);

impl std::fmt::Debug for HashFunction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The registry of hash functions.
pub static HASHES: Registry<HashFunction> = Registry::new(
    "hash",
    &[
        HashFunction {
            name: "crc32",
            summary: "CRC-32 of IEEE 802.3",
            doc: "The seed is the register's first value. A CRC is linear: with another seed all hashes change by one constant, so \
              that where numbers of next hops are powers of two a switch's seed changes nothing about polarization; a rotation does. Of other \
              numbers a rotation leaves what they share with 2^32 - 1 (3, 5, 17 ...): of 6 next hops 2 are used, of 18 6.",
            bits: 32,
            hash: crc32,
        },
        HashFunction {
            name: "crc16",
            summary: "CRC-16-CCITT",
            doc: "As crc32, with 16 bits: rotations turn these, and leave what 2^16 - 1 shares, the same factors.",
            bits: 16,
            hash: |key, seed| u32::from(crc16(key, seed as u16)),
        },
        HashFunction {
            name: "xor",
            summary: "all 16-bit words of the fields, folded by exclusive or",
            doc: "The seed is one more word. Linear, as CRC, and blind to words that change places.",
            bits: 16,
            hash: |key, seed| u32::from(xor(key, seed as u16)),
        },
        HashFunction {
            name: "jenkins",
            summary: "Jenkins' one-at-a-time",
            doc: "The seed is the first value, and goes through all steps: switches with seeds of their own choose independently.",
            bits: 32,
            hash: jenkins,
        },
        HashFunction {
            name: "random",
            summary: "as good as drawn at random for every flow",
            doc: "What closed forms of balls and bins take for granted; no switch has it. With the same seed everywhere it polarizes, \
              too: every switch draws the same number.",
            bits: 32,
            hash: random,
        },
    ],
);

/// The table of CRC-32 (reflected polynomial 0xEDB88320).
static CRC32: [u32; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 256 {
        let (mut c, mut bit) = (i as u32, 0);
        while bit < 8 {
            c = if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 };
            bit += 1;
        }
        table[i] = c;
        i += 1;
    }
    table
};

fn crc32(key: &[u8], seed: u32) -> u32 {
    let step = |c: u32, &b: &u8| CRC32[((c ^ u32::from(b)) & 0xff) as usize] ^ c >> 8;
    !key.iter().fold(!seed, step)
}

fn crc16(key: &[u8], seed: u16) -> u16 {
    key.iter().fold(!seed, |c, &b| {
        (0..8).fold(
            c ^ u16::from(b) << 8,
            |c, _| {
                if c & 0x8000 == 0 { c << 1 } else { c << 1 ^ 0x1021 }
            },
        )
    })
}

fn xor(key: &[u8], seed: u16) -> u16 {
    let word = |w: &[u8]| u16::from(w[0]) << 8 | u16::from(w.get(1).copied().unwrap_or(0));
    key.chunks(2).fold(seed, |x, w| x ^ word(w))
}

fn jenkins(key: &[u8], seed: u32) -> u32 {
    let mut h = key.iter().fold(seed, |h, &b| {
        let h = h.wrapping_add(b.into());
        let h = h.wrapping_add(h << 10);
        h ^ h >> 6
    });
    h = h.wrapping_add(h << 3);
    h ^= h >> 11;
    h.wrapping_add(h << 15)
}

fn random(key: &[u8], seed: u32) -> u32 {
    let step = |h: u64, &b: &u8| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
    let h = key.iter().fold(0xcbf2_9ce4_8422_2325, step);
    (mixed(h ^ mixed(seed.into())) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The check values of the catalogue of parametrised CRC algorithms (CRC-32/ISO-HDLC, CRC-16/IBM-3740) and of Jenkins' paper in
    /// Dr. Dobb's, for "123456789" and "a".
    #[test]
    fn published_values() {
        assert_eq!(crc32(b"123456789", 0), 0xcbf4_3926);
        assert_eq!(crc16(b"123456789", 0), 0x29b1);
        assert_eq!(jenkins(b"a", 0), 0xca2e_9442);
        assert_eq!(xor(&[0x12, 0x34, 0x56], 0), 0x1234 ^ 0x5600);
    }

    /// Another seed of a CRC changes all hashes of keys of one length by the same bits; Jenkins' does not.
    #[test]
    fn a_crc_is_linear_in_its_seed() {
        let differences = |hash: fn(&[u8], u32) -> u32| {
            let all = (0u32..64).map(|i| hash(&i.to_be_bytes(), 1) ^ hash(&i.to_be_bytes(), 77));
            all.collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!((differences(crc32), differences(jenkins), differences(random)), (1, 64, 64));
    }
}
