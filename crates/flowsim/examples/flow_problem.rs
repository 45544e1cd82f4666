//! Runs a flow problem, and writes it down for another simulator to run: channels, paths and flows.
//!
//! `cargo run --release -p darkfiber-flowsim --example flow_problem -- FABRIC ENGINE TRAFFIC BYTES [PROBLEM TIMES]`
//!
//! FABRIC is a generator or a file. TRAFFIC is `permutation:ROUNDS` (random ones, one after the other), `shift` (all shifts, one after the other) or
//! `all-pairs` (at once). Prints the processor time of the simulation alone; `benches/flow/simgrid.cpp` runs the same.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path as FilePath;
use std::sync::Arc;

use darkfiber_fabric::{TerminalId, open};
use darkfiber_flowsim::{Flows, Network, Options, Path};
use darkfiber_formats::read_fabric;
use darkfiber_routing::{Request, find_engine};
use darkfiber_workload::Stream;
use darkfiber_workload::play::{Job, Player, Record, Repeat, host, run};
use darkfiber_workload::schedule::{Program, Script};

type Phase = Vec<(u32, u32)>;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [spec, engine, traffic, bytes, rest @ ..] = args.as_slice() else {
        return Err("FABRIC ENGINE TRAFFIC BYTES [PROBLEM TIMES]".into());
    };
    let bytes: u64 = bytes.parse()?;
    let path = FilePath::new(spec);
    let topology = if path.is_file() {
        read_fabric(path, &darkfiber_formats::edges::Options::default())?.0
    } else {
        open(spec)?
    };
    let (fabric, shape) = (&topology.fabric, topology.shape.as_ref());
    let routes = find_engine(engine)
        .map_err(|e| e.to_string())?
        .route(fabric, &Request { shape, ..Request::default() })?;
    let phases = phases(traffic, fabric.terminal_count() as u32)?;
    let host = host("ideal")?;
    if let [problem, _] = rest {
        std::fs::write(
            problem,
            written(&mut Network::new(fabric, &routes, host), &phases, bytes)?,
        )?;
    }
    let mut program = Program::new(fabric.terminal_count() as u32);
    for phase in &phases {
        let mut script = Script::new(fabric.terminal_count() as u32);
        for &(from, to) in phase {
            script.message(from, to, bytes, 0);
        }
        program.then_together(Arc::new(script.finish_block()?), 1);
    }
    let terminals = (0..fabric.terminal_count()).map(TerminalId::new).collect();
    let jobs = [Job { program: Arc::new(program), terminals, start: 0, repeat: Repeat::Once }];
    let mut records: Vec<Record> = Vec::with_capacity(phases.iter().map(Vec::len).sum());
    let mut flows = Flows::new(Network::new(fabric, &routes, host), host, Options::default());
    let begin = cpu()?;
    let mut player = Player::new(&jobs, host);
    run(&mut player, &mut flows, &mut |r| records.push(*r))?;
    let seconds = cpu()? - begin;
    println!(
        "darkfiber {seconds:.6} s cpu, {} flows, {} solves, {} events, simulated {:.9} s",
        flows.flow_count(),
        flows.solve_count(),
        player.events(),
        player.runs(0)[0].end as f64 / 1e12
    );
    if let [_, times] = rest {
        records.sort_by_key(|r| (r.epoch, r.op));
        let mut text = String::new();
        let mut found = std::collections::BTreeMap::new();
        for r in &records {
            found.insert((r.epoch, r.from, r.to), (r.arrived - r.departed) as f64 / 1e12);
        }
        for (epoch, phase) in (0..).zip(&phases) {
            for &(from, to) in phase {
                writeln!(text, "{:.15}", found[&(epoch, from, to)])?;
            }
        }
        std::fs::write(times, text)?;
    }
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

fn phases(traffic: &str, n: u32) -> Result<Vec<Phase>, Box<dyn Error>> {
    let (kind, rounds) = traffic.split_once(':').unwrap_or((traffic, "1"));
    Ok(match kind {
        "permutation" => (0..rounds.parse()?)
            .map(|round| {
                let mut to: Vec<u32> = (0..n).collect();
                Stream::new(1, round).shuffle(&mut to);
                (0..n).zip(to).filter(|(a, b)| a != b).collect()
            })
            .collect(),
        "shift" => (1..n).map(|d| (0..n).map(|i| (i, (i + d) % n)).collect()).collect(),
        "all-pairs" => vec![
            (0..n).flat_map(|i| (0..n).filter(move |&j| j != i).map(move |j| (i, j))).collect(),
        ],
        _ => return Err(format!("unknown traffic {kind}").into()),
    })
}

fn written(
    network: &mut Network<'_>,
    phases: &[Phase],
    bytes: u64,
) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    writeln!(text, "channels {}", network.capacities().len())?;
    for c in network.capacities() {
        writeln!(text, "{:.3}", c * 1e12)?;
    }
    writeln!(text, "hosts {}", network.fabric().terminal_count())?;
    let mut pairs: Vec<(u32, u32)> = phases.iter().flatten().copied().collect();
    pairs.sort_unstable();
    pairs.dedup();
    writeln!(text, "routes {}", pairs.len())?;
    let path = |&(from, to): &(u32, u32)| Path::new(TerminalId(from), TerminalId(to), 0);
    let mut paths: Vec<Path> = pairs.iter().map(path).collect();
    network.follow(&mut paths);
    for p in &paths {
        p.latency.ok_or("a pair without a route")?;
        write!(text, "{} {} {}", p.from.0, p.to.0, p.channels.len())?;
        for c in &p.channels {
            write!(text, " {c}")?;
        }
        text.push('\n');
    }
    writeln!(text, "phases {}", phases.len())?;
    for phase in phases {
        writeln!(text, "flows {}", phase.len())?;
        for (from, to) in phase {
            writeln!(text, "{from} {to} {bytes}")?;
        }
    }
    Ok(text)
}
