//! `darkfiber measure`: what routes make of patterns of traffic.

use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_analysis::Names;
use darkfiber_analysis::count::{
    Bandwidth, Bounds, Costs, METRICS, MetricSource, Paths, Precision, Wanted, bounds, measure,
    worst,
};
use darkfiber_fabric::{Fabric, Shape, SwitchId, TerminalId, Topology};
use darkfiber_formats::places::Aliases;
use darkfiber_page::{Axis, Chart, ChartLine, Measured, Page, Unit};
use darkfiber_report::heat::{FLOWS, Map, Panel, loads_and_maps};
use darkfiber_report::measure::{
    EngineMeasured, MaxLoad, MeasureOutcome, MeasureResult, PatternMeasured,
};
use darkfiber_report::{FabricFacts, Provenance, Refused, number};
use darkfiber_routing::Routes;
use darkfiber_scenario::{Case, Scenario};
use darkfiber_workload::{Participants, Pattern, PatternError, kind, pattern};

use super::{metrics, route};
use crate::failure::{Exit, Failure};
use crate::options::values::above_zero;
use crate::options::{BesideTables, Common, EngineArgs, FabricArgs, Format, PageArgs, RequestArgs};
use crate::out::Teller;
use crate::preset::{Preset, PresetArgs, question, texts};
use crate::progress::Progress;
use crate::{jobs, load, page, participants, provenance, save};

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
others of random bisections. worst is exact: the most flows that any permutation puts on one channel.
'(at most)' is an upper bound for any routes: the channels around switches, subtrees, groups and halves of the
fabric, and all channels together.

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

/// A pattern and what to find out about it.
struct Item {
    spec: String,
    pattern: Box<dyn Pattern>,
    bandwidths: Vec<Bandwidth>,
    bounds: Bounds,
}

/// The same as a study.
fn preset(args: &MeasureCommand, common: &Common) -> Result<Preset, Failure> {
    let no = |what: &str| Failure::usage(format!("--write-study: {what} has no place in a study"));
    if args.among.is_some() {
        return Err(no("--among").hint("--compute GUIDS has one: who runs jobs"));
    }
    if args.link_speeds {
        return Err(no("--link-speeds"));
    }
    if let Some(file) = args.patterns.iter().find(|spec| Path::new(spec).is_file()) {
        return Err(no(&format!("{file}, a file of pairs,")));
    }
    if !args.engines.engines.is_empty() && !args.routes.is_empty() {
        return Err(no("an engine beside tables from a file").hint("write a study of each"));
    }
    let mut scenario = args.fabric.scenario(common);
    scenario.routes = args.request.routes();
    let axis = if args.routes.is_empty() {
        ("routes.engine", texts(args.engines.chains()?.iter().map(|chain| &chain.name)))
    } else {
        ("routes.tables", texts(args.routes.iter().map(|path| path.display().to_string())))
    };
    let is_bandwidth =
        |name: &&String| Bandwidth::ALL.iter().any(|bandwidth| bandwidth.name() == name.as_str());
    let mut metrics: Vec<&str> =
        args.metrics.iter().filter(|name| !is_bandwidth(name)).map(String::as_str).collect();
    if args.metrics.is_empty() && args.patterns.is_empty() {
        metrics = USUAL.to_vec();
    }
    let list = |all: Vec<toml::Value>| (!all.is_empty()).then_some(toml::Value::Array(all));
    let samples = args.samples.and_then(|n| i64::try_from(n).ok()).map(toml::Value::Integer);
    let precision = samples.is_none().then_some(toml::Value::Float(args.precision));
    let asked = question(
        "patterns",
        vec![
            ("metric", list(texts(metrics))),
            ("pattern", list(texts(&args.patterns))),
            ("samples", samples),
            ("precision", precision),
        ],
    );
    Ok(Preset { scenario, axes: vec![axis], zip: Vec::new(), questions: vec![asked], seeds: None })
}

/// Everything that is asked of each engine.
pub(super) struct MeasurePlan {
    who: Vec<TerminalId>,
    pub(super) metrics: Vec<&'static str>,
    /// Patterns of metrics, then those asked for.
    items: Vec<Item>,
    asked: Vec<String>,
    costs: Option<Costs>,
    precision: Precision,
    seed: u64,
    loads: bool,
}

pub(crate) fn run(args: &MeasureCommand, common: &Common) -> Result<Exit, Failure> {
    if let Some(exit) = args.preset.write(|| preset(args, common))? {
        return Ok(exit);
    }
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
    save::expect(args.svg.as_ref())?;
    args.page.expect()?;
    let chains = args.engines.chains()?;
    let scenario = Scenario { routes: args.request.routes(), ..args.fabric.scenario(common) };
    let case = load::open(&scenario, common)?;
    let (fabric, shape) = (case.fabric(), case.topology().shape.as_ref());
    let plan = plan(args, common, &case)?;
    let facts = metrics::of_loaded(&case.loaded);

    let steps = (chains.len() + args.routes.len()) * (plan.items.len() + 2);
    let progress = Progress::new(steps as u64, common.quiet);
    let mut outcomes = Vec::new();
    for chain in &chains {
        progress.at(format!("{}: routing", chain.name));
        outcomes.push(match route::compute(chain, fabric, &case.request()) {
            Err(refused) => MeasureOutcome::Refused(refused),
            Ok((_, routes, seconds, _)) => {
                plan.answer(fabric, &routes, routes.engine.clone(), Some(seconds), &progress)
            }
        });
    }
    for path in &args.routes {
        let name = path.display().to_string();
        progress.at(format!("{name}: reading"));
        let read = case.read(&args.beside.files(path), &mut Teller::new(common))?;
        outcomes.push(plan.answer(fabric, &read.routes, name, None, &progress));
    }
    drop(progress);

    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.svg {
        problems.note(draw(path, fabric, shape, &facts, &plan, &outcomes));
    }
    let provenance = provenance::of(fabric, common);
    problems.note(args.page.write(|| picture(case.topology(), &plan, &outcomes, &provenance)));
    common.show(&MeasureResult {
        rows: &outcomes,
        participants: plan.who.len(),
        metrics: &plan.metrics,
        patterns: &plan.asked,
        fabric: &facts,
        provenance: &provenance,
    })?;
    let measured = |o: &MeasureOutcome| matches!(o, MeasureOutcome::Measured(_));
    problems.end(if outcomes.iter().any(measured) { Exit::Fine } else { Exit::Infeasible })
}

/// Finds out what is asked for, and refuses what cannot be.
fn plan(args: &MeasureCommand, common: &Common, case: &Case<()>) -> Result<MeasurePlan, Failure> {
    let (fabric, shape) = (case.fabric(), case.topology().shape.as_ref());
    let aliases = jobs::aliases(args.aliases.as_deref(), fabric, common)?;
    let who = participants::terminals(fabric, args.among.as_deref(), aliases)?;
    let (metrics, bandwidths) = named(args)?;
    let among = Participants::of(fabric, shape, &who);
    let costs = args.link_speeds.then(|| Costs::by_speed(fabric, &who));
    let mut wanted: Vec<(String, Vec<Bandwidth>)> = Vec::new();
    let mut want = |spec: &str, more: &[Bandwidth]| match wanted.iter_mut().find(|w| w.0 == spec) {
        Some((_, all)) => all.extend(more),
        None => wanted.push((spec.to_owned(), more.to_vec())),
    };
    for metric in METRICS.iter().filter(|m| metrics.contains(&m.name)) {
        if let MetricSource::Pattern { pattern, bandwidth } = metric.of {
            want(pattern, &[bandwidth]);
        }
    }
    for spec in &args.patterns {
        want(spec, &bandwidths);
    }
    let items = wanted
        .into_iter()
        .map(|(spec, bandwidths)| {
            let pattern = make(&spec, &among, fabric, &who)?;
            let bounds = bounds(fabric, shape, &who, costs.as_ref(), &*pattern, common.seed());
            Ok(Item { spec, pattern, bandwidths, bounds })
        })
        .collect::<Result<_, Failure>>()?;
    let mut precision = Precision { width: 2.0 * args.precision / 100.0, ..Precision::default() };
    if let Some(samples) = args.samples {
        precision = Precision::exactly(samples);
    }
    Ok(MeasurePlan {
        who,
        metrics,
        items,
        asked: args.patterns.clone(),
        costs,
        precision,
        seed: common.seed(),
        loads: args.svg.is_some() || args.page.is_asked() || common.format == Format::Json,
    })
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

/// The pattern of a spec, or of a file of pairs.
pub(super) fn make(
    spec: &str,
    among: &Participants,
    fabric: &Fabric,
    who: &[TerminalId],
) -> Result<Box<dyn Pattern>, Failure> {
    let path = Path::new(spec);
    // A file called like a pattern is not meant.
    let named = kind(spec.split(':').next().unwrap_or_default()).is_ok();
    if !named && path.is_file() {
        return participants::pairs(fabric, who, path);
    }
    pattern(spec, among).map_err(|error| {
        let text = error.to_string();
        match error {
            PatternError::Count { fits: Some(fits), .. } => Failure::infeasible(text)
                .hint(format!("--among 0-{} takes {fits} of them", fits - 1)),
            PatternError::Count { .. } | PatternError::NoGroups { .. } => Failure::infeasible(text),
            _ => {
                Failure::usage(text).hint("`darkfiber list patterns` shows all; a file holds pairs")
            }
        }
    })
}

impl MeasurePlan {
    /// Worst permutation and averages of all terminals that run jobs, closely.
    pub(super) fn for_routes(
        fabric: &Fabric,
        shape: Option<&Shape>,
        common: &Common,
    ) -> Result<Self, Failure> {
        let who = participants::terminals(fabric, None, Aliases::new())?;
        let among = Participants::of(fabric, shape, &who);
        let item = |spec: &str| {
            let pattern = make(spec, &among, fabric, &who)?;
            let bounds = bounds(fabric, shape, &who, None, &*pattern, common.seed());
            let bandwidths = vec![Bandwidth::Share];
            Ok::<_, Failure>(Item { spec: spec.to_owned(), pattern, bandwidths, bounds })
        };
        Ok(Self {
            metrics: vec!["worst", "abb", "afpb"],
            items: vec![item("bisect")?, item("permutation")?],
            asked: Vec::new(),
            costs: None,
            precision: Precision { width: 0.002, ..Precision::default() },
            seed: common.seed(),
            loads: false,
            who,
        })
    }

    pub(super) fn answer(
        &self,
        fabric: &Fabric,
        routes: &Routes,
        engine: String,
        seconds: Option<f64>,
        progress: &Progress,
    ) -> MeasureOutcome {
        progress.step();
        let names = Names::new(fabric);
        let refused =
            |engine: String, why: String| MeasureOutcome::Refused(Refused { engine, refused: why });
        let paths = match Paths::new(fabric, routes, &self.who) {
            Ok(paths) => paths,
            Err(lost) => {
                let why = format!(
                    "{} of the ordered pairs have no route, for example {}; `darkfiber check` tells \
                     more, --among takes those that reach each other",
                    number::group(lost.pairs),
                    names.pair(lost.example.0, lost.example.1)
                );
                return refused(engine, why);
            }
        };
        let mut row = EngineMeasured {
            engine,
            seconds,
            participants: self.who.len(),
            ..EngineMeasured::default()
        };
        if self.metrics.contains(&"worst") {
            progress.at(format!("{}: worst permutation", row.engine));
            let found = match worst(&paths, self.costs.as_ref()) {
                Ok(found) => found,
                Err(too_large) => return refused(row.engine, too_large.to_string()),
            };
            row.worst = Some(found.load);
            row.worst_slowdown = self.costs.is_some().then_some(found.slowdown);
            row.worst_channel = found.channel.map(|c| names.channel(c));
            let name = |&[s, d]: &[u32; 2]| names.pair(self.who[s as usize], self.who[d as usize]);
            row.worst_pairs = found.pairs.iter().map(name).collect();
        }
        progress.step();
        for item in &self.items {
            progress.at(format!("{}: {}", row.engine, item.spec));
            row.patterns.push(self.count(&paths, item));
            progress.step();
        }
        for metric in METRICS.iter().filter(|m| self.metrics.contains(&m.name)) {
            let MetricSource::Pattern { pattern, bandwidth } = metric.of else { continue };
            let measured = row.patterns.iter().find(|p| p.pattern == pattern);
            let estimate = measured.and_then(|p| p.bandwidth(bandwidth));
            if let Some(place) = row.mean_mut(metric.name) {
                *place = estimate;
            }
        }
        MeasureOutcome::Measured(Box::new(row))
    }

    fn count(&self, paths: &Paths<'_>, item: &Item) -> PatternMeasured {
        let wanted = Wanted { bandwidths: item.bandwidths.clone(), loads: self.loads };
        let costs = self.costs.as_ref();
        let found = measure(paths, costs, &*item.pattern, &wanted, &self.precision, self.seed);
        let of = |b| found.bandwidth(b).copied();
        PatternMeasured {
            pattern: item.spec.clone(),
            share: found.bandwidths[0].1,
            pair_share: of(Bandwidth::PairShare),
            fair_rate: of(Bandwidth::FairRate),
            finish_rate: of(Bandwidth::FinishRate),
            max_load: MaxLoad { mean: found.most_mean, max: found.most() },
            max_load_histogram: found.by_most,
            load_histogram: found.by_load,
            bounds: item.bounds,
            heat: found.heat,
        }
    }
}

/// The map with the load of every pattern under every engine.
fn picture<'a>(
    topology: &'a Topology,
    plan: &MeasurePlan,
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
    let who = number::group(plan.who.len() as u64);
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
    plan: &MeasurePlan,
    outcomes: &[MeasureOutcome],
) -> Result<(), Failure> {
    let spec = plan.asked.first().or(plan.items.first().map(|i| &i.spec)).ok_or_else(|| {
        Failure::usage("--svg draws a pattern, and none is counted").hint("add --pattern bisect")
    })?;
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
        number::group(plan.who.len() as u64),
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
