//! The algorithms that libraries take.

use darkfiber_fabric::Registry;

use super::{Algorithm, Call, Collective};
use crate::schedule::Script;

/// A library of collectives, whose rules select an algorithm by the number of ranks and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Library {
    /// Open MPI 1.6 to 3.1, component tuned, its fixed rules: `coll_tuned_decision_fixed.c` of v1.10.7. Reductions are
    /// commutative.
    #[default]
    OpenMpi,
    /// MPICH 3.2 with its default thresholds: `MPIR_CVAR_*_MSG_SIZE` (Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005).
    /// Without the extra levels for ranks of one host.
    Mpich,
    /// NCCL: rings and double binary trees. It measures where to switch; that trees end at 1 MiB, and that
    /// collectives missing in NCCL use dissemination, binomial trees and single messages, are assumptions.
    Nccl,
}

/// An algorithm, and how it cuts messages up.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Algorithm that is run.
    pub algorithm: &'static Algorithm,
    /// Bytes of a segment; 0 does not cut.
    pub segment: u64,
}

/// Bytes that NCCL sends at once with protocol Simple: two of the eight steps of a 4 MiB buffer
/// (`ALLREDUCE_SLICESTEPS`).
const NCCL_SLICE: u64 = 1 << 20;

/// The libraries of collectives.
pub static LIBRARIES: Registry<(&str, Library)> = Registry::new(
    "library of collectives",
    &[("openmpi", Library::OpenMpi), ("mpich", Library::Mpich), ("nccl", Library::Nccl)],
);

impl Library {
    /// Name of the library.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
            Self::Nccl => "nccl",
        }
    }

    /// The choice for this number of ranks and bytes, counted as [`Call::bytes`].
    ///
    /// # Panics
    /// Never: every name in the rules is in the registry, which tests ensure.
    pub fn choose(self, collective: Collective, ranks: u32, bytes: u64) -> Choice {
        let (name, segment) = match self {
            Self::OpenMpi => openmpi(collective, ranks, bytes),
            Self::Mpich => (mpich(collective, ranks, bytes), 0),
            Self::Nccl => nccl(collective, bytes),
        };
        let algorithm = collective.algorithm(name).expect("rules name what there is");
        Choice { algorithm, segment }
    }

    /// The choice for sizes that differ: the rule for the mean size, where it has the same algorithms.
    fn choose_for(self, collective: Collective, call: &Call<'_>) -> Choice {
        let ranks = call.comm.len() as u32;
        let Some(sizes) = call.sizes else {
            return self.choose(collective, ranks, call.bytes);
        };
        let mean = sizes.iter().sum::<u64>() / (sizes.len() as u64).max(1);
        let fixed = match (self, collective) {
            // Gatherv, Scatterv and Alltoallv have one algorithm in both.
            (_, Collective::Gather) | (Self::OpenMpi, Collective::Scatter) => Some("linear"),
            (_, Collective::Scatter) => Some("linear-nonblocking"),
            (Self::OpenMpi, Collective::Alltoall) => Some("pairwise"),
            (_, Collective::Alltoall) => Some("linear-sync"),
            _ => None,
        };
        match fixed.and_then(|name| collective.algorithm(name)) {
            Some(algorithm) => Choice { algorithm, segment: 0 },
            None => self.choose(collective, ranks, mean),
        }
    }

    /// Writes a call as it would do it; the segment of the call is not looked at.
    ///
    /// # Panics
    /// As [`Algorithm::write`].
    pub fn write(self, script: &mut Script, collective: Collective, call: &Call<'_>) {
        let Choice { algorithm, segment } = self.choose_for(collective, call);
        algorithm.write(script, &Call { segment, ..*call });
    }
}

/// Open MPI's fixed rules, with segments.
fn openmpi(collective: Collective, ranks: u32, bytes: u64) -> (&'static str, u64) {
    const KIB: u64 = 1024;
    let (n, m) = (f64::from(ranks), bytes as f64);
    let power = ranks.is_power_of_two();
    let total = bytes.saturating_mul(u64::from(ranks));
    match collective {
        Collective::Barrier if power => ("recursive-doubling", 0),
        Collective::Barrier => ("dissemination", 0),
        Collective::Bcast => {
            if bytes < 2_048 {
                ("binomial", 0)
            } else if bytes < 370_728 {
                ("split-binary", KIB)
            } else if n < 1.6134e-6 * m + 2.1102 {
                ("pipeline", 128 * KIB)
            } else if ranks < 13 {
                ("split-binary", 8 * KIB)
            } else if n < 2.3679e-6 * m + 1.1787 {
                ("pipeline", 64 * KIB)
            } else if n < 3.2118e-6 * m + 8.7936 {
                ("pipeline", 16 * KIB)
            } else {
                ("pipeline", 8 * KIB)
            }
        }
        Collective::Gather => {
            if bytes > 92_160 {
                ("linear-sync", 32 * KIB)
            } else if bytes > 6_000 {
                ("linear-sync", KIB)
            } else if ranks > 60 || ranks > 10 && bytes < 1_024 {
                ("binomial", 0)
            } else {
                ("linear", 0)
            }
        }
        Collective::Scatter if ranks > 10 && bytes < 300 => ("binomial", 0),
        Collective::Reduce => {
            let kib = m / 1024.0;
            if ranks < 8 && bytes < 512 {
                ("linear", 0)
            } else if ranks < 8 && bytes < 20_480 || bytes < 2_048 {
                ("binomial", 0)
            } else if n > 0.6016 * kib + 1.3496 {
                ("binomial", KIB)
            } else if n > 0.0410 * kib + 9.7128 {
                ("pipeline", KIB)
            } else if n > 0.0422 * kib + 1.1614 {
                ("binary", 32 * KIB)
            } else if n > 0.0033 * kib + 1.6761 {
                ("pipeline", 32 * KIB)
            } else {
                ("pipeline", 64 * KIB)
            }
        }
        Collective::Allreduce => {
            // Elements of four bytes, where the rule counts elements.
            if bytes < 10_000 {
                ("recursive-doubling", 0)
            } else if bytes / 4 <= u64::from(ranks) {
                ("reduce-bcast", 0)
            } else if u64::from(ranks) << 20 >= bytes {
                ("ring", 0)
            } else {
                ("segmented-ring", 1 << 20)
            }
        }
        Collective::Allgather => match (total < 50_000, power, ranks % 2) {
            (true, true, _) => ("recursive-doubling", 0),
            (true, false, _) => ("bruck", 0),
            (false, _, 0) => ("neighbor-exchange", 0),
            (false, ..) => ("ring", 0),
        },
        Collective::Alltoall if ranks == 2 => ("pairwise", 0),
        Collective::Alltoall if bytes < 200 && ranks > 12 => ("bruck", 0),
        Collective::Alltoall if bytes >= 3_000 => ("pairwise", 0),
        Collective::ReduceScatter => {
            let few = total <= 12 * KIB || total <= 256 * KIB && power;
            if few || n >= 0.0012 * total as f64 + 8.0 {
                ("recursive-halving", 0)
            } else {
                ("ring", 0)
            }
        }
        Collective::Scatter | Collective::Alltoall | Collective::Scan => ("linear", 0),
    }
}

/// The thresholds of MPICH.
#[expect(clippy::match_same_arms, reason = "a line for each rule of the source")]
fn mpich(collective: Collective, ranks: u32, bytes: u64) -> &'static str {
    const LONG: u64 = 524_288;
    let power = ranks.is_power_of_two();
    let total = bytes.saturating_mul(u64::from(ranks));
    // Every part of a vector needs an element, of four bytes here.
    let enough = bytes / 4 >= 1 << ranks.max(1).ilog2();
    match collective {
        Collective::Barrier => "dissemination",
        Collective::Bcast if bytes < 12_288 || ranks < 8 => "binomial",
        Collective::Bcast if bytes < LONG && power => "scatter-doubling",
        Collective::Bcast => "scatter-ring",
        Collective::Gather | Collective::Scatter => "binomial",
        Collective::Reduce if bytes > 2_048 && enough => "rabenseifner",
        Collective::Reduce => "binomial",
        Collective::Allreduce if bytes > 2_048 && enough => "rabenseifner",
        Collective::Allreduce => "recursive-doubling",
        Collective::Allgather if total < LONG && power => "recursive-doubling",
        Collective::Allgather if total < 81_920 => "bruck",
        Collective::Allgather => "ring",
        Collective::Alltoall if bytes <= 256 && ranks >= 8 => "bruck",
        Collective::Alltoall if bytes <= 32_768 => "linear-sync",
        Collective::Alltoall => "pairwise-xor",
        Collective::ReduceScatter if total < LONG => "recursive-halving",
        Collective::ReduceScatter => "pairwise",
        Collective::Scan => "recursive-doubling",
    }
}

/// Our model of NCCL's choices.
#[expect(clippy::match_same_arms, reason = "a line for each rule")]
fn nccl(collective: Collective, bytes: u64) -> (&'static str, u64) {
    match collective {
        Collective::Barrier => ("dissemination", 0),
        Collective::Bcast | Collective::Reduce => ("pipeline", NCCL_SLICE),
        Collective::Gather => ("linear", 0),
        Collective::Scatter => ("linear-nonblocking", 0),
        Collective::Allreduce if bytes <= 1 << 20 => ("double-binary-tree", 128 << 10),
        Collective::Allreduce => ("nccl-ring", NCCL_SLICE),
        Collective::Allgather | Collective::ReduceScatter => ("ring", 0),
        Collective::Alltoall | Collective::Scan => ("linear", 0),
    }
}
