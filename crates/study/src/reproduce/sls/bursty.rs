//! Figure 12: incasts in bursts.

use super::PAPER;
use super::gpcnet::{Cell, MS, System, Trial, most};
use super::impacts::SEEDS;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, Table, USUAL};

const SIZES: [&str; 7] = ["8B", "1KiB", "8KiB", "32KiB", "128KiB", "512KiB", "4MiB"];
const BURSTS: [u32; 4] = [1, 10, 1000, 1_000_000];
const GAPS: [&str; 3] = ["1us", "100us", "1ms"];

/// By seed the largest impact of medium sizes by that of the smallest and the largest: of long bursts with the shortest gap, since
/// larger bursts and smaller gaps are worse, as the paper says.
fn peak(system: &System, context: &Context<'_>) -> Row {
    let aggressors: Vec<String> = SIZES
        .iter()
        .flat_map(|size| {
            BURSTS[2..]
                .iter()
                .map(move |b| format!("bursts:bytes={size},burst={b},gap={}", GAPS[0]))
        })
        .collect();
    let each = aggressors.len() / SIZES.len();
    let by_seed: Vec<f64> = (0..SEEDS)
        .map(|i| {
            let context = Context { seed: context.seed + i, ..*context };
            let found = trial(system, &aggressors, &context).run(system, &context);
            let is_end = |c: &&Cell| [0, SIZES.len() - 1].contains(&(c.aggressor / each));
            let ends = most(found.iter().filter(is_end)).0;
            most(found.iter().filter(|c| !is_end(c))).0 / ends
        })
        .collect();
    Row::order("largest C of medium sizes by that of the smallest and the largest", &by_seed).noted(
        "none for the smallest and the largest; five seeds, bursts of 1,000 and more, gaps of 1 us",
    )
}

/// Half of Malbec for the victim, half for these aggressors.
fn trial<'a>(system: &System, aggressors: &'a [String], context: &Context<'_>) -> Trial<'a> {
    Trial {
        hosts: system.nodes(484, context),
        splits: &[(242, 242)],
        allocations: &["interleaved"],
        victims: &["alltoall:128B"],
        aggressors,
        per_node: 1,
        iterations: 100,
        limit: 20 * MS,
    }
}

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F12",
    title: "Incasts in bursts beside an Alltoall of 128 B (figure 12)",
    paper: PAPER,
    setup: "`@malbec`, 242 nodes each, interleaved; the rest as in SLS-F9. Sizes, bursts and gaps are ours where the figure's labels are \
     lost: 8 B to 4 MiB, 1 to 10^6 messages, 1 us to 1 ms. 100 iterations. That medium sizes are worst is judged by five seeds.",
    class: Class::Shape,
    seconds: 200.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let system = System::slingshot("Malbec", "@malbec");
    let mut aggressors = Vec::new();
    for size in SIZES {
        for burst in BURSTS {
            aggressors
                .extend(GAPS.map(|gap| format!("bursts:bytes={size},burst={burst},gap={gap}")));
        }
    }
    let found = trial(&system, &aggressors, context).run(&system, context);
    let each = BURSTS.len() * GAPS.len();
    let of = |size: usize| found.iter().filter(move |c: &&Cell| c.aggressor / each == size);
    let mut rows = Vec::new();
    let by_size: Vec<f64> = (0..SIZES.len()).map(|s| most(of(s)).0).collect();
    for (size, c) in SIZES.iter().zip(&by_size) {
        rows.push(Row::told(format!("largest C, messages of {size}"), *c));
    }
    let inside = by_size[1..SIZES.len() - 1].iter().copied().fold(0.0, f64::max);
    let ends = by_size[0].max(by_size[SIZES.len() - 1]);
    rows.push(Row::impact("largest C", 1.21, inside.max(ends), Allowed::AtMost(1.5)));
    rows.push(peak(&system, context));
    let lasting = |c: &&Cell| (c.aggressor % each) / GAPS.len() == BURSTS.len() - 1;
    let endless = found.iter().filter(lasting);
    rows.push(
        Row::expected("largest C, bursts of a million", most(endless).0, Allowed::AtMost(1.5))
            .noted("as incast that lasts"),
    );
    let tables = SIZES.iter().enumerate().map(|(s, size)| {
        let cells: Vec<Option<f64>> = of(s).map(|c| c.impact.map(|i| i.times)).collect();
        Table {
            title: format!("messages of {size}"),
            rows: BURSTS.iter().map(|b| format!("{b} in a burst")).collect(),
            columns: GAPS.iter().map(|g| (*g).to_owned()).collect(),
            texts: cells.iter().map(|c| c.map_or("-".to_owned(), |c| format!("{c:.3}"))).collect(),
            cells,
        }
    });
    (context.draw)(Figure {
        name: "bursts",
        title: "Alltoall of 128 B beside incasts in bursts".to_owned(),
        subtitle: "C = time beside the incast / time alone; by messages in a burst and gaps between bursts".to_owned(),
        what: Drawn::Impacts(tables.collect()),
    });
    rows
}
