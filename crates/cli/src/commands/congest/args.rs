//! The command line.

use std::path::PathBuf;

use clap::Args;

use crate::options::values::above_zero;
use crate::options::{CheckpointArgs, FabricArgs, PageArgs, SwitchArgs};
use crate::preset::PresetArgs;

#[derive(Args, Debug)]
pub(crate) struct CongestCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Victims, which are timed, separated by commas: COLLECTIVE:SIZE, or any traffic of `darkfiber list traffic`, as
    /// name:key=value,..
    #[arg(long, value_name = "VICTIM,..", default_value = "allreduce:8B,alltoall:128B,halo3d")]
    pub(crate) victims: String,
    /// Aggressors, separated by commas: incast, alltoall, bursts:bytes=..,burst=..,gap=.., or any traffic
    #[arg(long, value_name = "AGGRESSOR,..", default_value = "incast,alltoall")]
    pub(crate) aggressors: String,
    /// Hosts of the victim: in percent, the rest being the aggressor's; or as VICTIM/AGGRESSOR, e.g. 460/52
    #[arg(long, value_name = "SPLIT,..", value_delimiter = ',', default_value = "90,50,10")]
    pub(crate) split: Vec<String>,
    /// Placement of both: allocators of `darkfiber list allocators`, separated by commas
    #[arg(
        long,
        alias = "allocation",
        value_name = "ALLOCATOR,..",
        value_delimiter = ',',
        default_value = "linear"
    )]
    pub(crate) place: Vec<String>,
    /// Congestion control: names of `darkfiber list congestion`, separated by commas, with parameters as
    /// SCHEME:key=value,..; with +classes behind it victims and aggressors have a traffic class each
    #[arg(long, value_name = "SCHEME,..", value_delimiter = ',', default_value = "none,pairs")]
    pub(crate) congestion: Vec<String>,
    /// Routing of packets: names of `darkfiber list routings`, separated by commas
    #[arg(
        short,
        long,
        value_name = "ROUTING,..",
        value_delimiter = ',',
        default_value = "four-ways"
    )]
    pub(crate) routing: Vec<String>,
    /// Number of hosts that take part, the first ones [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) nodes: Option<u32>,
    /// Draw the hosts that take part at random, as on a shared machine, instead of taking the first ones
    #[arg(long, requires = "nodes")]
    pub(crate) scattered: bool,
    /// Instances of an aggressor on each of its hosts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) ppn: u32,
    /// Host overheads: a name of `darkfiber list hosts`
    #[arg(long, alias = "hosts", value_name = "HOSTS", default_value = "slingshot")]
    pub(crate) host_model: String,
    /// The tables of this engine, for --routing tables [default: minhop]
    #[arg(short, long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    #[command(flatten)]
    pub(crate) switch: SwitchArgs,
    /// Library whose collective algorithms are used: openmpi, mpich or nccl
    #[arg(long, value_name = "LIBRARY", default_value = "openmpi")]
    pub(crate) library: String,
    /// Iterations or requests of a victim, at least
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(6..=1_000_000))]
    pub(crate) iterations: u32,
    /// Runs of a victim that is an application, at least
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(6..=1_000_000))]
    pub(crate) runs: u32,
    /// Half-width of the 95 % confidence interval of the median to reach, in percent of it
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = above_zero)]
    pub(crate) precision: f64,
    /// Simulated time after which a victim is stopped
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    pub(crate) limit: String,
    /// Time that aggressors run before victims start
    #[arg(long, value_name = "TIME", default_value = "2ms")]
    pub(crate) warmup: String,
    #[command(flatten)]
    pub(crate) keep: CheckpointArgs,
    /// Write the result (congest.json, congest.csv), the pictures and every time (times.csv) here
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Draw the congestion impacts
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Every victim is timed in isolation and, on the same hosts, beside every aggressor, which runs without end; the
congestion impact C is the second time over the first (De Sensi et al., SC'20, figure 9). Victims: a collective
with its size (allreduce:8B), halo3d, sweep3d,
an application (lammps, milc, hpcg, fft, resnet), a service (silo, xapian, img-dnn, sphinx), or any other
traffic. Aggressors:
incast (all put 128 KiB at one), alltoall, bursts:bytes=16KiB,burst=1000,gap=10us, or any other traffic.

Examples:
  darkfiber congest dragonfly:p=4,a=4,h=4,g=8,gbps=200
  darkfiber congest @malbec --victims allreduce:8B,alltoall:128B,lammps --aggressors incast --split 50,10
  darkfiber congest @malbec --nodes 128 --split 64/64 --place linear,interleaved,random -o results
  darkfiber congest @malbec --victims alltoall:128B --aggressors bursts:bytes=4KiB,gap=1us --split 50 --congestion pairs
  darkfiber congest @malbec --split 50 --congestion none,ecn,ecn:kmax=10us,g=1/16,reserve:notes=priced,clock=4ns

A victim is timed at least 200 times (an application ten times), and until the 95 % confidence interval of the
median is
within 5 % of it, or --limit of simulated time is over, which is reported. Exit code 4 if nothing can be run.";
