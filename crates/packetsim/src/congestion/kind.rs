//! The kinds of congestion control, for code that must distinguish them before a run.

/// The mechanism that throttles sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// None: only the buffer space of the first switch.
    #[default]
    None,
    /// Every pair of endpoints on its own, as the endpoint's last switch says in acknowledgements.
    Pairs,
    /// The same, but unsolicited packets are dropped where they would wait, and are assigned a turn.
    Reserve,
    /// Marks of switches, which endpoints report to sources at intervals: DCQCN.
    Ecn,
    /// Marks of the switch at the root of congestion, which endpoints send back: InfiniBand.
    InfiniBand,
    /// Switches report queue lengths to sources directly: QCN.
    Qcn,
    /// Endpoints grant the data that may be sent to them.
    Grants,
}
