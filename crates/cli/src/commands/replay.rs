//! `darkfiber replay`: what each engine would have done for the jobs of a machine.

mod map;

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::Args;
use darkfiber_formats::{calendar, input};
use darkfiber_report::replay::{self as report, ReplayResult};
use darkfiber_report::{json, number};
use darkfiber_routing::Lids;
use darkfiber_scenario::history::{LoadedHistory, Window};
use darkfiber_scenario::moment::LogMoment;
use darkfiber_scenario::value::Count;
use darkfiber_scenario::{Case, Chain, Error, Folder, Scenario};
use darkfiber_study::grid::{Details, Hooks, KeptRuns, Prepared, Ready, Record, Store};
use darkfiber_study::replay::{Moment, ReplayPlan, extent, improvements, reconfigurations};
use toml::Value;

use super::metrics;
use crate::checkpoint::TextDigest;
use crate::failure::{Exit, Failure};
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
    /// The first moment: a date, a Unix time, or a time after the first job began (10d) [default: the start of the first job]
    #[arg(long, value_name = "WHEN", value_parser = crate::moment::when)]
    pub(crate) from: Option<crate::moment::LogMoment>,
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
(sar, ...) recompute tables whenever the places of multi-switch jobs change; how much of them would have to be
sent is reported, too. The study is that of Domke and Hoefler, \"Scheduling-Aware Routing for Supercomputers\", SC'16,
section 4.2: figure 7 is the picture, table 1 the table.

Jobs of a log without nodes (SWF) are placed by an allocator: jobs start as in the log if enough hosts are free,
else as soon as they are (EASY backfilling); jobs smaller than a host share hosts.

Examples:
  sacct -aP --format=JobID,Submit,Start,End,State,NNodes,NodeList \\
            -S 2026-10-01 > october.log
  darkfiber replay --fabric my-fabric.topo --jobs october.log --every 10min \\
            -e updn,ftree,dfsssp,sar -o month
  darkfiber replay --fabric @tsubame25 --jobs RICC-2010-2.swf.gz --scale 1.375 \\
            --from 30d --for 30d --svg month.svg";

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
    let preset = preset(args, &scenario, &engines, of);
    if let Some(exit) = args.preset.write(|| Ok(preset.clone()))? {
        return Ok(exit);
    }
    let lids = Lids::assign(&topology.fabric, args.lmc).map_err(Failure::infeasible)?;
    let window = Window { from: args.from, length: args.length };
    let loaded_history = Arc::new(args.history.load(topology, window, common)?);
    let (from, moments) =
        extent(window, args.every, loaded_history.first, &loaded_history.history)?;
    let plan = ReplayPlan {
        case: &case,
        lids: &lids,
        history: &loaded_history.history,
        engines: &engines,
        from,
        every: args.every,
        moments,
    };
    let found = answered(args, &preset, &plan, &loaded_history, common)?;

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
        log: &loaded_history.facts,
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
        if let Some(placed) = &loaded_history.facts.placed {
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

/// Finds all moments: those that are kept already, then the others.
fn answered(
    args: &ReplayCommand,
    preset: &Preset,
    plan: &ReplayPlan<'_>,
    loaded_history: &Arc<LoadedHistory>,
    common: &Common,
) -> Result<Vec<Moment>, Failure> {
    let names: Vec<&str> = plan.engines.iter().map(|e| e.name.as_str()).collect();
    let kept = match args.keep.store.as_ref().or(args.output.as_ref()) {
        Some(dir) => Some(KeptMoments::open(dir, plan, &names)?),
        None => None,
    };
    let there = kept.as_ref().map_or(0, |kept| kept.found.len());
    if there > 0 && !common.quiet {
        let count = number::group(there as u64);
        out::eprint_line(&format!("going on after {count} moments that are already there"));
    }
    let progress = Progress::new(plan.moments as u64, common.quiet);
    progress.skip(there as u64);
    let store = MomentStore { kept: Mutex::new((kept, Ok(()))), progress: &progress };
    let history = Some(Arc::clone(loaded_history));
    let ready = [Ready { history, ..Ready::of(&plan.case.scenario.fabric, &plan.case.loaded) }];
    let files = Folder::default();
    let hooks = Hooks { details: Details::Found, ready: &ready, ..Hooks::of(&store, &files) };
    let records = preset.run(&hooks)?;
    let (kept, trouble) = store.kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    drop(progress);
    trouble?;
    if let Some(kept) = kept {
        kept.finish()?;
    }
    let answer = records.first().and_then(|record| record.answers.first());
    match answer.map(|answer| (answer, answer.detail.get::<Vec<Moment>>())) {
        Some((_, Some(found))) => Ok(found.clone()),
        Some((answer, None)) => Err(answer.detail.get::<Error>().map_or_else(
            || Failure::infeasible(answer.error.as_deref().unwrap_or_default()),
            |error| {
                let hint = error.hint.replace(" out of the engines", " out of -e");
                Error { hint, ..error.clone() }.into()
            },
        )),
        None => Err(Failure::infeasible("no moment was found")),
    }
}

/// The same as a study: gains over each of the other engines.
fn preset(args: &ReplayCommand, scenario: &Scenario, engines: &[Chain], of: usize) -> Preset {
    let from = match args.from {
        None => "0".to_owned(),
        Some(LogMoment::After(seconds)) => format!("{seconds}s"),
        Some(LogMoment::At(time)) => calendar::text(time),
    };
    let length = args.length.map_or("end".to_owned(), |seconds| format!("{seconds}s"));
    let history = args.history.part();
    let place = history.place.unwrap_or_else(|| "log".to_owned());
    let params = vec![
        ("engines", Some(Value::Array(texts(engines.iter().map(|engine| &engine.name))))),
        ("of", Some(text(&engines[of].name))),
        ("log", Some(text(&history.log))),
        ("aliases", history.aliases.as_deref().map(text)),
        ("place", Some(text(&place))),
        ("whole", Some(Value::Boolean(false))),
        ("scale", history.scale.map(Value::Float)),
        ("processors", history.processors_per_host.map(|n| Value::Integer(n.into()))),
        ("from", Some(text(&from))),
        ("for", Some(text(&length))),
        ("every", Some(text(&format!("{}s", args.every)))),
    ];
    Preset {
        scenario: scenario.clone(),
        axes: Vec::new(),
        zip: Vec::new(),
        questions: vec![question("replay", params)],
        seeds: None,
    }
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

/// Keeps moments as they are found. One that cannot be kept ends the replay: nothing would be left of those behind it.
struct MomentStore<'a> {
    kept: Mutex<(Option<KeptMoments>, Result<(), Failure>)>,
    progress: &'a Progress,
}

impl KeptRuns for MomentStore<'_> {
    fn lines(&self, _: &str, _: &str) -> Vec<String> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept.0.iter().flat_map(|kept| &kept.found);
        found.filter_map(|moment| serde_json::to_string(moment).ok()).collect()
    }

    fn add_line(&self, _: &str, _: &str, line: &str) -> bool {
        let Ok(moment) = serde_json::from_str::<Moment>(line) else { return false };
        self.progress.at(moment::text(moment.time));
        self.progress.step();
        let (kept, trouble) = &mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept {
            *trouble = kept.add(&moment);
        }
        trouble.is_ok()
    }
}

impl Store for MomentStore<'_> {
    fn id(&self, _: &str, _: &Prepared) -> String {
        String::new()
    }

    fn find(&self, _: &str) -> Option<Record> {
        None
    }

    fn keep(&self, _: Record) {}
}

/// The moments of a replay that may be stopped: a line each, written as they are found. The first line says of what
/// replay they are; a line that is cut off does not count. Every line ends in the digest of all up to there, so that no
/// altered bit goes into the means.
struct KeptMoments {
    path: PathBuf,
    file: fs::File,
    found: Vec<Moment>,
    waiting: String,
    flushed: Instant,
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
        save::update(&path, |out| out.write_all(whole.as_bytes()))?;
        let file = fs::OpenOptions::new()
            .append(true)
            .open(&path)
            .map_err(|e| Failure::input(format!("cannot write {}: {e}", path.display())))?;
        Ok(Self { path, file, found, waiting: String::new(), flushed: Instant::now(), digest })
    }

    fn add(&mut self, moment: &Moment) -> Result<(), Failure> {
        let line = report::line(moment);
        let line = line.trim_end();
        self.digest.add(line);
        let _infallible = writeln!(self.waiting, "{line},{:016x}", self.digest.value());
        // What a signal ends has lost a second at most.
        let is_due = self.flushed.elapsed() >= Duration::from_secs(1);
        if is_due || self.waiting.len() > 1 << 14 { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.flushed = Instant::now();
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
