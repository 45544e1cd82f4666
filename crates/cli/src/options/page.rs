//! A page to look at.

use std::path::PathBuf;

use clap::Args;

/// A page to look at.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PageArgs {
    /// Write a page with a map: one file to open, zoom, click and mail
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write its map alone, as it is at first: a still picture (SVG)
    #[arg(long, value_name = "FILE")]
    pub(crate) map: Option<PathBuf>,
}
