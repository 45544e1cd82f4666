//! What is asked of jobs.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{BesideTables, FabricFlag, NamesArgs, above_zero, at_least_one};
use crate::help;

#[derive(Args, Debug)]
pub(crate) struct JobsCommand {
    #[command(subcommand)]
    pub(crate) action: JobsAction,
}

#[derive(Subcommand, Debug)]
pub(crate) enum JobsAction {
    /// Has anything changed that routing should follow? Writes which nodes run jobs together, if so
    #[command(after_help = help::FILTER)]
    Filter(FilterCommand),
    /// Who shares which links with whom now, what stays dark, and what each engine would change
    #[command(after_help = help::JOBS_REPORT)]
    Report(ReportCommand),
    /// Choose hosts: hostfiles for jobs, or where the jobs of a log could have run
    #[command(name = "allocate", alias = "place", after_help = help::PLACE)]
    Place(PlaceCommand),
}

#[derive(Args, Debug)]
pub(crate) struct ReportCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricFlag,
    /// Jobs that run and their nodes, of any kind that is known
    #[arg(long, value_name = "FILE")]
    pub(crate) jobs: PathBuf,
    /// Other names of hosts: an alias and the name or GUID in the fabric on each line, in any order; `@group hosts`
    /// names several
    #[arg(long, value_name = "FILE")]
    pub(crate) aliases: Option<PathBuf>,
    /// Jobs that ran then, by the times of the log: a date, or a time after its first job began (10d)
    #[arg(long, value_name = "WHEN", value_parser = crate::moment::when)]
    pub(crate) at: Option<crate::moment::When>,
    /// Tables in use: a file, or a directory written by `darkfiber route -o`
    #[arg(long, value_name = "PATH")]
    pub(crate) routes: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
    /// Engines to ask what they would change, separated by commas; without --routes the tables of the first
    /// are taken to be in use
    #[arg(
        short,
        long = "engine",
        value_name = "ENGINE,..",
        value_delimiter = ',',
        default_value = "dfsssp,sar,sar-best"
    )]
    pub(crate) engines: Vec<String>,
    /// Data virtual lanes that engines may use (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Lines of each list; -v shows all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
}

#[derive(Args, Debug)]
pub(crate) struct PlaceCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricFlag,
    /// How (`darkfiber list allocators`)
    #[arg(long, value_name = "ALLOCATOR", default_value = "first-fit")]
    pub(crate) by: String,
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

#[derive(Args, Debug)]
pub(crate) struct FilterCommand {
    /// The file with `node job` on each line to compare with, and to write if it differs
    #[arg(value_name = "MAPPING")]
    pub(crate) mapping: PathBuf,
    /// Jobs and their nodes, of any kind that is known [default: standard input]
    #[arg(long, value_name = "FILE", conflicts_with = "poll")]
    pub(crate) jobs: Option<PathBuf>,
    /// Ask a command for them: `squeue -a -o "%i %T %N"`
    #[arg(long, value_name = "COMMAND")]
    pub(crate) poll: Option<String>,
    /// Take a list without any job, even an empty file, for an idle machine; without, a list of which nothing can be
    /// known is refused, as batch systems that fail print such, too
    #[arg(long)]
    pub(crate) empty_is_idle: bool,
    /// Seconds to wait for its answer
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    /// SLURM's topology.conf, which tells the switch of each node
    #[arg(long, value_name = "FILE", conflicts_with = "fabric")]
    pub(crate) topology: Option<PathBuf>,
    /// The fabric, which tells the switch of each node: a file, @preset or family:key=value,...
    #[arg(long, value_name = "FABRIC")]
    pub(crate) fabric: Option<String>,
    /// Other names of hosts: an alias and the name or GUID in the fabric on each line, in any order
    #[arg(long, value_name = "FILE", requires = "fabric")]
    pub(crate) aliases: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) names: NamesArgs,
}
