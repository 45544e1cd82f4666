//! The effect of tables for the jobs of a month on these jobs.

use std::sync::Arc;

use darkfiber_routing::Lids;
use darkfiber_scenario::history::{HistoryPart, LoadedHistory, USUAL as USUAL_PLACE, Window};
use darkfiber_scenario::job_log::Log;
use darkfiber_scenario::log_facts::LogFacts;
use darkfiber_scenario::moment::{LogMoment, duration, when};
use darkfiber_scenario::{Chain, Error};
use darkfiber_workload::placement::{ALLOCATORS, Allocator};
use darkfiber_workload::play::SECOND;

use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::{Answer, Detail};
use crate::replay::{Moment, ReplayPlan, extent, improvements, replay};

/// Days that are looked at, and days before them that fill the machine.
const DAYS: u32 = 30;
const BEFORE: u32 = 20;
/// Seconds from one moment to the next.
const EVERY: u64 = 600;
const DAY: i64 = 86_400;
/// The allocator that keeps jobs where the log has them.
const TOLD: &str = "log";
/// Stands for the end of the log.
const END: &str = "end";

pub(in crate::grid) struct Replays;

/// The parameters, with defaults filled in.
struct ReplayParams {
    engines: Vec<Chain>,
    /// Index of the engine whose gain over each of the others is reported.
    of: usize,
    days: u32,
    before: u32,
    window: Window,
    every: i64,
    /// The log; jobs are made up without.
    log: Option<HistoryPart>,
    whole: bool,
    by: &'static Allocator,
}

impl ReplayParams {
    fn of(params: &Params) -> Result<Self, Error> {
        let names = params.words("engines")?.unwrap_or_default();
        if names.is_empty() {
            return Err(Error::usage("engines: which are compared?")
                .hint("engines = [\"dfsssp\", \"ftree\", \"sar\"]"));
        }
        let engines = names.iter().map(|name| Chain::parse(name)).collect::<Result<_, _>>()?;
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let of = match params.word("of")? {
            None => names.len() - 1,
            Some(name) => names
                .iter()
                .position(|n| *n == name)
                .ok_or_else(|| Error::unknown("engine of engines", &name, &known))?,
        };
        let every = match params.time("every")? {
            Some(time) if time < SECOND => {
                return Err(Error::usage("every: a second at least"));
            }
            Some(time) => time / SECOND,
            None => EVERY,
        };
        let days = params.whole("days", 1, 10_000)?.unwrap_or(DAYS);
        let before = params.whole("before", 0, 10_000)?.unwrap_or(BEFORE);
        let whole = !params.has("whole") || params.flag("whole")?;
        let place = params.word("place")?.unwrap_or_else(|| USUAL_PLACE.to_owned());
        let by = ALLOCATORS.get(if place == TOLD { USUAL_PLACE } else { &place })?;
        let log = params.word("log")?.map(|log| {
            Ok::<_, Error>(HistoryPart {
                log,
                aliases: params.word("aliases")?,
                place: (place != TOLD).then_some(place),
                processors_per_host: params.whole("processors", 1, 1 << 20)?,
                scale: params.number("scale", 1e-6, 1e6)?,
                whole,
            })
        });
        Ok(Self {
            engines,
            of,
            days,
            before,
            window: window(params, before, days)?,
            every: i64::try_from(every).unwrap_or(i64::MAX),
            log: log.transpose()?,
            whole,
            by,
        })
    }

    /// Nodes and times of all jobs.
    fn history(&self, context: &CellContext<'_>, seed: u64) -> Result<Arc<LoadedHistory>, Error> {
        if let Some(history) = &context.history {
            return Ok(Arc::clone(history));
        }
        let topology = &context.loaded.topology;
        if let Some(part) = &self.log {
            return part.load(topology, self.window, seed, context.files, &mut ()).map(Arc::new);
        }
        let mut log = Log::synthetic(self.before + self.days, seed);
        if self.whole {
            log.keep_whole_host_jobs();
        }
        let history = log.placed(topology, None, self.by, seed).history;
        let first = history.span().map_or(0, |s| s.0);
        Ok(Arc::new(LoadedHistory { history, first, facts: LogFacts::default() }))
    }
}

/// The time that is looked at.
fn window(params: &Params, before: u32, days: u32) -> Result<Window, Error> {
    for (key, other) in [("from", "before"), ("for", "days")] {
        if params.has(key) && params.has(other) {
            return Err(Error::usage(format!("{key} and {other} are given: leave one out")));
        }
    }
    let wrong =
        |key: &str, text: &str, what: String| Error::input(format!("{key} = \"{text}\": {what}"));
    let from = match params.word("from")? {
        None => LogMoment::After(i64::from(before) * DAY),
        Some(text) => when(&text).map_err(|what| wrong("from", &text, what))?,
    };
    let length = match params.word("for")? {
        None => Some(i64::from(days) * DAY),
        Some(text) if text == END => None,
        Some(text) => Some(duration(&text).map_err(|what| wrong("for", &text, what))?),
    };
    Ok(Window { from: Some(from), length })
}

impl Question for Replays {
    fn name(&self) -> &'static str {
        "replay"
    }

    fn summary(&self) -> &'static str {
        "what an engine gains over others for the jobs of a log, made anew whenever their places change"
    }

    fn parameters(&self) -> &'static [ColumnOf] {
        &[
            ("engines", "those that are compared"),
            ("of", "the one whose gain over each of the others is reported; the last without"),
            (
                "log",
                "a log of jobs, in any format that replay --jobs reads; jobs made up after RICC's without",
            ),
            ("aliases", "a file of other names of hosts, for a log that says where jobs ran"),
            ("whole", "whether jobs smaller than a host are left out; yes without"),
            (
                "scale",
                "how many times as large as the log's machine this one is; by their hosts without",
            ),
            ("processors", "processors of a host; as the log says without"),
            (
                "place",
                "an allocator of `darkfiber list allocators` for its jobs, or \"log\": where it says that they ran; first-fit without",
            ),
            ("days", "days that are looked at; 30 without"),
            ("before", "days before these, which fill the machine; 20 without"),
            ("from", "instead of before: a date, or a time after the first job began"),
            ("for", "instead of days: a time, or \"end\": to the end of the log"),
            ("every", "time from one moment to the next; 10min without"),
        ]
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            ("gain_percent", "mean over moments of the gain, in percent; not of dark fiber"),
            ("gain", "mean over moments of the gain, in the measure's own unit"),
            ("gain_max", "the most at any moment"),
            ("gain_max_percent", "the most at any moment, in percent; not of dark fiber"),
            ("worse_percent", "moments at which it is worse, in percent"),
            ("measure", "what is measured"),
            ("over", "the engine that it is compared with"),
        ]
    }

    fn check(&self, params: &Params) -> Result<(), Error> {
        ReplayParams::of(params).map(|_| ())
    }

    fn files(&self, params: &Params) -> Vec<String> {
        let named = ["log", "aliases"].map(|key| params.word(key).ok().flatten());
        named.into_iter().flatten().collect()
    }

    fn answer(&self, context: &CellContext<'_>, params: &Params) -> Result<Vec<Answer>, Error> {
        let parsed = ReplayParams::of(params)?;
        let topology = &context.loaded.topology;
        let seed = context.scenario.seed.unwrap_or(1);
        let loaded_history = parsed.history(context, seed)?;
        let lids = Lids::assign(&topology.fabric, context.scenario.routes.lmc.0 as u8)
            .map_err(Error::infeasible)?;
        let case = context.scenario.open_on(Arc::clone(context.loaded), context.files, &mut ())?;
        let history = &loaded_history.history;
        let (from, moments) = extent(parsed.window, parsed.every, loaded_history.first, history)?;
        let plan = ReplayPlan {
            case: &case,
            lids: &lids,
            history,
            engines: &parsed.engines,
            from,
            every: parsed.every,
            moments,
        };
        // Moments that are there already, then the others; each is kept before the next.
        let run = format!("moments of {params}");
        let kept = context.lines(&run);
        let mut moments: Vec<Moment> =
            kept.iter().map_while(|line| serde_json::from_str(line).ok()).collect();
        moments.truncate(plan.moments);
        if moments.len() < plan.moments {
            replay(&plan, moments.len(), &mut |moment| {
                let line = serde_json::to_string(&moment).unwrap_or_default();
                moments.push(moment);
                context.add_line(&run, &line)
            })
            .map_err(|failed| {
                failed.refusal.hint(format!("leave {} out of the engines", failed.engine))
            })?;
        }
        let names: Vec<&str> = parsed.engines.iter().map(|engine| engine.name.as_str()).collect();
        let found = improvements(&moments, &names, parsed.of);
        let mut answers: Vec<Answer> = found
            .into_iter()
            .map(|gain| {
                let measure = gain.measure.label();
                Answer::of(format!("{} over {}: {measure}", gain.of, gain.over))
                    .with_some("gain_percent", gain.mean_percent)
                    .with("gain", gain.mean)
                    .with("gain_max", gain.max)
                    .with_some("gain_max_percent", gain.max_percent)
                    .with("worse_percent", gain.worse_percent)
                    .with("measure", measure.to_owned())
                    .with("over", gain.over)
            })
            .collect();
        if answers.is_empty() {
            answers.push(Answer::of(format!("{}, beside no other", names[parsed.of])));
        }
        if let Some(first) = answers.first_mut().filter(|_| context.details.are_wanted()) {
            first.detail = Detail::new(moments);
        }
        Ok(answers)
    }
}
