//! Up*/Down* and Down*/Up*: shortest legal paths, deadlock-free with one lane on any fabric.

use darkfiber_fabric::{Fabric, SwitchId};

use super::balance::{FirstCriterion, balance};
use super::dag::{Dag, for_each_row, require_routable};
use super::order::{UpDown, tree_levels};
use super::strays::{OrderedTables, by_order};
use crate::{Deadlock, DestId, Engine, FabricRequirement, Refusal, Request, Routes};

/// The engine `updn`; see [`Engine::doc`].
pub(crate) struct UpDn;

/// The engine `dnup`; see [`Engine::doc`].
pub(crate) struct DnUp;

impl Engine for UpDn {
    fn name(&self) -> &'static str {
        "updn"
    }

    fn summary(&self) -> &'static str {
        "Up*/Down*: paths climb towards the roots, then descend; never turn up again"
    }

    fn doc(&self) -> &'static str {
        "Switches are ranked by their distance from the roots (--roots; without them the top level if \
         the fabric is a tree, else the switch with the lowest eccentricity), ties by id. A path goes \
         up, then down. The direction is carried in the tables: a switch that others enter going down \
         itself only sends down, so no path makes the down-up turn that OpenSM's updn makes on \
         irregular fabrics, and the channel dependency graph is free of cycles with one lane on any \
         connected fabric. Among legal shortest paths the load is balanced as in sssp. With several \
         roots a pair of switches may have no legal path. Leaves that damage has left without a common \
         root (and hosts on several roots): all paths to such a destination follow the order from the leaf \
         that is nearest to all switches, which on a tree is as short and leads everybody everywhere, by \
         way of that leaf; and so do all others should these close a cycle with them. Aggregation nodes \
         (SHARP) on several roots: the paths between them, and to hosts that they do not lead down to, go \
         against the rule, in virtual layers of their own.\n\n\
         Complexity: as sssp."
    }

    fn paper(&self) -> &'static str {
        "Schroeder et al.: Autonet, IEEE JSAC 9(8), 1991; OpenSM, doc/current-routing.txt"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn takes_roots(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        legal_routes(self.name(), fabric, request, &up_down(fabric, request), FirstCriterion::Load)
    }
}

impl Engine for DnUp {
    fn name(&self) -> &'static str {
        "dnup"
    }

    fn summary(&self) -> &'static str {
        "as updn, but ranked from the hosts: for trees with hosts close to the roots"
    }

    fn doc(&self) -> &'static str {
        "Switches are ranked by their distance from the switches with hosts, the farthest on top, \
         instead of from roots, so that hosts near the roots do not count as above the leaves. Legal \
         paths, balance and deadlock freedom as in updn. Where hosts hang on every switch the rank \
         says nothing and the distance from the centre decides.\n\nComplexity: as updn."
    }

    fn paper(&self) -> &'static str {
        "OpenSM, doc/current-routing.txt, \"DNUP Routing Algorithm\""
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Any
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        require_routable(self.name(), fabric, request)?;
        legal_routes(
            self.name(),
            fabric,
            request,
            &UpDown::from_leaves(fabric),
            FirstCriterion::Load,
        )
    }
}

/// The order of the switches: from the roots that are given, else the natural one.
pub(super) fn up_down(fabric: &Fabric, request: &Request<'_>) -> UpDown {
    if request.roots.is_empty() {
        UpDown::natural(fabric, request.shape)
    } else {
        UpDown::from_roots(fabric, request.roots)
    }
}

/// The levels of a tree and the order of its switches, for an engine that needs one.
///
/// # Errors
/// If there is nothing to route, or the fabric is no tree.
pub(super) fn up_down_of_tree(
    engine: &dyn Engine,
    fabric: &Fabric,
    request: &Request<'_>,
) -> Result<(Vec<u32>, UpDown), Refusal> {
    require_routable(engine.name(), fabric, request)?;
    let level = tree_levels(fabric, request.shape, request.roots)
        .map_err(|reason| Refusal::wrong_fabric(engine, reason))?;
    let updown = UpDown::from_levels(fabric, &level);
    Ok((level, updown))
}

/// Fills the row of every LID by applying `send` to the legal paths to it: the graph, the destination, its path index and its
/// row.
pub(super) fn legal_rows(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    routes: Routes,
    updown: &UpDown,
    mut send: impl FnMut(&Dag, DestId, usize, &mut [u8]) + Send,
) -> Result<Routes, Refusal> {
    let row_of: Vec<u32> =
        (0..fabric.terminal_count()).map(|t| routes.row(DestId::new(t), 0) as u32).collect();
    let tables = by_order(engine, fabric, request, routes, updown, |order, routes| {
        let mut strays = Vec::new();
        for_each_row(
            fabric,
            routes,
            (0..fabric.switch_count()).map(SwitchId::new),
            |dag, home| order.legal(fabric, dag, home),
            |dag, dest, path, ports| {
                if let Some(t) = dest.as_terminal(fabric) {
                    let row = row_of[t.index()] + path as u32;
                    strays.extend(dag.strays(fabric).map(|s| (row, s)));
                }
                send(dag, dest, path, ports);
            },
        );
        strays
    })?;
    Ok(tables.routes)
}

/// Balanced shortest legal paths, and the order that they follow.
pub(super) fn legal_tables<'a>(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    order: &'a UpDown,
    weighs: FirstCriterion,
) -> Result<OrderedTables<'a>, Refusal> {
    let routes = Routes::empty(engine, fabric, request.paths());
    by_order(engine, fabric, request, routes, order, |order, routes| {
        balance(fabric, routes, weighs, |dag, home| order.legal(fabric, dag, home)).strays
    })
}

/// The routes of [`legal_tables`].
pub(super) fn legal_routes(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    order: &UpDown,
    weighs: FirstCriterion,
) -> Result<Routes, Refusal> {
    legal_tables(engine, fabric, request, order, weighs).map(|tables| tables.routes)
}
