//! Repairs after a fault: failed channels are removed, rows that lost their path are repaired, or all of it
//! is undone.

use darkfiber_fabric::{Faults, SwitchId};

use super::RerouteError;
use super::cut::{Cut, Cuts, Node};
use super::freedom::Freedom;
use super::labels::{layers, layers_of};
use super::mended::Mended;
use super::outcome::{Change, Moved, RerouteOutcome};
use super::prepared::Prepared;
use super::traffic::Traffic;
use super::written::Written;

impl Prepared<'_> {
    /// Repairs the tables for faults in addition to those so far (and for rows that did not reach
    /// their destination before), and keeps the new tables.
    ///
    /// Complexity: O(rows + channels + cut-off switches x ports x hops), and the searches for paths that do not
    /// follow the order; faults of switches or terminals also follow all paths to and from them.
    ///
    /// # Errors
    /// [`RerouteError::CutOff`], [`RerouteError::Lanes`]; the tables are unchanged then.
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
        match self.attempt(faults, freedom) {
            Ok((outcome, _)) => Ok(outcome),
            Err(failed) => {
                for old in failed.entries() {
                    self.routes.ports_mut(old.row as usize)[old.switch.index()] = old.old;
                }
                self.bring_back(&failed.gone, &failed.moved);
                Err(failed.error)
            }
        }
    }

    /// As [`Self::reroute`], but an attempt that fails is not undone. Also returns what was written.
    pub(super) fn attempt(
        &mut self,
        faults: &Faults,
        freedom: Freedom,
    ) -> Result<(RerouteOutcome, Written), Box<Failed>> {
        let load_before = self.largest_load();
        let live_before = self.live_rows();
        let Attempt { cuts, rows, mended, gone } = self.mend_for(faults, load_before, freedom)?;
        let moved = self.first_to_last(mended.moved);
        let coexistence = self.coexistence(&cuts, &moved);
        self.release(mended.held);
        let old_levels = self.cycle_of_old_levels(&moved);
        let outcome = RerouteOutcome {
            rows,
            rows_eased: cuts[rows..].iter().filter(|cut| self.differs(cut)).count(),
            rows_lost: live_before - self.live_rows(),
            changes: self.changes(&cuts),
            moved,
            dead_ends: mended.dead_ends,
            load_before,
            load_after: self.largest_load(),
            coexistence,
            old_levels,
        };
        let (labels, traffic) = (!outcome.moved.is_empty(), gone.traffic());
        let written = Written { entries: outcome.changes.clone(), labels, traffic };
        Ok((outcome, written))
    }

    /// Removes what fails, and repairs the tables.
    fn mend_for(
        &mut self,
        faults: &Faults,
        budget: u64,
        freedom: Freedom,
    ) -> Result<Attempt, Box<Failed>> {
        let gone = self.take_away(faults);
        let mut cuts = Cuts::new(self.cuts(&gone.channels));
        let rows = cuts.all.len();
        match self.mend(&mut cuts, budget, freedom) {
            Ok(mended) => {
                self.broken.clear();
                self.unconnected.clear();
                Ok(Attempt { cuts: cuts.all, rows, mended, gone })
            }
            Err((error, moved)) => Err(Box::new(Failed { error, cuts: cuts.all, moved, gone })),
        }
    }

    /// Rows that lead to anything that has not failed.
    fn live_rows(&self) -> usize {
        self.traffic.rows.iter().filter(|row| row.live).count()
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

    /// Marks what fails, and removes the paths of senders and destinations that failed.
    fn take_away(&mut self, faults: &Faults) -> NewFaults {
        let fabric = self.fabric;
        let mut gone = NewFaults::default();
        let mut links: Vec<u32> = faults.links.iter().map(|c| c.0).collect();
        for &s in &faults.switches {
            links.extend(fabric.channels_from(s).map(|c| c as u32));
            gone.terminals.extend(fabric.terminals_on(s));
            if !std::mem::replace(&mut self.gone.switch[s.index()], true) {
                gone.switches.push(s.index());
            }
        }
        for c in links {
            for c in [c, fabric.reverses()[c as usize]] {
                if !std::mem::replace(&mut self.gone.channel[c as usize], true) {
                    gone.channels.push(c);
                }
            }
        }
        gone.terminals.extend(faults.terminals.iter().map(|t| t.index()));
        gone.terminals.retain(|&t| !std::mem::replace(&mut self.gone.terminal[t], true));
        if gone.traffic() {
            let before = self.read_traffic();
            self.take_paths_of(&before);
        }
        gone
    }

    /// Takes the paths that were made `before` and are made no more out of loads and dependencies.
    ///
    /// Complexity: O(rows, and hops for each path that is taken out).
    fn take_paths_of(&mut self, before: &Traffic) {
        let mut way = Vec::new();
        let less: Vec<_> = before.less(&self.traffic).collect();
        for (row, senders) in less {
            for (s, left, amount) in senders {
                way.clear();
                if !self.follow(row, s, &mut way) {
                    continue;
                }
                for &c in &way {
                    self.load[c as usize] -= amount;
                }
                if left > 0 {
                    continue;
                }
                for layer in layers(layers_of(self.fabric, &self.routes, row, s)) {
                    for pair in way.windows(2) {
                        let layer = &mut self.layers[usize::from(layer)];
                        layer.take(&self.slots, self.fabric, pair[0], pair[1]);
                    }
                }
            }
        }
        // Without these paths a layer that had no order may have one.
        for layer in self.layers.iter_mut().filter(|layer| layer.cyclic) {
            layer.sort(&self.slots, self.fabric);
        }
        let mut broken = std::mem::take(&mut self.broken);
        broken.retain(|&row| {
            self.is_broken(row, |s| {
                way.clear();
                self.follow(row, s, &mut way)
            })
        });
        self.broken = broken;
    }

    /// Reads senders and destinations again; returns the previous ones, without what they send.
    fn read_traffic(&mut self) -> Traffic {
        let read = Traffic::new(self.fabric, &self.routes, &self.gone);
        let mut before =
            std::mem::replace(&mut self.traffic, read.expect("these rows were read before"));
        self.traffic.take_amounts_of(&mut before);
        before
    }

    fn bring_back(&mut self, undo: &NewFaults, moved: &[Moved]) {
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

/// Components that failed in addition to earlier faults.
#[derive(Default)]
pub(super) struct NewFaults {
    channels: Vec<u32>,
    switches: Vec<usize>,
    terminals: Vec<usize>,
}

impl NewFaults {
    /// Whether senders or destinations are among it.
    fn traffic(&self) -> bool {
        !self.switches.is_empty() || !self.terminals.is_empty()
    }
}

/// An attempt that did not fail.
struct Attempt {
    cuts: Vec<Cut>,
    /// Number of cuts made by the fault; the others were moved because of load.
    rows: usize,
    mended: Mended,
    gone: NewFaults,
}

/// An attempt that failed, with all that it left.
pub(super) struct Failed {
    pub(super) error: RerouteError,
    cuts: Vec<Cut>,
    moved: Vec<Moved>,
    gone: NewFaults,
}

impl Failed {
    /// Entries that may have changed, with their old values.
    fn entries(&self) -> impl Iterator<Item = Change> + '_ {
        let entry = |(cut, node): (&Cut, &Node)| Change {
            switch: SwitchId(node.switch),
            row: cut.row as u32,
            old: node.old,
            new: node.old,
        };
        let nodes = self.cuts.iter().flat_map(|cut| cut.nodes.iter().map(move |node| (cut, node)));
        nodes.map(entry)
    }

    /// The entries and labels that the attempt wrote.
    pub(super) fn written(&self) -> Written {
        let labels = !self.moved.is_empty();
        Written { entries: self.entries().collect(), labels, traffic: self.gone.traffic() }
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{Fabric, TerminalId, open};

    use super::*;
    use crate::reroute::Fault;
    use crate::{Demand, Request, find_engine};

    /// Loads and dependencies after paths were removed equal those counted from scratch over all that
    /// is left.
    #[test]
    fn paths_that_are_left_are_those_counted_anew() {
        let demands = |fabric: &Fabric| -> Vec<Demand> {
            let n = fabric.terminal_count() as u32;
            let demand = |i: u32| Demand {
                from: TerminalId(i),
                to: TerminalId((i * 7 + 3) % n),
                weight: u64::from(i + 1),
            };
            (0..n).map(demand).collect()
        };
        for (spec, engine, lmc) in [
            ("fattree2:n=4,m=4,r=4", "ftree", 0),
            ("hyperx:dims=3x4,t=2", "dfsssp", 1),
            ("jellyfish:n=14,d=4,p=2", "nue", 0),
            ("torus:dims=5x3,t=2", "minhop", 0),
        ] {
            let topology = open(spec).expect("a spec");
            let fabric = &topology.fabric;
            let request = Request { shape: topology.shape.as_ref(), lmc, ..Request::default() };
            let routes = find_engine(engine)
                .expect("registered")
                .route(fabric, &request)
                .expect("it routes");
            let all = Prepared::new(fabric, &routes, 8).expect("sound tables");
            let hosts = (0..fabric.terminal_count()).map(TerminalId::new);
            let hosts = hosts.map(|t| Faults { terminals: vec![t], ..Faults::default() });
            let faults: Vec<Faults> =
                Fault::switches(fabric).into_iter().map(Fault::faults).chain(hosts).collect();
            for first in [all.clone(), all.serving(&demands(fabric))] {
                for faults in &faults {
                    let mut left = first.clone();
                    left.take_away(faults);
                    let mut anew = left.clone();
                    anew.count();
                    assert_eq!(left.load, anew.load, "{spec} {faults:?}");
                    assert_eq!(left.broken, anew.broken, "{spec} {faults:?}");
                    for (layer, anew) in left.layers.iter().zip(&anew.layers) {
                        assert!(layer.is_as(anew, &left.slots, fabric), "{spec} {faults:?}");
                    }
                }
            }
        }
    }
}
