//! Figure 9: congestion impacts on 512 nodes; and what figure 10 has in common with it.

use super::PAPER;
use super::gpcnet::{Cell, MS, SPLITS, System, Trial, most, table};
use crate::congest::Hosts;
use crate::reproduce::{Allowed, Class, Context, Drawn, Experiment, Figure, Row, USUAL};

/// Victims of incasts.
const VICTIMS: &[&str] = &[
    "allreduce:8B",
    "allreduce:32KiB",
    "alltoall:128B",
    "barrier",
    "bcast:8B",
    "halo3d",
    "sweep3d:cells=50x50x10",
    "lammps",
    "milc",
    "hpcg",
    "fft",
    "resnet:part=100kB",
];
/// Victims of all-to-alls, which load the whole machine and take the longest to simulate.
pub(super) const FEW: &[&str] = &["allreduce:8B", "alltoall:128B", "halo3d"];

/// Simulated time of a victim beside an incast at most: without control single iterations last milliseconds.
pub(super) const LIMIT: u64 = 20 * MS;

/// Seeds of what only an order is printed of.
pub(super) const SEEDS: u64 = 5;

/// What only an order is printed of: five seeds of a few victims beside incasts.
pub(super) struct Seeds(Vec<Vec<Cell>>);

impl Seeds {
    /// Simulated time of a victim at most.
    const LIMIT: u64 = 4 * MS;

    /// Incasts on 512 nodes of a system.
    pub(super) fn run(
        system: &System,
        context: &Context<'_>,
        allocations: &'static [&'static str],
    ) -> Self {
        Self::of(system, context, |context| Trial {
            allocations,
            ..incast(system.nodes(512, context), 0)
        })
    }

    /// What `trial` says for each seed, of a few victims and for a short time.
    pub(super) fn of(
        system: &System,
        context: &Context<'_>,
        trial: impl Fn(&Context<'_>) -> Trial<'static>,
    ) -> Self {
        let one = |i: u64| {
            let context = Context { seed: context.seed + i, ..*context };
            let trial = Trial { victims: FEW, limit: Self::LIMIT, ..trial(&context) };
            trial.run(system, &context)
        };
        Self((0..SEEDS).map(one).collect())
    }

    /// By seed the median impact of some cells.
    fn medians(&self, is_meant: impl Fn(&Cell) -> bool) -> impl Iterator<Item = f64> {
        self.0.iter().map(move |cells| most(cells.iter().filter(|c| is_meant(c))).1)
    }

    /// By seed the median impact of some cells by that of others.
    pub(super) fn order(
        &self,
        what: String,
        some: impl Fn(&Cell) -> bool,
        others: impl Fn(&Cell) -> bool,
    ) -> Row {
        let by_seed = self.medians(some).zip(self.medians(others)).map(|(a, b)| a / b);
        Row::order(what, &by_seed.collect::<Vec<f64>>())
    }

    /// By seed the median impact of all cells by that of another set-up.
    pub(super) fn order_over(&self, others: &Self, what: String) -> Row {
        let by_seed = self.medians(|_| true).zip(others.medians(|_| true)).map(|(a, b)| a / b);
        Row::order(what, &by_seed.collect::<Vec<f64>>())
    }
}

pub(super) fn incast(hosts: Hosts, limit: u64) -> Trial<'static> {
    static INCAST: std::sync::LazyLock<Vec<String>> =
        std::sync::LazyLock::new(|| vec!["incast".to_owned()]);
    Trial {
        hosts,
        splits: &SPLITS,
        allocations: &["linear"],
        victims: VICTIMS,
        aggressors: &INCAST,
        per_node: 1,
        iterations: 200,
        limit,
    }
}

/// Names of splits.
fn columns(splits: &[(u32, u32)]) -> Vec<String> {
    splits.iter().map(|(v, a)| format!("{v}/{a}")).collect()
}

pub(super) const SETUP: &str = "Crystal: switches `aries`, routing `aries`, no congestion control, packets of 512 B (64 B there), 512 of its 698 \
     nodes drawn at random, in their order. Shandy: `rosetta`, routing `slingshot`, congestion control `pairs`, its first four groups, one \
     adapter of each node. Aggressors begin 2 ms before victims. Decisions: iterations begin together, 200 of them (10 runs of \
     applications) or 10 ms, the paper's at least 4 s left out; algorithms of MPICH; sizes of applications as docs/congest.md has them.";

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "SLS-F9",
    title: "Congestion impacts on 512 nodes, linear allocation (figure 9)",
    paper: PAPER,
    setup: SETUP,
    class: Class::Shape,
    seconds: 500.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let systems = [System::crystal(), System::slingshot("Shandy", "@shandy")];
    let (mut rows, mut tables) = (Vec::new(), Vec::new());
    let printed = [(93.0, Allowed::AtLeast(10.0)), (1.3, Allowed::AtMost(2.0))];
    for (system, (paper, allowed)) in systems.iter().zip(printed) {
        let hosts = system.nodes(512, context);
        let found = incast(hosts.clone(), LIMIT).run(system, context);
        let all = Trial {
            victims: FEW,
            aggressors: &["alltoall".to_owned()],
            limit: 2 * MS,
            ..incast(hosts, 0)
        };
        let mild = all.run(system, context);
        let name = system.name;
        rows.push(Row::impact(
            format!("{name}: largest C beside incast"),
            paper,
            most(found.iter()).0,
            allowed,
        ));
        // The text has three cells of the figure.
        let cell = |victim: &str, split: usize| {
            let v = VICTIMS.iter().position(|x| *x == victim);
            let found = found.iter().find(|c| Some(c.victim) == v && c.split == split);
            found.and_then(|c| c.impact).map_or(f64::NAN, |i| i.times)
        };
        if name == "Crystal" {
            let of = |split: usize| most(found.iter().filter(|c| c.split == split)).1;
            for (split, share) in [10, 50, 90].into_iter().enumerate() {
                rows.push(Row::told(
                    format!("{name}: median C, {share} % of the nodes the incast's"),
                    of(split),
                ));
            }
            rows.push(Row::impact(
                format!("{name}: LAMMPS beside an incast of 50 %"),
                17.0,
                cell("lammps", 1),
                Allowed::Rule,
            ));
            let seeds = Seeds::run(system, context, &["linear"]);
            let by = |what: &str, big: usize, small: usize| {
                seeds.order(format!("{name}: {what}"), |c| c.split == big, |c| c.split == small)
            };
            rows.push(
                by("median C at 90 % by that at 10 %", 2, 0)
                    .noted("it grows; by how much is not printed in numbers"),
            );
            rows.push(
                by("median C at 50 % by that at 10 %", 1, 0)
                    .noted("with two groups a linear split in halves parts the jobs"),
            );
        }
        rows.push(Row::impact(
            format!("{name}: MILC beside an incast of 10 %"),
            if name == "Crystal" { 1.6 } else { 1.0 },
            cell("milc", 0),
            Allowed::Rule,
        ));
        rows.push(Row::impact(
            format!("{name}: largest C beside all-to-all"),
            1.0,
            most(mild.iter()).0,
            Allowed::Rule,
        ));
        let title = |of: &str| format!("{name}, {of}");
        let by_split = |c: &Cell| Some(c.split);
        tables.push(table(title("incast"), VICTIMS, columns(&SPLITS), &found, by_split));
        tables.push(table(title("all-to-all"), FEW, columns(&SPLITS), &mild, by_split));
    }
    (context.draw)(Figure {
        name: "impacts",
        title: "Congestion impacts on 512 nodes".to_owned(),
        subtitle: "C = time beside the aggressor / time alone; nodes of victim / aggressor"
            .to_owned(),
        what: Drawn::Impacts(tables),
    });
    rows
}
