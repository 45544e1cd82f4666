//! Transitions that the checker refuses, packet by packet: the connections that its witness names send continuously, switches
//! are written in an order in which the search of all orders found a deadlock, and the run deadlocks, too.

#![expect(clippy::print_stdout, reason = "shares are worth to be seen")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use darkfiber_fabric::Fabric;
use darkfiber_packetsim::update::Delays;
use darkfiber_routing::check::check;
use darkfiber_routing::transition::{self, Before, Held, Obligation, Why};
use darkfiber_routing::{Layers, Routes};
use darkfiber_scenario::{Case, HowPart, Memory, ScenarioFile, SimError, UpdateCase};
use darkfiber_testkit::families;
use darkfiber_testkit::pairs::{Dice, ENGINES, mixed, routed};
use darkfiber_testkit::reach::{Packet, Reach, reach};

const FABRICS: &[&str] = &[
    "torus:dims=5,t=1",
    "torus:dims=7,t=1",
    "torus:dims=4x2,t=1",
    "hyperx:dims=4x2,t=1",
    "jellyfish:n=7,d=4,p=1",
    "jellyfish:n=8,d=3,p=1",
];

/// Runs of an order of writes, until one deadlocks.
const TRIES: usize = 9;

/// Every link of a witness is a stream of 2 MiB from its source to its destination, from the beginning on.
fn streams(spec: &str, fabric: &Fabric, links: &[Held], beside: u64) -> Case {
    let n = fabric.terminal_count();
    let mut ranks: BTreeMap<usize, String> = BTreeMap::new();
    let named: BTreeSet<(usize, usize)> =
        links.iter().map(|l| (l.source.index(), l.dest.index())).collect();
    let all = (0..n).flat_map(|from| (0..n).map(move |to| (from, to)));
    for (tag, (from, to)) in all.filter(|(from, to)| from != to).enumerate() {
        let bytes = if named.contains(&(from, to)) { 2 << 20 } else { beside };
        if bytes == 0 {
            continue;
        }
        let send = ranks.entry(from).or_default();
        writeln!(send, "s{tag}: send {bytes}b to {to} tag {tag}").expect("text");
        let receive = ranks.entry(to).or_default();
        writeln!(receive, "r{tag}: recv {bytes}b from {from} tag {tag}").expect("text");
    }
    let mut goal = format!("num_ranks {n}\n");
    for rank in 0..n {
        let own = ranks.get(&rank).map_or("c: calc 1\n", String::as_str);
        write!(goal, "rank {rank} {{\n{own}}}\n").expect("text");
    }
    let text = format!(
        "fabric = \"{spec}\"\ndepth = \"packet\"\n[routes]\nengine = \"minhop\"\n[packets]\nbuffer = \"4KiB\"\nqueues = \"lanes\"\n\
         [[job]]\nfiles = [\"streams.goal\"]\n"
    );
    let files = Memory::new([("streams.goal", goal.as_bytes())]).expect("a directory");
    let file = ScenarioFile::parse(&text, "s.toml").expect("a scenario");
    file.resolve(&files, &mut ()).unwrap_or_else(|e| panic!("{e}"))
}

/// The levels that connections have: those of a table, and those of the witness for its packets.
fn levels(fabric: &Fabric, routes: &Routes, links: &[Held], lane: u8) -> Layers {
    let n = fabric.terminal_count();
    let Layers::BySource(mut all) = routes.layers.clone() else { panic!("levels by source") };
    for l in links {
        all[routes.row(darkfiber_routing::DestId::terminal(l.dest), l.path) * n
            + l.source.index()] = lane;
    }
    Layers::BySource(all)
}

fn deadlocks(case: &Case) -> bool {
    match case.run(None, &mut |_| ()) {
        Ok(done) => done.update.is_some_and(|u| u.deadlock.is_some()),
        Err(SimError::Deadlock(_)) => true,
        Err(e) => panic!("{e}"),
    }
}

#[test]
fn what_is_refused_deadlocks_packet_by_packet() {
    refused_pairs_deadlock(100);
}

#[test]
#[ignore = "slow: more pairs of tables, in the nightly tier"]
fn what_is_refused_deadlocks_in_more_pairs() {
    refused_pairs_deadlock(200);
}

fn refused_pairs_deadlock(most: u32) {
    let mut dice = Dice(11);
    let (mut steady, mut mix) = ([0u32; 2], [0u32; 2]);
    let mut pairs = 0;
    while pairs < most {
        let spec = FABRICS[dice.below(FABRICS.len())];
        let fabric = families::topology(spec).fabric;
        let mut any = || routed(&fabric, ENGINES[dice.below(ENGINES.len())], 0);
        let (Some(a), Some(b), Some(new)) = (any(), any(), any()) else { continue };
        let old = mixed(&fabric, a, &b, &mut dice);
        if [&old, &new].iter().any(|r| {
            let report = check(&fabric, r);
            !report.complete() || !report.deadlock_free()
        }) {
            continue;
        }
        pairs += 1;
        let states = [Before { routes: &old, has_levels: true }];
        let t = transition::check(&fabric, &states, &new, None).expect("one fabric");
        for judged in &t.obligations {
            let Some(Why::Cycle(witness)) = &judged.fails else { continue };
            let links = &witness.links;
            match judged.obligation {
                // New entries, and connections at the levels that they were given.
                Obligation::Steady => {
                    let mut case = streams(spec, &fabric, links, 0);
                    let routes = Arc::make_mut(&mut case.tables.routes);
                    *routes = new.clone();
                    routes.layers = levels(&fabric, &new, links, witness.lane);
                    steady[usize::from(!deadlocks(&case))] += 1;
                }
                // Old entries, of which some switches have new ones; all others wait until it has deadlocked.
                Obligation::Mixed => {
                    let packet = |l: &Held| Packet { source: l.source, dest: l.dest, lid: l.path };
                    let packets: Vec<Packet> = links.iter().map(packet).collect();
                    let Reach::Deadlock(written) =
                        reach(&fabric, [&old, &new], &packets, false, 300_000)
                    else {
                        continue;
                    };
                    let rank = |s: usize| {
                        let at = written.iter().position(|w| w.index() == s);
                        at.unwrap_or(written.len()) as u32
                    };
                    let ranks: Vec<Option<u32>> = (0..fabric.switch_count())
                        .map(|s| t.changes.switches[s].then(|| rank(s)))
                        .collect();
                    // With less or more background traffic, and other delays.
                    let tried = (0..TRIES).any(|seed| {
                        let mut case = streams(spec, &fabric, links, 1 << (20 - 2 * (seed % 3)));
                        let routes = Arc::make_mut(&mut case.tables.routes);
                        *routes = old.clone();
                        routes.layers = levels(&fabric, &old, links, witness.lane);
                        let update =
                            UpdateCase::new(&fabric, &old, new.clone(), HowPart::Naive, None);
                        let round = [20_000_000, 40_000_000, 5_000_000][seed / 3 % 3];
                        case.update = Some(UpdateCase {
                            how: HowPart::Stages,
                            ranks: Some(ranks.clone()),
                            at: 50_000_000,
                            delays: Delays { block: 1_000_000, round: (round, round), total: None },
                            seed: 1 + seed as u64,
                            ..update.expect("overwriting needs nothing")
                        });
                        deadlocks(&case)
                    });
                    mix[usize::from(!tried)] += 1;
                }
                _ => {}
            }
        }
    }
    println!(
        "{pairs} pairs of tables; runs that deadlocked, and did not: O2 {steady:?}, O4 {mix:?}"
    );
    assert!(
        steady[0] * 40 > most && steady[1] == 0,
        "a steady state that may deadlock does: {steady:?}"
    );
    assert!(mix[0] > mix[1], "most of what may deadlock while it is written does: {mix:?}");
}
