//! Figure 10: eight jobs, eight placements.

use super::PAPER;
use super::contest::with_model;
use super::lab::BENCHMARKS;
use super::records::{jobs, number};
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};

const STUDY: Paper = paper!("afar-f10");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-F10",
    title: "Eight jobs in eight placements on Cab before and after (figure 10)",
    paper: PAPER,
    setup: with_model!(
        "Two jobs of each benchmark on 144 nodes each; the paper's policy (first) down to 65 GB. Judged: entries, that the \
         worst job of a placement loses half as much, and who gains. "
    ),
    class: Class::Shape,
    seconds: 90.0,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = STUDY.records(context);
    let group = |name: &&str| {
        let of = |column: &str| -> Vec<f64> {
            let all = records.iter().flat_map(jobs);
            let mine = all.filter(|job| job.of.rsplit_once(' ').is_some_and(|(n, _)| n == *name));
            mine.map(|job| number(job, column)).collect()
        };
        Group {
            name: (*name).to_owned(),
            boxes: vec![
                ("ftree".to_owned(), of("longer_before")),
                ("AFAR".to_owned(), of("longer_after")),
            ],
        }
    };
    (context.draw)(Figure {
        name: "eight-jobs",
        title: "Eight jobs on Cab, eight placements: run time over that in isolation".to_owned(),
        subtitle: "before and after few changed entries".to_owned(),
        what: Drawn::Boxes { unit: "% longer", groups: BENCHMARKS.iter().map(group).collect() },
    });
    study.judged(&records)
}
