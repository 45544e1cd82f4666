//! ibdiagnet's database: sections of tables, of which `PM_INFO` has the counters.

use std::path::Path;

use super::reading::{CounterForm, Reading, not_counters};
use super::table;
use crate::{Diagnostics, ReadError};

/// The form of ibdiagnet's database.
pub(super) const FORM: CounterForm = CounterForm {
    is_such: |text| text.lines().any(|l| l.trim_start().starts_with("START_PM_INFO")),
    read,
};

fn read(text: &str, path: &Path, found: &mut Diagnostics) -> Result<Vec<Reading>, ReadError> {
    let mut lines = text.lines().enumerate().skip_while(|(_, l)| l.trim() != "START_PM_INFO");
    let Some((first, _)) = lines.next() else {
        return Err(not_counters(path, "there is no section PM_INFO".to_owned()));
    };
    let section: Vec<&str> =
        lines.map(|(_, l)| l).take_while(|l| l.trim() != "END_PM_INFO").collect();
    table::of_section(&section.join("\n"), first + 1, path, found)
}
