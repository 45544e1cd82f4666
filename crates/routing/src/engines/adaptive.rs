//! Adaptive routing of InfiniBand: groups of ports in addition to the tables of Up*/Down* and of fat-trees.

use std::sync::Arc;

use darkfiber_fabric::{AtPort, Fabric, SwitchId};

use super::balance::FirstCriterion;
use super::dag::{Dag, for_each_dag, require_routable};
use super::order::UpDown;
use super::strays::OrderedTables;
use super::updn::{legal_tables, up_down, up_down_of_tree};
use crate::check::check_groups;
use crate::next_hops::{Group, NextHops, NextHopsBuilder};
use crate::{
    DELIVER, Deadlock, DestId, Engine, FabricRequirement, NO_ROUTE, Refusal, Request, Routes,
};

/// The engine `ar_updn`; see [`Engine::doc`].
pub(crate) struct ArUpDn;

/// The engine `ar_ftree`; see [`Engine::doc`].
pub(crate) struct ArFTree;

impl Engine for ArUpDn {
    fn name(&self) -> &'static str {
        "ar_updn"
    }

    fn summary(&self) -> &'static str {
        "updn with groups of ports (adaptive routing): any of the shortest legal paths"
    }

    fn doc(&self) -> &'static str {
        "The tables are those of updn. Beside them every switch has a group of ports for each LID: all ports \
         on its shortest legal Up*/Down* paths, the port of the table among them, from which it may pick for \
         every packet. All paths that any picks make go up and then down, so that no choice can deadlock with \
         one lane. Destinations that somebody reaches only against the rule (as in updn) have no groups.\n\n\
         NVIDIA's OpenSM has an engine of this name; its source is not public, and the groups here are what \
         its name and documentation say.\n\nComplexity: as updn."
    }

    fn paper(&self) -> &'static str {
        "Schroeder et al.: Autonet, IEEE JSAC 9(8), 1991; NVIDIA, UFM user manual, adaptive routing (ar_updn)"
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
        with_groups(self.name(), fabric, request, &up_down(fabric, request), FirstCriterion::Load)
    }
}

impl Engine for ArFTree {
    fn name(&self) -> &'static str {
        "ar_ftree"
    }

    fn summary(&self) -> &'static str {
        "ftree with groups of ports (adaptive routing): any up port of equal distance"
    }

    fn doc(&self) -> &'static str {
        "The tables are those of ftree. Beside them every switch has a group of ports for each LID: to go up, \
         all up ports from which the rest is equally short; to go down, all parallel cables. No choice can \
         deadlock with one lane, as in ar_updn. Refuses what ftree refuses.\n\n\
         NVIDIA's OpenSM has an engine of this name; its source is not public, and the groups here are what \
         its name and documentation say.\n\nComplexity: as ftree."
    }

    fn paper(&self) -> &'static str {
        "Zahavi, Johnson, Kerbyson, Lang: Optimized InfiniBand fat-tree routing for shift all-to-all communication \
         patterns, CCPE 22(2), 2010; NVIDIA, UFM user manual, adaptive routing (ar_ftree)"
    }

    fn needs(&self) -> FabricRequirement {
        FabricRequirement::Tree
    }

    fn deadlock(&self) -> Deadlock {
        Deadlock::Free
    }

    fn takes_roots(&self) -> bool {
        true
    }

    fn compute(&self, fabric: &Fabric, request: &Request<'_>) -> Result<Routes, Refusal> {
        let (_, updown) = up_down_of_tree(self, fabric, request)?;
        with_groups(self.name(), fabric, request, &updown, FirstCriterion::Siblings)
    }
}

/// Balanced legal paths, and the groups around them.
fn with_groups(
    engine: &'static str,
    fabric: &Fabric,
    request: &Request<'_>,
    updown: &UpDown,
    first: FirstCriterion,
) -> Result<Routes, Refusal> {
    let OrderedTables { mut routes, order, strayed } =
        legal_tables(engine, fabric, request, updown, first)?;
    routes.groups = Some(Arc::new(groups(fabric, &routes, Some(order))));
    // Tables of two orders may be free where not all choices are.
    if strayed && check_groups(fabric, &routes).is_some_and(|g| !g.sets.deadlock_free()) {
        routes.groups = Some(Arc::new(groups(fabric, &routes, None)));
    }
    Ok(routes)
}

/// For each destination all candidates of every switch in this order; where some switch has no legal path, and without an order, only
/// the channels of the tables.
fn groups(fabric: &Fabric, routes: &Routes, order: Option<&UpDown>) -> NextHops {
    let n = fabric.switch_count();
    let mut made = NextHopsBuilder::new(n, routes.row_count());
    let homes: Vec<(SwitchId, ())> = (0..n)
        .map(SwitchId::new)
        .filter(|&s| !fabric.terminals_on(s).is_empty())
        .map(|s| (s, ()))
        .collect();
    let legal = |dag: &mut Dag, home| {
        if let Some(order) = order {
            order.legal(fabric, dag, home);
        }
    };
    for_each_dag(&homes, legal, |&(home, ()), dag| {
        let rows: Vec<usize> = fabric
            .terminals_on(home)
            .flat_map(|t| (0..routes.paths()).map(move |path| (t, path)))
            .map(|(t, path)| routes.row(DestId::new(t), path))
            .collect();
        if order.is_none() || dag.strays(fabric).next().is_some() {
            for row in rows {
                made.push(home, &[row], of_table(fabric, routes.ports(row)));
            }
            return;
        }
        let mut sets = vec![Group::default(); n];
        for i in 1..dag.order.len() {
            let members = dag.candidates(i).iter().map(|c| c.channel).collect();
            sets[dag.order[i] as usize] = Group::even(members);
        }
        made.push(home, &rows, sets);
    });
    made.finish()
}

/// For each switch the one channel of a row of the tables.
fn of_table(fabric: &Fabric, ports: &[u8]) -> Vec<Group> {
    let channel = |(s, &port): (usize, &u8)| match port {
        DELIVER | NO_ROUTE => Group::default(),
        port => match fabric.at_port(SwitchId::new(s), port) {
            AtPort::Switch(c, _) => Group::even(vec![c.0]),
            _ => Group::default(),
        },
    };
    ports.iter().enumerate().map(channel).collect()
}
