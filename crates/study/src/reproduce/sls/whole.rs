//! Figure 11: applications on all of Shandy.

use darkfiber_packetsim::Congestion;

use super::PAPER;
use super::gpcnet::{MS, System, Trial, most, table};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, USUAL};

const VICTIMS: [&str; 5] = ["lammps", "milc", "hpcg", "fft", "resnet:part=100kB"];
const SPLITS: [(u32, u32); 3] = [(768, 256), (512, 512), (256, 768)];

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F11",
    title: "Applications beside an incast on all 1,024 nodes of Shandy, random allocation (figure 11)",
    paper: PAPER,
    setup: "`@shandy`, one adapter of each node, as in SLS-F9; incasts of 256, 512 and 768 nodes; 10 runs of each application, or 20 ms. Decision: \
     the same without congestion control, which the paper has not, is shown beside it, not judged.",
    class: Class::Shape,
    seconds: 300.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let system = System::slingshot("Shandy", "@shandy");
    let without = System::slingshot("Shandy", "@shandy").with("none", Congestion::None);
    let (mut rows, mut tables) = (Vec::new(), Vec::new());
    for (system, title) in [(&system, "with control"), (&without, "without control")] {
        let trial = Trial {
            hosts: system.nodes(1024, context),
            splits: &SPLITS,
            allocations: &["random"],
            victims: &VICTIMS,
            aggressors: &["incast".to_owned()],
            per_node: 1,
            iterations: 200,
            limit: 20 * MS,
        };
        let found = trial.run(system, context);
        let largest = most(found.iter()).0;
        let quantity = format!("largest C, {title}");
        if title == "with control" {
            rows.push(Row::impact(quantity, 3.55, largest, Allowed::AtMost(5.0)));
            let lammps = found.iter().find(|c| c.victim == 0 && c.split == 2);
            if let Some(c) = lammps.and_then(|c| c.impact) {
                let quantity = "C of LAMMPS beside an incast of 75 % of the nodes";
                rows.push(Row::impact(quantity, 3.55, c.times, Allowed::AtMost(5.0)));
            }
            let refused = found.iter().filter(|c| c.split == 0 && c.ran.is_none()).count();
            rows.push(
                Row::new(
                    "applications that cannot have 768 nodes",
                    2.0,
                    refused as f64,
                    Allowed::Rule,
                )
                .noted("MILC and HPCG; HPCG's skeleton can have any number of nodes"),
            );
        } else {
            rows.push(Row::told(quantity, largest));
        }
        let columns = SPLITS.iter().map(|(v, a)| format!("{v}/{a}")).collect();
        tables.push(table(title.to_owned(), &VICTIMS, columns, &found, |c| Some(c.split)));
    }
    (context.draw)(Figure {
        name: "whole",
        title: "Applications beside an incast on 1,024 nodes".to_owned(),
        subtitle: "C = time beside the incast / time alone; nodes of application / incast; -: cannot be, or not within 20 ms alone".to_owned(),
        what: Drawn::Impacts(tables),
    });
    rows
}
