//! Options of every command.

use clap::{Args, ValueEnum};

use super::values::input_size;
use crate::color::Color;

/// What every command takes.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Common {
    /// Format of results: tables for people, one JSON object with stable keys, or CSV with one line per row
    #[arg(long, global = true, value_enum, default_value_t, help_heading = "Common options")]
    pub(crate) format: Format,
    /// Seed of all random choices; equal seeds give equal results [default: 1]
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX.unsigned_abs()), help_heading = "Common options")]
    pub(crate) seed: Option<u64>,
    /// Threads to use, at most 1024 [default: all cores]; results do not depend on it. More than 64, or than twice the
    /// cores, are not started
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Common options")]
    pub(crate) threads: Option<u16>,
    /// Maximum size of one input, after decompression [default: 4GiB, and compressed input may grow 500 times beyond
    /// 256 MiB]
    #[arg(long, global = true, value_name = "SIZE", value_parser = input_size, help_heading = "Common options")]
    pub(crate) max_input: Option<u64>,
    /// Colors: on a terminal unless NO_COLOR is set, always, or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        help_heading = "Common options"
    )]
    pub(crate) color: Color,
    /// No progress, notes or warnings
    #[arg(short, long, global = true, conflicts_with = "verbose", help_heading = "Common options")]
    pub(crate) quiet: bool,
    /// All notes and warnings, and every finding in full
    #[arg(short, long, global = true, help_heading = "Common options")]
    pub(crate) verbose: bool,
}

impl Common {
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }
}

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Table,
    Json,
    Csv,
}
