//! The parts of a packet that a hash reads.

/// A part of a packet that a switch hashes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// The source's IPv4 address.
    SrcIp,
    /// The destination's IPv4 address.
    DstIp,
    /// The UDP source port, which RoCE v2 makes of the queue pairs' numbers.
    SrcPort,
    /// The UDP destination port: that of RoCE.
    DstPort,
    /// The protocol in the IP header: UDP.
    Protocol,
    /// The number of the destination's queue pair, from the InfiniBand transport header (E-ECMP, "RoCE QP hashing").
    DstQp,
    /// The port by which the packet came into the switch.
    InPort,
}

impl Field {
    /// All of them, in the order in which a hash reads them.
    pub const ALL: [Self; 7] = [
        Self::SrcIp,
        Self::DstIp,
        Self::SrcPort,
        Self::DstPort,
        Self::Protocol,
        Self::DstQp,
        Self::InPort,
    ];

    /// The five-tuple, which switches hash unless configured otherwise.
    pub const FIVE_TUPLE: [Self; 5] =
        [Self::SrcIp, Self::DstIp, Self::SrcPort, Self::DstPort, Self::Protocol];

    /// Name of the field in specifications.
    pub fn name(self) -> &'static str {
        match self {
            Self::SrcIp => "src-ip",
            Self::DstIp => "dst-ip",
            Self::SrcPort => "src-port",
            Self::DstPort => "dst-port",
            Self::Protocol => "protocol",
            Self::DstQp => "dst-qp",
            Self::InPort => "in-port",
        }
    }
}
