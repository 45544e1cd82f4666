//! Several networks that share hosts: each is recognised alone.

use crate::{Pgft, Planes, PlanesShape, Shape, TerminalId};

use super::fit::Fit;
use super::found::{RecognizedStructure, Unrecognised};
use super::net::Net;
use super::registry;

/// The planes of a fabric in `pieces` pieces.
pub(super) fn find(net: &Net<'_>, pieces: usize) -> Result<RecognizedStructure, Unrecognised> {
    let fabric = net.fabric;
    let planes = Planes::of(fabric);
    let count = planes.count();
    if count < 2 {
        let why = format!(
            "the switches are in {pieces} pieces, and not each of these is in a plane with at least half of the hosts"
        );
        return Err(Unrecognised { reasons: vec![("planes", why)] });
    }
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (s, &id) in (0..).zip(&net.ids) {
        members[planes.of_switch(id)].push(s);
    }
    let terminals = planes.terminals(fabric);
    let mut parts = Vec::with_capacity(count);
    for (p, all) in members.iter().enumerate() {
        let part = net.part(all);
        let (_, pieces) = part.components(|_| true);
        if pieces > 1 {
            let why = format!("in plane {}, the switches are in {pieces} pieces", p + 1);
            return Err(Unrecognised { reasons: vec![("planes", why)] });
        }
        let mut found = registry::ask(&part).map_err(|mut no| {
            for (_, why) in &mut no.reasons {
                *why = format!("in plane {}, {why}", p + 1);
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
    let mut each = Vec::with_capacity(count);
    for (part, terminals) in parts.into_iter().zip(&terminals) {
        fit.missing.extend(part.fit.missing);
        fit.extra.extend(part.fit.extra);
        fit.between.extend(part.fit.between);
        fit.vacant.extend(part.fit.vacant);
        each.push(Some(with_terminals(part.shape, terminals)));
    }
    let shape = Shape::Planes(PlanesShape {
        plane: net.ids.iter().map(|&s| planes.of_switch(s) as u8).collect(),
        terminal: (0..fabric.terminal_count())
            .map(|t| planes.of_terminal(fabric, TerminalId::new(t)) as u8)
            .collect(),
        each,
    });
    Ok(RecognizedStructure { shape, text, fit })
}

/// The shape of a plane with rows for its own terminals: recognisers number those of the whole fabric.
fn with_terminals(shape: Shape, terminals: &[TerminalId]) -> Shape {
    let Shape::Tree(mut tree) = shape else { return shape };
    tree.pgft = tree
        .pgft
        .map(|p| Pgft { index: terminals.iter().map(|t| p.index[t.index()]).collect(), ..p });
    Shape::Tree(tree)
}

fn rename(fit: &mut Fit, all: &[u32]) {
    for (s, v, _) in fit.missing.iter_mut().chain(&mut fit.extra) {
        (*s, *v) = (all[*s as usize], all[*v as usize]);
    }
}
