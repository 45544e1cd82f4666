//! Table 1, and Figure 7 behind it.

use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Experiment, Row, USUAL};

const STUDY: Paper = paper!("sar-t1");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SAR-T1",
    title: "What sar gains over dfsssp, ftree and updn in a month (table 1, figure 7)",
    paper: "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, section 4.2, table 1",
    setup: "@taurus and @tsubame25 (fabrics like theirs, without faults), 30 days by 10 minutes, jobs as in SAR-F1. \
     Judged is the shape: on Tsubame2.5 sar gains in all twelve means, dark fiber by 5 to 15 points, links by 5 to \
     30 %; on Taurus its largest load is within 3 % of ftree's and updn's. The text prints 56.41 and 23.1 % where \
     the table has 57.3 and 23.3 %. `darkfiber replay` draws the figure.",
    class: Class::Substitute,
    seconds: 300.0,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let log = context.log.and_then(|log| log.path.as_ref());
    let log = log.map(|path| path.display().to_string());
    let log = log.as_deref().map(|path| ("log", path));
    let (study, records) = STUDY.records_with(context, log);
    study.judged(&records)
}
