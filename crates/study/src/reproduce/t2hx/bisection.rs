//! Figure 5c: effective bisection bandwidth.

use super::PAPER;
use super::records::{CALLED, of_combination, times};
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

const STUDY: Paper = paper!("t2hx-f5c");
const NODES: [&str; 7] = ["14", "28", "56", "112", "224", "448", "672"];
const MIB: f64 = 1_048_576.0;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-F5c",
    title: "Effective bisection bandwidth (figure 5c)",
    paper: PAPER,
    setup: "Random bisections of a job's nodes, 1 MiB to and from each partner at once; 1,000 bisections up to 112 nodes, \
     200 above. Mean bandwidth of a message. Values of the figure are lost; the text gives PARX as 1.9 times DFSSSP \
     at 14 nodes, behind the others at full size, and random placement as the best.",
    class: Class::Shape,
    seconds: 120.0,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = STUDY.records(context);
    let group = |nodes: &&str| Group {
        name: (*nodes).to_owned(),
        boxes: (0..5)
            .map(|c| {
                let mut of = of_combination(c).to_vec();
                of.push(("job.1.nodes", nodes));
                let all = times(&records, &of, "message_bandwidth");
                (CALLED[c].to_owned(), all.into_iter().map(|x| x / MIB).collect())
            })
            .collect(),
    };
    (context.draw)(Figure {
        name: "ebb",
        title: "Effective bisection bandwidth".to_owned(),
        subtitle: "mean bandwidth of 1 MiB messages in random bisections, by nodes".to_owned(),
        what: Drawn::Boxes { unit: "MiB/s", groups: NODES.iter().map(group).collect() },
    });
    study.judged(&records)
}
