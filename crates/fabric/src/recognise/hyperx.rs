//! HyperX, and with it full meshes and hypercubes.
//!
//! Three switches that are neighbours of each other are of one line, and so are opposite sides of a cycle of four:
//! either its sides alternate between two dimensions, or all are of one line. Lost cables make no new triangles or
//! cycles, so cables joined by these are certainly of one dimension. Without the cables of a dimension, each
//! remaining component has one coordinate in it.

use crate::{GridKind, GridShape, Shape};

use super::fit::Fit;
use super::found::RecognizedStructure;
use super::lattice;
use super::net::{Net, typical};
use super::sets::Sets;

/// A switch may have this share of the usual number of neighbours before it counts as thin, in percent.
const THIN: u32 = 70;
/// Most thin switches, in percent.
const MOST_THIN: usize = 10;
/// At most one of this many pairs of neighbours may be crooked, and two.
const MOST_CROOKED: usize = 20;
/// Neighbours of one line that speak for it when two lines are compared.
const SPEAKERS: usize = 3;

/// Finds a HyperX, which may be damaged.
pub(super) fn find(net: &Net<'_>) -> Result<RecognizedStructure, String> {
    let accepted = |(shape, fit): (GridShape, Fit)| Ok((shape, fit.accept()?));
    let again = || all_crooked(net).and_then(|odd| grid(net, &odd).and_then(accepted).ok());
    let (shape, fit) = grid(net, &[]).and_then(accepted).or_else(|why| again().ok_or(why))?;
    let text = text(&shape.dims);
    Ok(RecognizedStructure { shape: Shape::Grid(shape), text, fit })
}

/// The name of a HyperX of such sizes.
pub(super) fn text(dims: &[u16]) -> String {
    match dims {
        [n] => format!("full mesh of {n} switches"),
        _ if dims.iter().all(|&d| d == 2) => {
            let d = dims.len();
            let torus = if d.is_multiple_of(2) {
                format!(", the same as a {} torus", lattice::by(&vec![4; d / 2]))
            } else {
                String::new()
            };
            format!("{d}-dimensional hypercube{torus}")
        }
        _ => format!("{} HyperX", lattice::by(dims)),
    }
}

/// Refuses networks with switches of very different degree early.
pub(super) fn even_degrees(net: &Net<'_>) -> Result<u32, String> {
    let degree: Vec<u32> = (0..net.len() as u32).map(|s| net.degree(s) as u32).collect();
    let usual = typical(degree.iter().copied());
    let thin = degree.iter().filter(|&&d| d * 100 < usual * THIN).count();
    if thin > 1 && thin * 100 > net.len() * MOST_THIN {
        let least = degree.iter().min().copied().unwrap_or(0);
        let most = degree.iter().max().copied().unwrap_or(0);
        return Err(format!("switches have from {least} to {most} neighbours"));
    }
    Ok(usual)
}

/// The crooked cables, if they are few.
fn all_crooked(net: &Net<'_>) -> Option<Vec<bool>> {
    let most = net.edges.len() / MOST_CROOKED + 2;
    let alone = |&(s, v): &(u32, u32)| net.common(s, v).next().is_none();
    // Those that are in no triangle, if nearly all are in one.
    let few = net.edges.iter().filter(|&e| alone(e)).count() <= most;
    let mut left = most;
    let mut all = vec![false; net.edges.len()];
    for (e, this) in all.iter_mut().enumerate() {
        *this = (few && alone(&net.edges[e])) || crooked(net, e);
        left = left.checked_sub(usize::from(*this))?;
    }
    all.contains(&true).then_some(all)
}

/// Whether a cable seems to join two lines: two neighbours that its ends share are no neighbours of each
/// other, as those of a line are; or the only one shares others with each of them; or they share none, and it spans no
/// squares with most others.
fn crooked(net: &Net<'_>, e: usize) -> bool {
    let (s, v) = net.edges[e];
    let shared: Vec<u32> = net.common(s, v).collect();
    if shared.is_empty() {
        let others = net.neighbours(s).iter().filter(|&&x| x != v);
        let squares = others.filter(|&&x| net.common(v, x).any(|w| w != s)).count();
        return squares * 2 < net.degree(s) - 1;
    }
    if let [x] = shared[..] {
        return [s, v].iter().all(|&end| net.common(end, x).nth(1).is_some());
    }
    let pairs = shared
        .iter()
        .enumerate()
        .flat_map(|(i, &a)| shared[i + 1..].iter().map(move |&b| net.edge_of(a, b).is_some()));
    let (joined, apart): (Vec<bool>, Vec<bool>) = pairs.partition(|&joined| joined);
    joined.len() < apart.len()
}

/// Coordinates as a HyperX, dimensions from large to small, and how well they fit. `crooked` cables give no
/// information about dimensions.
pub(super) fn grid(net: &Net<'_>, crooked: &[bool]) -> Result<(GridShape, Fit), String> {
    if net.len() < 2 {
        return Err("one switch".to_owned());
    }
    even_degrees(net)?;
    let dimension = dimensions(net, crooked)?;
    let k = dimension.iter().filter_map(|d| *d).max().map_or(0, |d| d + 1);
    let mut columns: Vec<(u16, Vec<u16>)> = Vec::with_capacity(k);
    let mut places = 1u64;
    for d in 0..k {
        let column = layers(net, &dimension, d)?;
        let size = column.iter().copied().max().unwrap_or(0) + 1;
        places = places.saturating_mul(size.into());
        columns.push((size, column));
    }
    // The sort is stable, and dimensions are in the order of their first cable.
    columns.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    Fit::worth(places, net.len())?;
    let dims: Vec<u16> = columns.iter().map(|(size, _)| *size).collect();
    let coords = (0..net.len()).flat_map(|s| columns.iter().map(move |(_, c)| c[s])).collect();
    let shape = GridShape { kind: GridKind::HyperX, dims, coords };
    let fit = lattice::compare(net, &shape)?;
    Ok((shape, fit))
}

/// The dimension of each pair of neighbours, where it is certain.
fn dimensions(net: &Net<'_>, crooked: &[bool]) -> Result<Vec<Option<usize>>, String> {
    let mut sets = Sets::new(net.edges.len());
    triangles(net, crooked, &mut sets);
    squares(net, crooked, &mut sets);
    let mut size: Vec<(usize, usize)> = sets.all().collect();
    // A dimension has at least half as many pairs as there are switches; pieces of one that damage has cut
    // off are smaller.
    size.retain(|&(pairs, _)| pairs * 5 >= net.len());
    let certain: usize = size.iter().map(|s| s.0).sum();
    if certain * 10 < net.edges.len() * 9 {
        let all = net.edges.len();
        return Err(format!("{} of {all} pairs of neighbours are of no line", all - certain));
    }
    let mut number = vec![None; net.edges.len()];
    let mut named = vec![None; net.edges.len()];
    for (d, &(_, root)) in size.iter().enumerate() {
        named[root] = Some(d);
    }
    for (e, number) in number.iter_mut().enumerate() {
        *number = named[sets.root(e)];
    }
    Ok(number)
}

/// Joins the pairs of each triangle. A cable that is in fewer than half as many triangles as the others is
/// no part of the line, nor is one that is `crooked`.
pub(super) fn triangles(net: &Net<'_>, crooked: &[bool], sets: &mut Sets) {
    let straight = |e: usize| !crooked.get(e).copied().unwrap_or(false);
    let count: Vec<usize> = net.edges.iter().map(|&(s, v)| net.common(s, v).count()).collect();
    for (e, &(s, v)) in net.edges.iter().enumerate() {
        for x in net.common(s, v).filter(|&x| x > v) {
            let others = [net.edge_of(s, x), net.edge_of(v, x)];
            let [Some(f), Some(g)] = others else { continue };
            let most = count[e].max(count[f]).max(count[g]);
            if [e, f, g].iter().all(|&i| count[i] * 2 >= most && straight(i)) {
                sets.unite(e, f, false);
                sets.unite(e, g, false);
            }
        }
    }
}

/// Joins opposite sides of cycles of four between two lines that meet in a switch.
fn squares(net: &Net<'_>, crooked: &[bool], sets: &mut Sets) {
    let straight = |e: usize| !crooked.get(e).copied().unwrap_or(false);
    let mut lines: Vec<(usize, u32, usize)> = Vec::new();
    for s in 0..net.len() as u32 {
        lines.clear();
        let straight_on = net.incident(s).filter(|&(_, e)| straight(e));
        lines.extend(straight_on.map(|(v, e)| (sets.root(e), v, e)));
        lines.sort_unstable();
        let speakers: Vec<&[(usize, u32, usize)]> =
            lines.chunk_by(|a, b| a.0 == b.0).map(|l| &l[..l.len().min(SPEAKERS)]).collect();
        for (i, one) in speakers.iter().enumerate() {
            for &(_, v, e) in *one {
                for &(_, x, f) in speakers[i + 1..].iter().copied().flatten() {
                    for w in net.common(v, x).filter(|&w| w != s) {
                        if let (Some(a), Some(b)) = (net.edge_of(x, w), net.edge_of(v, w))
                            && straight(a)
                            && straight(b)
                        {
                            sets.unite(e, a, false);
                            sets.unite(f, b, false);
                        }
                    }
                }
            }
        }
    }
}

/// The coordinate of every switch in dimension `d`: the component without its cables. Damage can split a layer; parts
/// of one layer have no cable of the dimension between them, parts of different ones do.
fn layers(net: &Net<'_>, dimension: &[Option<usize>], d: usize) -> Result<Vec<u16>, String> {
    let (part, count) = net.components(|e| dimension[e].is_some_and(|x| x != d));
    let mut size = vec![0usize; count];
    for &p in &part {
        size[p as usize] += 1;
    }
    let whole = size.iter().copied().max().unwrap_or(0);
    if whole == net.len() {
        return Err("one direction of cables reaches everywhere".to_owned());
    }
    let mut apart: Vec<Vec<u32>> = vec![Vec::new(); count];
    if whole > 1 {
        for (e, &(s, v)) in net.edges.iter().enumerate() {
            let (a, b) = (part[s as usize], part[v as usize]);
            if dimension[e] == Some(d) && size[a as usize] + size[b as usize] <= whole {
                apart[a as usize].push(b);
                apart[b as usize].push(a);
            }
        }
    }
    let mut by: Vec<u32> = (0..count as u32).collect();
    by.sort_by_key(|&p| (std::cmp::Reverse(size[p as usize]), p));
    let mut layer = vec![u16::MAX; count];
    // Layers that are not whole yet: number, switches.
    let mut open: Vec<(u16, usize)> = Vec::new();
    let mut next = 0u16;
    for p in by {
        let here = size[p as usize];
        let fits = open.iter_mut().find(|(number, filled)| {
            *filled + here <= whole
                && apart[p as usize].iter().all(|&q| layer[q as usize] != *number)
        });
        if let Some((number, filled)) = fits {
            layer[p as usize] = *number;
            *filled += here;
            continue;
        }
        layer[p as usize] = next;
        if here < whole {
            open.push((next, here));
        }
        next = next.checked_add(1).ok_or("too many coordinates")?;
    }
    Ok(part.into_iter().map(|p| layer[p as usize]).collect())
}
