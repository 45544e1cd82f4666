//! Records of 32-bit integers, and the links that they list from both ends.

use std::collections::BTreeMap;
use std::path::Path;

use darkfiber_fabric::MAX_NODES;

use crate::{Diagnostics, ReadError};

/// Expected content, for errors.
pub(super) const EXPECTED: &str =
    "links of a CODES network (int32 pairs or triples, from both ends)";

/// Parallel links between two routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// Position of the first of them in the file.
    pub(super) byte: usize,
    /// The two ends, lower router first.
    pub(super) ends: (usize, usize),
    pub(super) colour: u32,
    /// Number of parallel links.
    pub(super) count: u32,
}

/// The links of a file of pairs.
pub(super) fn pairs(
    bytes: &[u8],
    path: &Path,
    d: &mut Diagnostics,
) -> Result<Vec<Link>, ReadError> {
    whole(bytes, path, &[8])?;
    Listed::of(bytes, 8).links(path, d)
}

/// Refuses a file that has not a whole number of records of any of these sizes in bytes.
pub(super) fn whole(bytes: &[u8], path: &Path, sizes: &[usize]) -> Result<(), ReadError> {
    if !bytes.is_empty() && sizes.iter().any(|size| bytes.len().is_multiple_of(*size)) {
        return Ok(());
    }
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    let what = format!(
        "{} bytes are no whole number of records of {} bytes",
        bytes.len(),
        sizes.join(" or ")
    );
    Err(ReadError::not_such(path, what, EXPECTED, "the file is cut off, or something else"))
}

/// The links of a file, not yet checked.
pub(super) struct Listed {
    /// By (lower router, higher router, colour): first byte, times listed upward and downward.
    links: BTreeMap<(u32, u32, u32), (usize, [u32; 2])>,
    records: usize,
    /// First record that cannot be one, and how many there are.
    first_bad: Option<(usize, String)>,
    bad: usize,
}

impl Listed {
    /// Reads records of `size` bytes, 8 or 12; the third number is the colour.
    pub(super) fn of(bytes: &[u8], size: usize) -> Self {
        let mut listed = Self { links: BTreeMap::new(), records: 0, first_bad: None, bad: 0 };
        for (i, record) in bytes.chunks_exact(size).enumerate() {
            let mut numbers = record
                .chunks_exact(4)
                .map(|four| i32::from_le_bytes([four[0], four[1], four[2], four[3]]));
            let mut next = || numbers.next().unwrap_or(0);
            let (a, b, colour) = (next(), next(), next());
            listed.records += 1;
            let router = |n: i32| u32::try_from(n).ok().filter(|&n| u64::from(n) < MAX_NODES);
            let problem = match (router(a), router(b), router(colour)) {
                (Some(a), Some(b), Some(colour)) if a != b => {
                    let seen = listed
                        .links
                        .entry((a.min(b), a.max(b), colour))
                        .or_insert((i * size, [0; 2]));
                    seen.1[usize::from(a > b)] += 1;
                    continue;
                }
                (Some(_), Some(_), Some(_)) => format!("a link from router {a} to itself"),
                (Some(_), Some(_), None) => format!("{colour} is no colour of a link"),
                (a_is_fine, ..) => {
                    format!("there is no router {}", if a_is_fine.is_none() { a } else { b })
                }
            };
            listed.bad += 1;
            listed.first_bad.get_or_insert((i * size, problem));
        }
        listed
    }

    /// Records that are no half of a link: impossible, or without their mirror image.
    pub(super) fn unmatched(&self) -> usize {
        let single: u32 = self.links.values().map(|(_, [up, down])| up.abs_diff(*down)).sum();
        self.bad + single as usize
    }

    /// The links, in the order of the file.
    ///
    /// # Errors
    /// If most records are no half of a link.
    pub(super) fn links(self, path: &Path, d: &mut Diagnostics) -> Result<Vec<Link>, ReadError> {
        let unmatched = self.unmatched();
        let mut links = Vec::with_capacity(self.links.len());
        let mut problems: Vec<(usize, String)> = self.first_bad.into_iter().collect();
        for (&(a, b, colour), &(byte, [up, down])) in &self.links {
            if up != down {
                problems.push((byte, format!("{a} to {b} is listed {up}x, {b} to {a} {down}x")));
            }
            let ends = (a as usize, b as usize);
            links.push(Link { byte, ends, colour, count: up.max(down) });
        }
        links.sort_by_key(|l| l.byte);
        problems.sort();
        if let Some((byte, problem)) = problems.first() {
            let what = format!("at byte {byte}: {problem}");
            if unmatched * 2 > self.records || links.is_empty() {
                return Err(ReadError::not_such(path, what, EXPECTED, ""));
            }
            let more = format!(
                "{unmatched} of {} records are no half of a link; the others are taken",
                self.records
            );
            d.error(0, format!("{}: {what}", path.display()), more);
        }
        Ok(links)
    }
}
