//! ibdiagnet's database: tables, of which `PM_INFO` has the counters.

use std::path::Path;

use super::reading::{CounterForm, Reading, not_counters};
use super::table;
use crate::{Diagnostics, ReadError, db_csv};

/// The form of ibdiagnet's database.
pub(super) const FORM: CounterForm = CounterForm {
    is_such: |text| text.lines().any(|l| l.trim_start().starts_with("START_PM_INFO")),
    read,
};

fn read(text: &str, path: &Path, found: &mut Diagnostics) -> Result<Vec<Reading>, ReadError> {
    let Some((before, section)) = db_csv::table(text, "PM_INFO") else {
        return Err(not_counters(path, "there is no table PM_INFO".to_owned()));
    };
    table::of_section(section, before, path, found)
}
