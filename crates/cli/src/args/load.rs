//! What is asked of packets.

use std::path::PathBuf;

use clap::Args;

use super::{BesideTables, FabricArgs};

/// What is kept of runs.
#[derive(Args, Debug)]
pub(crate) struct CheckpointArgs {
    /// Keep every run in this folder now and then, and go on with those that are kept there
    #[arg(long, value_name = "DIR")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// How often, by the clock
    #[arg(long, value_name = "TIME", default_value = "5min")]
    pub(crate) checkpoint_every: String,
}

#[derive(Args, Debug)]
pub(crate) struct LoadCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Where packets go: names of `darkfiber list routings`, separated by commas
    #[arg(short, long, value_name = "ROUTINGS", value_delimiter = ',')]
    pub(crate) routing: Vec<String>,
    /// Also by the tables of these engines
    #[arg(short, long = "engine", value_name = "ENGINES", value_delimiter = ',')]
    pub(crate) engines: Vec<String>,
    /// Also by tables that somebody made: a file, or a directory written by `darkfiber route -o`
    #[arg(long, value_name = "PATH")]
    pub(crate) routes: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
    /// Whom terminals send to: uniform, adversarial, or a pattern of `darkfiber list patterns`
    #[arg(long, value_name = "PATTERN", default_value = "uniform")]
    pub(crate) pattern: String,
    /// Loads, as parts of what channels of terminals carry, separated by commas
    #[arg(
        long,
        value_name = "LOADS",
        value_delimiter = ',',
        default_value = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1.0"
    )]
    pub(crate) loads: Vec<f64>,
    /// Bytes of a packet
    #[arg(long, value_name = "BYTES", default_value = "2KiB")]
    pub(crate) packet: String,
    /// Bytes of a message, all of whose packets are created at once: bursts [default: a packet]
    #[arg(long, value_name = "BYTES")]
    pub(crate) message: Option<String>,
    /// What switches are like: a name of `darkfiber list switches`
    #[arg(long, value_name = "SWITCHES", default_value = "qdr")]
    pub(crate) switches: String,
    /// Virtual lanes, instead of as many as a routing needs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) lanes: Option<u8>,
    /// Bytes of buffer for each lane of an input
    #[arg(long, value_name = "BYTES")]
    pub(crate) buffer: Option<String>,
    /// What cables between switches take
    #[arg(long, value_name = "TIME")]
    pub(crate) cable: Option<String>,
    /// What cables between groups of a dragonfly take
    #[arg(long, value_name = "TIME")]
    pub(crate) global_cable: Option<String>,
    /// How long packets count [default: as a hundred packets, or twenty times as long as one takes on its way]
    #[arg(long, value_name = "TIME")]
    pub(crate) measure: Option<String>,
    /// How long nothing counts [default: until latencies have settled]
    #[arg(long, value_name = "TIME")]
    pub(crate) warmup: Option<String>,
    /// How packets wait: lanes, outputs (virtual output queues) or memory (output-queued) [default: as the switches]
    #[arg(long, value_name = "QUEUES")]
    pub(crate) queues: Option<String>,
    /// Whose turn it is: round-robin, age, islip or tiles [default: as the switches]
    #[arg(long, value_name = "TURNS")]
    pub(crate) arbitration: Option<String>,
    /// What holds sources back: a name of `darkfiber list congestion` [default: none]
    #[arg(long, value_name = "SCHEME")]
    pub(crate) congestion: Option<String>,
    /// What packets have on channels beside data: a name of `darkfiber list framing`; loads are of data [default: none]
    #[arg(long, value_name = "FRAMING")]
    pub(crate) framing: Option<String>,
    /// Probability that a bit is wrong behind a cable: such packets are sent again
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub(crate) bit_errors: f64,
    /// Cables of which only a part of the lanes works, as SHARE:PART, e.g. 0.05:0.5
    #[arg(long, value_name = "SHARE:PART")]
    pub(crate) degraded: Option<String>,
    /// Keep what channels and buffers do, by intervals of this length, with -o
    #[arg(long, value_name = "TIME")]
    pub(crate) interval: Option<String>,
    /// Write the result, pictures of curves and latencies, and Parquet files there
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Draw latency by load
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) keep: CheckpointArgs,
}
