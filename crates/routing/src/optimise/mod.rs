//! A search for tables of fat-trees that beat those made by rule.
//!
//! With several LIDs a port the up path may depend on the source's class and on the destination: a matrix
//! of up paths, a row for each LID, a column for each place in a subtree. OPT is such a matrix, a grid of
//! blocks; [`optimise`] starts from grids, projective planes and D-mod-k, and changes entry by entry
//! (simulated annealing) what an estimate favours.
//!
//! The estimate is that of the average bisection bandwidth of Nienaber, Mahapatra and Yuan, 1 / largest load,
//! as if channels were independent: the load of a channel is a sum of senders (of receivers on the way
//! down), and the largest of all loads is below x if each is.

mod anneal;
mod estimate;
mod plane;
mod starts;
mod tower;

use darkfiber_fabric::Fabric;
use rayon::prelude::*;

use crate::engines::modk;
use crate::{Engine as _, Refusal, Request, Routes};
use anneal::Search;
use tower::{Assignment, Tower};

/// The goal of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchGoal {
    /// The mildest worst permutation, then the best average bisection bandwidth.
    Worst,
    /// The best average bisection bandwidth.
    Average,
}

/// The effort of the search.
#[derive(Clone, Copy, Debug)]
pub struct SearchEffort {
    /// Most LIDs a port.
    pub lids: u16,
    /// Steps of each run.
    pub steps: u32,
}

/// The result of the search.
#[derive(Clone, Debug)]
pub struct OptimizedRoutes {
    /// The routes; paths by source class.
    pub routes: Routes,
    /// The assignment that the search started from.
    pub start: String,
    /// The estimate of the average bisection bandwidth.
    pub estimate: f64,
    /// A bound of the worst permutation, from the numbers of sources and destinations alone.
    pub bound: u32,
}

/// Number of searches, from the best starts.
const RUNS: usize = 4;

/// Searches for routes of a two- or three-level fat-tree with known labels. The same for any number of threads.
///
/// # Errors
/// If the fabric is no such tree, or the routes cannot be placed on a damaged one.
pub fn optimise(
    fabric: &Fabric,
    request: &Request<'_>,
    goal: SearchGoal,
    effort: SearchEffort,
) -> Result<OptimizedRoutes, Refusal> {
    let tree = modk::Tree::of(&modk::DModK, fabric, request.shape)?;
    let tower = Tower::of(&tree).map_err(|reason| Refusal::WrongFabric {
        engine: NAME,
        needs: modk::DModK.needs().label(),
        reason,
    })?;
    let mut starts: Vec<ScoredAssignment> = starts::all(&tower, effort.lids)
        .into_iter()
        .map(|(name, assignment)| {
            let search = Search::new(&tower, assignment);
            let (bound, estimate) = (search.bound(), search.estimate());
            ScoredAssignment { name, assignment: search.into_assignment(), bound, estimate }
        })
        .collect();
    sort(&mut starts, goal);
    let from: Vec<ScoredAssignment> = starts.iter().take(RUNS).cloned().collect();
    // Each run is independent, so that nothing depends on which finishes first.
    let mut found: Vec<ScoredAssignment> = from
        .into_par_iter()
        .enumerate()
        .map(|(i, start)| run(&tower, start, goal, effort.steps, request.seed ^ (i as u64) << 32))
        .collect();
    found.extend(starts);
    sort(&mut found, goal);
    let best = found.swap_remove(0);
    let Assignment { class, slots, .. } = &best.assignment;
    let class_of = tower.index.iter().map(|&t| class[t as usize % tower.places]).collect();
    let routes =
        modk::route_by_class(NAME, fabric, request, &tree, class_of, |class, number, level| {
            tower.port(slots[class * tower.places + number % tower.places], level)
        })?;
    Ok(OptimizedRoutes { routes, start: best.name, estimate: best.estimate, bound: best.bound })
}

/// The name in results.
const NAME: &str = "optimised";

#[derive(Clone)]
struct ScoredAssignment {
    name: String,
    assignment: Assignment,
    bound: u32,
    estimate: f64,
}

/// Sorts the best first.
fn sort(found: &mut [ScoredAssignment], goal: SearchGoal) {
    found.sort_by(|a, b| {
        let average = b.estimate.total_cmp(&a.estimate);
        match goal {
            SearchGoal::Worst => a.bound.cmp(&b.bound).then(average),
            SearchGoal::Average => average.then(a.bound.cmp(&b.bound)),
        }
    });
}

fn run(
    tower: &Tower,
    start: ScoredAssignment,
    goal: SearchGoal,
    steps: u32,
    seed: u64,
) -> ScoredAssignment {
    let limit = match goal {
        SearchGoal::Worst => start.bound,
        SearchGoal::Average => u32::MAX,
    };
    let mut best = start;
    let mut search = Search::new(tower, best.assignment.clone());
    search.anneal(limit, steps, seed);
    let mut keep = |search: &Search<'_>| {
        let (bound, estimate) = (search.bound(), search.estimate());
        let better = match goal {
            SearchGoal::Worst => {
                bound < best.bound || bound == best.bound && estimate > best.estimate
            }
            SearchGoal::Average => estimate > best.estimate,
        };
        if better {
            let assignment = search.assignment().clone();
            best = ScoredAssignment { name: best.name.clone(), assignment, bound, estimate };
        }
        better
    };
    keep(&search);
    if goal == SearchGoal::Worst {
        // One less, as long as that can be had.
        let mut limit = limit;
        while limit > tower.least(search.classes()) {
            search.anneal(limit - 1, steps, seed ^ u64::from(limit));
            if !keep(&search) || search.bound() >= limit {
                break;
            }
            limit = search.bound();
        }
    }
    best
}
