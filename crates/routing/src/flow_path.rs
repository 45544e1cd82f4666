//! The path of a flow, from forwarding tables or from hashes, over all shortest paths or groups of ports.

use std::sync::Arc;

use darkfiber_fabric::{Fabric, SwitchId, TerminalId};

use crate::ecmp::Ecmp;
use crate::next_hops::{Group, NextHops, NextHopsBuilder};
use crate::{DestId, Routes, follow};

impl Routes {
    /// Routes by ECMP: the path of a flow is what the switches' hashes pick, number `i` being that of queue pair `i`. There are no
    /// forwarding tables by destination: a lookup finds no route.
    pub fn by_hash(fabric: &Fabric, ecmp: Ecmp) -> Self {
        let paths = ecmp.queue_pairs();
        let slots = fabric.terminal_count() * paths + fabric.switch_count();
        let name = format!("ecmp {}", ecmp.spec());
        let mut routes = Self::with_shared_rows(&name, fabric, paths, vec![0; slots], 1);
        routes.hashed = Some(Arc::new(ecmp));
        routes
    }

    /// Groups of ports by row as sets by destination switch, from which hashes pick by remainder or among the same number of
    /// buckets; `None` if there are no groups.
    ///
    /// # Errors
    /// The first switch whose terminals have LIDs with different groups: hashes pick by switch.
    pub fn groups_by_switch(
        &self,
        fabric: &Fabric,
        buckets: Option<usize>,
    ) -> Option<Result<NextHops, SwitchId>> {
        let groups = self.groups.as_deref()?;
        let n = fabric.switch_count();
        let mut made = NextHopsBuilder::new(n, n);
        for home in (0..n).map(SwitchId::new) {
            let lids = fabric.terminals_on(home).flat_map(|t| {
                (0..self.paths()).map(move |path| groups.number(self.row(DestId::new(t), path)))
            });
            let mut lids = lids.collect::<Vec<_>>();
            lids.dedup();
            let number = match lids[..] {
                [] => continue,
                [Some(number)] => number,
                _ => return Some(Err(home)),
            };
            let set = |s: usize| {
                let members = groups.towards(SwitchId::new(s), number).members().to_vec();
                match buckets {
                    Some(buckets) => Group::resilient(members, buckets),
                    None => Group::even(members),
                }
            };
            made.push(home, &[home.index()], (0..n).map(set).collect());
        }
        Some(Ok(made.finish()))
    }

    /// Adds to `path` the channels between switches that a flow crosses from one terminal to another, by one of the LIDs or queue
    /// pairs between them; returns whether it arrives.
    pub fn flow_path(
        &self,
        fabric: &Fabric,
        from: TerminalId,
        to: TerminalId,
        number: usize,
        path: &mut Vec<u32>,
    ) -> bool {
        if let Some(ecmp) = &self.hashed {
            return ecmp.follow(fabric, from, to, number, path);
        }
        let row = self.row(DestId::terminal(to), number);
        follow(fabric, self.ports(row), to, fabric.terminal(from).switch, path)
    }
}
