//! Section 3.2.2: sar costs no more than dfsssp.

use darkfiber_routing::{Request, find_engine};

use super::Site;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

/// Runs of each, of which the fastest counts.
const RUNS: usize = 5;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SAR-CPLX",
    title: "Run time of sar against dfsssp",
    paper: "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, section 3.2",
    setup: "@taurus and @tsubame25 with the jobs of one moment, as in SAR-F1; fastest of five runs of each, in turn. The \
     paper: the same complexity, and a negligible overhead. sar-best is reported beside it.",
    class: Class::Exact,
    is_timed: true,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for preset in ["@taurus", "@tsubame25"] {
        let site = Site::new(preset, context);
        let mut walk = site.history.walk();
        walk.to(site.from);
        let jobs: Vec<_> =
            walk.running().map(|(p, _)| site.history.places()[p as usize].to_vec()).collect();
        let fabric = site.case.fabric();
        let request = Request {
            shape: site.case.topology().shape.as_ref(),
            jobs: &jobs,
            ..Request::default()
        };
        let names = ["dfsssp", "sar", "sar-best"];
        let mut least = [f64::INFINITY; 3];
        for _ in 0..RUNS {
            for (name, least) in names.iter().zip(&mut least) {
                let engine = find_engine(name).expect("registered");
                let start = (context.clock)();
                engine.route(fabric, &request).expect("any engine routes it");
                *least = least.min((context.clock)() - start);
            }
        }
        let ratio = |e: usize| least[e] / least[0];
        rows.push(Row::expected(
            format!("{preset}: sar over dfsssp"),
            ratio(1),
            Allowed::AtMost(1.2),
        ));
        rows.push(
            Row::told(format!("{preset}: sar-best over dfsssp"), ratio(2))
                .noted("not in the paper"),
        );
    }
    rows
}
