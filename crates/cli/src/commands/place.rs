//! `darkfiber place`: which free hosts a new job should have.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use darkfiber_analysis::heat::Heat;
use darkfiber_analysis::place::PlacementRequest;
use darkfiber_fabric::TerminalId;
use darkfiber_formats::hostlist;
use darkfiber_report::json;
use darkfiber_report::place::{PlaceResult, Placement};
use darkfiber_scenario::Folder;
use darkfiber_workload::collective::Library;
use darkfiber_workload::placement::{ALLOCATORS, Free};
use darkfiber_workload::schedule::Program;
use darkfiber_workload::traffic::{Ranks as Asked, traffic};
use darkfiber_workload::{CommMatrix, Machine, Stream};

use super::metrics;
use crate::counted::{CountedTraffic, NO_JOB};
use crate::failure::{Exit, Failure};
use crate::options::{Common, CountedArgs};
use crate::out::Teller;
use crate::progress::Progress;
use crate::{out, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct PlaceCommand {
    /// Fabric, tables, and the jobs that run, in TOML, as for simulate; without, give --fabric and what was counted
    #[arg(value_name = "SCENARIO", required_unless_present = "fabric", conflicts_with = "fabric")]
    pub(crate) scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) counted: CountedArgs,
    /// What the new job does: name:key=value,... of `darkfiber list traffic`
    #[arg(
        long,
        value_name = "TRAFFIC",
        required_unless_present = "files",
        conflicts_with = "files"
    )]
    pub(crate) traffic: Option<String>,
    /// Instead: a schedule, traces, or a matrix of communication of it
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) files: Vec<String>,
    /// Hosts that it needs
    #[arg(long, value_name = "N")]
    pub(crate) nodes: usize,
    /// Ranks of each host, side by side
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) per_node: u32,
    /// Write hostfile, rankfile, ranks (a host for each rank, for srun) and the result (place.json) here
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Every allocator proposes hosts; then hosts are exchanged with free ones and with each other as long as the
fullest channels
get less full, those of the job itself and those of the jobs that run. The slowdown of a job is counted as by
hot: `alone` and
`together` are the times of the slowest channel that it crosses.

Examples:
  darkfiber place examples/cab.toml --traffic bis --nodes 72 --per-node 16
  darkfiber place --fabric ibnetdiscover.out --routes lfts.dump --counters before after --jobs squeue.txt \\
    --traffic nn --nodes 64 --per-node 16 -o job";

/// Placements that are shown beside the proposed one.
const SHOWN_ALLOCATORS: [&str; 2] = ["linear", "random"];

pub(crate) fn run(args: &PlaceCommand, common: &Common) -> Result<Exit, Failure> {
    if args.nodes == 0 {
        return Err(Failure::usage("--nodes must be at least 1"));
    }
    save::expect_directory(args.output.as_ref())?;
    let progress = Progress::new(4, common.quiet);
    let mut given =
        CountedTraffic::load(args.scenario.as_deref(), &args.counted, common, &progress)?;
    if let Some(failure) = given.unplaced.take() {
        return Err(failure);
    }
    let common = &Common { seed: Some(given.case.seed), ..common.clone() };
    given.case.tables.expect_tables("place")?;
    let topology = given.case.topology();
    // Before anything is made of that size.
    let hosts = Machine::new(topology, 1).len();
    if args.nodes > hosts {
        let what = format!("{} hosts requested, there are {hosts}", args.nodes);
        return Err(Failure::infeasible(what).hint("ask for fewer --nodes"));
    }
    let program = program(args, common)?;
    let job = NewJob::new(&given, &program, args)?;
    progress.at("placing");
    let start = Instant::now();
    let seed = common.seed();
    let tried: Vec<(&str, Vec<u32>)> = ALLOCATORS
        .iter()
        .filter_map(|a| {
            let free = Free { machine: &job.machine, is_free: &job.is_free };
            let hosts = a.allocate(&free, args.nodes, &mut Stream::new(seed, 0))?;
            Some((a.name, hosts))
        })
        .collect();
    if tried.is_empty() {
        let free = job.is_free.iter().filter(|f| **f).count();
        return Err(Failure::infeasible(format!("{} hosts requested, {free} free", args.nodes)));
    }
    let (hosts, exchanges) = job.search(&given, &tried, seed);
    let seconds = start.elapsed().as_secs_f64();
    progress.step();
    drop(progress);

    let mut placements: Vec<Placement> = tried
        .iter()
        .filter(|(name, _)| SHOWN_ALLOCATORS.contains(name))
        .map(|(name, hosts)| job.judged(&given, name, hosts))
        .collect();
    placements.push(job.judged(&given, "proposed", &hosts));
    let names: Vec<String> =
        hosts.iter().map(|&h| job.machine.name(job.usable[h as usize]).to_owned()).collect();
    let facts = metrics::of_loaded(&given.case.loaded);
    let provenance = provenance::of(&topology.fabric, common);
    let what = args.traffic.clone().unwrap_or_else(|| args.files.join(" "));
    let mut sorted = names.clone();
    sorted.sort_unstable();
    let result = PlaceResult {
        title: &given.case.title,
        tables: &given.case.tables.from,
        traffic: &what,
        ranks: program.ranks(),
        bytes: job.sent.iter().map(|s| s.2).sum(),
        jobs: job.others,
        free: job.is_free.iter().filter(|f| **f).count(),
        proposed: placements.len() - 1,
        placements: &placements,
        hosts: &names,
        hostlist: &hostlist::compress(&sorted),
        exchanges,
        seconds,
        fabric: &facts,
        provenance: &provenance,
    };
    let json_text = json::text(&result);
    let mut problems = save::Unwritten::default();
    if let Some(dir) = &args.output {
        problems.note(write(dir, &names, &program, args.per_node, &json_text));
    }
    common.show(&result)?;
    let exit = problems.end(Exit::Fine)?;
    if let (Some(dir), false) = (&args.output, common.quiet) {
        out::eprint_line(&format!("wrote hostfile and rankfile to {}", dir.display()));
    }
    Ok(exit)
}

/// What the job does.
fn program(args: &PlaceCommand, common: &Common) -> Result<Program, Failure> {
    let library = Library::default();
    let ranks = u32::try_from(args.nodes).ok().and_then(|n| n.checked_mul(args.per_node));
    let Some(ranks) = ranks else {
        return Err(Failure::infeasible("these are more ranks than can be numbered"));
    };
    let Some(spec) = &args.traffic else {
        let program = darkfiber_scenario::program(
            &args.files,
            None,
            &Folder::default(),
            library,
            &mut Teller::new(common),
        )?;
        if program.ranks() > ranks {
            return Err(Failure::infeasible(format!(
                "its {} ranks do not fit: {} hosts with {} each hold {ranks}",
                program.ranks(),
                args.nodes,
                args.per_node
            ))
            .hint("give it more --nodes, or a larger --per-node"));
        }
        return Ok(program);
    };
    let mut asked = Asked::new(ranks);
    (asked.per_node, asked.library, asked.seed) = (args.per_node, library, common.seed());
    traffic(spec, &asked).map_err(|e| {
        Failure::usage(format!("--traffic: {e}"))
            .hint("`darkfiber list traffic` shows what there is")
    })
}

/// The job, and the machine as it finds it.
struct NewJob {
    machine: Machine,
    /// By host, whether no job has it.
    is_free: Vec<bool>,
    /// Hosts that may be used: free ones with as many terminals as most.
    usable: Vec<u32>,
    /// Their terminals.
    terminals: Vec<Vec<TerminalId>>,
    /// Bytes from seat to seat.
    sent: Vec<(u32, u32, u64)>,
    /// Jobs that run.
    others: usize,
    now: Heat,
}

impl NewJob {
    fn new(
        given: &CountedTraffic,
        program: &Program,
        args: &PlaceCommand,
    ) -> Result<Self, Failure> {
        let fabric = given.case.fabric();
        let machine = Machine::new(given.case.topology(), 1);
        // Where nothing tells jobs apart, nobody knows who is busy.
        let are_known = given.counted.is_none() || args.counted.jobs.jobs.is_some();
        let busy = if are_known { given.places.as_slice() } else { &[] };
        // Where the list of jobs says who runs where, traffic of none of them makes no host busy.
        let is_job = |name: &String| args.counted.jobs.jobs.is_none() || name != NO_JOB;
        let busy: Vec<&Vec<TerminalId>> = given
            .jobs
            .iter()
            .zip(busy)
            .filter(|(name, _)| is_job(name))
            .map(|(_, of)| of)
            .collect();
        let mut is_busy = vec![false; fabric.terminal_count()];
        for t in busy.iter().copied().flatten() {
            is_busy[t.index()] = true;
        }
        let hosts = || 0..machine.len() as u32;
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for h in hosts() {
            *counts.entry(machine.terminals(h).len()).or_default() += 1;
        }
        let adapters = counts.iter().max_by_key(|(_, n)| **n).map_or(1, |(a, _)| *a);
        let is_usable = |h: u32| {
            let of = machine.terminals(h);
            of.len() == adapters && of.iter().all(|t| !is_busy[t.index()])
        };
        let is_free: Vec<bool> = hosts().map(is_usable).collect();
        let usable: Vec<u32> = hosts().filter(|&h| is_free[h as usize]).collect();
        if usable.len() < args.nodes {
            return Err(Failure::infeasible(format!(
                "{} hosts requested, {} free",
                args.nodes,
                usable.len()
            ))
            .hint("ask for fewer --nodes, or leave jobs out that have ended"));
        }
        let terminals = usable.iter().map(|&h| machine.terminals(h).to_vec()).collect();
        // Ranks of a host use its adapters in turn.
        let seat = |rank: u32| {
            let (slot, within) = (rank / args.per_node, rank % args.per_node);
            slot * adapters as u32 + within % adapters as u32
        };
        let mut of_pair: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for &(a, b, bytes) in CommMatrix::of_program(program).entries() {
            if a / args.per_node != b / args.per_node {
                *of_pair.entry((seat(a), seat(b))).or_default() += bytes;
            }
        }
        let sent = of_pair.into_iter().map(|((a, b), bytes)| (a, b, bytes)).collect();
        let others = busy.len();
        let now = Heat::of(fabric, &given.case.tables.routes, &given.flows, given.jobs.len());
        Ok(Self { machine, is_free, usable, terminals, sent, others, now })
    }

    fn placing<'a>(&'a self, given: &'a CountedTraffic) -> PlacementRequest<'a> {
        PlacementRequest {
            fabric: given.case.fabric(),
            routes: &given.case.tables.routes,
            hosts: &self.terminals,
            sent: &self.sent,
            flows: &given.flows,
            now: &self.now,
        }
    }

    /// The best of all that begins somewhere; hosts by their number among the usable ones.
    fn search(
        &self,
        given: &CountedTraffic,
        tried: &[(&str, Vec<u32>)],
        seed: u64,
    ) -> (Vec<u32>, usize) {
        let begins: Vec<Vec<u32>> = tried.iter().map(|(_, hosts)| self.usable_of(hosts)).collect();
        let best = self.placing(given).best(&begins, seed).expect("one was tried");
        (best.hosts, best.exchanges)
    }

    fn usable_of(&self, hosts: &[u32]) -> Vec<u32> {
        let place =
            |h: &u32| self.usable.binary_search(h).expect("allocators give free hosts") as u32;
        hosts.iter().map(place).collect()
    }

    /// What a placement would do; `hosts` are those of the machine, or by their number among the usable ones where it is
    /// `proposed`.
    fn judged(&self, given: &CountedTraffic, name: &str, hosts: &[u32]) -> Placement {
        let hosts = if name == "proposed" { hosts.to_vec() } else { self.usable_of(hosts) };
        let effect = self.placing(given).effect(&hosts);
        Placement {
            name: name.to_owned(),
            alone_seconds: effect.fate.alone,
            together_seconds: effect.fate.together,
            slowdown: effect.fate.slowdown(),
            others: effect.loser.map_or(0.0, |l| l.0),
            loser: effect.loser.map(|l| given.jobs[l.1].clone()),
            fullest: effect.fullest,
            lost: effect.lost,
        }
    }
}

/// Files that start a job there.
fn write(
    dir: &Path,
    hosts: &[String],
    program: &Program,
    per_node: u32,
    json: &str,
) -> Result<(), Failure> {
    let ranks = || (0..program.ranks()).map(|r| (r, &hosts[(r / per_node) as usize], r % per_node));
    save::file(&dir.join("hostfile"), |out| {
        hosts.iter().try_for_each(|host| writeln!(out, "{host} slots={per_node}"))
    })?;
    save::file(&dir.join("rankfile"), |out| {
        ranks().try_for_each(|(rank, host, slot)| writeln!(out, "rank {rank}={host} slot={slot}"))
    })?;
    save::file(&dir.join("ranks"), |out| {
        ranks().try_for_each(|(_, host, _)| writeln!(out, "{host}"))
    })?;
    save::file(&dir.join("place.json"), |out| out.write_all(json.as_bytes()))
}
