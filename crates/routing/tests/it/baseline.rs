//! What a transition after dead cables is judged by few rows must be what it is judged by all.

use darkfiber_fabric::{ChannelId, Fabric, Faults, TerminalId, Topology};
use darkfiber_routing::reroute::{Fault, Prepared, Trial};
use darkfiber_routing::transition::{self, Baseline, Before, Lost, Rung, Transition, cleared};
use darkfiber_routing::{NO_ROUTE, Request, Routes, find_engine};
use darkfiber_testkit::families;
use darkfiber_testkit::pairs::Dice;

const CASES: &[(&str, &str)] = &[
    ("dragonfly:p=2,a=4,h=2", "updn"),
    ("dragonfly:p=2,a=4,h=2", "dfsssp"),
    ("torus:dims=4x4,t=2", "dfsssp"),
    ("hyperx:dims=3x4,t=2", "nue"),
    ("fattree2:n=4,m=4,r=4", "ftree"),
    ("kary:k=2,n=3", "minhop"),
    ("jellyfish:n=12,d=4,p=2", "sar-best"),
    ("hyperx:dims=4x4,t=1", "parx"),
];

fn routed(topology: &Topology, engine: &str) -> Routes {
    let lmc = if engine == "parx" { 2 } else { 0 };
    let request = Request { shape: topology.shape.as_ref(), lmc, ..Request::default() };
    let engine = find_engine(engine).expect("an engine");
    engine.route(&topology.fabric, &request).expect("routes")
}

/// The transition by all rows: what [`Baseline`] must be equal to.
fn by_all(fabric: &Fabric, before: &[Before<'_>], new: &Routes, lost: Lost) -> Transition {
    let judged = match lost {
        Lost::None => transition::check(fabric, before, new, None),
        lost => transition::check_stage(fabric, before, new, lost),
    };
    judged.expect("tables of one fabric")
}

/// Compares both in the transition to `new`, and by way of `stage`.
fn compare(base: &Baseline<'_>, damaged: &Fabric, stage: Option<&Routes>, new: &Routes) -> Rung {
    let in_place = base.before();
    let tables: Vec<&Routes> = stage.into_iter().chain([new]).collect();
    let after = base.after(damaged, &tables).expect("cables failed");
    let few = after.check(&[in_place], new, Lost::None).expect("prepared for these tables");
    assert_eq!(few, by_all(damaged, &[in_place], new, Lost::None));
    if let Some(stage) = stage {
        for lost in [Lost::None, Lost::Already, Lost::CutRows] {
            let few = after.check(&[in_place], stage, lost).expect("prepared for these tables");
            assert_eq!(few, by_all(damaged, &[in_place], stage, lost), "{lost:?}");
        }
        let both = [in_place, Before { routes: stage, has_levels: in_place.has_levels }];
        let few = after.check(&both, new, Lost::None).expect("prepared for these tables");
        assert_eq!(few, by_all(damaged, &both, new, Lost::None));
    }
    few.verdict
}

#[test]
fn few_rows_give_the_verdict_of_all() {
    let mut dice = Dice(7);
    let mut seen = [0; 4];
    for &(spec, engine) in CASES {
        let topology = families::topology(spec);
        let fabric = &topology.fabric;
        let routes = routed(&topology, engine);
        let prepared = Prepared::new(fabric, &routes, 8).expect("sound tables");
        for has_levels in [true, false] {
            let before = Before { routes: prepared.routes(), has_levels };
            let Some(base) = Baseline::new(fabric, before) else {
                assert!(engine == "minhop" || !has_levels, "{spec}: these are sound");
                continue;
            };
            let mut trial = Trial::new(&prepared);
            let mut cables: Vec<Vec<ChannelId>> =
                Fault::cables(fabric).iter().map(|f| f.faults().links).collect();
            cables.truncate(24);
            for _ in 0..6 {
                let any = |dice: &mut Dice| ChannelId::new(dice.below(fabric.channel_count()));
                cables.push(vec![any(&mut dice), any(&mut dice)]);
            }
            for links in cables {
                let faults = Faults { links, ..Faults::default() };
                let (damaged, _) = fabric.with_faults(&faults);
                let Ok((outcome, _)) = trial.reroute_on_lowest_rung(&faults) else { continue };
                let mut new = trial.routes().clone();
                if !outcome.moved.is_empty() {
                    assert!(base.after(&damaged, &[&new]).is_none(), "service levels differ");
                    continue;
                }
                let stage = cleared(before.routes, &new).expect("the same rows");
                match compare(&base, &damaged, Some(&stage), &new) {
                    Rung::AnyOrder => seen[0] += 1,
                    Rung::Stages => seen[1] += 1,
                    Rung::DropDrain => seen[2] += 1,
                    _ => seen[3] += 1,
                }
                // Tables with mistakes are refused alike.
                for _ in 0..3 {
                    let row = dice.below(new.row_count());
                    let s = dice.below(fabric.switch_count());
                    new.ports_mut(row)[s] = dice.below(12) as u8;
                    let verdict = compare(&base, &damaged, None, &new);
                    seen[3] += usize::from(verdict == Rung::Refuse);
                }
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 5), "every kind of verdict: {seen:?}");
}

#[test]
fn tables_and_fabrics_that_it_was_not_prepared_for_are_not_judged() {
    let topology = families::topology("dragonfly:p=2,a=4,h=2");
    let fabric = &topology.fabric;
    let routes = routed(&topology, "updn");
    let before = Before { routes: &routes, has_levels: true };
    let base = Baseline::new(fabric, before).expect("sound tables");
    let cable = Fault::cables(fabric)[3].faults();
    let (damaged, _) = fabric.with_faults(&cable);
    let after = base.after(&damaged, &[&routes]).expect("a cable failed");
    // A row that does not lead over the cable.
    let mut other = routes.clone();
    let dead = cable.links[0];
    let ends = [dead, fabric.reverse(dead)].map(|c| (fabric.tail(c).index(), fabric.tail_port(c)));
    let row = (0..fabric.terminal_count())
        .find(|&row| ends.iter().all(|&(s, port)| routes.ports(row)[s] != port))
        .expect("a row without the cable");
    let entry = &mut other.ports_mut(row)[ends[0].0];
    *entry = if *entry == 1 { 2 } else { 1 };
    assert!(after.check(&[before], &other, Lost::None).is_none());
    assert!(after.check(&[before], &routes, Lost::None).is_some());
    // A switch or a host is more than a cable.
    for faults in [
        Fault::switches(fabric)[0].faults(),
        Faults { terminals: vec![TerminalId(0)], ..Faults::default() },
    ] {
        assert!(base.after(&fabric.with_faults(&faults).0, &[&routes]).is_none());
    }
    // Tables that lose pairs are no base.
    let mut lossy = routes.clone();
    lossy.ports_mut(0).fill(NO_ROUTE);
    assert!(Baseline::new(fabric, Before { routes: &lossy, has_levels: true }).is_none());
}
