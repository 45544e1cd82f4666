//! Graph Golf: edge lists of simple graphs whose order and degree are in the file name.
//!
//! `n1728d30g108.random.edges` is a graph of 1728 vertices of degree 30 at most, with a symmetry of 108.
//! The competition (<https://research.nii.ac.jp/graphgolf/>) is about simple graphs, so an edge that is
//! listed twice, as some generators of symmetric graphs do, is one cable. Such a list is an edge list
//! otherwise, and [`edges`](crate::edges) reads it.

use std::collections::HashMap;
use std::path::Path;

use crate::Diagnostics;
use crate::format::{Format, Reading};
use crate::wiring::{Edge, Wiring};

/// The entry of this format, which [`edges`](crate::edges) recognises and reads.
pub(crate) const FORMAT: Format = Format {
    name: "graph-golf",
    summary: "edge lists called n<order>d<degree>...: simple graphs",
    read: Reading::By("as edges"),
    ..Format::NONE
};

/// The properties stated by a file name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    order: usize,
    degree: usize,
}

impl Claim {
    /// The claim of a list of numbered vertices without hosts, speeds and counts; `None` for others.
    pub(crate) fn of(path: &Path, list: &Wiring<'_>) -> Option<Self> {
        let claim = Self::of_name(&path.file_name()?.to_string_lossy())?;
        let number = |name: &str| name.bytes().all(|b| b.is_ascii_digit());
        let plain = list.edges.iter().all(|e| e.count == 1 && e.class.is_none());
        (plain && list.hosts.is_empty() && list.names.iter().all(|n| number(n))).then_some(claim)
    }

    /// `n<order>d<degree>` at the beginning of a part of a file name.
    fn of_name(name: &str) -> Option<Self> {
        name.split(|c: char| !c.is_ascii_alphanumeric()).find_map(|part| {
            let (order, rest) = part.strip_prefix('n')?.split_once('d')?;
            let degree = rest.split_once('g').map_or(rest, |(degree, _symmetry)| degree);
            Some(Self { order: order.parse().ok()?, degree: degree.parse().ok()? })
        })
    }

    /// Removes repeated edges, and reports where the list contradicts its name.
    pub(crate) fn apply(self, edges: &mut Vec<Edge>, switches: usize, d: &mut Diagnostics) {
        let mut first: HashMap<(usize, usize), usize> = HashMap::new();
        edges.retain(|e| {
            let ends = (e.ends.0.min(e.ends.1), e.ends.0.max(e.ends.1));
            let line = *first.entry(ends).or_insert(e.line);
            if line != e.line {
                d.note(
                    e.line,
                    format!("the edge of line {line} again"),
                    "Graph Golf's graphs are simple: it counts once",
                );
            }
            line == e.line
        });
        if switches != self.order {
            d.warn(
                0,
                format!("the file name says {} vertices, the list has {switches}", self.order),
                "is it complete?",
            );
        }
        let mut degree = vec![0; switches];
        for e in edges.iter() {
            for s in [e.ends.0, e.ends.1] {
                degree[s] += 1;
                if degree[s] == self.degree + 1 {
                    d.warn(
                        e.line,
                        format!("a vertex with more than the {} edges of the name", self.degree),
                        "",
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_promise() {
        let claim = |order, degree| Some(Claim { order, degree });
        for (name, expect) in [
            ("graphgolf-n1728d30g108.random.edges", claim(1728, 30)),
            ("n256d8.txt.gz", claim(256, 8)),
            ("n256d8", claim(256, 8)),
            ("n256.edges", None),
            ("nd.edges", None),
            ("xn256d8.edges", None),
            ("node-list.edges", None),
        ] {
            assert_eq!(Claim::of_name(name), expect, "{name}");
        }
    }
}
