//! `darkfiber route --from`: new tables as near to an engine's as those in place can become in any order.

use std::path::Path;

use darkfiber_analysis::finding;
use darkfiber_fabric::Fabric;
use darkfiber_formats::manifest;
use darkfiber_report::Towards;
use darkfiber_routing::check::{Report, check};
use darkfiber_routing::reroute::{Goal, Prepared};
use darkfiber_routing::transition::{self, Before, Rung};
use darkfiber_routing::{Lids, Routes};

use crate::failure::Failure;
use crate::load::{self, Loaded};
use crate::options::{BesideFrom, Common, FabricArgs};

/// Tables that are in place.
pub(super) struct InPlace {
    routes: Routes,
    /// The LIDs that they speak of, if they name any.
    pub(super) lids: Option<Lids>,
    has_levels: bool,
}

impl InPlace {
    pub(super) fn load(
        from: &Path,
        beside: &BesideFrom,
        fabric: &FabricArgs,
        loaded: &Loaded,
        common: &Common,
    ) -> Result<Self, Failure> {
        let tables = beside.tables().of(from);
        let read = load::tables_in_lanes(&tables, fabric.name(), loaded, common)?;
        let report = check(&loaded.topology.fabric, &read.routes);
        let path = from.display();
        if !report.complete() {
            return Err(Failure::input(format!(
                "{path}: {} do not reach: these are not whole tables of this fabric",
                finding::of_pairs(report.unreachable + report.loops, report.pairs, report.paths)
            ))
            .hint("`darkfiber reroute` repairs tables after a fault"));
        }
        if !report.deadlock_free() {
            return Err(Failure::infeasible(format!(
                "{path}: the tables in place can deadlock themselves: nothing is safe beside them"
            ))
            .hint("`darkfiber check` shows the cycle; without --from, tables are computed from scratch"));
        }
        let has_levels = read.has_levels || from.join(manifest::MANIFEST).is_file();
        Ok(Self { routes: read.routes, lids: read.lids, has_levels })
    }

    /// LIDs of a port, as their binary logarithm.
    pub(super) fn lmc(&self) -> u8 {
        self.routes.paths().trailing_zeros() as u8
    }

    /// An engine's tables if they may be put in place in any order, else what can be taken of them.
    pub(super) fn towards(
        &self,
        fabric: &Fabric,
        target: Routes,
    ) -> Result<(Routes, Towards), String> {
        let own = self.judge(fabric, &target)?;
        let largest = |report: &Report| report.load.iter().copied().max().unwrap_or(0);
        let mut facts = Towards {
            how: "",
            verdict: own.name(),
            efi_max: largest(&check(fabric, &target)),
            lids: 0,
            lids_whole: 0,
            lids_in_part: 0,
            entries: 0,
            entries_taken: 0,
        };
        let prepared = Prepared::new(fabric, &self.routes, 1).map_err(|e| e.to_string())?;
        let (near, taken) = prepared.clone().towards(&target).map_err(|e| e.to_string())?;
        facts.lids = taken.rows;
        facts.entries = taken.entries;
        if own <= Rung::AnyOrder {
            facts.how = "as they are";
            (facts.lids_whole, facts.entries_taken) = (taken.rows, taken.entries);
            return Ok((target, facts));
        }
        // Half of a table may be worse than both ends: load is taken off the hottest channels as well, and without any of it.
        let eased = |mut of: Prepared<'_>| {
            of.relieve(&Goal::default());
            of.into_routes()
        };
        let candidates = [
            ("in part", near.clone().into_routes()),
            ("in part, then eased", eased(near)),
            ("not at all, those in place are eased", eased(prepared)),
            ("not at all", self.routes.clone()),
        ];
        let mut best: Option<(u64, &'static str, Routes)> = None;
        for (how, routes) in candidates {
            let most = largest(&check(fabric, &routes));
            // What is said of the way is said by the checker, which knows nothing of how tables were made.
            if best.as_ref().is_none_or(|(least, ..)| most < *least)
                && self.judge(fabric, &routes)? <= Rung::AnyOrder
            {
                best = Some((most, how, routes));
            }
        }
        let Some((_, how, mut routes)) = best else {
            return Err("no tables were found that may be put in place in any order".to_owned());
        };
        facts.how = how;
        if how.starts_with("in part") {
            (facts.lids_whole, facts.lids_in_part) = (taken.whole, taken.in_part);
            facts.entries_taken = taken.taken;
        }
        routes.engine = target.engine;
        Ok((routes, facts))
    }

    fn judge(&self, fabric: &Fabric, to: &Routes) -> Result<Rung, String> {
        let before = [Before { routes: &self.routes, has_levels: self.has_levels }];
        let judged = transition::check(fabric, &before, to, None).map_err(|e| e.to_string())?;
        Ok(judged.verdict)
    }
}
