//! Work on the project itself: `cargo run -p xtask -- docs`, `-- dist`, `-- nightly`, `-- bench`
//! and `-- lab soak`.
//!
//! `docs` runs the commands of README and docs and compares their output; `dist` makes the distribution; `nightly` is the tier of
//! checks that take hours; `bench` measures darkfiber beside other programs and writes docs/benchmarks.md; `lab` starts a real OpenSM on a
//! simulated fabric, and injects faults.

#![expect(clippy::print_stdout, reason = "it prints for who works on the project")]

mod bench;
mod dist;
mod documents;
mod lab;
mod nightly;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "xtask", about = "Checks that take longer than tests may")]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run the commands that README and docs show, and compare what they print and draw
    Docs {
        /// Those that take long, too
        #[arg(long)]
        all: bool,
        /// Only documents whose path has this in it
        #[arg(long, value_name = "PART")]
        only: Option<String>,
    },
    /// Make all that is given away: programs, packages, sources, a bill of materials, checksums
    Dist {
        /// Where to
        #[arg(long, value_name = "DIR", default_value = "target/distribution")]
        out: PathBuf,
    },
    /// Run all that takes hours, a step after the other; what is done at this commit is not done again
    Nightly,
    /// Measure darkfiber beside other programs, and write docs/benchmarks.md
    Bench(bench::Bench),
    /// OpenSM, its plugin and `darkfiber operate` on a simulated fabric
    Lab {
        #[command(subcommand)]
        what: Lab,
    },
}

#[derive(Subcommand)]
enum Lab {
    /// Inject faults, read back after each, and append a line to docs/soak.csv
    Soak {
        /// Faults are drawn by it
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// How many
        #[arg(long, default_value_t = 50)]
        faults: u32,
        /// One of each class instead, without a line in the log
        #[arg(long)]
        each: bool,
    },
}

fn main() -> ExitCode {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let done = match Cli::parse().command {
        Task::Docs { all, only } => documents::run(&root, all, only.as_deref()),
        Task::Dist { out } => dist::run(&root, &root.join(out)),
        Task::Bench(bench) => bench::run(&root, &bench),
        Task::Nightly => nightly::run(&root),
        Task::Lab { what: Lab::Soak { seed, faults, each } } => {
            lab::soak(&root, seed, faults, each)
        }
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::from(2)
        }
    }
}
