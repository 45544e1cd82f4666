//! Values that several formats share: ranks, counts and times.

use std::path::Path;

use darkfiber_workload::schedule::ScheduleError;
use darkfiber_workload::trace::MpiTrace;

use darkfiber_formats::{Diagnostics, ReadError};

/// The most ranks of traces and matrices: more than any machine has cores in one job.
pub(super) const MOST_RANKS: u32 = 1 << 22;
/// The most bytes of a message, or that a rank gives to a collective.
pub(super) const MOST_BYTES: u64 = 1 << 40;

/// The number at the end of a file's name, its endings left out: `trace-0012.bin` is 12.
pub(super) fn number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let end = name.rfind(|c: char| c.is_ascii_digit())? + 1;
    let digits = name[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |n| n + 1);
    // The digits of `.bin.7z` and the like are not ranks, but no other ending has digits.
    name[digits..end].parse().ok()
}

/// Operations that were read but do not make a schedule.
pub(super) fn faulty(error: &ScheduleError, path: &Path, expected: &str) -> ReadError {
    let hint = match error {
        ScheduleError::Unmatched(_) => "is the file cut off, or are files of some ranks missing?",
        _ => "",
    };
    ReadError::not_such(path, error.to_string(), expected, hint)
}

/// Says that ranks have no calls.
pub(super) fn tell_missing(trace: &MpiTrace, d: &mut Diagnostics) {
    let missing = trace.missing();
    if let Some(first) = missing.first() {
        let (count, ranks) = (missing.len(), trace.ranks.len());
        d.warn(
            0,
            format!(
                "the calls of {count} of {ranks} ranks are missing, such as those of rank {first}"
            ),
            "what is there is read, but does not make a schedule; give the files of all ranks",
        );
    }
}

/// A number that may have a fraction or an exponent, rounded; `None` below zero and beyond the range.
#[expect(clippy::cast_sign_loss, reason = "it is not below zero")]
pub(super) fn whole(word: &str) -> Option<u64> {
    word.parse().ok().or_else(|| {
        let number = word.parse::<f64>().ok()?.round();
        (0.0..1.8e19).contains(&number).then_some(number as u64)
    })
}

/// Seconds, not below zero, as picoseconds; saturates at the maximum.
#[expect(clippy::cast_sign_loss, reason = "it is not below zero")]
pub(super) fn picoseconds(seconds: f64) -> u64 {
    (seconds * 1e12).round().max(0.0) as u64
}
