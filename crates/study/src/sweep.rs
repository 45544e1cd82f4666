//! The sweep itself: fabrics x shares of failed cables x seeds x engines.

use std::collections::HashMap;
use std::sync::Arc;

use darkfiber_scenario::faults::failing;
use darkfiber_scenario::{Chain, Error, Loaded, Scenario};
use schemars::JsonSchema;
use serde::Serialize;
use toml::{Table, Value};

use crate::Measured;
use crate::grid::preset::{Preset, question, texts};
use crate::grid::{Details, Hooks, Ready, Record, RoutesFound};

/// The runs of a sweep. Names of fabrics and of chains identify results, so they should differ.
#[derive(Clone)]
pub struct SweepPlan<'a> {
    /// The common scenario of all runs: the lanes that may be used, and the first seed; the others follow it.
    pub scenario: &'a Scenario,
    /// The fabrics without faults, as scenarios name them.
    pub fabrics: &'a [String],
    /// Engines that route them.
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
    /// Shares that fail, rising; no faults first, as everything is compared with that.
    fn shares(&self) -> Vec<f64> {
        let mut all = self.percents.to_vec();
        all.push(0.0);
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// The sweep as a study. Without faults one seed is enough.
    pub fn preset(&self) -> Preset {
        let shares = self.shares();
        let asked = |only: Value, seeds: Option<i64>| {
            let only = Value::Table(Table::from_iter([("fail-percent".to_owned(), only)]));
            question("routes", vec![("only", Some(only)), ("seeds", seeds.map(Value::Integer))])
        };
        let some: Vec<Value> = shares[1..].iter().copied().map(Value::Float).collect();
        let (questions, seeds) = if some.is_empty() {
            (vec![question("routes", Vec::new())], 1)
        } else {
            let faultless = asked(Value::Float(0.0), Some(1));
            (vec![faultless, asked(Value::Array(some), None)], self.seeds)
        };
        Preset {
            scenario: self.scenario.clone(),
            axes: vec![
                ("fabric", texts(self.fabrics)),
                ("fail-percent", shares.into_iter().map(Value::Float).collect()),
                ("routes.engine", texts(self.chains.iter().map(|chain| &chain.name))),
            ],
            zip: Vec::new(),
            questions,
            seeds: Some(seeds),
        }
    }

    /// Number of times that [`sweep`] reports the end of a run.
    pub fn steps(&self) -> usize {
        let draws = 1 + (self.shares().len() - 1) * self.seeds as usize;
        self.fabrics.len() * draws * self.chains.len()
    }

    /// The place of a run: by fabric, share, seed and chain.
    fn place(&self, record: &Record) -> Option<(usize, f64, u64, usize)> {
        let of = |key: &str| record.set.iter().find(|(name, _)| name == key).map(|(_, v)| v);
        let fabric = of("fabric")?.to_string();
        let chain = of("routes.engine")?.to_string();
        Some((
            self.fabrics.iter().position(|name| *name == fabric)?,
            of("fail-percent")?.number()?,
            record.seed,
            self.chains.iter().position(|c| c.name == chain)?,
        ))
    }
}

/// Removes cables, routes the rest with every chain and checks it. A fabric that is disconnected is used as it is:
/// its pieces are routed one by one, and pairs between them are lost. Every fabric is run once without faults,
/// requested or not. `loaded` are the plan's fabrics in their order.
///
/// Rows come by fabric, share, seed and chain. They do not depend on the number of threads, except for the seconds:
/// runs are concurrent, and while one waits its thread helps others.
///
/// # Errors
/// If a run is not a valid scenario.
pub fn sweep(
    plan: &SweepPlan<'_>,
    loaded: &[Arc<Loaded>],
    hooks: &Hooks<'_>,
) -> Result<Vec<SweepRun>, Error> {
    let there = plan.fabrics.iter().zip(loaded);
    let ready: Vec<Ready> =
        there.map(|(name, loaded)| Ready { draws: true, ..Ready::of(name, loaded) }).collect();
    let records = plan.preset().run(&Hooks { details: Details::Found, ready: &ready, ..*hooks })?;
    let mut placed: Vec<_> = records.iter().filter_map(|r| Some((plan.place(r)?, r))).collect();
    placed.sort_by(|(a, _), (b, _)| {
        (a.0.cmp(&b.0)).then(a.1.total_cmp(&b.1)).then((a.2, a.3).cmp(&(b.2, b.3)))
    });
    let mut rows: Vec<SweepRun> = Vec::with_capacity(placed.len());
    // Results of an engine on a fabric without faults come before those with faults.
    let mut faultless: HashMap<(usize, usize), u64> = HashMap::new();
    for ((fabric, percent, seed, chain), record) in placed {
        let whole = &loaded[fabric].topology.fabric;
        let answer = record.answers.first();
        let found: Option<&RoutesFound> = answer.and_then(|a| a.detail.get());
        let mut row = SweepRun {
            fabric: whole.name().to_owned(),
            engine: plan.chains[chain].name.clone(),
            percent,
            failed: failing(percent, whole.switch_link_count()),
            seed,
            pieces: found.map_or(1, |found| found.pieces),
            outcome: match found.map(|found| &found.measured) {
                Some(Ok(measured)) => SweepOutcome::Routed(*measured),
                Some(Err(refused)) => SweepOutcome::Refused { refused: refused.clone() },
                None => SweepOutcome::Refused {
                    refused: answer.and_then(|a| a.error.clone()).unwrap_or_default(),
                },
            },
        };
        if let SweepOutcome::Routed(m) = &mut row.outcome {
            if percent == 0.0 {
                faultless.insert((fabric, chain), m.efi_max);
            }
            let most = faultless.get(&(fabric, chain)).filter(|&&max| max > 0);
            m.efi_max_relative = most.map(|&max| m.efi_max as f64 / max as f64);
        }
        rows.push(row);
    }
    Ok(rows)
}
