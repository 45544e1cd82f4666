//! The jobs that run, and where.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_formats::jobs::{self, Record, State};
use darkfiber_formats::places::{self, Aliases, Places};
use darkfiber_formats::{Diagnostics, input};

use crate::args::{Common, JobsArgs};
use crate::failure::Failure;
use crate::out;

impl JobsArgs {
    /// The terminals of every job that runs, if jobs were named.
    pub(crate) fn load(
        &self,
        fabric: &Fabric,
        common: &Common,
    ) -> Result<Option<Vec<Vec<TerminalId>>>, Failure> {
        let Some(path) = &self.jobs else { return Ok(None) };
        let places = Places::new(fabric, aliases(self.aliases.as_deref(), common)?);
        let mut placed = Placed::default();
        let found = read(path, &mut |record| placed.take(&places, &record))?;
        out::diagnostics(&path.display().to_string(), &found, common);
        placed.tell(path, common)?;
        Ok(Some(placed.jobs))
    }
}

/// Other names of hosts, if there is a file of them.
pub(crate) fn aliases(path: Option<&Path>, common: &Common) -> Result<Aliases, Failure> {
    let Some(path) = path else { return Ok(Aliases::new()) };
    let (aliases, found) = places::read_aliases(&input::read_text(path)?, path)?;
    out::diagnostics(&path.display().to_string(), &found, common);
    Ok(aliases)
}

/// Reads jobs of any kind, recognised by content.
pub(crate) fn read(path: &Path, each: &mut dyn FnMut(Record)) -> Result<Diagnostics, Failure> {
    if path.is_dir() {
        return Err(Failure::input(format!("{} is a directory", path.display())));
    }
    read_from(&mut BufReader::with_capacity(1 << 16, input::open(path)?), path, each)
}

/// The same from something that is open.
pub(crate) fn read_from(
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, Failure> {
    let (kind, _) = recognise(reader, path)?;
    read_as(kind, reader, path, each)
}

/// What kind of log it is, and how it begins.
pub(crate) fn recognise(
    reader: &mut dyn BufRead,
    path: &Path,
) -> Result<(jobs::Kind, String), Failure> {
    let unreadable = |e| Failure::input(format!("cannot read {}: {e}", path.display()));
    let head = String::from_utf8_lossy(reader.fill_buf().map_err(unreadable)?).into_owned();
    let kind = jobs::detect(&head).ok_or_else(|| {
        let known: Vec<&str> = jobs::Kind::ALL.iter().map(|k| k.describe()).collect();
        Failure::input(format!("{}: this is like no list of jobs known", path.display()))
            .hint(format!("there are {}", known.join(", ")))
    })?;
    Ok((kind, head))
}

/// Reads a log of a known kind.
pub(crate) fn read_as(
    kind: jobs::Kind,
    reader: &mut dyn BufRead,
    path: &Path,
    each: &mut dyn FnMut(Record),
) -> Result<Diagnostics, Failure> {
    Ok(jobs::read(kind, reader, path, each)?)
}

/// Names nodes that are not in the fabric.
pub(crate) fn tell_unknown(source: &str, unknown: &BTreeMap<String, usize>, common: &Common) {
    if unknown.is_empty() {
        return;
    }
    let names: Vec<&str> = unknown.keys().map(String::as_str).collect();
    let shown = if common.verbose { names.len() } else { names.len().min(10) };
    let more = match names.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    out::tell(&format!(
        "{source}: warning: nodes that are not in the fabric: {}{more}",
        names[..shown].join(", ")
    ));
}

/// Jobs whose nodes were found.
#[derive(Default)]
struct Placed {
    jobs: Vec<Vec<TerminalId>>,
    /// Names that stand for nothing, and how often.
    unknown: BTreeMap<String, usize>,
    /// Jobs that do not run, or whose log does not say where.
    idle: usize,
    nowhere: usize,
}

impl Placed {
    fn take(&mut self, places: &Places, record: &Record) {
        if !matches!(record.state, State::Running | State::Unknown) {
            self.idle += 1;
            return;
        }
        let Some(nodes) = record.nodes.as_ref().filter(|nodes| !nodes.is_empty()) else {
            self.nowhere += 1;
            return;
        };
        let mut terminals = Vec::new();
        for name in nodes {
            let found = places.of(name);
            if found.is_empty() {
                *self.unknown.entry(name.clone()).or_default() += 1;
            }
            terminals.extend_from_slice(found);
        }
        terminals.sort_unstable();
        terminals.dedup();
        if !terminals.is_empty() {
            self.jobs.push(terminals);
        }
    }

    /// Says what could not be used; refuses if nothing could.
    fn tell(&self, path: &Path, common: &Common) -> Result<(), Failure> {
        let path = path.display();
        let names: Vec<&str> = self.unknown.keys().map(String::as_str).collect();
        if self.jobs.is_empty() && !names.is_empty() {
            return Err(Failure::input(format!(
                "{path}: none of its {} nodes is in the fabric, for example {}",
                names.len(),
                names[0]
            ))
            .hint("--aliases FILE tells other names of hosts, `alias name` on each line"));
        }
        if common.quiet {
            return Ok(());
        }
        tell_unknown(&path.to_string(), &self.unknown, common);
        if self.nowhere > 0 {
            out::tell(&format!("{path}: warning: {} jobs run without saying where", self.nowhere));
        }
        Ok(())
    }
}
