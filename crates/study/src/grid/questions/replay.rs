//! What tables for the jobs of a month would have done for them.

use darkfiber_routing::Lids;
use darkfiber_scenario::job_log::Log;
use darkfiber_scenario::{Case, Chain, Error};
use darkfiber_workload::placement::{ALLOCATORS, Allocator};
use darkfiber_workload::play::SECOND;

use crate::grid::params::Params;
use crate::grid::question::{Asked, ColumnOf, Question};
use crate::grid::row::Answer;
use crate::replay::{ReplayPlan, improvements, replay};

/// Days that are looked at, and days before them that fill the machine.
const DAYS: u32 = 30;
const BEFORE: u32 = 20;
/// Seconds from one moment to the next.
const EVERY: u64 = 600;
const DAY: i64 = 86_400;

pub(in crate::grid) struct Replays;

/// What is asked, with what is usual filled in.
struct Given {
    engines: Vec<Chain>,
    /// The place of the engine whose gain over each of the others is reported.
    of: usize,
    days: u32,
    before: u32,
    every: i64,
    whole: bool,
    scale: Option<f64>,
    processors: Option<u32>,
    by: &'static Allocator,
}

impl Given {
    fn of(params: &Params) -> Result<Self, Error> {
        let names = params.words("engines")?.unwrap_or_default();
        if names.len() < 2 {
            return Err(Error::usage("engines: two or more are compared")
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
        Ok(Self {
            engines,
            of,
            days: params.whole("days", 1, 10_000)?.unwrap_or(DAYS),
            before: params.whole("before", 0, 10_000)?.unwrap_or(BEFORE),
            every: i64::try_from(every).unwrap_or(i64::MAX),
            whole: !params.has("whole") || params.flag("whole")?,
            scale: params.number("scale", 1e-6, 1e6)?,
            processors: params.whole("processors", 1, 1 << 20)?,
            by: ALLOCATORS.get(&params.word("place")?.unwrap_or_else(|| "first-fit".to_owned()))?,
        })
    }
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
            ("engines", "two or more, which are compared"),
            ("of", "the one whose gain over each of the others is reported; the last without"),
            ("log", "a log in Standard Workload Format; jobs made up after RICC's without"),
            ("whole", "whether jobs smaller than a host are left out; yes without"),
            (
                "scale",
                "how many times as large as the log's machine this one is; by their hosts without",
            ),
            ("processors", "processors of a host; as the log says without"),
            (
                "place",
                "an allocator of `darkfiber list allocators` for its jobs; first-fit without",
            ),
            ("days", "days that are looked at; 30 without"),
            ("before", "days before these, which fill the machine; 20 without"),
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
        params.word("log")?;
        Given::of(params).map(|_| ())
    }

    fn files(&self, params: &Params) -> Vec<String> {
        params.word("log").ok().flatten().into_iter().collect()
    }

    fn answer(&self, asked: &Asked<'_>, params: &Params) -> Result<Vec<Answer>, Error> {
        let given = Given::of(params)?;
        let topology = &asked.loaded.topology;
        let seed = asked.scenario.seed.unwrap_or(1);
        let mut log = match params.word("log")? {
            Some(name) => Log::read(&asked.files.locate(&name), given.processors)?,
            None => Log::made_up(given.before + given.days, seed),
        };
        if given.whole {
            log.leave_whole();
        }
        let history = log.placed(topology, given.scale, given.by, seed).history;
        let lids = Lids::assign(&topology.fabric, asked.scenario.routes.lmc.0 as u8)
            .map_err(Error::infeasible)?;
        let case = Case { seed, ..Case::of(topology.clone()) };
        let length = i64::from(given.days) * DAY;
        let plan = ReplayPlan {
            case: &case,
            lids: &lids,
            history: &history,
            engines: &given.engines,
            from: history.span().map_or(0, |s| s.0) + i64::from(given.before) * DAY,
            every: given.every,
            moments: usize::try_from(length / given.every).unwrap_or(0).max(1),
        };
        let mut moments = Vec::with_capacity(plan.moments);
        replay(&plan, 0, &mut |moment| {
            moments.push(moment);
            true
        })
        .map_err(|failed| failed.refusal)?;
        let names: Vec<&str> = given.engines.iter().map(|engine| engine.name.as_str()).collect();
        let found = improvements(&moments, &names, given.of);
        Ok(found
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
            .collect())
    }
}
