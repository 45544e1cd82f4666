//! Repairs after cables between switches failed, each from the same tables.
//!
//! Nearly all of the time of a repair goes into what it does not change: counting loads and dependencies, checking all rows, writing
//! down all tables. Here that is done once, for the tables in place; a repair then costs what it changes. Its proof is that of
//! the checker of transitions, by the rows concerned.

use std::sync::Arc;

use darkfiber_fabric::{Faults, SwitchId};
use darkfiber_operate::{Ready, Verdict};
use darkfiber_routing::Routes;
use darkfiber_routing::reroute::{Prepared, Trial};
use darkfiber_routing::transition::{Baseline, Before, Lost};

use crate::fault_book::{Base, Entry};
use crate::inputs::{LAYERS, Values};
use crate::load::candidate;
use crate::plan_image::PlanImage;
use crate::proof;
use crate::tables_digest::TablesDigest;
use crate::value::{FabricValue, JobsValue, TablesValue};

/// Tables in place, ready to be repaired for one fault after another.
pub(crate) struct CableRepairs<'p, 'a> {
    base: &'a Base,
    image: &'a Arc<PlanImage>,
    trial: Trial<'p, 'a>,
    baseline: Baseline<'p>,
    digest: TablesDigest,
}

impl<'p, 'a> CableRepairs<'p, 'a> {
    /// Prepares for repairs of tables in place; `None` if these are not complete or not free of deadlock.
    pub(crate) fn new(
        base: &'a Base,
        image: &'a Arc<PlanImage>,
        prepared: &'p Prepared<'a>,
    ) -> Option<Self> {
        let fabric = base.fabric.fabric();
        let before = Before { routes: prepared.routes(), has_levels: base.tables.has_levels };
        let baseline = Baseline::new(prepared.fabric(), before)?;
        let digest = TablesDigest::new(fabric, prepared.routes(), &base.tables.lids);
        Some(Self { base, image, trial: Trial::new(prepared), baseline, digest })
    }

    /// Tables in place, as [`Self::new`] takes them.
    pub(crate) fn prepared(base: &Base) -> Option<Prepared<'_>> {
        Prepared::new(base.fabric.fabric(), &base.tables.routes, LAYERS).ok()
    }

    /// The repair for what is left of the fabric, if a safe transition is proved; `None` as well if more than cables
    /// failed.
    pub(crate) fn entry(&mut self, part: &Arc<FabricValue>) -> Option<Entry> {
        let (fabric, old) = (part.fabric(), self.baseline.before());
        let links = self.baseline.lost(fabric)?;
        let ends: Vec<SwitchId> =
            links.iter().map(|&c| self.base.fabric.fabric().tail(c)).collect();
        let faults = Faults { links, ..Faults::default() };
        let (outcome, _) = self.trial.reroute_on_lowest_rung(&faults).ok()?;
        let new = self.trial.routes();
        // The proof.
        let after = self.baseline.after(fabric, &[new])?;
        let judged = after.check(&[old], new, Lost::None)?;
        let between = proof::stages(fabric, &judged, old.routes, new);
        let between: Vec<&Routes> = between.iter().collect();
        let rung = proof::rung(old, &between, new, judged.verdict, |before, new, lost| {
            after.check(before, new, lost).ok_or_else(|| "other rows change".to_owned())
        });
        // Every switch whose table is another one, or lost a cable.
        let mut switches: Vec<SwitchId> = outcome.changes.iter().map(|c| c.switch).collect();
        switches.extend(ends);
        switches.sort_unstable();
        switches.dedup();
        let digest_of = |routes: &Routes| {
            let mut digest = self.digest.clone();
            digest.renew(fabric, routes, &switches);
            digest.value()
        };
        let (from, to) = (digest_of(old.routes), digest_of(new));
        let verdict = Verdict {
            fabric: part.digest,
            from,
            to,
            rung: rung.ok()?,
            obligations: proof::obligations(&judged),
            pairs_changed: judged.changes.pairs_changed,
        };
        let tables = TablesValue {
            routes: old.routes.clone(),
            lids: self.base.tables.lids.clone(),
            has_levels: old.has_levels,
            is_whole: judged.changes.lids_cut == 0,
            digest: from,
            fabric: part.digest,
        };
        let jobs = Arc::new(JobsValue { fabric: part.digest, ..JobsValue::default() });
        let values = Values {
            fabric: part.clone(),
            tables: Arc::new(tables),
            jobs,
            counters: None,
            demands: None,
        };
        let mut candidate = candidate(&values, new, to, 0);
        candidate.stages.splice(0..0, between.iter().map(|stage| digest_of(stage)));
        if !verdict.allows(candidate.stages.len()) {
            return None;
        }
        let lids = &self.base.tables.lids;
        let patch = |routes: &&Routes| self.image.patch(fabric, routes, lids, &switches);
        let stages = between.iter().chain([&new]).map(patch).collect::<Option<Vec<_>>>()?;
        Some(Entry { ready: Ready { candidate, verdict }, base: self.image.clone(), stages })
    }
}
