//! Each level of the ladder of transitions, on tables that were constructed for it.

use std::collections::BTreeSet;

use darkfiber_fabric::{Fabric, Faults, SwitchId, TerminalId};
use darkfiber_routing::reroute::{self, Coexistence, Prepared};
use darkfiber_routing::transition::{self, Before, Lost, Obligation, Rung, Transition};
use darkfiber_routing::{DestId, Layers, Request, Routes, find_engine};
use darkfiber_testkit::families;

fn judge(
    fabric: &Fabric,
    old: &Routes,
    new: &Routes,
    jobs: Option<&[Vec<TerminalId>]>,
) -> Transition {
    let before = [Before { routes: old, has_levels: true }];
    transition::check(fabric, &before, new, jobs).expect("of one fabric")
}

fn fabric(spec: &str) -> Fabric {
    families::topology(spec).fabric
}

/// Up*/Down* tables with a root, which are deadlock-free in one lane; mixed with those of another root they are not.
fn from_root(fabric: &Fabric, root: usize) -> Routes {
    let roots = [SwitchId::new(root)];
    let request = Request { roots: &roots, ..Request::default() };
    find_engine("updn").expect("an engine").route(fabric, &request).expect("routes")
}

/// Tables with two LIDs per port: those of `planes` at offsets 0 and 1, in a separate lane each; hosts use the offset `used`.
fn two_planes(fabric: &Fabric, planes: [&Routes; 2], used: u16) -> Routes {
    let n = fabric.terminal_count();
    let mut both = Routes::empty("planes", fabric, 2);
    let mut lanes = vec![0; both.row_count() * n];
    for (path, of) in planes.into_iter().enumerate() {
        for d in (0..of.dest_count()).map(DestId::new) {
            if d.as_terminal(fabric).is_none() && path > 0 {
                continue;
            }
            for s in (0..fabric.switch_count()).map(SwitchId::new) {
                if let Some(port) = of.lft_entry(fabric, s, d, 0) {
                    both.set_lft_entry(fabric, s, d, path, port);
                }
            }
            let row = both.row(d, path);
            lanes[row * n..(row + 1) * n].fill(path as u8);
        }
    }
    both.layers = Layers::BySource(lanes);
    both.set_select(vec![used; n]);
    both
}

#[test]
fn equal_tables_change_nothing() {
    let fabric = fabric("torus:dims=4x4,t=1");
    let tables = from_root(&fabric, 0);
    assert_eq!(judge(&fabric, &tables, &tables, None).verdict, Rung::NothingChanges);
}

/// On a ring of three, B sends to the third switch D, and A by way of B; then the reverse. With B's new entry and A's old one
/// packets loop between A and B; if A is first, the update is safe.
#[test]
fn stages_in_closed_form() {
    let fabric = fabric("torus:dims=3,t=1");
    let [a, b, d] = [0, 1, 2].map(SwitchId::new);
    let port = |from: SwitchId, to: SwitchId| {
        let c = fabric.channels_from(from).find(|&c| fabric.heads()[c] == to.0);
        fabric.tail_ports()[c.expect("a ring")]
    };
    let direct = {
        let request = Request::default();
        find_engine("minhop").expect("an engine").route(&fabric, &request).expect("routes")
    };
    let at_d = (0..3).map(TerminalId::new).find(|&t| fabric.terminal(t).switch == d);
    let dest = DestId::terminal(at_d.expect("a host each"));
    let (mut old, mut new) = (direct.clone(), direct);
    for (tables, far, near) in [(&mut old, a, b), (&mut new, b, a)] {
        let row = tables.row(dest, 0);
        let ports = tables.ports_mut(row);
        ports[far.index()] = port(far, near);
        ports[near.index()] = port(near, d);
    }
    let t = judge(&fabric, &old, &new, None);
    assert!(!t.holds(Obligation::Mixed) && t.holds(Obligation::Ordered), "{:?}", t.obligations);
    assert_eq!((t.verdict, t.stages()), (Rung::Stages, 2));
    let ranks = t.ranks.expect("stages have ranks");
    assert_eq!((ranks[a.index()], ranks[b.index()], ranks[d.index()]), (Some(0), Some(1), None));
}

#[test]
fn a_second_plane_is_written_and_then_moved_to() {
    let fabric = fabric("torus:dims=4x4,t=1");
    let [a, b] = [0, 10].map(|root| from_root(&fabric, root));
    // No host uses the second LIDs before, nor the first ones after.
    let (old, new) = (two_planes(&fabric, [&a, &a], 0), two_planes(&fabric, [&a, &b], 1));
    let t = judge(&fabric, &old, &new, None);
    assert_eq!(t.verdict, Rung::Flip, "{:?}", t.rungs);
    // Rows that a host uses may not change.
    let t = judge(&fabric, &old, &two_planes(&fabric, [&b, &a], 0), None);
    assert!(t.verdict > Rung::Flip, "{:?}", t.rungs);
    // Nor may lanes be shared.
    let mut one_lane = new;
    one_lane.layers = Layers::One;
    assert_ne!(judge(&fabric, &old, &one_lane, None).verdict, Rung::Flip);
}

#[test]
fn hosts_move_to_a_plane_that_stays_and_back() {
    let fabric = fabric("torus:dims=4x4,t=1");
    let [a, b] = [0, 10].map(|root| from_root(&fabric, root));
    let (old, new) = (two_planes(&fabric, [&a, &a], 0), two_planes(&fabric, [&b, &a], 0));
    let t = judge(&fabric, &old, &new, None);
    assert_eq!(t.verdict, Rung::FivePhases, "{:?}", t.rungs);
    // If the second plane changes as well, there is no plane to wait on.
    let t = judge(&fabric, &old, &two_planes(&fabric, [&b, &b], 0), None);
    assert!(t.verdict > Rung::FivePhases, "{:?}", t.rungs);
    // Nor may service levels of the plane change on which they wait, though nobody uses its LIDs before.
    let mut others = two_planes(&fabric, [&b, &a], 0);
    others.layers = match others.layers {
        Layers::BySource(mut layers) => {
            layers.iter_mut().filter(|layer| **layer == 1).for_each(|layer| *layer = 2);
            Layers::BySource(layers)
        }
        layers => panic!("{layers:?}"),
    };
    let t = judge(&fabric, &old, &others, None);
    assert!(t.verdict > Rung::FivePhases, "{:?}", t.rungs);
    // Nor can they come back where new tables have them use another LID.
    let t = judge(&fabric, &old, &two_planes(&fabric, [&b, &a], 1), None);
    assert_ne!(t.verdict, Rung::FivePhases, "{:?}", t.rungs);
}

#[test]
fn a_quiet_window_is_one_in_which_no_job_is_touched() {
    let fabric = fabric("torus:dims=4x4,t=1");
    let [old, new] = [0, 10].map(|root| from_root(&fabric, root));
    let all = || (0..fabric.terminal_count()).map(TerminalId::new);
    let way = |r: &Routes, from: TerminalId, to: TerminalId| {
        darkfiber_testkit::oracle::path(&fabric, r, from, to).expect("reaches")
    };
    let same = |x: TerminalId, y: TerminalId| {
        way(&old, x, y) == way(&new, x, y) && way(&old, y, x) == way(&new, y, x)
    };
    let pairs = || all().flat_map(|x| all().filter(move |&y| x < y).map(move |y| (x, y)));
    let (x, y) = pairs().find(|&(x, y)| same(x, y)).expect("some pair stays");
    let t = judge(&fabric, &old, &new, Some(&[vec![x, y]]));
    assert_eq!(t.verdict, Rung::QuietWindow, "{:?}", t.rungs);
    let (x, y) = pairs().find(|&(x, y)| !same(x, y)).expect("some pair changes");
    assert_eq!(judge(&fabric, &old, &new, Some(&[vec![x, y]])).verdict, Rung::Refuse);
    assert_eq!(judge(&fabric, &old, &new, None).verdict, Rung::Refuse);
}

/// Pairs that tables do not bring together, by tracing each.
fn lost(fabric: &Fabric, routes: &Routes) -> BTreeSet<(usize, usize)> {
    let all = 0..fabric.terminal_count();
    let pairs = all.clone().flat_map(|a| all.clone().filter(move |&b| b != a).map(move |b| (a, b)));
    let path = |a, b| {
        darkfiber_testkit::oracle::path(fabric, routes, TerminalId::new(a), TerminalId::new(b))
    };
    pairs.filter(|&(a, b)| path(a, b).is_none()).collect()
}

/// Drop-drain: what is cleared loses pairs to cut LIDs only, and both writes are safe in any order.
fn cleared_then_written(fabric: &Fabric, before: &Routes, after: &Routes) {
    let stage = transition::cleared(before, after).expect("rows alike");
    let states = [before, &stage].map(|routes| Before { routes, has_levels: true });
    let is_safe = |lost| {
        let t = transition::check_stage(fabric, &states[..1], &stage, lost).expect("of one fabric");
        t.verdict <= Rung::AnyOrder
    };
    let cut = lost(fabric, before);
    let more = &lost(fabric, &stage) - &cut;
    assert!(more.iter().all(|(_, to)| cut.iter().any(|(_, other)| other == to)));
    assert!(is_safe(Lost::CutRows));
    assert_eq!(is_safe(Lost::Already), more.is_empty());
    let whole = lost(fabric, &stage).is_empty();
    assert_eq!(is_safe(Lost::None), whole);
    let t = transition::check(fabric, &states, after, None).expect("of one fabric");
    assert!(t.verdict <= Rung::AnyOrder, "{:?}", t.rungs);
}

#[test]
fn a_stage_may_not_lose_pairs_that_work() {
    let fabric = fabric("torus:dims=4x4,t=1");
    let old = from_root(&fabric, 0);
    let mut stage = old.clone();
    let row = stage.row(DestId::terminal(TerminalId::new(3)), 0);
    let ports = stage.ports_mut(row);
    ports[9] = darkfiber_routing::NO_ROUTE;
    let before = [Before { routes: &old, has_levels: true }];
    for lost in [Lost::None, Lost::Already, Lost::CutRows] {
        let t = transition::check_stage(&fabric, &before, &stage, lost).expect("of one fabric");
        assert_eq!(t.verdict, Rung::Refuse, "{lost:?}");
        assert!(!t.holds(Obligation::Target));
    }
    // What was lost before may stay so.
    let before = [Before { routes: &stage, has_levels: true }];
    for lost in [Lost::Already, Lost::CutRows] {
        let t = transition::check_stage(&fabric, &before, &stage, lost).expect("of one fabric");
        assert_eq!(t.verdict, Rung::NothingChanges, "{lost:?}");
    }
}

/// Every cable of some fabrics fails, and `reroute` mends the tables on a rung of its own: the checker, which knows nothing of
/// that, comes to one that is no higher.
#[test]
fn repairs_stand_on_the_rungs_that_they_claim() {
    let mut kept = [0u32; 2];
    let mut seen = [0u32; 4];
    for (spec, engine) in [
        ("torus:dims=4x4,t=1", "updn"),
        ("torus:dims=4x4,t=1", "dfsssp"),
        ("hyperx:dims=3x3,t=2", "nue"),
        ("jellyfish:n=10,d=4,p=2", "dfsssp"),
        ("dragonfly:p=2,a=4,h=2", "dfsssp"),
        ("dragonfly:p=2,a=4,h=2", "dragonfly-min"),
        ("dragonfly:p=2,a=4,h=2", "nue"),
        ("kary:k=3,n=3", "ftree"),
    ] {
        let on = families::topology(spec);
        let fabric = &on.fabric;
        let request = Request { shape: on.shape.as_ref(), ..Request::default() };
        let old = find_engine(engine).expect("an engine").route(fabric, &request).expect("routes");
        let whole = Prepared::new(fabric, &old, 8).expect("its own tables");
        let cables = (0..fabric.channel_count())
            .map(darkfiber_fabric::ChannelId::new)
            .filter(|&c| c.0 < fabric.reverse(c).0);
        for cable in cables {
            let faults = Faults { links: vec![cable], ..Faults::default() };
            let mut mended = whole.clone();
            let Ok((outcome, rung)) = mended.reroute_on_lowest_rung(&faults) else { continue };
            let (damaged, map) = fabric.with_faults(&faults);
            let [before, after] = [&whole, &mended].map(|p| p.tables(&damaged, &map));
            let t = judge(&damaged, &before, &after, None);
            let what = format!("{spec} {engine} {cable:?} {rung:?}: {:?} {:?}", t.verdict, t.rungs);
            if t.verdict == Rung::Stages {
                kept[usize::from(t.keeps_pairs)] += 1;
                crate::transition::stages_are_sound(&damaged, &[&before], &after, &t);
            }
            match rung {
                reroute::Rung::AnyOrder => {
                    seen[0] += 1;
                    assert!(t.verdict <= Rung::AnyOrder, "{what}");
                }
                reroute::Rung::Steps(_) => {
                    seen[1] += 1;
                    assert!(t.holds(Obligation::Steady), "{what}");
                    // Steps may consist of entries, which the checker's stages of whole switches do not.
                    let of_switches = matches!(outcome.coexistence, Coexistence::Order(_));
                    assert!(!of_switches || t.verdict <= Rung::Stages, "{what}");
                }
                reroute::Rung::DropDrain => {
                    seen[2] += u32::from(t.verdict == Rung::DropDrain);
                    assert!(t.verdict <= Rung::DropDrain, "{what}");
                    if t.verdict == Rung::DropDrain {
                        cleared_then_written(&damaged, &before, &after);
                    }
                }
                reroute::Rung::Reconnect => {
                    seen[3] += 1;
                    assert_eq!(t.verdict, Rung::Refuse, "{what}");
                }
            }
        }
    }
    assert!(seen.iter().all(|&n| n > 0), "every rung was met: {seen:?}");
    let [lose, keep] = kept;
    assert!(keep > 150 && lose < 3, "orders that keep pairs are nearly always found: {kept:?}");
}

/// Tables read after a fault are repaired as well as those from before it: where `reroute` hears of the fault, and where it finds that
/// rows lead to a port without a cable.
#[test]
fn a_fault_before_the_tables_were_read_is_repaired_as_well() {
    let mut worse = 0;
    let mut all = 0;
    for (spec, engine) in [
        ("dragonfly:p=2,a=4,h=2", "updn"),
        ("torus:dims=4x4,t=1", "updn"),
        ("hyperx:dims=3x4,t=2", "dfsssp"),
        ("jellyfish:n=14,d=4,p=2", "nue"),
    ] {
        let on = families::topology(spec);
        let fabric = &on.fabric;
        let request = Request { shape: on.shape.as_ref(), lanes: 2, ..Request::default() };
        let old = find_engine(engine).expect("an engine").route(fabric, &request).expect("routes");
        let whole = Prepared::new(fabric, &old, 2).expect("its own tables");
        for cable in reroute::Fault::cables(fabric) {
            let faults = cable.faults();
            let Ok((_, reported)) = whole.clone().reroute_on_lowest_rung(&faults) else { continue };
            let (damaged, map) = fabric.with_faults(&faults);
            let before = whole.tables(&damaged, &map);
            let mut part = Prepared::new(&damaged, &before, 2).expect("tables");
            let (_, found) = part.reroute_on_lowest_rung(&Faults::default()).expect("repaired");
            // Steps may be more or fewer.
            let rank = |rung| match rung {
                reroute::Rung::AnyOrder => 0,
                reroute::Rung::Steps(_) => 1,
                reroute::Rung::DropDrain => 2,
                reroute::Rung::Reconnect => 3,
            };
            all += 1;
            worse += u32::from(rank(found) > rank(reported));
        }
    }
    assert!(all > 150 && worse == 0, "{worse} of {all}");
}
