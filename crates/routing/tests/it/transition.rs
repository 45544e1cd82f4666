//! The judgement of transitions, compared with an oracle that traces pair by pair.

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};
use darkfiber_routing::check::check;
use darkfiber_routing::transition::{self, Before, Obligation, Rung, Transition, Why, Witness};
use darkfiber_routing::{DELIVER, DestId, Routes};
use darkfiber_testkit::families;
use darkfiber_testkit::pairs::{Dice, ENGINES, mixed, routed};
use darkfiber_testkit::reach::{Packet, Reach, reach};
use darkfiber_testkit::transitions::{CombinedDependencies, TableMix, combined_dependencies};

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
/// Compares every obligation with that of the oracle.
fn agree(fabric: &Fabric, before: &[&Routes], new: &Routes, t: &Transition) {
    let old = *before.last().expect("one at least");
    let mut all = before.to_vec();
    all.push(new);
    let tables = [old, new];
    let go = |levels: &[&Routes], may: [bool; 2], mix| {
        combined_dependencies(fabric, tables, levels, &|_| may, mix)
    };
    let sound = |w: &CombinedDependencies| !w.has_loop && !w.is_cyclic();
    let steady = go(&all, [false, true], TableMix::Any);
    assert_eq!(t.holds(Obligation::Steady), !steady.is_cyclic(), "O2");
    let mut flight = go(before, [true, false], TableMix::Any);
    flight.join(steady);
    if !flight.has_loop {
        assert_eq!(t.holds(Obligation::Flight), !flight.is_cyclic(), "O3");
    }
    let mixed = go(&all, [true, true], TableMix::Any);
    assert_eq!(t.holds(Obligation::Mixed), sound(&mixed), "O4");
    let ordered = go(&all, [true, true], TableMix::OldThenNew);
    if t.holds(Obligation::Ordered) {
        assert!(sound(&ordered), "O5");
    } else if let Some(j) = t.obligations.iter().find(|j| j.obligation == Obligation::Ordered) {
        match j.fails {
            Some(Why::Cycle(_)) => assert!(ordered.is_cyclic(), "O5: the cycle is there"),
            Some(Why::Circle { .. }) => assert!(ordered.has_loop, "O5: packets go round"),
            _ => {}
        }
    }
    stages_are_sound(fabric, before, new, t);
    for judged in &t.obligations {
        if let Some(Why::Cycle(witness)) = &judged.fails {
            assert!(!witness.links.is_empty(), "{:?} names its packets", judged.obligation);
        }
    }
}

/// Traces all paths rank by rank, whichever entries of the rank are written: none loops, and all together close no cycle.
pub(crate) fn stages_are_sound(fabric: &Fabric, before: &[&Routes], new: &Routes, t: &Transition) {
    assert!(t.verdict != Rung::Stages || t.ranks.is_some(), "stages have ranks");
    let Some(ranks) = &t.ranks else { return };
    let tables = [*before.last().expect("one at least"), new];
    let mut all = before.to_vec();
    all.push(new);
    let mut union = CombinedDependencies::default();
    for now in 0..t.stages() as u32 {
        let may = |s: SwitchId| match ranks[s.index()] {
            Some(rank) => [rank >= now, rank <= now],
            None => [true, true],
        };
        union.join(combined_dependencies(fabric, tables, &all, &may, TableMix::Any));
    }
    assert!(!union.has_loop && !union.is_cyclic(), "the stages");
    if t.keeps_pairs {
        pairs_stay_connected(fabric, tables, ranks);
    }
}

/// Follows all entries that may be in place at a rank: pairs that both tables connect never come to a switch without one.
fn pairs_stay_connected(fabric: &Fabric, tables: [&Routes; 2], ranks: &[Option<u32>]) {
    let stages = ranks.iter().flatten().max().map_or(0, |&top| top + 1);
    for dest in (0..fabric.terminal_count()).map(TerminalId::new) {
        for lid in 0..tables[1].paths() {
            let connected = |may: &dyn Fn(SwitchId) -> [bool; 2]| {
                let mut known = vec![None; fabric.switch_count()];
                let mut all = (0..fabric.switch_count()).map(SwitchId::new);
                all.by_ref().for_each(|s| {
                    arrives(fabric, (tables, dest, lid), may, s, &mut known);
                });
                known
            };
            let [old, new] = [connected(&|_| [true, false]), connected(&|_| [false, true])];
            for now in 0..stages {
                let now = connected(&|s: SwitchId| match ranks[s.index()] {
                    Some(rank) => [rank >= now, rank <= now],
                    None => [true, true],
                });
                for t in fabric.terminals() {
                    let s = t.switch.index();
                    let both = old[s] == Some(true) && new[s] == Some(true);
                    assert!(!both || now[s] == Some(true), "{s} to {dest:?} {lid} is lost");
                }
            }
        }
    }
}

/// Whether packets at a switch arrive whichever of the entries in place they follow.
fn arrives(
    fabric: &Fabric,
    (tables, dest, lid): ([&Routes; 2], TerminalId, usize),
    may: &dyn Fn(SwitchId) -> [bool; 2],
    at: SwitchId,
    known: &mut Vec<Option<bool>>,
) -> bool {
    if at == fabric.terminal(dest).switch {
        known[at.index()] = Some(true);
        return true;
    }
    if let Some(known) = known[at.index()] {
        return known;
    }
    // What comes back here does not arrive.
    known[at.index()] = Some(false);
    let all = (0..2).filter(|&k| may(at)[k]).all(|k| {
        let port = tables[k].lft_entry(fabric, at, DestId::terminal(dest), lid);
        match port.map(|port| fabric.at_port(at, port)) {
            Some(AtPort::Switch(_, next)) => arrives(fabric, (tables, dest, lid), may, next, known),
            _ => false,
        }
    });
    known[at.index()] = Some(all);
    all
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

/// Ports by destination and switch of a mesh of nine switches; 255: no entry.
type Ports = [[u8; 9]; 9];

/// A switch has no entry for a destination, and its new one closes a circle with an order that keeps all pairs.
const WITHOUT_AN_ENTRY: [Ports; 2] = [
    [
        [1, 5, 5, 4, 4, 3, 4, 4, 3],
        [4, 1, 5, 4, 3, 3, 4, 3, 3],
        [4, 4, 1, 4, 3, 3, 4, 3, 3],
        [4, 2, 2, 1, 5, 5, 4, 3, 3],
        [4, 4, 2, 4, 1, 255, 4, 4, 3],
        [4, 4, 2, 4, 4, 1, 4, 3, 3],
        [4, 2, 5, 3, 2, 5, 1, 5, 5],
        [4, 2, 5, 4, 2, 5, 3, 1, 5],
        [4, 4, 2, 4, 4, 2, 3, 4, 1],
    ],
    [
        [1, 5, 5, 4, 4, 3, 4, 4, 3],
        [4, 1, 5, 4, 3, 3, 4, 3, 3],
        [4, 4, 1, 4, 3, 3, 4, 3, 3],
        [2, 5, 2, 1, 5, 5, 4, 3, 3],
        [4, 2, 2, 3, 1, 5, 4, 4, 3],
        [4, 4, 2, 4, 4, 1, 4, 3, 3],
        [2, 2, 5, 2, 5, 5, 1, 5, 5],
        [4, 2, 5, 4, 2, 5, 3, 1, 5],
        [4, 4, 2, 4, 4, 2, 3, 4, 1],
    ],
];

#[test]
fn fewer_pairs_are_kept_rather_than_no_order_found() {
    let fabric = families::topology("mesh:dims=3x3,t=1").fabric;
    let [old, new] = WITHOUT_AN_ENTRY.map(|ports| {
        let mut routes = routed(&fabric, "updn", 0).expect("a mesh");
        for (d, ports) in ports.iter().enumerate() {
            let row = routes.row(DestId::new(d), 0);
            for (s, &port) in ports.iter().enumerate() {
                let at = fabric.at_port(SwitchId::new(s), port);
                let is_home = matches!(at, AtPort::Terminal(t) if t.index() == d);
                routes.ports_mut(row)[s] = if is_home { DELIVER } else { port };
            }
        }
        routes
    });
    assert!(check(&fabric, &new).complete());
    let states = [Before { routes: &old, has_levels: true }];
    let t = transition::check(&fabric, &states, &new, None).expect("one fabric");
    assert_eq!((t.verdict, t.keeps_pairs), (Rung::Stages, false), "{:?}", t.rungs);
    stages_are_sound(&fabric, &[&old], &new, &t);
}

/// Fabrics that are small enough to search all orders of writes and packets.
const SMALL: &[&str] = &[
    "torus:dims=5,t=1",
    "torus:dims=7,t=1",
    "torus:dims=4x2,t=1",
    "mesh:dims=4x2,t=1",
    "hyperx:dims=4x2,t=1",
    "jellyfish:n=6,d=3,p=1",
    "jellyfish:n=7,d=4,p=1",
    "jellyfish:n=8,d=3,p=1",
];

/// The states that the packets of a witness can reach.
fn search(fabric: &Fabric, tables: [&Routes; 2], witness: &Witness, at_once: bool) -> Reach {
    let packets: Vec<Packet> = witness
        .links
        .iter()
        .map(|l| Packet { source: l.source, dest: l.dest, lid: l.path })
        .collect();
    reach(fabric, tables, &packets, at_once, 300_000)
}

/// Five packets of a lane, between any terminals that have a connection in it by either of the tables.
fn some_packets(fabric: &Fabric, tables: [&Routes; 2], lane: u8, dice: &mut Dice) -> Vec<Packet> {
    let n = fabric.terminal_count();
    let mut found = Vec::new();
    for _ in 0..200 {
        let [source, dest] = [dice.below(n), dice.below(n)].map(TerminalId::new);
        let of = |r: &&Routes| r.layer_on(fabric, source, r.row(DestId::terminal(dest), 0)) == lane;
        if source != dest && found.len() < 5 && tables.iter().any(of) {
            found.push(Packet { source, dest, lid: 0 });
        }
    }
    found
}

#[test]
fn packets_of_a_witness_deadlock() {
    packets_of_witnesses(250);
}

#[test]
#[ignore = "slow: more pairs of tables, in the nightly tier"]
fn packets_of_many_witnesses_deadlock() {
    packets_of_witnesses(1_500);
}

/// Share of witnesses whose packets can deadlock on their own. Tables whose steady state (O2) may deadlock do so with
/// exactly these packets; those that may deadlock while they are written (O4) mostly do.
#[expect(clippy::print_stdout, reason = "shares are worth to be seen")]
fn packets_of_witnesses(most: usize) {
    let mut dice = Dice(11);
    // Counts of: reached, never, undecided.
    let (mut steady, mut mix) = ([0u32; 3], [0u32; 3]);
    let (mut pairs, mut proved) = (0, 0);
    while pairs < most {
        let fabric = families::topology(SMALL[dice.below(SMALL.len())]).fabric;
        let mut any = || routed(&fabric, ENGINES[dice.below(ENGINES.len())], 0);
        let (Some(a), Some(b), Some(new)) = (any(), any(), any()) else { continue };
        let old = mixed(&fabric, a, &b, &mut dice);
        let (before, after) = (check(&fabric, &old), check(&fabric, &new));
        if !(before.complete()
            && before.deadlock_free()
            && after.complete()
            && after.deadlock_free())
        {
            continue;
        }
        pairs += 1;
        let states = [Before { routes: &old, has_levels: true }];
        let t = transition::check(&fabric, &states, &new, None).expect("one fabric");
        if t.holds(Obligation::Steady) && t.holds(Obligation::Mixed) && t.changes.entries > 0 {
            proved += 1;
            let lanes = 1 + new.layer_count().max(old.layer_count()) as u8;
            for lane in 0..lanes {
                let packets = some_packets(&fabric, [&old, &new], lane, &mut dice);
                let found = reach(&fabric, [&old, &new], &packets, false, 100_000);
                assert!(
                    !matches!(found, Reach::Deadlock(_)),
                    "any order is safe, and {packets:?} wait"
                );
            }
        }
        for judged in &t.obligations {
            let Some(Why::Cycle(witness)) = &judged.fails else { continue };
            let (counts, at_once) = match judged.obligation {
                Obligation::Steady => (&mut steady, true),
                Obligation::Mixed => (&mut mix, false),
                _ => continue,
            };
            counts[match search(&fabric, [&old, &new], witness, at_once) {
                Reach::Deadlock(_) => 0,
                Reach::Never => 1,
                Reach::Undecided => 2,
            }] += 1;
        }
    }
    assert_eq!((steady[1], steady[2]), (0, 0), "what may deadlock in the steady state does");
    // Enough of both to say so, whatever the number of pairs.
    let of = |found: u32| most / found.max(1) as usize;
    assert!(of(steady[0]) < 60 && of(mix[0]) < 30, "{steady:?} {mix:?}");
    println!(
        "{pairs} pairs of tables; deadlock reached, never, undecided with the packets of the witness: O2 {steady:?}, O4 {mix:?}; \
         {proved} may be written in any order, and no packets that were tried came to wait for each other"
    );
}
