//! Store of finished work, so that an interrupted command resumes.

use std::path::PathBuf;

use clap::Args;

/// Where what is done is kept.
#[derive(Args, Debug, Default)]
pub(crate) struct StoreArgs {
    /// Keep finished work in this folder, and resume from it
    #[arg(long, value_name = "DIR", aliases = ["checkpoint", "keep"])]
    pub(crate) store: Option<PathBuf>,
}

/// The same for runs that are kept while they last.
#[derive(Args, Debug, Default)]
pub(crate) struct CheckpointArgs {
    #[command(flatten)]
    pub(crate) keep: StoreArgs,
    /// Wall-clock time between two checkpoints of a run
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5min",
        requires = "store",
        alias = "checkpoint-every"
    )]
    pub(crate) store_every: String,
}
