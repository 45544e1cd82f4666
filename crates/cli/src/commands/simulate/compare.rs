//! Several scenarios side by side: files, and values of keys that `--set` lists. Each is a cell of a study that asks for runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use darkfiber_report::compare::{CompareResult, bars};
use darkfiber_scenario::{Folder, Listener, ScenarioFile};
use darkfiber_study::compare::{Variant, keys};
use darkfiber_study::grid::{
    self, Axis, Hooks, NullStore, Prepared, QuestionPart, Record, StudyFile, Value,
};
use rayon::prelude::*;

use super::args::{Depth, SimulateCommand};
use crate::failure::{Exit, Failure};
use crate::options::Common;
use crate::out::Teller;
use crate::progress::Progress;
use crate::{load, provenance, save};

/// Scenarios of a comparison at most: more are a table that nobody reads.
const MOST: usize = 16;

/// What the command line sets, if it is one scenario; nothing if there are several, or several seeds.
pub(super) fn single(args: &SimulateCommand) -> Result<Option<Vec<Axis>>, Failure> {
    let set = set(args)?;
    let is_single = args.scenario.len() == 1
        && args.seeds.is_none()
        && set.iter().all(|axis| axis.values.len() == 1);
    if !is_single && args.mpi {
        refuse(args)?;
    }
    Ok(is_single.then_some(set))
}

/// A scenario with some of its keys set, as the command line wants it.
pub(super) fn scenario(
    path: &Path,
    set: &[Axis],
    args: &SimulateCommand,
    common: &Common,
) -> Result<ScenarioFile, Failure> {
    if set.is_empty() {
        return load::scenario(path, &args.names, common);
    }
    let study = read(path, set, common)?;
    if let Some(axis) = study.axes.first() {
        return Err(Failure::input(format!(
            "{}: {} is a list, and the scenario takes one value",
            path.display(),
            axis.name()
        ))
        .hint("darkfiber study run takes lists"));
    }
    let cell = study.cells(None)?.into_iter().next();
    let cell = cell.ok_or_else(|| Failure::input(format!("{}: no cell", path.display())))?;
    let mut file = study.prepare(cell)?.file;
    load::override_names(&mut file, &args.names);
    Ok(file)
}

fn set(args: &SimulateCommand) -> Result<Vec<Axis>, Failure> {
    let mut all: Vec<Axis> = Vec::new();
    for text in &args.set {
        let axis = Axis::parse(text)?;
        if all.iter().any(|other| other.path == axis.path) {
            return Err(Failure::usage(format!("--set {}: the key is set twice", axis.name()))
                .hint("several values of a key are separated by commas"));
        }
        all.push(axis);
    }
    Ok(all)
}

/// A file as a study of its runs.
fn read(path: &Path, set: &[Axis], common: &Common) -> Result<StudyFile, Failure> {
    let text = darkfiber_formats::input::read_text(path)?;
    let name = path.display().to_string();
    let mut study = StudyFile::parse(&text, &name, set, common.seed, None)?;
    let table: Option<toml::Table> = toml::from_str(&text).ok();
    if table.is_some_and(|table| table.contains_key("study")) {
        return Err(Failure::input(format!("{name}: this is a study, not a scenario"))
            .hint(format!("darkfiber study run {name}")));
    }
    study.part.questions = vec![QuestionPart::Name("runs".to_owned())];
    Ok(study)
}

/// Refuses options that are about one run.
fn refuse(args: &SimulateCommand) -> Result<(), Failure> {
    let given = [
        ("--isolated", args.isolated),
        ("--resolved", args.resolved.is_some()),
        ("-o", args.output.is_some()),
        ("--steps", args.steps.is_some()),
        ("--pairs", args.pairs.is_some()),
        ("--timeline", args.timeline.is_some()),
        ("--channels", args.channels.is_some()),
        ("--html", args.page.html.is_some()),
        ("--map", args.page.map.is_some()),
        ("--progress", args.progress),
        ("--estimate", args.estimate),
        ("--store", args.keep.keep.store.is_some()),
        ("--mpi", args.mpi),
    ];
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::usage(format!(
            "{option} is for one scenario, and several are compared here"
        ))
        .hint("--svg draws them side by side; darkfiber study run -o DIR keeps what many scenarios found")),
        None => Ok(()),
    }
}

/// Refuses `--set` of a key that an option of its own gives, too.
pub(super) fn refuse_twice(args: &SimulateCommand, common: &Common) -> Result<(), Failure> {
    let set = set(args)?;
    let seed = common.seed.map(|_| "seed");
    let mut given = overrides(args).into_iter().map(|(key, _)| key).chain(seed);
    match given.find(|key| set.iter().any(|axis| axis.name() == *key)) {
        Some(key) => {
            Err(Failure::usage(format!("--set {key} and --{key} are given: leave one out")))
        }
        None => Ok(()),
    }
}

pub(super) fn run(args: &SimulateCommand, common: &Common) -> Result<Exit, Failure> {
    refuse(args)?;
    save::expect(args.svg.as_ref())?;
    let mut all = set(args)?;
    for (key, value) in overrides(args) {
        all.push(Axis::parse(&format!("{key}={value}"))?);
    }
    let mut studies = Vec::new();
    for path in &args.scenario {
        let mut study = read(path, &all, common)?;
        if args.seeds.is_some() && study.axes.iter().any(|axis| axis.name() == "seed") {
            return Err(Failure::usage("--seeds counts seeds, and seed has several values, too"));
        }
        study.part.seeds = args.seeds;
        studies.push(study);
    }
    // The scenarios, before anything is simulated.
    let mut variants = Vec::new();
    let mut seeds = Vec::new();
    let mut notes = BTreeSet::new();
    for (i, study) in studies.iter().enumerate() {
        for cell in study.cells(None)? {
            let (point, turn) = (cell.point, cell.turn);
            if turn > 0 {
                continue;
            }
            let prepared = study.prepare(cell)?;
            notes.extend(prepared.file.scenario.unused_keys());
            let name = name(study, &prepared.set, studies.len() > 1);
            variants.push((i, point, variant(name, study, &prepared)?));
            if variants.len() > MOST {
                return Err(Failure::usage(format!("more than {MOST} scenarios are compared"))
                    .hint("darkfiber study run makes a table of any number of them"));
            }
            if let (Some(n), true) = (args.seeds, seeds.is_empty()) {
                seeds = (0..n).map(|k| prepared.seed().wrapping_add(k)).collect();
            }
        }
    }
    for note in &notes {
        Listener::note(&mut Teller::new(common), note);
    }
    tell_apart(&mut variants);
    // All their runs, side by side.
    let cells: usize = variants.len() * seeds.len().max(1);
    let progress = Progress::new(cells as u64, common.quiet);
    progress.at("scenarios");
    let begin = Instant::now();
    let clock = || begin.elapsed().as_secs_f64();
    let answers: Vec<Vec<Record>> = studies
        .par_iter()
        .map(|study| {
            let (files, step) = (Folder::of(Path::new(&study.name)), || progress.step());
            let hooks = Hooks { clock: &clock, done: &step, ..Hooks::of(&NullStore, &files) };
            Ok::<_, Failure>(grid::run(study, None, &hooks)?.records)
        })
        .collect::<Result<_, _>>()?;
    drop(progress);
    for (i, point, variant) in &mut variants {
        let records = &answers[*i];
        records.iter().filter(|record| record.point == *point).for_each(|r| variant.take(r));
    }
    let variants: Vec<Variant> = variants.into_iter().map(|(.., variant)| variant).collect();
    let title = title(&studies);
    let provenance = provenance::of_all(std::iter::empty(), common);
    let result = CompareResult::new(&title, &seeds, &variants, &provenance);
    let mut problems = save::Unwritten::default();
    if let Some(path) = &args.svg {
        problems.note(save::file(path, |out| out.write_all(bars(&result).as_bytes())));
    }
    common.show(&result)?;
    problems.end(if result.lacks_some() { Exit::Infeasible } else { Exit::Fine })
}

/// Keys that have options of their own.
fn overrides(args: &SimulateCommand) -> Vec<(&'static str, String)> {
    let depth = args.depth.map(|depth| match depth {
        Depth::Count => "count",
        Depth::Flow => "flow",
        Depth::Loggp => "loggp",
        Depth::Packet => "packet",
    });
    let map = args.names.node_name_map.as_ref().map(|map| {
        let map = std::path::absolute(map).unwrap_or_else(|_| map.clone());
        toml::Value::String(map.display().to_string()).to_string()
    });
    let depth = depth.map(|depth| ("depth", depth.to_owned()));
    depth.into_iter().chain(map.map(|map| ("node-name-map", map))).collect()
}

/// What a scenario is called: by its file if there are several, and by the values that it has.
fn name(study: &StudyFile, set: &[(String, Value)], has_files: bool) -> String {
    let values: Vec<String> = set.iter().map(|(_, value)| value.to_string()).collect();
    match (has_files, values.is_empty()) {
        (_, true) => study.title(),
        (true, false) => format!("{}: {}", study.title(), values.join(", ")),
        (false, false) => values.join(", "),
    }
}

/// Scenarios of one name are called by their files, too, and by their numbers if that is not enough.
fn tell_apart(variants: &mut [(usize, u64, Variant)]) {
    let names: Vec<String> = variants.iter().map(|v| v.2.name.clone()).collect();
    let is_twice = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let files: Vec<String> = (variants.iter().zip(&names))
        .map(
            |(v, name)| {
                if is_twice(name) { format!("{name} ({})", v.2.file) } else { name.clone() }
            },
        )
        .collect();
    for (i, variant) in variants.iter_mut().enumerate() {
        let before = files[..i].iter().filter(|other| **other == files[i]).count();
        variant.2.name = match before {
            0 => files[i].clone(),
            n => format!("{} #{}", files[i], n + 1),
        };
    }
}

fn variant(name: String, study: &StudyFile, prepared: &Prepared) -> Result<Variant, Failure> {
    let table: toml::Table = toml::from_str(&prepared.key)
        .map_err(|e| Failure::new(Exit::Bug, format!("{}: {e}", study.name)))?;
    let mut keys = keys(&table);
    if study.part.seeds.is_some() {
        // Each scenario runs with all of them.
        keys.remove("seed");
    }
    let depth = format!("{:?}", prepared.file.scenario.depth).to_lowercase();
    keys.entry("depth".to_owned()).or_insert(depth);
    Ok(Variant { name, file: study.name.clone(), keys, ..Variant::default() })
}

/// What the table and the picture are called.
fn title(studies: &[StudyFile]) -> String {
    let mut names: Vec<String> = studies.iter().map(StudyFile::title).collect();
    names.dedup();
    names.join(" | ")
}
