//! Share of single cables on each level of the ladder against the largest load, by fabric and engine: the table of
//! docs/faults.md.
//!
//! `cargo run --release -p darkfiber-routing --example fault_frontier "FABRIC ..." "ENGINE ..."`;
//! `dfsssp+8` stands for the engine's tables protected in 8 lanes.

#![expect(clippy::print_stdout, reason = "a table for people")]

use std::time::Instant;

use darkfiber_fabric::{Topology, open};
use darkfiber_routing::check::check;
use darkfiber_routing::reroute::{Book, Fault, Prepared};
use darkfiber_routing::{Request, Routes, find_engine};

/// Lanes that engines and repairs may use.
const LANES: u8 = 8;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [fabrics, engines] = &arguments[..] else {
        println!("give fabrics and engines, each list in one argument, separated by blanks");
        return;
    };
    println!(
        "| fabric | hosts | tables | layers | EFI max | cables | any order | steps | drop-drain | reconnect | untouched | EFI max after | time |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for spec in fabrics.split_whitespace() {
        let Ok(on) = open(spec) else {
            println!("{spec}: no such fabric");
            continue;
        };
        for name in engines.split_whitespace() {
            row(spec, &on, name);
        }
    }
}

/// The tables of an engine, protected in the number of lanes behind a `+` if there is one, and their label.
fn tables(on: &Topology, name: &str) -> Option<(Routes, String)> {
    let (engine, lanes) = name.split_once('+').unwrap_or((name, ""));
    let request = Request { shape: on.shape.as_ref(), lanes: LANES, ..Request::default() };
    let routes = find_engine(engine).ok()?.route(&on.fabric, &request).ok()?;
    let Ok(lanes) = lanes.parse() else { return Some((routes, format!("`{engine}`"))) };
    let (routes, protection) = Prepared::new(&on.fabric, &routes, lanes).ok()?.protected(lanes);
    let share = protection.protected as f64 * 100.0 / protection.detours.max(1) as f64;
    Some((routes, format!("`{engine} --protect --lanes {lanes}` ({share:.1} % of detours)")))
}

fn row(spec: &str, on: &Topology, name: &str) {
    let Some((routes, name)) = tables(on, name) else { return };
    let report = check(&on.fabric, &routes);
    if !report.deadlock_free() {
        println!("| `{spec}` | | {name} | can deadlock | | | | | | | | | |");
        return;
    }
    let start = Instant::now();
    let Ok(prepared) = Prepared::new(&on.fabric, &routes, LANES) else { return };
    let book = Book::of(&prepared.book(&Fault::cables(&on.fabric), || ()));
    println!(
        "| `{spec}` | {} | {name} | {} | {} | {} | {} | {} | {} | {} | {:.1} % | {} | {:.1} s |",
        on.fabric.terminal_count(),
        routes.layer_count(),
        report.load.iter().max().copied().unwrap_or(0),
        book.faults,
        book.any_order,
        book.steps,
        book.drop_drain,
        book.reconnect + book.anew,
        book.untouched_percent().unwrap_or(f64::NAN),
        book.load,
        start.elapsed().as_secs_f64(),
    );
}
