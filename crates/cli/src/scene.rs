//! A scenario with all that it names: fabric, jobs on their hosts, tables.

use std::path::{Path, PathBuf};

use darkfiber_formats::input;
use darkfiber_routing::{Lids, Request, Routes};
use darkfiber_study::simulate::{Follow, Scenario, demanded, sent};

use crate::args::{BesideTables, Common, FabricArgs, FabricOptions, NamesArgs};
use crate::cast::{Cast, check_counts};
use crate::commands::route;
use crate::failure::{Exit, Failure};
use crate::load::{self, Loaded};
use crate::progress::Progress;
use crate::tables;

/// All of it.
pub(crate) struct Scene {
    pub(crate) scenario: Scenario,
    pub(crate) loaded: Loaded,
    pub(crate) cast: Cast,
    pub(crate) routes: Routes,
    /// The LIDs that the tables speak of, where they do.
    pub(crate) lids: Option<Lids>,
    /// Which engine or file the tables are from.
    pub(crate) from: String,
    pub(crate) title: String,
    pub(crate) seed: u64,
}

impl Scene {
    /// Reads a scenario; two steps of progress. What else the caller takes `of` it is looked at first, so that what is
    /// wrong there is told at once.
    pub(crate) fn load<T>(
        path: &Path,
        names: &NamesArgs,
        common: &Common,
        progress: &Progress,
        of: impl FnOnce(&Scenario) -> Result<T, Failure>,
    ) -> Result<(Self, T), Failure> {
        let scenario = read(path)?;
        let seed = common.seed.or(scenario.seed).unwrap_or(1);
        let common = &Common { seed: Some(seed), ..common.clone() };
        let folder = path.parent().unwrap_or(Path::new(""));
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let title = scenario.title.clone().unwrap_or_else(|| stem.into_owned());
        progress.at("reading");
        let wrong = |failure| in_scenario(path, failure);
        check_counts(&scenario).map_err(|failure| wrong(at_line(path, failure)))?;
        let taken = of(&scenario).map_err(wrong)?;
        let loaded = load::fabric(&fabric_args(&scenario, folder, names), common).map_err(wrong)?;
        let cast = Cast::new(&scenario, &loaded.topology, folder, common).map_err(wrong)?;
        progress.step();
        progress.at("routing");
        let (routes, from, lids) =
            tables_of(&scenario, &loaded, &cast, folder, common).map_err(wrong)?;
        progress.step();
        Ok((Self { scenario, loaded, cast, routes, lids, from, title, seed }, taken))
    }
}

/// The scenario of a file.
fn read(path: &Path) -> Result<Scenario, Failure> {
    let text = input::read_text(path)?;
    toml::from_str(&text).map_err(|e| {
        const HINT: &str =
            "docs/simulate.md has all keys; docs/schema/scenario.json is for editors";
        // What is missing is missing on no line.
        let missing = e.message().strip_prefix("missing field `").and_then(|m| m.strip_suffix('`'));
        if let Some(key) = missing {
            let key = if key == "job" { "[[job]]" } else { key };
            return Failure::input(format!("{}: there is no {key}", path.display())).hint(HINT);
        }
        let at = e.span().map_or_else(String::new, |span| {
            format!("line {}: ", 1 + text[..span.start.min(text.len())].matches('\n').count())
        });
        let mut message = e.message().trim().to_owned();
        for kind in ["usize", "u64", "u32", "u8", "f64"] {
            let plain = if kind == "f64" { "a number" } else { "a whole number" };
            message = message.replace(&format!("expected {kind}"), &format!("expected {plain}"));
        }
        Failure::input(format!("{}: {at}{message}", path.display())).hint(HINT)
    })
}

/// What is wrong with a scenario is wrong in its file, not on the command line.
pub(crate) fn in_scenario(path: &Path, failure: Failure) -> Failure {
    let exit = if failure.exit == Exit::Usage { Exit::Input } else { failure.exit };
    let message = format!("{}: {}", path.display(), failure.message);
    Failure { exit, message, ..failure }
}

/// With the line of the file that a message is about.
fn at_line(path: &Path, failure: Failure) -> Failure {
    let line = input::read_text(path).ok().and_then(|text| line_of(&text, &failure.message));
    let at = line.map_or_else(String::new, |line| format!("line {line}: "));
    Failure { message: format!("{at}{}", failure.message), ..failure }
}

/// The line that a message about a job (`job 2: count ..`) is about: that of the key that it names, else the one where the job
/// begins.
fn line_of(text: &str, message: &str) -> Option<usize> {
    let (place, rest) = message.split_once(": ")?;
    let skip = place.strip_prefix("job ")?.parse::<usize>().ok()?.checked_sub(1)?;
    let mut lines =
        text.lines().zip(1..).filter(|(line, _)| line.trim_start().starts_with("[[job]]"));
    let (_, first) = lines.nth(skip)?;
    let key = rest.split([' ', ':']).next().unwrap_or_default();
    let is_key = |line: &str| {
        let rest = line.trim_start().strip_prefix(key).map(str::trim_start);
        !key.is_empty() && rest.is_some_and(|rest| rest.starts_with('='))
    };
    let mut inside = text.lines().zip(1..).skip(first).take_while(|(l, _)| !l.starts_with('['));
    Some(inside.find(|(line, _)| is_key(line)).map_or(first, |(_, number)| number))
}

/// The fabric that a scenario names; names of the command line come before those of the file.
fn fabric_args(scenario: &Scenario, folder: &Path, names: &NamesArgs) -> FabricArgs {
    let node_name_map = names.node_name_map.clone();
    let of_file = || scenario.node_name_map.as_ref().map(|map| folder.join(map));

    let beside = folder.join(&scenario.fabric);
    let is_file = !scenario.fabric.starts_with('@') && beside.exists();
    FabricArgs {
        fabric: if is_file { beside.display().to_string() } else { scenario.fabric.clone() },
        options: FabricOptions {
            fail_links: scenario.fail_links,
            plane: scenario.plane,
            names: NamesArgs { node_name_map: node_name_map.or_else(of_file) },
            ..FabricOptions::default()
        },
    }
}

/// The tables, where they are from, and the LIDs that they speak of.
fn tables_of(
    scenario: &Scenario,
    loaded: &Loaded,
    cast: &Cast,
    folder: &Path,
    common: &Common,
) -> Result<(Routes, String, Option<Lids>), Failure> {
    let part = &scenario.routes;
    let fabric = &loaded.topology.fabric;
    let name = match (&part.engine, &part.tables) {
        (Some(name), None) => name,
        (None, Some(path)) => {
            let routes: PathBuf = folder.join(path);
            let tables = BesideTables::default().of(&routes);
            let read = tables::read(&tables, &scenario.fabric, loaded, common)?;
            read.tell_assumed_lane(fabric, common);
            return Ok((read.routes, path.clone(), read.lids));
        }
        _ => {
            return Err(Failure::input("routes: give an engine or tables, one of them")
                .hint("for example engine = \"dfsssp\""));
        }
    };
    if part.lmc > 7 {
        return Err(Failure::input(format!("routes: lmc {} must be at most 7", part.lmc)));
    }
    if let Some(lanes) = part.lanes.filter(|lanes| !(1..=15).contains(lanes)) {
        return Err(Failure::input(format!("routes: lanes {lanes} must be from 1 to 15")));
    }
    let chain = route::chain(name)?;
    let told = part.follow == Follow::Jobs;
    let demands = if told && chain.engines.iter().any(|e| e.follows_demands()) {
        demanded(&sent(&cast.jobs))
    } else {
        Vec::new()
    };
    let places = if told { cast.places() } else { Vec::new() };
    let request = Request {
        shape: loaded.topology.shape.as_ref(),
        lmc: part.lmc,
        lanes: part.lanes.unwrap_or(8),
        jobs: &places,
        demands: &demands,
        seed: common.seed(),
        ..Request::default()
    };
    let (_, routes, _, _) = route::compute(&chain, fabric, &request).map_err(|refused| {
        Failure::infeasible(format!("{}: {}", refused.engine, refused.refused))
    })?;
    let engine = routes.engine.clone();
    Ok((routes, engine, None))
}
