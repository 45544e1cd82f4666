//! Port counters, as the tools of a subnet print them.
//!
//! Six kinds, recognised by content: `perfquery` (`-x` or not, any number of ports one after the other), the dumps of OpenSM's
//! performance manager (`perfmgr dump_counters`, for people or `mach`), ibdiagnet's `db_csv` (section `PM_INFO`) and its text
//! (`ibdiagnet2.pm`), the metrics that exporters serve to Prometheus, and tables with a heading, as LDMS and scripts write them.
//! [`window()`] computes from them what each channel of a fabric carried.

mod db_csv;
mod ibdiagnet_pm;
mod perfmgr;
mod perfquery;
mod prometheus;
mod reading;
pub mod symbol_errors;
mod table;
mod window;

use std::path::Path;

use crate::{Diagnostics, ReadError};

use reading::{CounterForm, not_counters};

pub use reading::{Device, Reading, Width};
pub use window::{Steps, Window, window};

/// All forms of counter files. If two match the same file, the first is taken.
static FORMS: &[CounterForm] = &[
    prometheus::FORM,
    perfquery::FORM,
    db_csv::FORM,
    ibdiagnet_pm::FORM,
    perfmgr::FORM,
    table::FORM,
];

/// Reads counters of any of the kinds, in the order of the file.
///
/// # Errors
/// If it is none of them.
pub fn read(text: &str, path: &Path) -> Result<(Vec<Reading>, Diagnostics), ReadError> {
    let mut found = Diagnostics::default();
    let form = FORMS.iter().find(|form| (form.is_such)(text));
    let readings = form.map_or(Ok(Vec::new()), |form| (form.read)(text, path, &mut found))?;
    if readings.is_empty() {
        let what = match found.0.first() {
            Some(why) => format!(
                "none of its lines could be read, beginning with line {}: {}",
                why.line, why.what
            ),
            None => "there is no port in it".to_owned(),
        };
        return Err(not_counters(path, what));
    }
    Ok((readings, found))
}
