//! Easing balanced tables for the jobs that run: the few entries that serve them, instead of new
//! tables.
//!
//! Scheduling-aware engines recompute all tables for each mix of jobs, which moves thousands of entries and changes
//! service levels. Balanced tables are mostly nearly as good already; jobs need only a few changed entries at hot
//! channels, which [`Prepared::relieve`] finds.
//!
//! They are put in place at once, where any mix of old and new entries is safe; in ranks of switches, where that is safe;
//! else in as many steps as entries change on one row. Each move was admitted together with all paths that the tables had
//! before and since, so the dependencies of a row after 0, 1, 2, ... of its moves are jointly acyclic, whatever other rows
//! have done. A step takes at most the next move of each row: a packet meets that entry old or new, and no other that
//! changes, so it does not loop and makes only dependencies that were admitted.

use std::collections::BTreeMap;

use super::outcome::Change;
use super::prepared::Prepared;
use super::relieve::{Goal, Move, Relief};

/// The result of easing tables. [`Prepared::routes`] has the new tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Eased {
    /// Moves, the entries that change, and how the fullest channel cools down.
    pub relief: Relief,
    /// The entries of each step, by (switch, row): switches of a step in any order, each step complete before the next.
    /// Empty if nothing changes.
    pub steps: Vec<Vec<Change>>,
    /// Moves that were found beyond these and are withheld: with them it takes more steps than allowed.
    pub withheld: usize,
}

impl Prepared<'_> {
    /// Eases the tables for the known demands ([`Prepared::serving`]), and keeps the new ones. Service levels stay, and
    /// the new tables can be put in place in `most_steps` while connections run: of the moves the longest prefix is taken
    /// that this allows and that still cools the fullest channel down.
    ///
    /// Complexity: that of [`Prepared::relieve`] at most twice; where moves are withheld, as often as their number has binary
    /// digits.
    pub fn ease_for(&mut self, goal: &Goal, most_steps: usize) -> Eased {
        let attempt = |moves: usize| {
            let mut tried = self.clone();
            let relief = tried.relieve(&Goal { moves, ..*goal });
            let steps = steps(&relief);
            (tried, relief, steps)
        };
        let mut best = attempt(goal.moves);
        // Moves after the last one that cools the fullest channel down have no benefit.
        let found = useful(&best.1);
        if found < best.1.moves.len() {
            best = attempt(found);
        }
        if best.2.len() > most_steps {
            // The largest number of moves known to work, and the smallest known not to.
            let (mut good, mut bad) = (0, found);
            best = attempt(0);
            while good + 1 < bad {
                let middle = usize::midpoint(good, bad);
                let tried = attempt(middle);
                if tried.2.len() > most_steps {
                    bad = middle;
                } else {
                    (good, best) = (middle, tried);
                }
            }
            let enough = useful(&best.1);
            if enough < good {
                best = attempt(enough);
            }
        }
        let (tables, relief, steps) = best;
        *self = tables;
        let withheld = found - relief.moves.len();
        Eased { relief, steps, withheld }
    }
}

/// Moves up to the last one after which the fullest channel is cooler than before.
fn useful(relief: &Relief) -> usize {
    if relief.after >= relief.before {
        return 0;
    }
    let coolest = relief.moves.iter().position(|m| m.fullest <= relief.after);
    coolest.map_or(0, |last| last + 1)
}

/// The steps in which moves may be put in place.
fn steps(relief: &Relief) -> Vec<Vec<Change>> {
    if relief.changes.is_empty() {
        return Vec::new();
    }
    let by_row = by_row(&relief.moves);
    match relief.coexistence.by_step(&relief.changes) {
        Some(steps) if steps.len() <= by_row.len() => steps,
        _ => by_row,
    }
}

/// The next move of every row in each step.
fn by_row(moves: &[Move]) -> Vec<Vec<Change>> {
    let mut done: BTreeMap<u32, usize> = BTreeMap::new();
    let mut steps: Vec<Vec<Change>> = Vec::new();
    for m in moves {
        let step = done.entry(m.change.row).or_default();
        if steps.len() == *step {
            steps.push(Vec::new());
        }
        steps[*step].push(m.change);
        *step += 1;
    }
    for step in &mut steps {
        step.sort_unstable();
    }
    steps
}
