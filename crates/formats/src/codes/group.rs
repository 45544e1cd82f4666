//! The links of one group, and their topology.

use std::collections::BTreeSet;
use std::path::Path;

use darkfiber_fabric::GroupKind;

use super::records::{EXPECTED, Link, Listed, whole};
use crate::{Diagnostics, ReadError};

/// Green links of dragonfly-custom join the routers of a row, all others those of a column.
const GREEN: u32 = 0;

/// A group of routers; all groups are alike.
pub(super) struct Group {
    /// Number of routers.
    pub(super) routers: usize,
    pub(super) links: Vec<Link>,
    /// Topology of the group, if it is a known one.
    pub(super) kind: Option<GroupKind>,
}

impl Group {
    /// Reads an intra file: triples if these are listed from both ends at least as well as pairs.
    pub(super) fn read(bytes: &[u8], path: &Path, d: &mut Diagnostics) -> Result<Self, ReadError> {
        whole(bytes, path, &[12, 8])?;
        let best = [12, 8]
            .into_iter()
            .filter(|size| bytes.len().is_multiple_of(*size))
            .map(|size| (size, Listed::of(bytes, size)))
            .min_by_key(|(_, listed)| listed.unmatched());
        let Some((size, listed)) = best else {
            return Ok(Self { routers: 1, links: Vec::new(), kind: None });
        };
        let links = listed.links(path, d)?;
        let routers = links.iter().map(|l| l.ends.1 + 1).max().unwrap_or(1);
        let linked: BTreeSet<usize> = links.iter().flat_map(|l| [l.ends.0, l.ends.1]).collect();
        if linked.len() * 2 < routers {
            let what = format!("a group of {routers} routers, {} of them with links", linked.len());
            let hint = "the intra file holds the links of one group, with routers from 0";
            return Err(ReadError::not_such(path, what, EXPECTED, hint));
        }
        let kind = if size == 8 {
            leaf_spine(&links, routers)
        } else {
            full(&links, routers).or_else(|| grid(&links, routers))
        };
        if kind.is_none() {
            d.note(
                0,
                format!("{}: the routers of a group are joined in no known way", path.display()),
                "the fabric is read without a shape",
            );
        }
        Ok(Self { routers, links, kind })
    }

    /// Whether a router of that number in its group has hosts.
    pub(super) fn has_hosts(&self, member: usize) -> bool {
        match self.kind {
            Some(GroupKind::LeafSpine { leaves }) => member < leaves as usize,
            _ => true,
        }
    }
}

/// Pairs of routers that are joined.
fn joined(links: &[Link]) -> BTreeSet<(usize, usize)> {
    links.iter().map(|l| l.ends).collect()
}

fn full(links: &[Link], routers: usize) -> Option<GroupKind> {
    let all = routers * (routers - 1) / 2;
    (joined(links).len() == all).then_some(GroupKind::Full)
}

/// Rows of green links, columns of the others; a row is as long as router 0's.
fn grid(links: &[Link], routers: usize) -> Option<GroupKind> {
    let columns = 1 + links.iter().filter(|l| l.colour == GREEN && l.ends.0 == 0).count();
    let rows = routers / columns;
    let as_expected = |l: &Link| {
        let (a, b) = l.ends;
        if l.colour == GREEN { a / columns == b / columns } else { a % columns == b % columns }
    };
    let all = rows * (columns * (columns - 1) / 2) + columns * (rows * (rows - 1) / 2);
    let complete = rows * columns == routers && joined(links).len() == all;
    (complete && links.iter().all(as_expected))
        .then_some(GroupKind::Grid { rows: rows as u32, columns: columns as u32 })
}

/// Each of the first routers joined with each of the last.
fn leaf_spine(links: &[Link], routers: usize) -> Option<GroupKind> {
    let leaves = links.iter().map(|l| l.ends.1).min()?;
    let apart = links.iter().all(|l| l.ends.0 < leaves);
    (apart && joined(links).len() == leaves * (routers - leaves))
        .then_some(GroupKind::LeafSpine { leaves: leaves as u32 })
}
