//! The jobs that run, and where.

use std::collections::BTreeMap;
use std::path::Path;

use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_formats::places::{Aliases, Places};
use darkfiber_scenario::history::terminals_of;
use darkfiber_traces::jobs::{Record, State};

use crate::failure::Failure;
use crate::options::{Common, JobsArgs};
use crate::out::Teller;
use crate::{job_log, out};
use darkfiber_scenario::moment::LogMoment;

impl JobsArgs {
    /// The terminals of every job that runs, if jobs were named.
    pub(crate) fn load(
        &self,
        fabric: &Fabric,
        common: &Common,
    ) -> Result<Option<Vec<Vec<TerminalId>>>, Failure> {
        let Some(path) = &self.jobs else { return Ok(None) };
        Running::load(path, self.aliases.as_deref(), self.at, fabric, common)
            .map(|running| Some(running.places))
    }
}

/// Other names of hosts, if there is a file of them.
pub(crate) fn aliases(
    path: Option<&Path>,
    fabric: &Fabric,
    common: &Common,
) -> Result<Aliases, Failure> {
    Ok(darkfiber_scenario::aliases(path, fabric, &mut Teller::new(common))?)
}

/// Refuses names that are descriptions of several hosts: they are ambiguous.
pub(crate) fn refuse_shared<'a>(
    source: &str,
    names: impl IntoIterator<Item = &'a str>,
    places: &Places,
) -> Result<(), Failure> {
    Ok(darkfiber_scenario::refuse_shared(source, names, places)?)
}

/// Names nodes that are not in the fabric.
pub(crate) fn report_unknown(source: &str, unknown: &BTreeMap<String, usize>, common: &Common) {
    if unknown.is_empty() {
        return;
    }
    let names: Vec<&str> = unknown.keys().map(String::as_str).collect();
    let shown = if common.verbose { names.len() } else { names.len().min(10) };
    let more = match names.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    out::eprint_line(&format!(
        "{source}: warning: nodes that are not in the fabric: {}{more}",
        names[..shown].join(", ")
    ));
}

/// How a list gets the nodes of its jobs.
pub(crate) const ASK_FOR_NODES: &str =
    "ask for the node list, too: `squeue -o \"%i %T %N\"`, sacct's NodeList";

/// Running jobs whose nodes were found.
#[derive(Default)]
pub(crate) struct Running {
    /// The sorted terminals of each.
    pub(crate) places: Vec<Vec<TerminalId>>,
    /// Ids of the jobs.
    pub(crate) ids: Vec<String>,
    /// Owners of the jobs.
    pub(crate) users: Vec<Option<String>>,
    /// Unknown names, and their counts.
    unknown: BTreeMap<String, usize>,
    /// Number of jobs whose nodes are not in the log.
    nowhere: usize,
    /// The first line that could not be read, which may be a job's.
    left_out: Option<usize>,
}

impl Running {
    /// The jobs that run, or ran at a moment; reports entries that could not be used.
    ///
    /// # Errors
    /// If it cannot be read, no job that runs says where, or there are nodes and none is in the fabric.
    pub(crate) fn load(
        path: &Path,
        aliased: Option<&Path>,
        at: Option<LogMoment>,
        fabric: &Fabric,
        common: &Common,
    ) -> Result<Self, Failure> {
        let places = Places::new(fabric, aliases(aliased, fabric, common)?);
        let at = at.map(|when| moment_of(path, when)).transpose()?;
        let mut running = Self::default();
        let (_, left_out) = job_log::read(path, common, &mut |record| {
            let runs = match at {
                None => matches!(record.state, State::Running | State::Unknown),
                Some(at) => ran(&record, at),
            };
            if runs {
                running.take(&places, record);
            }
        })?;
        running.left_out = left_out;
        let unknown = running.unknown.keys().map(String::as_str);
        refuse_shared(&path.display().to_string(), unknown, &places)?;
        let runs = if at.is_some() { "ran then" } else { "runs" };
        if running.places.is_empty() && running.unknown.is_empty() && running.nowhere > 0 {
            let what = format!("{}: no job says on which nodes it {runs}", path.display());
            return Err(Failure::input(what).hint(ASK_FOR_NODES));
        }
        running.report(path, common)?;
        if running.places.is_empty() && !common.quiet {
            out::eprint_line(&format!("{}: warning: no job in it {runs}", path.display()));
        }
        Ok(running)
    }

    /// Refuses jobs of which one does not say where it runs, or whose line cannot be read: its hosts would seem to be free.
    pub(crate) fn expect_all_placed(&self, path: &Path) -> Result<(), Failure> {
        match (self.nowhere, self.left_out) {
            (0, None) => Ok(()),
            (0, Some(line)) => {
                let which = if line == 0 { "an entry".to_owned() } else { format!("line {line}") };
                let what = format!(
                    "{}: {which} cannot be read, so that hosts of its job would seem to be free",
                    path.display()
                );
                Err(Failure::input(what)
                    .hint("`squeue --json` is read whatever jobs are called; or take the line out"))
            }
            (n, _) => Err(Failure::input(format!(
                "{}: {} without saying where, so that its hosts would seem to be free",
                path.display(),
                if n == 1 { "1 job runs".to_owned() } else { format!("{n} jobs run") }
            ))
            .hint(ASK_FOR_NODES)),
        }
    }

    fn take(&mut self, places: &Places, record: Record) {
        let Some(nodes) = record.nodes.as_ref().filter(|nodes| !nodes.is_empty()) else {
            self.nowhere += 1;
            return;
        };
        let mut terminals = terminals_of(nodes, places, &mut self.unknown);
        terminals.sort_unstable();
        terminals.dedup();
        if !terminals.is_empty() {
            self.places.push(terminals);
            self.ids.push(record.id);
            self.users.push(record.user);
        }
    }

    /// Reports entries that could not be used; refuses if none could.
    fn report(&self, path: &Path, common: &Common) -> Result<(), Failure> {
        let path = path.display();
        let names: Vec<&str> = self.unknown.keys().map(String::as_str).collect();
        if self.places.is_empty() && !names.is_empty() {
            return Err(Failure::input(format!(
                "{path}: none of its {} nodes is in the fabric, for example {}",
                names.len(),
                names[0]
            ))
            .hint("--aliases FILE gives other names of hosts, `alias name` on each line; --node-name-map FILE names them"));
        }
        if common.quiet {
            return Ok(());
        }
        report_unknown(&path.to_string(), &self.unknown, common);
        if self.nowhere > 0 {
            out::eprint_line(&format!(
                "{path}: warning: {}",
                match self.nowhere {
                    1 => "1 job runs without saying where".to_owned(),
                    n => format!("{n} jobs run without saying where"),
                }
            ));
        }
        let mut all: Vec<TerminalId> = self.places.iter().flatten().copied().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        if all.len() < count {
            out::eprint_line(&format!(
                "{path}: note: several jobs share nodes: {count} terminals of jobs, {} different ones",
                all.len()
            ));
        }
        Ok(())
    }
}

/// Whether a job ran at a moment, by the times in its log.
fn ran(record: &Record, at: i64) -> bool {
    let started = record.start.is_some_and(|start| start <= at);
    let goes_on = record.end.map_or(record.state == State::Running, |end| at < end);
    started && goes_on
}

/// The moment that is meant in a log.
fn moment_of(path: &Path, when: LogMoment) -> Result<i64, Failure> {
    if matches!(when, LogMoment::At(_)) {
        return Ok(when.of(0));
    }
    if path == Path::new("-") {
        return Err(Failure::usage(
            "--at after the first job began needs a file, not standard input",
        )
        .hint("give a date, or a file"));
    }
    let mut first: Option<i64> = None;
    let quiet = Common { quiet: true, ..Common::default() };
    job_log::read(path, &quiet, &mut |record| {
        if let Some(start) = record.start {
            first = Some(first.map_or(start, |f| f.min(start)));
        }
    })?;
    let first = first
        .ok_or_else(|| Failure::input(format!("{}: no job says when it began", path.display())))?;
    Ok(when.of(first))
}
