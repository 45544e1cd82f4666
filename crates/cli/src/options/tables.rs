//! Tables that are read, and where tables are written.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use darkfiber_scenario::RoutesPart;
use darkfiber_scenario::tables::{TableFiles, TableForm};

use crate::failure::Failure;

/// Where tables are written, and how.
#[derive(Args, Debug, Default)]
pub(crate) struct SetArgs {
    /// Write tables and everything that OpenSM needs to load them; they replace a previous set atomically
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Write these files alone, compressed where the name ends in .zst or .gz: lfts, guid2lid, fabric.topo, subnet.lst,
    /// fdbs, path-sl, path-sl.rows, host-sl, sl2vl, path-bits, lid-choice, groups.far [default: all needed]
    #[arg(long, value_name = "FILE,..", value_delimiter = ',', requires = "output")]
    pub(crate) write: Vec<String>,
    /// Replace the files of a directory one by one where it cannot be replaced in one step; nobody may read it meanwhile
    #[arg(long, requires = "output")]
    pub(crate) in_place: bool,
}

/// Kinds of routing tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoutesFormat {
    /// By content
    #[default]
    Auto,
    /// OpenSM's lfts dump, `dump_lfts.sh`, `ibroute`
    Lft,
    /// osm.fdbs
    Fdbs,
    /// ibdiagnet2.far (adaptive routing)
    Far,
    /// netloc paths
    Netloc,
}

impl From<RoutesFormat> for TableForm {
    fn from(format: RoutesFormat) -> Self {
        match format {
            RoutesFormat::Auto => Self::Auto,
            RoutesFormat::Lft => Self::Lft,
            RoutesFormat::Fdbs => Self::Fdbs,
            RoutesFormat::Far => Self::Far,
            RoutesFormat::Netloc => Self::Netloc,
        }
    }
}

/// Which tables.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TableArgs {
    /// Tables: a file, or a directory written by `darkfiber route -o` or OpenSM (its dump directory)
    #[arg(long, value_name = "PATH")]
    pub(crate) routes: PathBuf,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
}

/// Tables that are read, or an engine that makes them.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct TablesOrEngine {
    /// Tables: a file, or a directory written by `darkfiber route -o`
    #[arg(
        long,
        value_name = "PATH",
        required_unless_present = "engine",
        conflicts_with = "engine"
    )]
    pub(crate) routes: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
    /// Instead: the tables of this engine; ftree+updn falls back on updn
    #[arg(short, long = "engine", value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
}

/// What tables need beside them, where it is not in one directory with them.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct BesideTables {
    /// Format of the tables
    #[arg(long, value_enum, default_value_t, value_name = "FORM", requires = "routes")]
    pub(crate) routes_format: RoutesFormat,
    /// Service levels: path-sl, path-sl.rows, host-sl, a matrix of OpenSM's path_sl, or path records that saquery
    /// printed; without: all in lane 0
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) sl: Option<PathBuf>,
    /// Lanes by ports of each switch and by the levels of --sl (sl2vl, opensm-sl2vl.dump); without: lane = level
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) sl2vl: Option<PathBuf>,
    /// Which LID of its destinations each source uses (path-bits); without: the base LID
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) path_bits: Option<PathBuf>,
    /// Which LID of its destination each message takes (lid-choice); without: the base LID
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) lid_choice: Option<PathBuf>,
    /// Groups of ports of adaptive routing (ibdiagnet2.far, groups.far)
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) groups: Option<PathBuf>,
    /// LIDs of ports, as in OpenSM's cache [default: from the tables and the fabric]
    #[arg(long, value_name = "FILE", requires = "routes")]
    pub(crate) guid2lid: Option<PathBuf>,
}

impl BesideTables {
    /// Whether none of them is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.first_given().is_none()
    }

    /// One of them that is given.
    pub(crate) fn first_given(&self) -> Option<&'static str> {
        let all = [
            ("--routes-format", self.routes_format != RoutesFormat::Auto),
            ("--sl", self.sl.is_some()),
            ("--sl2vl", self.sl2vl.is_some()),
            ("--path-bits", self.path_bits.is_some()),
            ("--lid-choice", self.lid_choice.is_some()),
            ("--groups", self.groups.is_some()),
            ("--guid2lid", self.guid2lid.is_some()),
        ];
        all.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    /// Refuses them where an engine makes the tables.
    pub(crate) fn refuse_without_tables(&self, routes: Option<&PathBuf>) -> Result<(), Failure> {
        match self.first_given() {
            Some(name) if routes.is_none() => {
                Err(Failure::usage(format!("{name} is of tables that are read, and none are"))
                    .hint("give --routes PATH"))
            }
            _ => Ok(()),
        }
    }

    /// In a study, the form of tables is known by their content.
    pub(crate) fn refuse_form(&self) -> Result<(), Failure> {
        if self.routes_format == RoutesFormat::Auto {
            return Ok(());
        }
        Err(Failure::usage("--write-study: --routes-format has no place in a study")
            .hint("leave it out: files are known by their content"))
    }

    /// Names these additional files in a scenario.
    pub(crate) fn name_in(&self, part: &mut RoutesPart) {
        let text = |file: &Option<PathBuf>| file.as_ref().map(|path| path.display().to_string());
        part.sl = text(&self.sl);
        part.sl2vl = text(&self.sl2vl);
        part.path_bits = text(&self.path_bits);
        part.lid_choice = text(&self.lid_choice);
        part.groups = text(&self.groups);
        part.guid2lid = text(&self.guid2lid);
    }

    /// The paths of tables and of these additional files.
    pub(crate) fn files(&self, routes: &Path) -> TableFiles {
        let beside = self.clone();
        TableFiles {
            tables: routes.to_owned(),
            form: beside.routes_format.into(),
            guid2lid: beside.guid2lid,
            sl: beside.sl,
            sl2vl: beside.sl2vl,
            path_bits: beside.path_bits,
            lid_choice: beside.lid_choice,
            groups: beside.groups,
        }
    }

    /// Tables together with these additional files.
    pub(crate) fn of(&self, routes: &Path) -> TableArgs {
        TableArgs { routes: routes.to_owned(), beside: self.clone() }
    }
}
