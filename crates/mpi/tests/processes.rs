//! A load in processes of a real `mpirun`, which this test starts itself in.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use darkfiber_fabric::open;
use darkfiber_mpi::{StartError, start};
use darkfiber_packetsim::routing::{self, Adaptive, RoutingContext};
use darkfiber_packetsim::{Load, LoadOutcome, Net, Processes, SwitchModel, Targets, preset};

/// Where a process that `mpirun` has started writes what it finds.
const OUTPUT: &str = "DARKFIBER_MPI_TEST";

/// What one process, or several, find of two loads, in words.
fn found(processes: Option<&Arc<dyn Processes>>) -> Result<String, Box<dyn Error>> {
    let mut text = String::new();
    for name in ["minimal", "ugal-global"] {
        let topology = open("dragonfly:p=2,a=4,h=2")?;
        // Long cables: windows in which processes need not wait for each other are as long.
        let switches = SwitchModel { cable: Some(500_000), ..preset("booksim-iq")?.micro() };
        let net = Net::new(&topology.fabric, &switches);
        let context = RoutingContext {
            net: &net,
            fabric: &topology.fabric,
            shape: topology.shape.as_ref(),
            routes: None,
            bytes: 16,
            adaptive: Adaptive::default(),
        };
        let routing = routing::make(routing::kind(name)?, &context)?;
        let switches = SwitchModel { lanes: routing.lanes(), ..switches };
        let load = Load {
            targets: Targets::uniform(net.terminal_count() as u32),
            load: 0.4,
            bytes: 16,
            message: 16,
            warmup: None,
            measure: 10_000_000,
            doublings: 0,
            drain: 40_000_000,
            interval: Some(5_000_000),
            parts: processes.map_or(1, |processes| net.parts_in(Some(&**processes))),
            processes: processes.cloned(),
            seed: 1,
        };
        let LoadOutcome { measured: m, crossed, events, begin, end, most, series, .. } =
            routing.load(&net, &switches, &load, &|_| {})?;
        // Histograms that are equal may have space for other values.
        let latencies = m.latencies.iter_recorded();
        let latencies: Vec<(u64, u64)> =
            latencies.map(|v| (v.value_iterated_to(), v.count_at_value())).collect();
        writeln!(text, "{:?}", (m.packets, m.latency, m.longest, m.hops, m.round, m.bytes))?;
        writeln!(text, "{:?}", (m.created, m.batches, crossed, events, begin, end, most))?;
        writeln!(text, "{latencies:?}\n{series:?}")?;
    }
    Ok(text)
}

/// Not a test by itself: a process of one below.
#[test]
fn a_process() -> Result<(), Box<dyn Error>> {
    let Some(path) = std::env::var_os(OUTPUT) else { return Ok(()) };
    let world = start()?;
    let text = found(Some(world.processes()))?;
    let rank = world.processes().rank();
    // All of them know the whole result.
    std::fs::write(Path::new(&path).join(rank.to_string()), text)?;
    Ok(())
}

#[test]
fn any_number_of_processes_finds_the_same() -> Result<(), Box<dyn Error>> {
    if std::env::var_os(OUTPUT).is_some() {
        return Ok(());
    }
    if Command::new("mpirun").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("mpirun is not installed");
        return Ok(());
    }
    let alone = found(None)?;
    for size in [2, 4] {
        let dir = tempfile::tempdir()?;
        let mut command = Command::new("mpirun");
        command.args(["--oversubscribe", "--mca", "mpi_yield_when_idle", "1"]);
        command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
        command.args(["-n", &size.to_string()]).arg(std::env::current_exe()?);
        command
            .args(["--exact", "a_process"])
            .env(OUTPUT, dir.path())
            .env("RAYON_NUM_THREADS", "1");
        let output = command.stdin(Stdio::null()).output()?;
        assert!(output.status.success(), "{output:?}");
        for rank in 0..size {
            let text = std::fs::read_to_string(dir.path().join(rank.to_string()))?;
            for (line, (one, other)) in alone.lines().zip(text.lines()).enumerate() {
                let short = |line: &str| line.chars().take(400).collect::<String>();
                let which = format!("process {rank} of {size}, line {line}");
                assert!(one == other, "{which}:\n{}\n{}", short(one), short(other));
            }
            assert_eq!(text.lines().count(), alone.lines().count());
        }
    }
    Ok(())
}

/// Without a launcher there is one process.
#[test]
fn one_process_is_refused() -> Result<(), Box<dyn Error>> {
    const ALONE: &str = "DARKFIBER_MPI_ALONE";
    if std::env::var_os(OUTPUT).is_some() {
        return Ok(());
    }
    if std::env::var_os(ALONE).is_some() {
        assert_eq!(start().err(), Some(StartError::OneProcess));
        return Ok(());
    }
    // In a process of its own: MPI can be started once.
    let output = Command::new(std::env::current_exe()?)
        .args(["--exact", "one_process_is_refused"])
        .env(ALONE, "1")
        .output()?;
    assert!(output.status.success(), "{output:?}");
    Ok(())
}
