//! Figure 8: an Alltoall of 28 nodes.

use std::sync::Arc;

use darkfiber_fabric::{ChannelId, SwitchId, TerminalId, Topology, open};
use darkfiber_routing::{Request, find_engine};
use darkfiber_workload::Stream;
use darkfiber_workload::play::{Job, Repeat, host};
use darkfiber_workload::traffic::{Ranks, traffic};
use rayon::prelude::*;

use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};
use darkfiber_scenario::{Setup, simulate};

/// Sets of nodes: five seeds of four each.
const SETS: u64 = 20;
const OF_A_SEED: usize = 4;
const NODES: usize = 28;
const SWITCHES: usize = 10;
const ENGINES: [&str; 4] = ["ftree", "dfsssp", "sar", "sar-best"];

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SAR-F8",
    title: "Alltoall of 1 MiB on 28 nodes of ten switches: ftree, dfsssp and sar (figure 8)",
    paper: "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, section 4.3.4, figure 8",
    setup: "@taurus, 28 nodes on ten leaf switches of one island at random, ranks in the order of nodes, hosts that cost nothing, flows; \
     nobody else sends. Every rank sends 1 MiB to every other (Open MPI's algorithm). 20 sets of nodes, where the paper has \
     one that its machine happened to have, beside whatever else ran. The abstract calls the 17.6 % throughput; figure 8 and \
     the text have run times.",
    class: Class::Shape,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let taurus = open("@taurus").expect("a preset");
    let times: Vec<[f64; 4]> = (0..SETS)
        .into_par_iter()
        .map(|set| {
            (context.at)(&format!("set {}", set + 1));
            let seats = seats(&taurus, &mut Stream::new(context.seed, set));
            ENGINES.map(|engine| seconds(&taurus, engine, &seats))
        })
        .collect();
    let column = |e: usize| times.iter().map(|t| t[e] * 1e3).collect::<Vec<f64>>();
    let mean = |e: usize| column(e).iter().sum::<f64>() / SETS as f64;
    (context.draw)(Figure {
        name: "alltoall",
        title: "Alltoall of 1 MiB on 28 nodes of @taurus".to_owned(),
        subtitle: "20 sets of nodes on ten leaf switches of an island, by engine".to_owned(),
        what: Drawn::Boxes {
            unit: "ms",
            groups: vec![Group {
                name: String::new(),
                boxes: (0..ENGINES.len()).map(|e| (ENGINES[e].to_owned(), column(e))).collect(),
            }],
        },
    });
    let over = |a: usize, b: usize| -> Vec<f64> {
        let sum = |of: &[[f64; 4]], e: usize| of.iter().map(|t| t[e]).sum::<f64>();
        times.chunks(OF_A_SEED).map(|of| sum(of, a) / sum(of, b)).collect()
    };
    let [ftree, dfsssp, sar, best] = [0, 1, 2, 3];
    let mut rows: Vec<Row> = (0..ENGINES.len())
        .map(|e| Row::told(format!("{}: mean, ms", ENGINES[e]), mean(e)))
        .collect();
    rows.extend([
        Row::order("dfsssp over ftree, time", &over(dfsssp, ftree)),
        Row::order("ftree over sar, time", &over(ftree, sar)),
        Row::derived(
            "sar over dfsssp, time",
            1.0 - 0.176,
            mean(sar) / mean(dfsssp),
            Allowed::Between(0.75, 0.95),
        ),
        Row::new(
            "dfsssp over ftree, % longer",
            7.1,
            100.0 * (mean(dfsssp) / mean(ftree) - 1.0),
            Allowed::Rule,
        ),
        Row::new(
            "sar over ftree, % shorter",
            11.7,
            100.0 * (1.0 - mean(sar) / mean(ftree)),
            Allowed::Rule,
        ),
        Row::told("sar-best over dfsssp, time", mean(best) / mean(dfsssp))
            .noted("not in the paper"),
    ]);
    rows
}

/// Nodes on ten leaf switches of one island, each of which has one at least.
fn seats(taurus: &Topology, random: &mut Stream) -> Vec<TerminalId> {
    let fabric = &taurus.fabric;
    let hosts =
        |s: SwitchId| -> Vec<TerminalId> { fabric.terminals_on(s).map(TerminalId::new).collect() };
    let leaves: Vec<SwitchId> = (0..fabric.switch_count())
        .map(SwitchId::new)
        .filter(|&s| hosts(s).len() >= NODES.div_ceil(SWITCHES))
        .collect();
    let next = |s: SwitchId| -> Vec<SwitchId> {
        fabric.channels_from(s).map(|c| fabric.head(ChannelId::new(c))).collect()
    };
    // Leaves of an island have a switch above them in common.
    let island = loop {
        let first = leaves[random.below(leaves.len() as u32) as usize];
        let above = next(first);
        let of: Vec<SwitchId> = leaves
            .iter()
            .copied()
            .filter(|&s| s == first || next(s).iter().any(|a| above.contains(a)))
            .collect();
        if of.len() >= SWITCHES {
            break of;
        }
    };
    let mut island = island;
    random.shuffle(&mut island);
    let mut chosen: Vec<TerminalId> = Vec::new();
    let mut others: Vec<TerminalId> = Vec::new();
    for &s in &island[..SWITCHES] {
        let mut all = hosts(s);
        random.shuffle(&mut all);
        chosen.push(all[0]);
        others.extend(&all[1..]);
    }
    random.shuffle(&mut others);
    chosen.extend(&others[..NODES - SWITCHES]);
    chosen.sort_unstable();
    chosen
}

/// Duration under an engine that gets the placement of the job.
fn seconds(taurus: &Topology, engine: &str, seats: &[TerminalId]) -> f64 {
    let jobs = [seats.to_vec()];
    let request = Request { shape: taurus.shape.as_ref(), jobs: &jobs, ..Request::default() };
    let engine = find_engine(engine).expect("registered");
    let routes = engine.route(&taurus.fabric, &request).expect("it routes trees");
    let program = traffic("imb:op=alltoall,bytes=1MiB,repeat=1", &Ranks::new(NODES as u32))
        .expect("any number of ranks");
    let jobs = [Job {
        program: Arc::new(program),
        terminals: seats.to_vec(),
        start: 0,
        repeat: Repeat::Once,
    }];
    let ideal = host("ideal").expect("registered");
    let found = simulate(&Setup::new(taurus, &routes, ideal, &jobs), &mut |_| ());
    found.expect("everybody receives what is sent").end as f64 * 1e-12
}
