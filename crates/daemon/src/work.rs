//! The work that the machine requests: measuring, easing, proving.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use darkfiber_analysis::estimate::Pairs;
use darkfiber_analysis::heat::Heat;
use darkfiber_fabric::{Faults, TerminalId};
use darkfiber_operate::{Digest, Measure, PlanId, Task, Verdict, WorkResult};
use darkfiber_routing::Routes;
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Goal, Prepared};
use darkfiber_routing::transition::{self, Before, Lost};
use darkfiber_scenario::demanded;

use crate::inputs::{LAYERS, Values};
use crate::kept_tables::kept_tables;
use crate::load::{bound, candidate, load, measure, served};
use crate::proof;
use crate::restore::before_faults;
use crate::router::Router;
use crate::tables_digest::digest_of_tables;

/// Number of plans whose tables are kept in memory.
const KEPT: usize = 4;
/// Stages of a proposal: one, as people put it in place by one sweep of OpenSM.
const STAGES: usize = 1;
/// Most entries of a change for counters.
const MOST_FOR_COUNTERS: usize = 8;
/// Largest share of the traffic that may be undetermined.
const DETERMINED: f64 = 0.1;
/// Maximum number of terminals whose pairs are all considered where jobs do not give the pairs.
const ALL_PAIRS: usize = 2_000;

/// Tables that were found, and the inputs they were found for.
#[derive(Clone)]
pub(crate) struct TablePlan {
    /// The tables after all stages.
    pub(crate) routes: Arc<Routes>,
    /// Those after each but the last.
    pub(crate) between: Vec<Arc<Routes>>,
    pub(crate) values: Values,
}

/// The tables that were found last, shared by the worker and its readers.
#[derive(Clone, Default)]
pub(crate) struct Library(Arc<Mutex<BTreeMap<PlanId, TablePlan>>>);

impl Library {
    /// The tables of a plan, if they are still kept.
    pub(crate) fn plan(&self, plan: PlanId) -> Option<TablePlan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&plan).cloned()
    }

    fn with_stages(&self, id: PlanId, stages: Vec<Routes>) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plan) = plans.get_mut(&id) {
            plan.between = stages.into_iter().map(Arc::new).collect();
        }
    }

    pub(crate) fn keep(&self, id: PlanId, plan: TablePlan) {
        let mut plans = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        plans.insert(id, plan);
        while plans.len() > KEPT {
            plans.pop_first();
        }
    }
}

/// Does the work, and keeps the tables that it found last.
pub(crate) struct Workshop {
    /// Most entries that a proposal changes.
    moves: usize,
    /// How tables are made anew, where they may be.
    router: Option<Router>,
    /// Folder of the plans on disk.
    folder: PathBuf,
    library: Library,
}

impl Workshop {
    pub(crate) fn new(moves: usize, folder: PathBuf, library: Library) -> Self {
        Self { moves, router: None, folder, library }
    }

    /// The same, which may make tables anew.
    pub(crate) fn with_router(self, router: Option<Router>) -> Self {
        Self { router, ..self }
    }

    /// The tables of a plan, if they are still kept.
    pub(crate) fn plan(&self, plan: PlanId) -> Option<TablePlan> {
        self.library.plan(plan)
    }

    /// Keeps tables that were found elsewhere.
    pub(crate) fn keep(&self, id: PlanId, plan: TablePlan) {
        self.library.keep(id, plan);
    }

    /// Returns the result of a task. A panic is a bug, and fails only this task.
    pub(crate) fn work(&mut self, task: Task, values: &Values) -> WorkResult {
        let done = catch_unwind(AssertUnwindSafe(|| match task {
            Task::Measure => {
                let efi = load(values, &values.tables.routes);
                Ok(WorkResult::Measured { measure: measure(values), efi, bound: bound(values) })
            }
            Task::Ease { plan } => self.ease(plan, values),
            Task::Prove { plan } => self.prove(plan, values),
            Task::Relieve { plan } => self.relieve(plan, values),
            Task::Route { plan } => self.route(plan, values),
            Task::Mend { plan, restores } => self.mend(plan, restores, values),
            Task::Recall { plan, of, before } => self.recall(plan, of, before, values),
        }));
        let result = done.unwrap_or_else(|_| Err("a bug in darkfiber: it panicked".to_owned()));
        result.unwrap_or_else(|why| WorkResult::Failed { why })
    }

    /// Complete tables near those in place, with the service levels that running connections have. Where those in place are complete:
    /// the ones that a fault, which is over, has replaced, if that is asked for.
    fn mend(
        &mut self,
        plan: PlanId,
        restores: bool,
        values: &Values,
    ) -> Result<WorkResult, String> {
        let old = &values.tables.routes;
        if values.tables.is_whole {
            let better = if restores { before_faults(&self.folder, values) } else { None };
            if let Some(better) = better {
                let found = self.found_with_stages(plan, values, better, 0)?;
                if self.may_restore(plan, &found, values) {
                    return Ok(found);
                }
            }
            return Ok(self.found(plan, values, old.clone(), 0));
        }
        let fabric = values.fabric.fabric();
        let report = check(fabric, old);
        // Where pairs loop, their paths close cycles of their own: whether all others can deadlock is up to the proof then.
        if !values.tables.has_levels && report.loops == 0 && !report.deadlock_free() {
            return Err("the tables in place can deadlock with all paths in one lane, as they are read: `sl` in [tables] names \
                        their service levels"
                .to_owned());
        }
        let mut prepared = Prepared::new(fabric, old, LAYERS).map_err(|e| e.to_string())?;
        prepared.reroute_on_lowest_rung(&Faults::default()).map_err(|e| e.to_string())?;
        self.found_with_stages(plan, values, prepared.into_routes(), 0)
    }

    /// Whether a plan that repairs nothing loses no pair on the way.
    fn may_restore(&self, plan: PlanId, found: &WorkResult, values: &Values) -> bool {
        let WorkResult::Found { candidate } = found else { return false };
        match self.prove(plan, values) {
            Ok(WorkResult::Proved { verdict }) => {
                verdict.allows(candidate.stages.len()) && !verdict.drains()
            }
            _ => false,
        }
    }

    /// Tables of the routing engine that the policy names.
    fn route(&mut self, plan: PlanId, values: &Values) -> Result<WorkResult, String> {
        let router = self.router.ok_or("no engine is given for that")?;
        if !values.tables.is_whole {
            return Err("pairs of terminals do not reach: they are repaired first".to_owned());
        }
        let (new, withheld) = router.tables(values)?;
        self.found_with_stages(plan, values, new, withheld)
    }

    /// Tables that are put in place by as many stages as are needed.
    fn found_with_stages(
        &mut self,
        plan: PlanId,
        values: &Values,
        new: Routes,
        withheld: usize,
    ) -> Result<WorkResult, String> {
        let (fabric, old) = (values.fabric.fabric(), &values.tables.routes);
        let before = [Before { routes: old, has_levels: values.tables.has_levels }];
        let judged = transition::check(fabric, &before, &new, None).map_err(|e| e.to_string())?;
        let stages = proof::stages(fabric, &judged, old, &new);
        let digests: Vec<Digest> =
            stages.iter().map(|r| digest_of_tables(fabric, r, &values.tables.lids)).collect();
        let found = self.found(plan, values, new, withheld);
        let WorkResult::Found { mut candidate } = found else { return Ok(found) };
        candidate.stages.splice(0..0, digests);
        self.library.with_stages(plan, stages);
        Ok(WorkResult::Found { candidate })
    }

    /// Moves few entries off the hottest channel: where counters identify its traffic.
    fn relieve(&mut self, plan: PlanId, values: &Values) -> Result<WorkResult, String> {
        let counters = values.counters.as_ref().ok_or("no counters were read for this fabric")?;
        if !values.tables.is_whole {
            return Err("pairs of terminals do not reach, so loads say nothing".to_owned());
        }
        let (fabric, old) = (values.fabric.fabric(), &values.tables.routes);
        let all: Vec<Vec<TerminalId>> = match values.jobs.places.as_slice() {
            [] if fabric.terminal_count() > ALL_PAIRS => {
                return Err(
                    "without jobs there are too many pairs to estimate their traffic".to_owned()
                );
            }
            [] => vec![(0..fabric.terminal_count()).map(TerminalId::new).collect()],
            places => places.to_vec(),
        };
        let estimate = Pairs::new(fabric, old, &all).estimate(&counters.carried);
        for (share, what) in [
            (estimate.residual, "of the bytes are not explained by the jobs that run"),
            (estimate.undetermined, "of the bytes may as well be other pairs'"),
        ] {
            if share > DETERMINED {
                return Err(format!(
                    "counters do not tell whose traffic it is: {:.0} % {what}",
                    100.0 * share
                ));
            }
        }
        let demands = demanded(&estimate.flows);
        let prepared = Prepared::with_demands(fabric, old, LAYERS, &demands);
        let mut prepared = prepared.map_err(|e| e.to_string())?;
        prepared.relieve(&Goal { moves: MOST_FOR_COUNTERS, ..Goal::default() });
        let new = prepared.into_routes();
        let fullest = |routes: &Routes| {
            let heat = Heat::of(fabric, routes, &estimate.flows, all.len());
            // Whole units, as an EFI is: bytes above zero.
            u64::try_from(heat.fills().fold(0.0, f64::max).round() as i64).unwrap_or(0)
        };
        let (kept, proposed) = (fullest(old), fullest(&new));
        let found = self.found(plan, values, new, 0);
        let WorkResult::Found { mut candidate } = found else { return Ok(found) };
        candidate.measure = Measure::Bytes;
        (candidate.kept, candidate.proposed, candidate.bound) = (kept, proposed, None);
        Ok(WorkResult::Found { candidate })
    }

    /// The tables of an earlier plan, or those that were in place before it.
    fn recall(
        &mut self,
        plan: PlanId,
        of: PlanId,
        before: bool,
        values: &Values,
    ) -> Result<WorkResult, String> {
        let dir = self.folder.join(of.to_string());
        let (routes, lids) = kept_tables(&dir, before, &values.fabric)?;
        if lids != values.tables.lids {
            return Err(format!("{}: LIDs have changed since", dir.display()));
        }
        self.found_with_stages(plan, values, routes, 0)
    }

    /// Tables that may be put in place in one stage.
    fn found(
        &mut self,
        plan: PlanId,
        values: &Values,
        mut new: Routes,
        withheld: usize,
    ) -> WorkResult {
        new.clear_unconnected(values.fabric.fabric());
        let digest = digest_of_tables(values.fabric.fabric(), &new, &values.tables.lids);
        let candidate = candidate(values, &new, digest, withheld);
        let (routes, between) = (Arc::new(new), Vec::new());
        self.library.keep(plan, TablePlan { routes, between, values: values.clone() });
        WorkResult::Found { candidate }
    }

    fn ease(&mut self, plan: PlanId, values: &Values) -> Result<WorkResult, String> {
        if !values.tables.is_whole {
            return Err("pairs of terminals do not reach, so there is nothing to ease".to_owned());
        }
        let fabric = values.fabric.fabric();
        let old = &values.tables.routes;
        let prepared = Prepared::new(fabric, old, LAYERS).map_err(|e| e.to_string())?;
        let mut prepared = prepared.serving(&served(values));
        let goal = Goal { moves: self.moves, ..Goal::default() };
        let eased = prepared.ease_for(&goal, STAGES);
        let new = prepared.into_routes();
        let found = self.found(plan, values, new, eased.withheld);
        let WorkResult::Found { mut candidate } = found else { return Ok(found) };
        // If nothing is moved there is no stage.
        candidate.stages = eased.steps.iter().map(|_| candidate.tables).collect();
        Ok(WorkResult::Found { candidate })
    }

    /// Proves with the checker of transitions, which shares no code with the search for tables.
    fn prove(&self, plan: PlanId, values: &Values) -> Result<WorkResult, String> {
        let found = self.library.plan(plan);
        let found = found.ok_or_else(|| format!("the tables of plan {plan} are gone"))?;
        let fabric = values.fabric.fabric();
        let tables = &values.tables;
        let before = [Before { routes: &tables.routes, has_levels: tables.has_levels }];
        let judge = |before: &[Before<'_>], new: &Routes| {
            transition::check(fabric, before, new, Some(&values.jobs.places))
                .map_err(|e| e.to_string())
        };
        let judged = judge(&before, &found.routes)?;
        let between: Vec<&Routes> = found.between.iter().map(AsRef::as_ref).collect();
        let mut written = between.iter().copied().chain([&*found.routes]);
        if written.any(|routes| routes.has_unconnected(fabric)) {
            return Err("entries lead into ports without a cable, which may come back".to_owned());
        }
        let rung =
            proof::rung(before[0], &between, &found.routes, judged.verdict, |b, new, lost| {
                let judged = match lost {
                    Lost::None => transition::check(fabric, b, new, None),
                    lost => transition::check_stage(fabric, b, new, lost),
                };
                judged.map_err(|e| e.to_string())
            })?;
        Ok(WorkResult::Proved {
            verdict: Verdict {
                fabric: values.fabric.digest,
                from: tables.digest,
                to: digest_of_tables(fabric, &found.routes, &tables.lids),
                rung,
                obligations: proof::obligations(&judged),
                pairs_changed: judged.changes.pairs_changed,
            },
        })
    }
}
