//! Table III: production applications before and after.

use darkfiber_routing::reroute::Policy;

use super::PAPER;
use super::contest::{Contest, Fared};
use super::lab::{GB, Lab};
use crate::reproduce::{Allowed, Class, Context, Experiment, Row};
use crate::simulate::{LidsPart, demanded};

/// See [`Experiment::title`].
pub(crate) struct Production;

/// Applications: jobs, nodes of each, and the mean of what is printed, before and after.
const APPLICATIONS: [(&str, u32, u32, f64, f64); 3] = [
    ("qbox", 3, 144, 1.11, 1.027),
    // MILC needs a power of two of ranks.
    ("milc", 3, 128, 1.037, 1.03),
    ("pf3d", 2, 144, 1.03, 1.03),
];
/// Placements to choose from.
const PLACEMENTS: u64 = 10;
/// The load that is left.
const LEFT: f64 = 0.6;

impl Experiment for Production {
    fn id(&self) -> &'static str {
        "AFAR-T3"
    }

    fn title(&self) -> &'static str {
        "Production applications on Cab before and after (table III)"
    }

    fn paper(&self) -> &'static str {
        PAPER
    }

    fn setup(&self) -> &'static str {
        "Three Qbox, three MILC and two pF3D jobs of 144 nodes (MILC 128), skeletons with 20 % communication whose messages \
         are ours, not the paper's; the one of ten placements whose fullest channel carries most, and the paper's policy \
         until 40 % of that is gone. Run time over that by itself with ftree, means over the jobs. Cables as in AFAR-F4. \
         Judged: Qbox does not lose, MILC and pF3D stay within 2 %."
    }

    fn class(&self) -> Class {
        Class::Substitute
    }

    fn run(&self, context: &Context<'_>) -> Vec<Row> {
        let lab = Lab::new();
        let specs: Vec<(&'static str, String, u32)> = APPLICATIONS
            .iter()
            .flat_map(|&(name, jobs, nodes, ..)| {
                (0..jobs).map(move |_| (name, format!("{name}:messages=100000"), nodes))
            })
            .collect();
        let fullest = |contest: &Contest| contest.fullest(&lab) as f64;
        (context.at)("placements");
        let contests = (0..PLACEMENTS).map(|i| Contest::of(&lab, &specs, context.seed + i));
        let contest =
            contests.max_by(|a, b| fullest(a).total_cmp(&fullest(b))).expect("there are ten");
        let before = fullest(&contest);
        let demands = demanded(&contest.flows);
        let (relief, tables) = lab.relieved(&demands, LEFT * before, Policy::First);
        let seed = context.seed;
        (context.at)("by themselves");
        let alone = contest.alone(&lab, lab.routes(), LidsPart::Engine, seed);
        (context.at)("all at once");
        let run = |tables| contest.together(&lab, tables, LidsPart::Engine, seed);
        let (old, new) = rayon::join(|| run(lab.routes()), || run(&tables));
        let mean = |fared: &[Fared], name: &str| {
            let of = (0..alone.len()).filter(|&j| contest.names[j] == name);
            let times: Vec<f64> = of.map(|j| fared[j].seconds / alone[j]).collect();
            times.iter().sum::<f64>() / times.len() as f64
        };
        let mut rows = vec![
            Row::ours("fullest channel before, GB", before / GB),
            Row::new(
                "fullest channel then, % of that",
                60.0,
                100.0 * relief.after / before,
                Allowed::AtMost(60.0),
            ),
            Row::ours("entries changed", relief.changes.len() as f64),
        ];
        for (name, _, _, printed, then) in APPLICATIONS {
            let (a, b) = (mean(&old, name), mean(&new, name));
            rows.push(Row::new(format!("{name}: before"), printed, a, Allowed::Anything));
            rows.push(Row::new(format!("{name}: then"), then, b, Allowed::Anything));
            let allowed =
                if name == "qbox" { Allowed::AtMost(1.0) } else { Allowed::Between(0.98, 1.02) };
            rows.push(Row::new(
                format!("{name}: then over before"),
                then / printed,
                b / a,
                allowed,
            ));
        }
        rows
    }
}
