//! The work that the machine asks for: measuring, easing, proving.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use darkfiber_analysis::jobs::Effective;
use darkfiber_fabric::TerminalId;
use darkfiber_operate::{Candidate, PlanId, Task, Verdict, WorkResult};
use darkfiber_routing::reroute::{Goal, Prepared, difference};
use darkfiber_routing::transition::{self, Before, Why};
use darkfiber_routing::{Demand, Routes, least_load_of_jobs};

use crate::value::{FabricValue, JobsValue, TablesValue, digest_of_tables};

/// Plans whose tables are kept in memory.
const KEPT: usize = 4;
/// Stages of a proposal: one, as people put it in place by one sweep of OpenSM.
const STAGES: usize = 1;
/// Layers that new paths may use beside those of the tables: every path keeps its own.
const LAYERS: u8 = 1;

/// What was read when the work was asked for.
#[derive(Clone)]
pub(crate) struct Values {
    pub(crate) fabric: Arc<FabricValue>,
    pub(crate) tables: Arc<TablesValue>,
    pub(crate) jobs: Arc<JobsValue>,
}

/// Tables that were found, and what they were found for.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) routes: Arc<Routes>,
    pub(crate) values: Values,
}

/// Does the work, and keeps the tables that it found last.
pub(crate) struct Workshop {
    /// Most entries that a proposal changes.
    moves: usize,
    plans: BTreeMap<PlanId, Plan>,
}

impl Workshop {
    pub(crate) fn new(moves: usize) -> Self {
        Self { moves, plans: BTreeMap::new() }
    }

    /// The tables of a plan, if they are still kept.
    pub(crate) fn plan(&self, plan: PlanId) -> Option<&Plan> {
        self.plans.get(&plan)
    }

    /// What comes of a task. A panic is a bug, and fails this task only.
    pub(crate) fn work(&mut self, task: Task, values: &Values) -> WorkResult {
        let done = catch_unwind(AssertUnwindSafe(|| match task {
            Task::Measure => {
                let efi = efi(values, &values.tables.routes);
                Ok(WorkResult::Measured { efi, bound: Some(bound(values)) })
            }
            Task::Ease { plan } => self.ease(plan, values),
            Task::Prove { plan } => self.prove(plan, values),
            Task::Mend { .. } => Err("this version does not mend tables".to_owned()),
        }));
        let result = done.unwrap_or_else(|_| Err("a bug in darkfiber: it panicked".to_owned()));
        result.unwrap_or_else(|why| WorkResult::Failed { why })
    }

    fn ease(&mut self, plan: PlanId, values: &Values) -> Result<WorkResult, String> {
        let fabric = values.fabric.fabric();
        let old = &values.tables.routes;
        let prepared = Prepared::new(fabric, old, LAYERS).map_err(|e| e.to_string())?;
        let mut prepared = prepared.serving(&demands(&values.jobs.places));
        let goal = Goal { moves: self.moves, ..Goal::default() };
        let eased = prepared.ease_for(&goal, STAGES);
        let new = prepared.into_routes();
        let lids = &values.tables.lids;
        let changed = difference(fabric, old, &new, lids);
        let digest = digest_of_tables(fabric, &new, lids);
        let candidate = Candidate {
            tables: digest,
            stages: eased.steps.iter().map(|_| digest).collect(),
            kept: efi(values, old),
            proposed: efi(values, &new),
            bound: Some(bound(values)),
            entries: changed.entries as u64,
            blocks: changed.blocks as u64,
            withheld: eased.withheld as u64,
        };
        self.plans.insert(plan, Plan { routes: Arc::new(new), values: values.clone() });
        while self.plans.len() > KEPT {
            self.plans.pop_first();
        }
        Ok(WorkResult::Found { candidate })
    }

    /// By the checker of transitions, which shares no code with what found the tables.
    fn prove(&self, plan: PlanId, values: &Values) -> Result<WorkResult, String> {
        let found = self.plans.get(&plan);
        let found = found.ok_or_else(|| format!("the tables of plan {plan} are gone"))?;
        let fabric = values.fabric.fabric();
        let tables = &values.tables;
        let before = [Before { routes: &tables.routes, has_levels: tables.has_levels }];
        let judged = transition::check(fabric, &before, &found.routes, Some(&values.jobs.places));
        let judged = judged.map_err(|e| e.to_string())?;
        let obligations = judged.obligations.iter().map(|j| {
            let why = match &j.fails {
                None => "holds",
                Some(Why::Unsound { .. }) => "fails: the new tables are not sound",
                Some(Why::NotExamined) => "not examined",
                Some(Why::Cycle(_)) => "fails: packets can deadlock",
                Some(Why::Circle { .. }) => "fails: packets can loop",
                Some(Why::Contradiction(_)) => "fails: no order of switches is safe",
            };
            format!("{} {why}", j.obligation.name())
        });
        Ok(WorkResult::Proved {
            verdict: Verdict {
                fabric: values.fabric.digest,
                from: tables.digest,
                to: digest_of_tables(fabric, &found.routes, &tables.lids),
                rung: judged.verdict,
                obligations: obligations.collect(),
                pairs_changed: judged.changes.pairs_changed,
            },
        })
    }
}

fn efi(values: &Values, routes: &Routes) -> u64 {
    let of = Effective::of(values.fabric.fabric(), routes, &values.jobs.places);
    of.facts().effective_efi.max
}

fn bound(values: &Values) -> u64 {
    let paths = values.tables.routes.paths();
    least_load_of_jobs(values.fabric.fabric(), &values.jobs.places, paths)
}

/// Every pair inside a job; one that shares two jobs sends in both.
fn demands(jobs: &[Vec<TerminalId>]) -> Vec<Demand> {
    let pairs = |job: &Vec<TerminalId>| {
        let all = job.iter().flat_map(|&from| job.iter().map(move |&to| (from, to)));
        let far = all.filter(|(from, to)| from != to);
        far.map(|(from, to)| Demand { from, to, weight: 1 }).collect::<Vec<_>>()
    };
    jobs.iter().flat_map(pairs).collect()
}
