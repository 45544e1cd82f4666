//! Runs that are over, kept so that a command that is interrupted loses only what was under way.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use darkfiber_study::congest::{Cell, CongestPlan, Store, Times};

use crate::checkpoint::Facts;
use crate::failure::Failure;
use crate::save;
use crate::sealed::Sealed;

/// A folder with a file for each run.
pub(super) struct Folder<'a> {
    dir: &'a Path,
    plan: &'a CongestPlan<'a>,
    /// All that does not depend on the cell.
    common: Facts,
    /// What came of runs that were there, by their files.
    found: BTreeMap<PathBuf, Times>,
}

impl<'a> Folder<'a> {
    pub(super) fn new(dir: &'a Path, plan: &'a CongestPlan<'a>) -> Result<Self, Failure> {
        save::directory(dir)?;
        let (rule, case) = (plan.rule, plan.case);
        let options = case.medium.packets();
        let options = options.ok_or_else(|| Failure::usage("congestion is of packets"))?;
        let common = Facts::new(case.fabric())
            .with("seed", &plan.seed)
            .with("packet", &format!("{} B", options.bytes))
            .with("lanes", &format!("{:?}", options.lanes))
            .with("library", &plan.library.name())
            .with("nodes", &plan.hosts.len())
            .with_digest("which nodes", &plan.hosts)
            .with("rule", &format!("{rule:?}"))
            .with("warm-up", &plan.warmup)
            .with_digest("hosts", &case.host)
            .with_digest("switches", &options.micro);
        let mut folder = Self { dir, plan, common, found: BTreeMap::new() };
        // All are read before the first run: what is damaged is refused before an hour is spent.
        for cell in plan.cells() {
            let facts = folder.facts(&cell);
            let path = folder.path(&facts);
            if path.exists()
                && !folder.found.contains_key(&path)
                && let Some(times) = read(&path, &facts)?
            {
                folder.found.insert(path, times);
            }
        }
        Ok(folder)
    }

    /// All that what comes out of a run depends on.
    fn facts(&self, cell: &Cell) -> Facts {
        let plan = self.plan;
        let m = &plan.mechanisms[cell.mechanism];
        let split = plan.splits[cell.split];
        let mut facts = (self.common.clone())
            .with("congestion", &m.name)
            .with("routing", &m.routing.name)
            .with("allocation", &plan.allocations[cell.allocation].name)
            .with("victim's nodes", &split.victim)
            .with("victim", &plan.victims[cell.victim].spec);
        if m.routing.name == "tables" {
            facts = facts.with_digest("tables", &plan.case.tables.routes);
        }
        // What the victim does alone depends on no aggressor.
        if let Some(a) = cell.aggressor {
            facts = facts
                .with("aggressor's nodes", &split.aggressor)
                .with("aggressors of a node", &plan.per_node)
                .with("aggressor", &plan.aggressors[a].spec);
        }
        facts
    }

    fn path(&self, facts: &Facts) -> PathBuf {
        self.dir.join(format!("{:016x}.json", facts.digest()))
    }
}

impl Store for Folder<'_> {
    fn find(&self, cell: &Cell) -> Option<Times> {
        self.found.get(&self.path(&self.facts(cell))).cloned()
    }

    fn keep(&self, cell: &Cell, times: &Times) {
        let facts = self.facts(cell);
        let path = self.path(&facts);
        Sealed::new(facts, times.clone()).keep(&path);
    }
}

/// What came of a run; nothing if another one is kept under its name.
fn read(path: &Path, facts: &Facts) -> Result<Option<Times>, Failure> {
    let run: Sealed<Facts, Times> = Sealed::read(path, "run")?;
    Ok((run.facts == *facts).then_some(run.result))
}
