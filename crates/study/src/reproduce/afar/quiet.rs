//! Figure 9, third placement: nothing is hot, nothing changes.

use darkfiber_routing::reroute::Policy;

use super::PAPER;
use super::lab::{GB, Lab, SIXTEEN};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};
use darkfiber_scenario::{demanded, sent};

/// Placements that are tried to find one without hot channels.
const MOST: u64 = 200;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-F9/3",
    title: "A placement without hot channels keeps its tables (section V-D)",
    paper: PAPER,
    setup: "The first of 200 placements of sixteen jobs on Cab whose fullest channel carries at most 61.5 GB.",
    class: Class::Exact,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    for i in 0..MOST {
        (context.at)(&format!("placement {}", i + 1));
        let jobs = lab.workload(16, context.seed + i);
        let most = lab.loads(&jobs).into_iter().max().unwrap_or(0) as f64;
        if most > SIXTEEN {
            continue;
        }
        let demands = demanded(&sent(&jobs));
        let changed = |policy| lab.relieved(&demands, SIXTEEN, policy).0.changes.len() as f64;
        return vec![
            Row::told("fullest channel, GB", most / GB).noted(format!("placement {}", i + 1)),
            Row::derived("entries changed, first", 0.0, changed(Policy::First), Allowed::Nothing),
            Row::derived("entries changed, best", 0.0, changed(Policy::Best), Allowed::Nothing),
        ];
    }
    vec![Row::holds("there is a placement without hot channels", false)]
}
