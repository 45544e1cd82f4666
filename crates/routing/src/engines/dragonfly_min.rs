//! Minimal routing on dragonflies with two lanes.

use darkfiber_fabric::{DragonflyShape, Fabric, GroupKind, Shape, SwitchId};
use rayon::prelude::*;

use super::balance::{FirstCriterion, balance};
use super::dag::{Dag, MOST_BYTES, require_routable};
use super::lines::{GLOBAL, Lines, ODD};
use super::rules::{EVERY, TurnRule, assign_by_rule};
use super::stages::{Growth, GrowthScratch};
use crate::{DELIVER, Deadlock, Engine, FabricRequirement, NO_ROUTE, Refusal, Request, Routes};

/// The engine `dragonfly-min`; see [`Engine::doc`].
pub(crate) struct DragonflyMin;

impl Engine for DragonflyMin {
    fn name(&self) -> &'static str {
        "dragonfly-min"
    }

    fn summary(&self) -> &'static str {
        "dragonfly, Cascade, dragonfly+: minimal paths, two lanes by group number"
    }

    fn doc(&self) -> &'static str {
        "A path takes the local hops to a switch with a cable to the destination's group (on Cascade \
         first in the row, then in the column; on dragonfly+ from leaf to spine), that cable, and the \
         local hops there. Of several such switches it takes one on the shortest way; the load \
         decides among those. A switch with a cable of its own takes that.\n\n\
         Lanes: paths to a group of a higher number use lane 0, to a lower one lane 1, within a group \
         lane 0. In lane 0 no path ever comes to a lower group, so a cycle of channel dependencies \
         would have to stay in one group, without a cable between groups; and the local hops of a \
         group are in an order that closes no cycle by itself: one hop; row, then column; up, then \
         down. Lane 1 is the mirror image. One lane is enough for a single group, and on dragonfly+, \
         where every path goes up, across, and down.\n\n\
         A missing local cable is passed over a third switch of the row, column or group with fewer \
         missing cables. Two groups without a live cable are joined through a third group. Paths that \
         so break the rule of both lanes get further ones, as in dfsssp.\n\n\
         Tables have one row for each LID. If these would exceed 4 GiB, all LIDs of a switch share \
         one row, and among equal ways a draw by channel and destination decides instead of the \
         load: the largest dragonfly of 64-port switches takes seconds and 300 MB for tables.\n\n\
         Complexity: as sssp; with shared rows O(switches) a row, in parallel."
    }

    fn paper(&self) -> &'static str {
        "Kim, Dally, Scott, Abts: Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA'08"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Dragonfly
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Layers
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        let share = match require_routable(self.name(), fabric, request) {
            Ok(()) => false,
            Err(Refusal::TooLarge { .. }) => true,
            Err(other) => return Err(other),
        };
        let shape = match request.shape.filter(|shape| shape.fits(fabric)) {
            Some(Shape::Dragonfly(shape)) => shape,
            other => {
                let reason = other.map_or("the groups are not known", |_| "this fabric is none");
                return Err(Refusal::wrong_fabric(self, reason));
            }
        };
        self.route_groups(fabric, request, shape, share)
    }
}

impl DragonflyMin {
    fn route_groups(
        &self,
        fabric: &Fabric,
        request: &Request<'_>,
        shape: &DragonflyShape,
        share: bool,
    ) -> Result<Routes, Refusal> {
        let lines = lines(fabric, shape);
        let grow = |dag: &mut Dag, work: &mut GrowthScratch, home: SwitchId| {
            let mut growth = Growth::new(fabric, &lines, dag, work, home);
            // First the groups with a cable to the destination's, then those next to them, ...
            let mut joined = 0;
            growth.join_lines();
            while growth.joined() > joined && !growth.complete() {
                joined = growth.joined();
                growth.join_groups();
                growth.join_lines();
            }
            if share { growth.choose() } else { growth.finish() }
        };
        let mut routes = if share {
            self.shared_rows(fabric, request, grow)?
        } else {
            let mut routes = Routes::empty(self.name(), fabric, request.paths());
            let _ = balance(fabric, &mut routes, FirstCriterion::Load, |dag, home| {
                grow(dag, &mut GrowthScratch::default(), home);
            });
            routes
        };
        if let GroupKind::LeafSpine { .. } = shape.inside {
            let rule = UpAcrossDown { lines: &lines };
            assign_by_rule(self.name(), fabric, &mut routes, request, &rule)?;
        } else {
            let alone = shape.group.iter().all(|g| *g == shape.group[0]);
            let rule = ByGroup { fabric, lines: &lines, group: &shape.group, alone };
            assign_by_rule(self.name(), fabric, &mut routes, request, &rule)?;
        }
        Ok(routes)
    }

    /// One row for each destination switch, shared by its own LID and all LIDs of its terminals.
    fn shared_rows(
        &self,
        fabric: &Fabric,
        request: &Request<'_>,
        grow: impl Fn(&mut Dag, &mut GrowthScratch, SwitchId) + Sync,
    ) -> Result<Routes, Refusal> {
        let n = fabric.switch_count();
        let bytes = n as u64 * n as u64;
        if bytes > MOST_BYTES {
            return Err(Refusal::TooLarge {
                engine: self.name(),
                bytes,
                hint: "the limit is 4 GiB; take a smaller fabric",
            });
        }
        let homes = fabric.terminals().iter().map(|t| t.switch.0);
        let row_of = homes
            .flat_map(|home| std::iter::repeat_n(home, request.paths()))
            .chain(0..n as u32)
            .collect();
        let mut routes = Routes::with_shared_rows(self.name(), fabric, request.paths(), row_of, n);
        let tail_ports = fabric.tail_ports();
        routes.table_mut().par_chunks_mut(n).enumerate().for_each_init(
            || (Dag::default(), GrowthScratch::default()),
            |(dag, work), (home, ports)| {
                grow(dag, work, SwitchId::new(home));
                for (port, &c) in ports.iter_mut().zip(&work.choice) {
                    *port = tail_ports.get(c as usize).copied().unwrap_or(NO_ROUTE);
                }
                ports[home] = DELIVER;
            },
        );
        Ok(routes)
    }
}

fn lines(fabric: &Fabric, shape: &DragonflyShape) -> Lines {
    let at = |local: &dyn Fn(u32) -> Vec<u32>| -> Vec<Vec<u32>> {
        let members = shape.member.iter().zip(&shape.group);
        members.map(|(&m, &g)| local(m).into_iter().chain([g]).collect()).collect()
    };
    match shape.inside {
        GroupKind::Full => Lines::of_groups(fabric, 1, &at(&|m| vec![m])),
        GroupKind::Grid { columns, .. } => {
            let columns = columns.max(1);
            Lines::of_groups(fabric, 2, &at(&|m| vec![m % columns, m / columns]))
        }
        GroupKind::LeafSpine { leaves } => {
            let leaf: Vec<bool> = shape.member.iter().map(|&m| m < leaves).collect();
            Lines::leaf_spine(fabric, &shape.group, &leaf)
        }
    }
}

/// Layer 0 never comes to a lower group, layer 1 never to a higher one.
struct ByGroup<'a> {
    fabric: &'a Fabric,
    lines: &'a Lines,
    group: &'a [u32],
    /// Whether there is one group only.
    alone: bool,
}

impl TurnRule for ByGroup<'_> {
    fn layers(&self) -> usize {
        if self.alone { 1 } else { 2 }
    }

    fn hop(&self, c: u32) -> u32 {
        match self.lines.class(c) {
            GLOBAL => {
                let end = |s: &[u32]| self.group[s[c as usize] as usize];
                if end(self.fabric.tails()) < end(self.fabric.heads()) { 0b10 } else { 0b01 }
            }
            ODD => EVERY,
            _ => 0,
        }
    }

    fn turn(&self, c: u32, next: u32) -> u32 {
        if self.lines.may_turn(self.fabric, c, next) { 0 } else { EVERY }
    }

    fn even(&self) -> bool {
        false
    }
}

/// One layer: up to a spine, across to another group, down to a leaf, each at most once.
struct UpAcrossDown<'a> {
    lines: &'a Lines,
}

impl UpAcrossDown<'_> {
    fn order(&self, c: u32) -> u8 {
        match self.lines.class(c) {
            0 => 0,
            GLOBAL => 1,
            _ => 2,
        }
    }
}

impl TurnRule for UpAcrossDown<'_> {
    fn layers(&self) -> usize {
        1
    }

    fn hop(&self, c: u32) -> u32 {
        if self.lines.class(c) == ODD { EVERY } else { 0 }
    }

    fn turn(&self, c: u32, next: u32) -> u32 {
        if self.order(c) < self.order(next) { 0 } else { EVERY }
    }

    fn even(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use darkfiber_fabric::{Faults, parse_spec};

    use super::*;
    use crate::check::check;
    use crate::{DestId, Layers};

    #[test]
    fn shared_rows_do_as_well_and_are_checked_alike() {
        for spec in ["dragonfly:p=2,a=4,h=2", "cascade:groups=3,rows=2,cols=4,p=2,blue=8"] {
            for faults in [0, 2, 5] {
                let whole = parse_spec(spec).expect("a spec");
                let drawn = Faults::random_links(&whole.fabric, faults, 1).expect("few");
                let topology = whole.with_faults(&drawn).0;
                let (fabric, shape) = (&topology.fabric, topology.shape.as_ref());
                let Some(Shape::Dragonfly(groups)) = shape else { panic!("{spec}: no groups") };
                let request = Request { shape, ..Request::default() };
                let single = DragonflyMin.route_groups(fabric, &request, groups, false);
                let shared = DragonflyMin.route_groups(fabric, &request, groups, true);
                let (single, shared) = (single.expect(spec), shared.expect(spec));
                assert_eq!(shared.row_count(), fabric.switch_count());
                let (a, b) = (check(fabric, &single), check(fabric, &shared));
                assert!(b.complete() && b.deadlock_free(), "{spec}, {faults} faults");
                assert_eq!(a.hops, b.hops, "{spec}, {faults} faults");

                // The same entries, one row for each LID.
                let mut copy = Routes::empty("copy", fabric, 1);
                let n = fabric.switch_count();
                let mut layer = vec![0; copy.row_count() * n];
                for d in (0..shared.dest_count()).map(DestId::new) {
                    let (from, to) = (shared.row(d, 0), copy.row(d, 0));
                    copy.ports_mut(to).copy_from_slice(shared.ports(from));
                    if let Layers::BySourceSwitch(l) = &shared.layers {
                        layer[to * n..(to + 1) * n].copy_from_slice(&l[from * n..(from + 1) * n]);
                    }
                }
                copy.layers = Layers::BySourceSwitch(layer);
                assert_eq!(check(fabric, &copy), b, "{spec}, {faults} faults");
            }
        }
    }
}
