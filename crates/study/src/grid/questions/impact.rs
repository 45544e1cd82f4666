//! The slowdown of victims by aggressors.

use darkfiber_packetsim::{Observer, Tuned};
use darkfiber_scenario::{Chain, Error, Medium};
use darkfiber_workload::Machine;
use darkfiber_workload::collective::LIBRARIES;
use darkfiber_workload::placement::ALLOCATORS;
use darkfiber_workload::play::SECOND;

use super::packets;
use crate::congest::{
    Cell, CongestPlan, Contender, FEWEST, Hosts, Mechanism, PlanError, Row, Rule, Split, Store,
    Times, TimesSummary, run,
};
use crate::grid::kept::KeptRuns;
use crate::grid::params::Params;
use crate::grid::question::{CellContext, ColumnOf, Question};
use crate::grid::row::Answer;

/// Simulated time at most, in picoseconds, and how long aggressors run before.
const LIMIT: u64 = SECOND / 10;
const WARMUP: u64 = SECOND / 500;

pub(in crate::grid) struct Impacts;

impl Question for Impacts {
    fn name(&self) -> &'static str {
        "impact"
    }

    fn summary(&self) -> &'static str {
        "how many times as long victims take beside aggressors as by themselves, in switches of [packets]"
    }

    fn parameters(&self) -> &'static [ColumnOf] {
        &[
            ("victim", "who is timed: COLLECTIVE:SIZE, or any traffic; allreduce:8B without"),
            ("aggressor", "who disturbs: incast, alltoall, or any traffic; incast without"),
            ("split", "hosts of the victim in percent, or as VICTIM/AGGRESSOR; 50 without"),
            ("place", "allocators of `darkfiber list allocators`; linear without"),
            ("nodes", "hosts that take part, the first ones; all without"),
            ("scattered", "whether these are drawn at random instead"),
            (
                "groups",
                "they are the first ones of each of that number of groups of the fabric, shared out evenly",
            ),
            ("ppn", "instances of an aggressor on each of its hosts; 1 without"),
            ("classes", "whether victim and aggressor have a traffic class each"),
            ("library", "whose collectives: openmpi, mpich or nccl; openmpi without"),
            ("iterations", "iterations or requests of a victim at least; 200 without"),
            ("runs", "runs of a victim that is an application at least; 10 without"),
            (
                "precision",
                "half-width of the 95 % confidence interval of the median, in percent; 5 without",
            ),
            ("limit", "simulated time after which a victim is stopped; 100ms without"),
            ("warmup", "time that aggressors run before victims start; 2ms without"),
        ]
    }

    fn columns(&self) -> &'static [ColumnOf] {
        &[
            ("impact", "mean time of the victim beside the aggressor over that by itself"),
            ("is_bound", "whether nothing ended beside the aggressor: the impact is at least this"),
            ("isolated", "mean time by itself, in seconds"),
            ("congested", "mean time beside the aggressor, in seconds"),
            ("p95_inflation", "95th percentile beside the aggressor over that by itself"),
            ("p99_inflation", "99th percentile beside the aggressor over that by itself"),
            ("victim", "who is timed"),
            ("aggressor", "who disturbs"),
            ("place", "the allocator"),
            ("victim_nodes", "hosts of the victim"),
            ("aggressor_nodes", "hosts of the aggressor"),
            ("settled", "whether both were known well enough before the limit"),
            ("samples", "iterations, runs or requests beside the aggressor"),
        ]
    }

    fn check(&self, params: &Params) -> Result<(), Error> {
        let [_, aggressors] = names(params)?;
        for text in aggressors {
            Contender::aggressor(&text)?;
        }
        for text in splits(params)? {
            Split::parse(&text, 1024)?;
        }
        for name in params.words("place")?.unwrap_or_default() {
            ALLOCATORS.get(&name)?;
        }
        for flag in ["scattered", "classes"] {
            params.flag(flag)?;
        }
        params.whole("nodes", 4, u32::MAX)?;
        params.whole("ppn", 1, 256)?;
        let drawn = params.flag("scattered")?;
        let groups = params.whole("groups", 1, 1 << 16)?;
        if (drawn || groups.is_some()) && !params.has("nodes") {
            let which = if drawn { "scattered" } else { "groups" };
            let what = format!("{which}: how many hosts take part?");
            return Err(Error::usage(what).hint("nodes = 64"));
        }
        if drawn && groups.is_some() {
            return Err(Error::usage("scattered and groups each say which hosts take part"));
        }
        library(params)?;
        rule(params).map(|_| ())
    }

    fn answer(&self, context: &CellContext<'_>, params: &Params) -> Result<Vec<Answer>, Error> {
        let open = packets::open(context)?;
        let topology = open.topology();
        let there = u32::try_from(Machine::new(topology, 1).len()).unwrap_or(u32::MAX);
        let nodes = params.whole("nodes", 4, u32::MAX)?;
        let hosts = nodes.unwrap_or(there);
        let part = match params.whole("groups", 1, 1 << 16)? {
            Some(groups) => Hosts::of_groups(topology, groups, hosts / groups),
            None if params.flag("scattered")? => {
                Hosts::scattered(topology, hosts, open.seed).map_err(unfit)?
            }
            None => Hosts::first(topology, hosts).map_err(unfit)?,
        };
        let [victims, aggressors] = names(params)?;
        let victims =
            victims.iter().map(|t| Contender::victim(t, &open.host)).collect::<Result<_, _>>()?;
        let aggressors =
            aggressors.iter().map(|t| Contender::aggressor(t)).collect::<Result<_, _>>()?;
        let splits = splits(params)?;
        let splits = splits
            .iter()
            .map(|text| Split::parse(text, hosts.min(there)))
            .collect::<Result<_, _>>()?;
        let places = params.words("place")?.unwrap_or_else(|| vec!["linear".to_owned()]);
        let allocations =
            places.iter().map(|name| ALLOCATORS.get(name)).collect::<Result<_, _>>()?;
        let Medium::Packet(options) = &open.medium else {
            return Err(Error::infeasible("congestion is of packets"));
        };
        let scheme = match &context.scenario.packets.congestion {
            Some(given) => given.tuned()?,
            None => Tuned::parse("none").map_err(Error::usage)?,
        };
        let mechanism = Mechanism {
            name: scheme.to_string(),
            congestion: scheme.scheme.congestion,
            tuning: scheme.tuning,
            routing: options.routing,
            apart: params.flag("classes")?,
        };
        // Packets that do not follow tables need none; runs require some all the same.
        let tables = match packets::tables(context)? {
            Some(tables) => tables.clone(),
            None => match &context.tables {
                Ok(tables) => tables.clone(),
                Err(_) => open.route(&Chain::parse("minhop")?)?,
            },
        };
        let (rule, warmup) = rule(params)?;
        let case = open.with(tables);
        let plan = CongestPlan {
            case: &case,
            hosts: part,
            victims,
            aggressors,
            splits,
            allocations,
            mechanisms: vec![mechanism],
            per_node: params.whole("ppn", 1, 256)?.unwrap_or(1),
            library: library(params)?,
            rule,
            warmup,
            seed: case.seed,
        };
        plan.check().map_err(unfit)?;
        let kept = OfCell { store: context.store, id: context.id, plan: &plan };
        let found = run(&plan, Some(&kept), &|_| ());
        let wanted = context.details.are_wanted();
        let answer = |found: &Row| row(&plan, found).detailed(wanted, || found.clone());
        Ok(found.iter().map(answer).collect())
    }
}

/// The runs of a cell in its store.
struct OfCell<'a> {
    store: &'a dyn KeptRuns,
    id: &'a str,
    plan: &'a CongestPlan<'a>,
}

impl Store for OfCell<'_> {
    fn find(&self, cell: &Cell) -> Option<Times> {
        let text = self.store.saved_result(self.id, &self.plan.text(cell))?;
        serde_json::from_str(&text).ok()
    }

    fn keep(&self, cell: &Cell, times: &Times) {
        if let Ok(text) = serde_json::to_string(times) {
            self.store.keep_run(self.id, &self.plan.text(cell), &text);
        }
    }

    fn follow(&self, cell: &Cell) -> Box<dyn Observer + '_> {
        self.store.follow(self.id, &self.plan.text(cell))
    }
}

/// Names of victims and aggressors.
fn names(params: &Params) -> Result<[Vec<String>; 2], Error> {
    let of = |key: &str, usual: &str| {
        Ok::<_, Error>(params.words(key)?.unwrap_or_else(|| vec![usual.to_owned()]))
    };
    Ok([of("victim", "allreduce:8B")?, of("aggressor", "incast")?])
}

/// Shares in written form, as numbers or as text.
fn splits(params: &Params) -> Result<Vec<String>, Error> {
    Ok(params.texts("split")?.unwrap_or_else(|| vec!["50".to_owned()]))
}

fn library(params: &Params) -> Result<darkfiber_workload::collective::Library, Error> {
    let name = params.word("library")?.unwrap_or_else(|| "openmpi".to_owned());
    Ok(LIBRARIES.get(&name)?.1)
}

/// Duration of the victims' measurement, and of the aggressors' run before it.
fn rule(params: &Params) -> Result<(Rule, u64), Error> {
    let few = FEWEST as u32;
    let rule = Rule {
        iterations: params.whole("iterations", few, 1_000_000)?.unwrap_or(200) as usize,
        runs: params.whole("runs", few, 1_000_000)?.unwrap_or(10) as usize,
        precision: params.number("precision", 1e-3, 1e3)?.unwrap_or(5.0) / 100.0,
        limit: params.time("limit")?.unwrap_or(LIMIT),
    };
    let warmup = params.time("warmup")?.unwrap_or(WARMUP);
    if rule.limit == 0 || rule.limit.max(warmup) > 1000 * SECOND {
        return Err(Error::usage("limit and warmup must be at most 1000 s, and limit above 0")
            .hint("50ms is some: packets take minutes for a second"));
    }
    Ok((rule, warmup))
}

fn unfit(wrong: PlanError) -> Error {
    match wrong {
        PlanError::Traffic(e) => {
            Error::usage(e).hint("`darkfiber list traffic` shows what there is")
        }
        PlanError::Hosts(text) => Error::infeasible(text),
    }
}

/// A victim with an aggressor.
fn row(plan: &CongestPlan<'_>, found: &Row) -> Answer {
    let cell = &found.cell;
    let split = plan.splits[cell.split];
    let (victim, place) = (&plan.victims[cell.victim].name, plan.allocations[cell.allocation].name);
    let aggressor = cell.aggressor.map(|a| plan.aggressors[a].name.clone());
    let mut of = victim.clone();
    if let Some(aggressor) = &aggressor {
        of = format!("{of} beside {aggressor}");
    }
    if plan.splits.len() > 1 {
        of = format!("{of}, {}/{}", split.victim, split.aggressor);
    }
    if plan.allocations.len() > 1 {
        of = format!("{of}, {place}");
    }
    let whose = Answer::of(of)
        .with("victim", victim.clone())
        .with_some("aggressor", aggressor)
        .with("place", place.to_owned())
        .with("victim_nodes", u64::from(split.victim))
        .with("aggressor_nodes", u64::from(split.aggressor));
    let ran = match &found.ran {
        Ok(ran) => ran,
        Err(why) => return Answer { error: Some(why.clone()), ..whose },
    };
    let (isolated, congested) = (ran.isolated.summary(), ran.congested.summary());
    let by = |part: fn(&TimesSummary) -> f64| {
        let (alone, beside) = (isolated.as_ref()?, congested.as_ref()?);
        (part(alone) > 0.0).then(|| part(beside) / part(alone))
    };
    let Some(impact) = found.impact() else {
        let why = "the victim by itself does not end within the limit".to_owned();
        // It ran, unlike a refused one.
        let ran = whose.with("settled", false).with("samples", ran.congested.samples.len());
        return Answer { error: Some(why), ..ran };
    };
    whose
        .with("impact", impact.times)
        .with("is_bound", impact.is_bound)
        .with_some("isolated", isolated.as_ref().map(|t| t.mean))
        .with_some("congested", congested.as_ref().map(|t| t.mean))
        .with_some("p95_inflation", by(|t| t.p95))
        .with_some("p99_inflation", by(|t| t.p99))
        .with("settled", ran.isolated.settled && ran.congested.settled)
        .with("samples", ran.congested.samples.len())
}
