//! Data about the tables in place.

use std::path::PathBuf;

use clap::Args;

use super::BesideTables;

/// What belongs to the tables of `--from`, where it is not in one directory with them.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct BesideFrom {
    /// Service levels of the tables of --from (of the last one): a file as for --sl of `darkfiber check`
    #[arg(long, value_name = "FILE", requires = "from")]
    from_sl: Option<PathBuf>,
}

impl BesideFrom {
    /// As options of tables.
    pub(crate) fn tables(&self) -> BesideTables {
        BesideTables { sl: self.from_sl.clone(), ..BesideTables::default() }
    }
}
