//! Collective operations of MPI and NCCL as schedules.
//!
//! [`COLLECTIVES`] lists them, each with the algorithms that libraries have for it; [`Algorithm::write`] writes one call
//! into a [`Script`](crate::schedule::Script). [`Library::choose`] returns the algorithm that a library would use, by
//! number of ranks and bytes, and [`Library::write`] writes it.
//!
//! Counts are bytes: where a library distributes elements, blocks here may differ by one byte instead of one element.
//! No rank sends to itself, and copies within a rank take no time.
//!
//! ```
//! use darkfiber_workload::collective::{Call, Collective, Library};
//! use darkfiber_workload::schedule::Script;
//!
//! let all: Vec<u32> = (0..28).collect();
//! let mut script = Script::new(28);
//! Library::OpenMpi.write(&mut script, Collective::Allreduce, &Call::new(&all, 1 << 20));
//! let ring = script.finish().expect("every message has two ends");
//! assert_eq!(ring.messages(), 28 * 2 * 27);
//! ```

mod algorithm;
mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod call;
mod gather;
mod halving;
mod library;
mod reduce;
mod reduce_scatter;
mod ring;
mod scan;
mod scatter;
mod tree;

pub use algorithm::Algorithm;
pub use call::Call;
pub use library::{Choice, LIBRARIES, Library};

use darkfiber_fabric::Registry;

/// A kind of collective operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Collective {
    /// All wait for all.
    Barrier,
    /// From the root to all.
    Bcast,
    /// A block of each to the root.
    Gather,
    /// From the root a block to each.
    Scatter,
    /// The sum of all to the root.
    Reduce,
    /// The sum of all to all.
    Allreduce,
    /// A block of each to all.
    Allgather,
    /// A block of each to each.
    Alltoall,
    /// A block of the sum to each.
    ReduceScatter,
    /// The sum of all up to itself to each.
    Scan,
}

/// The registry of collectives.
pub static COLLECTIVES: Registry<Collective> = Registry::new(
    "collective",
    &[
        Collective::Barrier,
        Collective::Bcast,
        Collective::Gather,
        Collective::Scatter,
        Collective::Reduce,
        Collective::Allreduce,
        Collective::Allgather,
        Collective::Alltoall,
        Collective::ReduceScatter,
        Collective::Scan,
    ],
);

impl darkfiber_fabric::Entry for Collective {
    fn name(&self) -> &str {
        Collective::name(*self)
    }
}

impl Collective {
    /// Its name in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Bcast => "bcast",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Allgather => "allgather",
            Self::Alltoall => "alltoall",
            Self::ReduceScatter => "reduce-scatter",
            Self::Scan => "scan",
        }
    }

    /// Description of the operation.
    pub fn doc(self) -> &'static str {
        match self {
            Self::Barrier => "no rank leaves before all have arrived",
            Self::Bcast => "the root's vector to everybody",
            Self::Gather => "a block of everybody to the root",
            Self::Scatter => "a block of the root's vector to everybody",
            Self::Reduce => "the sum of everybody's vectors to the root",
            Self::Allreduce => "the sum of everybody's vectors to everybody",
            Self::Allgather => "a block of everybody to everybody",
            Self::Alltoall => "a block of everybody's vector to everybody",
            Self::ReduceScatter => "a block of the sum of everybody's vectors to everybody",
            Self::Scan => "the sum of the vectors up to its own to everybody",
        }
    }

    /// Finds a collective by name; dashes and underscores are equivalent.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.to_lowercase().replace('_', "-");
        COLLECTIVES.iter().copied().find(|c| c.name() == name)
    }

    /// Whether one rank is the root.
    pub fn rooted(self) -> bool {
        matches!(self, Self::Bcast | Self::Gather | Self::Scatter | Self::Reduce)
    }

    /// Algorithms of the collective.
    pub fn algorithms(self) -> &'static [Algorithm] {
        match self {
            Self::Barrier => barrier::ALGORITHMS,
            Self::Bcast => bcast::ALGORITHMS,
            Self::Gather => gather::ALGORITHMS,
            Self::Scatter => scatter::ALGORITHMS,
            Self::Reduce => reduce::ALGORITHMS,
            Self::Allreduce => allreduce::ALGORITHMS,
            Self::Allgather => allgather::ALGORITHMS,
            Self::Alltoall => alltoall::ALGORITHMS,
            Self::ReduceScatter => reduce_scatter::ALGORITHMS,
            Self::Scan => scan::ALGORITHMS,
        }
    }

    /// Its algorithm of that name.
    pub fn algorithm(self, name: &str) -> Option<&'static Algorithm> {
        self.algorithms().iter().find(|a| a.name == name)
    }
}
