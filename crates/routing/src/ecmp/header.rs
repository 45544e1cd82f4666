//! The header of a RoCE v2 packet, as far as switches hash it.

use darkfiber_fabric::TerminalId;

use super::Field;

/// The UDP destination port of RoCE v2.
pub const ROCE_PORT: u16 = 4791;
/// Protocol number of UDP.
const PROTOCOL: u8 = 17;
/// Bytes of all fields together.
const KEY: usize = 17;

/// The header of the packets of one queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The sender's IPv4 address.
    pub src_ip: u32,
    /// The receiver's IPv4 address.
    pub dst_ip: u32,
    /// The UDP source port.
    pub src_port: u16,
    /// The receiver's queue pair.
    pub dst_qp: u32,
}

impl Header {
    /// The header of queue pair `number` between two terminals. Numbers of queue pairs are not known before a job runs: they are
    /// drawn, by `draw`. Addresses are 10.0.0.1 onwards, in the order of terminals.
    pub fn drawn(draw: u64, from: TerminalId, to: TerminalId, number: u32) -> Self {
        let at = |own: TerminalId, other: TerminalId| {
            let place = u64::from(own.0) << 32 | u64::from(other.0);
            // Queue pairs 0 and 1 are the subnet manager's.
            mixed(mixed(draw ^ mixed(place)) ^ u64::from(number)) as u32 % 0x00ff_fffe + 2
        };
        let (local, remote) = (at(from, to), at(to, from));
        let ip = |t: TerminalId| 0x0a00_0001u32.wrapping_add(t.0);
        let src_port = roce_source_port(local, remote);
        Self { src_ip: ip(from), dst_ip: ip(to), src_port, dst_qp: remote }
    }

    /// The bytes that a hash of these fields reads, in network byte order, and their number.
    pub fn key(&self, fields: &[Field], in_port: u8) -> ([u8; KEY], usize) {
        let (mut key, mut length) = ([0; KEY], 0);
        let mut put = |bytes: &[u8]| {
            key[length..length + bytes.len()].copy_from_slice(bytes);
            length += bytes.len();
        };
        for field in fields {
            match field {
                Field::SrcIp => put(&self.src_ip.to_be_bytes()),
                Field::DstIp => put(&self.dst_ip.to_be_bytes()),
                Field::SrcPort => put(&self.src_port.to_be_bytes()),
                Field::DstPort => put(&ROCE_PORT.to_be_bytes()),
                Field::Protocol => put(&[PROTOCOL]),
                Field::DstQp => put(&self.dst_qp.to_be_bytes()[1..]),
                Field::InPort => put(&[in_port]),
            }
        }
        (key, length)
    }
}

/// The UDP source port that Linux gives a connection of RoCE v2 whose flow label is 0, by the numbers of its queue pairs
/// (`rdma_calc_flow_label` and `rdma_flow_label_to_udp_sport` of include/rdma/ib_verbs.h): 49,152 to 65,535.
pub fn roce_source_port(local: u32, remote: u32) -> u16 {
    let mut v = u64::from(local) * u64::from(remote);
    v ^= v >> 20;
    v ^= v >> 40;
    let label = (v & 0xf_ffff) as u32;
    (((label & 0x3fff) ^ (label >> 14)) | 0xc000) as u16
}

/// SplitMix64's finish: every bit of the result depends on every bit of the argument.
pub(super) fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked out from the formula of the kernel's header by hand.
    #[test]
    fn source_ports_are_those_of_linux() {
        for (local, remote, port) in [
            (0x11, 0x11, 49_441),
            (0x1234, 0x5678, 49_178),
            (0x0001_23ab, 0x0000_456c, 59_381),
            (0xff_ffff, 0xff_ffff, 65_313),
        ] {
            assert_eq!(roce_source_port(local, remote), port);
            assert_eq!(roce_source_port(remote, local), port);
        }
    }

    #[test]
    fn a_five_tuple_has_thirteen_bytes() {
        let header =
            Header { src_ip: 0x0a00_0001, dst_ip: 0x0a00_0002, src_port: 0xc001, dst_qp: 7 };
        let (key, length) = header.key(&Field::FIVE_TUPLE, 3);
        assert_eq!(key[..length], [10, 0, 0, 1, 10, 0, 0, 2, 0xc0, 1, 0x12, 0xb7, 17]);
        let (key, length) = header.key(&[Field::DstQp, Field::InPort], 3);
        assert_eq!(key[..length], [0, 0, 7, 3]);
        assert_eq!(header.key(&Field::ALL, 3).1, KEY);
    }
}
