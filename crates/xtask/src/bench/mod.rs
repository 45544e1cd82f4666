//! Benchmarks side by side with other programs, and the page that has them: docs/benchmarks.md.
//!
//! benches/bench.toml says what is measured and how, benches/bench.csv has what came out. `bench` runs what was not measured at this
//! commit and then writes the page and its plot; `bench --table` only writes them.

mod figure;
mod growth;
mod page;
mod plot;
mod results;
mod rows;
mod runner;
mod text;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;

use results::Results;
use rows::Rows;

/// Options of `bench`.
#[derive(Args)]
pub(crate) struct Bench {
    /// Only rows whose name, section, work or peer has this text; may be repeated
    #[arg(long, value_name = "TEXT")]
    only: Vec<String>,
    /// Built peers; rows whose peer is missing keep the peer's last figure
    #[arg(long, value_name = "DIR")]
    peers: Option<PathBuf>,
    /// Write the page from the results that are there, and run nothing
    #[arg(long)]
    table: bool,
    /// Measure rows that were measured at this commit, too
    #[arg(long)]
    again: bool,
    /// A program that is built already, instead of building a release
    #[arg(long, value_name = "PATH")]
    darkfiber: Option<PathBuf>,
    /// Examples that are built already, beside --darkfiber [default: `examples` beside the program]
    #[arg(long, value_name = "DIR")]
    examples: Option<PathBuf>,
    /// Where commands write to
    #[arg(long, value_name = "DIR", default_value = "target/bench")]
    work: PathBuf,
    /// Most seconds of a command
    #[arg(long, value_name = "SECONDS", default_value_t = 900)]
    timeout: u64,
    /// Where the page goes to
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks.md")]
    page: PathBuf,
    /// Where the plot goes to
    #[arg(long, value_name = "FILE", default_value = "docs/benchmarks.svg")]
    plot: PathBuf,
}

/// Measures and writes the page; returns whether all rows could be measured.
///
/// # Errors
/// If bench.toml or bench.csv is faulty, or nothing can be run or written.
pub(crate) fn run(root: &Path, bench: &Bench) -> Result<bool, String> {
    let rows = Rows::read(&root.join("benches/bench.toml"))?;
    let mut results = Results::read(&root.join("benches/bench.csv"), &rows)?;
    let is_fine = bench.table || runner::run(root, &options(root, bench)?, &rows, &mut results)?;
    let text = page::page(&rows, &results)?;
    let written = [(&bench.page, text), (&bench.plot, plot::picture(&rows, &results))];
    for (path, text) in written {
        let path = root.join(path);
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(is_fine)
}

/// The paths of a run; a release is built unless a program is named.
fn options(root: &Path, bench: &Bench) -> Result<runner::Options, String> {
    let there =
        |path: &Path| fs::canonicalize(path).map_err(|e| format!("{}: {e}", path.display()));
    let darkfiber = if let Some(path) = &bench.darkfiber {
        there(path)?
    } else {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--release", "--quiet", "-p", "darkfiber"])
            .args(["-p", "darkfiber-flowsim", "-p", "darkfiber-workload"])
            .args(["-p", "darkfiber-packetsim", "--bins", "--examples"])
            .current_dir(root)
            .status();
        if !built.is_ok_and(|status| status.success()) {
            return Err("darkfiber cannot be built".to_owned());
        }
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
        there(&target.join("release/darkfiber"))?
    };
    let beside = darkfiber.with_file_name("examples");
    let work = root.join(&bench.work);
    fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
    Ok(runner::Options {
        examples: bench.examples.as_deref().map_or(Ok(beside), there)?,
        peers: bench.peers.as_deref().map(there).transpose()?,
        work: there(&work)?,
        darkfiber,
        only: bench.only.clone(),
        again: bench.again,
        timeout: bench.timeout,
    })
}
