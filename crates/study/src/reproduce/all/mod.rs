//! The mechanisms of all five papers on one job mix, which none of them shows.

mod axes;
mod trial;

use rayon::prelude::*;

use axes::{CLAIMS, CONDITIONS, Claim, ClaimSubject, MIX, NETWORKS, NO_INCAST};
use trial::{MixResult, compare, mechanisms};

use crate::reproduce::{Class, Context, Drawn, Experiment, Figure, Row, Table, USUAL};

/// Number of placements drawn.
const SEEDS: u64 = 5;

/// Results of the mix: by network, condition and seed, all mechanisms that suit the network.
struct MixResults(Vec<Vec<Vec<Vec<MixResult>>>>);

impl MixResults {
    /// A mechanism by seed.
    fn of(&self, network: usize, condition: usize, mechanism: usize) -> Vec<&MixResult> {
        self.0[network][condition].iter().map(|seed| &seed[mechanism]).collect()
    }

    /// The mean over seeds of a measure of a mechanism.
    fn mean(&self, at: (usize, usize, usize), what: impl Fn(&MixResult) -> f64) -> f64 {
        let all = self.of(at.0, at.1, at.2);
        all.iter().map(|f| what(f)).sum::<f64>() / all.len() as f64
    }

    /// By seed how many times as long jobs run without a mechanism as with it, under a condition.
    fn claimed(&self, claim: &Claim, condition: usize) -> Vec<f64> {
        let all = mechanisms(&NETWORKS[claim.network]);
        let find = |name: &str| {
            let at = all.iter().position(|m| m.name == name).expect("a mechanism of the network");
            self.of(claim.network, condition, at)
        };
        let slowdown = |f: &MixResult| match claim.of {
            ClaimSubject::All => f.mean(),
            ClaimSubject::Job(job) => f.slowdowns[job],
        };
        let both = find(claim.without).into_iter().zip(find(claim.with));
        both.map(|(without, with)| slowdown(without) / slowdown(with)).collect()
    }
}

pub(in crate::reproduce) const EXPERIMENT: Experiment = Experiment {
    id: "ALL-VS",
    title: "The mechanisms of all five papers on one job mix: tree, HyperX and dragonfly",
    paper: "no paper: each compares its own mechanism with oblivious tables, on a network of its own",
    setup: "Six jobs on 240 hosts, a rank a node, all at once: bis, nn and pairs (AFAR) on 48 nodes each with messages of 1 MiB, 256 KiB and \
     1 MiB, Alltoall of 256 KiB on 40 (SAR, HX), Allreduce of 8 B on 32 and an incast of 24 (SLS). Networks of as many hosts: \
     T(16+16,15), an 8x6 HyperX with five hosts a switch, a dragonfly of eight groups of six switches; cables of 200 Gbit/s, switches \
     rosetta, hosts slingshot, packets of 4 KiB. The same hosts by number on each, at random or one job after the other, five draws; at random once more without the incast, for the reasons. \
     Baselines: ftree, dfsssp, dragonfly-min; times are over those in isolation with them. Engines know the jobs and what they send; \
     parx as it is on the HyperX, its balancing by demands (parx-minimal) elsewhere; afar until nothing helps; opt and dmodk on the \
     tree, which they are made for. slingshot: its routing of packets, and pairs its congestion control, with it and without. Lanes: as many as each \
     needs. Judged: six sentences of the papers, as orders.",
    class: Class::Substitute,
    seconds: 400.0,
    run: reproduce,
    ..USUAL
};

fn reproduce(context: &Context<'_>) -> Vec<Row> {
    let cases: Vec<(usize, usize, u64)> = (0..NETWORKS.len())
        .flat_map(|n| (0..CONDITIONS.len()).map(move |c| (n, c)))
        .flat_map(|(n, c)| (0..SEEDS).map(move |s| (n, c, s)))
        .collect();
    let fared: Vec<Vec<MixResult>> = cases
        .into_par_iter()
        .with_max_len(1)
        .map(|(n, c, s)| {
            let (network, condition) = (&NETWORKS[n], &CONDITIONS[c]);
            let draw = s + 1;
            (context.at)(&format!("{}, {}, draw {draw}", network.name, condition.name));
            compare(network, condition, context.seed + s)
        })
        .collect();
    let by_condition: Vec<Vec<Vec<MixResult>>> =
        fared.chunks(SEEDS as usize).map(<[Vec<MixResult>]>::to_vec).collect();
    let found = MixResults(by_condition.chunks(CONDITIONS.len()).map(<[_]>::to_vec).collect());
    draw(&found, context);
    rows(&found)
}

/// The reported numbers of each mechanism on each network, and the claims.
fn rows(found: &MixResults) -> Vec<Row> {
    let mut rows = Vec::new();
    for (n, network) in NETWORKS.iter().enumerate() {
        for (c, condition) in CONDITIONS.iter().enumerate() {
            for (m, mechanism) in mechanisms(network).iter().enumerate() {
                let mut add_row = |what: &str, ours: f64| {
                    let of = format!("{}, {}, {}", network.name, condition.name, mechanism.name);
                    rows.push(Row::told(format!("{of}: {what}"), ours));
                };
                let mean = |what: &dyn Fn(&MixResult) -> f64| found.mean((n, c, m), what);
                add_row("slowdown, mean", mean(&MixResult::mean));
                add_row("slowdown, worst job", mean(&MixResult::worst));
                add_row("Allreduce, p99 of packets, us", mean(&|f| f.tail));
                add_row("fullest channel over the mean", mean(&|f| f.fullest));
                add_row("dark channels, %", mean(&|f| f.dark));
                let efi = mean(&|f| f.efi.map_or(f64::NAN, |e| e as f64));
                if efi.is_finite() {
                    add_row("effective EFI, largest", efi);
                }
                let hops = mean(&|f| f.hops);
                if (hops / found.mean((n, c, 0), |f| f.hops) - 1.0).abs() > 0.01 {
                    add_row("channels a packet", hops);
                }
                let nonminimal = mean(&|f| f.nonminimal);
                if nonminimal > 0.0 {
                    add_row("packets on non-minimal paths, %", nonminimal);
                }
            }
        }
    }
    for claim in &CLAIMS {
        let of = match claim.of {
            ClaimSubject::All => "all jobs",
            ClaimSubject::Job(job) => MIX[job].0,
        };
        let what = |condition: usize| {
            let (network, condition) = (NETWORKS[claim.network].name, CONDITIONS[condition].name);
            format!("{network}, {condition}: {} over {}, time of {of}", claim.without, claim.with)
        };
        let row = Row::order(what(claim.condition), &found.claimed(claim, claim.condition));
        let margin = row.note.clone().unwrap_or_default();
        rows.push(row.noted(format!("{}; {margin}", claim.sentence)));
        if CONDITIONS[claim.condition].placement == CONDITIONS[NO_INCAST].placement {
            let by_seed = found.claimed(claim, NO_INCAST);
            let mean = by_seed.iter().sum::<f64>() / by_seed.len() as f64;
            rows.push(Row::told(what(NO_INCAST), mean));
        }
    }
    rows
}

/// A table for each network and condition: slowdowns of jobs by mechanism.
fn draw(found: &MixResults, context: &Context<'_>) {
    let mut tables = Vec::new();
    for (n, network) in NETWORKS.iter().enumerate() {
        for (c, condition) in CONDITIONS.iter().enumerate() {
            let all = mechanisms(network);
            let jobs = &MIX[..condition.jobs];
            let of = |m: usize| {
                let jobs = (0..jobs.len()).map(move |j| found.mean((n, c, m), |f| f.slowdowns[j]));
                jobs.chain([found.mean((n, c, m), MixResult::mean)])
            };
            let cells: Vec<f64> = (0..all.len()).flat_map(of).collect();
            tables.push(Table {
                title: format!("{}, {}", network.name, condition.name),
                rows: all.iter().map(|m| m.name.to_owned()).collect(),
                columns: jobs.iter().map(|m| m.0).chain(["mean"]).map(str::to_owned).collect(),
                texts: cells.iter().map(|c| format!("{c:.2}")).collect(),
                cells: cells.into_iter().map(Some).collect(),
            });
        }
    }
    (context.draw)(Figure {
        name: "all",
        title: "Six jobs on 240 hosts: time together over time in isolation with the baseline"
            .to_owned(),
        subtitle: "baseline: first line of each table; mean of five draws of hosts".to_owned(),
        what: Drawn::Impacts(tables),
    });
}
