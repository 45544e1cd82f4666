//! The starting tables and limits of `route -e ease`; whether lanes reserve capacity for repairs.

use std::path::PathBuf;

use clap::Args;

use super::BesideFrom;

/// What `route -e ease` begins with, and how far it may go.
#[derive(Args, Debug)]
pub(crate) struct EaseArgs {
    /// Tables in place: a file, or a directory written by `darkfiber route -o`. With -e ease few entries of them
    /// change; with another engine, as many of its entries are taken as can be put in place in any order with the
    /// service levels in use
    #[arg(long, value_name = "PATH", conflicts_with_all = ["spread_lanes", "protect"], help_heading = "Ease options")]
    pub(crate) from: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideFrom,
    /// Maximum number of entries that -e ease changes [default: 64]
    #[arg(long, value_name = "N", help_heading = "Ease options")]
    pub(crate) moves: Option<usize>,
    /// Maximum number of steps to put them in place, each complete before the next [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), help_heading = "Ease options")]
    pub(crate) steps: Option<u16>,
    /// Instead of --jobs or --demands: port counters, in the order of time, as for `darkfiber hot`. Who sends what is
    /// estimated; with --jobs, only inside jobs
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "from", conflicts_with = "demands", help_heading = "Ease options")]
    pub(crate) counters: Vec<PathBuf>,
}
