//! Cut-off switches that are left without an entry, where nothing needs one.
//!
//! A spine whose cable to a leaf is dead has no way down to it but over another leaf and up again. Hosts do not need that way: their
//! leaves take other spines. While entries are written, though, such a leaf may still send to the spine, which sends back: mixtures of
//! old and new entries loop, and with two dead cables no order of switches may be left in which they do not. Without that entry of the
//! spine there is one, or any order will do.
//!
//! What it costs is that the spine itself cannot answer hosts on that leaf by LID until its entry is made again.

use darkfiber_fabric::SwitchId;

use super::channel::channel;
use super::cut::Cut;
use super::mended::Mended;
use super::prepared::Prepared;
use crate::NO_ROUTE;

impl Prepared<'_> {
    /// Takes the new entries of cut-off switches away that send nothing and that no path between terminals passes.
    pub(super) fn close(&mut self, cuts: &[Cut], mended: &mut Mended) {
        let mut is_passed = vec![false; self.fabric.switch_count()];
        for cut in cuts {
            // Paths of all others were not cut, and pass none of these switches.
            for node in cut.nodes.iter().filter(|node| node.pairs > 0) {
                let mut at = node.switch;
                while at != cut.home && !std::mem::replace(&mut is_passed[at as usize], true) {
                    let c = channel(self.fabric, self.routes.ports(cut.row), at);
                    at = self.fabric.heads()[c as usize];
                }
            }
            let is_idle = |switch: u32| switch != cut.home && !is_passed[switch as usize];
            let mut closed: Vec<u32> = Vec::new();
            let ports = self.routes.ports_mut(cut.row);
            for node in cut.nodes.iter().filter(|node| is_idle(node.switch)) {
                let port = &mut ports[node.switch as usize];
                if *port != node.old && *port != NO_ROUTE {
                    *port = NO_ROUTE;
                    closed.push(node.switch);
                }
            }
            // Entries that were kept may lead to those.
            let mut next = 0;
            while next < closed.len() {
                let v = SwitchId(closed[next]);
                next += 1;
                for c in self.fabric.channels_from(v) {
                    let (s, against) = (self.fabric.heads()[c], self.fabric.reverses()[c]);
                    let port = &mut self.routes.ports_mut(cut.row)[s as usize];
                    if is_idle(s) && *port == self.fabric.tail_ports()[against as usize] {
                        *port = NO_ROUTE;
                        closed.push(s);
                    }
                }
            }
            if !closed.is_empty() {
                mended.dead_ends += closed.len();
                self.with_gaps.push(cut.row);
            }
            for node in &cut.nodes {
                is_passed[node.switch as usize] = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{ChannelId, Faults, open};

    use crate::check::check;
    use crate::reroute::{Fault, Prepared, Rung};
    use crate::transition::{self, Before};
    use crate::{Request, find_engine};

    /// Any two cables of a tree may die at once: what repairs that may be written while traffic runs. Where a switch was left without an
    /// entry, a later fault that needs one gets it.
    #[test]
    fn two_cables_of_a_tree_are_repaired_under_traffic() {
        let topology = open("fattree2:n=3,m=3,r=4").expect("a spec");
        let fabric = &topology.fabric;
        let request = Request { shape: topology.shape.as_ref(), ..Request::default() };
        let routes = find_engine("ftree").expect("registered").route(fabric, &request);
        let routes = routes.expect("it routes");
        let cables: Vec<ChannelId> =
            Fault::cables(fabric).iter().flat_map(|fault| fault.faults().links).collect();
        let (mut closed, mut reopened) = (0, 0);
        for (i, &a) in cables.iter().enumerate() {
            for &b in &cables[..i] {
                let faults = Faults { links: vec![a, b], ..Faults::default() };
                let mut prepared = Prepared::new(fabric, &routes, 8).expect("sound tables");
                let (outcome, rung) = prepared.reroute_on_lowest_rung(&faults).expect("a way");
                assert!(rung < Rung::DropDrain, "{a:?} {b:?}: {rung:?}");
                closed += outcome.dead_ends;
                let (left, _) = fabric.with_faults(&faults);
                let [old, mut new] = [&routes, prepared.routes()].map(Clone::clone);
                new.clear_unconnected(&left);
                let mut before = old.clone();
                before.clear_unconnected(&left);
                let before = [Before { routes: &before, has_levels: true }];
                let judged = transition::check(&left, &before, &new, None).expect("tables");
                assert!(judged.verdict < transition::Rung::Flip, "{a:?} {b:?}: {judged:?}");
                // From these tables on, as a daemon reads them: each further cable that leaves the fabric whole.
                for &c in cables.iter().filter(|&&c| c != a && c != b) {
                    let all = Faults { links: vec![a, b, c], ..Faults::default() };
                    let (part, _) = fabric.with_faults(&all);
                    if part.components().len() > 1 {
                        continue;
                    }
                    let mut later = Prepared::new(fabric, prepared.routes(), 8).expect("tables");
                    let (more, _) = later.reroute_on_lowest_rung(&all).expect("a way is left");
                    let mut repaired = later.routes().clone();
                    repaired.clear_unconnected(&part);
                    let report = check(&part, &repaired);
                    assert!(report.complete() && report.deadlock_free(), "{a:?} {b:?} {c:?}");
                    reopened += usize::from(more.dead_ends < outcome.dead_ends);
                }
            }
        }
        assert!(closed > 0 && reopened > 0, "{closed} {reopened}");
    }
}
