//! Schedules: the computations, sends and receives of each rank of a job, and their dependencies.
//!
//! A [`Schedule`] is a dependency graph of operations for each rank, the model of GOAL (Hoefler, Siebert, Lumsdaine: "Group
//! Operation Assembly Language", ICPP'09), in flat arrays of about 40 bytes an operation. A [`Program`] runs schedules one after
//! the other and any number of times, without writing them out, [`Rounds`] are a formula: the next operation of a rank is
//! computed when the rank gets there, and [`Segments`] are one schedule for all parts of a message.
//!
//! **Messages are matched once**, when a schedule is made: the k-th send from a rank to another with a tag matches
//! the k-th receive there of that source and tag, in the order of the operations, as MPI matches operations that are
//! posted in program order. A run then needs no queues, and a receive without a send is found before the run.

mod block;
mod build;
mod matching;
mod program;
mod rounds;
mod script;
mod segments;

pub use block::{Block, Round, Steps};
pub use build::{Builder, ScheduleError};
pub(crate) use program::Span;
pub use program::{Loop, Program};
pub use rounds::{Exchange, Rounds, Sizes};
pub use script::Script;
pub use segments::{Cut, Segments};

/// Any source, or any tag, of a receive.
pub const ANY: u32 = u32::MAX;
/// The most streams that the computations of a rank can be put on.
pub const MAX_STREAMS: u8 = 64;

/// An operation of a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Sends this many bytes to a rank.
    Send {
        /// Rank that receives.
        to: u32,
        /// Payload in bytes.
        bytes: u64,
        /// Tag that a receive must match.
        tag: u32,
    },
    /// Receives from a rank.
    Recv {
        /// Rank that sends.
        from: u32,
        /// Size of the receive buffer in bytes; the size received is the size sent.
        bytes: u64,
        /// Tag that must match.
        tag: u32,
    },
    /// Writes this number of bytes into the memory of a rank, which takes no part: a put, done when its last byte arrives.
    Put {
        /// Rank of the memory.
        to: u32,
        /// Payload in bytes.
        bytes: u64,
    },
    /// Keeps the processor busy.
    Compute {
        /// Duration of the computation.
        picoseconds: u64,
    },
}

const SEND: u8 = 0;
const RECV: u8 = 1;
const COMPUTE: u8 = 2;
const PUT: u8 = 3;
const KIND: u8 = 3;

/// Set on a dependent that may begin once the operation before it has started.
const ON_START: u32 = 1 << 31;

/// Dependency graphs of operations, one for each rank, whose messages are matched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Operations of rank `r`: `first[r]..first[r + 1]`.
    first: Vec<u32>,
    /// By number, and a sentinel at the end.
    nodes: Vec<Node>,
    /// Dependents, those of an operation together.
    after: Vec<u32>,
    /// Most streams that a rank uses.
    streams: u8,
    /// Whether anything waits for the beginning of an operation.
    on_start: bool,
}

/// An operation, with all that a run needs stored together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    /// Bytes, or picoseconds of a computation.
    size: u64,
    /// The other rank of a message.
    peer: u32,
    tag: u32,
    /// The operation at the other end of a message.
    partner: u32,
    /// Number of operations that it waits for.
    needs: u32,
    /// Start of its dependents in `after`; they end where those of the next one begin.
    after: u32,
    /// Kind in the two lowest bits, stream above.
    kind: u8,
}

impl Schedule {
    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.first.len() as u32 - 1
    }

    /// Number of operations of all ranks.
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether there are no operations.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The operations, by number.
    fn nodes(&self) -> &[Node] {
        &self.nodes[..self.len()]
    }

    /// The operations of a rank, by number.
    #[inline]
    pub fn of(&self, rank: u32) -> std::ops::Range<u32> {
        self.first[rank as usize]..self.first[rank as usize + 1]
    }

    /// Most streams that a rank uses: at least one.
    pub fn streams(&self) -> u8 {
        self.streams
    }

    /// An operation by number.
    #[inline]
    pub fn op(&self, op: u32) -> Op {
        let Node { kind, peer, size, tag, .. } = self.nodes[op as usize];
        match kind & KIND {
            SEND => Op::Send { to: peer, bytes: size, tag },
            RECV => Op::Recv { from: peer, bytes: size, tag },
            PUT => Op::Put { to: peer, bytes: size },
            _ => Op::Compute { picoseconds: size },
        }
    }

    /// The stream that an operation runs on: operations of a rank on different streams do not wait for each other's
    /// processor.
    #[inline]
    pub fn stream(&self, op: u32) -> u8 {
        self.nodes[op as usize].kind >> 2
    }

    /// The operation at the other end of a message; its own number where there is none.
    #[inline]
    pub fn partner(&self, op: u32) -> u32 {
        self.nodes[op as usize].partner
    }

    /// Number of operations that an operation waits for.
    #[inline]
    pub fn needs(&self, op: u32) -> u32 {
        self.nodes[op as usize].needs
    }

    /// The operations that wait for this one: number, and whether its beginning is enough.
    #[inline]
    pub fn dependents(&self, op: u32) -> impl ExactSizeIterator<Item = (u32, bool)> + '_ {
        let i = op as usize;
        let range = self.nodes[i].after as usize..self.nodes[i + 1].after as usize;
        self.after[range].iter().map(|&a| (a & !ON_START, a & ON_START != 0))
    }

    /// Whether any operation waits for another's beginning only.
    #[inline]
    pub fn has_on_start(&self) -> bool {
        self.on_start
    }

    /// The rank of an operation.
    pub fn rank(&self, op: u32) -> u32 {
        self.first.partition_point(|&f| f <= op) as u32 - 1
    }

    /// Number of messages.
    pub fn messages(&self) -> usize {
        self.nodes().iter().filter(|o| matches!(o.kind & KIND, SEND | PUT)).count()
    }

    /// Bytes of all messages.
    pub fn bytes(&self) -> u128 {
        let sends = self.nodes().iter().filter(|o| matches!(o.kind & KIND, SEND | PUT));
        sends.map(|o| u128::from(o.size)).sum()
    }

    /// Bytes that it takes in memory.
    pub fn memory(&self) -> usize {
        size_of::<Node>() * self.nodes.len() + 4 * (self.first.len() + self.after.len())
    }
}
