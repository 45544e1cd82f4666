//! The command line.

use std::path::PathBuf;

use clap::Args;

use crate::options::{BesideTables, CheckpointArgs, EngineArgs, FabricArgs, SwitchArgs};
use crate::preset::PresetArgs;

#[derive(Args, Debug)]
pub(crate) struct SaturateCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Routing of packets: names of `darkfiber list routings`, separated by commas
    #[arg(short, long, value_name = "ROUTINGS", value_delimiter = ',')]
    pub(crate) routing: Vec<String>,
    #[command(flatten)]
    pub(crate) engines: EngineArgs,
    /// Also by existing tables: a file, or a directory written by `darkfiber route -o`
    #[arg(long, value_name = "PATH")]
    pub(crate) routes: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
    /// Destinations of terminals: uniform, adversarial, or a pattern of `darkfiber list patterns`
    #[arg(long, value_name = "PATTERN", default_value = "uniform")]
    pub(crate) pattern: String,
    /// Offered loads, as fractions of a terminal's bandwidth, separated by commas
    #[arg(
        long,
        value_name = "LOADS",
        value_delimiter = ',',
        default_value = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"
    )]
    pub(crate) loads: Vec<f64>,
    /// Bytes of a message, created at once [default: a packet]
    #[arg(long, value_name = "BYTES")]
    pub(crate) message: Option<String>,
    /// Time over which packets are measured [default: of 100 packets on a channel or 20 ways over 8 switches, more near saturation]
    #[arg(long, value_name = "TIME")]
    pub(crate) measure: Option<String>,
    /// Time before measurement starts [default: until latencies have settled]
    #[arg(long, value_name = "TIME")]
    pub(crate) warmup: Option<String>,
    /// SCHEME[:key=value,..] of `darkfiber list congestion` [default: none]
    #[arg(long, value_name = "SCHEME")]
    pub(crate) congestion: Option<String>,
    /// Record channels and buffers by intervals of this length (-o)
    #[arg(long, value_name = "TIME")]
    pub(crate) interval: Option<String>,
    /// Write the result, pictures, and Parquet files there
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Draw latency by load
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) switch: SwitchArgs,
    #[command(flatten)]
    pub(crate) keep: CheckpointArgs,
    /// Share each load among all processes of mpirun or srun
    #[arg(long, conflicts_with = "write_study")]
    pub(crate) mpi: bool,
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Every terminal creates packets at random at the offered load; switches forward them by credits for each virtual
lane, and never drop one. Packets are measured once latencies have settled. Each routing gets the lanes that it
needs to be free of deadlock; tables with cycles can deadlock, and the cycle is printed (exit status 1).

Examples:
  darkfiber saturate dragonfly:p=4,a=8,h=4 -r minimal,ugal --svg curve.svg
  darkfiber saturate dragonfly:p=4,a=8,h=4 -r minimal,ugal --pattern adversarial
  darkfiber saturate my-fabric.topo --routes lfts.dump --switches qdr --loads 0.2,0.8";
