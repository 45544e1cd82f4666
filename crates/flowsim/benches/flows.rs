//! Messages as flows: a random permutation, and all pairs at once.
//!
//! `cargo bench -p darkfiber-flowsim --bench flows`

use std::sync::Arc;

use darkfiber_fabric::{TerminalId, parse_spec};
use darkfiber_flowsim::{Flows, Network, Options};
use darkfiber_routing::{Request, find_engine};
use darkfiber_workload::Stream;
use darkfiber_workload::play::{Job, Player, Repeat, host, run};
use darkfiber_workload::schedule::{Program, Script};
use divan::Bencher;
use divan::counter::ItemsCount;

fn main() {
    divan::main();
}

fn played(bencher: Bencher<'_, '_>, spec: &str, engine: &str, pairs: &[(u32, u32)]) {
    let topology = parse_spec(spec).expect("a spec");
    let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
    let engine = find_engine(engine).expect("an engine");
    let routes = engine.route(&topology.fabric, &request).expect("routes");
    let n = topology.fabric.terminal_count() as u32;
    let mut script = Script::new(n);
    for &(from, to) in pairs {
        script.message(from, to, 1_000_000_000, 0);
    }
    let program = Arc::new(Program::once(script.finish().expect("two ends")));
    let terminals = (0..n).map(TerminalId).collect();
    let jobs = [Job { program, terminals, start: 0, repeat: Repeat::Once }];
    let host = host("ideal").expect("known");
    bencher
        .counter(ItemsCount::new(pairs.len()))
        .with_inputs(|| {
            let network = Network::new(&topology.fabric, &routes, host);
            Flows::new(network, host, Options::default())
        })
        .bench_values(|mut flows| {
            let mut player = Player::new(&jobs, host);
            run(&mut player, &mut flows, &mut |_| {}).expect("comes to its end");
            flows.flow_count()
        });
}

fn permutation(n: u32) -> Vec<(u32, u32)> {
    let mut to: Vec<u32> = (0..n).collect();
    Stream::new(1, 0).shuffle(&mut to);
    (0..n).zip(to).filter(|(a, b)| a != b).collect()
}

/// A permutation of 10,000 hosts.
#[divan::bench]
fn fat_tree_permutation(bencher: Bencher<'_, '_>) {
    played(bencher, "fattree2:n=100,m=100,r=100", "dmodk", &permutation(10_000));
}

/// A permutation of 10,100 hosts.
#[divan::bench]
fn dragonfly_permutation(bencher: Bencher<'_, '_>) {
    played(bencher, "dragonfly:p=5,a=20,h=5", "minhop", &permutation(10_100));
}

/// 256 hosts, 65,280 flows.
#[divan::bench]
fn fat_tree_all_pairs(bencher: Bencher<'_, '_>) {
    let pairs: Vec<(u32, u32)> =
        (0..256).flat_map(|a| (0..256).filter(move |b| *b != a).map(move |b| (a, b))).collect();
    played(bencher, "fattree2:n=16,m=16,r=16", "dmodk", &pairs);
}
