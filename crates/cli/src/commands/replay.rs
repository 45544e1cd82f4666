//! `darkfiber replay`: what each engine would have done for the jobs of a machine.

mod map;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use darkfiber_formats::input;
use darkfiber_report::replay::{self as report, ReplayResult};
use darkfiber_report::{json, number};
use darkfiber_routing::Lids;
use darkfiber_scenario::value::Count;
use darkfiber_scenario::{Case, Chain, Scenario};
use darkfiber_study::replay::{Moment, ReplayPlan, improvements, reconfigurations, replay};
use darkfiber_workload::History;
use toml::Value;

use super::metrics;
use crate::checkpoint::TextDigest;
use crate::failure::{Exit, Failure};
use crate::history::Window;
use crate::moment::When;
use crate::options::{Common, EngineArgs, FabricArgs, HistoryArgs, PageArgs, StoreArgs};
use crate::preset::{Preset, PresetArgs, question, text, texts};
use crate::progress::Progress;
use crate::{load, moment, out, provenance, save};

#[derive(Args, Debug)]
pub(crate) struct ReplayCommand {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) history: HistoryArgs,
    #[command(flatten)]
    pub(crate) engines: EngineArgs,
    /// The engine whose gain over the others is reported [default: the last that follows jobs, else the last]
    #[arg(long, value_name = "ENGINE")]
    pub(crate) of: Option<String>,
    /// Time between moments
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = crate::moment::duration)]
    pub(crate) every: i64,
    /// The first moment: a date, or a time after the first job began (10d) [default: the start of the first job]
    #[arg(long, value_name = "WHEN", value_parser = crate::moment::when)]
    pub(crate) from: Option<crate::moment::When>,
    /// How long [default: to the end of the log]
    #[arg(long = "for", value_name = "TIME", value_parser = crate::moment::duration)]
    pub(crate) length: Option<i64>,
    /// LID mask control: 2^N LIDs for every terminal
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=7))]
    pub(crate) lmc: u8,
    /// Data virtual lanes that may be used (InfiniBand has at most 15)
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=15))]
    pub(crate) lanes: u8,
    /// Write all moments (moments.csv), the picture (replay.svg) and the result (replay.json) here; an interrupted
    /// replay resumes from what is there
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) keep: StoreArgs,
    /// Draw the four numbers of every engine over time
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    #[command(flatten)]
    pub(crate) preset: PresetArgs,
}

/// What stands below the options in its help.
pub(crate) const HELP: &str = "\
At every moment of the log the jobs on two switches or more are taken, and the routes between terminals of one job
counted, by every engine: the most over one channel (effective EFI), the mean over jobs of the most of a job's own,
channels that no such route crosses (dark fiber), channels that a job's routes cross. Engines that follow jobs
(sar, ...) make tables anew whenever the places of multi-switch jobs change; how much of them would have to be
sent is reported, too. The study is that of Domke and Hoefler, \"Scheduling-Aware Routing for Supercomputers\", SC'16,
section 4.2: figure 7 is the picture, table 1 the table.

Jobs of a log without nodes (SWF) are placed by an allocator: jobs start as in the log if enough hosts are free,
else as soon as they are (EASY backfilling); jobs smaller than a host share hosts.

Examples:
  darkfiber replay --fabric my-fabric.topo --jobs sacct.log --every 10min -e updn,ftree,dfsssp,sar -o month
  darkfiber replay --fabric @tsubame25 --jobs RICC-2010-2.swf.gz --scale 1.375 --from 30d --for 30d --svg month.svg
  sacct -aP --format=JobID,Submit,Start,End,State,NNodes,NodeList -S 2026-10-01 > october.log";

/// More moments than this are a slip of the pen.
const MOST: i64 = 10_000_000;

pub(crate) fn run(args: &ReplayCommand, common: &Common) -> Result<Exit, Failure> {
    save::expect(args.svg.as_ref())?;
    args.page.expect()?;
    save::expect_directory(args.output.as_ref())?;
    // What is compared, on which fabric, for which jobs.
    let mut engines = args.engines.chains()?;
    let mut scenario = args.fabric.scenario(common);
    scenario.routes.lmc = Count(args.lmc.into());
    scenario.routes.lanes = Some(Count(args.lanes.into()));
    let case = load::open(&scenario, common)?;
    let topology = case.topology();
    if engines.is_empty() {
        engines = usual(&case)?;
    }
    let names: Vec<&str> = engines.iter().map(|e| e.name.as_str()).collect();
    let of = match &args.of {
        Some(name) => names
            .iter()
            .position(|n| n == name)
            .ok_or_else(|| Failure::unknown("engine of -e", name, &names))?,
        None => engines.iter().rposition(Chain::follows_jobs).unwrap_or(engines.len() - 1),
    };
    if let Some(exit) = args.preset.write(|| preset(args, &scenario, &engines, of))? {
        return Ok(exit);
    }
    let lids = Lids::assign(&topology.fabric, args.lmc).map_err(Failure::infeasible)?;
    let window = Window { from: args.from, length: args.length };
    let told = args.history.load(topology, window, common)?;
    let (from, moments) = extent(args, window, told.first, &told.history)?;
    let plan = ReplayPlan {
        case: &case,
        lids: &lids,
        history: &told.history,
        engines: &engines,
        from,
        every: args.every,
        moments,
    };

    // Moments that are there already, then the others; each is kept before the next.
    let mut kept = match args.keep.store.as_ref().or(args.output.as_ref()) {
        Some(dir) => Some(KeptMoments::open(dir, &plan, &names)?),
        None => None,
    };
    let mut found = kept.as_mut().map(|k| std::mem::take(&mut k.found)).unwrap_or_default();
    if !found.is_empty() && !common.quiet {
        let count = number::group(found.len() as u64);
        out::tell(&format!("going on after {count} moments that are already there"));
    }
    let progress = Progress::new(moments as u64, common.quiet);
    progress.skip(found.len() as u64);
    // A moment that cannot be kept ends the replay: nothing would be left of those behind it.
    let mut trouble = None;
    let first = found.len();
    if first < moments {
        replay(&plan, first, &mut |moment| {
            progress.at(moment::text(moment.time));
            progress.step();
            if let Some(kept) = &mut kept
                && let Err(failure) = kept.add(&moment)
            {
                trouble = Some(failure);
                return false;
            }
            found.push(moment);
            true
        })
        .map_err(|failed| {
            Failure::infeasible(&failed.refusal).hint(format!("leave {} out of -e", failed.engine))
        })?;
    }
    drop(progress);
    if let Some(failure) = trouble {
        return Err(failure);
    }
    if let Some(kept) = kept {
        kept.finish()?;
    }

    // What the moments say together.
    let facts = metrics::of_loaded(&case.loaded);
    let provenance = provenance::of(&topology.fabric, common);
    let improvements = improvements(&found, &names, of);
    let follow: Vec<(&str, bool)> =
        engines.iter().map(|e| (e.name.as_str(), e.follows_jobs())).collect();
    let reconfigurations = reconfigurations(&found, &follow, args.every);
    let mean =
        |pick: fn(&Moment) -> f64| found.iter().map(pick).sum::<f64>() / found.len().max(1) as f64;
    let (jobs, several) = (mean(|m| m.jobs as f64), mean(|m| m.multi_switch_jobs as f64));
    let result = ReplayResult {
        log: &told.facts,
        from: moment::text(from),
        every: args.every,
        moments,
        engines: names.iter().map(|n| (*n).to_owned()).collect(),
        jobs_mean: jobs,
        multi_switch_percent: if jobs > 0.0 { 100.0 * several / jobs } else { 0.0 },
        busy_percent_mean: mean(|m| m.busy_percent),
        rows: &found,
        means: report::means(&found, &names),
        improvements: &improvements,
        reconfigurations: &reconfigurations,
        fabric: &facts,
        provenance: &provenance,
    };
    // Pictures and files, then what is printed.
    let json_text = json::text(&result);
    let mut problems = save::Unwritten::default();
    let pictures: Vec<PathBuf> =
        args.svg.iter().cloned().chain(args.output.iter().map(|d| d.join("replay.svg"))).collect();
    let map = args.page.is_asked().then(|| map::Map::of(&plan)).transpose()?;
    if !pictures.is_empty() || map.is_some() {
        let log = args.history.jobs.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let title = format!("{} on {}", log, topology.fabric.name());
        let mut subtitle =
            format!("{} moments from {}", number::group(moments as u64), result.from);
        if let Some(placed) = &told.facts.placed {
            let _ok = write!(subtitle, "; jobs placed by {}", placed.by);
        }
        let svg = report::picture(&title, &subtitle, &names, args.every, &found);
        for path in &pictures {
            problems.note(save::file(path, |out| out.write_all(svg.as_bytes())));
        }
        if let Some(map) = &map {
            let heads = (title.as_str(), subtitle.as_str());
            problems.note(args.page.write(|| map.page(&plan, &found, heads, &provenance)));
        }
    }
    if let Some(dir) = &args.output {
        let path = dir.join("replay.json");
        problems.note(save::file(&path, |out| out.write_all(json_text.as_bytes())));
    }
    common.show(&result)?;
    problems.end(Exit::Fine)
}

/// The same as a study, of logs whose jobs are placed: gains over each of the other engines.
fn preset(
    args: &ReplayCommand,
    scenario: &Scenario,
    engines: &[Chain],
    of: usize,
) -> Result<Preset, Failure> {
    let days = |option: &str, seconds: i64| match (seconds % 86_400, seconds / 86_400) {
        (0, days) => Ok(Value::Integer(days)),
        _ => Err(Failure::usage(format!("--write-study: {option} must be whole days"))),
    };
    let before = match args.from {
        None => Some(Value::Integer(0)),
        Some(When::After(seconds)) => Some(days("--from", seconds)?),
        Some(When::At(_)) => {
            return Err(Failure::usage("--write-study: --from must be a time after the first job")
                .hint("--from 10d"));
        }
    };
    let Some(length) = args.length else {
        return Err(Failure::usage("--write-study: how many days?").hint("--for 30d"));
    };
    let history = &args.history;
    let place = history.place.clone().unwrap_or_else(|| "first-fit".to_owned());
    let params = vec![
        ("engines", Some(Value::Array(texts(engines.iter().map(|engine| &engine.name))))),
        ("of", Some(text(&engines[of].name))),
        ("log", Some(text(&history.jobs.display().to_string()))),
        ("place", Some(text(&place))),
        ("whole", Some(Value::Boolean(false))),
        ("scale", Some(Value::Float(history.scale))),
        ("processors", history.processors_per_host.map(|n| Value::Integer(n.into()))),
        ("before", before),
        ("days", Some(days("--for", length)?)),
        ("every", Some(text(&format!("{}s", args.every)))),
    ];
    Ok(Preset {
        scenario: scenario.clone(),
        axes: Vec::new(),
        zip: Vec::new(),
        questions: vec![question("replay", params)],
        seeds: None,
    })
}

/// Engines that are compared if nobody says which.
const USUAL: [&str; 5] = ["updn", "ftree", "dfsssp", "sar", "sar-best"];

/// Those of the usual engines that route the fabric.
fn usual(case: &Case<()>) -> Result<Vec<Chain>, Failure> {
    let mut fit = Vec::new();
    let mut why = None;
    for name in USUAL {
        let chain = Chain::parse(name)?;
        match chain.route(case.fabric(), &case.request()) {
            Ok(_) => fit.push(chain),
            Err(refusal) => why = Some(refusal),
        }
    }
    match why.filter(|_| fit.is_empty()) {
        Some(refusal) => Err(refusal.into()),
        None => Ok(fit),
    }
}

/// The first moment, and how many there are.
fn extent(
    args: &ReplayCommand,
    window: Window,
    first: i64,
    history: &History,
) -> Result<(i64, usize), Failure> {
    let (from, to) = window.of(first);
    let last = history.span().map_or(i64::MIN, |s| s.1);
    if from >= last {
        return Err(Failure::usage(format!("no job runs from {} on", moment::text(from)))
            .hint("give an earlier --from"));
    }
    // Without a length to the end of the log.
    let end = if args.length.is_some() { to } else { last };
    let count = (end.saturating_sub(from) - 1) / args.every + 1;
    if count > MOST {
        return Err(Failure::usage(format!(
            "{} moments, every {} s from {} to {}, are too many",
            number::group(count.unsigned_abs()),
            args.every,
            moment::text(from),
            moment::text(end)
        ))
        .hint("give a longer --every, or --from and --for"));
    }
    Ok((from, usize::try_from(count).unwrap_or(1)))
}

/// The moments of a replay that may be stopped: a line each, written as they are found. The first line says of what
/// replay they are; a line that is cut off does not count. Every line ends in the digest of all up to there, so that no
/// altered bit goes into the means.
struct KeptMoments {
    path: PathBuf,
    file: fs::File,
    found: Vec<Moment>,
    waiting: String,
    /// Of all lines so far.
    digest: TextDigest,
}

impl KeptMoments {
    fn open(dir: &Path, plan: &ReplayPlan<'_>, names: &[&str]) -> Result<Self, Failure> {
        save::directory(dir)?;
        let path = dir.join("moments.csv");
        let identity = identity(plan, names);
        let heading = format!("{},digest\n", report::heading(names).trim_end());
        let mut digest = TextDigest::default();
        digest.add(&identity);
        let mut whole = format!("{identity}\n{heading}");
        let mut found = Vec::new();
        if path.exists() {
            let text = input::read_text(&path)?;
            if text.lines().next() != Some(identity.as_str()) {
                return Err(Failure::usage(format!("{} is of another replay", path.display()))
                    .hint("give another -o, or remove the file to start over"));
            }
            let altered = |line: usize| {
                Failure::input(format!(
                    "{}:{line}: it is altered: the line differs from its own digest",
                    path.display()
                ))
                .hint("remove it to start over")
            };
            // What was not written to its end is found again; before that nothing can be missing.
            let lines = text.split_inclusive('\n').zip(1..).skip(1);
            for (line, number) in lines.filter(|(line, _)| line.ends_with('\n')) {
                if number == 2 {
                    if line != heading {
                        return Err(altered(number));
                    }
                    continue;
                }
                let moment = checked(line, &mut digest)
                    .and_then(|line| report::parse(line, names.len()))
                    .ok_or_else(|| altered(number))?;
                whole.push_str(line);
                found.push(moment);
            }
            found.truncate(plan.moments);
        }
        save::file(&path, |out| out.write_all(whole.as_bytes()))?;
        let file = fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|e| Failure::input(format!("cannot write {}: {e}", path.display())))?;
        Ok(Self { path, file, found, waiting: String::new(), digest })
    }

    fn add(&mut self, moment: &Moment) -> Result<(), Failure> {
        let line = report::line(moment);
        let line = line.trim_end();
        self.digest.add(line);
        let _infallible = writeln!(self.waiting, "{line},{:016x}", self.digest.value());
        if self.waiting.len() > 1 << 14 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let result = self.file.write_all(self.waiting.as_bytes());
        self.waiting.clear();
        result.map_err(|e| Failure::input(format!("cannot write {}: {e}", self.path.display())))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.flush()
    }
}

/// A line without its digest, if that is the one of all lines up to it.
fn checked<'l>(line: &'l str, digest: &mut TextDigest) -> Option<&'l str> {
    let (line, kept) = line.strip_suffix('\n')?.rsplit_once(',')?;
    digest.add(line);
    (kept == format!("{:016x}", digest.value())).then_some(line)
}

/// All that the moments depend on.
fn identity(plan: &ReplayPlan<'_>, names: &[&str]) -> String {
    format!(
        "# darkfiber {} fabric={:016x} jobs={:016x} engines={} lanes={} lmc={} seed={} from={} every={}",
        env!("CARGO_PKG_VERSION"),
        plan.case.fabric().digest(),
        plan.history.digest(),
        names.join("+"),
        plan.case.request().lanes,
        plan.lids.lmc(),
        plan.case.seed,
        plan.from,
        plan.every,
    )
}
