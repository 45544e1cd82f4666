//! Moments that are examined.

use darkfiber_scenario::history::Window;
use darkfiber_scenario::{Error, moment};
use darkfiber_workload::History;

/// More moments than this are a slip of the pen.
const MOST: i64 = 10_000_000;

/// The first moment of a history whose first job started at `first`, and the number of moments, `every` seconds apart; without
/// a length up to the end of the history.
///
/// # Errors
/// If no job runs then, or there are too many moments.
pub fn extent(
    window: Window,
    every: i64,
    first: i64,
    history: &History,
) -> Result<(i64, usize), Error> {
    let (from, to) = window.of(first);
    let last = history.span().map_or(i64::MIN, |s| s.1);
    if from >= last {
        return Err(Error::usage(format!("no job runs from {} on", moment::text(from)))
            .hint("give an earlier --from"));
    }
    let end = if window.length.is_some() { to } else { last };
    let count = (end.saturating_sub(from) - 1) / every + 1;
    if count > MOST {
        return Err(Error::usage(format!(
            "{count} moments, every {every} s from {} to {}, are too many",
            moment::text(from),
            moment::text(end)
        ))
        .hint("give a longer --every, or --from and --for"));
    }
    Ok((from, usize::try_from(count).unwrap_or(1)))
}
