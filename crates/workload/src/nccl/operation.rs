//! Names of NCCL's collectives, algorithms and protocols.

use darkfiber_fabric::{Entry, Registry};

/// A collective of NCCL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Every rank ends with the sum of all vectors.
    AllReduce,
    /// Every rank ends with the parts of all.
    AllGather,
    /// Every rank ends with its part of the sum.
    ReduceScatter,
    /// Every rank has a part for every other.
    AllToAll,
}

/// The collectives by name.
pub static OPERATIONS: Registry<(&str, Operation)> = Registry::new(
    "operation of NCCL",
    &[
        ("allreduce", Operation::AllReduce),
        ("allgather", Operation::AllGather),
        ("reducescatter", Operation::ReduceScatter),
        ("alltoall", Operation::AllToAll),
    ],
);

impl Operation {
    /// Finds the collective of that name, in small letters as in `allreduce`.
    ///
    /// # Errors
    /// If there is no such collective.
    pub fn named(name: &str) -> Result<Self, darkfiber_fabric::Unknown> {
        OPERATIONS.get(name).map(|&(_, operation)| operation)
    }

    /// Bus bandwidth over algorithm bandwidth: 2(n-1)/n or (n-1)/n (nccl-tests, doc/PERFORMANCE.md).
    pub fn factor(self, ranks: u32) -> f64 {
        let n = f64::from(ranks);
        match self {
            Self::AllReduce => 2.0 * (n - 1.0) / n,
            _ => (n - 1.0) / n,
        }
    }

    /// Bus bandwidth in bytes a second, as nccl-tests print it. `bytes` are those of the vector, for Allgather and
    /// Reduce-scatter of the parts of all ranks together, for Alltoall of the data that one rank sends.
    pub fn bus_bandwidth(self, ranks: u32, bytes: u64, seconds: f64) -> f64 {
        self.factor(ranks) * bytes as f64 / seconds
    }
}

/// Topology that joins the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Algorithm {
    /// Rings through all ranks.
    Ring,
    /// Chains within hosts, and double binary trees of hosts.
    Tree,
    /// Sums in the NVSwitch, one host.
    Nvls,
    /// Sums in the NVSwitch, and double binary trees of hosts for each rail.
    NvlsTree,
}

/// The algorithms by name.
pub static ALGORITHMS: Registry<(&str, Algorithm)> = Registry::new(
    "algorithm of NCCL",
    &[
        ("ring", Algorithm::Ring),
        ("tree", Algorithm::Tree),
        ("nvls", Algorithm::Nvls),
        ("nvlstree", Algorithm::NvlsTree),
    ],
);

/// Method by which data is sent together with its flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Four bytes of data with four of a flag.
    Ll,
    /// 120 bytes of data with eight of a flag.
    Ll128,
    /// Data, and then a flag.
    Simple,
}

/// The protocols by name.
pub static PROTOCOLS: Registry<(&str, Protocol)> = Registry::new(
    "protocol of NCCL",
    &[("ll", Protocol::Ll), ("ll128", Protocol::Ll128), ("simple", Protocol::Simple)],
);

impl Algorithm {
    /// All of them, in the order in which the first of equals is taken.
    pub const ALL: [Self; 4] = [Self::Tree, Self::Ring, Self::Nvls, Self::NvlsTree];

    /// Its name in specs.
    pub fn name(self) -> &'static str {
        ALGORITHMS.iter().find(|(_, a)| *a == self).map_or("", Entry::name)
    }
}

impl Protocol {
    /// All protocols of NCCL.
    pub const ALL: [Self; 3] = [Self::Ll, Self::Ll128, Self::Simple];

    /// Its name in specs.
    pub fn name(self) -> &'static str {
        PROTOCOLS.iter().find(|(_, p)| *p == self).map_or("", Entry::name)
    }

    /// Bytes on the wire for each byte of data.
    pub fn expansion(self) -> f64 {
        match self {
            Self::Ll => 2.0,
            Self::Ll128 => 128.0 / 120.0,
            Self::Simple => 1.0,
        }
    }
}
