//! One number for all that routing can see of a fabric.

use crate::Fabric;

impl Fabric {
    /// A 64-bit digest of everything that routing can see: switches, ports, cables, terminals, GUIDs,
    /// LIDs and roles, but not names. Results carry it as provenance.
    pub fn digest(&self) -> u64 {
        let mut h = Digest::default();
        h.add(self.switches.len() as u64);
        for s in &self.switches {
            h.add(s.guid.0);
            h.add(u64::from(s.ports) | u64::from(s.lid.unwrap_or(0)) << 8);
        }
        for t in &self.terminals {
            h.add(t.guid.0);
            h.add(u64::from(t.switch.0) << 32 | u64::from(t.switch_port) << 8 | t.role as u64);
            h.add(u64::from(t.lid.unwrap_or(0)) << 8 | u64::from(t.lmc));
            h.add(self.classes[t.class as usize].bytes_per_second);
        }
        for c in 0..self.head.len() {
            h.add(u64::from(self.tail[c]) << 32 | u64::from(self.head[c]));
            h.add(u64::from(self.tail_port[c]) << 32 | u64::from(self.reverse[c]));
            h.add(self.classes[self.class[c] as usize].bytes_per_second);
        }
        h.value()
    }
}

/// A 64-bit digest of words: Fowler-Noll-Vo 1a, stable across releases and platforms.
#[derive(Clone, Copy, Debug)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Takes a word in.
    pub fn add(&mut self, word: u64) {
        for byte in word.to_le_bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The digest of all words so far.
    pub fn value(self) -> u64 {
        self.0
    }
}
