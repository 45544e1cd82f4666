//! Dragonflies: groups that are fully connected, or grids (Cascade), or leaves and spines (dragonfly+).
//!
//! Two switches of a fully connected group share most of their neighbours, two of different groups few. A group of
//! rows and columns is recognised by its rows: two rows of one group have a cable in nearly every column, two of
//! different groups in few. Leaves and spines are recognised by the hosts, and a group is the set that their cables
//! connect. The rest are cables between groups.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::{DragonflyShape, GridShape, GroupKind, Shape};

use super::fit::Fit;
use super::found::RecognizedStructure;
use super::global::Groups;
use super::net::{Net, typical};
use super::sets::Sets;
use super::{hyperx, levels};

/// Number of rounds in which switches may move to another group.
const ROUNDS: usize = 5;

/// A (damaged) dragonfly with fully connected groups.
pub(super) fn full(net: &Net<'_>) -> Result<RecognizedStructure, String> {
    let count: Vec<u32> = net.edges.iter().map(|&(s, v)| net.common(s, v).count() as u32).collect();
    let mut steps = count.clone();
    steps.sort_unstable();
    steps.dedup();
    let mut why = "no two neighbours share a third".to_owned();
    for least in steps.into_iter().filter(|&c| c > 0) {
        let (group, groups) = net.components(|e| count[e] >= least);
        for (group, groups) in [settled(net, group.clone()), (group, groups)] {
            match cliques(net, group, groups) {
                Ok(found) => return Ok(found),
                Err(other) => why = other,
            }
        }
    }
    Err(why)
}

/// Lets switches go over to the group that most of their neighbours are of, which puts those back that
/// damage has cut off.
fn settled(net: &Net<'_>, mut group: Vec<u32>) -> (Vec<u32>, usize) {
    let mut count: BTreeMap<u32, u32> = BTreeMap::new();
    for _ in 0..ROUNDS {
        let mut moved = false;
        for s in 0..net.len() as u32 {
            count.clear();
            for &v in net.neighbours(s) {
                *count.entry(group[v as usize]).or_default() += 1;
            }
            let own = count.get(&group[s as usize]).copied().unwrap_or(0);
            let best = count.iter().max_by_key(|&(&g, &n)| (n, Reverse(g)));
            if let Some((&best, _)) = best.filter(|&(_, &n)| n > own) {
                group[s as usize] = best;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    let mut number: BTreeMap<u32, u32> = BTreeMap::new();
    for g in &mut group {
        let next = number.len() as u32;
        *g = *number.entry(*g).or_insert(next);
    }
    let groups = number.len();
    (group, groups)
}

fn cliques(net: &Net<'_>, group: Vec<u32>, groups: usize) -> Result<RecognizedStructure, String> {
    let members = members(&group, groups);
    let a = members.iter().map(Vec::len).max().unwrap_or(0);
    if groups < 2 || a < 2 {
        return Err("no groups of neighbours".to_owned());
    }
    Fit::worth(groups as u64 * a as u64, net.len())?;
    let inside = |s: u32, v: u32| group[s as usize] == group[v as usize];
    let cables = net.edges.iter().filter(|&&(s, v)| inside(s, v)).map(|&(s, v)| net.cables(s, v));
    let trunk = typical(cables).max(1);
    let pairs = members.iter().flat_map(|all| {
        all.iter().enumerate().flat_map(move |(i, &s)| all[i + 1..].iter().map(move |&v| (s, v)))
    });
    let fit = Fit::of(net, pairs.map(|(s, v)| (s, v, trunk)), inside);
    let mut member = vec![0; net.len()];
    for all in &members {
        for (i, &s) in (0..).zip(all) {
            member[s as usize] = i;
        }
    }
    let shape = DragonflyShape { group, member, inside: GroupKind::Full };
    let what = format!("dragonfly, {groups} groups of {a} switches");
    finish(net, shape, a, &what, fit)
}

/// A (damaged) Cray Cascade: groups of rows and columns.
pub(super) fn cascade(net: &Net<'_>) -> Result<RecognizedStructure, String> {
    let group = joined_rows(net)?;
    let mut why = String::new();
    for (group, groups) in [group.clone(), settled(net, group.0)] {
        match grids(net, group, groups) {
            Ok(found) => return Ok(found),
            Err(other) => why = other,
        }
    }
    Err(why)
}

fn grids(net: &Net<'_>, group: Vec<u32>, groups: usize) -> Result<RecognizedStructure, String> {
    let members = members(&group, groups);
    if groups < 2 {
        return Err("one group".to_owned());
    }
    let mut grids: Vec<(GridShape, Fit)> = Vec::with_capacity(groups);
    for all in &members {
        grids.push(hyperx::grid(&net.part(all), &[]).map_err(|why| format!("in a group, {why}"))?);
    }
    let dims = grids[0].0.dims.clone();
    let &[long, short] = dims.as_slice() else {
        return Err("groups are no grids".to_owned());
    };
    if grids.iter().any(|(shape, _)| shape.dims != dims) {
        return Err("groups are grids of different sizes".to_owned());
    }
    // Columns have more cables between two switches than rows; if not, they are the shorter lines.
    let trunk = |d: usize| {
        let cables = members.iter().zip(&grids).flat_map(|(all, (shape, _))| {
            let row = |i: usize| &shape.coords[2 * i..2 * i + 2];
            (0..all.len()).flat_map(move |i| (i + 1..all.len()).map(move |j| (i, j))).filter_map(
                move |(i, j)| {
                    let line = row(i)[1 - d] == row(j)[1 - d];
                    Some(net.cables(all[i], all[j])).filter(|&n| line && n > 0)
                },
            )
        });
        typical(cables)
    };
    let column = usize::from(trunk(0) > trunk(1));
    let (columns, rows) =
        if column == 0 { (u32::from(long), u32::from(short)) } else { (short.into(), long.into()) };
    let mut member = vec![0; net.len()];
    let mut fit = Fit::default();
    for (all, (shape, inside)) in members.iter().zip(grids) {
        for (i, &s) in all.iter().enumerate() {
            let at = |d: usize| u32::from(shape.coords[2 * i + d]);
            member[s as usize] = at(1 - column) * columns + at(column);
        }
        let outer = |(s, v, n): (u32, u32, u32)| (all[s as usize], all[v as usize], n);
        fit.missing.extend(inside.missing.into_iter().map(outer));
        fit.extra.extend(inside.extra.into_iter().map(outer));
        fit.expected += inside.expected;
    }
    let shape = DragonflyShape { group, member, inside: GroupKind::Grid { rows, columns } };
    let what = format!("Cascade dragonfly, {groups} groups of {rows}x{columns} switches");
    finish(net, shape, (rows * columns) as usize, &what, fit)
}

/// Groups by rows that are joined in most columns.
fn joined_rows(net: &Net<'_>) -> Result<(Vec<u32>, usize), String> {
    let mut lines = Sets::new(net.edges.len());
    hyperx::triangles(net, &[], &mut lines);
    // The row of a switch is the largest line that it is of.
    let row: Vec<Option<usize>> = (0..net.len() as u32)
        .map(|s| {
            let mut size: BTreeMap<usize, usize> = BTreeMap::new();
            for (_, e) in net.incident(s) {
                *size.entry(lines.root(e)).or_default() += 1;
            }
            size.into_iter().max_by_key(|&(line, n)| (n, lines.size(line), line)).map(|(l, _)| l)
        })
        .collect();
    let mut length: BTreeMap<usize, usize> = BTreeMap::new();
    for line in row.iter().flatten() {
        *length.entry(*line).or_default() += 1;
    }
    let usual = typical(length.values().map(|&n| n as u32)) as usize;
    if usual < 3 {
        return Err("no rows of neighbours".to_owned());
    }
    let mut joined: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for &(s, v) in &net.edges {
        if let (Some(a), Some(b)) = (row[s as usize], row[v as usize])
            && a != b
        {
            *joined.entry((a.min(b), a.max(b))).or_default() += 1;
        }
    }
    let same = |s: u32, v: u32| {
        let (Some(a), Some(b)) = (row[s as usize], row[v as usize]) else { return false };
        a == b || joined.get(&(a.min(b), a.max(b))).is_some_and(|&n| n * 10 >= usual * 6)
    };
    Ok(net.components(|e| same(net.edges[e].0, net.edges[e].1)))
}

/// A (damaged) dragonfly+: groups of leaves and spines, cables between groups on the spines.
pub(super) fn plus(net: &Net<'_>) -> Result<RecognizedStructure, String> {
    // In a group without any host spines are two hops from hosts, and its leaves three.
    let height = levels::heights(net)?;
    let leaf: Vec<bool> = height.iter().map(|&h| h == 0 || h == 3).collect();
    let inside = |s: u32, v: u32| leaf[s as usize] != leaf[v as usize];
    let (group, groups) = net.components(|e| inside(net.edges[e].0, net.edges[e].1));
    let members = members(&group, groups);
    let split: Vec<(Vec<u32>, Vec<u32>)> =
        (members.iter()).map(|all| all.iter().partition(|&&s| leaf[s as usize])).collect();
    let leaves = typical(split.iter().map(|(l, _)| l.len() as u32));
    let spines = typical(split.iter().map(|(_, s)| s.len() as u32));
    if groups < 2 || leaves == 0 || spines == 0 {
        return Err("no groups of leaves and spines".to_owned());
    }
    if split.iter().any(|(l, s)| l.len() > leaves as usize || s.len() > spines as usize) {
        return Err("groups of leaves and spines differ in size".to_owned());
    }
    let a = (leaves + spines) as usize;
    Fit::worth(groups as u64 * a as u64, net.len())?;
    let cables = net.edges.iter().filter(|&&(s, v)| inside(s, v)).map(|&(s, v)| net.cables(s, v));
    let trunk = typical(cables).max(1);
    let pairs =
        split.iter().flat_map(|(l, s)| l.iter().flat_map(move |&l| s.iter().map(move |&s| (l, s))));
    let up = |s: u32, v: u32| inside(s, v) || (leaf[s as usize] && leaf[v as usize]);
    let fit = Fit::of(net, pairs.map(|(l, s)| (l, s, trunk)), up);
    let mut member = vec![0; net.len()];
    for (l, s) in &split {
        for (i, &s) in (0..).zip(l).chain((leaves..).zip(s)) {
            member[s as usize] = i;
        }
    }
    let shape = DragonflyShape { group, member, inside: GroupKind::LeafSpine { leaves } };
    let what = format!("dragonfly+, {groups} groups of {leaves} leaves and {spines} spines");
    finish(net, shape, a, &what, fit)
}

fn members(group: &[u32], groups: usize) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); groups];
    for (s, &g) in (0..).zip(group) {
        members[g as usize].push(s);
    }
    members
}

/// Adds the cables between groups of `a` switches each, and the switches that are not there.
fn finish(
    net: &Net<'_>,
    shape: DragonflyShape,
    a: usize,
    what: &str,
    mut fit: Fit,
) -> Result<RecognizedStructure, String> {
    let groups = shape.group.iter().copied().max().map_or(0, |g| g as usize + 1);
    fit.places = groups as u64 * a as u64;
    let mut vacant = vec![0; groups];
    for (g, all) in members(&shape.group, groups).iter().enumerate() {
        vacant[g] = (a - all.len().min(a)) as u32;
        let names = (0..vacant[g]).map(|_| format!("a switch of group {g}"));
        fit.vacant.extend(names);
    }
    let groups = Groups { of: shape.group.clone(), vacant };
    let per_pair = groups.join(net, &mut fit)?;
    let cables = if per_pair == 1 { "cable" } else { "cables" };
    let text = format!("{what}, {per_pair} {cables} between any two");
    Ok(RecognizedStructure { shape: Shape::Dragonfly(shape), text, fit: fit.accept()? })
}
