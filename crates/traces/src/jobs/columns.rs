//! Assignment of the fields of a line to columns.
//!
//! Tables for people and `sacct -P` escape nothing: a job may be called `a|b` or `my job`, a column may be blank.
//! Then a line has more or fewer fields than columns, and the columns with recognisable content (ids, states, times,
//! numbers) determine where the others begin: the cheapest assignment is taken, by dynamic programming.

use std::ops::Range;

use super::record::{slurm_state, time};
use darkfiber_formats::hostlist;

/// The content of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ColumnContent {
    /// Id of a job.
    Id,
    /// A state of SLURM.
    State,
    /// A point in time.
    Time,
    /// A duration such as `1-02:03:04`.
    Duration,
    /// A whole number.
    Count,
    /// A hostlist, or a reason in parentheses.
    Nodes,
    /// Any text.
    Any,
}

/// A column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub(super) holds: ColumnContent,
    /// Whether separators may occur in it.
    pub(super) absorbs: bool,
    /// Whether it may be missing altogether (between blanks).
    pub(super) vanishes: bool,
}

/// Most fields too many or too few that are puzzled over.
const MOST: usize = 64;

/// Longest line that is puzzled over, in bytes.
const LONGEST: usize = 256 << 10;

/// Cost of one column that holds something else.
pub(super) const DOUBTFUL: u32 = 100;

/// A cost above that of any assignment.
const NEVER: u32 = u32::MAX / 2;

/// By column the range of fields that belong to it, and the total cost: below [`DOUBTFUL`] all columns hold what they
/// should. `None` if there is no assignment.
pub(super) fn align(
    columns: &[Column],
    fields: &[&str],
    by: &str,
) -> Option<(Vec<Range<usize>>, u32)> {
    let (n, m) = (columns.len(), fields.len());
    if n == m && columns.iter().zip(fields).all(|(c, f)| doubt(c.holds, f) == 0) {
        return Some(((0..n).map(|i| i..i + 1).collect(), 0));
    }
    let slack = MOST.min(m.abs_diff(n) + 4);
    if m.abs_diff(n) > MOST || fields.iter().map(|f| f.len()).sum::<usize>() > LONGEST {
        return None;
    }
    // best[c][f]: minimum cost for the first c columns to take the first f fields, and the number that the last took.
    let mut best = vec![vec![(NEVER, 0usize); m + 1]; n + 1];
    best[0][0].0 = 0;
    for (c, column) in columns.iter().enumerate() {
        for f in c.saturating_sub(slack)..=m.min(c + slack) {
            let before = best[c][f].0;
            if before >= NEVER {
                continue;
            }
            let most = if column.absorbs { slack + 1 } else { 1 };
            for k in usize::from(!column.vanishes)..=most.min(m - f) {
                let price = match k {
                    0 => 5,
                    1 => doubt(column.holds, fields[f]),
                    _ => 10 + k as u32 + doubt(column.holds, &fields[f..f + k].join(by)),
                };
                let sum = before + price;
                if sum < best[c + 1][f + k].0 {
                    best[c + 1][f + k] = (sum, k);
                }
            }
        }
    }
    if best[n][m].0 >= NEVER {
        return None;
    }
    let mut ranges = vec![0..0; n];
    let mut end = m;
    for c in (0..n).rev() {
        let k = best[c + 1][end].1;
        ranges[c] = end - k..end;
        end -= k;
    }
    Some((ranges, best[n][m].0))
}

/// Difference of a text from the content of the column; 0 = none.
fn doubt(holds: ColumnContent, text: &str) -> u32 {
    let text = text.trim();
    let fits = match holds {
        ColumnContent::Any => return 0,
        ColumnContent::Id => return if is_id(text) { 0 } else { 1000 },
        ColumnContent::State => slurm_state(text).is_some(),
        // Columns of steps are often empty.
        _ if text.is_empty() => return 1,
        ColumnContent::Time => time(text).is_ok(),
        ColumnContent::Duration => {
            const WORDS: [&str; 4] = ["INVALID", "UNLIMITED", "NOT_SET", "Partition_Limit"];
            WORDS.contains(&text)
                || text.contains(':')
                    && text.bytes().all(|b| b.is_ascii_digit() || b"-:.".contains(&b))
        }
        ColumnContent::Count => {
            text.starts_with(|c: char| c.is_ascii_digit())
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-.".contains(&b))
        }
        ColumnContent::Nodes => {
            text.starts_with('(') || text == "None assigned" || hostlist::is_likely(text)
        }
    };
    if fits { 0 } else { DOUBTFUL }
}

/// Whether this is the id of a job or a step: `4711`, `4711_3`, `4711_[1-3,7%2]`, `4711+1`, `4711.batch`.
pub(super) fn is_id(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks = |c: char| c.is_ascii_alphanumeric() || "_[],-.+%".contains(c);
    rest.len() < text.len()
        && (rest.is_empty() || (rest.starts_with(['_', '+', '.']) && rest.chars().all(marks)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn column(holds: ColumnContent, absorbs: bool, vanishes: bool) -> Column {
        Column { holds, absorbs, vanishes }
    }

    fn aligned(line: &str) -> String {
        let columns = [
            column(ColumnContent::Id, false, false),
            column(ColumnContent::Any, true, false),
            column(ColumnContent::State, false, false),
            column(ColumnContent::Count, false, false),
            column(ColumnContent::Nodes, true, true),
        ];
        let fields: Vec<&str> = line.split(' ').collect();
        align(&columns, &fields, " ").map_or_else(
            || "-".to_owned(),
            |(r, _)| r.into_iter().map(|r| fields[r].join(" ")).collect::<Vec<_>>().join("|"),
        )
    }

    #[test]
    fn known_columns_hold_unknown_ones_in_place() {
        for (line, cells) in [
            ("1 name R 2 cn[1-2]", "1|name|R|2|cn[1-2]"),
            ("1 my job R 2 cn[1-2]", "1|my job|R|2|cn[1-2]"),
            ("1 my job PD 2", "1|my job|PD|2|"),
            (
                "1 a 2 b R 2 (ReqNodeNotAvail, X:cn[1-3])",
                "1|a 2 b|R|2|(ReqNodeNotAvail, X:cn[1-3])",
            ),
            ("1", "-"),
        ] {
            assert_eq!(aligned(line), cells);
        }
    }

    #[test]
    fn ids_are_told_from_other_numbers() {
        for id in ["1", "12_3", "12_[1-3]", "12+1", "12.batch", "12_4.0", "12_[1,5%2]"] {
            assert!(is_id(id), "{id}");
        }
        for other in ["", "x", "1:2", "00:00:01", "1-2", "2800Mc", "_1"] {
            assert!(!is_id(other), "{other}");
        }
    }
}
