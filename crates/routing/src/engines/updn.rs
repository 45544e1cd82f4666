//! Up*/Down* and Down*/Up*: shortest legal paths, deadlock-free with one lane on any fabric.

use darkfiber_fabric::{Fabric, Role, SwitchId};

use super::balance::{FirstCriterion, balance};
use super::dag::{Dag, for_each_row, require_routable};
use super::layers::{assign_strays, one_layer_does, only_by_pair};
use super::order::{UpDown, tree_levels};
use crate::{Deadlock, DestId, Engine, FabricRequirement, LayerBy, Refusal, Request, Routes};

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
/// row; strays are in separate layers.
pub(super) fn legal_rows(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    mut routes: Routes,
    updown: &UpDown,
    mut send: impl FnMut(&Dag, DestId, usize, &mut [u8]) + Send,
) -> Result<Routes, Refusal> {
    let mut strays = Vec::new();
    let row_of: Vec<u32> =
        (0..fabric.terminal_count()).map(|t| routes.row(DestId::new(t), 0) as u32).collect();
    for_each_row(
        fabric,
        &mut routes,
        (0..fabric.switch_count()).map(SwitchId::new),
        |dag, home| updown.legal(fabric, dag, home),
        |dag, dest, path, ports| {
            if let Some(t) = dest.as_terminal(fabric) {
                let row = row_of[t.index()] + path as u32;
                strays.extend(dag.strays(fabric).map(|s| (row, s)));
            }
            send(dag, dest, path, ports);
        },
    );
    place_strays(engine, fabric, request, &mut routes, &strays)?;
    Ok(routes)
}

/// Balanced shortest legal paths. Where the paths of strays would close a cycle with the others, all paths follow the order of the
/// strays.
pub(super) fn legal_routes(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    updown: &UpDown,
    weighs: FirstCriterion,
) -> Result<Routes, Refusal> {
    let mut routes = Routes::empty(engine, fabric, request.paths());
    let balanced =
        balance(fabric, &mut routes, weighs, |dag, home| updown.legal(fabric, dag, home));
    let apart = of_aggregation(fabric, &routes, &balanced.strays);
    if apart.len() < balanced.strays.len()
        && !one_layer_does(fabric, &routes, &apart)
        && let Some(spare) = updown.spare(fabric)
    {
        return legal_routes(engine, fabric, request, spare, weighs);
    }
    place_strays(engine, fabric, request, &mut routes, &balanced.strays)?;
    Ok(routes)
}

/// Those of the paths (row, source switch) that are from or to aggregation nodes only, sorted.
fn of_aggregation(fabric: &Fabric, routes: &Routes, strays: &[(u32, u32)]) -> Vec<(u32, u32)> {
    if strays.is_empty() {
        return Vec::new();
    }
    let is_host = |t: usize| fabric.terminals()[t].role != Role::Aggregation;
    let mut of_hosts: Vec<u32> = (0..fabric.terminal_count())
        .filter(|&t| is_host(t))
        .flat_map(|t| (0..routes.paths()).map(move |path| routes.row(DestId::new(t), path) as u32))
        .collect();
    of_hosts.sort_unstable();
    let is_apart = |&(row, s): &(u32, u32)| {
        of_hosts.binary_search(&row).is_err() || !fabric.terminals_on(SwitchId(s)).any(is_host)
    };
    let mut apart: Vec<(u32, u32)> = strays.iter().copied().filter(is_apart).collect();
    apart.sort_unstable();
    apart
}

/// One layer for paths that stray from the engine's rule, but for those of aggregation nodes, if all the others fit into one; else
/// layers of their own, or a refusal that counts them.
pub(super) fn place_strays(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    routes: &mut Routes,
    strays: &[(u32, u32)],
) -> Result<(), Refusal> {
    let apart = of_aggregation(fabric, routes, strays);
    let strays = if apart.len() < strays.len() && one_layer_does(fabric, routes, &apart) {
        &apart[..]
    } else {
        strays
    };
    if strays.is_empty() {
        return Ok(());
    }
    if request.layer_by == LayerBy::Destination {
        return Err(only_by_pair(engine));
    }
    assign_strays(fabric, routes, request.lanes, strays).map_err(|out| Refusal::Lanes {
        engine,
        needed: out.needed,
        lanes: request.lanes,
        hint: "give one --roots switch, from which every pair has a legal path",
    })
}
