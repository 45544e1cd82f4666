//! Repairs after faults, each from the same tables.
//!
//! Nearly all of the time of a repair goes into what it does not change: counting loads and dependencies, checking all rows, writing
//! down all tables. Here that is done once, for the tables in place; where only cables between switches failed, a repair then
//! costs what it changes, and its proof is that of the checker of transitions by the rows concerned. After other faults the
//! proof goes through all rows that are left.

use std::sync::Arc;

use darkfiber_fabric::{Fabric, Faults, Renumbering, SwitchId};
use darkfiber_operate::{Digest, Ready, Rung, Verdict};
use darkfiber_routing::reroute::{Prepared, Trial};
use darkfiber_routing::transition::{self, Baseline, Before, Lost, Transition};
use darkfiber_routing::{Lids, Routes};

use crate::fault_book::{Base, Entry};
use crate::inputs::{LAYERS, Values};
use crate::load::candidate;
use crate::lost::lost;
use crate::plan_image::{Patch, PlanImage};
use crate::proof;
use crate::tables_digest::{TablesDigest, digest_of_tables};
use crate::value::{FabricValue, JobsValue, TablesValue};

/// Tables in place, ready to be repaired for one fault after another.
pub(crate) struct Repairs<'p, 'a> {
    base: &'a Base,
    image: &'a Arc<PlanImage>,
    prepared: &'p Prepared<'a>,
    trial: Trial<'p, 'a>,
    /// For the proof by few rows; `None` if tables in place are not complete or not free of deadlock.
    baseline: Option<Baseline<'p>>,
    digest: TablesDigest,
}

/// Tables on what is left after a fault: those in place, new ones, and what is proved about the way from the one to the other.
struct Proved<'t> {
    old: Before<'t>,
    new: &'t Routes,
    judged: Transition,
    /// The tables of all stages but the last.
    between: Vec<Routes>,
    rung: Rung,
}

impl<'t> Proved<'t> {
    /// What `judge` proves.
    fn by(
        fabric: &Fabric,
        old: Before<'t>,
        new: &'t Routes,
        judge: impl Fn(&[Before<'_>], &Routes, Lost) -> Result<Transition, String> + Sync,
    ) -> Result<Self, String> {
        let judged = judge(&[old], new, Lost::None)?;
        let between = proof::stages(fabric, &judged, old.routes, new);
        let stages: Vec<&Routes> = between.iter().collect();
        let rung = proof::rung(old, &stages, new, judged.verdict, judge)?;
        Ok(Self { old, new, judged, between, rung })
    }

    /// The entry for the fault book. `digest` and `patch` are of tables on what is left, which has these LIDs.
    fn entry(
        self,
        part: &Arc<FabricValue>,
        lids: &Lids,
        base: &Arc<PlanImage>,
        digest: impl Fn(&Routes) -> Digest,
        patch: impl Fn(&Routes) -> Option<Patch>,
    ) -> Option<Entry> {
        let Self { old, new, judged, between, rung } = self;
        let (from, to) = (digest(old.routes), digest(new));
        let verdict = Verdict {
            fabric: part.digest,
            from,
            to,
            rung,
            obligations: proof::obligations(&judged),
            pairs_changed: judged.changes.pairs_changed,
        };
        let tables = TablesValue {
            routes: old.routes.clone(),
            lids: lids.clone(),
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
            whole: None,
        };
        let mut candidate = candidate(&values, new, to, 0);
        candidate.stages.splice(0..0, between.iter().map(digest));
        if !verdict.allows(candidate.stages.len()) {
            return None;
        }
        let stages = between.iter().chain([new]).map(patch).collect::<Option<Vec<_>>>()?;
        Some(Entry { ready: Ready { candidate, verdict }, base: base.clone(), stages })
    }
}

impl<'p, 'a> Repairs<'p, 'a> {
    /// Prepares for repairs of tables in place.
    pub(crate) fn new(
        base: &'a Base,
        image: &'a Arc<PlanImage>,
        prepared: &'p Prepared<'a>,
    ) -> Self {
        let before = Before { routes: prepared.routes(), has_levels: base.tables.has_levels };
        let baseline = Baseline::new(prepared.fabric(), before);
        let digest = TablesDigest::new(prepared.fabric(), prepared.routes(), &base.tables.lids);
        Self { base, image, prepared, trial: Trial::new(prepared), baseline, digest }
    }

    /// Tables in place, as [`Self::new`] takes them.
    pub(crate) fn prepared(base: &Base) -> Option<Prepared<'_>> {
        Prepared::new(base.fabric.fabric(), &base.tables.routes, LAYERS).ok()
    }

    /// The repair for what is left of the fabric, if a safe transition is proved.
    pub(crate) fn entry(&mut self, part: &Arc<FabricValue>) -> Option<Entry> {
        let (faults, map) = lost(self.base.fabric.fabric(), part.fabric())?;
        if part.fabric().terminal_count() < 2 {
            return None;
        }
        let (outcome, _) = self.trial.reroute_on_lowest_rung(&faults).ok()?;
        let by_rows = self
            .baseline
            .as_ref()
            .filter(|_| faults.switches.is_empty() && faults.terminals.is_empty());
        let new = self.trial.routes();
        let after =
            by_rows.and_then(|base| Some((base.before(), base.after(part.fabric(), &[new])?)));
        let Some((old, after)) = after else { return self.in_full(part, &map) };
        let proved = Proved::by(part.fabric(), old, new, |before, new, lost| {
            after.check(before, new, lost).ok_or_else(|| "other rows change".to_owned())
        });
        let Ok(proved) = proved else { return self.in_full(part, &map) };
        let switches = self.switches(&faults, outcome.changes.iter().map(|c| c.switch));
        let (fabric, lids) = (part.fabric(), &self.base.tables.lids);
        let digest = |routes: &Routes| {
            let mut digest = self.digest.clone();
            digest.renew(fabric, routes, &switches);
            digest.value()
        };
        let patch = |routes: &Routes| self.image.patch(fabric, routes, lids, &switches);
        proved.entry(part, lids, self.image, digest, patch)
    }

    /// The entry for the repair that was tried last, by all rows of what is left.
    fn in_full(&self, part: &Arc<FabricValue>, map: &Renumbering) -> Option<Entry> {
        let fabric = part.fabric();
        let (old, mut new) = (self.prepared.tables(fabric, map), self.trial.tables(fabric, map));
        new.clear_unconnected(fabric);
        let lids = self.base.tables.lids.of_part(map);
        let has_levels = self.base.tables.has_levels;
        let proved =
            Proved::by(fabric, Before { routes: &old, has_levels }, &new, |before, new, lost| {
                transition::check_stage(fabric, before, new, lost).map_err(|e| e.to_string())
            });
        let digest = |routes: &Routes| digest_of_tables(fabric, routes, &lids);
        let patch =
            |routes: &Routes| PlanImage::new(fabric, routes, &lids).ok()?.patch_from(self.image);
        proved.ok()?.entry(part, &lids, self.image, digest, patch)
    }

    /// Every switch whose table is another one, or lost a cable.
    fn switches(&self, faults: &Faults, changed: impl Iterator<Item = SwitchId>) -> Vec<SwitchId> {
        let fabric = self.base.fabric.fabric();
        let ends = faults.links.iter().flat_map(|&c| [fabric.tail(c), fabric.head(c)]);
        let mut switches: Vec<SwitchId> = changed.chain(ends).collect();
        switches.sort_unstable();
        switches.dedup();
        switches
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::ChannelId;
    use darkfiber_formats::Diagnostics;
    use darkfiber_operate::{PlanId, Task, WorkResult};
    use darkfiber_routing::check::check;
    use darkfiber_routing::reroute::{Coexistence, Rung};
    use darkfiber_routing::{Request, find_engine};
    use darkfiber_scenario::Loaded;

    use super::*;
    use crate::book_maker::faults;
    use crate::fault_book::plan_of;
    use crate::reference::{Missing, left};
    use crate::work::{Library, Workshop};

    const DRAFT: PlanId = 1;

    /// Tables of an engine on a whole fabric.
    fn base(spec: &str, engine: &str) -> Base {
        let topology = darkfiber_testkit::families::topology(spec);
        let fabric = &topology.fabric;
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let routes = find_engine(engine).expect("an engine").route(fabric, &request);
        let routes = routes.expect("routes");
        let lids = Lids::assign(fabric, 0).expect("LIDs");
        let tables = digest_of_tables(fabric, &routes, &lids);
        let digest = Digest(fabric.digest());
        let loaded = Loaded {
            topology,
            diagnostics: Diagnostics::default(),
            text: None,
            degraded: false,
            torn: None,
            structure: None,
            shared: Vec::new(),
        };
        let (has_levels, is_whole) = (true, true);
        Base {
            fabric: Arc::new(FabricValue { loaded, digest }),
            tables: Arc::new(TablesValue {
                routes,
                lids,
                has_levels,
                is_whole,
                digest: tables,
                fabric: digest,
            }),
        }
    }

    /// A repair is proved as it is from nothing: the same tables, digests and verdict.
    #[test]
    fn repairs_are_proved_as_from_nothing() {
        let mut seen = [0u32; 3];
        let mut others = 0;
        for (spec, engine) in [("dragonfly:p=2,a=4,h=2", "updn"), ("torus:dims=4x4,t=2", "dfsssp")]
        {
            let base = base(spec, engine);
            let image = Arc::new(base.image().expect("an image"));
            let whole = base.fabric.clone();
            let prepared = Repairs::prepared(&base).expect("tables");
            let mut repairs = Repairs::new(&base, &image, &prepared);
            let two = |a: u32, b: u32| Missing { links: vec![a, b], ..Missing::default() };
            let host = |t: u32| Missing { terminals: vec![t], ..Missing::default() };
            let mut all = faults(whole.fabric(), &Missing::default());
            all.extend([two(0, 3), two(1, 5), two(2, 9), host(0), host(7), host(31)]);
            all.push(Missing { links: vec![0], switches: vec![9], terminals: vec![1] });
            for missing in all {
                let part = Arc::new(left(&whole, &missing));
                let Some(found) = repairs.entry(&part) else { continue };
                let library = Library::default();
                let plan = plan_of(&found, &base, &part).expect("a plan");
                let Ready { candidate, verdict } = &found.ready;
                let digests: Vec<Digest> = plan
                    .between
                    .iter()
                    .chain([&plan.routes])
                    .map(|r| digest_of_tables(part.fabric(), r, &plan.values.tables.lids))
                    .collect();
                assert_eq!(candidate.stages, digests, "{missing:?}");
                assert_eq!(Some(&candidate.tables), digests.last(), "{missing:?}");
                let values = plan.values.clone();
                library.keep(DRAFT, plan);
                let mut shop = Workshop::new(0, std::path::PathBuf::new(), library);
                let proved = shop.work(Task::Prove { plan: DRAFT }, &values);
                let WorkResult::Proved { verdict: anew } = proved else {
                    panic!("{missing:?}: {proved:?}")
                };
                assert_eq!(*verdict, anew, "{missing:?}");
                seen[match candidate.stages.len() {
                    1 => 0,
                    _ if verdict.drains() => 2,
                    _ => 1,
                }] += 1;
                others += u32::from(missing.links.is_empty());
            }
        }
        assert!(seen.iter().all(|&n| n > 0) && others > 30, "{seen:?} {others}");
    }

    /// A cable may come back while nobody watches, and OpenSM goes on with the stage that it has: no entry of it leads there.
    #[test]
    fn no_stage_leads_over_the_failed_cable() {
        let base = base("dragonfly:p=2,a=4,h=2", "updn");
        let image = base.image().expect("an image");
        let whole = base.fabric.clone();
        let mut stages = 0;
        for missing in faults(whole.fabric(), &Missing::default()) {
            let [link] = missing.links[..] else { continue };
            let ends = [ChannelId(link), whole.fabric().reverse(ChannelId(link))];
            let part = Arc::new(left(&whole, &missing));
            let values = Values {
                tables: Arc::new(base.on(&image, &part).expect("tables")),
                fabric: part,
                jobs: Arc::default(),
                counters: None,
                demands: None,
                whole: None,
            };
            let library = Library::default();
            let mut shop = Workshop::new(0, std::path::PathBuf::new(), library.clone());
            shop.work(Task::Mend { plan: DRAFT, restores: false }, &values);
            let Some(plan) = library.plan(DRAFT) else { continue };
            for routes in plan.between.iter().chain([&plan.routes]) {
                for (row, c) in (0..routes.row_count()).flat_map(|row| ends.map(|c| (row, c))) {
                    let found = routes.ports(row)[whole.fabric().tail(c).index()];
                    assert_ne!(found, whole.fabric().tail_port(c), "{missing:?}");
                }
                assert!(check(whole.fabric(), routes).deadlock_free(), "{missing:?}");
            }
            stages += plan.between.len();
        }
        assert!(stages > 0, "no repair in stages");
    }

    /// Where `reroute` keeps service levels, the book has what it finds: in one sweep, in stages, or by drop-drain.
    #[test]
    fn the_book_has_a_repair_of_nearly_every_cable() {
        let seen = ["updn", "dragonfly-min", "nue"].map(book_of_cables);
        assert!(seen[0].iter().all(|&n| n > 0), "{seen:?}");
    }

    /// How many repairs of single cables are in one sweep, in stages, and by drop-drain.
    fn book_of_cables(engine: &str) -> [u32; 3] {
        let base = base("dragonfly:p=2,a=4,h=2", engine);
        let image = Arc::new(base.image().expect("an image"));
        let whole = base.fabric.clone();
        let prepared = Prepared::new(whole.fabric(), &base.tables.routes, 8).expect("tables");
        let of_base = Repairs::prepared(&base).expect("tables");
        let mut repairs = Repairs::new(&base, &image, &of_base);
        let mut seen = [0u32; 3];
        for missing in faults(whole.fabric(), &Missing::default()) {
            let faults = missing.faults();
            if !faults.switches.is_empty() {
                continue;
            }
            let part = Arc::new(left(&whole, &missing));
            let found = repairs.entry(&part);
            let repaired = prepared.clone().reroute_on_lowest_rung(&faults);
            assert!(repaired.is_ok() || engine != "updn", "{missing:?}");
            let Ok((outcome, rung)) = repaired else { continue };
            let stages = found.as_ref().map_or(0, Entry::stages);
            let drains = found.as_ref().is_some_and(|e| e.ready.verdict.drains());
            match rung {
                Rung::AnyOrder => {
                    assert_eq!((stages, drains), (1, false), "{missing:?}");
                    seen[0] += 1;
                }
                // Those steps may be of entries, where these are of switches: of Up*/Down* tables there are such in any case. What
                // the checker proves in any order is one sweep.
                Rung::Steps(_) => {
                    let of_switches = matches!(outcome.coexistence, Coexistence::Order(_));
                    let least = if engine == "updn" { 2 } else { u32::from(of_switches) };
                    assert!(stages >= least, "{engine} {missing:?} {rung:?}");
                    seen[1] += u32::from(!drains);
                }
                Rung::DropDrain => {
                    assert_eq!((stages, drains), (2, true), "{missing:?}");
                    seen[2] += 1;
                }
                Rung::Reconnect => assert_eq!(stages, 0, "{missing:?}"),
            }
        }
        seen
    }
}
