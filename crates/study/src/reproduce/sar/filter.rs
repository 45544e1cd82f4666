//! Section 4.3.1: how long the filter takes.

use darkfiber_workload::{Mapping, Stream};

use crate::reproduce::{Allowed, Class, Context, Experiment, Row, USUAL};

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SAR-FILT",
    title: "Run time of the filter",
    paper: "Domke, Hoefler: Scheduling-Aware Routing for Supercomputers, SC'16, section 4.3.1",
    setup: "10,000 nodes on 500 switches, 2,000 jobs of random nodes; which are on several switches, and is it the same \
     as before? The paper's times (0.02 s at least, 16 s in the mean) are mostly those of SLURM's answer, which \
     is not among ours. All of `darkfiber jobs filter` is measured in docs/benchmarks.md.",
    class: Class::Substitute,
    is_timed: true,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let mut nodes: Vec<String> = (0..10_000).map(|i| format!("n{i:05}")).collect();
    Stream::new(context.seed, 0).shuffle(&mut nodes);
    let switch = |node: &str| vec![node[1..].parse::<u32>().map_or(0, |n| n / 20)];
    let make = || {
        let mut mapping = Mapping::default();
        for job in nodes.chunks(5) {
            mapping.add(job, switch);
        }
        mapping
    };
    let old = make();
    let start = (context.clock)();
    let same = old.is_like(&make());
    let seconds = (context.clock)() - start;
    vec![
        Row::new("seconds", 0.02, seconds, Allowed::AtMost(1.0))
            .noted("printed is the least, with SLURM's answer; ours has no SLURM to ask"),
        Row::holds("the same jobs are no change", same),
    ]
}
