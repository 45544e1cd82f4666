//! A schedule on a network without sharing: the cost of making and of running it, and the same for LogGOPSim.
//!
//! `cargo run --release -p darkfiber-workload --example play -- KIND RANKS ROUNDS [GOAL [G]]`
//!
//! KIND is `alltoall` (all messages at once, ROUNDS times), `dissemination` (ROUNDS of them one after the other) or `ring` (each rank sends
//! to the next and receives from the previous one, ROUNDS times, a pipeline), all of 8 B, or a traffic of one schedule, as
//! `imb:op=allreduce,algorithm=ring,bytes=1MiB`. G is nanoseconds per byte, 6 by default. Prints the processor time of both, the peak
//! memory, and the time of the end; writes the schedule as GOAL text if requested. `benches/flow/loggopsim.sh` runs the same on LogGOPSim.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use darkfiber_fabric::TerminalId;
use darkfiber_workload::play::{Host, Job, LogGp, Player, Repeat, host, run};
use darkfiber_workload::schedule::{Op, Program, Schedule, Script};
use darkfiber_workload::traffic::{Ranks, traffic};

// Defaults of LogGOPSim, in picoseconds.
const O: u64 = 1_500_000;
const G: u64 = 1_000_000;
const L: u64 = 2_500_000;
const BYTE: f64 = 6_000.0;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, ranks, rounds, rest @ ..] = args.as_slice() else {
        return Err("KIND RANKS ROUNDS [GOAL [G]]".into());
    };
    let ranks: u32 = ranks.parse()?;
    let begin = cpu()?;
    let schedule = schedule(kind, ranks, rounds.parse()?)?;
    let made = cpu()? - begin;
    let per_byte = match rest {
        [_, ns, ..] => ns.parse::<f64>()? * 1000.0,
        _ => BYTE,
    };
    if let [path, ..] = rest {
        write(&mut std::io::BufWriter::new(std::fs::File::create(path)?), &schedule)?;
    }
    let (operations, bytes) = (schedule.len(), schedule.memory());
    let mut program = Program::new(ranks);
    program.then(Arc::new(schedule.into()), 1);
    let jobs = [Job {
        program: Arc::new(program),
        terminals: (0..ranks).map(TerminalId).collect(),
        start: 0,
        repeat: Repeat::Once,
    }];
    let host = Host { send: O, receive: O, rendezvous: 65_535, ..host("ideal")?.clone() };
    let mut wire = LogGp::new(ranks as usize, L, G, per_byte);
    let mut last = 0;
    let begin = cpu()?;
    let mut player = Player::new(&jobs, &host);
    run(&mut player, &mut wire, &mut |r| last = last.max(r.arrived))?;
    let played = cpu()? - begin;
    println!(
        "{operations} operations of {} bytes made in {made:.3} s and played in {played:.3} s cpu: {:.2} million a \
         second, {} events, end {} ns, {} MiB at most",
        bytes / operations.max(1),
        operations as f64 / played * 1e-6,
        player.events(),
        player.runs(0)[0].end / 1000,
        most()? >> 10,
    );
    Ok(())
}

fn schedule(kind: &str, ranks: u32, rounds: u32) -> Result<Schedule, Box<dyn Error>> {
    if kind.contains(':') {
        let program = traffic(kind, &Ranks::new(ranks))?;
        return match (program.blocks(), program.epochs()) {
            ([one], 1) if let Some(schedule) = one.written() => Ok(schedule.clone()),
            _ => Err(format!("{kind} is not one schedule").into()),
        };
    }
    let mut s = Script::new(ranks);
    for _ in 0..rounds {
        match kind {
            "alltoall" => {
                for rank in 0..ranks {
                    for by in 1..ranks {
                        s.send(rank, (rank + by) % ranks, 8, 0);
                    }
                    for by in 1..ranks {
                        s.recv(rank, (rank + ranks - by) % ranks, 8, 0);
                    }
                    s.wait(rank);
                }
            }
            "dissemination" => {
                let mut by = 1;
                while by < ranks {
                    for rank in 0..ranks {
                        s.send(rank, (rank + by) % ranks, 8, 0);
                        s.recv(rank, (rank + ranks - by) % ranks, 8, 0);
                        s.wait(rank);
                    }
                    by *= 2;
                }
            }
            "ring" => {
                for rank in 0..ranks {
                    s.send(rank, (rank + 1) % ranks, 8, 0);
                    s.recv(rank, (rank + ranks - 1) % ranks, 8, 0);
                    s.wait(rank);
                }
            }
            _ => return Err(format!("unknown kind {kind}").into()),
        }
    }
    Ok(s.finish()?)
}

/// Writes the schedule as GOAL text.
fn write(out: &mut dyn Write, schedule: &Schedule) -> std::io::Result<()> {
    writeln!(out, "num_ranks {}", schedule.ranks())?;
    for rank in 0..schedule.ranks() {
        writeln!(out, "\nrank {rank} {{")?;
        for op in schedule.of(rank) {
            match schedule.op(op) {
                Op::Send { to, bytes, tag } => {
                    writeln!(out, "l{op}: send {bytes}b to {to} tag {tag}")?;
                }
                Op::Recv { from, bytes, tag } => {
                    writeln!(out, "l{op}: recv {bytes}b from {from} tag {tag}")?;
                }
                Op::Put { .. } => return Err(std::io::Error::other("GOAL has no puts")),
                Op::Compute { picoseconds } => writeln!(out, "l{op}: calc {}", picoseconds / 1000)?,
            }
        }
        for op in schedule.of(rank) {
            for (next, is_on_start) in schedule.dependents(op) {
                let requires = if is_on_start { "irequires" } else { "requires" };
                writeln!(out, "l{next} {requires} l{op}")?;
            }
        }
        writeln!(out, "}}")?;
    }
    out.flush()
}

/// Seconds that this thread was on a processor.
fn cpu() -> Result<f64, Box<dyn Error>> {
    // Linux counts up to the last time that the thread yielded.
    std::thread::yield_now();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = text.split_whitespace().next().ok_or("no time in schedstat")?;
    Ok(nanoseconds.parse::<f64>()? * 1e-9)
}

/// The most memory that was in use, in KiB.
fn most() -> Result<u64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}
