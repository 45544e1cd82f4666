//! Table III: production applications before and after.

use darkfiber_routing::reroute::Policy;
use rayon::prelude::*;

use super::PAPER;
use super::contest::{Contest, Fared};
use super::lab::{GB, Lab};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};
use darkfiber_scenario::{LidsPart, demanded};

/// Applications: jobs, nodes of each, and the mean of what is printed, before and after.
const APPLICATIONS: [(&str, u32, u32, f64, f64); 3] = [
    ("qbox", 3, 144, 1.11, 1.027),
    // MILC needs a power of two of ranks.
    ("milc", 3, 128, 1.037, 1.03),
    ("pf3d", 2, 144, 1.03, 1.03),
];
/// Placements, as in the paper: of seeds that follow each other.
const PLACEMENTS: u64 = 3;
/// The load that is left.
const LEFT: f64 = 0.6;

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-T3",
    title: "Production applications on Cab before and after (table III)",
    paper: PAPER,
    setup: "Three Qbox, three MILC and two pF3D jobs of 144 nodes (MILC 128), skeletons with 20 % communication whose messages \
     are ours, not the paper's; of three placements, by seeds that follow each other, the one whose worst job loses \
     most, and the paper's policy until 40 % of that is gone. Run time over that by itself with ftree, means over the jobs. Cables as in AFAR-F4. \
     Judged: Qbox does not lose, MILC and pF3D stay within 2 %.",
    class: Class::Substitute,
    seconds: 300.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let specs: Vec<(&'static str, String, u32)> = APPLICATIONS
        .iter()
        .flat_map(|&(name, jobs, nodes, ..)| {
            (0..jobs).map(move |_| (name, format!("{name}:messages=100000"), nodes))
        })
        .collect();
    // As in AFAR-F9: the one in which jobs lose most.
    let tried = (0..PLACEMENTS).into_par_iter().map(|i| {
        (context.at)(&format!("placement {}", i + 1));
        let seed = context.seed + i;
        let contest = Contest::of(&lab, &specs, seed);
        let alone = contest.alone(&lab, lab.routes(), LidsPart::Engine, seed);
        let old = contest.together(&lab, lab.routes(), LidsPart::Engine, seed);
        let worst = alone.iter().zip(&old).map(|(a, b)| b.seconds / a).fold(0.0, f64::max);
        (worst, i, contest, alone, old)
    });
    let tried: Vec<_> = tried.collect();
    let worst_of_all = tried.into_iter().max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let (_, i, contest, alone, old) = worst_of_all.expect("there are three");
    let before = contest.fullest(&lab) as f64;
    let demands = demanded(&contest.flows);
    let (relief, tables) = lab.relieved(&demands, LEFT * before, Policy::First);
    (context.at)("with changed entries");
    let new = contest.together(&lab, &tables, LidsPart::Engine, context.seed + i);
    let mean = |fared: &[Fared], name: &str| {
        let of = (0..alone.len()).filter(|&j| contest.names[j] == name);
        let times: Vec<f64> = of.map(|j| fared[j].seconds / alone[j]).collect();
        times.iter().sum::<f64>() / times.len() as f64
    };
    let mut rows = vec![
        Row::told("fullest channel before, GB", before / GB),
        Row::expected(
            "fullest channel then, % of that",
            100.0 * relief.after / before,
            Allowed::AtMost(60.0),
        ),
        Row::told("entries changed", relief.changes.len() as f64),
    ];
    for (name, _, _, printed, then) in APPLICATIONS {
        let (a, b) = (mean(&old, name), mean(&new, name));
        rows.push(
            Row::told(format!("{name}: before"), a)
                .noted(format!("the mean of what is printed is {printed}")),
        );
        rows.push(
            Row::told(format!("{name}: then"), b)
                .noted(format!("the mean of what is printed is {then}")),
        );
        let what = format!("{name}: then over before");
        rows.push(if name == "qbox" {
            Row::derived(what, then / printed, b / a, Allowed::AtMost(1.0))
        } else {
            Row::expected(what, b / a, Allowed::Between(0.98, 1.02))
        });
    }
    rows
}
