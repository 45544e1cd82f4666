//! `darkfiber congest`: what victims suffer beside aggressors.

mod args;
mod map;

use std::io::Write;
use std::path::Path;
use std::time::Instant;

use darkfiber_packetsim::routing::ROUTINGS;
use darkfiber_packetsim::{Pulse, Tuned};
use darkfiber_report::congest::{
    self as report, CellRow, CongestResult, MechanismRow, NamedTraffic, RuleFacts, Spread,
};
use darkfiber_report::{Report, comma, json};
use darkfiber_scenario::value::Chosen;
use darkfiber_scenario::{Chain, Folder, Scenario};
use darkfiber_study::congest::{
    APART, Cell, CongestPlan, Contender, Hosts, Mechanism, PlanError, Row, Rule, Split, Times,
};
use darkfiber_study::grid::{Details, Hooks, Ready};
use darkfiber_study::listed;
use darkfiber_workload::Machine;
use darkfiber_workload::collective::LIBRARIES;
use darkfiber_workload::placement::Allocator;
use darkfiber_workload::play::{HOSTS, SECOND};
use darkfiber_workload::quantity::time;
use darkfiber_workload::traffic::Timed;

use super::metrics;
use crate::failure::{Exit, Failure};
use crate::kept_runs::RunsFolder;
use crate::options::Common;
use crate::options::quantity;
use crate::options::values::distinct;
use crate::preset::{Preset, question, texts};
use crate::progress::Progress;
use crate::run_store::RunStore;
use crate::{history, load, provenance, save};

pub(crate) use self::args::{CongestCommand, HELP};

/// Switches if nobody says which.
const USUAL_SWITCHES: &str = "rosetta";

/// Engine if nobody says which.
const USUAL_ENGINE: &str = "minhop";

pub(crate) fn run(args: &CongestCommand, common: &Common) -> Result<Exit, Failure> {
    // What the options say, before anything is read.
    let host = HOSTS.get(&args.host_model)?;
    let victims = listed(&args.victims);
    let aggressors = listed(&args.aggressors);
    for (what, all) in [("victim", &victims), ("aggressor", &aggressors)] {
        if all.is_empty() {
            return Err(Failure::usage(format!("--{what}s: none is given")));
        }
        distinct(what, all.iter().map(String::as_str))?;
    }
    let victims: Vec<Contender> =
        victims.iter().map(|t| Contender::victim(t, host)).collect::<Result<_, _>>()?;
    let aggressors: Vec<Contender> =
        aggressors.iter().map(|t| Contender::aggressor(t)).collect::<Result<_, _>>()?;
    let library = LIBRARIES.get(&args.library)?.1;
    let mechanisms = mechanisms(args)?;
    distinct("allocation", args.place.iter().map(String::as_str))?;
    let allocations: Vec<&'static Allocator> =
        args.place.iter().map(|a| history::known_allocator(a)).collect::<Result<_, _>>()?;
    let limit = quantity(&args.limit, "--limit", time)?;
    let warmup = quantity(&args.warmup, "--warmup", time)?;
    if limit == 0 || limit.max(warmup) > 1000 * SECOND {
        return Err(Failure::usage(
            "--limit and --warmup must be at most 1000 s, and --limit above 0",
        )
        .hint("50ms is some: packets take minutes for a second"));
    }
    let mut scenario = args.fabric.scenario(common);
    args.switch.fill(&mut scenario, USUAL_SWITCHES)?;
    let chain = Chain::parse(engine(args)?)?;
    scenario.hosts = Chosen(host);
    if let Some(exit) = args.preset.write(|| one(presets(args, &scenario)))? {
        return Ok(exit);
    }

    // The fabric, its switches, its tables, and which of its hosts take part.
    save::expect(args.svg.as_ref())?;
    args.page.expect()?;
    save::expect_directory(args.output.as_ref())?;
    let open = load::open(&scenario, common)?;
    let topology = open.topology();
    let there = u32::try_from(Machine::new(topology, 1).len()).unwrap_or(u32::MAX);
    let hosts = args.nodes.unwrap_or(there);
    distinct("split", args.split.iter().map(String::as_str))?;
    let mut splits = args
        .split
        .iter()
        .map(|s| Split::parse(s, hosts.min(there)))
        .collect::<Result<Vec<_>, _>>()?;
    // Of few hosts several shares are the same.
    let mut known = Vec::new();
    splits.retain(|split| {
        let is_new = !known.contains(split);
        known.push(*split);
        is_new
    });
    let rule = Rule {
        iterations: args.iterations as usize,
        runs: args.runs as usize,
        precision: args.precision / 100.0,
        limit,
    };
    let part = if args.scattered {
        Hosts::scattered(topology, hosts, common.seed())
    } else {
        Hosts::first(topology, hosts)
    };
    let part = part.map_err(unfit)?;
    let tables = open.route(&chain).map_err(|e| e.inside(&chain.name))?;
    let case = open.with(tables);
    // All that is run, and the runs.
    let plan = CongestPlan {
        case: &case,
        hosts: part,
        victims,
        aggressors,
        splits,
        allocations,
        mechanisms,
        per_node: args.ppn,
        library,
        rule,
        warmup,
        seed: case.seed,
    };
    plan.check().map_err(unfit)?;

    let cells = plan.cells();
    let progress = Progress::new(cells.len() as u64, common.quiet);
    progress.at("victims alone, and beside aggressors");
    let begin = Instant::now();
    let done = || progress.step();
    let rows = answered(args, &scenario, &plan, &done)?;
    drop(progress);
    let wall = begin.elapsed().as_secs_f64();

    // What came out, named and counted together.
    let cells: Vec<CellRow> = rows.iter().map(|row| cell_row(&plan, row)).collect();
    if let Some(why) = all_refused(&cells) {
        return Err(Failure::infeasible(why));
    }
    let of_mechanisms = mechanism_rows(&cells);
    let named = |parts: &[Contender]| -> Vec<NamedTraffic> {
        parts
            .iter()
            .map(|p| NamedTraffic { name: p.name.clone(), traffic: p.spec.clone() })
            .collect()
    };
    let s = |ps: u64| ps as f64 / SECOND as f64;
    let facts = metrics::of_loaded(&case.loaded);
    let provenance = provenance::of(case.fabric(), common);
    let result = CongestResult {
        switches: scenario.packets.switches().name,
        hosts: case.host.name,
        packet_bytes: case.medium.packets().map_or(0, |options| options.bytes),
        nodes: hosts,
        scattered: args.scattered,
        aggressors_per_node: args.ppn,
        rule: RuleFacts {
            iterations: rule.iterations,
            runs: rule.runs,
            precision_percent: args.precision,
            limit: s(limit),
            warmup: s(warmup),
        },
        victims: &named(&plan.victims),
        aggressors: &named(&plan.aggressors),
        mechanisms: &of_mechanisms,
        cells: &cells,
        wall_seconds: wall,
        fabric: &facts,
        provenance: &provenance,
    };
    // Files first: what is printed last is what came of all.
    let json_text = json::text(&result);
    let mut problems = save::Unwritten::default();
    let mut write = |path: &Path, text: &str| {
        problems.note(save::file(path, |out| out.write_all(text.as_bytes())));
    };
    if let Some(path) = &args.svg {
        write(path, &report::heat(&result));
    }
    if let Some(dir) = &args.output {
        write(&dir.join("congest.json"), &json_text);
        write(&dir.join("congest.csv"), &result.csv());
        write(&dir.join("heat.svg"), &report::heat(&result));
        write(&dir.join("violins.svg"), &report::violins(&result));
        let title = format!("Times of victims, {}", facts.name);
        write(&dir.join("times.svg"), &report::spread(&title, &spreads(&plan, &rows)));
        problems.note(save::file(&dir.join("times.csv"), |out| times(out, &plan, &rows)));
    }
    problems.note(args.page.write(|| map::page(&plan, &cells, &provenance)));
    common.show(&result)?;
    problems.end(Exit::Fine)
}

/// The study that is written down.
fn one(mut presets: Vec<Preset>) -> Result<Preset, Failure> {
    match (presets.pop(), presets.is_empty()) {
        (Some(preset), true) => Ok(preset),
        _ => Err(Failure::usage(format!(
            "--write-study: in a study all have traffic classes ({APART}), or nobody has"
        ))
        .hint("write a study of each")),
    }
}

/// What is asked, as studies: one for the schemes whose victims and aggressors have traffic classes, and one for the others.
fn presets(args: &CongestCommand, scenario: &Scenario) -> Vec<Preset> {
    let schemes = listed(&args.congestion.join(","));
    let (apart, together): (Vec<&String>, Vec<&String>) =
        schemes.iter().partition(|scheme| scheme.ends_with(APART));
    let some = [(together, false), (apart, true)].into_iter().filter(|(all, _)| !all.is_empty());
    some.map(|(all, apart)| preset(args, scenario, &all, apart)).collect()
}

fn preset(args: &CongestCommand, scenario: &Scenario, schemes: &[&String], apart: bool) -> Preset {
    let plain = schemes.iter().map(|scheme| scheme.strip_suffix(APART).unwrap_or(scheme));
    let list = |text: &str| toml::Value::Array(texts(listed(text)));
    let yes = |yes: bool| yes.then_some(toml::Value::Boolean(true));
    let whole = |n: u32| Some(toml::Value::Integer(n.into()));
    let asked = question(
        "impact",
        vec![
            ("victim", Some(list(&args.victims))),
            ("aggressor", Some(list(&args.aggressors))),
            ("split", Some(toml::Value::Array(texts(&args.split)))),
            ("place", Some(toml::Value::Array(texts(&args.place)))),
            ("nodes", args.nodes.and_then(whole)),
            ("scattered", yes(args.scattered)),
            ("ppn", whole(args.ppn)),
            ("classes", yes(apart)),
            ("library", Some(crate::preset::text(&args.library))),
            ("iterations", whole(args.iterations)),
            ("runs", whole(args.runs)),
            ("precision", Some(toml::Value::Float(args.precision))),
            ("limit", Some(crate::preset::text(&args.limit))),
            ("warmup", Some(crate::preset::text(&args.warmup))),
        ],
    );
    Preset {
        scenario: scenario.clone(),
        axes: vec![
            ("routes.engine", texts([args.engine.as_deref().unwrap_or(USUAL_ENGINE)])),
            ("packets.congestion", texts(plain)),
            ("packets.routing", texts(&args.routing)),
        ],
        zip: Vec::new(),
        questions: vec![asked],
        seeds: None,
    }
}

/// Runs all of it: the rows of the plan, in its order.
fn answered(
    args: &CongestCommand,
    scenario: &Scenario,
    plan: &CongestPlan<'_>,
    done: &(dyn Fn() + Sync),
) -> Result<Vec<Row>, Failure> {
    let case = plan.case;
    let (over, pulse) = (|_: &str| done(), |_: &str, _: &Pulse| ());
    let digest = case.fabric().digest();
    let store = RunStore {
        runs: RunsFolder::of(&args.keep)?,
        read: format!("fabric {digest:016x}"),
        over: &over,
        pulse: &pulse,
    };
    let tables = Some(case.tables.clone());
    let ready = [Ready { tables, ..Ready::of(&scenario.fabric, &case.loaded) }];
    let files = Folder::default();
    let hooks = Hooks { details: Details::Found, ready: &ready, ..Hooks::of(&store, &files) };
    let schemes = listed(&args.congestion.join(","));
    let mut rows = Vec::new();
    for preset in presets(args, scenario) {
        let apart = preset.questions.iter().any(|q| q.get("classes").is_some());
        for record in preset.run(&hooks)? {
            let of = |key: &str| record.set.iter().find(|(name, _)| name == key).map(|(_, v)| v);
            let (Some(scheme), Some(routing)) = (of("packets.congestion"), of("packets.routing"))
            else {
                continue;
            };
            let scheme = format!("{scheme}{}", if apart { APART } else { "" });
            let routing = routing.to_string();
            let at = schemes.iter().position(|s| *s == scheme);
            let at = at.zip(args.routing.iter().position(|r| *r == routing));
            let mechanism = at.map_or(0, |(scheme, routing)| scheme * args.routing.len() + routing);
            for answer in &record.answers {
                let Some(found) = answer.detail.get::<Row>() else {
                    return Err(crate::preset::failure(answer, &routing));
                };
                rows.push(Row { cell: Cell { mechanism, ..found.cell }, ..found.clone() });
            }
        }
    }
    rows.sort_by_key(|row| row.cell);
    Ok(rows)
}

fn unfit(wrong: PlanError) -> Failure {
    match wrong {
        PlanError::Traffic(e) => {
            Failure::usage(e).hint("`darkfiber list traffic` shows what there is")
        }
        PlanError::Hosts(text) => {
            Failure::infeasible(text).hint("give --split as VICTIM/AGGRESSOR, or --nodes")
        }
    }
}

/// Every congestion control with every routing.
fn mechanisms(args: &CongestCommand) -> Result<Vec<Mechanism>, Failure> {
    // Commas are between schemes, and between parameters of one.
    let schemes = listed(&args.congestion.join(","));
    let mut controls = Vec::new();
    for text in &schemes {
        let alone = text.strip_suffix(APART);
        let tuned = Tuned::parse(alone.unwrap_or(text))?;
        let name = format!("{tuned}{}", if alone.is_some() { APART } else { "" });
        controls.push((name, tuned, alone.is_some()));
    }
    distinct("congestion control", controls.iter().map(|c| c.0.as_str()))?;
    distinct("routing", args.routing.iter().map(String::as_str))?;
    let mut all = Vec::new();
    for (name, tuned, apart) in &controls {
        for routing in &args.routing {
            all.push(Mechanism {
                name: name.clone(),
                congestion: tuned.scheme.congestion,
                tuning: tuned.tuning,
                routing: ROUTINGS.get(routing)?,
                apart: *apart,
            });
        }
    }
    Ok(all)
}

/// The engine that makes the tables; refuses one whose tables no packet follows.
fn engine(args: &CongestCommand) -> Result<&str, Failure> {
    match &args.engine {
        Some(engine) if args.routing.iter().all(|routing| routing != "tables") => {
            let routings = args.routing.join(",");
            Err(Failure::usage(format!(
                "--engine {engine} makes tables, and --routing {routings} follows none"
            ))
            .hint("add --routing tables, or leave --engine out"))
        }
        Some(engine) => Ok(engine),
        None => Ok(USUAL_ENGINE),
    }
}

fn cell_row(plan: &CongestPlan<'_>, row: &Row) -> CellRow {
    let cell = &row.cell;
    let m = &plan.mechanisms[cell.mechanism];
    let split = plan.splits[cell.split];
    let victim = &plan.victims[cell.victim];
    let (isolated, congested) = match &row.ran {
        Ok(ran) => (ran.isolated.summary(), ran.congested.summary()),
        Err(_) => (None, None),
    };
    let by = |of: fn(&darkfiber_study::congest::TimesSummary) -> f64| {
        let (alone, beside) = (isolated.as_ref()?, congested.as_ref()?);
        (of(alone) > 0.0).then(|| of(beside) / of(alone))
    };
    let impact = row.impact();
    CellRow {
        victim: victim.name.clone(),
        aggressor: cell.aggressor.map_or_else(String::new, |a| plan.aggressors[a].name.clone()),
        congestion: m.name.clone(),
        routing: m.routing.name.to_owned(),
        allocation: plan.allocations[cell.allocation].name.to_owned(),
        victim_nodes: split.victim,
        aggressor_nodes: split.aggressor,
        aggressor_percent: split.aggressor_percent(),
        timed: match victim.kind.timed() {
            Timed::Iterations => "iterations",
            Timed::Runs => "runs",
            Timed::Requests => "requests",
        },
        impact: impact.map(|c| c.times),
        is_bound: impact.is_some_and(|c| c.is_bound),
        p95_inflation: by(|t| t.p95),
        p99_inflation: by(|t| t.p99),
        refused: match &row.ran {
            Err(why) => Some(why.clone()),
            Ok(_) if isolated.is_none() => {
                Some("the victim alone does not end within --limit".to_owned())
            }
            Ok(_) => None,
        },
        isolated,
        congested,
    }
}

/// Times of all runs: of a victim alone once for all its aggressors.
fn runs(rows: &[Row]) -> impl Iterator<Item = (Cell, &Times)> {
    let mut alone = None;
    rows.iter().filter_map(|row| Some((row.cell, row.ran.as_ref().ok()?))).flat_map(
        move |(cell, ran)| {
            let by_itself = Cell { aggressor: None, ..cell };
            let is_new = alone.replace(by_itself) != Some(by_itself);
            let first = is_new.then_some((by_itself, &ran.isolated));
            first.into_iter().chain([(cell, &ran.congested)])
        },
    )
}

fn spreads(plan: &CongestPlan<'_>, rows: &[Row]) -> Vec<Spread> {
    let s = |ps: &u64| *ps as f64 / SECOND as f64;
    let one = |(cell, times): (Cell, &Times)| {
        let summary = times.summary()?;
        let m = &plan.mechanisms[cell.mechanism];
        let split = plan.splits[cell.split];
        let beside = cell.aggressor.map_or_else(
            || format!("alone on {}", split.victim),
            |a| format!("{} {}/{}", plan.aggressors[a].name, split.victim, split.aggressor),
        );
        let mut name = vec![beside, m.name.clone()];
        let more = [
            (plan.mechanisms.iter().any(|x| x.routing.name != m.routing.name), m.routing.name),
            (plan.allocations.len() > 1, plan.allocations[cell.allocation].name),
        ];
        name.extend(more.iter().filter(|x| x.0).map(|x| x.1.to_owned()));
        Some(Spread {
            victim: plan.victims[cell.victim].name.clone(),
            name: name.join(", "),
            kind: cell.mechanism * 2 + usize::from(cell.aggressor.is_some()),
            times: times.samples.iter().map(s).collect(),
            quantiles: [summary.median, summary.p95, summary.p99],
        })
    };
    let mut all: Vec<Spread> = runs(rows).filter_map(one).collect();
    // Rows of one victim together, in their order otherwise.
    let place = |s: &Spread| plan.victims.iter().position(|v| v.name == s.victim);
    all.sort_by_key(place);
    all
}

/// A line for each time.
fn times(out: &mut dyn Write, plan: &CongestPlan<'_>, rows: &[Row]) -> std::io::Result<()> {
    let heading =
        "victim,aggressor,congestion,routing,allocation,victim_nodes,aggressor_nodes,seconds";
    writeln!(out, "{heading}")?;
    for (cell, times) in runs(rows) {
        let m = &plan.mechanisms[cell.mechanism];
        let split = plan.splits[cell.split];
        let beside = cell.aggressor.map_or("", |a| plan.aggressors[a].name.as_str());
        let line = [
            plan.victims[cell.victim].name.clone(),
            beside.to_owned(),
            m.name.clone(),
            m.routing.name.to_owned(),
            plan.allocations[cell.allocation].name.to_owned(),
            split.victim.to_string(),
            cell.aggressor.map_or(0, |_| split.aggressor).to_string(),
        ];
        for t in &times.samples {
            let mut line = line.to_vec();
            line.push((*t as f64 / SECOND as f64).to_string());
            out.write_all(comma::text(&[line]).as_bytes())?;
        }
    }
    Ok(())
}

/// Why, if there is no cell with a result.
fn all_refused(cells: &[CellRow]) -> Option<String> {
    let first = cells.first()?;
    (cells.iter().all(|c| c.impact.is_none())).then(|| first.refused.clone().unwrap_or_default())
}

/// By how much longer victims take by themselves under the mechanism and allocation of a cell than without congestion control.
fn quiet_cost(cells: &[CellRow], of: &CellRow) -> Option<f64> {
    let alone = |c: &CellRow| c.isolated.as_ref().map(|t| t.mean);
    let longer = |c: &CellRow| -> Option<f64> {
        let base = cells.iter().find(|b| {
            b.congestion == "none"
                && (&b.routing, &b.allocation, &b.victim, b.victim_nodes)
                    == (&c.routing, &c.allocation, &c.victim, c.victim_nodes)
        })?;
        Some(alone(c)? / alone(base)? - 1.0)
    };
    let same = |c: &&CellRow| {
        (&c.congestion, &c.routing, &c.allocation) == (&of.congestion, &of.routing, &of.allocation)
    };
    cells.iter().filter(same).filter_map(longer).reduce(f64::max)
}

fn mechanism_rows(cells: &[CellRow]) -> Vec<MechanismRow> {
    let mut all: Vec<(MechanismRow, Vec<f64>)> = Vec::new();
    for c in cells {
        let same = |m: &(MechanismRow, Vec<f64>)| {
            (&m.0.congestion, &m.0.routing, &m.0.allocation)
                == (&c.congestion, &c.routing, &c.allocation)
        };
        let at = all.iter().position(same).unwrap_or_else(|| {
            let row = MechanismRow {
                congestion: c.congestion.clone(),
                routing: c.routing.clone(),
                allocation: c.allocation.clone(),
                cells: 0,
                refused: 0,
                at_limit: 0,
                median: None,
                max: None,
                quiet_cost: quiet_cost(cells, c),
            };
            all.push((row, Vec::new()));
            all.len() - 1
        });
        let (row, impacts) = &mut all[at];
        row.refused += usize::from(c.impact.is_none());
        row.at_limit += usize::from(c.is_at_limit());
        impacts.extend(c.impact);
    }
    let finished = |(row, mut impacts): (MechanismRow, Vec<f64>)| {
        impacts.sort_by(f64::total_cmp);
        let (n, half) = (impacts.len(), impacts.len() / 2);
        let median = (n > 0).then(|| f64::midpoint(impacts[(n - 1) / 2], impacts[half]));
        MechanismRow { cells: n, median, max: impacts.last().copied(), ..row }
    };
    all.into_iter().map(finished).collect()
}
