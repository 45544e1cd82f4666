//! Files of fabrics that are damaged: how that is reported, and what is refused.

use std::sync::atomic::{AtomicBool, Ordering};

use darkfiber_analysis::{Finding, Severity, finding};
use darkfiber_formats::{Diagnostic, Diagnostics, Severity as Remark};
use darkfiber_scenario::Loaded;

use crate::failure::{Exit, Failure};

/// What a reader's remarks amount to: nothing, input that is incomplete, or so damaged that the fabric is not what it describes.
pub(crate) fn of_input(remarks: &Diagnostics) -> Option<Finding> {
    // A slow cable is a fault of the fabric, and no fault of the input.
    let is_grave = |d: &&Diagnostic| d.severity > Remark::Note && !d.of_fabric;
    let grave: Vec<&Diagnostic> = remarks.0.iter().filter(is_grave).collect();
    // The first contradiction causes others; but that a file ends too early is said last.
    let contradiction = grave.iter().find(|d| d.severity == Remark::Error);
    let worst = contradiction.or(grave.last())?;
    let (severity, what) = match contradiction {
        Some(_) => (Severity::Error, "is damaged or cut short"),
        None => (Severity::Warning, "is incomplete"),
    };
    let lines = if grave.len() == 1 { "line" } else { "lines" };
    let at = if worst.line > 0 { format!("line {}: ", worst.line) } else { String::new() };
    Some(Finding {
        kind: finding::FindingKind::Input,
        severity,
        message: format!(
            "the input {what} ({} {lines} left out or guessed), for example {at}{}",
            grave.len(),
            worst.what
        ),
        hint: "the reader's remarks name the lines; make a new dump if in doubt",
        places: finding::Places::Nodes {
            count: grave.len() as u64,
            examples: grave.iter().take(5).map(ToString::to_string).collect(),
        },
    })
}

/// What is wrong with service levels, if they are not those of the tables.
pub(crate) fn of_levels(remarks: &Diagnostics) -> Option<Finding> {
    let worst = remarks.0.iter().find(|d| d.severity == Remark::Error)?;
    Some(Finding {
        kind: finding::FindingKind::Input,
        severity: Severity::Error,
        message: format!("the service levels are not those of these tables: {}", worst.what),
        hint: "give fabric, tables and service levels of one sweep",
        places: finding::Places::Nodes { count: 1, examples: vec![worst.to_string()] },
    })
}

/// What is wrong with the file of a fabric, if the fabric is not what it describes.
fn of_file(loaded: &Loaded) -> Option<Finding> {
    of_input(&loaded.diagnostics).filter(|finding| finding.severity == Severity::Error)
}

/// Whether a fabric was read whose file is damaged, by a command that does not judge the file itself.
static IS_DAMAGED: AtomicBool = AtomicBool::new(false);

/// Remembers that a file is damaged: results about its fabric are not those of the real one.
pub(crate) fn note(loaded: &Loaded) {
    if of_file(loaded).is_some() {
        IS_DAMAGED.store(true, Ordering::Relaxed);
    }
}

/// The exit code of a command whose results are printed: a damaged file is a finding.
pub(crate) fn with_damage(exit: Exit) -> Exit {
    match exit {
        Exit::Fine if IS_DAMAGED.load(Ordering::Relaxed) => Exit::Finding,
        other => other,
    }
}

/// Refuses to write tables of a fabric whose file is damaged: hosts may be missing in them.
pub(crate) fn refuse(loaded: &Loaded) -> Result<(), Failure> {
    match of_file(loaded) {
        None => Ok(()),
        Some(finding) => {
            let what = format!("{}, so nothing is written", finding.message);
            Err(Failure::new(Exit::Finding, what).hint(finding.hint))
        }
    }
}
