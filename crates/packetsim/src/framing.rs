//! The overhead of a packet on a channel: headers, a minimum frame, and a gap behind it.

use darkfiber_fabric::{Registry, Unknown};

/// A header or trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Name of the header.
    pub name: &'static str,
    /// Size in bytes.
    pub bytes: u32,
    /// Whether it counts for the minimum frame: all headers except those before the frame.
    pub framed: bool,
}

/// Mapping of packets to frames.
#[derive(Debug, PartialEq, Eq)]
pub struct Framing {
    /// Name that users write.
    pub name: &'static str,
    /// In half a line.
    pub summary: &'static str,
    /// Description for users.
    pub doc: &'static str,
    /// Publication or standard that it is from.
    pub paper: &'static str,
    /// Headers of every packet, in the order in which they are sent.
    pub headers: &'static [Header],
    /// Minimum bytes of a frame, without the headers before it.
    pub least: u32,
    /// Bytes that a channel rests behind each frame.
    pub gap: u32,
    /// The sum of the headers as it is printed, where that differs.
    pub printed: Option<u32>,
}

const PREAMBLE: Header = Header { name: "preamble and start of frame", bytes: 8, framed: false };
const ADDRESSES: Header = Header { name: "Ethernet addresses and type", bytes: 14, framed: true };
const CHECK: Header = Header { name: "Ethernet frame check", bytes: 4, framed: true };
const IP: Header = Header { name: "IPv4", bytes: 20, framed: true };
const UDP: Header = Header { name: "UDP", bytes: 8, framed: true };
const IB: Header = Header { name: "InfiniBand transport", bytes: 14, framed: true };
const CRC: Header = Header { name: "RoCEv2 CRC", bytes: 4, framed: true };

const ETHERNET: &[Header] = &[PREAMBLE, ADDRESSES, CHECK];
const ROCE: &[Header] = &[PREAMBLE, ADDRESSES, IP, UDP, IB, CRC, CHECK];
const ROCE_BARE: &[Header] = &[PREAMBLE, IP, UDP, IB, CRC, CHECK];

/// The sum that the paper gives for the headers of RoCEv2; they are 72.
const PRINTED: Option<u32> = Some(62);
const SLS: &str = "De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), sections II-F and II-G";

/// All framings; the first is the default.
pub static FRAMINGS: Registry<Framing> = Registry::new(
    "framing",
    &[
        Framing {
            name: "none",
            summary: "nothing: channels carry data only",
            doc: "What of a channel's rate carries data is said in one number, if at all: the efficiency of hosts.",
            paper: SLS,
            headers: &[],
            least: 0,
            gap: 0,
            printed: None,
        },
        Framing {
            name: "ethernet",
            summary: "Ethernet alone: 26 bytes a frame, 64 at least, a gap of 12",
            doc: "Preamble, addresses, type and frame check around data of any kind. The 64 bytes count from the addresses to the \
              frame check.",
            paper: "IEEE Std 802.3-2018, clauses 3, 4.2.3.2 and 4.4.2",
            headers: ETHERNET,
            least: 64,
            gap: 12,
            printed: None,
        },
        Framing {
            name: "roce",
            summary: "RoCEv2 over standard Ethernet: 72 bytes a packet, 64 at least, a gap of 12",
            doc: "What standard adapters send on Slingshot. The paper prints the headers one by one, with 62 as their sum; they are \
              72. An empty packet is a frame of 64 bytes, so that the least frame never shows.",
            paper: SLS,
            headers: ROCE,
            least: 64,
            gap: 12,
            printed: PRINTED,
        },
        Framing {
            name: "slingshot",
            summary: "RoCEv2 over Slingshot's Ethernet: 72 bytes a packet, 32 at least, no gap",
            doc: "As roce with Slingshot's least frame of 32 bytes and no gap between packets.",
            paper: SLS,
            headers: ROCE,
            least: 32,
            gap: 0,
            printed: PRINTED,
        },
        Framing {
            name: "slingshot-ip",
            summary: "RoCEv2 without an Ethernet header on Slingshot: 58 bytes a packet, 32 at least, no gap",
            doc: "As slingshot, IP packets without an Ethernet header. Decision: addresses and type are left out, and the preamble \
              and the frame check are not, since a frame has a beginning and is checked all the same.",
            paper: SLS,
            headers: ROCE_BARE,
            least: 32,
            gap: 0,
            printed: None,
        },
        Framing {
            name: "slingshot-ethernet",
            summary: "Ethernet alone on Slingshot: 26 bytes a frame, 32 at least, no gap",
            doc: "As ethernet with Slingshot's least frame and no gap: half of what short frames take.",
            paper: SLS,
            headers: ETHERNET,
            least: 32,
            gap: 0,
            printed: None,
        },
    ],
);

darkfiber_fabric::named!(Framing);

/// Finds the framing of that name.
///
/// # Errors
/// If there is no such framing.
pub fn framing(name: &str) -> Result<&'static Framing, Unknown> {
    FRAMINGS.get(name)
}

impl Framing {
    /// Bytes of all headers.
    pub fn headers(&self) -> u32 {
        self.headers.iter().map(|h| h.bytes).sum()
    }

    /// Bytes of a packet with this many of data, from its first to its last, without the gap.
    #[inline]
    pub fn frame(&self, data: u32) -> u32 {
        let of = |framed: bool| -> u32 {
            self.headers.iter().filter(|h| h.framed == framed).map(|h| h.bytes).sum()
        };
        of(false).saturating_add(of(true).saturating_add(data).max(self.least))
    }

    /// Bytes that a channel takes for a packet with this many of data.
    pub fn on_channel(&self, data: u32) -> u32 {
        self.frame(data).saturating_add(self.gap)
    }

    /// Bytes that a channel takes for a message, in packets with at most this many of its bytes; an empty one is a packet.
    pub fn of_message(&self, bytes: u64, most: u32) -> u64 {
        let most = most.max(1);
        let rest = (bytes % u64::from(most)) as u32;
        let last = if rest > 0 || bytes == 0 { self.on_channel(rest).into() } else { 0 };
        (bytes / u64::from(most)).saturating_mul(self.on_channel(most).into()).saturating_add(last)
    }

    /// The same if headers are as many bytes as is printed, where that differs.
    pub fn printed_efficiency(&self, bytes: u64, most: u32) -> Option<f64> {
        let less = self.headers().saturating_sub(self.printed?);
        let packets = bytes.div_ceil(most.max(1).into()).max(1);
        let taken = self.of_message(bytes, most).saturating_sub(packets * u64::from(less));
        Some(bytes as f64 / taken.max(1) as f64)
    }

    /// The part of a channel that carries data, if such messages follow each other.
    pub fn efficiency(&self, bytes: u64, most: u32) -> f64 {
        bytes as f64 / self.of_message(bytes, most).max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> &'static Framing {
        framing(name).expect(name)
    }

    #[test]
    fn headers_add_up() {
        let sums: Vec<_> = FRAMINGS.iter().map(|f| (f.name, f.headers(), f.frame(0))).collect();
        assert_eq!(
            sums,
            [
                ("none", 0, 0),
                ("ethernet", 26, 72),
                ("roce", 72, 72),
                ("slingshot", 72, 72),
                ("slingshot-ip", 58, 58),
                ("slingshot-ethernet", 26, 40),
            ]
        );
    }

    #[test]
    fn a_full_packet_is_as_efficient_as_headers_say() {
        let full = |name: &str| of(name).efficiency(4096, 4096);
        assert!((full("slingshot") - 4096.0 / 4168.0).abs() < 1e-12);
        assert!((full("roce") - 4096.0 / 4180.0).abs() < 1e-12);
        assert!((full("none") - 1.0).abs() < 1e-12);
        let printed = of("slingshot").printed_efficiency(4096, 4096).expect("it differs");
        assert!((printed - 4096.0 / 4158.0).abs() < 1e-12);
        assert_eq!(of("ethernet").printed_efficiency(4096, 4096), None);
        // Two packets and one of a byte.
        assert_eq!(of("roce").of_message(8193, 4096), 2 * 4180 + 85);
        assert_eq!(of("ethernet").of_message(0, 4096), 84);
        assert_eq!(of("slingshot-ethernet").on_channel(10), 40);
    }

    /// Frames grow with their data, and never take less than it and their headers.
    #[test]
    fn frames_grow_with_their_data() {
        for f in &FRAMINGS {
            let mut before = 0;
            for data in 0..9000 {
                let frame = f.frame(data);
                assert!(frame >= before && frame >= data + f.headers(), "{} {data}", f.name);
                assert!(f.of_message(data.into(), 4096) >= f.on_channel(data).into());
                assert!(f.efficiency(data.into(), 4096) <= 1.0);
                before = frame;
            }
            assert!(f.frame(u32::MAX) == u32::MAX);
        }
    }
}
