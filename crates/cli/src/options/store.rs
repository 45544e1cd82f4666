//! Where work is kept, so that a command that was interrupted resumes.

use std::path::PathBuf;

use clap::Args;

/// Where what is done is kept.
#[derive(Args, Debug, Default)]
pub(crate) struct StoreArgs {
    /// Keep what is done in this folder, and resume from what is there
    #[arg(long, value_name = "DIR", aliases = ["checkpoint", "keep"])]
    pub(crate) store: Option<PathBuf>,
}

/// The same for runs that are kept while they last.
#[derive(Args, Debug, Default)]
pub(crate) struct CheckpointArgs {
    #[command(flatten)]
    pub(crate) keep: StoreArgs,
    /// Time between two checkpoints of a run, by the clock
    #[arg(long, value_name = "TIME", default_value = "5min", alias = "checkpoint-every")]
    pub(crate) store_every: String,
}
