//! The configuration: what is watched, how far the program may go, and by which rules.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use darkfiber_fabric::Unknown;
use darkfiber_formats::input;
use darkfiber_operate::{Mode, Policy, Source};
use darkfiber_scenario::Error;
use toml::Spanned;

use crate::config_file::{ConfigFile, InputPart, Place, PolicyPart, parse};

/// Most bytes of an input.
const MOST_BYTES: u64 = 1 << 30;
/// Longest time that can be given, in seconds: eleven days.
const LONGEST: f64 = 1e6;

/// A file or directory that is watched, or a command that is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    File(PathBuf),
    Command(Vec<String>),
}

/// An input: where it comes from, how often it is read, and what may be in it.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) source: Source,
    pub(crate) origin: Origin,
    pub(crate) every: Duration,
    /// A reading that takes longer is given up.
    pub(crate) timeout: Duration,
    pub(crate) most_bytes: u64,
    /// Nothing at all means that no job runs.
    pub(crate) empty_is_idle: bool,
    /// Warnings of the reader do not keep it from being used.
    pub(crate) allow_warnings: bool,
    /// Other names of hosts.
    pub(crate) aliases: Option<PathBuf>,
    /// Service levels of the tables, where they do not lie beside them.
    pub(crate) sl: Option<PathBuf>,
    /// LIDs of the tables, where they do not lie beside them.
    pub(crate) guid2lid: Option<PathBuf>,
}

/// What the program runs with.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) site: String,
    pub(crate) mode: Mode,
    pub(crate) state: PathBuf,
    pub(crate) socket: PathBuf,
    pub(crate) http: Option<SocketAddr>,
    pub(crate) journal_bytes: u64,
    pub(crate) fabric: Watched,
    pub(crate) tables: Watched,
    pub(crate) jobs: Watched,
    /// The file that OpenSM's `lfts_file` names.
    pub(crate) lfts_file: Option<PathBuf>,
    pub(crate) policy: Policy,
    /// Most entries that a proposal changes.
    pub(crate) moves: usize,
}

impl Config {
    /// Reads a configuration; relative names in it are beside it.
    ///
    /// # Errors
    /// With file, line and the nearest key, if it cannot be used.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = input::read_text(path)?;
        let place = Place { path, text: &text };
        let file = parse(&place)?;
        Checker { place }.config(file)
    }

    /// The socket on which the program listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The name of the mode.
    pub fn mode(&self) -> &'static str {
        self.mode.name()
    }
}

/// Turns what a file says into what it means.
struct Checker<'a> {
    place: Place<'a>,
}

impl Checker<'_> {
    fn config(&self, file: ConfigFile) -> Result<Config, Error> {
        let state = self.beside(file.state);
        let lfts_file = file.tables.get_ref().lfts_file.as_ref();
        Ok(Config {
            site: file.site.unwrap_or_else(|| "fabric".to_owned()),
            mode: self.mode(file.mode.as_ref())?,
            socket: file.socket.map_or_else(|| state.join("ctl.sock"), |p| self.beside(p)),
            http: self.http(file.http.as_ref())?,
            journal_bytes: self.whole("journal_mib", file.journal_mib.as_ref(), 64, 1..=65536)?
                << 20,
            // OpenSM's own file is named in a command only, so it stays as it is written.
            lfts_file: lfts_file.map(|p| p.get_ref().clone()),
            fabric: self.watched(file.fabric, Source::Fabric, 60.0)?,
            tables: self.watched(file.tables, Source::Tables, 10.0)?,
            jobs: self.watched(file.jobs, Source::Jobs, 5.0)?,
            moves: self.whole("moves", file.policy.moves.as_ref(), 64, 1..=65536)? as usize,
            policy: self.policy(&file.policy)?,
            state,
        })
    }

    fn beside(&self, path: PathBuf) -> PathBuf {
        self.place.path.parent().unwrap_or(Path::new("")).join(path)
    }

    fn refuse<T>(&self, value: &Spanned<T>, what: &str) -> Error {
        Error::input(format!("{}{what}", self.place.at(&value.span())))
    }

    fn mode(&self, mode: Option<&Spanned<String>>) -> Result<Mode, Error> {
        let Some(mode) = mode else { return Ok(Mode::Advise) };
        match mode.get_ref().as_str() {
            "observe" => Ok(Mode::Observe),
            "advise" => Ok(Mode::Advise),
            later @ ("apply-faults" | "apply") => Err(self
                .refuse(
                    mode,
                    &format!("mode {later} cannot run yet: this version changes no tables"),
                )
                .hint(
                    "observe measures only; advise proposes changes, for people to put in place",
                )),
            other => {
                let unknown = Unknown::new("mode", other, ["observe", "advise"]);
                Err(self.refuse(mode, &unknown.to_string()).hint(unknown.hint()))
            }
        }
    }

    fn http(&self, http: Option<&Spanned<String>>) -> Result<Option<SocketAddr>, Error> {
        let Some(text) = http else { return Ok(None) };
        let address: SocketAddr = text.get_ref().parse().map_err(|_| {
            self.refuse(text, &format!("http: \"{}\" is no address", text.get_ref())).hint(
                "an address and a port are expected, such as \"127.0.0.1:9684\"; port 0 is any \
                 that is free",
            )
        })?;
        if !address.ip().is_loopback() {
            return Err(self
                .refuse(text, &format!("http: {address} is not on this host"))
                .hint("status and metrics are served on loopback only; a proxy can protect them"));
        }
        Ok(Some(address))
    }

    fn seconds(
        &self,
        key: &str,
        value: Option<&Spanned<f64>>,
        default: f64,
    ) -> Result<Duration, Error> {
        let Some(value) = value else { return Ok(Duration::from_secs_f64(default)) };
        if (0.01..=LONGEST).contains(value.get_ref()) {
            return Ok(Duration::from_secs_f64(*value.get_ref()));
        }
        let what = format!("{key}: {}, expected 0.01 to {LONGEST} seconds", value.get_ref());
        Err(self.refuse(value, &what))
    }

    fn whole(
        &self,
        key: &str,
        value: Option<&Spanned<i64>>,
        default: u64,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, Error> {
        let Some(value) = value else { return Ok(default) };
        let number = u64::try_from(*value.get_ref()).ok().filter(|n| range.contains(n));
        number.ok_or_else(|| {
            let (least, most) = range.into_inner();
            self.refuse(value, &format!("{key}: {}, expected {least} to {most}", value.get_ref()))
        })
    }

    fn watched(
        &self,
        part: Spanned<InputPart>,
        source: Source,
        every: f64,
    ) -> Result<Watched, Error> {
        let name = source.name();
        let span = part.span();
        let part = part.into_inner();
        // A section has the keys of its input only.
        for (key, of, span) in [
            ("empty_is_idle", Source::Jobs, part.empty_is_idle.as_ref().map(Spanned::span)),
            ("aliases", Source::Jobs, part.aliases.as_ref().map(Spanned::span)),
            ("sl", Source::Tables, part.sl.as_ref().map(Spanned::span)),
            ("guid2lid", Source::Tables, part.guid2lid.as_ref().map(Spanned::span)),
            ("lfts_file", Source::Tables, part.lfts_file.as_ref().map(Spanned::span)),
        ] {
            if let (Some(span), true) = (span, of != source) {
                let what = format!("{}[{name}] has no key {key}", self.place.at(&span));
                return Err(Error::input(what).hint(format!("[{}] has it", of.name())));
            }
        }
        let origin = match (part.file, part.command) {
            (Some(file), None) => Origin::File(self.beside(file)),
            (None, Some(command)) if !command.get_ref().is_empty() => {
                Origin::Command(command.into_inner())
            }
            _ => {
                let at = self.place.at(&span);
                return Err(Error::input(format!(
                    "{at}[{name}]: expected one of file and command"
                ))
                .hint("file = \"PATH\", or command = [\"PROGRAM\", \"ARGUMENT\"]"));
            }
        };
        let beside = |p: Option<Spanned<PathBuf>>| p.map(|p| self.beside(p.into_inner()));
        let is = |b: Option<Spanned<bool>>| b.is_some_and(Spanned::into_inner);
        Ok(Watched {
            source,
            origin,
            every: self.seconds("every_s", part.every_s.as_ref(), every)?,
            timeout: self.seconds("timeout_s", part.timeout_s.as_ref(), 30.0)?,
            most_bytes: MOST_BYTES,
            empty_is_idle: is(part.empty_is_idle),
            allow_warnings: is(part.allow_warnings),
            aliases: beside(part.aliases),
            sl: beside(part.sl),
            guid2lid: beside(part.guid2lid),
        })
    }

    fn policy(&self, part: &PolicyPart) -> Result<Policy, Error> {
        let default = Policy::default();
        let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let min_gain = match &part.min_gain {
            None => default.min_gain,
            Some(share) if (0.0..=1.0).contains(share.get_ref()) => *share.get_ref(),
            Some(share) => {
                let what = format!("min_gain: {}, expected a share of 0 to 1", share.get_ref());
                return Err(self.refuse(share, &what));
            }
        };
        let most = u64::from(u32::MAX);
        let blocks = part.max_blocks.as_ref();
        let changes = part.max_per_hour.as_ref();
        // A cooldown of none is a choice.
        let cooldown = match &part.cooldown_s {
            Some(none) if *none.get_ref() == 0.0 => Duration::ZERO,
            some => self.seconds("cooldown_s", some.as_ref(), 30.0)?,
        };
        Ok(Policy {
            min_gain,
            max_blocks: self.whole("max_blocks", blocks, default.max_blocks, 1..=most)?,
            cooldown: ms(cooldown),
            max_per_hour: self.whole(
                "max_per_hour",
                changes,
                default.max_per_hour.into(),
                1..=most,
            )? as u32,
            work: ms(self.seconds("work_s", part.work_s.as_ref(), 60.0)?),
            ..default
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str =
        "state = \"s\"\n[fabric]\nfile = \"f\"\n[tables]\nfile = \"t\"\n[jobs]\nfile = \"j\"\n";

    fn read(text: &str) -> Result<Config, Error> {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("operate.toml");
        std::fs::write(&path, text).expect("a file");
        Config::read(&path)
    }

    #[test]
    fn defaults_advise_and_serve_nobody() {
        let config = read(GOOD).expect("good");
        assert_eq!((config.mode, config.http), (Mode::Advise, None));
        assert_eq!(config.policy, Policy::default());
        assert!(config.socket().ends_with("s/ctl.sock"));
        assert!(matches!(&config.tables.origin, Origin::File(p) if p.ends_with("t")));
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_line_and_the_nearest_key() {
        let policy = |line: &str| format!("{GOOD}[policy]\n{line}\n");
        for (text, says, hint) in [
            (policy("min_gian = 0.1"), "line 9: no key is called 'min_gian'", "min_gain"),
            (policy("min_gain = 7"), "line 9: min_gain: 7, expected a share", ""),
            (policy("min_gain = nan"), "line 9: min_gain: NaN", ""),
            (policy("cooldown_s = -1"), "line 9: cooldown_s: -1", ""),
            (policy("moves = 0"), "line 9: moves: 0, expected 1 to", ""),
            (policy("moves = \"many\""), "line 9: invalid type", ""),
            (format!("mode = \"apply\"\n{GOOD}"), "line 1: mode apply cannot run yet", "advise"),
            (format!("mode = \"apply-faults\"\n{GOOD}"), "mode apply-faults cannot", "observe"),
            (format!("mode = \"advice\"\n{GOOD}"), "no mode is called 'advice'", "advise"),
            (format!("http = \"0.0.0.0:1\"\n{GOOD}"), "line 1: http: 0.0.0.0:1 is not", "loopback"),
            (format!("http = \"here\"\n{GOOD}"), "http: \"here\" is no address", "127.0.0.1"),
            (GOOD.replace("file = \"j\"", ""), "line 6: [jobs]: expected one of", "PROGRAM"),
            (GOOD.replace("\"j\"", "\"j\"\ncommand = [\"c\"]"), "expected one of file and", ""),
            (GOOD.replace("\"f\"", "\"f\"\nevery_s = 0"), "line 4: every_s: 0, expected", ""),
            (GOOD.replace("\"j\"", "\"j\"\nevery_s = 1e9"), "line 8: every_s", ""),
            (GOOD.replace("\"f\"", "\"f\"\naliases = \"a\""), "line 4: [fabric] has no", "[jobs]"),
            (GOOD.replace("[tables]\nfile = \"t\"\n", ""), "the section [tables] is missing", ""),
            (GOOD.replace("state = \"s\"\n", ""), "the key state is missing", ""),
            (GOOD.replace("[jobs]", "[jobs"), "line 6: ", ""),
            (GOOD.replace("state", "stat"), "line 1: no key is called 'stat'", "state"),
            ("\u{0}\u{1f}".to_owned(), "line 1: ", ""),
        ] {
            let error = read(&text).expect_err(says);
            assert!(error.to_string().contains(says), "{says}: {error}");
            assert!(error.hint.contains(hint), "{says}: {}", error.hint);
        }
    }
}
