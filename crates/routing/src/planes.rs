//! Fabrics of several planes: each plane is routed as a separate fabric, and all of them form one [`Routes`].
//!
//! No channel joins two planes, so their tables, loads and channel dependencies are independent. Rows of a plane's
//! destinations have no route on switches of the others.

use std::sync::Arc;

use darkfiber_fabric::{Fabric, Planes, Renumbering, SwitchId, TerminalId};

use crate::next_hops::{HopsOfPart, NextHops};
use crate::{Demand, DestId, HopLanes, Layers, LidChoice, Refusal, Request, Routes};

/// Routes every plane of a fabric with `one`, which gets the plane's number, the plane as a fabric, and the part of the
/// request that concerns it. A fabric without planes is a single plane.
///
/// # Errors
/// If a plane is refused, with its number; if planes have different numbers of LIDs, or senders choose among these by different
/// rules.
pub(crate) fn route(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    one: &dyn Fn(usize, &Fabric, &Request<'_>) -> Result<Routes, Refusal>,
) -> Result<Routes, Refusal> {
    let planes = Planes::of(fabric);
    if planes.count() == 1 {
        return one(0, fabric, request);
    }
    let mut parts = Vec::with_capacity(planes.count());
    for (i, (plane, map)) in planes.apart(fabric, request.shape).into_iter().enumerate() {
        let terminal = |t: TerminalId| map.terminal[t.index()];
        let roots: Vec<SwitchId> =
            request.roots.iter().filter_map(|s| map.switch[s.index()]).collect();
        let jobs: Vec<Vec<TerminalId>> = request
            .jobs
            .iter()
            .map(|job| job.iter().filter_map(|&t| terminal(t)).collect())
            .filter(|job: &Vec<TerminalId>| !job.is_empty())
            .collect();
        let within = |d: &Demand| {
            Some(Demand { from: terminal(d.from)?, to: terminal(d.to)?, weight: d.weight })
        };
        let demands: Vec<Demand> = request.demands.iter().filter_map(within).collect();
        let own = Request {
            shape: plane.shape.as_ref(),
            roots: &roots,
            jobs: &jobs,
            demands: &demands,
            ..request.clone()
        };
        let routes = one(i, &plane.fabric, &own)
            .map_err(|refusal| Refusal::InPlane { plane: i + 1, refusal: Box::new(refusal) })?;
        parts.push((routes, map));
    }
    joined(fabric, &parts).map_err(|problem| Refusal::Parameter { engine, problem })
}

/// One set of tables from those of all planes, each with how its ids map to those of the fabric.
///
/// # Errors
/// If their terminals have different numbers of LIDs, or senders choose among these by different rules.
pub fn joined(fabric: &Fabric, parts: &[(Routes, Renumbering)]) -> Result<Routes, String> {
    let lids: Vec<usize> = parts.iter().map(|(routes, _)| routes.paths()).collect();
    let paths = lids.iter().copied().max().unwrap_or(1);
    if lids.iter().any(|&own| own != paths) {
        let each: Vec<String> = lids.iter().map(ToString::to_string).collect();
        let lmc = paths.next_power_of_two().ilog2();
        return Err(format!(
            "the ports of the planes have {} LIDs, and all must have as many: give --lmc {lmc}, or route each with --plane N",
            each.join(" and ")
        ));
    }
    let mut names: Vec<&str> = parts.iter().map(|(routes, _)| routes.engine.as_str()).collect();
    if names.iter().all(|name| *name == names[0]) {
        names.truncate(1);
    }
    let mut all = table(fabric, parts, paths, &names.join("/"));
    let rows: Vec<Vec<u32>> = parts.iter().map(|part| rows_of(fabric, part, &all)).collect();
    for ((routes, map), rows) in parts.iter().zip(&rows) {
        for (row, &global) in rows.iter().enumerate() {
            let ports = all.ports_mut(global as usize);
            for (&port, s) in routes.ports(row).iter().zip(&map.old_switch) {
                ports[s.index()] = port;
            }
        }
    }
    all.layers = match by_hop(fabric, parts)? {
        Some(lanes) => Layers::ByHop(lanes),
        None => layers(fabric, parts, &rows, all.row_count()),
    };
    if parts.iter().any(|(routes, _)| routes.source_chooses()) {
        let free = |(routes, _): &(Routes, _)| !routes.source_chooses() && routes.paths() > 1;
        if parts.iter().any(free) {
            return Err("a source has one LID of each port in one plane, and any in another: \
                        route each with --plane N"
                .to_owned());
        }
        let mut select = vec![0; fabric.terminal_count()];
        for (routes, map) in parts {
            for (t, old) in map.old_terminal.iter().enumerate() {
                select[old.index()] = routes.path_of(TerminalId::new(t)) as u16;
            }
        }
        all.set_select(select);
    }
    all.choice = choice(fabric, parts)?;
    all.groups = groups(fabric, parts, &rows, all.row_count());
    for ((routes, _), plane) in parts.iter().zip(1..) {
        all.notes.extend(routes.notes.iter().map(|note| format!("plane {plane}: {note}")));
    }
    // A plane without any of the roots leaves none.
    all.leaves_roots = parts.iter().any(|(routes, _)| routes.leaves_roots);
    Ok(all)
}

/// Tables without any route, in which destinations share rows as in the parts.
fn table(fabric: &Fabric, parts: &[(Routes, Renumbering)], paths: usize, engine: &str) -> Routes {
    if parts.iter().all(|(routes, _)| !routes.shares_rows()) {
        return Routes::empty(engine, fabric, paths);
    }
    let terminals = fabric.terminal_count();
    let mut row_of = vec![0; terminals * paths + fabric.switch_count()];
    let mut first = 0;
    for (routes, map) in parts {
        let row = |d: usize, path: usize| (first + routes.row(DestId::new(d), path)) as u32;
        for (t, old) in map.old_terminal.iter().enumerate() {
            for path in 0..paths {
                row_of[old.index() * paths + path] = row(t, path);
            }
        }
        for (s, old) in map.old_switch.iter().enumerate() {
            row_of[terminals * paths + old.index()] = row(map.old_terminal.len() + s, 0);
        }
        first += routes.row_count();
    }
    Routes::with_shared_rows(engine, fabric, paths, row_of, first)
}

/// By row of a part, the row of all.
fn rows_of(fabric: &Fabric, (routes, map): &(Routes, Renumbering), all: &Routes) -> Vec<u32> {
    let mut rows = vec![0; routes.row_count()];
    for (t, &old) in map.old_terminal.iter().enumerate() {
        for path in 0..routes.paths() {
            rows[routes.row(DestId::new(t), path)] = all.row(DestId::terminal(old), path) as u32;
        }
    }
    for (s, &old) in map.old_switch.iter().enumerate() {
        let own = DestId::new(map.old_terminal.len() + s);
        rows[routes.row(own, 0)] = all.row(DestId::switch(fabric, old), 0) as u32;
    }
    rows
}

/// The lanes that the switches of all parts choose, if those of one do.
fn by_hop(fabric: &Fabric, parts: &[(Routes, Renumbering)]) -> Result<Option<HopLanes>, String> {
    if parts.iter().all(|(routes, _)| routes.layers.by_hop().is_none()) {
        return Ok(None);
    }
    let mut all = HopLanes::new(fabric);
    for (routes, map) in parts {
        match &routes.layers {
            Layers::ByHop(lanes) if lanes.levels().is_none() => {
                for (s, &old) in map.old_switch.iter().enumerate() {
                    all.take(old, lanes, SwitchId::new(s));
                }
            }
            Layers::One => {}
            _ => {
                return Err("switches choose lanes in one plane, and senders in another: \
                            route each with --plane N"
                    .to_owned());
            }
        }
    }
    Ok(Some(all))
}

/// The groups of ports of all parts, if one has some; rows of a part without are left as its tables are.
fn groups(
    fabric: &Fabric,
    parts: &[(Routes, Renumbering)],
    rows: &[Vec<u32>],
    row_count: usize,
) -> Option<Arc<NextHops>> {
    // A channel of a part is found by its switch and port.
    type Mapped<'a> = (&'a NextHops, &'a [u32], Vec<u32>, &'a Renumbering);
    let mapped: Vec<Mapped<'_>> = parts
        .iter()
        .zip(rows)
        .filter_map(|((routes, map), rows)| {
            let hops = routes.groups.as_deref()?;
            let channels: Vec<u32> = map
                .old_switch
                .iter()
                .flat_map(|&s| fabric.channels_from(s).map(|c| c as u32))
                .collect();
            Some((hops, &rows[..], channels, map))
        })
        .collect();
    if mapped.is_empty() {
        return None;
    }
    let channels: Vec<_> = mapped.iter().map(|m| move |c: u32| m.2[c as usize]).collect();
    let switches: Vec<_> =
        mapped.iter().map(|m| move |s: SwitchId| m.3.old_switch[s.index()]).collect();
    let all: Vec<HopsOfPart<'_>> = mapped
        .iter()
        .zip(channels.iter().zip(&switches))
        .map(|(m, (channel, switch))| HopsOfPart { hops: m.0, rows: m.1, channel, switch })
        .collect();
    Some(Arc::new(NextHops::joined(fabric.switch_count(), row_count, &all)))
}

/// The virtual layers of all parts, which depend on as much as those that depend on most.
fn layers(
    fabric: &Fabric,
    parts: &[(Routes, Renumbering)],
    rows: &[Vec<u32>],
    row_count: usize,
) -> Layers {
    let (switches, terminals) = (fabric.switch_count(), fabric.terminal_count());
    let most = parts.iter().map(|(routes, _)| match routes.layers {
        // Lanes by hop are joined apart.
        Layers::One | Layers::ByHop(_) => 0,
        Layers::ByRow(_) => 1,
        Layers::BySourceSwitch(_) => 2,
        Layers::BySource(_) => 3,
    });
    let most = most.max().unwrap_or(0);
    let width = [0, 1, switches, terminals][most];
    let mut layer = vec![0u8; width * row_count];
    for ((routes, map), rows) in parts.iter().zip(rows) {
        let (own_switches, own_terminals) = (map.old_switch.len(), map.old_terminal.len());
        for (row, &global) in rows.iter().enumerate() {
            let out = &mut layer[global as usize * width..][..width];
            match &routes.layers {
                Layers::One | Layers::ByHop(_) => {}
                Layers::ByRow(of) if most == 1 => out[0] = of[row],
                Layers::ByRow(of) if most == 2 => {
                    map.old_switch.iter().for_each(|s| out[s.index()] = of[row]);
                }
                Layers::ByRow(of) => {
                    map.old_terminal.iter().for_each(|t| out[t.index()] = of[row]);
                }
                Layers::BySourceSwitch(of) if most == 2 => {
                    let own = &of[row * own_switches..][..own_switches];
                    map.old_switch.iter().zip(own).for_each(|(s, &l)| out[s.index()] = l);
                }
                Layers::BySourceSwitch(of) => {
                    for &t in &map.old_terminal {
                        let home = map.switch[fabric.terminal(t).switch.index()];
                        out[t.index()] = home.map_or(0, |s| of[row * own_switches + s.index()]);
                    }
                }
                Layers::BySource(of) => {
                    let own = &of[row * own_terminals..][..own_terminals];
                    map.old_terminal.iter().zip(own).for_each(|(t, &l)| out[t.index()] = l);
                }
            }
        }
    }
    match most {
        0 => Layers::One,
        1 => Layers::ByRow(layer),
        2 => Layers::BySourceSwitch(layer),
        _ => Layers::BySource(layer),
    }
}

/// The choice among LIDs of all parts: between terminals of a part that has none, the base LID.
fn choice(fabric: &Fabric, parts: &[(Routes, Renumbering)]) -> Result<Option<LidChoice>, String> {
    let chosen = || parts.iter().filter_map(|(routes, _)| routes.choice.as_ref());
    let Some(threshold) = chosen().next().map(LidChoice::threshold) else { return Ok(None) };
    if chosen().any(|other| other.threshold() != threshold) {
        return Err(
            "senders tell small messages from large ones at different sizes in two planes: \
                    route each with --plane N"
                .to_owned(),
        );
    }
    // Groups of a part follow those of the parts before it.
    let mut group = vec![0u16; fabric.terminal_count()];
    let mut owner = Vec::new();
    for (part, (routes, map)) in parts.iter().enumerate() {
        let first = owner.len();
        for (t, old) in map.old_terminal.iter().enumerate() {
            let own = routes.choice.as_ref().map_or(0, |choice| choice.group(TerminalId::new(t)));
            group[old.index()] = (first + own) as u16;
        }
        let count = routes.choice.as_ref().map_or(1, LidChoice::groups);
        owner.extend((0..count).map(|own| (part, own)));
    }
    let list = |from: usize, to: usize, large: bool| -> Vec<u8> {
        let ((part, from), (other, to)) = (owner[from], owner[to]);
        match &parts[part].0.choice {
            Some(choice) if part == other => {
                choice.between(from, to, threshold + u64::from(large)).to_vec()
            }
            _ => Vec::new(),
        }
    };
    Ok(Some(LidChoice::new(threshold, owner.len(), group, list)))
}

impl Routes {
    /// The tables of one plane alone, of the fabric that [`Planes::apart`] makes of it with this map.
    #[must_use]
    pub fn of_plane(&self, plane: &Fabric, map: &Renumbering) -> Self {
        let of_switch = |d: DestId| {
            let s = map.old_switch[d.home(plane).index()];
            DestId::new(self.terminal_count() + s.index())
        };
        let old = |d: DestId| {
            let terminal = d.as_terminal(plane);
            terminal.map_or_else(|| of_switch(d), |t| DestId::terminal(map.old_terminal[t.index()]))
        };
        let mut own = Self::empty(&self.engine, plane, self.paths());
        let mut rows = Vec::with_capacity(own.row_count());
        for d in (0..own.dest_count()).map(DestId::new) {
            let lids = if d.as_terminal(plane).is_some() { self.paths() } else { 1 };
            rows.extend((0..lids).map(|path| self.row(old(d), path)));
        }
        for (row, &global) in rows.iter().enumerate() {
            let ports = self.ports(global);
            for (port, s) in own.ports_mut(row).iter_mut().zip(&map.old_switch) {
                *port = ports[s.index()];
            }
        }
        let (switches, terminals) = (self.switch_count(), self.terminal_count());
        let renumbered = |layers: &Layers| match layers {
            Layers::One | Layers::ByHop(_) => Layers::One,
            Layers::ByRow(of) => Layers::ByRow(rows.iter().map(|&row| of[row]).collect()),
            Layers::BySourceSwitch(of) => {
                let row = |&row: &usize| {
                    map.old_switch.iter().map(move |s| of[row * switches + s.index()])
                };
                Layers::BySourceSwitch(rows.iter().flat_map(row).collect())
            }
            Layers::BySource(of) => {
                let row = |&row: &usize| {
                    map.old_terminal.iter().map(move |t| of[row * terminals + t.index()])
                };
                Layers::BySource(rows.iter().flat_map(row).collect())
            }
        };
        own.layers = match &self.layers {
            Layers::ByHop(of) => {
                let mut lanes = match of.levels() {
                    None => HopLanes::new(plane),
                    Some(levels) => HopLanes::with_levels(plane, renumbered(levels)),
                };
                for (s, &old) in map.old_switch.iter().enumerate() {
                    lanes.take(SwitchId::new(s), of, old);
                }
                Layers::ByHop(lanes)
            }
            layers => renumbered(layers),
        };
        // Only layer 0: as if no layers had been given.
        let is_one = match &own.layers {
            Layers::One => true,
            Layers::ByRow(of) | Layers::BySourceSwitch(of) | Layers::BySource(of) => {
                of.iter().all(|&layer| layer == 0)
            }
            Layers::ByHop(of) => of.is_one(),
        };
        if is_one {
            own.layers = Layers::One;
        }
        if self.source_chooses() {
            own.set_select(map.old_terminal.iter().map(|&t| self.path_of(t) as u16).collect());
        }
        own.choice = self.choice.as_ref().map(|choice| choice.of_terminals(&map.old_terminal));
        own
    }
}
