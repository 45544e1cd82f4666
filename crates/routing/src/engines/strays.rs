//! Tables by an order of the switches, and the paths that stray from it: they follow another order in the lane of the others where that
//! stays free; else all paths follow that one. Paths of aggregation nodes have lanes of their own.

use darkfiber_fabric::{Fabric, Role, SwitchId};

use super::layers::{assign_strays, one_layer_does, only_by_pair};
use super::order::UpDown;
use crate::{DestId, LayerBy, Refusal, Request, Routes};

/// Tables, and the order that they follow.
pub(super) struct OrderedTables<'a> {
    pub(super) routes: Routes,
    /// The order asked for; its [spare](UpDown::spare) if that has to serve all destinations.
    pub(super) order: &'a UpDown,
    /// Whether paths to some destinations follow the spare order.
    pub(super) strayed: bool,
}

/// Tables that `fill` makes by an order: it fills all rows, and returns the paths (row, source switch) of terminals on strays. It is called
/// again with the spare order if one lane cannot carry the paths of hosts by the first.
///
/// # Errors
/// A refusal that counts the lanes, if there are too few for aggregation nodes.
pub(super) fn by_order<'a>(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    mut routes: Routes,
    order: &'a UpDown,
    mut fill: impl FnMut(&UpDown, &mut Routes) -> Vec<(u32, u32)>,
) -> Result<OrderedTables<'a>, Refusal> {
    let mut order = order;
    let mut strays = fill(order, &mut routes);
    let mut split = Strays::new(fabric, &routes, strays);
    let all = fabric.terminal_count() * routes.paths();
    let mut away = split.rows();
    if !split.fit
        && let Some(spare) = order.spare(fabric)
    {
        order = spare;
        strays = fill(order, &mut routes);
        split = Strays::new(fabric, &routes, strays);
        away = all;
    }
    // Roots that were given are not taken back silently.
    let spare = order.spare(fabric).unwrap_or(order);
    if let Some(root) = spare.root.filter(|_| away > 0 && request.roots.len() > 1) {
        let name = &fabric.switch(root).description;
        routes.notes.push(format!(
            "the {} root switches leave pairs of hosts without a path that goes up, then down: {away} of {all} LIDs of hosts are \
             reached by the order from {name} instead",
            request.roots.len()
        ));
    }
    let strayed = !split.of_hosts.is_empty();
    split.place(engine, fabric, request, &mut routes)?;
    Ok(OrderedTables { routes, order, strayed })
}

/// Paths (row, source switch) of finished tables that stray from the rule which keeps all others free of deadlock.
struct Strays {
    /// Those from or to aggregation nodes only, sorted.
    apart: Vec<(u32, u32)>,
    /// Those of hosts.
    of_hosts: Vec<(u32, u32)>,
    /// Whether those of hosts and all that do not stray are free of deadlock in one lane.
    fit: bool,
}

impl Strays {
    /// Complexity: O(rows x switches) if some are of hosts.
    fn new(fabric: &Fabric, routes: &Routes, strays: Vec<(u32, u32)>) -> Self {
        if strays.is_empty() {
            return Self { apart: Vec::new(), of_hosts: Vec::new(), fit: true };
        }
        let is_host = |t: usize| fabric.terminals()[t].role != Role::Aggregation;
        let row = |t, path| routes.row(DestId::new(t), path) as u32;
        let mut host_rows: Vec<u32> = (0..fabric.terminal_count())
            .filter(|&t| is_host(t))
            .flat_map(|t| (0..routes.paths()).map(move |path| row(t, path)))
            .collect();
        host_rows.sort_unstable();
        let (of_hosts, mut apart): (Vec<_>, Vec<_>) = strays.into_iter().partition(|(row, s)| {
            host_rows.binary_search(row).is_ok() && fabric.terminals_on(SwitchId(*s)).any(is_host)
        });
        apart.sort_unstable();
        let fit = of_hosts.is_empty() || one_layer_does(fabric, routes, &apart);
        Self { apart, of_hosts, fit }
    }

    /// Number of rows with paths of hosts.
    fn rows(&self) -> usize {
        let mut rows: Vec<u32> = self.of_hosts.iter().map(|(row, _)| *row).collect();
        rows.sort_unstable();
        rows.dedup();
        rows.len()
    }

    /// Gives those lanes of their own that need them.
    ///
    /// # Errors
    /// A refusal that counts the lanes, if there are too few.
    fn place(
        self,
        engine: &'static str,
        fabric: &Fabric,
        request: &Request<'_>,
        routes: &mut Routes,
    ) -> Result<(), Refusal> {
        let mut strays = self.apart;
        if !self.fit {
            strays.extend(self.of_hosts);
        }
        if !strays.is_empty() && request.layer_by == LayerBy::Destination {
            return Err(only_by_pair(engine));
        }
        assign_strays(fabric, routes, request.lanes, &strays).map_err(|out| Refusal::Lanes {
            engine,
            needed: out.needed,
            lanes: request.lanes,
            hint: "give one --roots switch, from which every pair has a legal path",
        })
    }
}
