//! `darkfiber operate review`: advice of a journal beside what happened.

use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_daemon::{Config, DecisionOutcome, DecisionParts, ReviewedDecision, Trigger, review};
use darkfiber_formats::calendar;
use darkfiber_report::review::{AdviceTotals, DecisionRow, PartRow, ReviewResult};

use crate::failure::{Exit, Failure};
use crate::options::Common;

#[derive(Args, Debug)]
pub(super) struct ReviewArgs {
    /// Journals [default: that of the configuration]
    #[arg(value_name = "JOURNAL")]
    journals: Vec<PathBuf>,
}

/// Milliseconds as seconds.
fn seconds(ms: u64) -> f64 {
    ms as f64 / 1e3
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

pub(super) fn run(config: &Path, args: &ReviewArgs, common: &Common) -> Result<Exit, Failure> {
    let journals = if args.journals.is_empty() {
        vec![Config::read(config)?.journal()]
    } else {
        args.journals.clone()
    };
    let mut all = Vec::new();
    let (mut site, mut steps, mut from_to) = (String::new(), 0, None);
    for path in &journals {
        let found = review(path)?;
        steps += found.steps;
        site = found.site;
        from_to = match (from_to, found.from_to) {
            (Some((from, _)), Some((_, to))) => Some((from, to)),
            (known, new) => known.or(new),
        };
        all.extend(found.decisions);
    }
    let rows: Vec<DecisionRow> = all.iter().filter_map(row).collect();
    common.show(&ReviewResult {
        site: &site,
        steps,
        from_to: from_to.map(|(from, to)| (seconds(from), seconds(to))),
        decisions: &rows,
        advice: advice(&all, from_to.map_or(0, |(_, to)| to)),
        parts: &parts(&all),
    })?;
    Ok(Exit::Fine)
}

/// A decision for which tables were found.
fn row(reviewed: &ReviewedDecision) -> Option<DecisionRow> {
    let d = &reviewed.decision;
    let c = d.candidate.as_ref()?;
    let repairs = matches!(d.trigger, Trigger::Fault | Trigger::Question | Trigger::Recall);
    let trigger = serde_json::to_value(d.trigger).ok()?;
    Some(DecisionRow {
        id: d.id,
        at: calendar::text((d.at / 1000).cast_signed()),
        trigger: trigger.as_str().unwrap_or_default().to_owned(),
        gain: (!repairs).then(|| c.gain()),
        entries: c.entries,
        blocks: c.blocks,
        stages: c.stages.len(),
        outcome: d.outcome.name().to_owned(),
        in_place_after: reviewed.in_place.map(|at| seconds(at.saturating_sub(d.at))),
        valid_for: reviewed.shown.zip(reviewed.over).map(|(s, o)| seconds(o.saturating_sub(s))),
    })
}

fn advice(all: &[ReviewedDecision], end: u64) -> AdviceTotals {
    let shown: Vec<&ReviewedDecision> = all.iter().filter(|d| d.shown.is_some()).collect();
    let after = |d: &&&ReviewedDecision| d.in_place.is_some();
    let taken: Vec<f64> = shown
        .iter()
        .filter(after)
        .filter_map(|d| Some(seconds(d.in_place?.saturating_sub(d.shown?))))
        .collect();
    let others: Vec<&&ReviewedDecision> = shown.iter().filter(|d| !after(d)).collect();
    let gains: Vec<f64> =
        others.iter().filter_map(|d| Some(d.decision.candidate.as_ref()?.gain())).collect();
    let valid = |d: &&&ReviewedDecision| {
        d.shown.map_or(0.0, |shown| seconds(d.over.unwrap_or(end).saturating_sub(shown)))
    };
    AdviceTotals {
        shown: shown.len(),
        taken: taken.len(),
        taken_after: median(taken),
        gain_not_taken: (!gains.is_empty()).then(|| gains.iter().sum::<f64>() / gains.len() as f64),
        valid_not_taken: others.iter().map(valid).sum(),
    }
}

/// Seconds of the parts of what this program put in place.
fn parts(all: &[ReviewedDecision]) -> Vec<PartRow> {
    let placed: Vec<&ReviewedDecision> =
        all.iter().filter(|d| d.decision.outcome == DecisionOutcome::Confirmed).collect();
    let names = DecisionParts::default().named().map(|(name, _)| name);
    let times = |i: usize| -> Vec<f64> {
        placed.iter().filter_map(|d| d.parts.named()[i].1.map(seconds)).collect()
    };
    let in_all = || -> Vec<f64> {
        let of = |d: &&ReviewedDecision| {
            Some(seconds(d.parts.named().iter().filter_map(|(_, t)| *t).sum()))
        };
        placed.iter().filter_map(of).collect()
    };
    let named = (0..names.len()).map(|i| (names[i], times(i)));
    named
        .chain([("all of these", in_all())])
        .filter_map(|(part, times)| {
            let longest = times.iter().copied().fold(0.0, f64::max);
            let decisions = times.len();
            Some(PartRow { part, decisions, median: median(times)?, longest })
        })
        .collect()
}
