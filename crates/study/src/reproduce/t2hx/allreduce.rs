//! Figure 5a: Baidu's ring Allreduce.

use super::PAPER;
use super::records::times;
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

const STUDY: Paper = paper!("t2hx-f5a");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "T2HX-F5a",
    title: "Baidu's ring Allreduce: ftree, SSSP and the HyperX (figure 5a)",
    paper: PAPER,
    setup: "64 MiB on all 672 nodes in linear order, each sending to the next. The paper's ftree had a `noteworthy problem` \
     that SSSP and the HyperX had not; it hangs on which 197 cables were missing, which is not known. Here 235 of \
     the 2,700 of the tree as described are drawn by ten seeds; that ftree is slower than SSSP in most is judged.",
    class: Class::Substitute,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = STUDY.records(context);
    let boxes = [("FT/ftree", "ftree"), ("FT/SSSP", "sssp"), ("HX/DFSSSP", "dfsssp")];
    let boxes = boxes.map(|(name, engine)| {
        (name.to_owned(), times(&records, &[("routes.engine", engine)], "run_mean"))
    });
    (context.draw)(Figure {
        name: "ring",
        title: "Ring Allreduce of 64 MiB on 672 nodes".to_owned(),
        subtitle: "ten draws of 235 missing cables of the Fat-Tree".to_owned(),
        what: Drawn::Boxes {
            unit: "seconds",
            groups: vec![Group { name: String::new(), boxes: boxes.to_vec() }],
        },
    });
    study.judged(&records)
}
