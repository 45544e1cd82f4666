//! Domke, Hoefler, "Scheduling-Aware Routing for Supercomputers", SC'16.
//!
//! The job histories of the paper (Taurus and Tsubame2.5, a month each) are private. They are replaced by jobs of a
//! public log, or synthetic jobs like them, scaled to the machine and placed first-fit.

pub(super) mod alltoall;
pub(super) mod cost;
pub(super) mod filter;
pub(super) mod job_mix;
pub(super) mod reconfigurations;
pub(super) mod small_tree;
pub(super) mod table;
pub(super) mod tables_sent;
pub(super) mod update;

use darkfiber_fabric::open;
use darkfiber_routing::Lids;
use darkfiber_scenario::job_log::{Log, Placed};
use darkfiber_scenario::{Case, Chain};
use darkfiber_workload::History;
use darkfiber_workload::placement::allocator;

use super::Context;
use crate::replay::{Moment, ReplayPlan, replay};

/// Days that fill the machine before those that are looked at.
const BEFORE: i64 = 20;
const DAYS: i64 = 30;
const DAY: i64 = 86_400;
/// Seconds between moments, as in the paper's figure 1.
const EVERY: i64 = 600;

/// A machine and who ran on it.
struct Site {
    case: Case<()>,
    lids: Lids,
    history: History,
    from: i64,
    /// Source of the jobs.
    source: String,
}

impl Site {
    /// A preset of the paper with jobs of whole hosts, first-fit.
    fn new(preset: &str, context: &Context<'_>) -> Self {
        let topology = open(preset).expect("a preset");
        let lids = Lids::assign(&topology.fabric, 0).expect("presets are small enough");
        let synthetic = || {
            let days = u32::try_from(BEFORE + DAYS).expect("days");
            Log::synthetic(days, context.seed)
        };
        let mut log = context.log.cloned().unwrap_or_else(synthetic);
        log.keep_whole_host_jobs();
        let first_fit = allocator("first-fit").expect("registered");
        let Placed { history, scale } = log.placed(&topology, None, first_fit, context.seed);
        let from = history.span().map_or(0, |s| s.0) + BEFORE * DAY;
        let source = format!("{}; jobs of whole hosts, times {scale:.3}, first-fit", log.name);
        Self {
            case: Case { seed: context.seed, ..Case::of(topology) },
            lids,
            history,
            from,
            source,
        }
    }

    /// Days of it under some engines.
    fn days(&self, days: i64, engines: &[&str], context: &Context<'_>) -> Vec<Moment> {
        let engines: Vec<Chain> =
            engines.iter().map(|e| Chain::parse(e).expect("registered")).collect();
        let moments = usize::try_from(days * DAY / EVERY).expect("not below zero");
        let plan = ReplayPlan {
            case: &self.case,
            lids: &self.lids,
            history: &self.history,
            engines: &engines,
            from: self.from,
            every: EVERY,
            moments,
        };
        let mut all = Vec::with_capacity(moments);
        replay(&plan, 0, &mut |moment| {
            if all.len() % 144 == 0 {
                let day = 1 + all.len() / 144;
                (context.at)(&format!("{}, day {day}", self.case.fabric().name()));
            }
            all.push(moment);
            true
        })
        .expect("the paper's engines route its machines");
        all
    }
}
