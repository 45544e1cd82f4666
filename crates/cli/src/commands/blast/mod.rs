//! `darkfiber blast`: what every single fault costs the jobs of a scenario.

mod flows;
mod map;
mod rows;
mod tried;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use darkfiber_analysis::blast::{Blast, Damage, Mending};
use darkfiber_fabric::{Faults, SwitchId};
use darkfiber_report::blast::{BlastFault, BlastJob, BlastResult, FlapFacts};
use darkfiber_routing::reroute::Prepared;
use darkfiber_workload::quantity::time;

pub(crate) use self::tried::Failing;
use super::metrics;
use crate::counted::CountedTraffic;
use crate::failure::{Exit, Failure};
use crate::options::{Common, CountedArgs, PageArgs};
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
    /// Virtual lanes that repaired tables may use
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Flaps a day of each cable that --faults names: gives the time that each job loses in an expected day
    #[arg(long, value_name = "RATE")]
    pub(crate) flap_rate: Option<f64>,
    /// How long a cable is down in a flap
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "flap_rate")]
    pub(crate) flap_time: String,
    /// How long it takes until repaired tables are in place
    #[arg(long, value_name = "TIME", default_value = "5s", requires = "flap_rate")]
    pub(crate) reroute_time: String,
    /// The timer by which adapters notice lost packets (NCCL_IB_TIMEOUT 20: 4.096 us x 2^20)
    #[arg(long, value_name = "TIME", default_value = "4.3s", requires = "flap_rate")]
    pub(crate) retry_time: String,
    /// Simulate the N worst faults between switches by flows, too (of a scenario)
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "fabric")]
    pub(crate) flows: usize,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Faults that are listed, the worst first; -v lists all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Each fault is tried in isolation: what of the traffic of jobs stops, and how much longer jobs take once tables are
repaired, as `darkfiber reroute` repairs them. All by counting: a job asks of a channel for the time that its bytes take
there, as a share of its time alone; all jobs are added up, and a job is as slow as the channel among its own that is asked
for most.

With --flows 100 the worst hundred run at flow depth, too, on the repaired tables and on the previous ones. The map of --html
and --map shows every cable by what its failure costs.

A day of flaps: each flap of a cable stops the jobs on it until tables are repaired or the cable is back, and for the timer
of adapters; if it is down for longer, they continue with the slowdown on repaired tables, which may move traffic of jobs
that the fault does not touch, too.

Examples:
  darkfiber blast examples/cab.toml
  darkfiber blast job.toml --faults cables,switches,hosts --pairs 1000 --format csv > faults.csv
  darkfiber blast job.toml --flap-rate 0.01 --flap-time 2s
  darkfiber blast examples/gpus.toml --flows 100 --map blast.svg

Exit code 1 if a fault that takes no host along (a cable between switches, a switch without hosts) ends a job or leaves no
path around it.";

pub(crate) fn run(args: &BlastCommand, common: &Common) -> Result<Exit, Failure> {
    let flaps = flaps(args)?;
    args.page.expect()?;
    let progress = Progress::new(4, common.quiet);
    let given = CountedTraffic::load(args.scenario.as_deref(), &args.counted, common, &progress)?;
    given.case.tables.expect_tables("blast")?;
    let common = &Common { seed: Some(given.case.seed), ..common.clone() };
    let topology = given.case.topology();
    let fabric = &topology.fabric;
    for (j, name) in given.jobs.iter().enumerate() {
        let sends = given.flows.iter().any(|flow| flow.job as usize == j && flow.bytes > 0);
        if !sends && !common.quiet {
            out::eprint_line(&format!("note: {name} sends no bytes: no fault is counted for it"));
        }
    }
    progress.at("counting");
    let start = Instant::now();
    // Whoever repairs tables does not know the jobs.
    let prepared = Prepared::new(fabric, &given.case.tables.routes, args.lanes)?;
    let blast = Blast::new(fabric, prepared, &given.flows, given.jobs.len());
    let seconds_prepare = start.elapsed().as_secs_f64();
    progress.step();
    let tried = tried::all(&args.faults, args.pairs, fabric, common.seed());
    drop(progress);
    let progress = Progress::new(tried.len() as u64, common.quiet);
    progress.at("trying every fault");
    let start = Instant::now();
    let all: Vec<&Faults> = tried.iter().map(|t| &t.faults).collect();
    let damages = blast.damages(&all, || progress.step());
    let seconds_compute = start.elapsed().as_secs_f64();
    drop(progress);

    let jobs: Vec<BlastJob> = (0..given.jobs.len())
        .map(|j| rows::job(j, &given.jobs[j], &tried, &damages, flaps))
        .collect();
    let mut order: Vec<usize> =
        (0..tried.len()).filter(|&i| damages[i].mending != Mending::Unused).collect();
    order.sort_by(|&a, &b| rows::worst_first(&damages[a], &damages[b]));
    let mut found: Vec<BlastFault> =
        order.iter().map(|&i| rows::fault(&tried[i], &damages[i], &given.jobs)).collect();
    if args.flows > 0 {
        let worst: Vec<usize> = flows::worth(&order, &tried, &damages, args.flows);
        let faults: Vec<(&Faults, &Damage)> =
            worst.iter().map(|&i| (&tried[order[i]].faults, &damages[order[i]])).collect();
        let by_flows = flows::slowdowns(&given.case, &blast, &faults, common)?;
        for (&i, by) in worst.iter().zip(by_flows) {
            found[i].slowdown_by_flows = by.map(|(slowdown, _)| slowdown);
            found[i].job_by_flows = by.map(|(_, job)| given.jobs[job].clone());
        }
    }
    // What takes hosts along ends their jobs, whatever the tables.
    let is_between = |faults: &Faults| {
        let has_hosts = |s: &SwitchId| !fabric.terminals_on(*s).is_empty();
        faults.terminals.is_empty() && !faults.switches.iter().any(has_hosts)
    };
    let ends = order.iter().zip(&found).any(|(&i, f)| f.ended > 0 && is_between(&tried[i].faults));
    let facts = metrics::of_loaded(&given.case.loaded);
    let provenance = provenance::of(fabric, common);
    let result = BlastResult {
        title: &given.case.title,
        tables: &given.case.tables.from,
        jobs: &jobs,
        faults: &found,
        tried: tried.len(),
        unused: damages.iter().filter(|d| d.mending == Mending::Unused).count(),
        flaps,
        seconds_prepare,
        seconds_compute,
        fabric: &facts,
        provenance: &provenance,
    };
    args.page.write(|| map::page(&given, &tried, &damages, &provenance))?;
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
    let has = |what: Failing| args.faults.contains(&what);
    let (between_switches, of_hosts) = (has(Failing::Cables), has(Failing::Hosts));
    if !between_switches && !of_hosts {
        return Err(Failure::usage("--flap-rate: no cable is among the faults")
            .hint("cables flap: --faults cables, hosts or both"));
    }
    let seconds = |text: &str, option: &str| {
        let picoseconds = time(text).map_err(|e| Failure::usage(format!("{option}: {e}")))?;
        Ok::<f64, Failure>(picoseconds as f64 / 1e12)
    };
    Ok(Some(FlapFacts {
        rate,
        between_switches,
        of_hosts,
        down: seconds(&args.flap_time, "--flap-time")?,
        reroute: seconds(&args.reroute_time, "--reroute-time")?,
        timer: seconds(&args.retry_time, "--retry-time")?,
    }))
}
