//! What is done about a fault: it is taken away, rows that lost their way are mended, or all is brought back.

use darkfiber_fabric::{Faults, SwitchId};

use super::RerouteError;
use super::cut::{Cut, Cuts};
use super::freedom::Freedom;
use super::outcome::{Change, Moved, RerouteOutcome};
use super::prepared::Prepared;
use super::traffic::Traffic;

impl Prepared<'_> {
    /// Mends the tables for faults that come on top of those so far (and for whatever did not reach
    /// before), and stays at the new tables.
    ///
    /// Complexity: O(rows + channels + cut-off switches x ports x hops) and the searches of paths that
    /// do not follow the order; faults that include switches or terminals count all paths anew.
    ///
    /// # Errors
    /// [`RerouteError::CutOff`], [`RerouteError::Lanes`]; nothing has changed then.
    ///
    /// # Panics
    /// If a fault names an id that the fabric does not have.
    pub fn reroute(&mut self, faults: &Faults) -> Result<RerouteOutcome, RerouteError> {
        self.reroute_with(faults, Freedom::ALL)
    }

    /// The same with as much freedom as is given.
    pub(super) fn reroute_with(
        &mut self,
        faults: &Faults,
        freedom: Freedom,
    ) -> Result<RerouteOutcome, RerouteError> {
        let load_before = self.largest_load();
        let live_before = self.traffic.rows.iter().filter(|row| row.live).count();
        let undo = self.take_away(faults);
        let live = self.traffic.rows.iter().filter(|row| row.live).count();
        let mut cuts = Cuts::new(self.cuts(&undo.channels));
        let rows = cuts.all.len();
        match self.mend(&mut cuts, load_before, freedom) {
            Ok(mended) => {
                self.broken.clear();
                let coexistence = self.coexistence(&cuts.all, &mended.moved);
                self.release(mended.held);
                let old_levels = self.cycle_of_old_levels(&mended.moved);
                Ok(RerouteOutcome {
                    rows,
                    rows_eased: cuts.all[rows..].iter().filter(|cut| self.differs(cut)).count(),
                    rows_lost: live_before - live,
                    changes: self.changes(&cuts.all),
                    moved: mended.moved,
                    dead_ends: mended.dead_ends,
                    load_before,
                    load_after: self.largest_load(),
                    coexistence,
                    old_levels,
                })
            }
            Err((error, moved)) => {
                for cut in &cuts.all {
                    for node in &cut.nodes {
                        self.routes.ports_mut(cut.row)[node.switch as usize] = node.old;
                    }
                }
                self.bring_back(&undo, &moved);
                Err(error)
            }
        }
    }

    fn differs(&self, cut: &Cut) -> bool {
        let ports = self.routes.ports(cut.row);
        cut.nodes.iter().any(|node| ports[node.switch as usize] != node.old)
    }

    pub(super) fn changes(&self, cuts: &[Cut]) -> Vec<Change> {
        let mut changes = Vec::new();
        for cut in cuts {
            let ports = self.routes.ports(cut.row);
            for node in &cut.nodes {
                let new = ports[node.switch as usize];
                if new != node.old {
                    let switch = SwitchId(node.switch);
                    changes.push(Change { switch, row: cut.row as u32, old: node.old, new });
                }
            }
        }
        changes.sort_unstable();
        changes
    }

    /// Marks what fails, and counts anew if senders or destinations are among it.
    fn take_away(&mut self, faults: &Faults) -> Undo {
        let fabric = self.fabric;
        let mut undo = Undo::default();
        let mut links: Vec<u32> = faults.links.iter().map(|c| c.0).collect();
        for &s in &faults.switches {
            links.extend(fabric.channels_from(s).map(|c| c as u32));
            undo.terminals.extend(fabric.terminals_on(s));
            if !std::mem::replace(&mut self.gone.switch[s.index()], true) {
                undo.switches.push(s.index());
            }
        }
        for c in links {
            for c in [c, fabric.reverses()[c as usize]] {
                if !std::mem::replace(&mut self.gone.channel[c as usize], true) {
                    undo.channels.push(c);
                }
            }
        }
        undo.terminals.extend(faults.terminals.iter().map(|t| t.index()));
        undo.terminals.retain(|&t| !std::mem::replace(&mut self.gone.terminal[t], true));
        if !undo.switches.is_empty() || !undo.terminals.is_empty() {
            self.read_traffic();
            self.count();
        }
        undo
    }

    fn read_traffic(&mut self) {
        let read = Traffic::new(self.fabric, &self.routes, &self.gone);
        let before =
            std::mem::replace(&mut self.traffic, read.expect("these rows were read before"));
        self.traffic.take_amounts_of(before);
    }

    fn bring_back(&mut self, undo: &Undo, moved: &[Moved]) {
        for &c in &undo.channels {
            self.gone.channel[c as usize] = false;
        }
        for &s in &undo.switches {
            self.gone.switch[s] = false;
        }
        for &t in &undo.terminals {
            self.gone.terminal[t] = false;
        }
        for m in moved.iter().rev() {
            self.relabel(m.row as usize, m.source.0, m.new, m.old);
        }
        self.read_traffic();
        self.count();
    }
}

/// What a change of the faults changed.
#[derive(Default)]
struct Undo {
    channels: Vec<u32>,
    switches: Vec<usize>,
    terminals: Vec<usize>,
}
