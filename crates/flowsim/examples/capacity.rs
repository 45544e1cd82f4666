//! A machine full of jobs that communicate: the cost of each message in a simulation of flows.
//!
//! `cargo run --release -p darkfiber-flowsim --example capacity -- [FABRIC [ENGINE [TRAFFIC [MILLISECONDS]]]]`
//!
//! Jobs of 32, 40, 48 and 56 ranks in turn, as many as fit, on terminals drawn at random, repeat their traffic until
//! the given number of simulated milliseconds has passed. Prints the processor time of the simulation alone.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::error::Error;
use std::sync::Arc;

use darkfiber_fabric::{TerminalId, open};
use darkfiber_flowsim::{Flows, Network, Options};
use darkfiber_routing::{Request, find_engine};
use darkfiber_workload::Stream;
use darkfiber_workload::play::{Job, Player, Repeat, SECOND, host, run};
use darkfiber_workload::traffic::{Ranks, traffic};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let arg = |i: usize, usual: &str| args.get(i).map_or_else(|| usual.to_owned(), String::clone);
    let topology = open(&arg(0, "hyperx:dims=12x8,t=7"))?;
    let (fabric, shape) = (&topology.fabric, topology.shape.as_ref());
    let routes = find_engine(&arg(1, "dfsssp"))
        .map_err(|e| e.to_string())?
        .route(fabric, &Request { shape, ..Request::default() })?;
    let spec = arg(2, "halo3d:cells=60x60x60,compute=20us,iterations=10");
    let until = arg(3, "20").parse::<u64>()? * (SECOND / 1000);
    let host = host("qdr")?;
    let mut terminals: Vec<u32> = (0..fabric.terminal_count() as u32).collect();
    Stream::new(1, 0).shuffle(&mut terminals);
    let mut jobs = Vec::new();
    for ranks in [32, 40, 48, 56].into_iter().cycle() {
        if terminals.len() < ranks {
            break;
        }
        let own = terminals.split_off(terminals.len() - ranks);
        jobs.push(Job {
            program: Arc::new(traffic(&spec, &Ranks::new(ranks as u32))?),
            terminals: own.into_iter().map(TerminalId).collect(),
            start: 0,
            repeat: Repeat::Until(until),
        });
    }
    let mut flows = Flows::new(Network::new(fabric, &routes, host), host, Options::default());
    // So that a change of any time shows.
    let (mut messages, mut sum) = (0u64, 0u64);
    let begin = cpu()?;
    let mut player = Player::new(&jobs, host);
    run(&mut player, &mut flows, &mut |r| {
        messages += 1;
        sum = sum.rotate_left(5) ^ r.arrived;
    })?;
    let seconds = cpu()? - begin;
    println!(
        "{seconds:.3} s cpu, {} jobs, {messages} messages, {:.0} ns each, {} solves, {} events, sum {sum:016x}",
        jobs.len(),
        seconds * 1e9 / messages as f64,
        flows.solve_count(),
        player.events(),
    );
    Ok(())
}

/// Seconds that this thread was on a processor.
fn cpu() -> Result<f64, Box<dyn Error>> {
    // Linux counts up to the last time that the thread yielded.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split_whitespace().next().ok_or("no time in schedstat")?;
    Ok(nanoseconds.parse::<f64>()? * 1e-9)
}
