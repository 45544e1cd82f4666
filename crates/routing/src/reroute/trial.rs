//! One fault after another, each repaired from the same tables.
//!
//! Copying the tables for each fault dominates the time for thousands of faults. One copy is enough: the changes of a
//! repair are known, so only those are undone.

use darkfiber_fabric::{Fabric, Faults, Renumbering};

use super::RerouteError;
use super::after_fault::Failed;
use super::freedom::Freedom;
use super::outcome::RerouteOutcome;
use super::prepared::Prepared;
use super::written::Written;
use crate::Routes;

/// A copy of prepared tables that is repaired for faults and restored. Each repair is the one that
/// [`Prepared::reroute`] makes from the same state, whatever was tried before.
pub struct Trial<'p, 'a> {
    from: &'p Prepared<'a>,
    pub(super) tables: Prepared<'a>,
    /// The differences from `from`.
    written: Written,
}

impl<'p, 'a> Trial<'p, 'a> {
    /// Copies the tables. Memory: as much as they take.
    pub fn new(from: &'p Prepared<'a>) -> Self {
        let mut tables = from.clone();
        for layer in &mut tables.layers {
            layer.note_changes();
        }
        Self { from, tables, written: Written::default() }
    }

    /// The tables as the last repair left them.
    pub fn routes(&self) -> &Routes {
        self.tables.routes()
    }

    /// The same for the damaged fabric, as [`Prepared::tables`] gives them.
    pub fn tables(&self, damaged: &Fabric, map: &Renumbering) -> Routes {
        self.tables.tables(damaged, map)
    }

    /// Repairs the original tables for these faults.
    ///
    /// Complexity: that of [`Prepared::reroute`], without a copy.
    ///
    /// # Errors
    /// Those of [`Prepared::reroute`].
    pub fn reroute(&mut self, faults: &Faults) -> Result<RerouteOutcome, RerouteError> {
        self.reroute_with(faults, Freedom::ALL)
    }

    /// As [`Self::reroute`] with as much freedom as is given.
    pub(super) fn reroute_with(
        &mut self,
        faults: &Faults,
        freedom: Freedom,
    ) -> Result<RerouteOutcome, RerouteError> {
        self.go_back();
        let found = self.tables.attempt(faults, freedom);
        self.noted(found)
    }

    /// Records what an attempt wrote, whether it succeeded or not.
    fn noted<T>(&mut self, found: Result<(T, Written), Box<Failed>>) -> Result<T, RerouteError> {
        match found {
            Ok((found, written)) => {
                self.written = written;
                Ok(found)
            }
            Err(failed) => {
                self.written = failed.written();
                Err(failed.error)
            }
        }
    }

    /// Undoes what was written.
    fn go_back(&mut self) {
        let (from, tables) = (self.from, &mut self.tables);
        let Written { entries, labels, traffic } = std::mem::take(&mut self.written);
        for change in entries {
            tables.routes.ports_mut(change.row as usize)[change.switch.index()] = change.old;
        }
        if labels {
            tables.routes.layers = from.routes.layers.clone();
        }
        if traffic {
            tables.traffic.go_back(&from.traffic);
            tables.gone.switch.copy_from_slice(&from.gone.switch);
            tables.gone.terminal.copy_from_slice(&from.gone.terminal);
        }
        tables.gone.channel.copy_from_slice(&from.gone.channel);
        tables.load.copy_from_slice(&from.load);
        tables.layers.truncate(from.layers.len());
        for (layer, old) in tables.layers.iter_mut().zip(&from.layers) {
            layer.go_back(old);
        }
        tables.broken.clone_from(&from.broken);
        tables.unconnected.clone_from(&from.unconnected);
    }

    /// The tables as the last repair left them, for good.
    pub(super) fn into_tables(self) -> Prepared<'a> {
        let mut tables = self.tables;
        for layer in &mut tables.layers {
            layer.forget_changes();
        }
        tables
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{TerminalId, open};

    use super::*;
    use crate::reroute::Fault;
    use crate::{Request, find_engine};

    /// Whatever was tried before, a repair equals that of a fresh copy, to the last entry and lane.
    #[test]
    fn as_from_a_fresh_copy() {
        let cases = [
            ("fattree2:n=4,m=4,r=4", "ftree", 1),
            ("hyperx:dims=3x4,t=2", "dfsssp", 4),
            ("jellyfish:n=14,d=4,p=2", "nue", 2),
            ("torus:dims=4x4,t=1", "nue", 1),
        ];
        for (spec, engine, lanes) in cases {
            let topology = open(spec).expect("a spec");
            let fabric = &topology.fabric;
            let request = Request { shape: topology.shape.as_ref(), lanes, ..Request::default() };
            let routes = find_engine(engine)
                .expect("registered")
                .route(fabric, &request)
                .expect("it routes");
            let first = Prepared::new(fabric, &routes, lanes).expect("sound tables");
            let mut trial = Trial::new(&first);
            let cables = Fault::cables(fabric).into_iter().chain(Fault::switches(fabric));
            let hosts = (0..fabric.terminal_count()).map(TerminalId::new);
            let hosts = hosts.map(|t| Faults { terminals: vec![t], ..Faults::default() });
            for faults in cables.map(Fault::faults).chain(hosts) {
                let mut copy = first.clone();
                let lowest = copy.reroute_on_lowest_rung(&faults);
                assert_eq!(trial.reroute_on_lowest_rung(&faults), lowest, "{spec} {faults:?}");
                if lowest.is_ok() {
                    assert_eq!(trial.routes(), copy.routes(), "{spec} {faults:?}");
                }
                let mut copy = first.clone();
                let any = copy.reroute(&faults);
                assert_eq!(trial.reroute(&faults), any, "{spec} {faults:?}");
                if any.is_ok() {
                    assert_eq!(trial.routes(), copy.routes(), "{spec} {faults:?}");
                }
            }
            trial.go_back();
            assert_eq!(trial.routes(), first.routes());
            assert_eq!(trial.tables.load, first.load);
        }
    }
}
