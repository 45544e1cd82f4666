//! The command line.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::options::{CheckpointArgs, NamesArgs, PageArgs};

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct SimulateCommand {
    /// The scenario, in TOML; several are compared side by side
    #[arg(value_name = "SCENARIO", required = true)]
    pub(crate) scenario: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) names: NamesArgs,
    /// Set a key of the scenario; several values are compared: packets.routing=minimal,ugal; several times
    #[arg(long, value_name = "KEY=VALUE,..")]
    pub(crate) set: Vec<String>,
    /// Simulate as many seeds, from --seed on, and report means with confidence intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) seeds: Option<u64>,
    /// Draw the jobs of scenarios that are compared, side by side
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Depth of simulation, instead of the scenario's
    #[arg(long, value_enum)]
    pub(crate) depth: Option<Depth>,
    /// Say how long it takes and how much memory, by its first five seconds, and end
    #[arg(long, conflicts_with_all = ["set", "seeds", "isolated", "output", "steps", "pairs", "timeline", "channels", "html", "map", "store", "progress"])]
    pub(crate) estimate: bool,
    /// Also simulate each job in isolation, and report how much longer it takes among the others
    #[arg(long)]
    pub(crate) isolated: bool,
    /// Write the scenario with every default filled in, which gives the same results
    #[arg(long, value_name = "FILE")]
    pub(crate) resolved: Option<PathBuf>,
    /// Write the result (simulate.json), the pictures, and tables of runs, pairs of ranks and channels (Parquet) here
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write how much the ports of a job's switches carried, and how much waited for them, in each run of each job: a
    /// table for `darkfiber explain`
    #[arg(long, value_name = "FILE")]
    pub(crate) steps: Option<PathBuf>,
    /// Draw the bandwidth between ranks
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    /// Draw runs of jobs and, with an interval to keep, channels over time
    #[arg(long, value_name = "FILE")]
    pub(crate) timeline: Option<PathBuf>,
    /// Draw the utilization of channels
    #[arg(long, value_name = "FILE")]
    pub(crate) channels: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Report progress every two seconds, even if standard error is not a terminal
    #[arg(long)]
    pub(crate) progress: bool,
    #[command(flatten)]
    pub(crate) keep: CheckpointArgs,
    /// Share the packets of the run among all processes of mpirun or srun
    #[arg(long)]
    pub(crate) mpi: bool,
}

/// How deep to look at a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Depth {
    /// Channels count the bytes of all messages; no time passes
    Count,
    /// Messages share channels max-min fairly
    Flow,
    /// Messages never meet
    Loggp,
    /// Every packet, in switches with buffers, credits and lanes
    Packet,
}

impl From<Depth> for darkfiber_scenario::Depth {
    fn from(depth: Depth) -> Self {
        match depth {
            Depth::Count => Self::Count,
            Depth::Flow => Self::Flow,
            Depth::Loggp => Self::LogGp,
            Depth::Packet => Self::Packet,
        }
    }
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
A scenario is a fabric, its routes, jobs placed on it, and their traffic:

  fabric = \"@t2hx-hyperx\"
  hosts = \"qdr\"
  [routes]
  engine = \"dfsssp\"
  [[job]]
  traffic = \"mpigraph:bytes=1MiB\"
  nodes = 28

`darkfiber help scenario` has all keys. Traffic: darkfiber list traffic;
host overheads: darkfiber list hosts; placement of jobs: darkfiber list allocators.

Examples:
  darkfiber simulate examples/mpigraph-hyperx.toml
  darkfiber simulate examples/mpigraph-hyperx.toml --pairs pairs.svg
  darkfiber simulate examples/interference.toml --html map.html      who shares which cable, and when
  darkfiber simulate examples/capacity.toml -o results --progress
  darkfiber simulate my.toml --depth loggp --format json
  darkfiber simulate before.toml after.toml --svg both.svg
  darkfiber simulate my.toml --set routes.engine=updn,dfsssp --seeds 5
  mpirun -n 4 darkfiber simulate my.toml --depth packet --mpi

Exit code 3 if the scenario or a file of it cannot be read, 4 if ranks wait for what never comes, packets deadlock,
no engine routes the fabric, or there are not enough hosts (with [update] a deadlock or a broken connection is 1); of several scenarios, if\none has no result.";
