//! The placement of a new job among fifteen others, and its cost for it and them; no paper shows it.

use darkfiber_analysis::heat::{Flow, Heat};
use darkfiber_analysis::place::PlacementRequest;
use darkfiber_fabric::TerminalId;
use darkfiber_workload::Stream;
use darkfiber_workload::placement::{ALLOCATORS, Free, allocator};
use rayon::prelude::*;

use super::contest::{Contest, longer, most, with_model};
use super::lab::{Lab, RANKS};
use crate::reproduce::{Class, Context, Experiment, Row, USUAL};
use darkfiber_scenario::LidsPart;

/// Placements of the others.
const PLACEMENTS: u64 = 3;
/// Jobs that are placed.
const WHO: [&str; 2] = ["bis", "nn"];
/// Placement methods.
const METHODS: [&str; 3] = ["random", "linear", "proposed"];

/// Results of a method: the job's own time and its slowdown against isolation, and the slowdown of the worst of the others.
type MethodResult = [(f64, f64, f64); 3];

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-PLACE",
    title: "A new job beside fifteen on Cab: hosts at random, side by side, and as darkfiber place proposes",
    paper: "no paper: the workloads of Smith et al., SC'18",
    setup: with_model!(
        "Three placements of the 16-job workload. The last bis (nn) job is taken away and placed anew on the hosts that \
         are free then: at random (as it was), linear (side by side where there is room, else the lowest), and as \
         `darkfiber place` proposes, tables of ftree. Times over those by itself on the same hosts. Nothing is judged. "
    ),
    class: Class::Substitute,
    seconds: 300.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let cases: Vec<(&str, u64)> =
        WHO.iter().flat_map(|who| (0..PLACEMENTS).map(move |i| (*who, i))).collect();
    let seen: Vec<MethodResult> = cases
        .par_iter()
        .with_max_len(1)
        .map(|&(who, i)| {
            (context.at)(&format!("{who}, placement {}", i + 1));
            placed(&lab, who, context.seed + i)
        })
        .collect();
    let mut rows = Vec::new();
    for who in WHO {
        for (method, name) in METHODS.iter().enumerate() {
            let of: Vec<(f64, f64, f64)> = (cases.iter().zip(&seen))
                .filter(|((w, _), _)| *w == who)
                .map(|(_, seen)| seen[method])
                .collect();
            let mean = |of: Vec<f64>| of.iter().sum::<f64>() / of.len() as f64;
            let what = |of: &str| format!("{who}, {name}: {of}");
            rows.push(Row::told(what("time, mean, s"), mean(of.iter().map(|s| s.0).collect())));
            rows.push(Row::told(what("longer, mean, %"), mean(of.iter().map(|s| s.1).collect())));
            let others = most(of.iter().map(|s| s.2));
            rows.push(Row::told(what("worst of the others, % longer"), others));
        }
    }
    rows
}

fn placed(lab: &Lab, who: &str, seed: u64) -> MethodResult {
    let fabric = &lab.topology().fabric;
    let machine = lab.machine();
    let contest = Contest::new(lab, 16, seed);
    let job = contest.names.iter().rposition(|n| *n == who).expect("it is there");
    let alone = contest.alone(lab, lab.routes(), LidsPart::Engine, seed);
    let mut is_free = vec![true; machine.len()];
    let mut host_of = vec![0; fabric.terminal_count()];
    for h in 0..machine.len() as u32 {
        for t in machine.terminals(h) {
            host_of[t.index()] = h;
        }
    }
    let hosts_of = |j: usize| -> Vec<u32> {
        contest.terminals(j).chunks(RANKS as usize).map(|of| host_of[of[0].index()]).collect()
    };
    for j in (0..contest.names.len()).filter(|&j| j != job) {
        for h in hosts_of(j) {
            is_free[h as usize] = false;
        }
    }
    let random = hosts_of(job);
    let free = Free { machine, is_free: &is_free };
    let give = |name: &str| {
        let by = allocator(name).expect("registered");
        by.allocate(&free, random.len(), &mut Stream::new(seed, 0)).expect("there is room")
    };
    // Its traffic from host to host, by its previous hosts.
    let slot_of = |t: TerminalId| {
        let host = host_of[t.index()];
        random.iter().position(|h| *h == host).expect("its own host") as u32
    };
    let (own, others): (Vec<&Flow>, Vec<&Flow>) =
        contest.flows.iter().partition(|f| f.job as usize == job);
    let sent: Vec<(u32, u32, u64)> =
        own.iter().map(|f| (slot_of(f.from), slot_of(f.to), f.bytes)).collect();
    let others: Vec<Flow> = others.into_iter().copied().collect();
    let heat = Heat::of(fabric, lab.routes(), &others, contest.names.len());
    let usable: Vec<u32> = free.hosts().collect();
    let terminals: Vec<Vec<TerminalId>> =
        usable.iter().map(|&h| machine.terminals(h).to_vec()).collect();
    let placing = PlacementRequest {
        fabric,
        routes: lab.routes(),
        hosts: &terminals,
        sent: &sent,
        flows: &others,
        now: &heat,
    };
    let begins: Vec<Vec<u32>> = ALLOCATORS
        .iter()
        .filter_map(|a| a.allocate(&free, random.len(), &mut Stream::new(seed, 0)))
        .map(|hosts| {
            let place = |h: &u32| usable.binary_search(h).expect("it is free") as u32;
            hosts.iter().map(place).collect()
        })
        .collect();
    let proposed = placing.best(&begins, seed).expect("random always gives");
    let proposed: Vec<u32> = proposed.hosts.iter().map(|&h| usable[h as usize]).collect();
    [random.clone(), give("linear"), proposed].map(|hosts| {
        let terminals =
            darkfiber_scenario::rank_terminals(&hosts, RANKS, |h| machine.terminals(h).to_vec());
        let moved = contest.moved(job, terminals);
        let own = moved.alone_of(job, lab, lab.routes(), LidsPart::Engine, seed);
        let fared = moved.together(lab, lab.routes(), LidsPart::Engine, seed);
        let time = fared[job].seconds;
        let others = (0..fared.len()).filter(|&j| j != job);
        (time, longer(time, own), most(others.map(|j| longer(fared[j].seconds, alone[j]))))
    })
}
