//! Load that tables for jobs put on all other pairs, by the share of hosts that run jobs.
//!
//! For each fabric, placement and share: the largest load over all pairs of terminals relative to that of `dfsssp`, the
//! largest load inside jobs relative to that of `dfsssp`, virtual layers, and the forced part of the first: the largest load
//! by pairs whose every entry is on a path inside a job, so that no other tables with these paths have less. Means over
//! seeds.
//!
//! `cargo run --release -p darkfiber-routing --example jobs_curve [SEEDS [FABRIC...]]`

#![expect(clippy::print_stdout, reason = "a table for people")]

use std::fmt::Write;

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId, open};
use darkfiber_routing::check::check;
use darkfiber_routing::{DestId, Request, Routes, find_engine};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

const FABRICS: [&str; 7] = [
    "@taurus",
    "@tsubame25",
    "@t2hx-hyperx",
    "fattree2:n=12,m=12,r=18",
    "dragonfly:p=3,a=6,h=3",
    "torus:dims=6x6x6,t=1",
    "jellyfish:n=72,d=9,p=3",
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(3);
    let named: Vec<String> = arguments.collect();
    let fabrics = if named.is_empty() { FABRICS.map(str::to_owned).to_vec() } else { named };
    println!("fabric, jobs, percent of hosts: engine EFI, jobs' EFI, layers, forced EFI; ...");
    for spec in &fabrics {
        for (jobs, size) in [("one at random", None), ("many of 28 in pieces", Some(28))] {
            for percent in [5, 10, 25, 50, 75, 90, 100] {
                row(spec, (jobs, size), percent, seeds);
            }
        }
    }
}

/// Prints one row of the table.
fn row(spec: &str, (name, size): (&str, Option<usize>), percent: usize, seeds: u64) {
    let Ok(on) = open(spec) else {
        println!("{spec}: no such fabric");
        return;
    };
    let mut line = format!("{spec}, {name}, {percent} %:");
    for engine in ["sar", "sar-minmax", "sar-best"] {
        let (mut all, mut inside, mut bound, mut layers) = (0.0, 0.0, 0.0, 0);
        for seed in 0..seeds {
            let jobs = jobs(&on.fabric, size, percent, seed);
            let largest = |engine: &str| {
                let request =
                    Request { shape: on.shape.as_ref(), jobs: &jobs, ..Request::default() };
                let routes = find_engine(engine).ok()?.route(&on.fabric, &request).ok()?;
                let all = check(&on.fabric, &routes).load.into_iter().max()?;
                let inside = within(&on.fabric, &routes, &jobs);
                Some((all, inside, routes.layer_count(), forced(&on.fabric, &routes, &jobs)))
            };
            let (Some(usual), Some(ours)) = (largest("dfsssp"), largest(engine)) else { continue };
            all += ours.0 as f64 / usual.0 as f64 / seeds as f64;
            inside += ours.1 as f64 / usual.1.max(1) as f64 / seeds as f64;
            layers = layers.max(ours.2);
            bound += ours.3 as f64 / usual.0 as f64 / seeds as f64;
        }
        let _ = write!(line, " {engine} {all:.2}, {inside:.2}, {layers}, {bound:.2};");
    }
    println!("{line}");
}

/// One job, or jobs of a size, on `percent` percent of the hosts.
fn jobs(fabric: &Fabric, size: Option<usize>, percent: usize, seed: u64) -> Vec<Vec<TerminalId>> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut below = |n: usize| (random.next_u64() % n as u64) as usize;
    let mut hosts: Vec<TerminalId> = (0..fabric.terminal_count()).map(TerminalId::new).collect();
    if size.is_none() {
        for i in (1..hosts.len()).rev() {
            hosts.swap(i, below(i + 1));
        }
    } else {
        let mut pieces: Vec<Vec<TerminalId>> = Vec::new();
        while !hosts.is_empty() {
            pieces.push(hosts.drain(..(1 + below(5)).min(hosts.len())).collect());
        }
        while !pieces.is_empty() {
            hosts.extend(pieces.swap_remove(below(pieces.len())));
        }
    }
    hosts.truncate(fabric.terminal_count() * percent / 100);
    hosts.chunks(size.unwrap_or(hosts.len().max(1))).map(<[TerminalId]>::to_vec).collect()
}

/// Maximum number of paths inside jobs on a channel.
fn within(fabric: &Fabric, routes: &Routes, jobs: &[Vec<TerminalId>]) -> u64 {
    let mut load = vec![0; fabric.channel_count()];
    for job in jobs {
        for &dest in job {
            let ports = routes.ports(routes.row(DestId::terminal(dest), 0));
            for &source in job {
                let mut at = fabric.terminal(source).switch;
                while let AtPort::Switch(c, head) = fabric.at_port(at, ports[at.index()]) {
                    load[c.index()] += 1;
                    at = head;
                }
            }
        }
    }
    load.into_iter().max().unwrap_or(0)
}

/// Maximum number of paths on a channel, of all pairs that take only entries on paths inside jobs.
fn forced(fabric: &Fabric, routes: &Routes, jobs: &[Vec<TerminalId>]) -> u64 {
    let mut load = vec![0; fabric.channel_count()];
    let mut senders: Vec<Vec<TerminalId>> = vec![Vec::new(); fabric.terminal_count()];
    for job in jobs {
        for &dest in job {
            senders[dest.index()].extend(job);
        }
    }
    for (dest, senders) in senders.into_iter().enumerate().filter(|(_, s)| !s.is_empty()) {
        let ports = routes.ports(routes.row(DestId::new(dest), 0));
        let next = |at: SwitchId| match fabric.at_port(at, ports[at.index()]) {
            AtPort::Switch(c, head) => Some((c, head)),
            _ => None,
        };
        let mut is_held = vec![false; fabric.switch_count()];
        for source in senders {
            let mut at = fabric.terminal(source).switch;
            while let Some((_, head)) = next(at) {
                is_held[at.index()] = true;
                at = head;
            }
        }
        // The entries after one on such a path are on it, too.
        for terminal in fabric.terminals() {
            let mut at = terminal.switch;
            while is_held[at.index()]
                && let Some((c, head)) = next(at)
            {
                load[c.index()] += 1;
                at = head;
            }
        }
    }
    load.into_iter().max().unwrap_or(0)
}
