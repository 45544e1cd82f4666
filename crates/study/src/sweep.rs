//! The sweep itself: fabrics x shares of failed cables x seeds x engines.

use darkfiber_fabric::Faults;
use darkfiber_scenario::faults::failing;
use darkfiber_scenario::{Case, Chain};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{Clock, Measured, Pieces};

/// What to run. Names of fabrics and of chains tell results apart, so they should differ.
#[derive(Clone)]
pub struct SweepPlan<'a> {
    /// The fabrics without faults, with the lanes that may be used and the first seed; the others follow it.
    pub cases: &'a [Case<()>],
    /// Who routes them.
    pub chains: &'a [Chain],
    /// Shares of the switch-to-switch cables that fail, in percent, 0 to 100.
    pub percents: &'a [f64],
    /// Draws for each share.
    pub seeds: u64,
}

/// What came out of a run.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
#[serde(untagged)]
pub enum SweepOutcome {
    /// Every piece was routed.
    Routed(Measured),
    /// A piece could not be routed.
    Refused {
        /// Why.
        refused: String,
    },
}

/// One fabric, with some cables failed, and one chain of engines.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct SweepRun {
    /// Name of the fabric.
    pub fabric: String,
    /// Name of the chain.
    pub engine: String,
    /// Share of cables that should fail, in percent.
    pub percent: f64,
    /// Cables that failed.
    pub failed: usize,
    /// Seed of the draw.
    pub seed: u64,
    /// Pieces that the fabric was in.
    pub pieces: usize,
    /// What came out.
    #[serde(flatten)]
    pub outcome: SweepOutcome,
}

impl SweepRun {
    /// The numbers, unless it was refused.
    pub fn measured(&self) -> Option<&Measured> {
        match &self.outcome {
            SweepOutcome::Routed(m) => Some(m),
            SweepOutcome::Refused { .. } => None,
        }
    }
}

impl SweepPlan<'_> {
    /// Draws of cables, as (fabric, share, seed): without faults first, as everything is compared with
    /// that; then by share and seed.
    fn draws(&self) -> Vec<(usize, f64, u64)> {
        let mut percents: Vec<f64> = self.percents.iter().copied().filter(|&p| p > 0.0).collect();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        let mut draws = Vec::new();
        for (fabric, case) in self.cases.iter().enumerate() {
            let seeds = || (0..self.seeds).map(|i| case.seed.wrapping_add(i));
            draws.push((fabric, 0.0, case.seed));
            for &percent in &percents {
                draws.extend(seeds().map(|seed| (fabric, percent, seed)));
            }
        }
        draws
    }

    /// How many times [`sweep`] will say that a draw is done.
    pub fn steps(&self) -> usize {
        self.draws().len()
    }

    /// Runs all chains on one draw.
    fn run(&self, (fabric, percent, seed): (usize, f64, u64), clock: Clock<'_>) -> Vec<SweepRun> {
        let case = &self.cases[fabric];
        let whole = case.topology();
        let failed = failing(percent, whole.fabric.switch_link_count());
        let faults = Faults::any_links(&whole.fabric, failed, seed);
        let pieces = Pieces::of(whole.with_faults(&faults).0);
        // The faults are what varies: engines that draw lots draw the same ones in every run.
        let request = case.request();
        self.chains
            .iter()
            .map(|chain| SweepRun {
                fabric: whole.fabric.name().to_owned(),
                engine: chain.name.clone(),
                percent,
                failed,
                seed,
                pieces: pieces.count(),
                outcome: match pieces.route(&chain.engines, &request, clock) {
                    Ok(measured) => SweepOutcome::Routed(measured),
                    Err(refused) => SweepOutcome::Refused { refused },
                },
            })
            .collect()
    }
}

/// Takes cables away, routes what is left with every chain and checks it. A fabric that falls apart is
/// taken as it is: its pieces are routed one by one, and pairs between them are lost. Every fabric is
/// run once without faults, asked for or not.
///
/// Rows come by fabric, share, seed and chain. They do not depend on the number of threads, except
/// for the seconds: draws run side by side, and while one waits its thread helps others.
pub fn sweep(plan: &SweepPlan<'_>, clock: Clock<'_>, done: &(dyn Fn() + Sync)) -> Vec<SweepRun> {
    let draws = plan.draws();
    let groups: Vec<Vec<SweepRun>> = draws
        .par_iter()
        .with_max_len(1)
        .map(|&draw| {
            let runs = plan.run(draw, clock);
            done();
            runs
        })
        .collect();
    let mut faultless: Vec<Option<u64>> = Vec::new();
    let mut rows = Vec::with_capacity(groups.len() * plan.chains.len());
    for mut runs in groups {
        if runs.iter().any(|run| run.failed == 0 && run.percent == 0.0) {
            faultless = runs.iter().map(|run| run.measured().map(|m| m.efi_max)).collect();
        }
        for (run, &faultless) in runs.iter_mut().zip(&faultless) {
            if let SweepOutcome::Routed(m) = &mut run.outcome {
                m.efi_max_relative =
                    faultless.filter(|&max| max > 0).map(|max| m.efi_max as f64 / max as f64);
            }
        }
        rows.append(&mut runs);
    }
    rows
}
