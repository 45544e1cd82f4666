//! The page of `--html`: the data of a command as parts of a page.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use darkfiber_analysis::sharing::Sharing;
use darkfiber_fabric::{Fabric, TerminalId, Topology};
use darkfiber_page::{JobOnMap, Origin, Page, Unit, View};
use darkfiber_report::Provenance;
pub(crate) use darkfiber_report::page::Notes;
use darkfiber_report::page::{facts, shape_of};
use darkfiber_routing::Routes;

use crate::failure::{Exit, Failure};
use crate::options::PageArgs;
use crate::save;

/// Whether there is a file that holds anything but a page or a picture.
fn is_something_else(path: &Path) -> bool {
    if !path.metadata().is_ok_and(|m| m.is_file() && m.len() > 0) {
        return false;
    }
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(256).read_to_end(&mut begin));
    let begin = String::from_utf8_lossy(&begin).to_ascii_lowercase();
    let marks = ["<!doctype html", "<html", "<svg", "<?xml"];
    read.is_ok() && !marks.iter().any(|mark| begin.trim_start().starts_with(mark))
}

impl PageArgs {
    /// Checks early whether the page can be written. It replaces only another page or picture: a dump that is named by mistake may
    /// be the only copy.
    pub(crate) fn expect(&self) -> Result<(), Failure> {
        if self.html.is_some() && self.html == self.map {
            return Err(Failure::usage("--html and --map name the same file"));
        }
        for path in [&self.html, &self.map].into_iter().flatten() {
            save::expect(Some(path))?;
            if is_something_else(path) {
                let what =
                    format!("{}: a file that is no page or picture is there", path.display());
                return Err(Failure::input(what)
                    .hint("nothing was computed: name another file, or remove that one"));
            }
        }
        Ok(())
    }

    /// Whether a page or its map is to be written.
    pub(crate) fn is_asked(&self) -> bool {
        self.html.is_some() || self.map.is_some()
    }

    /// Writes the page that `make` makes, and its map, if requested.
    pub(crate) fn write<'a>(&self, make: impl FnOnce() -> Page<'a>) -> Result<(), Failure> {
        if !self.is_asked() {
            return Ok(());
        }
        let page = make();
        let write = |path: Option<&PathBuf>, text: &dyn Fn() -> String| match path {
            Some(path) => save::file(path, |out| out.write_all(text().as_bytes())),
            None => Ok(()),
        };
        let mut problems = save::Unwritten::default();
        problems.note(write(self.html.as_ref(), &|| darkfiber_page::page(&page)));
        problems.note(write(self.map.as_ref(), &|| darkfiber_page::map(&page)));
        problems.end(Exit::Fine).map(|_| ())
    }
}

/// A page of a fabric without further data.
pub(crate) fn of<'a>(
    title: impl Into<String>,
    topology: &'a Topology,
    provenance: &Provenance,
) -> Page<'a> {
    let fabric = &topology.fabric;
    let shape = shape_of(topology);
    Page {
        title: title.into(),
        subtitle: shape.map(darkfiber_fabric::Shape::summary).unwrap_or_default(),
        fabric,
        shape: topology.shape.as_ref(),
        views: Vec::new(),
        jobs: Vec::new(),
        findings: Vec::new(),
        charts: Vec::new(),
        sheets: Vec::new(),
        routes: None,
        facts: facts(topology),
        origin: origin(provenance),
    }
}

/// Provenance of a page.
pub(crate) fn origin(provenance: &Provenance) -> Origin {
    Origin {
        command: provenance.command.clone(),
        version: provenance.version.clone(),
        seed: provenance.seed,
        digest: provenance.fabric_digest.clone(),
    }
}

/// Numbers of channels between switches as a view.
pub(crate) fn view<T: Copy>(
    name: &str,
    unit: Unit,
    load: &[T],
    channels: usize,
    number: impl Fn(T) -> f64,
) -> View {
    let load = load.iter().take(channels).map(|&x| number(x)).collect();
    View { name: name.to_owned(), unit, load, series: None, lanes: Vec::new() }
}

/// By channel the virtual lane of most of its routes; empty where all are in one, or the tables are too large.
pub(crate) fn lanes(fabric: &Fabric, routes: &Routes) -> Vec<u8> {
    darkfiber_analysis::main_lanes(fabric, routes).unwrap_or_default()
}

/// Jobs with the loads of the routes inside them.
pub(crate) fn jobs_by_routes(
    fabric: &Fabric,
    routes: &Routes,
    places: &[Vec<TerminalId>],
    name: impl Fn(usize) -> String,
) -> Vec<JobOnMap> {
    let sharing = Sharing::of(fabric, routes, places);
    (sharing.jobs.iter().zip(places).enumerate())
        .map(|(j, (load, terminals))| JobOnMap {
            name: name(j),
            terminals: terminals.clone(),
            runs: Vec::new(),
            views: Vec::new(),
            load: load.load.iter().map(|&(c, routes)| (c, f64::from(routes))).collect(),
            fact: String::new(),
        })
        .collect()
}
