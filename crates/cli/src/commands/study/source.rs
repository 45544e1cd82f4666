//! Which study a command is about.

use std::path::PathBuf;

use clap::Args;
use darkfiber_study::grid::{Axis, StudyFile};

use crate::failure::Failure;
use crate::options::Common;

/// Which study.
#[derive(Args, Debug)]
pub(crate) struct StudyArgs {
    /// The study, in TOML: a scenario with lists where values belong, and a table `study`
    #[arg(value_name = "STUDY")]
    pub(crate) file: PathBuf,
    /// Set a key of the scenario to a value, or make an axis of it: routes.engine=dfsssp,nue; several times
    #[arg(long, value_name = "KEY=VALUE,..")]
    pub(crate) set: Vec<String>,
    /// More cells than a million, instead of the study's max-cells
    #[arg(long, value_name = "N")]
    pub(crate) max_cells: Option<u64>,
}

/// Reads it.
pub(super) fn read(args: &StudyArgs, common: &Common) -> Result<StudyFile, Failure> {
    let text = darkfiber_formats::input::read_text(&args.file)?;
    let set: Vec<Axis> = args.set.iter().map(|text| Axis::parse(text)).collect::<Result<_, _>>()?;
    let name = args.file.display().to_string();
    Ok(StudyFile::parse(&text, &name, &set, common.seed, args.max_cells)?)
}
