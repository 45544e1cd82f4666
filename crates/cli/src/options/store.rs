//! Where work is kept, so that a command that was interrupted resumes.

use std::path::PathBuf;

use clap::Args;

/// What is kept of runs.
#[derive(Args, Debug, Default)]
pub(crate) struct StoreArgs {
    /// Keep what is done in this folder, and resume from what is there
    #[arg(long, value_name = "DIR", aliases = ["checkpoint", "keep"])]
    pub(crate) store: Option<PathBuf>,
    /// Time between two checkpoints of a run, by the clock
    #[arg(long, value_name = "TIME", default_value = "5min", alias = "checkpoint-every")]
    pub(crate) store_every: String,
}
