//! Kinds of congestion control, for those that must tell them apart before anything runs.

/// What holds sources back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// Nothing but room in the first switch.
    #[default]
    None,
    /// Every pair of endpoints on its own, as the endpoint's last switch says in acknowledgements.
    Pairs,
    /// The same, but what is sent unasked is dropped where it would wait, and told its turn.
    Reserve,
    /// Marks of switches, which endpoints tell sources of now and then: DCQCN.
    Ecn,
    /// Marks of the switch at the root of congestion, which endpoints send back: InfiniBand.
    InfiniBand,
    /// Switches tell sources themselves how long queues are: QCN.
    Qcn,
    /// Endpoints grant what may be sent to them.
    Grants,
}
