//! Figure 14: the shares of traffic classes in a bisection.

use super::PAPER;
use super::records::{number, word};
use crate::grid::{Record, Value};
use crate::reproduce::paper::{Paper, paper};
use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Row, USUAL};

const STUDY: Paper = paper!("sls-f14");

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F14",
    title: "Two bisection tests in one traffic class and in two (figure 14)",
    paper: PAPER,
    setup: "Malbec with a quarter of its cables between groups (`taper=25`), routing `slingshot`, two jobs of 64 interleaved nodes with \
     16 ranks each, each of which exchanges 64 KiB with one of the other half again and again; the second begins after 0.9 ms. \
     TC1 is owed 80 %, TC2 10 %. Told beside it: shortest ways, and one cable between any two groups (25 % of what half of \
     the nodes of a job inject), where the cut is what both wait for. \
     Shares are of what both receive together, from 1 ms after the second begins until three quarters of the time until the \
     first ends are over.",
    class: Class::Shape,
    seconds: 60.0,
    papers: &[STUDY],
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let (study, records) = STUDY.records(context);
    for (class, figure, name) in
        [("TC1", "one-class", "one class"), ("TC2", "two-classes", "TC1 and TC2")]
    {
        let has = |record: &&Record, wanted: &str| {
            record.set.iter().any(|(_, value)| *value == Value::Text(wanted.to_owned()))
        };
        let is = |record: &&Record| {
            [class, "@malbec:taper=25", "slingshot"].iter().all(|wanted| has(record, wanted))
        };
        let Some(record) = records.iter().find(is) else { continue };
        let line = |job: &str| {
            let of = record.answers.iter().filter(|answer| word(answer, "job") == job);
            let points =
                of.filter_map(|a| Some((1e3 * number(a, "time")?, number(a, "received_percent")?)));
            (format!("{job} job"), points.collect())
        };
        (context.draw)(Figure {
            name: figure,
            title: format!("Two bisection tests, {name}"),
            subtitle: "of what both receive together beside each other".to_owned(),
            what: Drawn::Lines {
                x: "time, ms",
                y: "share, %",
                lines: ["first", "second"].map(line).to_vec(),
            },
        });
    }
    study.judged(&records)
}
