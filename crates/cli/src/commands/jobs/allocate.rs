//! `darkfiber jobs place`: hosts for jobs, as hostfiles or as a log that says where jobs ran.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_formats::calendar;
use darkfiber_formats::hostlist::compress;
use darkfiber_report::replay::remarks;
use darkfiber_scenario::history::Log;
use darkfiber_scenario::job_log::per_host;
use darkfiber_workload::placement::Free;
use darkfiber_workload::{Machine, Stream};

use crate::failure::{Exit, Failure};
use crate::history;
use crate::jobs::Running;
use crate::options::values::{above_zero, at_least_one};
use crate::options::{Common, FabricArgs};
use crate::{job_log, load, out, save};

#[derive(Args, Debug)]
pub(crate) struct AllocateCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// How (`darkfiber list allocators`)
    #[arg(long, alias = "by", value_name = "ALLOCATOR", default_value = "first-fit")]
    pub(crate) place: String,
    /// Hosts of each job, separated by commas
    #[arg(long, value_name = "N,..", value_delimiter = ',', required_unless_present = "jobs", conflicts_with = "jobs", value_parser = at_least_one)]
    pub(crate) hosts: Vec<usize>,
    /// Jobs that run: their hosts are not free
    #[arg(long, value_name = "FILE", requires = "hosts")]
    pub(crate) avoid: Option<PathBuf>,
    /// Other names of hosts in --avoid: an alias and the name or GUID in the fabric on each line, in any order;
    /// `@group hosts` names several
    #[arg(long, value_name = "FILE", requires = "avoid")]
    pub(crate) aliases: Option<PathBuf>,
    /// A log whose jobs are placed, one after the other; written as `sacct -P` would
    #[arg(long, value_name = "LOG")]
    pub(crate) jobs: Option<PathBuf>,
    /// Processors of a host, for a log [default: as its header says, else 1]
    #[arg(long, value_name = "N", requires = "jobs", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) processors_per_host: Option<u32>,
    /// Multiply the hosts of a log's jobs; jobs smaller than a host come as many times as often instead
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = above_zero)]
    pub(crate) scale: f64,
    /// Write here: a file, or with several --hosts a directory [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Hosts come in the order of ranks, one a line; several jobs on standard output as `host job`. With --jobs the jobs of
a log (SWF, sacct, ...) are placed as `darkfiber replay --place` does, and written as `sacct -P` would
write them: JobID, Start, End, State, NNodes, NodeList.

Examples:
  darkfiber jobs allocate --fabric my-fabric.topo --hosts 28 --place best-fit > hostfile
  darkfiber jobs allocate --fabric @t2hx-hyperx --hosts 56,56,32 --place clustered --seed 7 -o hostfiles
  darkfiber jobs allocate --fabric @tsubame25 --jobs RICC-2010-2.swf.gz --scale 1.375 --place best-fit -o placed.log";

pub(super) fn run(args: &AllocateCommand, common: &Common) -> Result<Exit, Failure> {
    match &args.jobs {
        Some(log) => month(args, log, common),
        None => hostfiles(args, common),
    }
}

/// A log with places.
fn month(args: &AllocateCommand, path: &Path, common: &Common) -> Result<Exit, Failure> {
    let by = history::known_allocator(&args.place)?;
    save::expect(args.output.as_ref())?;
    let loaded = load::one_plane(&args.fabric, common)?;
    let mut log = Log::default();
    let (header, _) = job_log::read(path, common, &mut |record| log.take(&record))?;
    if log.is_empty() {
        return Err(Failure::input(format!("{}: no job in it says when it ran", path.display())));
    }
    let per_host = args.processors_per_host.or_else(|| per_host(&header)).unwrap_or(1);
    let machine = Machine::new(&loaded.topology, per_host);
    let requests = log.requests(&machine, args.scale, false);
    let mut facts = None;
    let exit = written(args.output.as_deref(), |out| {
        writeln!(out, "JobID|Start|End|State|NNodes|NodeList")?;
        let mut trouble = Ok(());
        facts =
            Some(log.placed(&machine, &requests, (by, args.scale), common.seed(), &mut |job| {
                let names: Vec<&str> = job.hosts.iter().map(|&h| machine.name(h)).collect();
                let result = writeln!(
                    out,
                    "{}|{}|{}|COMPLETED|{}|{}",
                    job.request + 1,
                    calendar::text(job.start),
                    calendar::text(job.end),
                    names.len(),
                    compress(&names)
                );
                if trouble.is_ok() {
                    trouble = result;
                }
            }));
        trouble
    })?;
    if let Some(facts) = facts.filter(|_| !common.quiet) {
        let numbers =
            "jobs are numbered in the order of their starts there: their ids are not kept";
        out::eprint_line(&format!("{}: note: {numbers}", path.display()));
        for remark in remarks(&facts) {
            out::eprint_line(&format!("{}: note: {remark}", path.display()));
        }
    }
    Ok(exit)
}

/// A file of hosts for each job.
fn hostfiles(args: &AllocateCommand, common: &Common) -> Result<Exit, Failure> {
    let by = history::known_allocator(&args.place)?;
    if args.scale.to_bits() != 1f64.to_bits() {
        return Err(Failure::usage(
            "--scale multiplies the hosts of a log's jobs, and there is no log",
        )
        .hint("give --jobs LOG, or as many --hosts as are wanted"));
    }
    if args.processors_per_host.is_some() {
        return Err(Failure::usage(
            "--processors-per-host divides the processors of a log's jobs, and there is no log",
        )
        .hint("give --jobs LOG, or leave it out"));
    }
    if args.hosts.len() == 1 {
        save::expect(args.output.as_ref())?;
    } else {
        save::expect_directory(args.output.as_ref())?;
    }
    let loaded = load::one_plane(&args.fabric, common)?;
    let machine = Machine::new(&loaded.topology, 1);
    let mut is_free = vec![true; machine.len()];
    if let Some(path) = &args.avoid {
        let aliases = args.aliases.as_deref();
        let running = Running::load(path, aliases, None, &loaded.topology.fabric, common)?;
        running.expect_all_placed(path)?;
        for (h, is_free) in (0..).zip(&mut is_free) {
            let busy = |t| running.places.iter().any(|place| place.binary_search(t).is_ok());
            *is_free = !machine.terminals(h).iter().any(busy);
        }
    }
    let mut jobs = Vec::new();
    for (i, &n) in args.hosts.iter().enumerate() {
        let free = Free { machine: &machine, is_free: &is_free };
        let given = by.allocate(&free, n, &mut Stream::new(common.seed(), i as u64));
        let hosts = given.ok_or_else(|| {
            let left = is_free.iter().filter(|f| **f).count();
            Failure::infeasible(format!(
                "{} finds no {n} hosts for job {}: {left} of {} are free",
                by.name,
                i + 1,
                machine.len()
            ))
        })?;
        for &h in &hosts {
            is_free[h as usize] = false;
        }
        jobs.push(hosts);
    }
    let lines = |out: &mut dyn Write, hosts: &[u32]| {
        hosts.iter().try_for_each(|&h| writeln!(out, "{}", machine.name(h)))
    };
    match (&args.output, jobs.as_slice()) {
        (output, [hosts]) => written(output.as_deref(), |out| lines(out, hosts)),
        (Some(dir), jobs) => {
            for (i, hosts) in jobs.iter().enumerate() {
                save::file(&dir.join(format!("job{}.hosts", i + 1)), |out| lines(out, hosts))?;
            }
            Ok(Exit::Fine)
        }
        (None, jobs) => out::print_with(|out| {
            for (i, hosts) in jobs.iter().enumerate() {
                for &h in hosts {
                    writeln!(out, "{} {}", machine.name(h), i + 1)?;
                }
            }
            Ok(())
        })
        .map(|()| Exit::Fine),
    }
}

/// Writes to a file, or to standard output.
fn written(
    path: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Exit, Failure> {
    match path {
        Some(path) => save::file(path, write),
        None => out::print_with(write),
    }
    .map(|()| Exit::Fine)
}
