//! The judgement of transitions against an oracle that traces pair by pair.

use darkfiber_fabric::{Fabric, SwitchId};
use darkfiber_routing::check::check;
use darkfiber_routing::transition::{self, Before, Obligation, Rung, Transition, Why};
use darkfiber_routing::{Layers, Request, Routes, find_engine};
use darkfiber_testkit::families;
use darkfiber_testkit::transitions::{Mix, Ways, ways};

const FABRICS: &[&str] = &[
    "torus:dims=3x3,t=1",
    "torus:dims=5,t=1",
    "hyperx:dims=3x3,t=1",
    "dragonfly:p=1,a=3,h=1",
    "jellyfish:n=9,d=4,p=1",
    "kary:k=2,n=3",
    "mesh:dims=3x3,t=1",
    "fattree2:n=3,m=2,r=4",
];
const ENGINES: &[&str] = &["minhop", "updn", "dfsssp", "nue", "sssp", "lash", "dor"];

/// Numbers that look random; the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

fn routed(fabric: &Fabric, engine: &str, lmc: u8) -> Option<Routes> {
    let engine = find_engine(engine).ok()?;
    let routes = engine.route(fabric, &Request { lmc, ..Request::default() }).ok()?;
    // Rows of their own, so that those of several engines can be put together.
    let mut own = Routes::empty(&routes.engine, fabric, routes.paths());
    let mut levels = vec![0; own.row_count() * fabric.terminal_count()];
    for d in (0..routes.dest_count()).map(darkfiber_routing::DestId::new) {
        let paths = if d.as_terminal(fabric).is_some() { routes.paths() } else { 1 };
        for path in 0..paths {
            for s in (0..fabric.switch_count()).map(SwitchId::new) {
                if let Some(port) = routes.lft_entry(fabric, s, d, path) {
                    own.set_lft_entry(fabric, s, d, path, port);
                }
            }
            let (from, to) = (routes.row(d, path), own.row(d, path));
            for t in 0..fabric.terminal_count() {
                levels[to * fabric.terminal_count() + t] =
                    routes.layer_on(fabric, darkfiber_fabric::TerminalId::new(t), from);
            }
        }
    }
    own.layers = Layers::BySource(levels);
    Some(own)
}

/// The first tables with some rows, and their levels, of others.
fn mixed(fabric: &Fabric, mut a: Routes, b: &Routes, dice: &mut Dice) -> Routes {
    let share = 1 + dice.below(4);
    for row in 0..a.row_count() {
        if dice.below(4) < share {
            let ports = b.ports(row).to_vec();
            a.ports_mut(row).copy_from_slice(&ports);
        }
        let n = fabric.terminal_count();
        if dice.below(2) == 0
            && let (Layers::BySource(mine), Layers::BySource(other)) = (&mut a.layers, &b.layers)
        {
            mine[row * n..(row + 1) * n].copy_from_slice(&other[row * n..(row + 1) * n]);
        }
    }
    a
}

/// Compares every obligation with the oracle's.
fn agree(fabric: &Fabric, before: &[&Routes], new: &Routes, t: &Transition) {
    let old = *before.last().expect("one at least");
    let mut all = before.to_vec();
    all.push(new);
    let tables = [old, new];
    let go = |levels: &[&Routes], may: [bool; 2], mix| ways(fabric, tables, levels, &|_| may, mix);
    let sound = |w: &Ways| !w.goes_round && !w.is_cyclic();
    let steady = go(&all, [false, true], Mix::Any);
    assert_eq!(t.holds(Obligation::Steady), !steady.is_cyclic(), "O2");
    let mut flight = go(before, [true, false], Mix::Any);
    flight.join(steady);
    if !flight.goes_round {
        assert_eq!(t.holds(Obligation::Flight), !flight.is_cyclic(), "O3");
    }
    let mixed = go(&all, [true, true], Mix::Any);
    assert_eq!(t.holds(Obligation::Mixed), sound(&mixed), "O4");
    let ordered = go(&all, [true, true], Mix::OldThenNew);
    if t.holds(Obligation::Ordered) {
        assert!(sound(&ordered), "O5");
    } else if let Some(j) = t.obligations.iter().find(|j| j.obligation == Obligation::Ordered) {
        match j.fails {
            Some(Why::Cycle(_)) => assert!(ordered.is_cyclic(), "O5: the cycle is there"),
            Some(Why::Circle { .. }) => assert!(ordered.goes_round, "O5: packets go round"),
            _ => {}
        }
    }
    // Rank by rank, whichever entries of the rank are written.
    assert!(t.verdict != Rung::Stages || t.ranks.is_some(), "stages have ranks");
    if let Some(ranks) = &t.ranks {
        let mut union = Ways::default();
        for now in 0..t.stages() as u32 {
            let may = |s: SwitchId| match ranks[s.index()] {
                Some(rank) => [rank >= now, rank <= now],
                None => [true, true],
            };
            union.join(ways(fabric, tables, &all, &may, Mix::Any));
        }
        assert!(sound(&union), "the stages");
    }
    for judged in &t.obligations {
        if let Some(Why::Cycle(witness)) = &judged.fails {
            assert!(!witness.links.is_empty(), "{:?} names its packets", judged.obligation);
        }
    }
}

#[test]
fn agrees_with_the_oracle_on_a_thousand_pairs_of_tables() {
    let mut dice = Dice(7);
    let (mut pairs, mut seen) = (0, std::collections::BTreeMap::<&str, usize>::new());
    while pairs < 1000 {
        let spec = FABRICS[dice.below(FABRICS.len())];
        let fabric = families::topology(spec).fabric;
        let lmc = dice.below(2) as u8;
        let mut any = || routed(&fabric, ENGINES[dice.below(ENGINES.len())], lmc);
        let (Some(a), Some(b), Some(c), Some(d)) = (any(), any(), any(), any()) else { continue };
        let old = mixed(&fabric, a, &b, &mut dice);
        let new = if dice.below(3) == 0 { mixed(&fabric, d.clone(), &c, &mut dice) } else { d };
        let report = check(&fabric, &new);
        if !report.complete() || !report.deadlock_free() {
            continue;
        }
        let several = dice.below(4) == 0;
        let before: Vec<&Routes> = if several { vec![&b, &old] } else { vec![&old] };
        let states: Vec<Before<'_>> =
            before.iter().map(|routes| Before { routes, has_levels: true }).collect();
        let t = transition::check(&fabric, &states, &new, None).expect("one fabric");
        agree(&fabric, &before, &new, &t);
        *seen.entry(t.verdict.name()).or_default() += 1;
        pairs += 1;
    }
    assert!(seen.len() >= 3, "several rungs were met: {seen:?}");
}
