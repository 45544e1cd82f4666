//! Relieved tables: proved by the checker, loads counted by tracing every demand.

use darkfiber_fabric::{Fabric, FabricBuilder, Faults, LinkClass, Switch, TerminalId, open};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Coexistence, Goal, Policy, Prepared};
use darkfiber_routing::{Demand, DestId, Request, Routes, find_engine};
use darkfiber_testkit::{connected_fabric, oracle};
use proptest::prelude::*;

use crate::reroute::keeps_its_promise;

const LANES: u8 = 15;
const NAMES: [&str; 5] = ["minhop", "updn", "dnup", "sssp", "dfsssp"];
const POLICIES: [Policy; 4] = [Policy::First, Policy::Largest, Policy::Path, Policy::Best];

fn route(fabric: &Fabric, engine: &str) -> Routes {
    let request = Request { lanes: LANES, ..Request::default() };
    find_engine(engine).expect("registered").route(fabric, &request).expect("connected")
}

fn demand(from: u32, to: u32, weight: u64) -> Demand {
    Demand { from: TerminalId(from), to: TerminalId(to), weight }
}

/// Load of channels under the demands, as transfer time of the fastest class; summed demand by demand.
fn fills(fabric: &Fabric, routes: &Routes, demands: &[Demand]) -> Vec<f64> {
    let speed: Vec<f64> = (0..fabric.channel_count())
        .map(|c| fabric.class_of(darkfiber_fabric::ChannelId::new(c)).bytes_per_second as f64)
        .collect();
    let fastest = speed.iter().copied().fold(0.0, f64::max);
    let mut load = vec![0u64; fabric.channel_count()];
    for d in demands {
        for c in oracle::path(fabric, routes, d.from, d.to).expect("reaches") {
            load[c.index()] += d.weight;
        }
    }
    load.iter().zip(speed).map(|(&l, s)| l as f64 * (fastest / s)).collect()
}

fn fullest(fabric: &Fabric, routes: &Routes, demands: &[Demand]) -> f64 {
    fills(fabric, routes, demands).into_iter().fold(0.0, f64::max)
}

proptest! {
    #[test]
    fn relieved_tables_are_safe_and_cooler(
        fabric in connected_fabric(),
        engine in 0..NAMES.len(),
        policy in 0..POLICIES.len(),
        pairs in prop::collection::vec((0u32..64, 0u32..64, 0u64..100), 0..120),
        moves in prop::sample::select(vec![0, 1, 3, usize::MAX]),
        part in 0.0..1.0f64,
    ) {
        let old = route(&fabric, NAMES[engine]);
        let n = fabric.terminal_count() as u32;
        let demands: Vec<Demand> = pairs.iter().map(|&(a, b, w)| demand(a % n, b % n, w)).collect();
        let mut prepared =
            Prepared::with_demands(&fabric, &old, LANES, &demands).expect("its own");
        let before = fullest(&fabric, &old, &demands);
        let goal = Goal { most: before * part, moves, policy: POLICIES[policy], longer: 1 };
        let relief = prepared.relieve(&goal);
        let new = prepared.routes().clone();
        // The loads agree with tracing; the maximum never rises; there are no more moves than allowed.
        prop_assert_eq!(relief.before.to_bits(), before.to_bits());
        prop_assert_eq!(relief.after.to_bits(), fullest(&fabric, &new, &demands).to_bits());
        let mut last = before;
        for m in &relief.moves {
            prop_assert!(m.fullest <= last && m.amount > 0);
            last = m.fullest;
        }
        prop_assert!(relief.moves.len() <= moves && relief.changes.len() <= relief.moves.len());
        let over = fills(&fabric, &new, &demands);
        for (c, &fill) in over.iter().enumerate() {
            let is_stuck = relief.stuck.iter().any(|s| s.index() == c);
            prop_assert!(fill <= goal.most || is_stuck || relief.moves.len() == moves || goal.most == 0.0);
        }
        // The changes are exactly the differences of the tables.
        let mut patched = old.clone();
        for c in &relief.changes {
            prop_assert_eq!(patched.ports(c.row as usize)[c.switch.index()], c.old);
            patched.ports_mut(c.row as usize)[c.switch.index()] = c.new;
        }
        for row in 0..old.row_count() {
            prop_assert_eq!(patched.ports(row), new.ports(row));
        }
        // The new tables are as good as the old ones.
        let (was, is) = (check(&fabric, &old), check(&fabric, &new));
        prop_assert!(is.complete() && (is.deadlock_free() || !was.deadlock_free()));
        keeps_its_promise(
            &fabric, &Faults::default(), (&old, &old, &new), &relief.changes, &relief.coexistence,
        )?;
    }
}

/// Two leaves of four hosts, two spines.
fn tree() -> Fabric {
    open("pgft:m=4x2,w=1x2,p=1x1").expect("a spec").fabric
}

#[test]
fn two_flows_on_one_cable_part() {
    let fabric = tree();
    let old = route(&fabric, "updn");
    // Two destinations that share a spine.
    let up =
        |to: u32| oracle::path(&fabric, &old, TerminalId(0), TerminalId(to)).expect("a way")[0];
    let other = (5..8).find(|&t| up(t) == up(4)).expect("four destinations, two spines");
    let demands = [demand(0, 4, 70), demand(1, other, 30), demand(0, 1, 500), demand(2, 2, 9)];
    for policy in POLICIES {
        let mut prepared = Prepared::with_demands(&fabric, &old, 1, &demands).expect("its own");
        let relief = prepared.relieve(&Goal { policy, ..Goal::default() });
        assert_eq!((relief.before, relief.after), (100.0, 70.0), "{policy:?}");
        assert_eq!(relief.changes.len(), 1);
        assert_eq!(relief.coexistence, Coexistence::AnyOrder);
        // Below the threshold nothing changes.
        let mut prepared = Prepared::with_demands(&fabric, &old, 1, &demands).expect("its own");
        let relief = prepared.relieve(&Goal { most: 100.0, policy, ..Goal::default() });
        assert!(relief.moves.is_empty() && relief.changes.is_empty() && relief.stuck.is_empty());
        // A load that no table can split is stuck.
        let relief = prepared.relieve(&Goal { most: 60.0, policy, ..Goal::default() });
        assert_eq!((relief.after, relief.moves.len()), (70.0, 1));
        assert_eq!(relief.stuck.len(), 2, "{:?}", relief.stuck);
        assert_eq!(*prepared.routes().engine, *old.engine);
    }
}

#[test]
fn slow_cables_count_by_time() {
    // Two switches with one cable and one of half its speed.
    let mut builder = FabricBuilder::new("two");
    let kind = |name| LinkClass::infiniband(name).expect("a known label");
    let (fast, slow) = (builder.class(kind("4xHDR")), builder.class(kind("4xEDR")));
    let switch = || Switch { ports: 4, ..Switch::default() };
    let (a, b) = (builder.add_switch(switch()), builder.add_switch(switch()));
    builder.link_switches((a, 1), (b, 1), fast).expect("free");
    builder.link_switches((a, 2), (b, 2), slow).expect("free");
    for (i, s) in [(0, a), (1, a), (2, b), (3, b)] {
        let host = format!("h{i}");
        builder.add_host_on(s, 3 + i % 2, &host, fast).expect("free");
    }
    let fabric = builder.finish().expect("sound");
    let mut old = route(&fabric, "updn");
    for to in [2, 3] {
        let row = old.row(DestId::terminal(TerminalId(to)), 0);
        old.ports_mut(row)[a.index()] = 1;
    }
    let after = |demands: &[Demand]| {
        let mut prepared = Prepared::with_demands(&fabric, &old, 1, demands).expect("its own");
        let relief = prepared.relieve(&Goal::default());
        // EDR has half the rate of HDR but for rounding.
        (relief.before, relief.after.round(), relief.moves.first().map(|m| m.amount))
    };
    // 30 take as long on the slow cable as 60 on the fast one; 60 would take longer there than all on the fast one.
    assert_eq!(after(&[demand(0, 2, 60), demand(1, 3, 30)]), (90.0, 60.0, Some(30)));
    assert_eq!(after(&[demand(0, 2, 60), demand(1, 3, 55)]), (115.0, 110.0, Some(55)));
    assert_eq!(after(&[demand(0, 2, 60)]), (60.0, 60.0, None));
}

#[test]
fn best_comes_near_the_best_table_of_a_small_tree() {
    // All tables of a two-level tree that send each destination of the other leaf over either spine.
    let fabric = tree();
    let old = route(&fabric, "updn");
    for seed in 1u64..40 {
        let weight = |i: u64| 1 + (seed * 7919 + i * i * 104_729) % 97;
        let demands: Vec<Demand> = (0..4).map(|i| demand(i, 4 + i, weight(u64::from(i)))).collect();
        let mut prepared = Prepared::with_demands(&fabric, &old, 1, &demands).expect("its own");
        let relief = prepared.relieve(&Goal::default());
        let total: u64 = demands.iter().map(|d| d.weight).sum();
        let best = (0u32..16)
            .map(|set| {
                let one: u64 =
                    (0..4).filter(|i| set >> i & 1 == 1).map(|i| demands[i].weight).sum();
                one.max(total - one)
            })
            .min()
            .expect("some");
        // Local search: within the largest demand of the optimum, and never worse than before.
        assert!(relief.after <= relief.before);
        assert!(relief.after <= best as f64 * 1.34, "{seed}: {} {best}", relief.after);
    }
}
