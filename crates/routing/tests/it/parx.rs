//! Engines `parx` and `parx-opposite`: every LID is reached, by the rules, without deadlock.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{AtPort, Faults, SwitchId, TerminalId, Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::{
    DELIVER, Demand, DestId, LayerBy, Layers, LidChoice, Orthants, Refusal, Request, Routes,
    find_engine,
};
use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use rayon::ThreadPoolBuilder;

use crate::parx_law::{LATTICES, grid, in_half, lattice, path_counts};

const BOTH: [&str; 2] = ["parx", "parx-opposite"];

fn route(engine: &str, on: &Topology, request: &Request<'_>) -> Result<Routes, Refusal> {
    let request = Request { shape: on.shape.as_ref(), ..request.clone() };
    find_engine(engine).expect("registered").route(&on.fabric, &request)
}

fn routed(engine: &str, on: &Topology) -> Routes {
    route(engine, on, &Request::default()).expect("a HyperX")
}

/// Channels of the path from switch `s` to a LID.
fn path(on: &Topology, routes: &Routes, s: usize, row: usize) -> Vec<u32> {
    let mut at = SwitchId::new(s);
    let mut channels = Vec::new();
    loop {
        assert!(channels.len() < on.fabric.switch_count(), "goes round");
        match routes.ports(row)[at.index()] {
            DELIVER => return channels,
            port => match on.fabric.at_port(at, port) {
                AtPort::Switch(c, next) => {
                    channels.push(c.0);
                    at = next;
                }
                other => panic!("ends at {other:?}"),
            },
        }
    }
}

fn layer(routes: &Routes, s: usize, row: usize) -> u8 {
    match &routes.layers {
        Layers::One => 0,
        Layers::ByRow(l) => l[row],
        Layers::BySourceSwitch(l) => l[row * routes.switch_count() + s],
        Layers::BySource(_) | Layers::ByHop(_) => panic!("told by switch"),
    }
}

/// Checks that every LID of every terminal is reached from everywhere, and that all these paths together close no
/// cycle in any layer. The check is by the checker LID by LID, and by following every path.
fn prove(on: &Topology, routes: &Routes, what: &str) {
    let terminals = on.fabric.terminal_count();
    for lid in 0..routes.paths() {
        let mut one = routes.clone();
        one.set_select(vec![lid as u16; terminals]);
        let report = check(&on.fabric, &one);
        assert!(report.complete() && report.deadlock_free(), "{what}: LID {lid}");
    }
    let mut waits: BTreeMap<u8, BTreeMap<u32, BTreeSet<u32>>> = BTreeMap::new();
    for t in 0..terminals {
        for lid in 0..routes.paths() {
            let row = routes.row(DestId::new(t), lid);
            for s in 0..on.fabric.switch_count() {
                let channels = path(on, routes, s, row);
                if on.fabric.terminals_on(SwitchId::new(s)).is_empty() {
                    continue;
                }
                let graph = waits.entry(layer(routes, s, row)).or_default();
                for pair in channels.windows(2) {
                    graph.entry(pair[0]).or_default().insert(pair[1]);
                }
            }
        }
    }
    for (layer, mut graph) in waits {
        loop {
            let before = graph.len();
            let waiting: BTreeSet<u32> = graph.keys().copied().collect();
            graph.retain(|_, next| next.iter().any(|c| waiting.contains(c)));
            if graph.len() == before {
                break;
            }
        }
        assert!(graph.is_empty(), "{what}: layer {layer} has a cycle");
    }
}

/// Checks that the paths to LIDs with rules are as long as if the links were removed.
fn obeys_rules(on: &Topology, routes: &Routes, what: &str) {
    for home in 0..on.fabric.switch_count() {
        for t in on.fabric.terminals_on(SwitchId::new(home)) {
            for rule in 0..2 * grid(on).dims.len() {
                let row = routes.row(DestId::new(t), rule);
                let inside = |s| in_half(grid(on), rule, s);
                let left = path_counts(on, home, |u, v| inside(u) && inside(v));
                for (s, way) in left.into_iter().enumerate() {
                    let channels = path(on, routes, s, row);
                    // Where removal would lose the LID, any path is allowed.
                    let Some((hops, _)) = way else { continue };
                    assert_eq!(channels.len(), hops, "{what}: {s} to LID {rule} of {t}");
                }
            }
        }
    }
}

fn damaged(whole: &Topology, cables: usize, seed: u64) -> Topology {
    let faults = Faults::random_links(&whole.fabric, cables, seed).expect("cables enough");
    whole.with_faults(&faults).0
}

#[test]
fn lattices_are_routed_by_the_rules() {
    for dims in LATTICES {
        let on = lattice(dims);
        for engine in BOTH {
            let routes = routed(engine, &on);
            let rules = 2 * grid(&on).dims.len() + usize::from(engine == BOTH[1]);
            assert_eq!(routes.paths(), rules.next_power_of_two(), "{engine} on {dims}");
            assert_eq!(routes.notes, [""; 0], "{engine} on {dims}");
            obeys_rules(&on, &routes, dims);
            prove(&on, &routes, dims);
            // The LIDs without a rule are minimal.
            for home in 0..on.fabric.switch_count() {
                let least = path_counts(&on, home, |_, _| false);
                for lid in rules..routes.paths() {
                    for (s, way) in least.iter().enumerate() {
                        let row = routes.row(DestId::new(home), lid);
                        let hops = path(&on, &routes, s, row).len();
                        assert_eq!(Some(hops), way.map(|w| w.0), "{engine} on {dims}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_hops_of_t2hx_are_as_enumerated() {
    let on = lattice("12x8");
    let routes = routed("parx", &on);
    let mut pairs = [0u32; 4];
    for (s, t) in (0..96).flat_map(|s| (0..96).map(move |t| (s, t))).filter(|(s, t)| s != t) {
        for lid in 0..4 {
            pairs[path(&on, &routes, s, routes.row(DestId::new(t), lid)).len()] += 1;
        }
    }
    let all: u32 = pairs.iter().sum();
    let permille = pairs.map(|n| (2000 * n + all) / (2 * all));
    assert_eq!(permille, [0, 121, 653, 226]);
}

#[test]
fn opposite_orthants_get_detours_from_their_own_lid() {
    for dims in LATTICES {
        let on = lattice(dims);
        let grid = grid(&on);
        let routes = routed("parx-opposite", &on);
        let choice = LidChoice::parx(&on.fabric, grid, true).expect("few dimensions");
        let orthants = Orthants::new(grid).expect("few dimensions");
        for home in 0..on.fabric.switch_count() {
            // A detour needs another coordinate in some half of the destination.
            let wide =
                (0..2 * grid.dims.len()).filter(|&rule| in_half(grid, rule, home)).any(|rule| {
                    (0..on.fabric.switch_count()).any(|s| {
                        in_half(grid, rule, s)
                            && grid.at(SwitchId::new(s))[rule / 2]
                                != grid.at(SwitchId::new(home))[rule / 2]
                    })
                });
            let least = path_counts(&on, home, |_, _| false);
            for s in 0..on.fabric.switch_count() {
                let (from, to) = (SwitchId::new(s), SwitchId::new(home));
                let lid = choice.path(TerminalId::new(s), TerminalId::new(home), 1 << 20, 0);
                let channels = path(&on, &routes, s, routes.row(DestId::new(home), lid));
                let least = least[s].expect("connected").0;
                if orthants.are_opposite(from, to) {
                    assert_eq!(lid, 2 * grid.dims.len(), "{dims}");
                    let hops = least + usize::from(wide);
                    assert_eq!(channels.len(), hops, "{dims}: {s} to {home}");
                } else if s != home {
                    assert!(channels.len() > least, "{dims}: {s} to {home}");
                }
            }
        }
    }
}

#[test]
fn detours_between_opposite_quadrants_spread() {
    let on = open("@t2hx-hyperx-full").expect("a preset");
    let routes = routed("parx-opposite", &on);
    let orthants = Orthants::new(grid(&on)).expect("two dimensions");
    // First cables of the paths between two switches, to the LIDs of seven hosts; minimal paths have two.
    let cables = |lid: usize| {
        let pairs =
            (0..96).flat_map(|s| (0..96).map(move |d| (SwitchId::new(s), SwitchId::new(d))));
        let opposite: Vec<_> = pairs.filter(|&(s, d)| orthants.are_opposite(s, d)).collect();
        let first =
            |s: SwitchId, t| path(&on, &routes, s.index(), routes.row(DestId::new(t), lid))[0];
        let used = |&(s, d): &(SwitchId, SwitchId)| {
            on.fabric.terminals_on(d).map(|t| first(s, t)).collect::<BTreeSet<_>>().len()
        };
        opposite.iter().map(used).sum::<usize>() as f64 / opposite.len() as f64
    };
    for lid in 0..4 {
        assert!(cables(lid) <= 2.0, "LID {lid}: {}", cables(lid));
    }
    assert!(cables(4) > 2.5, "{}", cables(4));
}

#[test]
fn t2hx_takes_few_lanes_whatever_is_missing() {
    let whole = open("@t2hx-hyperx-full").expect("a preset");
    for seed in 1..=10 {
        let on = damaged(&whole, 15, seed);
        let dfsssp = route("dfsssp", &on, &Request::default()).expect("eight lanes do");
        assert!(dfsssp.layer_count() <= 3, "seed {seed}: {}", dfsssp.layer_count());
        for engine in BOTH {
            // The paper's engine takes 5 to 8; filling layers needs fewer than emptying them.
            let routes = routed(engine, &on);
            let lanes = routes.layer_count();
            assert!((2..=5).contains(&lanes), "{engine}, seed {seed}: {lanes}");
            assert!(routes.notes.is_empty(), "{engine}, seed {seed}");
        }
    }
    let on = open("@t2hx-hyperx").expect("a preset");
    prove(&on, &routed("parx", &on), "@t2hx-hyperx");
}

#[test]
fn too_few_lanes_cost_detours_and_are_reported() {
    let whole = open("@t2hx-hyperx-full").expect("a preset");
    let four = open("hypercube:n=5,t=1").expect("a spec");
    for (on, what) in [(&damaged(&whole, 40, 3), "t2hx"), (&damaged(&four, 8, 1), "hypercube")] {
        for engine in BOTH {
            for lanes in 1..=3 {
                let request = Request { lanes, ..Request::default() };
                let routes = route(engine, on, &request).expect("never refused for lanes");
                let what = format!("{engine} on {what}, {lanes} lanes");
                assert!(routes.layer_count() <= usize::from(lanes), "{what}");
                prove(on, &routes, &what);
                let enough = routed(engine, on);
                if enough.layer_count() <= usize::from(lanes) {
                    assert_eq!(routes, enough, "{what}");
                }
                if lanes == 1 {
                    let [note] = routes.notes.as_slice() else { panic!("{what}: no note") };
                    assert!(note.contains("lanes would be needed, 1 may be used"), "{note}");
                    assert!(note.contains("nue"), "{note}");
                }
            }
        }
    }
}

/// A ring through all terminals in random order, with one weight.
fn ring(on: &Topology, weight: u64, seed: u64) -> Vec<Demand> {
    let mut order: Vec<TerminalId> = (0..on.fabric.terminal_count()).map(TerminalId::new).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for i in (1..order.len()).rev() {
        order.swap(i, (random.next_u64() % (i as u64 + 1)) as usize);
    }
    let next = order.iter().cycle().skip(1);
    order.iter().zip(next).map(|(&from, &to)| Demand { from, to, weight }).collect()
}

/// Load of channels by demanded paths over all LIDs together: the largest load, and the sum of squares.
fn demanded_load(on: &Topology, routes: &Routes, demands: &[Demand]) -> (u64, u64) {
    let mut load = vec![0; on.fabric.channel_count()];
    for d in demands {
        let s = on.fabric.terminal(d.from).switch.index();
        for lid in 0..routes.paths() {
            for c in path(on, routes, s, routes.row(DestId::terminal(d.to), lid)) {
                load[c as usize] += 1;
            }
        }
    }
    (load.iter().copied().max().unwrap_or(0), load.iter().map(|l| l * l).sum())
}

#[test]
fn demands_spread_what_they_name_and_leave_the_rest_balanced() {
    let on = open("@t2hx-hyperx").expect("a preset");
    let plain = routed("parx", &on);
    let largest = |routes: &Routes| check(&on.fabric, routes).load.into_iter().max().unwrap_or(0);
    for seed in 1..=3 {
        let demands = ring(&on, 255, seed);
        let request = Request { demands: &demands, ..Request::default() };
        let aware = route("parx", &on, &request).expect("a HyperX");
        assert!(aware.layer_count() <= 8 && aware.notes.is_empty(), "seed {seed}");
        let (before, after) =
            (demanded_load(&on, &plain, &demands), demanded_load(&on, &aware, &demands));
        assert!(after.0 < before.0, "seed {seed}: {before:?}, then {after:?}");
        assert!(after.1 * 10 < before.1 * 9, "seed {seed}: {before:?}, then {after:?}");
        // Undemanded paths still count a little, so that the whole machine stays about as balanced.
        let (before, after) = (largest(&plain), largest(&aware));
        assert!(after * 2 <= before * 3, "seed {seed}: {before}, then {after}");
    }
}

#[test]
fn of_demands_only_the_sum_of_each_pair_matters() {
    let on = lattice("5x4");
    let mut demands = ring(&on, 7, 1);
    demands.extend(ring(&on, 200, 2));
    let request = Request { demands: &demands, ..Request::default() };
    let first = route("parx", &on, &request).expect("a HyperX");
    assert_ne!(first, routed("parx", &on));
    let mut split: Vec<Demand> = demands
        .iter()
        .flat_map(|d| [Demand { weight: d.weight - 3, ..*d }, Demand { weight: 3, ..*d }])
        .rev()
        .collect();
    // A demand of weight 0, and one from a terminal to itself.
    split.push(Demand { from: TerminalId(0), to: TerminalId(9), weight: 0 });
    split.push(Demand { from: TerminalId(4), to: TerminalId(4), weight: 255 });
    let request = Request { demands: &split, ..Request::default() };
    assert_eq!(route("parx", &on, &request), Ok(first));
}

#[test]
fn threads_do_not_change_routes_by_demands() {
    let on = damaged(&open("@t2hx-hyperx-full").expect("a preset"), 30, 5);
    let demands = ring(&on, 9, 4);
    let request = Request { demands: &demands, ..Request::default() };
    for engine in BOTH {
        let [one, two] = [1, 2].map(|threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| route(engine, &on, &request))
        });
        assert!(one == two, "{engine}");
    }
}

#[test]
fn minimal_paths_follow_demands_on_any_fabric() {
    // Two leaves, four spines: each of four flows has a spine to itself, whatever the pairs.
    let on = open("pgft:m=8x2,w=1x4,p=1x1").expect("a spec");
    for turn in 0..8u32 {
        let demands: Vec<Demand> = (0..4)
            .map(|i| Demand {
                from: TerminalId(i),
                to: TerminalId(8 + (i * 3 + turn) % 8),
                weight: 1 << (10 * i),
            })
            .collect();
        let request = Request { demands: &demands, ..Request::default() };
        let routes = route("parx-minimal", &on, &request).expect("a tree");
        prove(&on, &routes, "tree");
        let mut spines = BTreeSet::new();
        for d in &demands {
            let row = routes.row(DestId::terminal(d.to), 0);
            spines.insert(path(&on, &routes, on.fabric.terminal(d.from).switch.index(), row)[0]);
        }
        assert_eq!(spines.len(), 4, "{turn}");
    }
    for spec in ["torus:dims=4x4,t=2", "dragonfly:p=2,a=4,h=2", "hyperx:dims=4x4,t=2"] {
        let on = open(spec).expect("a spec");
        let demands = [Demand { from: TerminalId(3), to: TerminalId(9), weight: 7 }];
        for lmc in [0, 1] {
            let request = Request { lmc, demands: &demands, ..Request::default() };
            prove(&on, &route("parx-minimal", &on, &request).expect("lanes suffice"), spec);
        }
    }
    let torus = open("torus:dims=5x5,t=1").expect("a spec");
    let request = Request { lanes: 1, ..Request::default() };
    let refusal = route("parx-minimal", &torus, &request).expect_err("a ring needs two");
    assert!(matches!(refusal, Refusal::Lanes { .. }), "{refusal}");
}

#[test]
fn requests_that_do_not_fit_are_refused() {
    let on = lattice("4x3");
    let lmc = |engine, lmc| route(engine, &on, &Request { lmc, ..Request::default() });
    assert_eq!(lmc("parx", 2), lmc("parx", 0));
    assert_eq!(lmc("parx-opposite", 3), lmc("parx-opposite", 0));
    for (engine, given) in [("parx", 1), ("parx", 3), ("parx-opposite", 2)] {
        let refusal = lmc(engine, given).expect_err("another LMC");
        assert!(matches!(refusal, Refusal::Parameter { .. }), "{refusal}");
    }
    let torus = open("torus:dims=4x4,t=1").expect("a spec");
    let refusal = route("parx", &torus, &Request::default()).expect_err("no HyperX");
    assert!(matches!(refusal, Refusal::WrongFabric { .. }), "{refusal}");
    let many = open("hypercube:n=11,t=1").expect("a spec");
    let refusal = route("parx", &many, &Request::default()).expect_err("22 rules");
    assert!(matches!(refusal, Refusal::Parameter { .. }), "{refusal}");
    let by_destination = Request { layer_by: LayerBy::Destination, ..Request::default() };
    let refusal = route("parx", &on, &by_destination).expect_err("several layers");
    assert!(matches!(refusal, Refusal::Parameter { .. }), "{refusal}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn damaged_lattices_lose_no_lid(
        dims in prop::collection::vec(2u16..=5, 1..=3),
        hosts in 1u8..=2,
        share in 0usize..=40,
        lanes in 1u8..=8,
        seed in any::<u64>(),
        across in any::<bool>(),
    ) {
        let text: Vec<String> = dims.iter().map(ToString::to_string).collect();
        let spec = format!("hyperx:dims={},t={hosts}", text.join("x"));
        let whole = open(&spec).expect("a spec");
        let cables = whole.fabric.switch_link_count() * share / 100;
        let Ok(faults) = Faults::random_links(&whole.fabric, cables, seed) else { return Ok(()) };
        let on = whole.with_faults(&faults).0;
        let demands = if seed % 2 == 0 { ring(&on, seed >> 8 & 255, seed) } else { Vec::new() };
        let request = Request { lanes, demands: &demands, ..Request::default() };
        let routes = route(BOTH[usize::from(across)], &on, &request).expect("connected");
        prop_assert!(routes.layer_count() <= usize::from(lanes));
        let what = format!("{spec} less {cables}, seed {seed}, {lanes} lanes");
        prove(&on, &routes, &what);
        if routes.notes.is_empty() {
            obeys_rules(&on, &routes, &what);
        }
    }
}
