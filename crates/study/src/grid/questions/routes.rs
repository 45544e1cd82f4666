//! How good tables are.

use darkfiber_analysis::{Efi, dark_fiber_percent};
use darkfiber_routing::check::check;
use darkfiber_scenario::{Case, Error};

use crate::Pieces;
use crate::grid::params::Params;
use crate::grid::question::{Asked, ColumnOf, Question};
use crate::grid::row::Answer;

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

    fn answer(&self, asked: &Asked<'_>, _: &Params) -> Result<Vec<Answer>, Error> {
        let topology = &asked.loaded.topology;
        let fabric = &topology.fabric;
        match (&asked.tables, &asked.scenario.routes.engine) {
            (Ok(tables), _) => {
                tables.expect_tables("routes")?;
                let report = check(fabric, &tables.routes);
                let n = fabric.terminal_count() as u64;
                let pairs = n * n.saturating_sub(1);
                let reached: u64 = report.hops.iter().sum();
                let hops: u64 = report.hops.iter().enumerate().map(|(h, n)| h as u64 * n).sum();
                let hops = if reached > 0 { hops as f64 / reached as f64 } else { 0.0 };
                Ok(vec![
                    Answer::default()
                        .with("efi_max", Efi::of(&report.load).max)
                        .with("hops_mean", hops)
                        .with("layers", report.layers.len())
                        .with("deadlock_free", report.deadlock_free())
                        .with("pairs", pairs)
                        .with("lost", pairs - reached)
                        .with("dark_percent", dark_fiber_percent(&report.load)),
                ])
            }
            // An engine refuses a fabric in pieces; an operator would run a subnet manager in each.
            (Err(e), Some(chain)) => {
                let pieces = Pieces::of(topology.clone());
                if pieces.count() <= 1 {
                    return Err(e.clone());
                }
                let mut open = Case::of(topology.clone());
                open.scenario.routes = asked.scenario.routes.clone();
                open.seed = asked.scenario.seed.unwrap_or(1);
                let m = pieces
                    .route(&chain.engines, &open.request(), &|| 0.0)
                    .map_err(Error::infeasible)?;
                Ok(vec![
                    Answer::default()
                        .with("efi_max", m.efi_max)
                        .with("hops_mean", m.hops_mean)
                        .with("layers", m.layers)
                        .with("deadlock_free", m.deadlock_free)
                        .with("pairs", m.pairs)
                        .with("lost", m.lost),
                ])
            }
            (Err(e), None) => Err(e.clone()),
        }
    }
}
