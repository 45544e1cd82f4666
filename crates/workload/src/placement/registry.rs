//! The registry of allocators of hosts.

use darkfiber_fabric::{Registry, Unknown};

use super::{Free, clustered, contiguous, first_fit, interleaved, linear, random, tree};
use crate::Stream;

/// A method to allocate hosts to a job.
pub struct Allocator {
    /// Name of the allocator.
    pub name: &'static str,
    /// Description in one line.
    pub summary: &'static str,
    /// Description of the method, and its source.
    pub doc: &'static str,
    pick: fn(&Free<'_>, usize, &mut Stream) -> Option<Vec<u32>>,
}

impl Allocator {
    /// `n` free hosts in the order of ranks; `None` if it cannot give this number, or not by its rule.
    pub fn allocate(&self, free: &Free<'_>, n: usize, stream: &mut Stream) -> Option<Vec<u32>> {
        (self.pick)(free, n, stream)
    }
}

impl std::fmt::Debug for Allocator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The registry of allocators.
pub static ALLOCATORS: Registry<Allocator> = Registry::new(
    "allocator",
    &[
        Allocator {
            name: "linear",
            summary: "side by side where there is room for that, else the lowest free hosts",
            doc: "The lowest run of free hosts that is long enough; without one, as first-fit. On an empty machine rank \
              i is on host i (Domke et al., \"HyperX Topology\", SC'19, section 4.4.3).",
            pick: linear,
        },
        Allocator {
            name: "first-fit",
            summary: "the lowest free hosts, holes and all",
            doc: "What schedulers do that know nothing of the network. As jobs end, holes stay behind and later jobs are \
              scattered over them.",
            pick: first_fit,
        },
        Allocator {
            name: "best-fit",
            summary: "in the smallest part of the network that it fills best, as SLURM's topology/tree",
            doc: "The lowest level of domains (switch, pod, all; groups of a dragonfly) of which one has enough free \
              hosts; of these the one with the fewest. Inside, the same again: the part that what is left of the job \
              fills best if one is enough, else the part with the most free hosts first, so that the job is on few \
              switches. After SLURM's plugin topology/tree (manual page topology.conf(5), Topology Guide).",
            pick: tree::best_fit,
        },
        Allocator {
            name: "clustered",
            summary: "strides of random length: 1 with probability 0.8",
            doc: "Each host comes k hosts after the one before with probability 0.8 x 0.2^(k-1), round the end and past \
              what is used: a machine that was in use for a while (Domke et al., \"HyperX Topology\", SC'19, section \
              4.4.3, which names a geometric distribution with 80 %; mean stride 1.25).",
            pick: clustered,
        },
        Allocator {
            name: "random",
            summary: "any free hosts, in any order",
            doc: "Each set and each order with the same probability (Domke et al., SC'19; Smith et al., \"Mitigating \
              Inter-Job Interference Using Adaptive Flow-Aware Routing\", SC'18).",
            pick: random,
        },
        Allocator {
            name: "interleaved",
            summary: "evenly spread over what is free",
            doc: "The k-th of n is number floor(k x free / n) of the free hosts. Two jobs that fill the machine alternate \
              in proportion to their sizes (De Sensi et al., \"An In-Depth Analysis of the Slingshot \
              Interconnect\", SC'20, figure 7).",
            pick: interleaved,
        },
        Allocator {
            name: "contiguous",
            summary: "side by side, or not yet",
            doc: "The lowest run of free hosts that is long enough; where there is none the job waits.",
            pick: contiguous,
        },
    ],
);

darkfiber_fabric::named!(Allocator);

/// Finds the allocator of that name.
///
/// # Errors
/// If there is no such allocator.
pub fn allocator(name: &str) -> Result<&'static Allocator, Unknown> {
    ALLOCATORS.get(name)
}
