//! Figure 10: eight jobs, eight placements.

use darkfiber_routing::reroute::Policy;
use rayon::prelude::*;

use super::PAPER;
use super::contest::{Contest, longer, median, most, with_model};
use super::lab::{BENCHMARKS, EIGHT, Lab};
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Group, Row, USUAL};
use darkfiber_scenario::{LidsPart, demanded};

/// Placements, as in the paper.
const PLACEMENTS: u64 = 8;

/// A job: its benchmark, and its time in isolation, before and after.
struct Seen {
    name: &'static str,
    alone: f64,
    before: f64,
    after: f64,
}

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
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let placements: Vec<u64> = (0..PLACEMENTS).collect();
    let found: Vec<(usize, Vec<Seen>)> = placements
        .into_par_iter()
        .with_max_len(1)
        .map(|i| {
            (context.at)(&format!("placement {}", i + 1));
            let seed = context.seed + i;
            let contest = Contest::new(&lab, 8, seed);
            let demands = demanded(&contest.flows);
            let (relief, tables) = lab.relieved(&demands, EIGHT, Policy::First);
            let run = |tables| contest.together(&lab, tables, LidsPart::Engine, seed);
            let alone = contest.alone(&lab, lab.routes(), LidsPart::Engine, seed);
            let (before, after) = (run(lab.routes()), run(&tables));
            let seen = (0..alone.len()).map(|j| Seen {
                name: contest.names[j],
                alone: alone[j],
                before: before[j].seconds,
                after: after[j].seconds,
            });
            (relief.changes.len(), seen.collect())
        })
        .collect();
    let all = || found.iter().flat_map(|f| &f.1);
    let gain = |s: &Seen| -longer(s.after, s.before);
    let median_of = |name: &str| median(all().filter(|s| s.name == name).map(gain));
    (context.draw)(Figure {
        name: "eight-jobs",
        title: "Eight jobs on Cab, eight placements: run time over that in isolation".to_owned(),
        subtitle: "before and after few changed entries".to_owned(),
        what: Drawn::Boxes {
            unit: "% longer",
            groups: BENCHMARKS
                .iter()
                .map(|name| {
                    let of = |time: fn(&Seen) -> f64| {
                        let of = all().filter(|s| s.name == *name);
                        of.map(|s| longer(time(s), s.alone)).collect::<Vec<f64>>()
                    };
                    Group {
                        name: (*name).to_owned(),
                        boxes: vec![
                            ("ftree".to_owned(), of(|s| s.before)),
                            ("AFAR".to_owned(), of(|s| s.after)),
                        ],
                    }
                })
                .collect(),
        },
    });
    // By placement, what the worst job loses.
    let worst = |time: fn(&Seen) -> f64| -> Vec<f64> {
        let of = |f: &(usize, Vec<Seen>)| most(f.1.iter().map(|s| longer(time(s), s.alone)));
        found.iter().map(of).collect()
    };
    let (before, after) = (worst(|s| s.before), worst(|s| s.after));
    let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let entries = found.iter().map(|f| f.0).max().unwrap_or(0) as f64;
    let others = median_of("pairs").max(median_of("fft-proxy"));
    vec![
        Row::new("most entries of a placement", 10.0, entries, Allowed::AtMost(12.0)),
        Row::new("worst job before, least, % longer", 50.0, least(&before), Allowed::Rule),
        Row::new("worst job before, most, % longer", 70.0, most(before.clone()), Allowed::Rule),
        Row::new("worst job then, least, % longer", 18.0, least(&after), Allowed::Rule),
        Row::new("worst job then, most, % longer", 27.0, most(after.clone()), Allowed::Rule),
        Row::derived(
            "worst job, then over before, means",
            22.5 / 60.0,
            mean(&after) / mean(&before),
            Allowed::AtMost(0.5),
        )
        .noted("50 to 70 % before and 18 to 27 % then are printed"),
        Row::new("largest gain, %", 29.1, most(all().map(gain)), Allowed::Rule),
        Row::new("largest loss, %", 3.2, most(all().map(|s| -gain(s))), Allowed::Rule),
        Row::new("median gain of all, %", 4.7, median(all().map(gain)), Allowed::Rule),
        Row::new("median gain of bis, %", 25.0, median_of("bis"), Allowed::Rule),
        Row::new("median gain of nn, %", 13.0, median_of("nn"), Allowed::Rule),
        Row::derived(
            "median gain, bis less nn, points",
            25.0 - 13.0,
            median_of("bis") - median_of("nn"),
            Allowed::AtLeast(0.0),
        ),
        Row::expected(
            "median gain, nn less the more of the others, points",
            median_of("nn") - others,
            Allowed::AtLeast(0.0),
        )
        .noted("medians of the others are not printed"),
    ]
}
