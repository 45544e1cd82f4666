//! `darkfiber blast`: what every single fault costs the jobs of a scenario.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use darkfiber_analysis::Names;
use darkfiber_analysis::blast::{Blast, Damage, Mending};
use darkfiber_fabric::{Fabric, Faults, TerminalId};
use darkfiber_report::blast::{BlastFault, BlastJob, BlastResult, FlapFacts};
use darkfiber_routing::reroute::{Fault, Prepared};
use darkfiber_scenario::demanded;
use darkfiber_workload::Stream;
use darkfiber_workload::quantity::time;
use rayon::prelude::*;

use super::metrics;
use crate::counted::CountedTraffic;
use crate::failure::{Exit, Failure};
use crate::options::{Common, CountedArgs};
use crate::progress::Progress;
use crate::{out, provenance};

#[derive(Args, Debug)]
pub(crate) struct BlastCommand {
    /// Fabric, tables and jobs in TOML, as for simulate; without, give --fabric and what was counted
    #[arg(value_name = "SCENARIO", required_unless_present = "fabric", conflicts_with = "fabric")]
    pub(crate) scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) counted: CountedArgs,
    /// What fails, one at a time
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT,..", default_values_t = [Failing::Cables, Failing::Switches])]
    pub(crate) faults: Vec<Failing>,
    /// Pairs of cables that fail together, at random (see --seed)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) pairs: usize,
    /// Virtual lanes that mended tables may use
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Flaps of each cable a day: gives the time that each job loses in an expected day
    #[arg(long, value_name = "RATE")]
    pub(crate) flap_rate: Option<f64>,
    /// How long a cable is down in a flap
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "flap_rate")]
    pub(crate) flap_time: String,
    /// How long it takes until mended tables are in place
    #[arg(long, value_name = "TIME", default_value = "5s", requires = "flap_rate")]
    pub(crate) reroute_time: String,
    /// The timer by which adapters notice lost packets (NCCL_IB_TIMEOUT 20: 4.096 us x 2^20)
    #[arg(long, value_name = "TIME", default_value = "4.3s", requires = "flap_rate")]
    pub(crate) retry_time: String,
    /// Faults that are listed, the worst first; -v lists all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
}

/// What fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Failing {
    /// Every cable between switches
    Cables,
    /// Every switch
    Switches,
    /// Every cable of a host
    Hosts,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Every fault is tried by itself: what of the traffic of jobs stops, and how much longer jobs take once tables are
mended, as `darkfiber reroute` mends them. All by counting: what one run of every job sends is added up on all
channels, and a job is as slow as the channel among its own that is asked for most.

A day of flaps: each flap of a cable stops the jobs on it until tables are mended or the cable is back, and for the timer
of adapters; if it is down for longer, they go on with the slowdown on mended tables.

Examples:
  darkfiber blast examples/cab.toml
  darkfiber blast job.toml --faults cables,switches,hosts --pairs 1000 --format csv > faults.csv
  darkfiber blast job.toml --flap-rate 0.01 --flap-time 2s

Exit code 1 if a fault between switches ends a job or has no way round.";

/// A fault that is tried.
struct Tried {
    kind: &'static str,
    name: String,
    faults: Faults,
}

pub(crate) fn run(args: &BlastCommand, common: &Common) -> Result<Exit, Failure> {
    let flaps = flaps(args)?;
    let progress = Progress::new(4, common.quiet);
    let given = CountedTraffic::load(args.scenario.as_deref(), &args.counted, common, &progress)?;
    given.case.tables.expect_tables("blast")?;
    let common = &Common { seed: Some(given.case.seed), ..common.clone() };
    let topology = given.case.topology();
    let fabric = &topology.fabric;
    for (j, name) in given.jobs.iter().enumerate() {
        let sends = given.flows.iter().any(|flow| flow.job as usize == j && flow.bytes > 0);
        if !sends && !common.quiet {
            out::tell(&format!("note: {name} sends no bytes: no fault is counted for it"));
        }
    }
    progress.at("counting");
    let start = Instant::now();
    let demands = demanded(&given.flows);
    let prepared = Prepared::with_demands(fabric, &given.case.tables.routes, args.lanes, &demands)
        .map_err(Failure::input)?;
    let blast = Blast::new(fabric, prepared, &given.flows, given.jobs.len());
    let seconds_prepare = start.elapsed().as_secs_f64();
    progress.step();
    let tried = faults(args, fabric, common);
    drop(progress);
    let progress = Progress::new(tried.len() as u64, common.quiet);
    progress.at("trying every fault");
    let start = Instant::now();
    let damages: Vec<Damage> = tried
        .par_iter()
        .map(|t| {
            let damage = blast.damage(&t.faults);
            progress.step();
            damage
        })
        .collect();
    let seconds_compute = start.elapsed().as_secs_f64();
    drop(progress);

    let rows: Vec<BlastJob> =
        (0..given.jobs.len()).map(|j| job(j, &given.jobs[j], &tried, &damages, flaps)).collect();
    let mut found: Vec<BlastFault> = tried
        .iter()
        .zip(&damages)
        .filter(|(_, d)| d.mending != Mending::Unused)
        .map(|(t, d)| fault(t, d, &given.jobs))
        .collect();
    found.sort_by(|a, b| {
        let slowdown = |f: &BlastFault| f.slowdown.unwrap_or(1.0);
        b.ended
            .cmp(&a.ended)
            .then(slowdown(b).total_cmp(&slowdown(a)))
            .then(b.stopped.total_cmp(&a.stopped))
    });
    let ends = found.iter().any(|f| f.kind != "host cable" && f.kind != "switch" && f.ended > 0);
    let facts = metrics::of_loaded(&given.case.loaded);
    let provenance = provenance::of(fabric, common);
    let result = BlastResult {
        title: &given.case.title,
        tables: &given.case.tables.from,
        jobs: &rows,
        faults: &found,
        tried: tried.len(),
        unused: damages.iter().filter(|d| d.mending == Mending::Unused).count(),
        flaps,
        seconds_prepare,
        seconds_compute,
        fabric: &facts,
        provenance: &provenance,
    };
    common.show_lines(&result, args.top)?;
    Ok(if ends { Exit::Finding } else { Exit::Fine })
}

/// How cables flap, if it was asked.
fn flaps(args: &BlastCommand) -> Result<Option<FlapFacts>, Failure> {
    let Some(rate) = args.flap_rate else { return Ok(None) };
    if !rate.is_finite() || rate < 0.0 {
        return Err(Failure::usage(format!(
            "--flap-rate {rate}: expected flaps of a cable a day, such as 0.01"
        )));
    }
    let seconds = |text: &str, option: &str| {
        let picoseconds = time(text).map_err(|e| Failure::usage(format!("{option}: {e}")))?;
        Ok::<f64, Failure>(picoseconds as f64 / 1e12)
    };
    Ok(Some(FlapFacts {
        rate,
        down: seconds(&args.flap_time, "--flap-time")?,
        reroute: seconds(&args.reroute_time, "--reroute-time")?,
        timer: seconds(&args.retry_time, "--retry-time")?,
    }))
}

/// All faults that are asked about.
fn faults(args: &BlastCommand, fabric: &Fabric, common: &Common) -> Vec<Tried> {
    let names = Names::new(fabric);
    let cables = Fault::cables(fabric);
    let cable = |fault: &Fault| match *fault {
        Fault::Cable(c) => {
            let c = names.channel(c);
            format!("{}[{}] - {}[{}]", c.from, c.from_port, c.to, c.to_port)
        }
        Fault::Switch(s) => names.switch(s),
    };
    let mut all = Vec::new();
    let one = |kind| move |f: &Fault| Tried { kind, name: cable(f), faults: f.faults() };
    if args.faults.contains(&Failing::Cables) {
        all.extend(cables.iter().map(one("cable")));
    }
    if args.faults.contains(&Failing::Switches) {
        all.extend(Fault::switches(fabric).iter().map(one("switch")));
    }
    if args.faults.contains(&Failing::Hosts) {
        all.extend((0..fabric.terminal_count()).map(TerminalId::new).map(|t| Tried {
            kind: "host cable",
            name: names.terminal(t),
            faults: Faults { terminals: vec![t], ..Faults::default() },
        }));
    }
    let n = cables.len() as u32;
    let mut stream = Stream::new(common.seed(), 0);
    for _ in 0..if n < 2 { 0 } else { args.pairs } {
        let a = stream.below(n);
        let b = (a + 1 + stream.below(n - 1)) % n;
        let (a, b) = (&cables[a as usize], &cables[b as usize]);
        let links = [a, b].iter().flat_map(|f| f.faults().links).collect();
        let name = format!("{} and {}", cable(a), cable(b));
        all.push(Tried {
            kind: "pair of cables",
            name,
            faults: Faults { links, ..Faults::default() },
        });
    }
    all
}

/// What all faults cost one job.
fn job(
    j: usize,
    name: &str,
    tried: &[Tried],
    damages: &[Damage],
    flaps: Option<FlapFacts>,
) -> BlastJob {
    let mut row = BlastJob {
        name: name.to_owned(),
        stopped_by: 0,
        ended_by: 0,
        slowed_by: 0,
        worst: 1.0,
        worst_fault: String::new(),
        lost_a_day: None,
        slowdown_a_day: None,
    };
    let mut lost = 0.0;
    for (t, damage) in tried.iter().zip(damages) {
        let Some(loss) = damage.jobs.iter().find(|loss| loss.job == j) else { continue };
        row.stopped_by += usize::from(loss.stopped > 0.0);
        let slowdown = loss.slowdown;
        row.ended_by += usize::from(slowdown.is_none());
        row.slowed_by += usize::from(slowdown.is_some_and(|s| s >= 1.01));
        if let Some(slowdown) = slowdown.filter(|s| *s > row.worst * (1.0 + 1e-9)) {
            (row.worst, row.worst_fault) = (slowdown, t.name.clone());
        }
        if let Some(f) = flaps.filter(|_| t.kind == "cable" || t.kind == "host cable") {
            let stands = if slowdown.is_some() { f.down.min(f.reroute) } else { f.down };
            let slower = slowdown.map_or(0.0, |s| (1.0 - 1.0 / s).max(0.0));
            let stop = if loss.stopped > 0.0 { stands + f.timer } else { 0.0 };
            lost += f.rate * (stop + (f.down - f.reroute).max(0.0) * slower);
        }
    }
    if flaps.is_some() {
        const DAY: f64 = 86_400.0;
        row.lost_a_day = Some(lost);
        row.slowdown_a_day = (lost < DAY).then(|| DAY / (DAY - lost));
    }
    row
}

/// What a fault costs all jobs.
fn fault(t: &Tried, damage: &Damage, jobs: &[String]) -> BlastFault {
    let slowest = damage
        .jobs
        .iter()
        .filter_map(|loss| Some((loss.slowdown?, loss.job)))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let stopped = damage
        .jobs
        .iter()
        .map(|loss| (loss.stopped, loss.job))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let worst = slowest.filter(|s| s.0 > 1.0 + 1e-9).or(stopped).map(|(_, job)| jobs[job].clone());
    BlastFault {
        kind: t.kind,
        name: t.name.clone(),
        mended: damage.mending == Mending::Mended,
        jobs: damage.jobs.len(),
        ended: damage.jobs.iter().filter(|loss| loss.slowdown.is_none()).count(),
        stopped: stopped.map_or(0.0, |s| s.0),
        slowdown: slowest.map(|s| s.0),
        job: worst.unwrap_or_default(),
    }
}
