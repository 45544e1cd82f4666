//! Jobs of Cab in time: in isolation, and all at once.

use darkfiber_analysis::heat::Flow;
use darkfiber_fabric::TerminalId;
use darkfiber_routing::Routes;
use darkfiber_workload::play::{Host, Job, host};

use super::lab::{Lab, RANKS, benchmark, program};
use darkfiber_scenario::{LidsPart, Medium, Setup, Sharing, isolated, places, sent, simulate};

/// Steps that each benchmark does on Cab; one of them is simulated.
pub(super) const STEPS: f64 = 10.0;
/// Data rate of QDR InfiniBand, in bytes a second; the paper counts 40 Gbit/s as 5 GB/s.
pub(super) const CABLE: f64 = 4e9;
/// By how much sleeping varies (appendix of the paper).
const NOISE: f64 = 0.0018;
/// Ranks of a node that send over the same path concurrently, and share as one.
const ABREAST: f64 = 16.0;
/// The least that ranks send each other but for barriers.
const MESSAGE: u64 = 64 * 1024;
/// Maximum delay of the start or end of a message, relative to its duration.
const PRECISION: f64 = 0.01;
/// A second, in picoseconds.
const SECOND: f64 = 1e12;

/// A set-up, with the common text of all experiments in time.
macro_rules! with_model {
    ($text:literal) => {
        concat!(
            $text,
            "One step of the ten is simulated, iterations twenty at a time (fft-proxy fifteen), and told as ten. \
     Cables and adapters carry 4 GB/s, as QDR does after its coding; sleeping varies by 0.18 %; messages of one node to \
     another share as one, as switches serve their ports by turns, not messages. Messages may begin or end late by 1 % of \
     their own time."
        )
    };
}
pub(super) use with_model;

/// A workload on its hosts.
pub(super) struct Contest {
    /// The simulated part of each job.
    jobs: Vec<Job>,
    /// By job, its benchmark.
    pub(super) names: Vec<&'static str>,
    /// The traffic of all jobs over all of their time.
    pub(super) flows: Vec<Flow>,
    weights: Vec<f64>,
    /// Number of repetitions of the simulated part.
    times: f64,
}

/// Results of a job.
pub(super) struct JobResults {
    /// Run time in seconds.
    pub(super) seconds: f64,
    /// Time of each rank for its own iterations.
    pub(super) ranks: Vec<f64>,
}

impl Contest {
    /// This many of the benchmarks' jobs, placed by a seed.
    pub(super) fn new(lab: &Lab, jobs: u32, seed: u64) -> Self {
        let whole = lab.workload(jobs, seed);
        let names: Vec<&'static str> = (0..jobs).map(|i| benchmark(i, jobs)).collect();
        let step = |(i, job): (usize, &Job)| {
            let name = names[i];
            let group = if name == "fft-proxy" { 15 } else { 20 };
            let spec = format!("{name}:steps=1,group={group}");
            let nodes = job.terminals.len() as u32 / 16;
            Job { program: program(&spec, nodes, RANKS, seed + i as u64).into(), ..job.clone() }
        };
        let jobs = whole.iter().enumerate().map(step).collect();
        // The partners of pairs are on many nodes.
        let weight = |name: &&str| if *name == "pairs" { 1.0 } else { 1.0 / ABREAST };
        let weights = names.iter().map(weight).collect();
        Self { jobs, names, flows: sent(&whole), weights, times: STEPS }
    }

    /// The terminals of a job's ranks.
    pub(super) fn terminals(&self, job: usize) -> &[TerminalId] {
        &self.jobs[job].terminals
    }

    /// The terminals of each job, each once.
    pub(super) fn places(&self) -> Vec<Vec<TerminalId>> {
        places(&self.jobs)
    }

    /// The same with a job elsewhere; its traffic is given for the old place.
    pub(super) fn moved(&self, job: usize, terminals: Vec<TerminalId>) -> Self {
        let mut jobs = self.jobs.clone();
        jobs[job].terminals = terminals;
        let (names, flows) = (self.names.clone(), self.flows.clone());
        let weights = self.weights.clone();
        Self { jobs, names, flows, weights, times: self.times }
    }

    /// One job in isolation, in seconds.
    pub(super) fn alone_of(
        &self,
        job: usize,
        lab: &Lab,
        routes: &Routes,
        lids: LidsPart,
        seed: u64,
    ) -> f64 {
        let one = Self {
            jobs: vec![self.jobs[job].clone()],
            names: vec![self.names[job]],
            flows: Vec::new(),
            weights: vec![self.weights[job]],
            times: self.times,
        };
        one.alone(lab, routes, lids, seed)[0]
    }

    /// Every job in isolation, in seconds.
    pub(super) fn alone(&self, lab: &Lab, routes: &Routes, lids: LidsPart, seed: u64) -> Vec<f64> {
        let host = cab();
        let found = isolated(&self.setup(lab, routes, lids, &host, seed));
        let found = found.expect("whole tables and programs");
        found.into_iter().map(|ps| self.times * ps as f64 / SECOND).collect()
    }

    /// Simulates all jobs together.
    pub(super) fn together(
        &self,
        lab: &Lab,
        routes: &Routes,
        lids: LidsPart,
        seed: u64,
    ) -> Vec<JobResults> {
        let host = cab();
        let mut last: Vec<Vec<u64>> =
            self.jobs.iter().map(|job| vec![0; job.program.ranks() as usize]).collect();
        let found = simulate(&self.setup(lab, routes, lids, &host, seed), &mut |record| {
            // Those of the barrier at the end are as late for all.
            if record.bytes >= MESSAGE {
                for rank in [record.from, record.to] {
                    let last = &mut last[record.job as usize][rank as usize];
                    *last = record.arrived.max(*last);
                }
            }
        });
        let found = found.expect("whole tables and programs");
        let seconds = |ps: u64| self.times * ps as f64 / SECOND;
        (found.runs.iter().zip(last))
            .map(|(runs, last)| JobResults {
                seconds: seconds(runs.iter().map(|r| r.end).max().unwrap_or(0)),
                ranks: last.into_iter().map(seconds).collect(),
            })
            .collect()
    }

    fn setup<'s>(
        &'s self,
        lab: &'s Lab,
        routes: &'s Routes,
        lids: LidsPart,
        host: &'s Host,
        seed: u64,
    ) -> Setup<'s> {
        let mut jobs: Vec<darkfiber_scenario::Job> =
            self.jobs.iter().map(darkfiber_scenario::Job::from).collect();
        for (job, weight) in jobs.iter_mut().zip(&self.weights) {
            job.weight = *weight;
        }
        Setup {
            medium: Medium::Flow(Sharing { small: 0, precision: PRECISION }),
            lids,
            seed,
            // Every record is looked at.
            multiplies: false,
            ..Setup::new(lab.topology(), routes, host, jobs)
        }
    }
}

/// Host model of Cab.
fn cab() -> Host {
    Host {
        adapter_bytes_per_second: CABLE,
        efficiency: 1.0,
        noise: NOISE,
        ..host("qdr").expect("known").clone()
    }
}

/// Increase of a time, in percent.
pub(super) fn longer(time: f64, than: f64) -> f64 {
    100.0 * (time / than - 1.0)
}

/// The median of some numbers; 0 of none.
pub(super) fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n.is_multiple_of(2) => sorted[n / 2 - 1].midpoint(sorted[n / 2]),
        n => sorted[n / 2],
    }
}

/// The largest; least of all 0.
pub(super) fn most(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, f64::max)
}
