//! Digests of tables: one for each switch, and one over all, so that those of tables that differ in few switches cost little.

use std::collections::BTreeMap;

use darkfiber_fabric::{Digest as Words, Fabric, SwitchId};
use darkfiber_operate::Digest;
use darkfiber_routing::{DestId, Lids, Routes};
use rayon::prelude::*;

use crate::value::entry;

/// The digest of tables: every entry that a switch has, by GUID and LID, whatever made them.
pub(crate) fn digest_of_tables(fabric: &Fabric, routes: &Routes, lids: &Lids) -> Digest {
    TablesDigest::new(fabric, routes, lids).value()
}

/// The digests of the tables of all switches.
#[derive(Clone)]
pub(crate) struct TablesDigest {
    paths: usize,
    /// The owner of each LID, rising.
    owners: Vec<(u16, (DestId, usize))>,
    /// GUID and digest of each switch.
    switches: Vec<(u64, u64)>,
}

impl TablesDigest {
    pub(crate) fn new(fabric: &Fabric, routes: &Routes, lids: &Lids) -> Self {
        let mut by_lid: BTreeMap<u16, (DestId, usize)> = BTreeMap::new();
        for d in (0..routes.dest_count()).map(DestId::new) {
            let (lid, paths) = match d.as_terminal(fabric) {
                Some(t) => (lids.terminal(t), routes.paths()),
                None => (lids.switch(d.home(fabric)), 1),
            };
            for path in 0..paths {
                by_lid.insert(lid.saturating_add(path as u16), (d, path));
            }
        }
        let owners: Vec<_> = by_lid.into_iter().collect();
        let all = (0..fabric.switch_count()).into_par_iter().map(SwitchId::new);
        let of = |s: SwitchId| (fabric.switch(s).guid.0, of_switch(fabric, routes, &owners, s));
        let switches = all.map(of).collect();
        Self { paths: routes.paths(), owners, switches }
    }

    /// Takes the tables of some switches anew, of tables with the same LIDs.
    pub(crate) fn renew(&mut self, fabric: &Fabric, routes: &Routes, switches: &[SwitchId]) {
        for &s in switches {
            self.switches[s.index()].1 = of_switch(fabric, routes, &self.owners, s);
        }
    }

    /// The digest of all.
    pub(crate) fn value(&self) -> Digest {
        let mut words = Words::default();
        words.add(self.paths as u64);
        for &(guid, of) in &self.switches {
            words.add(guid);
            words.add(of);
        }
        Digest(words.value())
    }
}

fn of_switch(
    fabric: &Fabric,
    routes: &Routes,
    owners: &[(u16, (DestId, usize))],
    s: SwitchId,
) -> u64 {
    let mut words = Words::default();
    for &(lid, of) in owners {
        let port = entry(fabric, routes, s, of);
        words.add(u64::from(lid) << 16 | port.map_or(0xffff, u64::from));
    }
    words.value()
}
