//! What is proved about tables that are put in place by sweeps, in one stage or several.

use darkfiber_fabric::Fabric;
use darkfiber_operate::Rung;
use darkfiber_routing::Routes;
use darkfiber_routing::transition::{Before, Judged, Lost, Transition, Why, cleared};
use rayon::prelude::*;

/// The tables of all stages but the last, on the way to new ones.
///
/// None leads into a port without a cable, as old tables do after a fault: the way may end between two stages, with this program, and
/// a stock OpenSM resumes them when the cable is back. Then they must not close a cycle.
pub(crate) fn stages(
    fabric: &Fabric,
    judged: &Transition,
    old: &Routes,
    new: &Routes,
) -> Vec<Routes> {
    let mut stages: Vec<Routes> = match (judged.verdict, &judged.ranks) {
        (Rung::Stages, Some(ranks)) => stages_by_rank(old, new, ranks),
        (Rung::DropDrain, _) => cleared(old, new).into_iter().collect(),
        _ => Vec::new(),
    };
    for stage in &mut stages {
        stage.clear_unconnected(fabric);
    }
    stages
}

/// The tables after each rank of switches but the last.
fn stages_by_rank(old: &Routes, new: &Routes, ranks: &[Option<u32>]) -> Vec<Routes> {
    if old.row_count() != new.row_count() {
        return Vec::new();
    }
    let last = ranks.iter().flatten().max().copied().unwrap_or(0);
    (0..last)
        .map(|done| {
            let mut stage = new.clone();
            for row in 0..new.row_count() {
                let ports = stage.ports_mut(row);
                for (s, rank) in ranks.iter().enumerate() {
                    if rank.is_some_and(|rank| rank > done) {
                        ports[s] = old.ports(row)[s];
                    }
                }
            }
            stage
        })
        .collect()
}

/// On which rung tables are written stage by stage; `whole` is that of writing them at once, and `judge` judges one stage. Each
/// stage is a sweep, which has no order; connections may be of any time before it. A stage loses no pair that works, unless
/// packets are drained behind it.
pub(crate) fn rung(
    before: Before<'_>,
    between: &[&Routes],
    new: &Routes,
    whole: Rung,
    judge: impl Fn(&[Before<'_>], &Routes, Lost) -> Result<Transition, String> + Sync,
) -> Result<Rung, String> {
    if between.is_empty() {
        return Ok(whole);
    }
    // Where no order of switches is safe, packets of the tables before must be gone before the last stage.
    let drains = whole > Rung::Stages;
    if drains && (whole > Rung::DropDrain || between.len() != 1) {
        return Ok(Rung::Refuse);
    }
    let (rung, lost) =
        if drains { (Rung::DropDrain, Lost::CutRows) } else { (Rung::Stages, Lost::Already) };
    let later = between.iter().map(|routes| Before { routes, has_levels: true });
    let states: Vec<Before<'_>> = [before].into_iter().chain(later).collect();
    // No stage needs the result of another.
    let is_safe = |i: usize| {
        let (to, lost) = between.get(i).map_or((new, Lost::None), |stage| (*stage, lost));
        judge(&states[..=i], to, lost).map(|judged| judged.verdict <= Rung::AnyOrder)
    };
    let judged: Vec<Result<bool, String>> =
        (0..states.len()).into_par_iter().map(is_safe).collect();
    for is_safe in judged {
        if !is_safe? {
            return Ok(Rung::Refuse);
        }
    }
    Ok(rung)
}

/// Each obligation and its result, for people.
pub(crate) fn obligations(judged: &Transition) -> Vec<String> {
    let line = |j: &Judged| {
        let why = match &j.fails {
            None => "holds",
            Some(Why::Unsound { .. }) => "fails: the new tables are not sound",
            Some(Why::NotExamined) => "not examined",
            Some(Why::Cycle(_)) => "fails: packets can deadlock",
            Some(Why::Circle { .. }) => "fails: packets can loop",
            Some(Why::Contradiction(_)) => "fails: no order of switches is proved safe",
        };
        format!("{} {why}", j.obligation.name())
    };
    judged.obligations.iter().map(line).collect()
}
