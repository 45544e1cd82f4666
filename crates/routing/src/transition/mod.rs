//! The transition from old tables to new ones: what is proved about it before anything is written.
//!
//! Tables that are sound before and sound after may still deadlock in between, or permanently afterwards:
//! a running connection keeps its service level, and takes the new path with it. [`check`] decides the
//! obligations O1 to O5 for any two tables of one fabric with the same LIDs, counts the pairs that change
//! (O6), and names the first level of the ladder that is proved.
//!
//! The check is conservative: what it calls safe is safe under the conditions that it names; what it
//! refuses may still work.

mod baseline;
mod before;
mod changes;
mod examined;
mod graphs;
mod ladder;
mod ranks;
mod row;
mod stage;
mod state;
mod tasks;
mod verdict;
mod witness;

use std::ops::Range;

use darkfiber_fabric::{Fabric, TerminalId};

use crate::Routes;
use crate::check::dependency::Dependencies;
use crate::check::{Report, check as check_one};

pub use baseline::{AfterFault, Baseline};
pub use before::Before;
pub use changes::{Changes, JobPairs};
pub use stage::{Lost, cleared};
pub use verdict::{
    Generation, Held, Judged, Obligation, Rung, RungJudged, Transition, Why, Witness,
};

use examined::examine;
use row::Tables;

/// Why two tables cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// No old state was given.
    #[error("a transition needs at least one old state")]
    NoState,
    /// Tables of a fabric of another size.
    #[error(
        "{which} are of another fabric: {found_switches} switches and {found_terminals} terminals, expected \
         {switches} and {terminals}"
    )]
    Fabric {
        /// Name of the tables.
        which: String,
        /// Switches of these tables.
        found_switches: usize,
        /// Terminals of these tables.
        found_terminals: usize,
        /// Switches of the fabric.
        switches: usize,
        /// Terminals of the fabric.
        terminals: usize,
    },
    /// Another number of LIDs a port.
    #[error(
        "{which} have {found} LIDs a terminal, the new ones {expected}: LIDs must stay as they are"
    )]
    Lids {
        /// Name of the tables.
        which: String,
        /// LIDs a terminal in these tables.
        found: usize,
        /// LIDs a terminal in the new tables.
        expected: usize,
    },
    /// Lanes that switches choose by their ports.
    #[error(
        "in {which} switches choose lanes by input and output port (sl2vl): a transition is judged by the lane that a \
         connection keeps on its whole way"
    )]
    LanesByHop {
        /// Name of the tables.
        which: String,
    },
}

/// Judges the transition from the last of `before`, which is in place, to `new`. Connections may use the service
/// levels of all of `before`.
///
/// `jobs` are the terminals of each running job, if they are known.
///
/// Uses the caller's rayon pool; the verdict does not depend on the number of threads.
///
/// Complexity: that of [`crate::check::check`] times a small constant; table rows times switches.
///
/// # Errors
/// If the tables are of different fabrics or have different numbers of LIDs.
pub fn check(
    fabric: &Fabric,
    before: &[Before<'_>],
    new: &Routes,
    jobs: Option<&[Vec<TerminalId>]>,
) -> Result<Transition, Mismatch> {
    fits(fabric, before, new)?;
    Ok(judge(fabric, before, new, &check_one(fabric, new), Lost::None, jobs))
}

/// As [`check`], for tables of a stage that others follow: they may lose the pairs that `lost` allows.
///
/// # Errors
/// As [`check`].
pub fn check_stage(
    fabric: &Fabric,
    before: &[Before<'_>],
    stage: &Routes,
    lost: Lost,
) -> Result<Transition, Mismatch> {
    fits(fabric, before, stage)?;
    Ok(judge(fabric, before, stage, &check_one(fabric, stage), lost, None))
}

/// As [`check`], where the checker's report about the new tables is at hand.
///
/// # Errors
/// As [`check`].
pub fn check_proved(
    fabric: &Fabric,
    before: &[Before<'_>],
    new: &Routes,
    target: &Report,
    jobs: Option<&[Vec<TerminalId>]>,
) -> Result<Transition, Mismatch> {
    fits(fabric, before, new)?;
    Ok(judge(fabric, before, new, target, Lost::None, jobs))
}

fn fits(fabric: &Fabric, before: &[Before<'_>], new: &Routes) -> Result<(), Mismatch> {
    if before.is_empty() {
        return Err(Mismatch::NoState);
    }
    let old = before.iter().enumerate();
    let all = old.map(|(i, b)| (format!("old tables {}", i + 1), b.routes));
    for (which, routes) in all.chain([("new tables".to_owned(), new)]) {
        let found = (routes.switch_count(), routes.terminal_count());
        if found != (fabric.switch_count(), fabric.terminal_count()) {
            return Err(Mismatch::Fabric {
                which,
                found_switches: found.0,
                found_terminals: found.1,
                switches: fabric.switch_count(),
                terminals: fabric.terminal_count(),
            });
        }
        if routes.layers.by_hop().is_some() {
            return Err(Mismatch::LanesByHop { which });
        }
        if routes.paths() != new.paths() {
            return Err(Mismatch::Lids { which, found: routes.paths(), expected: new.paths() });
        }
    }
    Ok(())
}

fn judge(
    fabric: &Fabric,
    before: &[Before<'_>],
    new: &Routes,
    target: &Report,
    lost: Lost,
    jobs: Option<&[Vec<TerminalId>]>,
) -> Transition {
    let tables = Tables::new(fabric, before, new);
    let rows = Rows { runs: &tables.runs(fabric), alike: None, pairs: 0 };
    judge_rows(fabric, &tables, rows, target, lost, jobs)
}

/// The rows to examine, the dependencies of all others, if there are any, and the pairs of these.
#[derive(Clone, Copy)]
struct Rows<'r> {
    runs: &'r [Range<usize>],
    alike: Option<&'r Dependencies>,
    pairs: u64,
}

fn judge_rows(
    fabric: &Fabric,
    tables: &Tables<'_>,
    rows: Rows<'_>,
    target: &Report,
    lost: Lost,
    jobs: Option<&[Vec<TerminalId>]>,
) -> Transition {
    let Rows { runs, alike, pairs } = rows;
    let changes = changes::count(fabric, tables, runs, pairs, jobs);
    let sound = target.loops == 0
        && target.deadlock_free()
        && (target.complete() || lost.allows(fabric, tables.in_place, tables.new, runs));
    let examined = sound.then(|| examine(fabric, tables, runs, alike));
    ladder::climb(fabric, tables, target, examined.as_ref(), changes)
}
