//! Execution of a plan.

use darkfiber_packetsim::{Observer, Pulse, SwitchModel, TrafficClass};
use darkfiber_workload::play::SECOND;
use rayon::prelude::*;

use super::plan::{Cell, CongestPlan};
use super::times::{Stopwatch, Times};
use darkfiber_scenario::{Job, Medium, MessageClass, PacketOptions, Setup, Until, simulate_until};

/// Why a cell has no times.
pub type CellError = String;

/// Times of a victim with an aggressor, and in isolation.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Cell of the plan.
    pub cell: Cell,
    /// Times of the cell, or why it was refused.
    pub ran: Result<CellTimes, CellError>,
}

/// Times of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellTimes {
    /// The victim in isolation.
    pub isolated: Times,
    /// Times with the aggressor.
    pub congested: Times,
}

/// Time of a victim with an aggressor, relative to its time alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// C: mean time with the aggressor divided by mean time alone.
    pub times: f64,
    /// Whether nothing ended, so that the simulated time is a lower bound.
    pub is_bound: bool,
}

impl Row {
    /// The congestion impact; `None` where the cell was not run, or the victim in isolation did not end.
    pub fn impact(&self) -> Option<Impact> {
        let ran = self.ran.as_ref().ok()?;
        let alone = ran.isolated.summary().filter(|t| t.mean > 0.0)?.mean;
        let beside = ran.congested.summary().map(|t| t.mean);
        let waited = ran.congested.simulated as f64 / SECOND as f64;
        Some(Impact { times: beside.unwrap_or(waited) / alone, is_bound: beside.is_none() })
    }
}

/// Store of previous runs, which also keeps new ones.
pub trait Store: Sync {
    /// The stored result of a run, if any.
    fn find(&self, cell: &Cell) -> Option<Times>;
    /// Stores the result of a run that is over.
    fn keep(&self, cell: &Cell, times: &Times);
    /// The observer of a run, to save it while it lasts; none by default.
    fn follow(&self, cell: &Cell) -> Box<dyn Observer + '_> {
        let _ = cell;
        Box::new(|_: Pulse| ())
    }
}

/// Runs all cells of a plan in parallel; `done` is called after each run. Rows come in the order of [`CongestPlan::cells`], and do
/// not depend on the number of threads.
pub fn run(
    plan: &CongestPlan<'_>,
    kept: Option<&dyn Store>,
    done: &(dyn Fn(&Cell) + Sync),
) -> Vec<Row> {
    let cells = plan.cells();
    let times: Vec<Result<Times, CellError>> = cells
        .par_iter()
        .with_max_len(1)
        .map(|cell| {
            let found = match kept.and_then(|k| k.find(cell)) {
                Some(times) => Ok(times),
                None => one(plan, cell, kept).inspect(|times| {
                    if let Some(k) = kept {
                        k.keep(cell, times);
                    }
                }),
            };
            done(cell);
            found
        })
        .collect();
    let mut rows = Vec::new();
    let mut isolated = &Err(String::new());
    for (cell, times) in cells.iter().zip(&times) {
        // Each victim in isolation comes before its aggressors.
        if cell.aggressor.is_none() {
            isolated = times;
            continue;
        }
        let ran = match (isolated, times) {
            (Err(why), _) | (_, Err(why)) => Err(why.clone()),
            (Ok(isolated), Ok(congested)) => {
                Ok(CellTimes { isolated: isolated.clone(), congested: congested.clone() })
            }
        };
        rows.push(Row { cell: *cell, ran });
    }
    rows
}

/// Runs one cell.
fn one(plan: &CongestPlan<'_>, cell: &Cell, kept: Option<&dyn Store>) -> Result<Times, CellError> {
    let cast = plan.cast(cell)?;
    let mechanism = &plan.mechanisms[cell.mechanism];
    let mut classes = Vec::new();
    let mut jobs: Vec<Job> = cast.jobs.iter().map(Job::from).collect();
    if mechanism.apart {
        let names = ["victim", "aggressor"];
        classes = names.map(TrafficClass::plain).to_vec();
        for (i, job) in jobs.iter_mut().enumerate() {
            let number = i.min(1);
            let name = names[number].to_owned();
            job.classes = vec![MessageClass { up_to: u64::MAX, number: number as u8, name }];
        }
    }
    let Medium::Packet(options) = &plan.case.medium else {
        return Err("congestion is of packets: the depth must be packet".to_owned());
    };
    let micro = SwitchModel {
        congestion: mechanism.congestion,
        tuning: mechanism.tuning,
        classes,
        ..options.micro.clone()
    };
    let medium = Medium::Packet(Box::new(PacketOptions {
        micro,
        routing: mechanism.routing,
        // Cells run in parallel, each on one thread.
        parts: Some(1),
        ..(**options).clone()
    }));
    let follower = kept.map(|k| k.follow(cell));
    let setup =
        Setup { seed: plan.seed, jobs, medium, follow: follower.as_deref(), ..plan.case.setup() };
    let mut watch = Stopwatch::new(plan.rule, cast.timed, cast.ranks, plan.warmup);
    simulate_until(&setup, Until { job: Some(0), enough: &mut |player| watch.look(player) })
        .map_err(|trouble| trouble.to_string())?;
    Ok(watch.times)
}
