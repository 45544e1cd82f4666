//! `darkfiber operate`: beside a running OpenSM and SLURM, measuring, advising and, where it may, changing tables.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use darkfiber_daemon::{
    Config, Console, DayEvents, Rehearsal, ask, ask_within, replay, run as operate,
};
use darkfiber_report::rehearsal::{RehearsalResult, RehearsedDay};
use serde_json::Value;

use super::operate_review::ReviewArgs;
use super::{metrics, operate_review};
use crate::failure::{Exit, Failure};
use crate::options::{Common, Format, HistoryArgs};
use crate::{out, provenance, signals};
use darkfiber_scenario::history::Window;

/// Seconds of a day.
const DAY: i64 = 86_400;
/// A job waits so long at most.
const LONGEST_HOLD: Duration = Duration::from_secs(3);

#[derive(Args, Debug)]
pub(crate) struct OperateCommand {
    #[command(subcommand)]
    question: Option<OperateQuery>,
    /// The configuration
    #[arg(long, global = true, value_name = "FILE", default_value = "/etc/darkfiber/operate.toml")]
    config: PathBuf,
    /// Repeat the steps of a journal and print them; exit code 1 if any has other actions than the journal has
    #[arg(long, value_name = "JOURNAL")]
    replay: Option<PathBuf>,
}

/// What the program that runs is asked.
#[derive(Subcommand, Debug)]
enum OperateQuery {
    /// What it does, what it knows, and its last decisions
    Status,
    /// Why a decision was made, what it costs and gains, and the commands that put a proposal in place
    Explain {
        /// Number of the decision
        id: u64,
    },
    /// Propose nothing by itself until it is resumed; `propose` still does
    Pause,
    /// Propose again
    Resume,
    /// Look for better tables now
    Propose,
    /// Put the tables of a decision in place, proved anew if anything has changed since
    Deploy {
        /// Number of the decision
        id: u64,
    },
    /// Put the tables in place that were there before the plan that is in place
    Rollback,
    /// Take the fabric that was refused as that of another cluster for this one
    Accept,
    /// Hold a job that is about to start until its tables are in place, 3 s at most; for PrologSlurmctld, exit code 0
    Hold {
        /// Number of the job; SLURM_JOB_ID of the environment by default
        #[arg(long, value_name = "N")]
        job: Option<u64>,
        /// Its nodes, as SLURM lists them; SLURM_JOB_NODELIST by default
        #[arg(long, value_name = "LIST")]
        nodes: Option<String>,
    },
    /// Advice of journals beside what happened, and the time that each part took
    Review(ReviewArgs),
    /// What this configuration would have done for the jobs of a log, in virtual time: changes a day, blocks, gain
    Rehearse(Box<RehearseArgs>),
}

#[derive(Args, Debug)]
struct RehearseArgs {
    #[command(flatten)]
    history: HistoryArgs,
    /// Days from the first job on
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3660))]
    days: u32,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Runs in the foreground until it is stopped (SIGTERM, SIGINT). It reads the fabric, the tables in place and the jobs that run, each
from a file or from what a command prints. In mode observe it measures how the tables serve the jobs. In mode advise
(default) it looks for few entries that serve them better whenever jobs start, proves the transition, and prints
proposals; `explain` says why, at what cost, and which commands put them in place. Neither changes anything. In mode
apply-faults it puts repaired tables in place after a fault, and proposals that `deploy` names; in mode apply those for
jobs, too: through OpenSM's engine `file` or its plugin, one proved plan at a time, each read back. All that it hears and decides is in
its journal.

A configuration (TOML); each section has `file` or `command`, the rest may be left out:
  state = \"/var/lib/darkfiber\" # journal, proposals
  site = \"mycluster\"        # a state folder belongs to one site
  mode = \"advise\"           # or observe, apply-faults, apply
  socket = \"/run/darkfiber/ctl.sock\" # where status, explain, ... ask
  http = \"127.0.0.1:9684\"   # /map, /top, /status, /metrics, /plans/N, /journal
  journal_mib = 64          # a new one is started beyond that
  [fabric]
  command = [\"ibnetdiscover\"] # or file = \"PATH\"
  every_s = 60
  allow_warnings = false    # whether a fabric with warnings is used
  [tables]
  file = \"/var/lib/opensm/lfts.dump\" # or command = [\"dump_fts\"]
  sl = \"PATH\"               # service levels; guid2lid = \"PATH\" likewise
  lid_choice = \"PATH\"       # which LID a sender takes, where ports have several
  lfts_file = \"PATH\"        # that of opensm.conf, for the engine `file`
  [jobs]
  command = [\"squeue\", \"-a\", \"-r\", \"-t\", \"R,CF\", \"-o\", \"%i %T %N\"]
  empty_is_idle = false     # whether no line at all means that no job runs
  aliases = \"PATH\"          # other names of hosts
  [demands]                 # may be left out: what hosts send to each other
  profiles = \"FOLDER\"       # bytes between ranks, by job; or file, or command
  [counters]                # may be left out: perfquery -x, or Prometheus text
  command = [\"curl\", \"-sf\", \"http://localhost:9683/metrics\"] # or socket
  [opensm]                  # needed where tables are changed
  engines = \"file,no_fallback\" # routing_engine of opensm.conf, or what -R says
  sweep = [\"systemctl\", \"kill\", \"-s\", \"HUP\", \"opensm\"]
  log = \"/var/log/opensm.log\" # written at once: force_log_flush TRUE
  qos_policy = \"PATH\"       # qos_policy_file, for tables in several lanes
  [switches]                # may be left out: blocks are written before a sweep
  write = [\"/usr/lib/darkfiber/darkfiber-blocks\"]
  [plugin]                  # OpenSM asks: engines = \"dfosm,updn,no_fallback\"
  socket = \"/run/darkfiber/plugin.sock\" # plan_file = \"PATH\": if none answers
  budget_ms = 1500          # an older question gets no plan; book_s = 600
  [standby]                 # may be left out: other subnet managers
  copy = [\"PROGRAM\"]       # copies files to them, prints sha256sum there
  [policy]
  min_gain = 0.05           # minimum share by which the fullest channel cools
  max_blocks = 64           # maximum of blocks of 64 LIDs in a proposal
  moves = 64                # maximum of entries in a proposal
  cooldown_s = 30           # between two proposals for jobs, at least
  max_per_hour = 20         # proposals for jobs in an hour, at most
  hot = 0.5                 # this share of a channel is hot; hot_for_s = 60
  work_s = 60               # longest computation; hold_s: a job waits for it
  drain_s = 1.1             # cleared entries: no packet is under way longer
  confirm_s = 10            # a plan is looked for after that, OpenSM or not
  audit_s = 600             # tables in place are read back this often
  [policy.route]            # may be left out: tables made anew for jobs
  engine = \"sar-best\"       # where few entries leave more load than the bound
  beyond = 0.25             # by this share
  max_blocks = 16384        # max_stages = 8; lanes = 8

Examples:
  darkfiber operate --config operate.toml
  darkfiber operate explain 12 --config operate.toml
  darkfiber operate --replay /var/lib/darkfiber/journal
  darkfiber operate rehearse --jobs sacct.txt --config operate.toml";

/// Proposals are results; the rest is said.
struct Terminal;

impl Console for Terminal {
    fn proposal(&self, text: &str) {
        // Nobody may read it any more; `status` and the journal have it, too.
        let _nobody_may_read = out::print(&format!("{text}\n"));
    }

    fn note(&self, text: &str) {
        out::eprint_line(text);
    }
}

pub(crate) fn run(args: &OperateCommand, common: &Common) -> Result<Exit, Failure> {
    if let Some(journal) = &args.replay {
        if args.question.is_some() {
            return Err(Failure::usage("--replay repeats a journal, and asks nobody")
                .hint("leave out either of --replay and the question"));
        }
        let (text, differ) = replay(journal)?;
        out::print(&text)?;
        if differ > 0 {
            out::eprint_line(&format!("{differ} steps have other actions than the journal has"));
            return Ok(Exit::Finding);
        }
        return Ok(Exit::Fine);
    }
    if let Some(OperateQuery::Hold { job, nodes }) = &args.question {
        hold(&args.config, *job, nodes.as_deref());
        return Ok(Exit::Fine);
    }
    if let Some(OperateQuery::Review(of)) = &args.question {
        return operate_review::run(&args.config, of, common);
    }
    let config = Config::read(&args.config)?;
    let is_text = common.format == Format::Table;
    let line = match &args.question {
        None => {
            operate(&config, &Terminal, |stop| signals::instead(move || stop.stop()))?;
            return Ok(Exit::Fine);
        }
        Some(OperateQuery::Status) if is_text => "status".to_owned(),
        Some(OperateQuery::Status) => "status json".to_owned(),
        Some(OperateQuery::Explain { id }) if is_text => format!("explain {id}"),
        Some(OperateQuery::Explain { id }) => format!("explain {id} json"),
        Some(OperateQuery::Pause) => "pause".to_owned(),
        Some(OperateQuery::Resume) => "resume".to_owned(),
        Some(OperateQuery::Propose) => "propose".to_owned(),
        Some(OperateQuery::Deploy { id }) => format!("deploy {id}"),
        Some(OperateQuery::Rollback) => "rollback".to_owned(),
        Some(OperateQuery::Accept) => "accept".to_owned(),
        Some(OperateQuery::Hold { .. } | OperateQuery::Review(_)) => return Ok(Exit::Fine),
        Some(OperateQuery::Rehearse(args)) => return rehearse(&config, args, common),
    };
    let mut answer = ask(config.socket(), &line)?;
    // What changes something answers with the status that it leads to.
    if !is_text && !line.ends_with(" json") {
        answer = ask(config.socket(), "status json")?;
    }
    if common.format == Format::Csv {
        answer = decisions(&answer)?;
    }
    out::print(&answer)?;
    Ok(Exit::Fine)
}

/// Holds a job. Whatever goes wrong is reported, and the job starts: SLURM would requeue it after any other exit code.
fn hold(config: &Path, job: Option<u64>, nodes: Option<&str>) {
    let given = |name: &str| std::env::var(name).ok();
    let job = job.or_else(|| given("SLURM_JOB_ID")?.parse().ok());
    let nodes = nodes.map(str::to_owned).or_else(|| given("SLURM_JOB_NODELIST"));
    let (Some(job), Some(nodes)) = (job, nodes) else {
        out::eprint_line(
            "no job is held: --job and --nodes, or SLURM_JOB_ID and SLURM_JOB_NODELIST are expected",
        );
        return;
    };
    let held = Config::read(config).and_then(|config| {
        ask_within(config.socket(), &format!("hold {job} {nodes}"), LONGEST_HOLD)
    });
    match held {
        Ok(answer) => out::eprint_line(answer.trim_end()),
        Err(e) => out::eprint_line(&format!("job {job} is not held: {e}")),
    }
}

/// The decisions of a status, or the one of an explanation, a row each.
fn decisions(answer: &str) -> Result<String, Failure> {
    let unlike = |e: serde_json::Error| {
        Failure::input(format!("the answer is not as expected: {e}"))
            .hint("the program that runs is of another version; start it anew")
    };
    let page: Value = serde_json::from_str(answer).map_err(unlike)?;
    let one = std::slice::from_ref(&page);
    let all = page["state"]["decisions"].as_array().map_or(one, Vec::as_slice);
    let mut text = String::from("id,outcome,trigger,kept,proposed,entries,blocks,rung\n");
    for d in all {
        let (c, v) = (&d["candidate"], &d["verdict"]);
        let cells = [
            &d["id"],
            &d["outcome"]["is"],
            &d["trigger"],
            &c["kept"],
            &c["proposed"],
            &c["entries"],
            &c["blocks"],
            &v["rung"],
        ];
        // Numbers and names without commas.
        let cells = cells.map(|cell| match cell {
            Value::Null => String::new(),
            Value::String(name) => name.clone(),
            other => other.to_string(),
        });
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    Ok(text)
}

fn rehearse(config: &Config, args: &RehearseArgs, common: &Common) -> Result<Exit, Failure> {
    let rehearsal = Rehearsal::new(config)?;
    let topology = rehearsal.topology();
    let facts = metrics::facts(&topology.fabric, topology.shape.as_ref(), None, false);
    let provenance = provenance::of(&topology.fabric, common);
    let window = Window { from: None, length: Some(i64::from(args.days) * DAY) };
    let loaded = args.history.load(topology, window, common)?;
    let (from, to) = window.of(loaded.first);
    let start = Instant::now();
    let days = rehearsal.run(&loaded.history, from, to);
    let seconds = start.elapsed().as_secs_f64();
    let total = days.iter().fold(DayEvents::default(), |sum, day| DayEvents {
        started: sum.started + day.started,
        looked: sum.looked + day.looked,
        changes: sum.changes + day.changes,
        entries: sum.entries + day.entries,
        blocks: sum.blocks + day.blocks,
        gain: sum.gain + day.gain,
        refused: sum.refused + day.refused,
        worst: sum.worst.max(day.worst),
    });
    let days: Vec<RehearsedDay> = days.iter().map(row).collect();
    common.show(&RehearsalResult {
        log: &args.history.jobs.display().to_string(),
        mode: config.mode(),
        days: &days,
        total: row(&total),
        seconds,
        fabric: &facts,
        provenance: &provenance,
    })?;
    Ok(Exit::Fine)
}

fn row(day: &DayEvents) -> RehearsedDay {
    RehearsedDay {
        started: day.started,
        looked: day.looked,
        changes: day.changes,
        entries: day.entries,
        blocks: day.blocks,
        mean_gain: (day.changes > 0).then(|| day.gain / day.changes as f64),
        refused: day.refused,
        worst: day.worst,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_of_the_help_can_be_pasted() {
        let lines = HELP.lines().skip_while(|line| !line.starts_with("A configuration")).skip(1);
        let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
        let text = lines.join("\n");
        let table: toml::Table = toml::from_str(&text).expect("TOML");
        assert!(table.contains_key("policy") && lines.iter().all(|line| line.len() <= 80));
    }
}
