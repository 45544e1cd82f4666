//! Quality of routing tables.

use darkfiber_analysis::dark_fiber_percent;
use darkfiber_scenario::{Case, Chain, Error};

use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::Answer;
use crate::{Measured, Pieces};

pub(in crate::grid) struct Routes;

impl Question for Routes {
    fn name(&self) -> &'static str {
        "routes"
    }

    fn summary(&self) -> &'static str {
        "how good tables are: edge forwarding index, hops, layers, deadlock, pairs lost, dark channels"
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            ("efi_max", "most routes that cross a directed switch-to-switch channel"),
            ("hops_mean", "mean switches that the pairs that reach cross"),
            ("layers", "virtual layers in use"),
            ("deadlock_free", "whether no layer has a cycle of channel dependencies"),
            ("pairs", "ordered pairs of different terminals"),
            ("lost", "pairs that cannot talk"),
            (
                "dark_percent",
                "channels that no route crosses, in percent; of a fabric in one piece",
            ),
        ]
    }

    fn answer(&self, context: &CellContext<'_>, _: &Params) -> Result<Vec<Answer>, Error> {
        let topology = &context.loaded.topology;
        let fabric = &topology.fabric;
        let chain = context.scenario.routes.engine.as_ref();
        let is_whole = fabric.component_labels().iter().all(|&label| label == 0);
        match (&context.tables, chain) {
            // An engine refuses a fabric in pieces; an operator would run a subnet manager in each.
            (_, Some(chain)) if !is_whole => {
                let pieces = Pieces::of(topology.clone());
                let found = by_pieces(&pieces, chain, context);
                Ok(vec![row(context, found, pieces.count())])
            }
            (Ok(tables), _) => {
                tables.expect_tables("routes")?;
                let (measured, load) = Measured::of(fabric, &tables.routes, context.seconds);
                let answer = row(context, Ok(measured), 1);
                Ok(vec![answer.with("dark_percent", dark_fiber_percent(&load))])
            }
            (Err(_), Some(chain)) if context.details.are_wanted() => {
                let pieces = Pieces::of(topology.clone());
                Ok(vec![row(context, by_pieces(&pieces, chain, context), 1)])
            }
            (Err(e), _) => Err(e.clone()),
        }
    }
}

/// Quality of the tables of a fabric that may be in pieces.
#[derive(Clone, Debug)]
pub(crate) struct RoutesFound {
    /// The measurement, or why there is none.
    pub(crate) measured: Result<Measured, String>,
    /// Pieces that the fabric is in.
    pub(crate) pieces: usize,
}

fn by_pieces(
    pieces: &Pieces,
    chain: &Chain,
    context: &CellContext<'_>,
) -> Result<Measured, String> {
    let mut open = Case::of(context.loaded.topology.clone());
    open.scenario.routes = context.scenario.routes.clone();
    open.seed = context.scenario.seed.unwrap_or(1);
    pieces.route(&chain.engines, &open.request(), context.clock)
}

fn row(context: &CellContext<'_>, measured: Result<Measured, String>, pieces: usize) -> Answer {
    let answer = match &measured {
        Ok(m) => Answer::default()
            .with("efi_max", m.efi_max)
            .with("hops_mean", m.hops_mean)
            .with("layers", m.layers)
            .with("deadlock_free", m.deadlock_free)
            .with("pairs", m.pairs)
            .with("lost", m.lost),
        Err(refused) => Answer { error: Some(refused.clone()), ..Answer::default() },
    };
    answer.detailed(context.details.are_wanted(), || RoutesFound { measured, pieces })
}
