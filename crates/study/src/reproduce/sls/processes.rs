//! Figure 6 over processes a node: the offered load of this number of processes, whatever the network delivers.

use std::sync::Arc;

use darkfiber_fabric::TerminalId;
use darkfiber_scenario::{Medium, Setup, rank_terminals, simulate};
use darkfiber_workload::Machine;
use darkfiber_workload::collective::Library;
use darkfiber_workload::play::{Job, Repeat, host};
use darkfiber_workload::traffic::{Ranks, traffic};

use super::lab::Quiet;
use crate::reproduce::{Context, Row};

/// Nodes: an Alltoall of 16 processes on each has a million messages.
const NODES: u32 = 64;
/// Processes of a node.
const PER_NODE: [u32; 3] = [1, 4, 16];
/// Bytes of a message: below the change of algorithm, above it, and large.
const SIZES: [(u64, &str); 4] =
    [(256, "256 B"), (512, "512 B"), (8 << 10, "8 KiB"), (128 << 10, "128 KiB")];
/// Messages of each process in the bisection.
const ITERATIONS: u64 = 16;

/// Accepted bytes a second, as a part of the rate of the adapters of the nodes, by test, size and processes a node.
pub(super) fn rows(shandy: &Quiet, context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for test in ["Alltoall", "bisection"] {
        for (bytes, size) in SIZES {
            for per_node in PER_NODE {
                (context.at)(&format!("{test}, {size}, {per_node} a node"));
                let part = 100.0 * part(shandy, test, bytes, per_node);
                let what = format!("{test}, {size}, {per_node} a node: part of injection, %");
                rows.push(Row::told(what, part));
            }
        }
    }
    rows
}

/// The part for a test in isolation on nodes whose messages never meet.
fn part(shandy: &Quiet, test: &str, bytes: u64, per_node: u32) -> f64 {
    let ranks = NODES * per_node;
    let mut given = Ranks::new(ranks);
    (given.library, given.per_node) = (Library::Mpich, per_node);
    let spec = if test == "Alltoall" {
        format!("imb:op=alltoall,bytes={bytes}")
    } else {
        format!("bisection:bytes={bytes},iterations={ITERATIONS}")
    };
    let program = Arc::new(traffic(&spec, &given).expect("any number of ranks"));
    let machine = Machine::new(&shandy.topology, 1);
    // Eight nodes of each group, so that distances are those of a job on all of the machine.
    let step = machine.len() as u32 / NODES;
    let hosts: Vec<u32> = (0..NODES).map(|i| i * step).collect();
    let of = |h: u32| machine.terminals(h).to_vec();
    let terminals: Vec<TerminalId> = rank_terminals(&hosts, per_node, of);
    let jobs = [Job { program, terminals, start: 0, repeat: Repeat::Once }];
    let host = host("slingshot").expect("known");
    let setup = Setup {
        medium: Medium::Formula,
        ..Setup::new(&shandy.topology, shandy.routes(), host, &jobs)
    };
    let end = simulate(&setup, &mut |_| {}).expect("a program of the registry").end;
    // Traffic within a node crosses no adapter.
    let n = f64::from(ranks);
    let sent = if test == "Alltoall" {
        n * (n - f64::from(per_node)) * bytes as f64
    } else {
        n * ITERATIONS as f64 * bytes as f64
    };
    let adapters: usize = hosts.iter().map(|&h| machine.terminals(h).len()).sum();
    let injection = adapters as f64 * host.adapter_bytes_per_second;
    sent / (end as f64 * 1e-12) / injection
}
