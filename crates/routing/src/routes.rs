//! Routes as plain data.

use std::sync::Arc;

use darkfiber_fabric::{AtPort, Fabric, SwitchId, TerminalId};

use crate::ecmp::Ecmp;
use crate::next_hops::NextHops;
use crate::{Layers, LidChoice};

/// Table entry "hand over here": at the destination's own switch.
pub const DELIVER: u8 = 0;
/// Table entry "no route" (255, as in the InfiniBand linear forwarding table).
pub const NO_ROUTE: u8 = 255;

/// A destination: terminals first (`0..T`), then switches (`T..T+S`, their port 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DestId(pub u32);

impl DestId {
    /// The id as an array index.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The id of array index `i`.
    #[inline]
    pub fn new(i: usize) -> Self {
        Self(i as u32)
    }

    /// A terminal as a destination.
    pub fn terminal(t: TerminalId) -> Self {
        Self(t.0)
    }

    /// A switch as a destination.
    pub fn switch(fabric: &Fabric, s: SwitchId) -> Self {
        Self::new(fabric.terminal_count() + s.index())
    }

    /// The terminal, if it is one.
    #[inline]
    pub fn as_terminal(self, fabric: &Fabric) -> Option<TerminalId> {
        (self.index() < fabric.terminal_count()).then_some(TerminalId(self.0))
    }

    /// The switch that the destination hangs on or is.
    #[inline]
    pub fn home(self, fabric: &Fabric) -> SwitchId {
        match self.as_terminal(fabric) {
            Some(t) => fabric.terminal(t).switch,
            None => SwitchId::new(self.index() - fabric.terminal_count()),
        }
    }
}

/// A routing configuration: forwarding tables, virtual layers, and where they came from.
///
/// Tables are stored by destination: a **row** holds, for every switch, the egress port towards one
/// destination LID ([`DELIVER`] at the destination's own switch, [`NO_ROUTE`] where there is none).
/// A terminal has `paths` rows, one per LID of its port (LMC); destinations that hang on one switch
/// may share rows. Which of its destination's LIDs a source uses is [`Routes::path_of`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    /// Name of the engine, or of the source of the tables.
    pub engine: String,
    switches: usize,
    terminals: usize,
    paths: usize,
    /// Row of (destination, path); `None` = one row each in the order of destinations, the switches
    /// after all terminals with one path each.
    shared: Option<Vec<u32>>,
    table: Vec<u8>,
    /// Path index by source terminal; `None` = 0, the base LID.
    select: Option<Vec<u16>>,
    /// Virtual layers of the paths between terminals.
    pub layers: Layers,
    /// Choice of the LID of a message's destination, where senders choose for each message by its size and the
    /// places of both ends.
    pub choice: Option<LidChoice>,
    /// The hashes by which switches pick next hops, where they have no tables by destination: see [`Routes::by_hash`].
    pub hashed: Option<Arc<Ecmp>>,
    /// By row and switch, the channels among which the switch picks for each packet or flow (adaptive routing), including that of
    /// the table; `None`: the tables are complete. Code that ignores groups sees the tables.
    pub groups: Option<Arc<NextHops>>,
    /// Sentences for people about what the engine gave up here; mostly none.
    pub notes: Vec<String>,
    /// Whether roots were asked for that these tables do not depend on.
    pub leaves_roots: bool,
}

impl Routes {
    /// Tables without any route: one row for each LID.
    pub fn empty(engine: &str, fabric: &Fabric, paths: usize) -> Self {
        let rows = fabric.terminal_count() * paths + fabric.switch_count();
        Self {
            engine: engine.to_owned(),
            switches: fabric.switch_count(),
            terminals: fabric.terminal_count(),
            paths,
            shared: None,
            table: vec![NO_ROUTE; rows * fabric.switch_count()],
            select: None,
            layers: Layers::One,
            choice: None,
            hashed: None,
            groups: None,
            notes: Vec::new(),
            leaves_roots: false,
        }
    }

    /// Tables in which several destinations share rows. `row_of[d * paths + i]` is the row of path
    /// `i` of terminal `d`; the rows of the switches, one each, follow at `terminals * paths + s`.
    /// Rows that terminals share must say [`DELIVER`] at their switch.
    pub fn with_shared_rows(
        engine: &str,
        fabric: &Fabric,
        paths: usize,
        row_of: Vec<u32>,
        rows: usize,
    ) -> Self {
        debug_assert_eq!(row_of.len(), fabric.terminal_count() * paths + fabric.switch_count());
        Self {
            engine: engine.to_owned(),
            switches: fabric.switch_count(),
            terminals: fabric.terminal_count(),
            paths,
            shared: Some(row_of),
            table: vec![NO_ROUTE; rows * fabric.switch_count()],
            select: None,
            layers: Layers::One,
            choice: None,
            hashed: None,
            groups: None,
            notes: Vec::new(),
            leaves_roots: false,
        }
    }

    /// The same rows for other LIDs: `row_of[d * paths + i]` is the row of path `i` of terminal `d`, which must lead to
    /// the switch of `d`. Switches keep theirs.
    pub(crate) fn with_lids(mut self, paths: usize, mut row_of: Vec<u32>) -> Self {
        debug_assert_eq!(row_of.len(), self.terminals * paths);
        let switches = self.terminals..self.terminals + self.switches;
        row_of.extend(switches.map(|d| self.row(DestId::new(d), 0) as u32));
        let is_own = row_of.iter().enumerate().all(|(slot, &row)| slot == row as usize)
            && row_of.len() == self.row_count();
        self.paths = paths;
        self.shared = Some(row_of).filter(|_| !is_own);
        self
    }

    /// Whether destinations share rows.
    pub(crate) fn shares_rows(&self) -> bool {
        self.shared.is_some()
    }

    /// Sets which path a source terminal uses, for all destinations: on InfiniBand its **path bits**, the
    /// number that it adds to the base LID of every destination.
    pub fn set_select(&mut self, select: Vec<u16>) {
        debug_assert_eq!(select.len(), self.terminals);
        self.select = Some(select);
    }

    /// The number of switches.
    pub fn switch_count(&self) -> usize {
        self.switches
    }

    /// The number of terminals.
    pub fn terminal_count(&self) -> usize {
        self.terminals
    }

    /// Number of destinations: terminals and switches.
    pub fn dest_count(&self) -> usize {
        self.terminals + self.switches
    }

    /// Paths (LIDs) a terminal has.
    pub fn paths(&self) -> usize {
        self.paths
    }

    /// The rows by which terminals are reached, rising, each once.
    pub fn terminal_rows(&self) -> Vec<usize> {
        let lids = (0..self.terminals).flat_map(|d| (0..self.paths).map(move |path| (d, path)));
        let mut rows: Vec<usize> = lids.map(|(d, path)| self.row(DestId::new(d), path)).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Number of rows in the table.
    pub fn row_count(&self) -> usize {
        self.table.len().checked_div(self.switches).unwrap_or(0)
    }

    /// The smallest LID mask control with a LID for every path; `None` if that is above 7, the maximum:
    /// such routes are for analysis only.
    pub fn lmc(&self) -> Option<u8> {
        let bits = self.paths.max(1).next_power_of_two().ilog2() as u8;
        (bits <= 7).then_some(bits)
    }

    /// Whether sources choose among the LIDs of a destination.
    pub fn source_chooses(&self) -> bool {
        self.select.is_some()
    }

    /// The row of path `path` to destination `d`.
    #[inline]
    pub fn row(&self, d: DestId, path: usize) -> usize {
        let d = d.index();
        let slot = if d < self.terminals {
            d * self.paths + path
        } else {
            self.terminals * self.paths + d - self.terminals
        };
        self.shared.as_ref().map_or(slot, |rows| rows[slot] as usize)
    }

    /// The path index that a source terminal uses.
    #[inline]
    pub fn path_of(&self, source: TerminalId) -> usize {
        self.select.as_ref().map_or(0, |s| s[source.index()] as usize)
    }

    /// Whether all sources use the same LID of a terminal: its first one.
    pub fn sources_agree(&self) -> bool {
        self.select.as_ref().is_none_or(|paths| paths.iter().all(|&path| path == 0))
    }

    /// The path indices that bytes from one terminal to another take, and the part of them on each: the one of the source; where senders
    /// choose by size, all that messages of this size may take, in equal parts; of hashed paths all.
    pub fn parts(
        &self,
        from: TerminalId,
        to: TerminalId,
        bytes: u64,
    ) -> impl ExactSizeIterator<Item = (usize, u64)> + '_ {
        let chosen = self.choice.as_ref().map(|choice| choice.alternatives(from, to, bytes));
        let (first, all) = match chosen {
            Some(chosen) => (0, chosen.len()),
            None if self.hashed.is_some() => (0, self.paths),
            None => (self.path_of(from), 1),
        };
        (0..all).map(move |i| {
            let path = chosen.map_or(first + i, |chosen| usize::from(chosen[i]));
            (path, equal_part(bytes, i as u64, all as u64))
        })
    }

    /// The egress ports of one row, by switch.
    #[inline]
    pub fn ports(&self, row: usize) -> &[u8] {
        &self.table[row * self.switches..(row + 1) * self.switches]
    }

    /// The egress ports of one row, by switch, to be written.
    #[inline]
    pub fn ports_mut(&mut self, row: usize) -> &mut [u8] {
        &mut self.table[row * self.switches..(row + 1) * self.switches]
    }

    /// All rows, one after the other.
    pub fn table(&self) -> &[u8] {
        &self.table
    }

    /// The whole table, row after row.
    pub fn table_mut(&mut self) -> &mut [u8] {
        &mut self.table
    }

    /// The linear forwarding table entry of switch `s` for path `path` of destination `d`: the
    /// physical egress port, 0 for the switch itself, `None` where there is no route.
    pub fn lft_entry(&self, fabric: &Fabric, s: SwitchId, d: DestId, path: usize) -> Option<u8> {
        match self.ports(self.row(d, path))[s.index()] {
            NO_ROUTE => None,
            DELIVER if d.home(fabric) != s => None,
            DELIVER => Some(d.as_terminal(fabric).map_or(0, |t| fabric.terminal(t).switch_port)),
            port => Some(port),
        }
    }

    /// Sets a linear forwarding table entry as it is on the wire (the inverse of
    /// [`lft_entry`](Self::lft_entry)). Only for tables without shared rows.
    pub fn set_lft_entry(
        &mut self,
        fabric: &Fabric,
        s: SwitchId,
        d: DestId,
        path: usize,
        port: u8,
    ) {
        debug_assert!(self.shared.is_none());
        let deliver = match d.as_terminal(fabric) {
            Some(t) => fabric.at_port(s, port) == AtPort::Terminal(t),
            None => port == 0 && d.home(fabric) == s,
        };
        let row = self.row(d, path);
        // A port 0 that does not belong there means "to the switch itself": no route to `d`.
        let entry = match (deliver, port) {
            (true, _) => DELIVER,
            (false, 0) => NO_ROUTE,
            (false, p) => p,
        };
        self.ports_mut(row)[s.index()] = entry;
    }

    /// Whether a source terminal may send to LID `path` of a destination: to any of them, unless each source has
    /// its own.
    #[inline]
    pub fn uses(&self, source: TerminalId, path: usize) -> bool {
        self.select.as_ref().is_none_or(|s| usize::from(s[source.index()]) == path)
    }

    /// The virtual layer of the path from terminal `source` to terminal `dest`, to the LID that
    /// [`path_of`](Self::path_of) names.
    #[inline]
    pub fn layer(&self, fabric: &Fabric, source: TerminalId, dest: TerminalId) -> u8 {
        self.layer_on(fabric, source, self.row(DestId(dest.0), self.path_of(source)))
    }

    /// The virtual layer, which is the service level, of the path from terminal `source` on a row. Where switches choose
    /// lanes ([`Layers::ByHop`]) it is the level alone, which does not determine the lanes.
    #[inline]
    pub fn layer_on(&self, fabric: &Fabric, source: TerminalId, row: usize) -> u8 {
        match self.layers.levels() {
            Layers::One | Layers::ByHop(_) => 0,
            Layers::ByRow(l) => l[row],
            Layers::BySourceSwitch(l) => {
                l[row * self.switches + fabric.terminal(source).switch.index()]
            }
            Layers::BySource(l) => l[row * self.terminals + source.index()],
        }
    }

    /// Whether other tables differ in nothing but entries: they have the same LIDs, service levels and choices of LIDs.
    pub(crate) fn names_as(&self, other: &Self) -> bool {
        let of = |r: &Self| (r.switches, r.terminals, r.paths, r.table.len());
        of(self) == of(other)
            && self.shared == other.shared
            && self.select == other.select
            && self.layers == other.layers
            && self.choice == other.choice
    }

    /// Number of virtual layers in use by pairs of terminals: lanes, in any case.
    pub fn layer_count(&self) -> usize {
        let top = match &self.layers {
            Layers::One => 0,
            Layers::ByHop(lanes) => return lanes.count(),
            Layers::ByRow(l) | Layers::BySourceSwitch(l) | Layers::BySource(l) => {
                l.iter().copied().max().unwrap_or(0)
            }
        };
        top as usize + 1
    }

    /// Holds layers by source switch where they were given by source terminal although the terminals of each
    /// switch agree, and not at all where there is one.
    ///
    /// Complexity: O(rows x terminals).
    pub fn condense(&mut self, fabric: &Fabric) {
        let Layers::BySource(by_source) = &self.layers else { return };
        let (switches, terminals) = (self.switches, self.terminals);
        let mut by_switch = vec![0; self.row_count() * switches];
        let rows =
            by_source.chunks_exact(terminals.max(1)).zip(by_switch.chunks_exact_mut(switches));
        for (row, (of_terminal, of_switch)) in rows.enumerate() {
            for (s, layer) in of_switch.iter_mut().enumerate() {
                // No terminal sends to itself.
                let sends = |t: &usize| self.shared.is_some() || row / self.paths.max(1) != *t;
                let mut given =
                    fabric.terminals_on(SwitchId::new(s)).filter(sends).map(|t| of_terminal[t]);
                *layer = given.next().unwrap_or(0);
                if given.any(|other| other != *layer) {
                    return;
                }
            }
        }
        self.layers = if by_switch.iter().all(|&layer| layer == 0) {
            Layers::One
        } else {
            Layers::BySourceSwitch(by_switch)
        };
    }
}

/// Part `i` of `n` equal parts of a number of bytes: whole numbers whose sum is all of them.
pub(crate) fn equal_part(bytes: u64, i: u64, n: u64) -> u64 {
    let up_to = |i: u64| u128::from(bytes) * u128::from(i) / u128::from(n);
    (up_to(i + 1) - up_to(i)) as u64
}
