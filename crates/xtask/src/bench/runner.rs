//! Runs the commands of rows, darkfiber and its peer in turn, and stores the results.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::figure::Finished;
use super::results::{Measured, Results};
use super::rows::{Peer, Row, Rows};

/// Repetitions of a row.
const REPEATS: u32 = 3;

/// A row whose first repetition takes longer than this many seconds has one.
const LONG: f64 = 20.0;

/// Word before the times that the shell prints.
const TIMES: &str = "bench-times";

/// Paths and limits of a run.
pub(crate) struct Options {
    /// The program.
    pub(crate) darkfiber: PathBuf,
    /// Examples of the crates, built with `--release`.
    pub(crate) examples: PathBuf,
    /// Built peers.
    pub(crate) peers: Option<PathBuf>,
    /// A folder for what commands write.
    pub(crate) work: PathBuf,
    /// Rows with one of these texts; all if there are none.
    pub(crate) only: Vec<String>,
    /// Rows that were measured at this commit, too.
    pub(crate) again: bool,
    /// Most seconds of a command.
    pub(crate) timeout: u64,
}

/// Commit, date and machine of a run.
struct Origin {
    commit: String,
    date: String,
    machine: String,
}

/// A run over the rows.
struct Runner<'a> {
    root: &'a Path,
    options: &'a Options,
    origin: Origin,
    /// Why a peer cannot be run, by its name; none if it can.
    peers: BTreeMap<String, Option<String>>,
}

/// Measures the rows that were not measured at this commit; returns whether all of them could be.
///
/// # Errors
/// If there is nothing to run, or results cannot be written.
pub(crate) fn run(
    root: &Path,
    options: &Options,
    rows: &Rows,
    results: &mut Results,
) -> Result<bool, String> {
    let is_chosen = |row: &&Row| {
        options.only.is_empty() || options.only.iter().any(|word| row.is_selected(word))
    };
    let chosen: Vec<&Row> = rows.rows.iter().filter(is_chosen).collect();
    if chosen.is_empty() {
        return Err(format!("--only: no row has {}", options.only.join(" or ")));
    }
    fs::create_dir_all(&options.work).map_err(|e| format!("{}: {e}", options.work.display()))?;
    let origin = Origin::of(&options.darkfiber)?;
    let mut runner = Runner { root, options, origin, peers: BTreeMap::new() };
    let mut is_fine = true;
    for row in chosen {
        let id = &row.id;
        if row.ours.is_none() {
            println!("{id}: not run: bench.toml has no command");
            continue;
        }
        let last = results.get(id);
        let missing = row.peer.as_ref().and_then(|name| runner.missing(name, &rows.peers[name]));
        if !options.again && last.is_some_and(|last| runner.is_done(row, last, missing.is_some())) {
            println!("{id}: measured at this commit");
            continue;
        }
        if let Some(why) = &missing {
            println!("{id}: without its peer: {why}");
        }
        match runner.measure(row, last, missing.is_some()) {
            Ok(measured) => {
                let [ours, theirs] = [measured.ours, measured.theirs]
                    .map(|v| v.map_or("-".to_owned(), |v| format!("{v} {}", row.unit)));
                println!("{id}: ours {ours}, the peer's {theirs}");
                results.store(measured, rows)?;
            }
            Err(e) => {
                println!("{id}: FAILED: {e}");
                is_fine = false;
            }
        }
    }
    Ok(is_fine)
}

impl Origin {
    /// From `darkfiber --version`, the clock, and what the system says of itself.
    fn of(darkfiber: &Path) -> Result<Self, String> {
        let version = output(Command::new(darkfiber).arg("--version"))?;
        let commit = version.split_once('(').and_then(|(_, rest)| rest.split([' ', ')']).next());
        let commit = commit.ok_or_else(|| {
            format!("{} --version names no commit: {version}", darkfiber.display())
        })?;
        let date = output(Command::new("date").arg("+%Y-%m-%d"))?;
        Ok(Self { commit: commit.to_owned(), date, machine: machine() })
    }
}

impl Runner<'_> {
    /// Whether a result is of this commit and machine, and has the peer's figure if there is one to have.
    fn is_done(&self, row: &Row, last: &Measured, is_missing: bool) -> bool {
        let is_same = last.commit == self.origin.commit && last.machine == self.origin.machine;
        let is_alone =
            row.peer.is_none() || is_missing || row.theirs.is_none() || row.untried.is_some();
        is_same && (is_alone || last.theirs.is_some() && last.theirs_date.is_none())
    }

    /// Why a peer cannot be run; it is set up the first time that it is asked for.
    fn missing(&mut self, name: &str, peer: &Peer) -> Option<String> {
        if let Some(known) = self.peers.get(name) {
            return known.clone();
        }
        let lacks = peer.needs.iter().find(|need| !self.is_there(need));
        let why = match (lacks, &peer.setup) {
            (Some(need), _) => Some(format!("{name} needs {need}")),
            (None, Some(setup)) => {
                self.shell(setup, None).err().map(|e| format!("{name} cannot be set up: {e}"))
            }
            (None, None) => None,
        };
        self.peers.insert(name.to_owned(), why.clone());
        why
    }

    /// Whether a program or file of a peer is there.
    fn is_there(&self, need: &str) -> bool {
        if need.starts_with('/') {
            return Path::new(need).exists();
        }
        let peers = self.options.peers.as_deref();
        if peers.is_some_and(|peers| peers.join(need).exists()) {
            return true;
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
        folders.push("/usr/sbin".into());
        !need.contains('/') && folders.iter().any(|folder| folder.join(need).is_file())
    }

    /// The median of a row's repetitions; both sides in turn. If the peer is missing or fails, its last figure stays.
    fn measure(
        &self,
        row: &Row,
        last: Option<&Measured>,
        is_missing: bool,
    ) -> Result<Measured, String> {
        if let Some(setup) = &row.setup {
            self.shell(setup, None)?;
        }
        let is_tried = !is_missing && row.untried.is_none();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        let mut failed = None;
        for _ in 0..REPEATS {
            let mut took = 0.0;
            let mut both = None;
            if let Some(side) = &row.ours {
                let done = self.shell(&side.command, side.says.as_deref())?;
                took += done.wall;
                ours.push(side.figure.of(&done)?);
                both = Some(done);
            }
            if let Some(side) = row.theirs.as_ref().filter(|_| is_tried && failed.is_none()) {
                // A command that has both figures is run once.
                let is_same = row.ours.as_ref().is_some_and(|ours| ours.command == side.command);
                let done = match both.take_if(|_| is_same) {
                    Some(done) => Ok((done, 0.0)),
                    None => self.shell(&side.command, side.says.as_deref()).map(|done| {
                        let wall = done.wall;
                        (done, wall)
                    }),
                };
                match done.and_then(|(done, wall)| Ok((side.figure.of(&done)?, wall))) {
                    Ok((figure, wall)) => {
                        took += wall;
                        theirs.push(figure);
                    }
                    Err(e) => {
                        println!("{}: the peer failed: {e}", row.id);
                        failed = Some(e);
                    }
                }
            }
            if took > LONG {
                break;
            }
        }
        let runs = ours.len() as u32;
        let mut measured = Measured {
            row: row.id.clone(),
            ours: Some(median(&mut ours)),
            date: self.origin.date.clone(),
            commit: self.origin.commit.clone(),
            machine: self.origin.machine.clone(),
            runs,
            note: row.untried.clone(),
            ..Measured::default()
        };
        if row.untried.is_some() {
            return Ok(measured);
        }
        if !theirs.is_empty() && failed.is_none() {
            measured.theirs = Some(median(&mut theirs));
        } else if let Some(last) = last.filter(|_| row.peer.is_some()) {
            measured.theirs = last.theirs;
            measured.note.clone_from(&last.note);
            let date = last.theirs_date.clone().unwrap_or_else(|| last.date.clone());
            let is_kept = measured.theirs.is_some() && date != measured.date;
            measured.theirs_date = is_kept.then_some(date);
        }
        if measured.theirs.is_none() && measured.note.is_none() {
            let reason = failed.as_deref().and_then(|e| e.split(':').next());
            measured.note = reason.map(str::to_owned);
        }
        Ok(measured)
    }

    /// Runs a line in the root of the project, with its placeholders replaced.
    fn shell(&self, line: &str, says: Option<&str>) -> Result<Finished, String> {
        let Options { darkfiber, examples, peers, work, timeout, .. } = self.options;
        let nowhere = PathBuf::from("no-peers");
        let mut line = line.to_owned();
        for (key, path) in [
            ("{darkfiber}", darkfiber),
            ("{examples}", examples),
            ("{peers}", peers.as_ref().unwrap_or(&nowhere)),
            ("{work}", work),
        ] {
            line = line.replace(key, &path.display().to_string());
        }
        let script = format!("TIMEFORMAT='{TIMES} %R %U %S'\ntime (\n{line}\n)");
        let done = Command::new("timeout")
            .args(["--kill-after=5", &timeout.to_string(), "bash", "-c", &script])
            .current_dir(self.root)
            .env("DARKFIBER", darkfiber)
            .env("DARKFIBER_EXAMPLES", examples)
            .stdin(Stdio::null())
            .output()
            .map_err(|e| format!("timeout: {e}"))?;
        let out = String::from_utf8_lossy(&done.stdout).into_owned();
        let errors = String::from_utf8_lossy(&done.stderr);
        if matches!(done.status.code(), Some(124 | 137)) {
            return Err(format!("not finished in {timeout} s: {line}"));
        }
        let is_done = match says {
            Some(text) => out.contains(text),
            None => matches!(done.status.code(), Some(0 | 1)),
        };
        let times = errors.lines().rev().find_map(|l| l.strip_prefix(TIMES));
        let times = times.map(|t| t.split_whitespace().flat_map(str::parse).collect::<Vec<f64>>());
        let (true, Some(&[wall, user, system])) = (is_done, times.as_deref()) else {
            let about: Vec<&str> =
                errors.lines().chain(out.lines()).filter(|l| !l.starts_with(TIMES)).collect();
            let about = about[about.len().saturating_sub(5)..].join("\n");
            let expected = says.map(|text| format!(", and no `{text}`")).unwrap_or_default();
            return Err(format!("{}{expected}: {line}\n{about}", done.status));
        };
        Ok(Finished { out, wall, cpu: user + system })
    }
}

/// The middle of the values.
fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len().is_multiple_of(2) && half > 0 {
        f64::midpoint(values[half - 1], values[half])
    } else {
        values.get(half).copied().unwrap_or(f64::NAN)
    }
}

/// Cores, processor and system of this machine.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let (cpu, system) = (read("/proc/cpuinfo"), read("/etc/os-release"));
    let value = |text: &str, key: &str| {
        let line = text.lines().find(|l| l.starts_with(key))?.to_owned();
        let value = line.split_once([':', '='])?.1.trim().trim_matches('"').to_owned();
        Some(value)
    };
    let cpu = value(&cpu, "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let system = value(&system, "PRETTY_NAME").unwrap_or_else(|| "unknown system".to_owned());
    format!("{cores} cores, {}, {system}", cpu.split(" @").next().unwrap_or_default())
}

/// The output of a command in one line.
fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().display().to_string();
    let done = command.output().map_err(|e| format!("{name}: {e}"))?;
    if !done.status.success() {
        return Err(format!("{name}: {}", done.status));
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert!((median(&mut [3.0, 1.0, 2.0]) - 2.0).abs() < 1e-12);
        assert!((median(&mut [4.0, 1.0]) - 2.5).abs() < 1e-12);
        assert!((median(&mut [1.5]) - 1.5).abs() < 1e-12);
    }
}
