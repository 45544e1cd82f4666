//! What is asked of victims and aggressors.

use std::path::PathBuf;

use clap::Args;

use super::FabricArgs;

#[derive(Args, Debug)]
pub(crate) struct CongestCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Who is timed, separated by commas: COLLECTIVE:SIZE, or any traffic of `darkfiber list traffic`, as name:key=value,..
    #[arg(long, value_name = "VICTIM,..", default_value = "allreduce:8B,alltoall:128B,halo3d")]
    pub(crate) victims: String,
    /// Who disturbs, separated by commas: incast, alltoall, bursts:bytes=..,burst=..,gap=.., or any traffic
    #[arg(long, value_name = "AGGRESSOR,..", default_value = "incast,alltoall")]
    pub(crate) aggressors: String,
    /// Hosts of the victim: percent, the rest being the aggressor's; or as VICTIM/AGGRESSOR, e.g. 460/52
    #[arg(long, value_name = "SPLIT,..", value_delimiter = ',', default_value = "90,50,10")]
    pub(crate) split: Vec<String>,
    /// Which hosts each gets: allocators of `darkfiber list allocators`, separated by commas
    #[arg(long, value_name = "ALLOCATOR,..", value_delimiter = ',', default_value = "linear")]
    pub(crate) allocation: Vec<String>,
    /// Congestion control: names of `darkfiber list congestion`, separated by commas; with +classes behind it victims and
    /// aggressors have a traffic class each
    #[arg(long, value_name = "SCHEME,..", value_delimiter = ',', default_value = "none,pairs")]
    pub(crate) congestion: Vec<String>,
    /// Where packets go: names of `darkfiber list routings`, separated by commas
    #[arg(
        short,
        long,
        value_name = "ROUTING,..",
        value_delimiter = ',',
        default_value = "four-ways"
    )]
    pub(crate) routing: Vec<String>,
    /// So many hosts take part, the first ones [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) nodes: Option<u32>,
    /// Hosts that take part are drawn by lot, as on a machine that others use, too, instead of the first ones
    #[arg(long, requires = "nodes")]
    pub(crate) scattered: bool,
    /// How often an aggressor runs side by side on each of its hosts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) ppn: u32,
    /// What switches are like: a name of `darkfiber list switches`
    #[arg(long, value_name = "SWITCHES", default_value = "rosetta")]
    pub(crate) switches: String,
    /// What hosts cost: a name of `darkfiber list hosts`
    #[arg(long, value_name = "HOSTS", default_value = "slingshot")]
    pub(crate) hosts: String,
    /// Whose collectives: openmpi, mpich or nccl
    #[arg(long, value_name = "LIBRARY", default_value = "openmpi")]
    pub(crate) library: String,
    /// The tables of this engine, for routing tables
    #[arg(short, long, value_name = "ENGINE", default_value = "minhop")]
    pub(crate) engine: String,
    /// Bytes of a packet
    #[arg(long, value_name = "BYTES", default_value = "4KiB")]
    pub(crate) packet: String,
    /// Virtual lanes, instead of as many as a routing needs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) lanes: Option<u8>,
    /// Bytes of buffer for each lane of an input
    #[arg(long, value_name = "BYTES")]
    pub(crate) buffer: Option<String>,
    /// Iterations or requests of a victim, at least
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(6..=1_000_000))]
    pub(crate) iterations: u32,
    /// Runs of a victim that is an application, at least
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(6..=1_000_000))]
    pub(crate) runs: u32,
    /// How far the 95 % confidence interval of the median may reach from it, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = super::above_zero)]
    pub(crate) precision: f64,
    /// Simulated time after which a victim ends all the same
    #[arg(long, value_name = "TIME", default_value = "100ms")]
    pub(crate) limit: String,
    /// How long aggressors run before victims begin
    #[arg(long, value_name = "TIME", default_value = "2ms")]
    pub(crate) warmup: String,
    /// Keep every run in this folder when it is over, and take those that are kept there
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<PathBuf>,
    /// Write the result (congest.json, congest.csv), the pictures and every time (times.csv) here
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Draw the congestion impacts
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}
