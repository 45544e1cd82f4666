//! Recognition of Slim Flies.
//!
//! Of the neighbours of a switch two thirds are in the other half, one in each column there, and one third in its own
//! column. So one column determines the halves: switches with a neighbour in it are of the other half, and those that
//! damage put on the wrong side have most neighbours there and are moved. Neighbours of one half are of one column;
//! two switches of one half and different columns share a neighbour in the other half, two of one column do not,
//! which joins columns that damage has split. Coordinates follow from the cables between columns: see `mms`.

use std::collections::BTreeMap;

use crate::generate::{Field, generators};
use crate::{Shape, SlimFlyShape};

use super::fit::Fit;
use super::found::RecognizedStructure;
use super::mms::{Mms, better};
use super::net::{Net, typical};

/// The largest `q`, as the generator has it.
const LARGEST: u32 = 169;
/// The usual number of neighbours of damaged copies, in percent of the structure's.
const USUAL: u32 = 92;
/// Up to this `q` columns are cycles or nothing but triangles, and larger ones hold together by triangles.
const CYCLES: u32 = 5;
/// Columns from which halves are made.
const SEEDS: usize = 8;
/// Neighbours that have a say with a switch on which column it is of.
const SPEAKERS: usize = 2;
/// Number of rounds in which switches may move to the other half.
const ROUNDS: usize = 6;

/// A (damaged) Slim Fly.
pub(super) fn find(net: &Net<'_>) -> Result<RecognizedStructure, String> {
    let (q, field) = size(net)?;
    let sets = generators(&field, q);
    let local = sets[0].len();
    let mms = Mms::new(net, q, &field, sets);
    let mut why = "no columns of neighbours".to_owned();
    for seed in seeds(net, q as usize) {
        let half = halves(net, &seed);
        let fits =
            columns(net, &half, q as usize, local).and_then(|columns| match mms.fit(&columns, 0) {
                Ok(one) if one.1.extra.is_empty() => Ok(one),
                one => better(one, mms.fit(&columns, 1)),
            });
        match fits {
            Ok((coords, fit)) => {
                let shape = Shape::SlimFly(SlimFlyShape { q, coords });
                return Ok(RecognizedStructure { shape, text: format!("Slim Fly, q = {q}"), fit });
            }
            Err(other) => why = other,
        }
    }
    Err(why)
}

/// The `q` that the number of switches and of neighbours leaves, and its field.
fn size(net: &Net<'_>) -> Result<(u32, Field), String> {
    let degree = typical((0..net.len() as u32).map(|s| net.degree(s) as u32));
    (3..=LARGEST)
        .filter(|&q| Fit::worth(2 * u64::from(q * q), net.len()).is_ok())
        .filter(|&q| {
            let whole = (3 * q).div_ceil(2) - u32::from(q % 4 == 1);
            degree <= whole && degree * 100 >= whole * USUAL
        })
        .find_map(|q| Some((q, Field::new(q).filter(|_| q % 4 != 2)?)))
        .ok_or_else(|| {
            format!("no Slim Fly has {} switches with {degree} neighbours each", net.len())
        })
}

/// Sets of switches that are probably a column each, the most promising first.
fn seeds(net: &Net<'_>, q: usize) -> Vec<Vec<u32>> {
    if q as u32 <= CYCLES {
        let n = net.len();
        let starts = (0..SEEDS).map(|i| (i * n / SEEDS) as u32);
        let cycle = |s| {
            let mut path = vec![s];
            closes(net, &mut path, q).then_some(path)
        };
        return starts.filter_map(cycle).collect();
    }
    let triangle: Vec<bool> =
        net.edges.iter().map(|&(s, v)| net.common(s, v).next().is_some()).collect();
    let (part, count) = net.components(|e| triangle[e]);
    let mut parts = vec![Vec::new(); count];
    for (s, &p) in (0..).zip(&part) {
        parts[p as usize].push(s);
    }
    let is_column = |p: &Vec<u32>| p.len() <= q && p.len() * 4 >= q * 3;
    if !parts.iter().any(is_column) {
        parts = pairs(net, &parts, &part);
    }
    parts.retain(is_column);
    parts.sort_by_key(|p| std::cmp::Reverse(p.len()));
    parts.truncate(SEEDS);
    parts
}

/// Parts that are joined in parallel, put together by twos. A column of eight is two sets of four, and no
/// other two of these have more than two cables between them.
fn pairs(net: &Net<'_>, parts: &[Vec<u32>], part: &[u32]) -> Vec<Vec<u32>> {
    let mut joined: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for &(s, v) in &net.edges {
        let [a, b] = [s, v].map(|s| part[s as usize] as usize);
        if a != b {
            *joined.entry((a.min(b), a.max(b))).or_default() += 1;
        }
    }
    let parallel = |&(&(a, b), &edges): &(&(usize, usize), &usize)| {
        edges > 2 && edges * 4 >= 3 * parts[a].len().max(parts[b].len())
    };
    let pairs = joined.iter().filter(parallel);
    pairs.map(|(&(a, b), _)| [parts[a].as_slice(), &parts[b]].concat()).collect()
}

/// Extends a path to the first cycle of `length`.
fn closes(net: &Net<'_>, path: &mut Vec<u32>, length: usize) -> bool {
    let last = path[path.len() - 1];
    if path.len() == length {
        return net.edge_of(path[0], last).is_some();
    }
    for &v in net.neighbours(last) {
        if !path.contains(&v) {
            path.push(v);
            if closes(net, path, length) {
                return true;
            }
            path.pop();
        }
    }
    false
}

/// The half of each switch, as determined by one column.
fn halves(net: &Net<'_>, column: &[u32]) -> Vec<bool> {
    let mut half = vec![false; net.len()];
    for &s in column {
        for &v in net.neighbours(s) {
            half[v as usize] = true;
        }
    }
    for &s in column {
        half[s as usize] = false;
    }
    for _ in 0..ROUNDS {
        let mut moved = false;
        for s in 0..net.len() as u32 {
            let (own, other) = sides(net, &half, s);
            if own > other {
                half[s as usize] = !half[s as usize];
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    half
}

/// Neighbours in the own half and in the other one.
fn sides(net: &Net<'_>, half: &[bool], s: u32) -> (usize, usize) {
    let all = net.neighbours(s);
    let own = all.iter().filter(|&&v| half[v as usize] == half[s as usize]).count();
    (own, all.len() - own)
}

/// The `q` columns of each half. Switches whose half is not certain are in none: `local` neighbours or
/// fewer in the other half may be all of their own column.
fn columns(
    net: &Net<'_>,
    half: &[bool],
    q: usize,
    local: usize,
) -> Result<[Vec<Vec<u32>>; 2], String> {
    let certain: Vec<bool> = (0..net.len() as u32).map(|s| sides(net, half, s).1 > local).collect();
    let meet = |s: u32, v: u32| net.common(s, v).any(|x| half[x as usize] != half[s as usize]);
    // A cable too many can join columns, and the neighbour that its ends shared can be lost: others of the
    // columns have a say.
    let apart = |s: u32, v: u32| {
        let [one, two] = [(s, v), (v, s)].map(|(s, far)| {
            let own = net.neighbours(s).iter().copied();
            let own = own.filter(|&x| x != far && half[x as usize] == half[s as usize]);
            std::iter::once(s).chain(own.take(SPEAKERS)).collect::<Vec<u32>>()
        });
        let pairs = one.iter().flat_map(|&s| two.iter().map(move |&v| (s, v)));
        pairs.filter(|&(s, v)| s != v && meet(s, v)).count() * 2 >= one.len() * two.len()
    };
    let (part, count) = net.components(|e| {
        let (s, v) = net.edges[e];
        let known = certain[s as usize] && certain[v as usize];
        known && half[s as usize] == half[v as usize] && !apart(s, v)
    });
    let mut parts: Vec<Vec<u32>> = vec![Vec::new(); count];
    for s in (0..net.len() as u32).filter(|&s| certain[s as usize]) {
        parts[part[s as usize] as usize].push(s);
    }
    parts.retain(|p| !p.is_empty());
    parts.sort_by_key(|p| std::cmp::Reverse(p.len()));
    let mut columns = [Vec::new(), Vec::new()];
    for piece in parts {
        if piece.len() > q {
            return Err(format!("a column of {} switches where {q} would be", piece.len()));
        }
        let side: &mut Vec<Vec<u32>> = &mut columns[usize::from(half[piece[0] as usize])];
        let shares = |column: &Vec<u32>| {
            let pairs = piece.iter().flat_map(|&s| column.iter().map(move |&v| (s, v)));
            let shared = pairs.filter(|&(s, v)| meet(s, v)).count();
            shared * 1000 / (piece.len() * column.len())
        };
        let home = side
            .iter_mut()
            .filter(|column| column.len() + piece.len() <= q)
            .map(|column| (shares(column), column))
            .min_by_key(|(shares, _)| *shares)
            .filter(|(shares, _)| *shares < 500);
        match home {
            Some((_, column)) => column.extend(piece),
            None => side.push(piece),
        }
        if side.len() > q {
            return Err(format!("more than {q} columns of neighbours"));
        }
    }
    let found = columns[0].len().min(columns[1].len());
    if found < q {
        return Err(format!("{found} columns of neighbours where {q} would be"));
    }
    Ok(columns)
}
