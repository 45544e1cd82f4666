//! Networks of CODES, the simulator of dragonflies: two binary files without a heading.
//!
//! The *inter* file lists global links as pairs of routers, the *intra* file the links of one group, which all groups
//! have alike: triples (router, router, colour) for the models `dragonfly-custom` and `dragonfly-dally`, pairs for
//! `dragonfly-plus`. All numbers are 32-bit little-endian integers, and every link is listed from both ends; parallel
//! links are repeated. The content does not show which of the two it is, so that is taken from the name: of
//! `dfp_8k_inter.bin` the other half is `dfp_8k_intra.bin` in the same folder.
//!
//! The files have no hosts; [`Options`] has the number of hosts of a router. In a dragonfly+ only leaves have hosts.

mod group;
mod parameters;
mod records;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use darkfiber_fabric::{DragonflyShape, GroupKind, Shape, Topology};

use crate::input;
use crate::wiring::{Edge, Wiring};
use crate::{Diagnostics, ReadError};
use group::Group;
use records::{EXPECTED, Link, pairs};

use crate::format::{Format, Options, Reading};
use crate::known_by::KnownBy;
pub use parameters::FORMAT as PARAMETERS;

/// The entry of this format: one half of a network, without a signature.
pub const FORMAT: Format = Format {
    name: "codes",
    what: "links of a CODES network",
    summary: "binary pairs x_inter, x_intra (give either): dragonfly and dragonfly+",
    known_by: &[KnownBy::Begin(|b| b.is_binary && halves(b.path).is_some())],
    read: Reading::Fabric(|c| read(c.bytes, c.path, c.options)),
    ..Format::NONE
};

/// Hint if two files do not fit.
const APART: &str = "do the two files belong together?";

/// Half of a network that a file contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    Inter,
    Intra,
}

/// The half that a file name claims, and the path of the other half.
fn halves(path: &Path) -> Option<(Half, PathBuf)> {
    let name = path.file_name()?.to_str()?;
    let other = |from: &str, to: &str| {
        let at = name.rfind(from)?;
        Some(path.with_file_name(format!("{}{to}{}", &name[..at], &name[at + from.len()..])))
    };
    let inter = other("inter", "intra").map(|partner| (Half::Inter, partner));
    inter.or_else(|| other("intra", "inter").map(|partner| (Half::Intra, partner)))
}

/// Reads a network from the content of one of its files; the other one is read from the folder of `path`.
///
/// # Errors
/// If the other file cannot be read, if one of them does not hold whole records, or if they do not fit
/// together.
pub fn read(
    bytes: &[u8],
    path: &Path,
    options: &Options,
) -> Result<(Topology, Diagnostics), ReadError> {
    let Some((half, partner)) = halves(path) else {
        let what = "the name has neither `inter` nor `intra` in it";
        return Err(ReadError::not_such(
            path,
            what,
            EXPECTED,
            "the two files come with such names",
        ));
    };
    let other = input::read(&partner).map_err(|e| {
        let what = format!("the other half of the network cannot be used: {e}");
        ReadError::not_such(path, what, EXPECTED, "both files must be in one directory")
    })?;
    match half {
        Half::Inter => assemble((bytes, path), (&other, &partner), options),
        Half::Intra => assemble((&other, &partner), (bytes, path), options),
    }
}

/// A file: its content and its name.
type File<'a> = (&'a [u8], &'a Path);

/// As [`read`], from the contents of both files.
///
/// # Errors
/// As [`read`].
pub fn assemble(
    inter: File<'_>,
    intra: File<'_>,
    options: &Options,
) -> Result<(Topology, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let group = Group::read(intra.0, intra.1, &mut d)?;
    let global = pairs(inter.0, inter.1, &mut d)?;
    let size = group.routers;
    let routers = global.iter().map(|l| l.ends.1 + 1).max().unwrap_or(0).max(size);
    let groups = routers.div_ceil(size);
    let linked: BTreeSet<usize> =
        global.iter().flat_map(|l| [l.ends.0 / size, l.ends.1 / size]).collect();
    if linked.len() * 2 < groups && groups > 1 {
        let what =
            format!("{groups} groups of {size} routers, {} of them with links", linked.len());
        return Err(ReadError::not_such(inter.1, what, EXPECTED, APART));
    }
    // A pair of cabinets that does not exist has routers by number only: its links would join nothing.
    let present: Vec<usize> =
        if groups > 1 { linked.into_iter().collect() } else { (0..groups).collect() };
    if present.len() < groups {
        let absent = (0..groups).find(|g| present.binary_search(g).is_err()).unwrap_or_default();
        d.note(
            0,
            format!("there are {} groups: group {absent} has no global links", present.len()),
            "groups without any are left out, and the others counted without them",
        );
    }
    let number: HashMap<usize, usize> = present.iter().copied().zip(0..).collect();
    let inside: Vec<&Link> = global.iter().filter(|l| l.ends.0 / size == l.ends.1 / size).collect();
    if let Some(first) = inside.first() {
        let (a, b) = first.ends;
        let what = format!(
            "at byte {}: a global link joins routers {a} and {b} of one group of {size}",
            first.byte
        );
        if inside.len() * 2 > global.len() {
            return Err(ReadError::not_such(inter.1, what, EXPECTED, APART));
        }
        d.error(0, what, "it is taken as it is");
    }

    let mut wiring = Wiring::new(options.class.clone());
    for (g, member) in present.iter().flat_map(|&g| (0..size).map(move |member| (g, member))) {
        wiring.names.push(format!("g{g:02}r{member:02}").into());
        let hosts = group.has_hosts(member);
        wiring.unnamed.push(if hosts { options.hosts_per_switch } else { 0 });
    }
    let edge = |link: &Link, ends| Edge { line: 0, ends, count: link.count, class: None };
    for first in (0..present.len()).map(|g| g * size) {
        let ends = |l: &Link| (first + l.ends.0, first + l.ends.1);
        wiring.edges.extend(group.links.iter().map(|l| edge(l, ends(l))));
    }
    let router = |s: usize| number[&(s / size)] * size + s % size;
    wiring.edges.extend(global.iter().map(|l| edge(l, (router(l.ends.0), router(l.ends.1)))));
    let fabric = wiring
        .build(name_of(inter.1), &mut d)
        .map_err(|e| ReadError::not_such(inter.1, e.to_string(), EXPECTED, ""))?;
    let fits = inside.is_empty()
        && match group.kind {
            Some(GroupKind::LeafSpine { leaves }) => global
                .iter()
                .all(|l| [l.ends.0, l.ends.1].iter().all(|s| s % size >= leaves as usize)),
            _ => true,
        };
    let shape = group.kind.filter(|_| fits).map(|inside| {
        let routers = 0..(present.len() * size) as u32;
        Shape::Dragonfly(DragonflyShape {
            group: routers.clone().map(|s| s / size as u32).collect(),
            member: routers.map(|s| s % size as u32).collect(),
            inside,
        })
    });
    Ok((Topology { fabric, shape }, d))
}

/// The name of the network: that of either file without the word that distinguishes them.
fn name_of(inter: &Path) -> String {
    let name = input::name_of(inter);
    let Some(at) = name.rfind("inter") else { return name };
    let (before, after) = (&name[..at], &name[at + "inter".len()..]);
    let apart = ['-', '_', '.'];
    let rest = format!("{}{}", before.trim_end_matches(apart), after.trim_end_matches(apart));
    let rest = rest.trim_matches(apart);
    if rest.is_empty() { name } else { rest.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_halves() {
        for (name, half, partner, network) in [
            ("d/dfp_8k_inter.bin", Half::Inter, "d/dfp_8k_intra.bin", "dfp_8k"),
            ("intra-theta.bin", Half::Intra, "inter-theta.bin", "theta"),
            ("inter", Half::Inter, "intra", "inter"),
        ] {
            assert_eq!(halves(Path::new(name)), Some((half, partner.into())), "{name}");
            let inter = if half == Half::Inter { name } else { partner };
            assert_eq!(name_of(Path::new(inter)), network);
        }
        assert_eq!(halves(Path::new("theta.bin")), None);
        assert_eq!(halves(Path::new("-")), None);
    }
}
