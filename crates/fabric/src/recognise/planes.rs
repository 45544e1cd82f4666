//! Several networks that share hosts: each is recognised alone.

use std::collections::BTreeSet;

use crate::{
    DragonflyShape, ExpanderShape, GridShape, HostId, Pgft, PlanesShape, Shape, SlimFlyShape,
    TerminalId, TreeShape,
};

use super::fit::Fit;
use super::found::{Found, Unrecognised};
use super::net::Net;
use super::registry;

/// Of ten hosts of a plane, this many must have a terminal in another one.
const SHARED_OF_TEN: usize = 1;

/// The planes of a fabric in `count` pieces, by the piece of each switch.
pub(super) fn find(net: &Net<'_>, piece: &[u32], count: usize) -> Result<Found, Unrecognised> {
    let refuse = |why: String| Unrecognised { reasons: vec![("planes", why)] };
    if count > 255 {
        return Err(refuse(format!("the switches are in {count} pieces")));
    }
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (s, &p) in (0..).zip(piece) {
        members[p as usize].push(s);
    }
    share_hosts(net, &members).map_err(refuse)?;
    let mut parts = Vec::with_capacity(count);
    for (p, all) in members.iter().enumerate() {
        let mut found = registry::ask(&net.part(all)).map_err(|mut no| {
            for (_, why) in &mut no.reasons {
                *why = format!("in piece {}, {why}", p + 1);
            }
            no
        })?;
        rename(&mut found.fit, all);
        parts.push(found);
    }
    let text = if parts.iter().all(|p| p.text == parts[0].text) {
        format!("{count} planes, each: {}", parts[0].text)
    } else {
        let all: Vec<&str> = parts.iter().map(|p| p.text.as_str()).collect();
        format!("{count} planes: {}", all.join("; "))
    };
    let mut fit = Fit::default();
    let mut shapes = Vec::with_capacity(count);
    for part in parts {
        fit.missing.extend(part.fit.missing);
        fit.extra.extend(part.fit.extra);
        fit.between.extend(part.fit.between);
        fit.vacant.extend(part.fit.vacant);
        shapes.push(part.shape);
    }
    let each = Together { net, piece, members: &members }.shape(shapes).map_err(refuse)?;
    let plane = piece.iter().map(|&p| p as u8).collect();
    let shape = Shape::Planes(PlanesShape { plane, each: Box::new(each) });
    Ok(Found { shape, text, fit })
}

fn rename(fit: &mut Fit, all: &[u32]) {
    for (s, v, _) in fit.missing.iter_mut().chain(&mut fit.extra) {
        (*s, *v) = (all[*s as usize], all[*v as usize]);
    }
}

fn share_hosts(net: &Net<'_>, members: &[Vec<u32>]) -> Result<(), String> {
    let hosts: Vec<BTreeSet<HostId>> = members
        .iter()
        .map(|all| {
            let terminals = all.iter().flat_map(|&s| net.fabric.terminals_on(net.ids[s as usize]));
            terminals.map(|t| net.fabric.host_of(TerminalId::new(t))).collect()
        })
        .collect();
    let mut planes = vec![0u32; net.fabric.hosts().len()];
    for host in hosts.iter().flatten() {
        planes[host.index()] += 1;
    }
    for (p, hosts) in hosts.iter().enumerate() {
        let shared = hosts.iter().filter(|h| planes[h.index()] > 1).count();
        if shared == 0 || shared * 10 < hosts.len() * SHARED_OF_TEN {
            return Err(format!(
                "the switches are in {} pieces, and {shared} of {} hosts of piece {} are in another",
                members.len(),
                hosts.len(),
                p + 1
            ));
        }
    }
    Ok(())
}

/// Rows of all planes, in the order of the switches.
struct Together<'a> {
    net: &'a Net<'a>,
    piece: &'a [u32],
    members: &'a [Vec<u32>],
}

impl Together<'_> {
    /// Rows of `width` numbers.
    fn rows<T: Copy>(&self, width: usize, rows: &[&[T]]) -> Vec<T> {
        let mut next = vec![0; rows.len()];
        let mut all = Vec::with_capacity(self.piece.len() * width);
        for &p in self.piece {
            let p = p as usize;
            all.extend_from_slice(&rows[p][next[p] * width..][..width]);
            next[p] += 1;
        }
        all
    }

    fn shape(&self, shapes: Vec<Shape>) -> Result<Shape, String> {
        let (mut trees, mut grids, mut dragonflies) = (Vec::new(), Vec::new(), Vec::new());
        let (mut flies, mut expanders) = (Vec::new(), Vec::new());
        let count = shapes.len();
        for shape in shapes {
            match shape {
                Shape::Tree(x) => trees.push(x),
                Shape::Grid(x) => grids.push(x),
                Shape::Dragonfly(x) => dragonflies.push(x),
                Shape::SlimFly(x) => flies.push(x),
                Shape::Expander(x) => expanders.push(x),
                Shape::Planes(_) => {}
            }
        }
        let differ = || "the pieces differ in what they are".to_owned();
        if trees.len() == count {
            return Ok(Shape::Tree(self.tree(&trees)));
        }
        if let Some(first) = grids.first().filter(|f| {
            grids.len() == count && grids.iter().all(|g| (g.kind, &g.dims) == (f.kind, &f.dims))
        }) {
            let rows: Vec<&[u16]> = grids.iter().map(|g| g.coords.as_slice()).collect();
            let coords = self.rows(first.dims.len(), &rows);
            return Ok(Shape::Grid(GridShape { coords, ..first.clone() }));
        }
        if let Some(first) = dragonflies.first().filter(|f| {
            dragonflies.len() == count && dragonflies.iter().all(|d| d.inside == f.inside)
        }) {
            let column = |of: fn(&DragonflyShape) -> &[u32]| {
                self.rows(1, &dragonflies.iter().map(of).collect::<Vec<_>>())
            };
            let (group, member) = (column(|d| &d.group), column(|d| &d.member));
            return Ok(Shape::Dragonfly(DragonflyShape { group, member, inside: first.inside }));
        }
        if let Some(first) =
            flies.first().filter(|f| flies.len() == count && flies.iter().all(|x| x.q == f.q))
        {
            let rows: Vec<&[u16]> = flies.iter().map(|f| f.coords.as_slice()).collect();
            return Ok(Shape::SlimFly(SlimFlyShape { q: first.q, coords: self.rows(3, &rows) }));
        }
        if let Some(first) = expanders
            .first()
            .filter(|f| expanders.len() == count && expanders.iter().all(|x| x.degree == f.degree))
        {
            let degree = first.degree;
            return Ok(Shape::Expander(ExpanderShape { degree, metanode: None }));
        }
        Err(differ())
    }

    /// One tree of all; labels only if they are of equal trees.
    fn tree(&self, trees: &[TreeShape]) -> TreeShape {
        let level = self.rows(1, &trees.iter().map(|t| t.level.as_slice()).collect::<Vec<_>>());
        let labels: Vec<&Pgft> = trees.iter().filter_map(|t| t.pgft.as_ref()).collect();
        let same = |a: &Pgft, b: &Pgft| (&a.m[1..], &a.w, &a.p) == (&b.m[1..], &b.w, &b.p);
        let equal = labels.len() == trees.len() && labels.iter().all(|l| same(l, labels[0]));
        if !equal {
            return TreeShape { level, pgft: None };
        }
        let most = labels.iter().map(|l| l.m[0]).max().unwrap_or(1);
        let rows: Vec<&[u16]> = labels.iter().map(|l| l.digits.as_slice()).collect();
        let digits = self.rows(labels[0].m.len(), &rows);
        let mut index = vec![0; self.net.fabric.terminal_count()];
        for (labels, all) in labels.iter().zip(self.members) {
            for t in
                all.iter().flat_map(|&s| self.net.fabric.terminals_on(self.net.ids[s as usize]))
            {
                // The most hosts of a leaf can differ between planes.
                let (leaf, rank) = (labels.index[t] / labels.m[0], labels.index[t] % labels.m[0]);
                index[t] = leaf * most + rank;
            }
        }
        let mut m = labels[0].m.clone();
        m[0] = most;
        TreeShape { level, pgft: Some(Pgft { m, digits, index, ..labels[0].clone() }) }
    }
}
