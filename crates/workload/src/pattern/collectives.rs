//! The phases of collective operations.

use darkfiber_fabric::{Key, Params};

use super::bits::power_of_two;
use super::shift::{Phases, several};
use super::{Participants, Pattern, PatternError, PatternKind};

/// Senders of a phase.
#[derive(Clone, Copy)]
enum Step {
    Exchange,
    Tree,
    Back,
    Forth,
}

/// A collective in as many phases as n has bits.
pub(super) struct Collective {
    name: &'static str,
    alias: &'static [&'static str],
    summary: &'static str,
    doc: &'static str,
    step: Step,
}

pub(super) static RECURSIVE_DOUBLING: Collective = Collective {
    name: "recursive-doubling",
    alias: &["butterfly"],
    summary: "partners at distance 1, 2, 4, ... exchange, one distance a phase",
    doc: "In phase k, s and s xor 2^k exchange: Allreduce and Allgather of short messages (Thakur, \
          Rabenseifner, Gropp, \"Optimization of collective communication operations in MPICH\", IJHPCA \
          19, 2005). Needs a power of two.",
    step: Step::Exchange,
};

pub(super) static BINOMIAL: Collective = Collective {
    name: "binomial",
    alias: &["binomial-tree"],
    summary: "a broadcast: who has the message passes it on, twice as many a phase",
    doc: "In phase k the 2^k first participants, counted from `root`, send to the one 2^k further on \
          (Thakur, Rabenseifner, Gropp, IJHPCA 19, 2005).",
    step: Step::Tree,
};

pub(super) static BRUCK: Collective = Collective {
    name: "bruck",
    alias: &[],
    summary: "everybody sends 1, 2, 4, ... back, one distance a phase: Bruck's Alltoall",
    doc: "In phase k, s sends to (s - 2^k) mod n (Bruck et al., \"Efficient algorithms for all-to-all \
          communications in multiport message-passing systems\", TPDS 8, 1997).",
    step: Step::Back,
};

pub(super) static BARRIER: Collective = Collective {
    name: "barrier",
    alias: &["dissemination-barrier"],
    summary: "everybody sends 1, 2, 4, ... on, one distance a phase: the dissemination barrier",
    doc: "In phase k, s sends to (s + 2^k) mod n (Hensgen, Finkel, Manber, \"Two algorithms for barrier \
          synchronization\", IJPP 17, 1988).",
    step: Step::Forth,
};

impl PatternKind for Collective {
    fn name(&self) -> &'static str {
        self.name
    }

    fn aliases(&self) -> &'static [&'static str] {
        self.alias
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn doc(&self) -> &'static str {
        self.doc
    }

    fn keys(&self) -> &'static [Key] {
        match self.step {
            Step::Tree => {
                const { &[Key::optional("root", "who has the message first, from 0", "0")] }
            }
            _ => &[],
        }
    }

    fn make(
        &self,
        params: &Params,
        among: &Participants,
    ) -> Result<Box<dyn Pattern>, PatternError> {
        let n = several(self.name, among)?;
        let phases = u64::from((n - 1).ilog2()) + 1;
        Ok(match self.step {
            Step::Exchange => {
                power_of_two(self.name, among)?;
                Phases::boxed(phases, move |k, pairs| pairs.extend((0..n).map(|s| [s, s ^ 1 << k])))
            }
            Step::Tree => {
                let root = params.get("root", 0..=n - 1)?.unwrap_or(0);
                let at = move |i: u32| ((u64::from(i) + u64::from(root)) % u64::from(n)) as u32;
                Phases::boxed(phases, move |k, pairs| {
                    let have = 1u32 << k;
                    pairs.extend((0..have.min(n - have)).map(|i| [at(i), at(i + have)]));
                })
            }
            Step::Back => Phases::boxed(phases, move |k, pairs| {
                pairs.extend((0..n).map(|d| [around(d, 1 << k, n), d]));
            }),
            Step::Forth => Phases::boxed(phases, move |k, pairs| {
                pairs.extend((0..n).map(|s| [s, around(s, 1 << k, n)]));
            }),
        })
    }
}

fn around(s: u32, by: u32, n: u32) -> u32 {
    ((u64::from(s) + u64::from(by)) % u64::from(n)) as u32
}
