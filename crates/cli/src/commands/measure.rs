//! `darkfiber measure`: what routes make of patterns of traffic.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use darkfiber_analysis::Names;
use darkfiber_analysis::count::{Bandwidth, METRICS, MetricSource, Precision};
use darkfiber_fabric::{Fabric, Shape, SwitchId, TerminalId, Topology};
use darkfiber_page::{Axis, Chart, ChartLine, Measured, Page, Unit};
use darkfiber_report::heat::{FLOWS, Map, Panel, loads_and_maps};
use darkfiber_report::measure::{
    EngineMeasured, MaxLoad, MeasureOutcome, MeasureResult, PatternMeasured,
};
use darkfiber_report::{FabricFacts, Provenance, Refused, number};
use darkfiber_scenario::{Case, Error, ErrorKind, Folder, Scenario, Tables};
use darkfiber_study::grid::{Details, Hooks, NullStore, Ready, Record};
use darkfiber_study::patterns::{ItemFound, PatternPart, PatternPlan, PatternsFound};

use super::metrics;
use crate::failure::{Exit, Failure};
use crate::options::values::above_zero;
use crate::options::{BesideTables, Common, EngineArgs, FabricArgs, Format, PageArgs, RequestArgs};
use crate::out::Teller;
use crate::preset::{Preset, PresetArgs, question, texts};
use crate::progress::Progress;
use crate::{load, page, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct MeasureCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) engines: EngineArgs,
    /// Existing tables: a file, or a directory written by `darkfiber route -o`; several times to compare
    #[arg(long, value_name = "PATH")]
    pub(crate) routes: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) beside: BesideTables,
    /// Metrics, separated by commas (`darkfiber list metrics`) [default: worst,abb,afpb,adb,ebb]; of
    /// patterns: share, pair_share, fair_rate, finish_rate [default: share,pair_share]
    #[arg(long = "metric", value_name = "METRIC,..", value_delimiter = ',')]
    pub(crate) metrics: Vec<String>,
    /// Pattern of traffic, `name` or `name:key=value,...` (`darkfiber list patterns`), or a file with a
    /// source and a destination on each line; several times
    #[arg(long = "pattern", value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    /// Participants: names of hosts, GUIDs, numbers (0-63), separated by commas, node sets (cn[1-18/2]!cn3), or a
    /// file of them [default: all terminals that run jobs]
    #[arg(long, value_name = "WHO")]
    pub(crate) among: Option<String>,
    /// Other names of hosts, and groups, for --among: an alias and the name or GUID in the fabric on each line, in any
    /// order; `@group hosts` names several
    #[arg(long, value_name = "FILE", requires = "among")]
    pub(crate) aliases: Option<PathBuf>,
    /// Draw this many samples of random patterns
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(crate) samples: Option<u64>,
    /// Half-width of the 99 % confidence interval of a mean, in percent of it: 1,000 samples are drawn, and doubled
    /// until it is reached
    #[arg(long, value_name = "PERCENT", default_value_t = 0.5, value_parser = above_zero)]
    pub(crate) precision: f64,
    /// Weight flows by link speed instead of taking all links as equal
    #[arg(long)]
    pub(crate) link_speeds: bool,
    #[command(flatten)]
    pub(crate) request: RequestArgs,
    /// Draw channels by load, and a map of where the load is, for the first pattern
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
Counts flows on channels, without time: a flow is one pair of a pattern, and all flows weigh the same.
Papers call four things bandwidth; here each has a line, as shares of what a terminal's link carries:
  share        1 / flows on the fullest channel: what the slowest pair gets
  pair_share   mean over the pairs of 1 / flows on the fullest channel of the path
  fair_rate    mean of the max-min fair rates
  finish_rate  1 / time until the last of equal messages has arrived at fair rates
abb, afpb, adb are the share of random bisections, full permutations, exchanges; ebb, fair, finish are the
others of random bisections. worst is exact: the most flows of any permutation on one channel, with --link-speeds on
the one that takes longest. '(at most)' is an upper bound for any routes: the channels around switches, subtrees,
groups and halves of the fabric, and all together.

Examples:
  darkfiber measure fattree2:n=18,m=18,r=36 -e dmodk -e opt -e opt-rect
  darkfiber measure my-fabric.topo --routes opensm-lfts.dump -e ftree --metric worst,abb,ebb
  darkfiber measure @t2hx-hyperx -e minhop -e dfsssp --pattern bisect --svg load.svg
  darkfiber measure dragonfly:p=4,a=8,h=4 -e dfsssp --pattern adversarial --pattern tornado
  darkfiber measure my-fabric.topo -e updn --pattern shift --among nodes.txt
  darkfiber measure my-fabric.topo -e updn --pattern pairs.txt --metric share,fair_rate

Exit code 4 if no routes could be measured.";

/// Metrics where none and no pattern is asked for.
const USUAL: [&str; 5] = ["worst", "abb", "afpb", "adb", "ebb"];

/// A study of engines, or of tables that were read.
struct MeasureStudy {
    preset: Preset,
    /// What each row is called.
    called: Vec<String>,
    tables: Option<Tables>,
}

/// The study that is written down.
fn written(args: &MeasureCommand, common: &Common) -> Result<Preset, Failure> {
    args.beside.refuse_form()?;
    if !args.engines.engines.is_empty() && !args.routes.is_empty() {
        return Err(Failure::usage(
            "--write-study: an engine beside tables from a file has no place in a study",
        )
        .hint("write a study of each"));
    }
    let mut scenario = args.fabric.scenario(common);
    scenario.routes = args.request.routes();
    args.beside.name_in(&mut scenario.routes);
    let (part, _) = asked(args)?;
    let axis = if args.routes.is_empty() {
        ("routes.engine", texts(args.engines.chains()?.iter().map(|chain| &chain.name)))
    } else {
        ("routes.tables", texts(args.routes.iter().map(|path| path.display().to_string())))
    };
    Ok(preset(args, &scenario, &part, vec![axis]))
}

fn preset(
    args: &MeasureCommand,
    scenario: &Scenario,
    part: &PatternPart,
    axes: Vec<(&'static str, Vec<toml::Value>)>,
) -> Preset {
    let list = |all: Vec<toml::Value>| (!all.is_empty()).then_some(toml::Value::Array(all));
    let samples = args.samples.and_then(|n| i64::try_from(n).ok()).map(toml::Value::Integer);
    let precision = samples.is_none().then_some(toml::Value::Float(args.precision));
    let word = |text: &Option<String>| text.as_ref().map(|text| crate::preset::text(text));
    let bandwidths = part.bandwidths.iter().map(|bandwidth| bandwidth.name());
    let asked = question(
        "patterns",
        vec![
            ("metric", list(texts(&part.metrics))),
            ("pattern", list(texts(&part.patterns))),
            ("bandwidth", list(texts(bandwidths)).filter(|_| !part.patterns.is_empty())),
            ("among", word(&part.among)),
            ("aliases", word(&part.aliases)),
            ("link-speeds", part.link_speeds.then_some(toml::Value::Boolean(true))),
            ("samples", samples),
            ("precision", precision),
        ],
    );
    let (scenario, questions) = (scenario.clone(), vec![asked]);
    Preset { scenario, axes, zip: Vec::new(), questions, seeds: None }
}

/// All that is asked, as studies: tables that are read are one each.
fn parts(
    args: &MeasureCommand,
    scenario: &Scenario,
    part: &PatternPart,
    case: &Case<()>,
    common: &Common,
) -> Result<Vec<MeasureStudy>, Failure> {
    let mut all = Vec::new();
    let chains = args.engines.chains()?;
    if !chains.is_empty() {
        let called: Vec<String> = chains.iter().map(|chain| chain.name.clone()).collect();
        let preset = preset(args, scenario, part, vec![("routes.engine", texts(&called))]);
        all.push(MeasureStudy { preset, called, tables: None });
    }
    for path in &args.routes {
        let read = case.read(&args.beside.files(path), &mut Teller::new(common))?;
        load::counts_by_sources(&read.routes, &args.beside, common)?;
        let preset = preset(args, scenario, part, Vec::new());
        all.push(MeasureStudy {
            preset,
            called: vec![path.display().to_string()],
            tables: Some(read),
        });
    }
    Ok(all)
}

pub(crate) fn run(args: &MeasureCommand, common: &Common) -> Result<Exit, Failure> {
    if args.engines.engines.is_empty() && args.routes.is_empty() {
        return Err(Failure::usage("nothing to measure: give -e ENGINE or --routes PATH")
            .hint("several of both are compared side by side"));
    }
    if args.routes.len() > 1 && !args.beside.is_empty() {
        return Err(Failure::usage(
            "--sl, --path-bits, --lid-choice, --guid2lid and --routes-format belong to one --routes",
        )
        .hint("put each set of tables in a directory of its own, with the files beside them"));
    }
    if let Some(exit) = args.preset.write(|| written(args, common))? {
        return Ok(exit);
    }
    save::expect(args.svg.as_ref())?;
    args.page.expect()?;
    let scenario = Scenario { routes: args.request.routes(), ..args.fabric.scenario(common) };
    let case = load::open(&scenario, common)?;
    let (fabric, shape) = (case.fabric(), case.topology().shape.as_ref());
    // What cannot be is said before anything is routed.
    let (part, shown) = asked(args)?;
    load::refuse_no_hosts(fabric)?;
    expect_pattern(args, &part)?;
    let (files, seed) = (Folder::default(), common.seed());
    let listener = &mut Teller::new(common);
    let plan = PatternPlan::of(&part, case.topology(), seed, &files, listener)?;
    let parts = parts(args, &scenario, &part, &case, common)?;
    let facts = metrics::of_loaded(&case.loaded);

    let count = parts.iter().map(|part| part.called.len()).sum::<usize>();
    let progress = Progress::new(count as u64, common.quiet);
    progress.at("routing and counting");
    let begin = Instant::now();
    let (clock, done) = (|| begin.elapsed().as_secs_f64(), || progress.step());
    // Counting has work for all threads.
    let hooks = Hooks { clock: &clock, done: &done, alone: true, ..Hooks::of(&NullStore, &files) };
    let draws = args.svg.is_some() || args.page.is_asked() || common.format == Format::Json;
    let details = if draws { Details::Drawn } else { Details::Found };
    let mut outcomes = Vec::new();
    for part in parts {
        let seconds = part.tables.is_none();
        let ready = [Ready { tables: part.tables, ..Ready::of(&scenario.fabric, &case.loaded) }];
        let records = part.preset.run(&Hooks { details, ready: &ready, ..hooks })?;
        for (called, record) in part.called.into_iter().zip(&records) {
            outcomes.push(outcome(called, record, seconds, (fabric, &plan.who))?);
        }
    }
    drop(progress);

    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.svg {
        problems.note(draw(path, fabric, shape, &facts, &part, plan.who.len(), &outcomes));
    }
    let provenance = provenance::of(fabric, common);
    problems
        .note(args.page.write(|| picture(case.topology(), plan.who.len(), &outcomes, &provenance)));
    common.show(&MeasureResult {
        rows: &outcomes,
        participants: plan.who.len(),
        metrics: &shown,
        patterns: &part.patterns,
        fabric: &facts,
        provenance: &provenance,
    })?;
    let measured = |o: &MeasureOutcome| matches!(o, MeasureOutcome::Measured(_));
    problems.end(if outcomes.iter().any(measured) { Exit::Fine } else { Exit::Infeasible })
}

/// Refuses a picture or samples of a pattern where none is counted.
fn expect_pattern(args: &MeasureCommand, part: &PatternPart) -> Result<(), Failure> {
    let counts = |metric: &&darkfiber_analysis::count::Metric| {
        matches!(metric.of, MetricSource::Pattern { .. })
            && part.metrics.iter().any(|name| name == metric.name)
    };
    let none = part.patterns.is_empty() && !METRICS.iter().any(|metric| counts(&metric));
    let what = match (&args.svg, args.samples) {
        (Some(_), _) => "--svg draws a pattern",
        (None, Some(_)) => "--samples are of random patterns",
        (None, None) => return Ok(()),
    };
    if none {
        return Err(
            Failure::usage(format!("{what}, and none is counted")).hint("add --pattern bisect")
        );
    }
    Ok(())
}

/// What is asked, and the metrics that people see.
fn asked(args: &MeasureCommand) -> Result<(PatternPart, Vec<&'static str>), Failure> {
    let (metrics, bandwidths) = named(args)?;
    let mut precision = Precision { width: 2.0 * args.precision / 100.0, ..Precision::default() };
    if let Some(samples) = args.samples {
        precision = Precision::exactly(samples);
    }
    let part = PatternPart {
        metrics: metrics.iter().map(|&name| name.to_owned()).collect(),
        patterns: args.patterns.clone(),
        bandwidths,
        among: args.among.clone(),
        aliases: args.aliases.as_ref().map(|path| path.display().to_string()),
        link_speeds: args.link_speeds,
        precision,
    };
    Ok((part, metrics))
}

/// The metrics, and the bandwidths for patterns, that `--metric` names.
fn named(args: &MeasureCommand) -> Result<(Vec<&'static str>, Vec<Bandwidth>), Failure> {
    let mut names: Vec<&'static str> = Vec::new();
    let mut bandwidths = Vec::new();
    for name in &args.metrics {
        if let Some(metric) = METRICS.iter().find(|m| m.name == name) {
            if !names.contains(&metric.name) {
                names.push(metric.name);
            }
        } else if let Some(bandwidth) = Bandwidth::ALL.into_iter().find(|b| b.name() == name) {
            bandwidths.push(bandwidth);
        } else {
            let known = METRICS.iter().map(|m| m.name);
            let known: Vec<&str> = known.chain(Bandwidth::ALL.map(Bandwidth::name)).collect();
            return Err(Failure::unknown("metric", name, &known));
        }
    }
    if !bandwidths.is_empty() && args.patterns.is_empty() {
        let name = bandwidths[0].name();
        return Err(Failure::usage(format!("{name} of what? --pattern is missing")).hint(format!(
            "for example --pattern shift --metric {name}; `darkfiber list patterns` shows all"
        )));
    }
    if args.metrics.is_empty() && args.patterns.is_empty() {
        names = USUAL.to_vec();
    }
    if bandwidths.is_empty() {
        bandwidths.push(Bandwidth::PairShare);
    }
    Ok((names, bandwidths))
}

/// The answers about an engine as people see them.
fn outcome(
    called: String,
    record: &Record,
    seconds: bool,
    who: (&Fabric, &[TerminalId]),
) -> Result<MeasureOutcome, Failure> {
    let answer = record.answers.first();
    if let Some(found) = answer.and_then(|answer| answer.detail.get::<PatternsFound>()) {
        let engine = if seconds { found.engine.clone() } else { called };
        let seconds = seconds.then_some(found.seconds);
        return Ok(MeasureOutcome::Measured(Box::new(row(found, engine, seconds, who))));
    }
    let refused = match answer {
        Some(answer) => match answer.detail.get::<Error>() {
            Some(error) if error.kind != ErrorKind::Infeasible => {
                return Err(crate::preset::failure(answer, &called));
            }
            _ => answer.error.clone().unwrap_or_default(),
        },
        None => String::new(),
    };
    // The name of the engine stands before the reason anyway.
    let reason = refused.strip_prefix(&called).and_then(|rest| rest.strip_prefix(": "));
    let refused = reason.map_or(refused.clone(), str::to_owned);
    Ok(MeasureOutcome::Refused(Refused { engine: called, refused }))
}

/// What was found about routes as people see it.
pub(super) fn row(
    found: &PatternsFound,
    engine: String,
    seconds: Option<f64>,
    (fabric, who): (&Fabric, &[TerminalId]),
) -> EngineMeasured {
    let names = Names::new(fabric);
    let mut row =
        EngineMeasured { engine, seconds, participants: who.len(), ..EngineMeasured::default() };
    if let Some(worst) = &found.worst {
        row.worst = Some(worst.load);
        row.worst_slowdown = found.by_speed.then_some(worst.slowdown);
        row.worst_channel = worst.channel.map(|c| names.channel(c));
        let name = |&[s, d]: &[u32; 2]| names.pair(who[s as usize], who[d as usize]);
        row.worst_pairs = worst.pairs.iter().map(name).collect();
    }
    row.patterns = found.items.iter().filter_map(pattern_row).collect();
    for metric in &METRICS {
        let MetricSource::Pattern { pattern, bandwidth } = metric.of else { continue };
        if !found.metrics.contains(&metric.name) {
            continue;
        }
        let measured = row.patterns.iter().find(|p| p.pattern == pattern);
        let estimate = measured.and_then(|p| p.bandwidth(bandwidth));
        if let Some(place) = row.mean_mut(metric.name) {
            *place = estimate;
        }
    }
    row
}

fn pattern_row(item: &ItemFound) -> Option<PatternMeasured> {
    let found = &item.measured;
    let of = |b| found.bandwidth(b).copied();
    Some(PatternMeasured {
        pattern: item.spec.clone(),
        share: found.bandwidths[0].1,
        pair_share: of(Bandwidth::PairShare),
        fair_rate: of(Bandwidth::FairRate),
        finish_rate: of(Bandwidth::FinishRate),
        max_load: MaxLoad { mean: found.most_mean, max: found.most() },
        max_load_histogram: found.by_most.clone(),
        load_histogram: found.by_load.clone(),
        bounds: item.bounds?,
        heat: found.heat.clone(),
    })
}

/// The map with the load of every pattern under every engine.
fn picture<'a>(
    topology: &'a Topology,
    who: usize,
    outcomes: &[MeasureOutcome],
    provenance: &Provenance,
) -> Page<'a> {
    let fabric = &topology.fabric;
    let channels = fabric.channel_count();
    let mut views = Vec::new();
    for outcome in outcomes {
        let MeasureOutcome::Measured(row) = outcome else { continue };
        for p in row.patterns.iter().filter(|p| !p.heat.is_empty()) {
            let name = format!("{}, {}", p.pattern, row.engine);
            views.push(page::view(&name, Unit::Flows, &p.heat, channels, |x| x));
        }
    }
    let who = number::group(who as u64);
    Page {
        charts: charts(outcomes),
        subtitle: format!("flows of patterns among {who} terminals, mean of samples"),
        views,
        ..page::of(fabric.name(), topology, provenance)
    }
}

/// What patterns get under each engine, and channels by load.
fn charts(outcomes: &[MeasureOutcome]) -> Vec<Chart> {
    let rows: Vec<&EngineMeasured> = outcomes
        .iter()
        .filter_map(|o| match o {
            MeasureOutcome::Measured(row) => Some(&**row),
            MeasureOutcome::Refused(_) => None,
        })
        .collect();
    let Some(first) = rows.first().filter(|row| !row.patterns.is_empty()) else {
        return Vec::new();
    };
    let names: Vec<String> = first.patterns.iter().map(|p| p.pattern.clone()).collect();
    let of_engine = |row: &&EngineMeasured| {
        let values = row.patterns.iter().map(|p| Some(100.0 * p.share.mean)).collect();
        ChartLine { name: row.engine.clone(), values }
    };
    let y = Axis::new("of a terminal's link, the slowest pair", Measured::Percent);
    let lines = rows.iter().map(of_engine).collect();
    let mut charts = vec![Chart::of_names("Bandwidth of patterns", y, names.clone(), lines)];
    for (i, name) in names.iter().enumerate() {
        let most = rows.iter().map(|r| r.patterns[i].load_histogram.len()).max().unwrap_or(0);
        if most < 2 {
            continue;
        }
        let line = |row: &&EngineMeasured| {
            let by_load = &row.patterns[i].load_histogram;
            let all = by_load.iter().sum::<u64>().max(1) as f64;
            let share = |load: usize| by_load.get(load).map(|&n| 100.0 * n as f64 / all);
            ChartLine { name: row.engine.clone(), values: (0..most).map(share).collect() }
        };
        charts.push(Chart {
            title: format!("Channels by flows of {name}"),
            x: Axis::new("flows on a channel", Measured::Number),
            y: Axis { log: true, ..Axis::new("channels", Measured::Percent) },
            at: (0..most).map(|load| load as f64).collect(),
            lines: rows.iter().map(line).collect(),
            ..Chart::default()
        });
    }
    charts
}

/// Draws the first pattern.
fn draw(
    path: &Path,
    fabric: &Fabric,
    shape: Option<&Shape>,
    facts: &FabricFacts,
    part: &PatternPart,
    who: usize,
    outcomes: &[MeasureOutcome],
) -> Result<(), Failure> {
    let first = outcomes.iter().find_map(|outcome| match outcome {
        MeasureOutcome::Measured(m) => m.patterns.first().map(|p| &p.pattern),
        MeasureOutcome::Refused(_) => None,
    });
    let spec = part
        .patterns
        .first()
        .or(first)
        .ok_or_else(|| Failure::infeasible("--svg: no pattern was counted"))?;
    let panels: Vec<Panel<'_>> = outcomes
        .iter()
        .filter_map(|o| match o {
            MeasureOutcome::Measured(m) => {
                let p = m.patterns.iter().find(|p| p.pattern == *spec)?;
                Some(Panel { title: &m.engine, by_load: &p.load_histogram, heat: &p.heat })
            }
            MeasureOutcome::Refused(_) => None,
        })
        .collect();
    let subtitle = format!(
        "{spec} among {} terminals; {} directed switch-to-switch channels; idle ones are grey-blue",
        number::group(who as u64),
        number::group(2 * facts.switch_links as u64)
    );
    let svg = loads_and_maps(
        &format!("Channel load on {}", facts.name),
        &subtitle,
        &map(fabric, shape),
        &panels,
        FLOWS,
    );
    save::file(path, |out| out.write_all(svg.as_bytes()))
}

/// Switches in the order of their structure, so that what belongs together is side by side.
pub(super) fn map(fabric: &Fabric, shape: Option<&Shape>) -> Map {
    let n = fabric.switch_count();
    let mut order: Vec<usize> = (0..n).collect();
    let what = match shape {
        Some(Shape::Tree(tree)) => {
            order.sort_by_key(|&s| (tree.level[s], s));
            "by level, leaves first"
        }
        Some(Shape::Dragonfly(dragonfly)) => {
            order.sort_by_key(|&s| (dragonfly.group[s], s));
            "by group"
        }
        Some(Shape::Grid(grid)) => {
            order.sort_by_key(|&s| grid.at(SwitchId::new(s)).to_vec());
            "by coordinates"
        }
        _ => "in the order of the fabric",
    };
    let mut place = vec![0; n];
    order.iter().enumerate().for_each(|(i, &s)| place[s] = i as u32);
    let ends = fabric.tails().iter().zip(fabric.heads());
    let names = darkfiber_analysis::Names::new(fabric);
    Map {
        names: order.iter().map(|&s| names.switch(SwitchId::new(s))).collect(),
        ends: ends.map(|(&a, &b)| (place[a as usize], place[b as usize])).collect(),
        switches: n,
        order: what.to_owned(),
    }
}
