//! Run times of jobs.

use std::sync::Arc;

use darkfiber_scenario::{Case, Depth, Error};
use darkfiber_workload::play::SECOND;

use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::Answer;

pub(in crate::grid) struct Runs;

/// The jobs of a cell on its fabric, with its tables.
pub(super) fn case(context: &CellContext<'_>) -> Result<Case, Error> {
    let tables = context.tables.as_ref().map_err(Clone::clone)?;
    let open = context.scenario.open_on(Arc::clone(context.loaded), context.files, &mut ())?;
    if open.jobs.is_empty() {
        return Err(Error::input("there is no [[job]]"));
    }
    if context.scenario.update.is_some() {
        return Err(Error::input(
            "[update] is for darkfiber simulate: studies ask nothing about it",
        ));
    }
    Ok(open.with(tables.clone()))
}

impl Question for Runs {
    fn name(&self) -> &'static str {
        "runs"
    }

    fn summary(&self) -> &'static str {
        "how long jobs take, at the depth of the scenario: a row for each job"
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            (
                "run_mean",
                "mean time of a run of the job, in seconds; at depth count, what the fullest channel takes",
            ),
            ("run_min", "shortest run, in seconds"),
            ("run_max", "longest run, in seconds"),
            ("runs", "runs that ended"),
            ("end", "when its last run ended, in seconds"),
            ("messages", "messages of all runs"),
            ("bytes", "their payload"),
            ("message_mean", "mean time of a message, in seconds"),
            ("message_bandwidth", "mean of what each message gets, in bytes per second"),
        ]
    }

    fn answer(&self, context: &CellContext<'_>, _: &Params) -> Result<Vec<Answer>, Error> {
        let case = case(context)?;
        let follower = context.follow("runs");
        // Counting is over before it could be kept.
        let follower = Some(&*follower).filter(|_| case.medium.depth() != Depth::Count);
        let simulated = case
            .run(follower, &mut |_| ())
            .map_err(|e| Error::infeasible(e.describe(&case.jobs, case.topology())))?;
        let s = |ps: u64| ps as f64 / SECOND as f64;
        let is_timed = case.medium.depth() != Depth::Count;
        let mut answers = Vec::new();
        for (j, job) in case.jobs.iter().enumerate() {
            let times: Vec<f64> =
                simulated.runs[j].iter().map(|run| s(run.end - run.begin)).collect();
            let pair = &simulated.pairs[j].total;
            let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
            let mut answer = Answer::of(job.name.as_str());
            if !times.is_empty() {
                answer = answer.with("run_mean", mean);
            }
            if is_timed {
                answer = answer
                    .with_some("run_min", times.iter().copied().reduce(f64::min))
                    .with_some("run_max", times.iter().copied().reduce(f64::max))
                    .with("runs", times.len())
                    .with_some("end", simulated.runs[j].last().map(|run| s(run.end)));
            }
            answer = answer.with("messages", pair.messages).with("bytes", pair.bytes);
            if is_timed {
                let count = pair.messages.max(1) as f64;
                let of = &simulated.pairs[j];
                let bandwidth: f64 =
                    of.sent().map(|(_, p)| p.bandwidth() * p.messages as f64).sum();
                let bandwidth = of.are_kept().then_some(bandwidth / count);
                answer = answer
                    .with("message_mean", s(pair.time) / count)
                    .with_some("message_bandwidth", bandwidth);
            }
            answers.push(answer);
        }
        Ok(answers)
    }
}
