//! The page of `--html`: the data of a command as parts of a page.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use darkfiber_analysis::finding::{Finding, Places};
use darkfiber_analysis::sharing::Sharing;
use darkfiber_analysis::{ChannelName, Names, Severity};
use darkfiber_fabric::{AtPort, ChannelId, Fabric, SwitchId, TerminalId, Topology};
use darkfiber_page::{JobOnMap, Origin, Page, PageFinding, Unit, View};
use darkfiber_report::{Provenance, number};
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
    let mut facts = vec![("name".to_owned(), fabric.name().to_owned())];
    // Two switches are anything.
    let shape = topology.shape.as_ref().filter(|_| fabric.switch_count() > 2);
    if let Some(shape) = shape {
        facts.push(("shape".to_owned(), shape.summary()));
    }
    facts.push(("hosts".to_owned(), number::group(fabric.host_count() as u64)));
    facts.push(("cables".to_owned(), number::group(fabric.link_count() as u64)));
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
        facts,
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

/// Finds the elements that findings name, so that the map can go there.
pub(crate) struct Notes<'a> {
    fabric: &'a Fabric,
    by_guid: BTreeMap<u64, SwitchId>,
    switches: BTreeMap<String, SwitchId>,
    terminals: BTreeMap<String, TerminalId>,
}

impl<'a> Notes<'a> {
    pub(crate) fn new(fabric: &'a Fabric) -> Self {
        let names = Names::new(fabric);
        let switches = || (0..fabric.switch_count()).map(SwitchId::new);
        Self {
            fabric,
            by_guid: switches().map(|s| (fabric.switch(s).guid.0, s)).collect(),
            switches: switches().map(|s| (names.switch(s), s)).collect(),
            terminals: (0..fabric.terminal_count())
                .map(TerminalId::new)
                .map(|t| (names.terminal(t), t))
                .collect(),
        }
    }

    fn channel(&self, name: &ChannelName) -> Option<ChannelId> {
        let s = *self.by_guid.get(&name.from_guid.0.0)?;
        match self.fabric.at_port(s, name.from_port) {
            AtPort::Switch(c, _) => Some(c),
            _ => None,
        }
    }

    /// Findings with the places that they name.
    pub(crate) fn of(&self, findings: &[Finding]) -> Vec<PageFinding> {
        findings.iter().map(|f| self.one(f)).collect()
    }

    fn one(&self, finding: &Finding) -> PageFinding {
        let severity = match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let mut note = PageFinding {
            severity,
            message: finding.message.clone(),
            hint: finding.hint.to_owned(),
            ..PageFinding::default()
        };
        match &finding.places {
            Places::Pairs { examples, .. } => {
                let end = |name: &String| self.terminals.get(name).copied();
                let pair = |b: &darkfiber_analysis::finding::BrokenPair| {
                    Some((end(&b.pair.source)?, end(&b.pair.destination)?))
                };
                note.pairs = examples.iter().filter_map(pair).collect();
                note.switches =
                    examples.iter().filter_map(|b| self.switches.get(&b.at).copied()).collect();
            }
            Places::Cycle { cycle, .. } => {
                note.channels = cycle.iter().filter_map(|d| self.channel(&d.channel)).collect();
            }
            Places::Channels { channels } => {
                note.channels = channels.iter().filter_map(|c| self.channel(&c.channel)).collect();
            }
            Places::Components { examples, .. } => {
                note.switches =
                    examples.iter().filter_map(|name| self.switches.get(name).copied()).collect();
            }
            // Names of switches may occur inside a description.
            Places::Nodes { examples, .. } => {
                note.switches = examples
                    .iter()
                    .flat_map(|text| {
                        let words = text.split([' ', ',']);
                        words.filter_map(|word| self.switches.get(word).copied())
                    })
                    .collect();
                note.switches.dedup();
            }
        }
        note
    }
}
