//! Section V-C: how many entries change, and how long that takes.

use darkfiber_routing::reroute::Policy;

use super::PAPER;
use super::lab::{EIGHT, GB, Lab, SIXTEEN};
use crate::replay::BLOCK_SECONDS;
use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};
use darkfiber_scenario::{demanded, sent};

/// Placements of 16 and of 8 jobs.
const PLACEMENTS: [u64; 2] = [6, 8];

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "AFAR-UPD",
    title: "Entries that are changed on Cab, and how long that takes (sections V-C, V-D)",
    paper: PAPER,
    setup: "Six placements of sixteen jobs down to 61.5 GB, eight of eight jobs down to 65 GB, with the paper's policy \
     (first) and ours (best). Placements without hot channels need no entry. Blocks take 4.6 us each; 3 to 6 ms \
     were measured. Seconds are those from loaded tables to new ones, the slowest placement's.",
    class: Class::Exact,
    is_timed: true,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let lab = Lab::new();
    let mut rows = Vec::new();
    for ((jobs, most, allowed), placements) in
        [(16, SIXTEEN, 20.0), (8, EIGHT, 12.0)].into_iter().zip(PLACEMENTS)
    {
        for (name, policy) in [("first", Policy::First), ("best", Policy::Best)] {
            let (mut entries, mut slowest, mut fullest) = (0usize, 0.0f64, 0.0f64);
            for i in 0..placements {
                (context.at)(&format!("{jobs} jobs, {name}, placement {}", i + 1));
                let sent = demanded(&sent(&lab.workload(jobs, context.seed + i)));
                let begin = (context.clock)();
                let (relief, _) = lab.relieved(&sent, most, policy);
                slowest = slowest.max((context.clock)() - begin);
                entries = entries.max(relief.changes.len());
                fullest = fullest.max(relief.after);
            }
            let what = format!("{jobs} jobs, {name}");
            let entries = entries as f64;
            let quantity = format!("{what}: most entries of a placement");
            rows.push(match (name, jobs) {
                ("first", 16) => {
                    Row::range(quantity, [10.0, 20.0], entries, Allowed::AtMost(allowed))
                }
                ("first", _) => Row::new(quantity, 10.0, entries, Allowed::AtMost(allowed))
                    .noted("10 or less is printed"),
                _ => Row::expected(quantity, entries, Allowed::AtMost(allowed))
                    .noted("not the paper's policy"),
            });
            rows.push(Row::expected(
                format!("{what}: fullest channel then, GB"),
                fullest / GB,
                Allowed::AtMost(most / GB),
            ));
            let sent = entries * BLOCK_SECONDS * 1e3;
            let quantity = format!("{what}: to send them one by one, ms");
            let printed = if jobs == 16 { 20 } else { 10 };
            rows.push(if name == "first" {
                let theirs = f64::from(printed) * BLOCK_SECONDS * 1e3;
                Row::derived(quantity, theirs, sent, Allowed::Rule)
                    .noted(format!("{printed} entries of 4.6 us; printed as under 1 ms"))
            } else {
                Row::expected(quantity, sent, Allowed::AtMost(1.0)).noted("not the paper's policy")
            });
            rows.push(
                Row::expected(format!("{what}: to find them, s"), slowest, Allowed::AtMost(0.1))
                    .noted("a few seconds are printed, in Python; a tenth of one is required"),
            );
        }
    }
    rows
}
