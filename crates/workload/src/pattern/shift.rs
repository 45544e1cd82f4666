//! Shifts and patterns built from them; all to all, all to one.

use darkfiber_fabric::{Key, Params};

use crate::Stream;

use super::{Extent, Participants, Pattern, PatternError, PatternKind};

/// A pattern that is defined by a function.
pub(super) struct Phases<F> {
    count: u64,
    fill: F,
}

impl<F: Fn(u64, &mut Vec<[u32; 2]>) + Send + Sync + 'static> Phases<F> {
    /// This many phases; the function adds the pairs of one.
    pub(super) fn boxed(count: u64, fill: F) -> Box<dyn Pattern> {
        Box::new(Self { count, fill })
    }
}

impl<F: Fn(u64, &mut Vec<[u32; 2]>) + Send + Sync> Pattern for Phases<F> {
    fn extent(&self) -> Extent {
        Extent::Phases(self.count)
    }

    fn fill(&self, index: u64, _: &mut Stream, pairs: &mut Vec<[u32; 2]>) {
        pairs.clear();
        (self.fill)(index, pairs);
        pairs.retain(|[s, d]| s != d);
    }
}

/// At least two participants.
pub(super) fn several(pattern: &'static str, among: &Participants) -> Result<u32, PatternError> {
    match among.count() {
        count @ (0 | 1) => Err(PatternError::Count {
            pattern,
            needs: "two terminals or more",
            count,
            hint: "a single node has no destination".to_owned(),
            fits: None,
        }),
        count => Ok(count),
    }
}

/// Each participant sends to the one `by` further on.
fn shifted(n: u32, by: u32, pairs: &mut Vec<[u32; 2]>) {
    let to = |s: u32| (u64::from(s) + u64::from(by)) % u64::from(n);
    pairs.extend((0..n).map(|s| [s, to(s) as u32]));
}

/// Kind of the pattern `shift`.
pub(super) struct Shift;

impl PatternKind for Shift {
    fn name(&self) -> &'static str {
        "shift"
    }

    fn summary(&self) -> &'static str {
        "everybody sends to the one `by` further on; without `by` all shifts, one a phase"
    }

    fn doc(&self) -> &'static str {
        "s sends to (s + by) mod n. All n - 1 shifts one after the other are a linear all-to-all, and \
         mpiGraph's order (Zahavi, \"Fat-tree routing and node ordering providing contention free \
         traffic for MPI global collectives\", JPDC 72, 2012)."
    }

    fn keys(&self) -> &'static [Key] {
        const { &[Key::optional("by", "how far", "1 to n-1, one a phase")] }
    }

    fn make(
        &self,
        params: &Params,
        among: &Participants,
    ) -> Result<Box<dyn Pattern>, PatternError> {
        let n = several(self.name(), among)?;
        Ok(match params.get("by", 1..=n - 1)? {
            Some(by) => Phases::boxed(1, move |_, pairs| shifted(n, by, pairs)),
            None => Phases::boxed(u64::from(n) - 1, move |phase, pairs| {
                shifted(n, phase as u32 + 1, pairs);
            }),
        })
    }
}

/// Kind of the pattern `ring`.
pub(super) struct Ring;

impl PatternKind for Ring {
    fn name(&self) -> &'static str {
        "ring"
    }

    fn summary(&self) -> &'static str {
        "everybody sends to the next one: shift:by=1"
    }

    fn doc(&self) -> &'static str {
        "s sends to (s + 1) mod n: each step of a ring Allreduce."
    }

    fn make(&self, _: &Params, among: &Participants) -> Result<Box<dyn Pattern>, PatternError> {
        let n = several(self.name(), among)?;
        Ok(Phases::boxed(1, move |_, pairs| shifted(n, 1, pairs)))
    }
}

/// Kind of the pattern `all-to-all`.
pub(super) struct AllToAll;

impl PatternKind for AllToAll {
    fn name(&self) -> &'static str {
        "all-to-all"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["alltoall"]
    }

    fn summary(&self) -> &'static str {
        "everybody sends to everybody, all at once"
    }

    fn doc(&self) -> &'static str {
        "All n (n - 1) ordered pairs in one phase: its channel load is the edge forwarding index among \
         the participants."
    }

    fn make(&self, _: &Params, among: &Participants) -> Result<Box<dyn Pattern>, PatternError> {
        let n = several(self.name(), among)?;
        Ok(Phases::boxed(1, move |_, pairs| {
            pairs.extend((0..n).flat_map(|s| (0..n).map(move |d| [s, d])));
        }))
    }
}

/// Kind of the pattern `tornado`.
pub(super) struct Tornado;

impl PatternKind for Tornado {
    fn name(&self) -> &'static str {
        "tornado"
    }

    fn summary(&self) -> &'static str {
        "almost half way round in every dimension of dims: the worst for minimal routes on a torus"
    }

    fn doc(&self) -> &'static str {
        "In each dimension of k places, x sends to (x + ceil(k/2) - 1) mod k (Dally, Towles, \"Principles \
         and practices of interconnection networks\", table 3.1). Participants are numbered along the \
         last dimension first. On a torus let dims be its sides times the terminals of a switch; without \
         dims all are one ring."
    }

    fn keys(&self) -> &'static [Key] {
        const { &[Key::optional("dims", "places in each dimension, joined by x", "n")] }
    }

    fn make(
        &self,
        params: &Params,
        among: &Participants,
    ) -> Result<Box<dyn Pattern>, PatternError> {
        let n = several(self.name(), among)?;
        let dims = params.list("dims", &(1..=n))?.unwrap_or_else(|| vec![n]);
        if dims.iter().map(|&d| u64::from(d)).product::<u64>() != u64::from(n) {
            return Err(params.bad("dims", format!("numbers whose product is {n}")).into());
        }
        Ok(Phases::boxed(1, move |_, pairs| {
            pairs.extend((0..n).map(|s| {
                let (mut rest, mut stride, mut to) = (s, 1, 0);
                for &k in dims.iter().rev() {
                    to += (rest % k + k.div_ceil(2) - 1) % k * stride;
                    rest /= k;
                    stride *= k;
                }
                [s, to]
            }));
        }))
    }
}

/// Kind of the pattern `incast`.
pub(super) struct Incast;

impl PatternKind for Incast {
    fn name(&self) -> &'static str {
        "incast"
    }

    fn summary(&self) -> &'static str {
        "everybody sends to one"
    }

    fn doc(&self) -> &'static str {
        "All others send to `to`: the incast of GPCNet and of a gather."
    }

    fn keys(&self) -> &'static [Key] {
        const { &[Key::optional("to", "who receives, from 0", "0")] }
    }

    fn make(
        &self,
        params: &Params,
        among: &Participants,
    ) -> Result<Box<dyn Pattern>, PatternError> {
        let n = several(self.name(), among)?;
        let to = params.get("to", 0..=n - 1)?.unwrap_or(0);
        Ok(Phases::boxed(1, move |_, pairs| pairs.extend((0..n).map(|s| [s, to]))))
    }
}
