//! The benefit of a few changed entries for jobs.

use darkfiber_analysis::heat::Heat;
use darkfiber_routing::reroute::{Goal, Policy, Prepared};
use darkfiber_routing::{Demand, Routes};
use darkfiber_scenario::{Case, Error, Setup, SimError, demanded, isolated, sent, simulate};
use darkfiber_workload::play::SECOND;
use rayon::prelude::*;

use super::runs;
use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::Answer;

/// Jobs that run longer by no more percent perform the same.
const SAME: f64 = 1.0;

pub(in crate::grid) struct Reliefs;

/// Limits of the change of tables.
struct ReliefParams {
    /// Bytes that a channel may carry, or the part of the fullest one's.
    most: ChannelLimit,
    policy: Policy,
    /// Number of times that jobs repeat the scenario's program.
    times: u64,
}

enum ChannelLimit {
    Bytes(f64),
    Part(f64),
}

impl ReliefParams {
    fn of(params: &Params) -> Result<Self, Error> {
        let most = match (params.bytes("most")?, params.number("left", 0.0, 1.0)?) {
            (Some(_), Some(_)) => {
                return Err(Error::usage("most and left: each says how full channels may be"));
            }
            (Some(bytes), None) => ChannelLimit::Bytes(bytes as f64),
            (None, left) => ChannelLimit::Part(left.unwrap_or(0.0)),
        };
        let known = ["first", "largest", "path", "best"];
        let policy = match params.word("policy")?.as_deref() {
            Some("first") => Policy::First,
            Some("largest") => Policy::Largest,
            Some("path") => Policy::Path,
            None | Some("best") => Policy::Best,
            Some(other) => return Err(Error::unknown("policy", other, &known)),
        };
        let times = params.whole("times", 1, 1 << 20)?.unwrap_or(1);
        Ok(Self { most, policy, times: times.into() })
    }
}

impl Question for Reliefs {
    fn name(&self) -> &'static str {
        "relief"
    }

    fn summary(&self) -> &'static str {
        "what a few entries that are changed for what jobs send do for each of them: alone, before and after"
    }

    fn parameters(&self) -> &'static [ColumnOf] {
        &[
            (
                "most",
                "bytes that no channel between switches is to carry more than; as few as can be without",
            ),
            ("left", "instead, the part of what the fullest channel carries"),
            ("policy", "which destination goes: first, largest, path or best; best without"),
            ("times", "how often jobs do what the scenario says; 1 without"),
        ]
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            (
                "gain_percent",
                "how much shorter the job runs after than before, in percent of before",
            ),
            (
                "longer_before",
                "how much longer the job runs beside the others than alone, in percent",
            ),
            ("longer_after", "the same with the changed entries"),
            ("before_by_alone", "run time beside the others over that alone"),
            ("after_by_alone", "the same with the changed entries"),
            ("no_worse", "whether it runs at most 1 % longer after than before"),
            ("alone", "run time alone with the tables of the scenario, in seconds"),
            ("before", "run time beside the others, in seconds"),
            ("after", "the same with the changed entries, in seconds"),
            ("entries", "entries of tables that changed"),
            ("fullest_before", "bytes on the fullest channel between switches"),
            ("fullest_after", "the same with the changed entries"),
            ("left_percent", "the latter in percent of the former"),
        ]
    }

    fn check(&self, params: &Params) -> Result<(), Error> {
        ReliefParams::of(params).map(|_| ())
    }

    fn answer(&self, context: &CellContext<'_>, params: &Params) -> Result<Vec<Answer>, Error> {
        let parsed = ReliefParams::of(params)?;
        let case = runs::case(context)?;
        case.tables.expect_tables("relief")?;
        let (fabric, routes) = (case.fabric(), &case.tables.routes);
        let wrong = |e: SimError| Error::infeasible(e.describe(&case.jobs, case.topology()));

        // The traffic of jobs, and the tables that are changed for it.
        let mut flows = sent(&case.jobs);
        for flow in &mut flows {
            flow.bytes = flow.bytes.saturating_mul(parsed.times);
        }
        let heat = Heat::of(fabric, routes, &flows, case.jobs.len());
        let fullest = heat.between_switches().iter().copied().max().unwrap_or(0) as f64;
        let most = match parsed.most {
            ChannelLimit::Bytes(bytes) => bytes,
            ChannelLimit::Part(part) => part * fullest,
        };
        let demands: Vec<Demand> = demanded(&flows);
        let lanes = context.scenario.routes.lanes.map_or(1, |lanes| lanes.0 as u8);
        let mut prepared =
            Prepared::with_demands(fabric, routes, lanes, &demands).map_err(Error::infeasible)?;
        let relief = prepared.relieve(&Goal { most, policy: parsed.policy, ..Goal::default() });
        let changed = prepared.into_routes();

        // Jobs alone, together, and with the changed entries.
        let alone = isolated(&case.setup()).map_err(wrong)?;
        let together: Vec<Vec<u64>> = [routes, &changed]
            .into_par_iter()
            .map(|routes| times(&case, routes))
            .collect::<Result<_, _>>()
            .map_err(wrong)?;
        let s = |ps: u64| ps as f64 / SECOND as f64;
        let longer = |time: f64, than: f64| 100.0 * (time / than - 1.0);
        let mut answers = vec![
            Answer::of("tables")
                .with("entries", relief.changes.len())
                .with("fullest_before", relief.before)
                .with("fullest_after", relief.after)
                .with("left_percent", 100.0 * relief.after / relief.before),
        ];
        for (j, job) in case.jobs.iter().enumerate() {
            let [alone, before, after] = [alone[j], together[0][j], together[1][j]].map(s);
            let gain = -longer(after, before);
            answers.push(
                Answer::of(job.name.as_str())
                    .with("gain_percent", gain)
                    .with("longer_before", longer(before, alone))
                    .with("longer_after", longer(after, alone))
                    .with("before_by_alone", before / alone)
                    .with("after_by_alone", after / alone)
                    .with("no_worse", gain >= -SAME)
                    .with("alone", alone)
                    .with("before", before)
                    .with("after", after),
            );
        }
        Ok(answers)
    }
}

/// Time of each job from its start to the end of its last run with these tables, in picoseconds.
fn times(case: &Case, routes: &Routes) -> Result<Vec<u64>, SimError> {
    let setup = Setup { routes, ..case.setup() };
    let found = simulate(&setup, &mut |_| ())?;
    let of = found.runs.iter().zip(&case.jobs);
    Ok(of
        .map(|(runs, job)| {
            let end = runs.iter().map(|run| run.end).max().unwrap_or(0);
            end.saturating_sub(job.play.start)
        })
        .collect())
}
