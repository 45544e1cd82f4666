//! What is asked of a fabric that runs: hot channels, places for jobs, and what explains times.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{BesideTables, JobsArgs, NamesArgs, SetArgs};

#[derive(Args, Debug)]
pub(crate) struct HotCommand {
    /// Fabric, tables, jobs and their traffic, in TOML, as for simulate; without, give --fabric and what was counted
    #[arg(value_name = "SCENARIO", required_unless_present = "fabric", conflicts_with = "fabric")]
    pub(crate) scenario: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) counted: CountedArgs,
    /// Channels that carry more (61.5GB) are hot; entries are changed until none is. Without, as long as the hottest
    /// cools down
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_load: Option<String>,
    /// Entries to change at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) moves: usize,
    /// Which destination leaves a hot channel
    #[arg(long, value_enum, default_value_t)]
    pub(crate) policy: HotPolicy,
    #[command(flatten)]
    pub(crate) set: SetArgs,
    /// Draw channels by what they carry, now and after the changes
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Lines of each list; -v shows all
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
}

/// Which destination leaves a hot channel, and which way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum HotPolicy {
    /// That with the lowest LID, to the least loaded channel: the paper's
    First,
    /// That with most traffic, to the least loaded channel
    Largest,
    /// That with the lowest LID, on the least loaded way
    Path,
    /// That, and the way, after which the fuller of both is least full
    #[default]
    Best,
}

#[derive(Args, Debug)]
pub(crate) struct ExplainCommand {
    /// A table with a heading: a row for each run, process or step, or for each port in a step
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Column of times
    #[arg(long, value_name = "COLUMN")]
    pub(crate) time: String,
    /// Explain times by this column alone, as two lines that meet: bytes on the fullest channel, for example
    #[arg(long, value_name = "COLUMN", conflicts_with_all = ["features", "run", "step"])]
    pub(crate) load: Option<String>,
    /// Learn times from these columns; a * at the end stands for any ending [default: all others that hold numbers only]
    #[arg(long, value_name = "COLUMN", num_args = 1.., value_delimiter = ',')]
    pub(crate) features: Vec<String>,
    /// Column that tells runs apart: what is learnt is tried on whole runs that were left out
    #[arg(long, value_name = "COLUMN")]
    pub(crate) run: Option<String>,
    /// Column that tells the steps of a run apart; rows of one step are features by their sum, mean and maximum
    #[arg(long, value_name = "COLUMN")]
    pub(crate) step: Option<String>,
    /// Draw times: by load, or as they are and as they are foretold
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct ProposeCommand {
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

/// A fabric that runs, and what was counted on it.
#[derive(Args, Debug)]
pub(crate) struct CountedArgs {
    #[command(flatten)]
    pub(crate) names: NamesArgs,
    /// Fabric: a file, @preset or family:key=value,...
    #[arg(long, value_name = "FABRIC", requires = "routes", help_heading = COUNTED)]
    pub(crate) fabric: Option<String>,
    /// Its tables: a file, or a directory written by `darkfiber route -o`
    #[arg(long, value_name = "PATH", requires = "fabric", help_heading = COUNTED)]
    pub(crate) routes: Option<PathBuf>,
    #[command(flatten, next_help_heading = COUNTED)]
    pub(crate) beside: BesideTables,
    /// What hosts sent to each other: a table with columns source, destination, bytes, and job if known; or demands as for
    /// route
    #[arg(long, value_name = "FILE", requires = "fabric", conflicts_with = "counters", help_heading = COUNTED)]
    pub(crate) sent: Option<PathBuf>,
    /// Port counters, in the order of time: perfquery -x, OpenSM's perfmgr dump, ibdiagnet's db_csv, or a table. Who sends
    /// what is estimated
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "fabric", help_heading = COUNTED)]
    pub(crate) counters: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) jobs: JobsArgs,
}

/// What stands above these options.
const COUNTED: &str = "Without a scenario";
