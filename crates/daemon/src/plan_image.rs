//! Tables in the form in which the plugin of OpenSM takes them: by GUID and LID, so that they mean the same on a fabric that has
//! lost a cable. `plugin/README.md` describes the bytes.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};
use darkfiber_operate::PlanId;
use darkfiber_routing::{DestId, Layers, Lids, Routes};

use crate::value::{FabricValue, entry};

const MAGIC: &[u8; 8] = b"DFPLAN1\0";
/// Bytes before the arrays.
const HEADER: usize = 32;
/// The entry of a LID without a route.
pub(crate) const NO_ROUTE: u8 = 255;
/// A source LID without service levels.
const NO_ROW: u32 = u32::MAX;

/// Offsets of changed bytes of an image, and their new values.
pub(crate) type Patch = Vec<(u32, u8)>;

/// Tables for the plugin. All numbers are little-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanImage {
    bytes: Vec<u8>,
    lids: usize,
    switches: usize,
}

impl PlanImage {
    /// The tables of a fabric, without a number.
    pub(crate) fn new(fabric: &Fabric, routes: &Routes, of: &Lids) -> Result<Self, String> {
        if routes.layers.by_hop().is_some() {
            return Err("switches choose lanes by their ports, which no plan says".to_owned());
        }
        let (width, paths) = (of.width(), routes.paths());
        if width != paths {
            return Err(format!("ports have {width} LIDs and the tables {paths} paths"));
        }
        let mut by_lid: Vec<Option<(DestId, usize)>> = vec![None; usize::from(of.top()) + 1];
        for (lid, owner) in by_lid.iter_mut().enumerate().skip(1) {
            *owner = of.owner(lid as u16);
        }
        let (rows, row_of) = levels(fabric, routes, &by_lid);
        let mut order: Vec<SwitchId> = (0..fabric.switch_count()).map(SwitchId::new).collect();
        order.sort_by_key(|&s| fabric.switch(s).guid.0);
        let (lids, switches) = (by_lid.len(), order.len());
        let mut bytes = Vec::with_capacity(
            HEADER + lids * 12 + switches * 8 + 16 + (switches + rows.len()) * lids,
        );
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&0u64.to_le_bytes());
        for n in [lids, switches, rows.len(), 0] {
            bytes.extend_from_slice(&(n as u32).to_le_bytes());
        }
        for owner in &by_lid {
            let guid = owner.map_or(0, |(d, _)| match d.as_terminal(fabric) {
                Some(t) => fabric.terminal(t).guid.0,
                None => fabric.switch(d.home(fabric)).guid.0,
            });
            bytes.extend_from_slice(&guid.to_le_bytes());
        }
        for &s in &order {
            bytes.extend_from_slice(&fabric.switch(s).guid.0.to_le_bytes());
        }
        for row in row_of {
            bytes.extend_from_slice(&row.to_le_bytes());
        }
        let lanes = routes.layer_count().clamp(1, 15) as u8;
        bytes.extend((0..16).map(|level| level % lanes));
        for &s in &order {
            bytes.extend(by_lid.iter().map(|owner| {
                let port = owner.and_then(|of| entry(fabric, routes, s, of));
                port.unwrap_or(NO_ROUTE)
            }));
        }
        for row in &rows {
            bytes.extend_from_slice(row);
        }
        Ok(Self { bytes, lids, switches })
    }

    /// The bytes that the plugin takes, as a plan with a number.
    pub(crate) fn numbered(&self, plan: PlanId) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        bytes[8..16].copy_from_slice(&plan.to_le_bytes());
        let sum = bytes[HEADER..]
            .iter()
            .fold(2_166_136_261_u32, |sum, &b| (sum ^ u32::from(b)).wrapping_mul(16_777_619));
        bytes[28..HEADER].copy_from_slice(&sum.to_le_bytes());
        bytes
    }

    /// The same with other bytes here and there.
    pub(crate) fn patched(&self, patch: &Patch) -> Self {
        let mut image = self.clone();
        for &(at, byte) in patch {
            image.bytes[at as usize] = byte;
        }
        image
    }

    /// The changes that turn an image with the same LIDs and switches, or with more of them, into this one: entries that are
    /// missing here stay as they are. `None` if service levels differ or there is something new.
    pub(crate) fn patch_from(&self, base: &Self) -> Option<Patch> {
        if !self.has_levels_of(base) {
            return None;
        }
        let mut patch = Vec::new();
        for i in 0..self.switches {
            let other = base.place(self.guid_of_switch(i))?;
            for lid in (1..self.lids).filter(|&lid| self.owner(lid) != 0) {
                if lid >= base.lids || base.owner(lid) != self.owner(lid) {
                    return None;
                }
                let (mine, theirs) = (self.ports_at(i) + lid, base.ports_at(other) + lid);
                if self.bytes[mine] != base.bytes[theirs] {
                    patch.push((theirs as u32, self.bytes[mine]));
                }
            }
        }
        Some(patch)
    }

    /// The changes that turn the tables of some switches into those of `routes`, which have these LIDs and service levels.
    pub(crate) fn patch(
        &self,
        fabric: &Fabric,
        routes: &Routes,
        lids: &Lids,
        switches: &[SwitchId],
    ) -> Option<Patch> {
        let mut patch = Vec::new();
        for &s in switches {
            let first = self.ports_at(self.place(fabric.switch(s).guid.0)?);
            for lid in 1..self.lids {
                let Some(of) = lids.owner(lid as u16) else { continue };
                let port = entry(fabric, routes, s, of).unwrap_or(NO_ROUTE);
                if self.bytes[first + lid] != port {
                    patch.push(((first + lid) as u32, port));
                }
            }
        }
        Some(patch)
    }

    /// Whether service levels are those of another one, for all LIDs that these have.
    fn has_levels_of(&self, base: &Self) -> bool {
        let rows = |image: &Self| image.number(24);
        if (rows(self), rows(base)) == (0, 0) {
            return true;
        }
        let row = |image: &Self, lid: usize| {
            image.number(HEADER + 8 * (image.lids + image.switches) + 4 * lid)
        };
        let mut alike = BTreeSet::new();
        let lids = || (1..self.lids.min(base.lids)).filter(|&lid| self.owner(lid) != 0);
        lids().all(|from| {
            !alike.insert((row(self, from), row(base, from)))
                || lids().all(|to| self.level(from, to) == base.level(from, to))
        })
    }

    /// The tables on a fabric, which has these switches and LIDs or fewer.
    pub(crate) fn on(&self, value: &FabricValue) -> Result<(Routes, Lids), String> {
        let fabric = value.fabric();
        let mut lids_of: BTreeMap<u64, Vec<u16>> = BTreeMap::new();
        for lid in 1..self.lids {
            lids_of.entry(self.owner(lid)).or_default().push(lid as u16);
        }
        let first = |guid: u64| {
            let lids = lids_of
                .get(&guid)
                .ok_or_else(|| format!("nothing is known of port {guid:#018x}"))?;
            Ok::<_, String>((lids[0], lids.len()))
        };
        let mut terminals = Vec::new();
        let mut paths = 1;
        for t in fabric.terminals() {
            let (lid, width) = first(t.guid.0)?;
            terminals.push(lid);
            paths = width;
        }
        let switches = fabric.switches().iter().map(|s| first(s.guid.0).map(|(lid, _)| lid));
        let switches: Vec<u16> = switches.collect::<Result<_, _>>()?;
        let lmc = paths.max(1).next_power_of_two().ilog2() as u8;
        let lids = Lids::from_bases(lmc, &terminals, &switches).map_err(|e| e.to_string())?;
        let mut routes = Routes::empty("the tables in place", fabric, paths);
        for (i, switch) in fabric.switches().iter().enumerate() {
            let s = SwitchId::new(i);
            let place = self.place(switch.guid.0);
            let place =
                place.ok_or_else(|| format!("nothing is known of switch {}", switch.guid))?;
            let ports = &self.bytes[self.ports_at(place)..][..self.lids];
            for d in (0..routes.dest_count()).map(DestId::new) {
                let (lid, paths) = match d.as_terminal(fabric) {
                    Some(t) => (terminals[t.index()], paths),
                    None => (switches[d.home(fabric).index()], 1),
                };
                for path in 0..paths {
                    let port = ports[usize::from(lid) + path];
                    if port != NO_ROUTE {
                        routes.set_lft_entry(fabric, s, d, path, port);
                    }
                }
            }
        }
        if self.number(24) > 0 {
            let count = fabric.terminal_count();
            let mut layers = vec![0; routes.row_count() * count];
            for d in (0..count).map(TerminalId::new) {
                for path in 0..paths {
                    let row = routes.row(DestId::terminal(d), path);
                    let lid = usize::from(terminals[d.index()]) + path;
                    for (t, &source) in terminals.iter().enumerate() {
                        layers[row * count + t] = self.level(source.into(), lid);
                    }
                }
            }
            routes.layers = Layers::BySource(layers);
            routes.condense(fabric);
        }
        Ok((routes, lids))
    }

    fn number(&self, at: usize) -> usize {
        let four = self.bytes[at..at + 4].try_into().expect("four bytes are four");
        u32::from_le_bytes(four) as usize
    }

    fn long(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes are eight"))
    }

    fn owner(&self, lid: usize) -> u64 {
        self.long(HEADER + 8 * lid)
    }

    fn guid_of_switch(&self, i: usize) -> u64 {
        self.long(HEADER + 8 * (self.lids + i))
    }

    /// Index of the switch with a GUID.
    fn place(&self, guid: u64) -> Option<usize> {
        let (mut low, mut high) = (0, self.switches);
        while low < high {
            let middle = low.midpoint(high);
            if self.guid_of_switch(middle) < guid {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < self.switches && self.guid_of_switch(low) == guid).then_some(low)
    }

    fn ports_at(&self, switch: usize) -> usize {
        HEADER + 8 * (self.lids + self.switches) + 4 * self.lids + 16 + switch * self.lids
    }

    fn level(&self, from: usize, to: usize) -> u8 {
        if self.number(24) == 0 {
            return 0;
        }
        let row = self.number(HEADER + 8 * (self.lids + self.switches) + 4 * from);
        if row == NO_ROW as usize {
            return 0;
        }
        self.bytes[self.ports_at(self.switches + row) + to]
    }
}

/// Service levels by destination LID, one row for all sources with the same ones; and the row of each source LID.
fn levels(
    fabric: &Fabric,
    routes: &Routes,
    by_lid: &[Option<(DestId, usize)>],
) -> (Vec<Vec<u8>>, Vec<u32>) {
    let mut row_of = vec![NO_ROW; by_lid.len()];
    let mut rows: Vec<Vec<u8>> = Vec::new();
    if routes.layer_count() <= 1 {
        return (rows, row_of);
    }
    let mut known: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    let of = |source: TerminalId| -> Vec<u8> {
        let level = |owner: &Option<(DestId, usize)>| match owner {
            Some((d, path)) if d.as_terminal(fabric).is_some() => {
                routes.layer_on(fabric, source, routes.row(*d, *path))
            }
            _ => 0,
        };
        by_lid.iter().map(level).collect()
    };
    for (lid, owner) in by_lid.iter().enumerate() {
        let Some(source) = owner.and_then(|(d, _)| d.as_terminal(fabric)) else { continue };
        if let Some(row) =
            lid.checked_sub(1).filter(|&l| by_lid[l].map(|o| o.0) == owner.map(|o| o.0))
        {
            // Another LID of the same port.
            row_of[lid] = row_of[row];
            continue;
        }
        let row = of(source);
        row_of[lid] = *known.entry(row.clone()).or_insert_with(|| {
            rows.push(row);
            rows.len() as u32 - 1
        });
    }
    (rows, row_of)
}
