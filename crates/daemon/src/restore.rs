//! What a fault has replaced: after it is over, a cable or switch that came back carries routes again.

use std::path::Path;

use darkfiber_analysis::Efi;
use darkfiber_fabric::TerminalId;
use darkfiber_operate::{Decision, PlanId, Rung, Trigger};
use darkfiber_routing::check::check;
use darkfiber_routing::transition::{self, Before};
use darkfiber_routing::{Lids, NO_ROUTE, Routes};

use crate::inputs::Values;
use crate::kept_tables::kept_tables;
use crate::load::load;
use crate::plan_files::{tables_whole, was_placed};

/// Plans that are looked back at.
const MOST: usize = 16;

/// The best of the tables that repairs in the folder of plans have replaced one after the other, up to those in place: complete on the
/// fabric as it is, more even than those in place, no worse for the jobs that run, and safe to be written in an order. `None` if there
/// are none.
///
/// It does not look back beyond a plan that an operator wanted, or tables that somebody else put in place.
pub(crate) fn before_faults(plans: &Path, values: &Values) -> Option<Routes> {
    let fabric = values.fabric.fabric();
    let mut best = Evenness::of(values, &values.tables.routes)?;
    let meets = load(values, &values.tables.routes);
    let mut found = None;
    let tables = &values.tables;
    let mut then = cleared((tables.routes.clone(), tables.lids.clone()), values)?;
    for (plan, trigger) in automatic(plans) {
        let dir = plans.join(plan.to_string());
        let of =
            |dir: &Path, before| cleared(kept_tables(dir, before, &values.fabric).ok()?, values);
        if of(&dir, false).is_none_or(|after| !agree(&after, &then)) {
            break;
        }
        let Some(before) = of(&dir, true) else { break };
        then = before;
        if !trigger.is_damage() {
            continue;
        }
        // Of a switch that was lost only the tables before it was have entries.
        let whole = of(&tables_whole(&dir), false);
        for routes in whole.into_iter().chain([then.clone()]) {
            let Some(evenness) = Evenness::of(values, &routes).filter(|e| *e < best) else {
                continue;
            };
            if load(values, &routes) <= meets && is_safe(values, &routes) {
                (best, found) = (evenness, Some(routes));
            }
        }
    }
    found.filter(|routes| !routes.has_unconnected(fabric))
}

/// Plans that were put in place, newest first, with what they were for, down to the first one that an operator wanted.
fn automatic(plans: &Path) -> Vec<(PlanId, Trigger)> {
    let entries = std::fs::read_dir(plans).into_iter().flatten().flatten();
    let number = |e: std::fs::DirEntry| e.file_name().to_str().and_then(|n| n.parse().ok());
    let mut all: Vec<PlanId> = entries.filter_map(number).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    all.retain(|&plan| was_placed(plans, plan));
    let trigger = |plan: PlanId| {
        let summary = std::fs::read(plans.join(plan.to_string()).join("route.json")).ok()?;
        let decision: Decision = serde_json::from_slice(&summary).ok()?;
        let is_wanted = matches!(decision.trigger, Trigger::Operator | Trigger::Recall);
        (!is_wanted).then_some((plan, decision.trigger))
    };
    all.into_iter().map_while(trigger).take(MOST).collect()
}

/// Whether no entry is another one. A switch that was lost, and what leads to it, has entries in one of them only.
fn agree(one: &Routes, other: &Routes) -> bool {
    let rows = one.row_count();
    let is_same = |(&a, &b): (&u8, &u8)| a == b || a == NO_ROUTE || b == NO_ROUTE;
    rows == other.row_count()
        && (0..rows).all(|row| one.ports(row).iter().zip(other.ports(row)).all(is_same))
}

/// Without entries that lead into ports without a cable; `None` if hosts have other LIDs now.
fn cleared((mut routes, lids): (Routes, Lids), values: &Values) -> Option<Routes> {
    let (fabric, now) = (values.fabric.fabric(), &values.tables.lids);
    let mut terminals = (0..fabric.terminal_count()).map(TerminalId::new);
    if lids.width() != now.width() || terminals.any(|t| lids.terminal(t) != now.terminal(t)) {
        return None;
    }
    routes.clear_unconnected(fabric);
    Some(routes)
}

/// How even complete tables are: the largest number of routes over a channel, then the channels that carry none.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Evenness(u64, usize);

impl Evenness {
    /// `None` if pairs do not reach, or can deadlock, or where LIDs are others.
    fn of(values: &Values, routes: &Routes) -> Option<Self> {
        if routes.row_count() != values.tables.routes.row_count() {
            return None;
        }
        let report = check(values.fabric.fabric(), routes);
        let dark = report.load.iter().filter(|&&load| load == 0).count();
        (report.complete() && report.deadlock_free()).then(|| Self(Efi::of(&report.load).max, dark))
    }
}

/// Whether the tables may be written over those in place, in some order at least.
fn is_safe(values: &Values, new: &Routes) -> bool {
    let tables = &values.tables;
    let before = [Before { routes: &tables.routes, has_levels: tables.has_levels }];
    let judged = transition::check(values.fabric.fabric(), &before, new, Some(&values.jobs.places));
    judged.is_ok_and(|judged| judged.verdict <= Rung::Stages)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use darkfiber_fabric::{ChannelId, Faults, open};
    use darkfiber_formats::disk::Os;
    use darkfiber_formats::sets::TableSet;
    use darkfiber_operate::Digest;
    use darkfiber_routing::reroute::Prepared;
    use darkfiber_routing::{Request, find_engine};
    use darkfiber_scenario::Loaded;

    use super::*;
    use crate::plan_files::{placed, tables_before};
    use crate::proposal::tables_into;
    use crate::tables_digest::digest_of_tables;
    use crate::value::{FabricValue, JobsValue, TablesValue};

    /// A plan on disk as it is after it was put in place.
    fn put(
        plans: &Path,
        id: u64,
        trigger: &str,
        (before, after): (&Routes, &Routes),
        values: &Values,
    ) {
        let (fabric, lids) = (values.fabric.fabric(), &values.tables.lids);
        let dir = plans.join(id.to_string());
        let mut set = TableSet::open(&Os, &dir, false).expect("a folder");
        tables_into(&mut set, fabric, after, lids).expect("tables");
        let summary = format!(
            "{{\"id\":{id},\"at\":1,\"trigger\":\"{trigger}\",\"fabric\":\"1\",\"from\":\"2\",\"jobs\":null,\"running\":0,\
             \"candidate\":null,\"verdict\":null,\"outcome\":{{\"is\":\"deploying\"}},\"ended\":null}}"
        );
        set.commit(&summary).expect("a set");
        let file = std::fs::File::create(tables_before(&dir)).expect("a file");
        darkfiber_formats::lft::write(&mut std::io::BufWriter::new(file), fabric, before, lids)
            .expect("tables");
        std::fs::write(placed(plans, id), "").expect("a file");
    }

    /// Values with these tables in place.
    fn in_place(values: &Values, routes: &Routes) -> Values {
        let digest = digest_of_tables(values.fabric.fabric(), routes, &values.tables.lids);
        let tables =
            TablesValue { routes: routes.clone(), digest, ..TablesValue::clone(&values.tables) };
        Values { tables: Arc::new(tables), ..values.clone() }
    }

    #[test]
    fn a_cable_that_came_back_is_used_again() {
        let topology = open("fattree2:n=4,m=4,r=6").expect("a fabric");
        let fabric = &topology.fabric;
        let engine = |name: &str| {
            let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
            find_engine(name).expect(name).route(fabric, &request).expect(name)
        };
        let (first, other) = (engine("updn"), engine("minhop"));
        let cable = fabric.channels_from(fabric.terminal(TerminalId(0)).switch).start;
        let mut prepared = Prepared::new(fabric, &first, 1).expect("tables");
        let fault = Faults { links: vec![ChannelId::new(cable)], ..Faults::default() };
        prepared.reroute_on_lowest_rung(&fault).expect("a repair");
        let mended = prepared.into_routes();
        let lids = Lids::assign(fabric, 0).expect("LIDs");
        let digest = Digest(1);
        let tables = TablesValue {
            routes: first.clone(),
            lids,
            has_levels: true,
            is_whole: true,
            digest,
            fabric: digest,
        };
        let loaded = Loaded::from(topology.clone());
        let values = Values {
            fabric: Arc::new(FabricValue { loaded, digest }),
            tables: Arc::new(tables),
            jobs: Arc::new(JobsValue { fabric: digest, ..JobsValue::default() }),
            counters: None,
            demands: None,
            whole: None,
        };
        let now = in_place(&values, &mended);
        let dir = tempfile::tempdir().expect("a folder");
        let plans = dir.path();
        assert!(before_faults(plans, &now).is_none(), "nothing is remembered");
        put(plans, 2, "fault", (&first, &mended), &values);
        let restored = before_faults(plans, &now).expect("the tables before");
        assert_eq!(
            digest_of_tables(fabric, &restored, &now.tables.lids),
            in_place(&values, &first).tables.digest
        );
        assert!(before_faults(plans, &in_place(&values, &first)).is_none(), "they are in place");
        // Tables of somebody else were wanted.
        assert!(before_faults(plans, &in_place(&values, &other)).is_none(), "a foreign change");
        put(plans, 3, "jobs", (&mended, &mended), &values);
        assert!(before_faults(plans, &now).is_some(), "a plan for jobs came between");
        put(plans, 4, "operator", (&mended, &mended), &values);
        assert!(before_faults(plans, &now).is_none(), "an operator wanted them");
    }
}
