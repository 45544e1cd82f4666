//! The configuration: what is watched, how far the program may go, and its rules.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use darkfiber_fabric::Unknown;
use darkfiber_formats::input;
use darkfiber_operate::{FullRoute, InputSource, Mode, Policy, engines_allowed};
use darkfiber_routing::find_engine;
use darkfiber_scenario::Error;
use toml::Spanned;

use crate::config_file::{
    ConfigFile, InputPart, OpenSmPart, Place, PluginPart, PolicyPart, RoutePart, StandbyPart, parse,
};
use crate::router::Router;

/// Most bytes of an input.
const MOST_BYTES: u64 = 1 << 30;
/// Longest time that can be given, in seconds: eleven days.
const LONGEST: f64 = 1e6;
/// Seconds for which a job may be kept from its start at most.
const LONGEST_HOLD: f64 = 3.0;

/// A file or folder that is watched, or a command that is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    File(PathBuf),
    /// Of files, each for itself.
    Folder(PathBuf),
    Command(Vec<String>),
    /// OpenSM's plugin sends it.
    Socket(PathBuf),
}

/// An input: its origin, how often it is read, and what it may contain.
#[derive(Clone, Debug)]
pub(crate) struct Watched {
    pub(crate) source: InputSource,
    pub(crate) origin: Origin,
    pub(crate) every: Duration,
    /// A reading that takes longer is given up.
    pub(crate) timeout: Duration,
    pub(crate) most_bytes: u64,
    /// An empty input means that no job runs.
    pub(crate) empty_is_idle: bool,
    /// Warnings of the reader do not keep it from being used.
    pub(crate) allow_warnings: bool,
    /// Other names of hosts.
    pub(crate) aliases: Option<PathBuf>,
    /// Service levels of the tables, where they are not next to them.
    pub(crate) sl: Option<PathBuf>,
    /// LIDs of the tables, where they are not next to them.
    pub(crate) guid2lid: Option<PathBuf>,
    /// The LID that a sender takes for each message, where ports have several; replaced where tables with others are put in place.
    pub(crate) lid_choice: Option<PathBuf>,
}

/// Delivery of tables to OpenSM, in modes that change them.
#[derive(Clone, Debug)]
pub(crate) struct Manager {
    /// Engine list of OpenSM.
    pub(crate) engines: Vec<String>,
    /// The file that its `file` engine reads; `None` where its plugin takes plans.
    pub(crate) lfts_file: Option<PathBuf>,
    /// Its QoS policy, for tables in several lanes.
    pub(crate) qos_policy: Option<PathBuf>,
    /// The command that has it sweep.
    pub(crate) sweep: Vec<String>,
    /// Log file of OpenSM.
    pub(crate) log: PathBuf,
}

/// Delivery of plans to OpenSM's plugin.
#[derive(Clone, Debug)]
pub(crate) struct Plugin {
    /// Socket on which it sends questions.
    pub(crate) socket: PathBuf,
    /// Plan that it takes if the daemon does not reply.
    pub(crate) plan_file: PathBuf,
    /// A question that is older gets no plan.
    pub(crate) budget: Duration,
    /// Time limit of the fault book for each set of tables.
    pub(crate) book: Duration,
}

/// How standby subnet managers get what OpenSM reads here.
#[derive(Clone, Debug)]
pub(crate) struct Standby {
    /// The command, which gets the names of files as its last arguments and prints their SHA-256 as they are on each standby, as
    /// `sha256sum` does.
    pub(crate) copy: Vec<String>,
    /// It is run so often even if nothing has changed.
    pub(crate) every: Duration,
    /// It is killed if it takes longer.
    pub(crate) timeout: Duration,
}

/// Configuration of the running program.
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
    /// Port counters, where they are watched.
    pub(crate) counters: Option<Watched>,
    /// What hosts send to each other, where that is known.
    pub(crate) demands: Option<Watched>,
    /// The file that OpenSM's `lfts_file` names.
    pub(crate) lfts_file: Option<PathBuf>,
    /// Method by which tables are changed; `None` in modes that change none.
    pub(crate) manager: Option<Manager>,
    /// Whether OpenSM has the plugin, in modes that change something.
    pub(crate) plugin: Option<Plugin>,
    /// The command that writes blocks into switches, in modes that change something.
    pub(crate) write_blocks: Option<Vec<String>>,
    /// How standby subnet managers get what OpenSM reads, in modes that change something.
    pub(crate) standby: Option<Standby>,
    pub(crate) policy: Policy,
    /// Most entries that a proposal changes.
    pub(crate) moves: usize,
    /// How tables are made anew, where they may be.
    pub(crate) router: Option<Router>,
}

impl Config {
    /// Reads a configuration; names in it are relative to its folder.
    ///
    /// # Errors
    /// With file, line and the nearest key, if it cannot be used.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = input::read_text(path).map_err(|error| {
            Error::from(error)
                .hint("--config FILE names it; `darkfiber help operate` has an example")
        })?;
        let place = Place { path, text: &text };
        let file = parse(&place)?;
        Checker { place }.config(file)
    }

    /// The socket on which the program listens.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal")
    }

    /// The name of the mode.
    pub fn mode(&self) -> &'static str {
        self.mode.name()
    }
}

/// Converts and checks the content of a file.
struct Checker<'a> {
    place: Place<'a>,
}

impl Checker<'_> {
    fn config(&self, file: ConfigFile) -> Result<Config, Error> {
        let state = self.named("state", &file.state, "\"/var/lib/darkfiber\"")?;
        let socket = match &file.socket {
            Some(path) => self.named("socket", path, "\"/run/darkfiber/ctl.sock\"")?,
            None => state.join("ctl.sock"),
        };
        let lfts_file = match &file.tables.get_ref().lfts_file {
            // OpenSM's own file is named in commands, so it stays as written.
            Some(path) => {
                self.named("lfts_file", path, "that of opensm.conf")?;
                Some(path.get_ref().clone())
            }
            None => None,
        };
        let mode = self.mode(file.mode.as_ref())?;
        let plugin = self.plugin(&state, file.plugin.as_ref())?;
        let (opensm, has_plugin) = (file.opensm.as_ref(), plugin.is_some());
        let manager =
            self.manager(mode, file.mode.as_ref(), opensm, lfts_file.as_ref(), has_plugin)?;
        let write_blocks = match &file.switches {
            Some(part) => Some(self.write_blocks(&part.write, file.tables.get_ref())?),
            None => None,
        };
        let standby = match &file.standby {
            Some(part) => Some(self.standby(part)?),
            None => None,
        };
        let alone = file.standby.as_ref().is_some_and(|part| part.needed == Some(false));
        let demands = self.optional(file.demands, InputSource::Demands, 30.0)?;
        let has_demands = demands.is_some();
        let (route, router) = match &file.policy.route {
            Some(part) => {
                let (route, router) = self.route(part)?;
                (Some(route), Some(router))
            }
            None => (None, None),
        };
        Ok(Config {
            site: file.site.unwrap_or_else(|| "fabric".to_owned()),
            mode,
            plugin: plugin.filter(|_| manager.is_some()),
            write_blocks: write_blocks.filter(|_| manager.is_some()),
            standby: standby.filter(|_| manager.is_some()),
            manager,
            socket,
            http: self.http(file.http.as_ref())?,
            journal_bytes: self.whole("journal_mib", file.journal_mib.as_ref(), 64, 1..=65536)?
                << 20,
            lfts_file,
            fabric: self.watched(file.fabric, InputSource::Fabric, 60.0)?,
            tables: self.watched(file.tables, InputSource::Tables, 10.0)?,
            jobs: self.watched(file.jobs, InputSource::Jobs, 5.0)?,
            counters: self.optional(file.counters, InputSource::Counters, 60.0)?,
            demands,
            moves: self.whole("moves", file.policy.moves.as_ref(), 64, 1..=65536)? as usize,
            policy: Policy { route, demands: has_demands, alone, ..self.policy(&file.policy)? },
            router,
            state,
        })
    }

    fn beside(&self, path: PathBuf) -> PathBuf {
        self.place.path.parent().unwrap_or(Path::new("")).join(path)
    }

    /// A path relative to the folder of the configuration; an empty one would be the folder.
    fn named(&self, key: &str, path: &Spanned<PathBuf>, such_as: &str) -> Result<PathBuf, Error> {
        if path.get_ref().as_os_str().is_empty() {
            let what = format!("{key}: a name is expected, not an empty one");
            return Err(self.refuse(path, &what).hint(format!("such as {such_as}")));
        }
        Ok(self.beside(path.get_ref().clone()))
    }

    /// Reads the method by which tables are changed, in modes that do.
    fn manager(
        &self,
        mode: Mode,
        written: Option<&Spanned<String>>,
        part: Option<&Spanned<OpenSmPart>>,
        lfts_file: Option<&PathBuf>,
        has_plugin: bool,
    ) -> Result<Option<Manager>, Error> {
        let engines = part.and_then(|p| p.get_ref().engines.as_ref());
        let list = engines.map(|text| {
            let names = text.get_ref().split(',').map(|name| name.trim().to_owned());
            names.collect::<Vec<String>>()
        });
        // A list that is not safe is refused in any mode.
        if let (Some(text), Some(list)) = (engines, &list) {
            engines_allowed(list).map_err(|e| self.refuse(text, &format!("engines: {e}")))?;
            let (name, hint) = if has_plugin {
                (
                    "dfosm",
                    "the plugin is an engine of that name: routing_engine dfosm,updn,no_fallback",
                )
            } else {
                (
                    "file",
                    "tables are given to OpenSM by its engine `file`: routing_engine file,no_fallback",
                )
            };
            if !list.iter().any(|engine| engine == name) {
                let what = format!("engines: \"{}\" lacks `{name}`", text.get_ref());
                return Err(self.refuse(text, &what).hint(hint));
            }
        }
        let (true, Some(written)) = (mode >= Mode::ApplyFaults, written) else { return Ok(None) };
        let lacks = |key: &str, hint: &str| {
            let what = format!("mode {} needs {key}", mode.name());
            Err(self.refuse(written, &what).hint(hint.to_owned()))
        };
        let Some(part) = part.map(Spanned::get_ref) else {
            return lacks(
                "the section [opensm]",
                "engines, sweep and log of it say how OpenSM is given tables; `darkfiber help operate` has an example",
            );
        };
        let Some(engines) = list else {
            return lacks(
                "[opensm] engines",
                "the routing_engine of opensm.conf, or what -R says, such as \"file,no_fallback\"",
            );
        };
        let Some(sweep) = part.sweep.as_ref().filter(|words| !words.get_ref().is_empty()) else {
            let hint = "[\"systemctl\", \"kill\", \"-s\", \"HUP\", \"opensm\"]";
            return lacks("[opensm] sweep, the command that has OpenSM sweep", hint);
        };
        let Some(log) = &part.log else {
            let hint = "OpenSM's log, written at once (opensm -d 2, or force_log_flush TRUE): which engine it used stands there";
            return lacks("[opensm] log", hint);
        };
        if lfts_file.is_none() && !has_plugin {
            return lacks("[tables] lfts_file", "the file that OpenSM's engine `file` reads");
        }
        let qos_policy = match &part.qos_policy {
            Some(path) => {
                Some(self.named("qos_policy", path, "\"/etc/opensm/qos-policy.conf\"")?)
            }
            None => None,
        };
        Ok(Some(Manager {
            engines,
            lfts_file: lfts_file.filter(|_| !has_plugin).map(|path| self.beside(path.clone())),
            qos_policy,
            sweep: sweep.get_ref().clone(),
            log: self.named("log", log, "\"/var/log/opensm.log\"")?,
        }))
    }

    /// Reads the delivery of plans to OpenSM's plugin, where there is a plugin.
    fn plugin(
        &self,
        state: &Path,
        part: Option<&Spanned<PluginPart>>,
    ) -> Result<Option<Plugin>, Error> {
        let Some(part) = part.map(Spanned::get_ref) else { return Ok(None) };
        let named = |key: &str, path: Option<&Spanned<PathBuf>>, default: &str| match path {
            Some(path) => self.named(key, path, "\"PATH\""),
            None => Ok(state.join(default)),
        };
        let budget = self.whole("budget_ms", part.budget_ms.as_ref(), 1_500, 10..=60_000)?;
        Ok(Some(Plugin {
            socket: named("socket", part.socket.as_ref(), "plugin.sock")?,
            plan_file: named("plan_file", part.plan_file.as_ref(), "plan")?,
            budget: Duration::from_millis(budget),
            book: self.seconds("book_s", part.book_s.as_ref(), 600.0)?,
        }))
    }

    /// Reads the command that writes blocks into switches; what is there must be read from switches, too.
    fn write_blocks(
        &self,
        command: &Spanned<Vec<String>>,
        tables: &InputPart,
    ) -> Result<Vec<String>, Error> {
        if command.get_ref().is_empty() {
            return Err(self.refuse(command, "write: a command is expected").hint(
                "write = [\"/usr/lib/darkfiber/darkfiber-blocks\"], built in plugin/blocks",
            ));
        }
        if tables.command.is_none() {
            let what =
                "write needs [tables] command: OpenSM's dump does not have what it did not write";
            return Err(self.refuse(command, what).hint("command = [\"dump_fts\"]"));
        }
        Ok(command.get_ref().clone())
    }

    /// Reads how standby subnet managers get what OpenSM reads.
    fn standby(&self, part: &StandbyPart) -> Result<Standby, Error> {
        if part.copy.get_ref().is_empty() {
            return Err(self.refuse(&part.copy, "copy: a command is expected").hint(
                "it gets names of files, copies them to all standbys, and prints `sha256sum` of each copy",
            ));
        }
        Ok(Standby {
            copy: part.copy.get_ref().clone(),
            every: self.seconds("every_s", part.every_s.as_ref(), 600.0)?,
            timeout: self.seconds("timeout_s", part.timeout_s.as_ref(), 30.0)?,
        })
    }

    fn refuse<T>(&self, value: &Spanned<T>, what: &str) -> Error {
        Error::input(format!("{}{what}", self.place.at(&value.span())))
    }

    fn mode(&self, mode: Option<&Spanned<String>>) -> Result<Mode, Error> {
        const MODES: [Mode; 4] = [Mode::Observe, Mode::Advise, Mode::ApplyFaults, Mode::Apply];
        let Some(mode) = mode else { return Ok(Mode::Advise) };
        let named = MODES.into_iter().find(|m| m.name() == mode.get_ref());
        named.ok_or_else(|| {
            let unknown = Unknown::new("mode", mode.get_ref(), MODES.map(Mode::name));
            self.refuse(mode, &unknown.to_string()).hint(unknown.hint())
        })
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

    /// Reads when and by which engine tables are made anew.
    fn route(&self, part: &RoutePart) -> Result<(FullRoute, Router), Error> {
        let name = &part.engine;
        let engine = find_engine(name.get_ref())
            .map_err(|e| self.refuse(name, &e.to_string()).hint(e.hint()))?;
        let beyond = match &part.beyond {
            None => 0.25,
            Some(share) if (0.0..=100.0).contains(share.get_ref()) => *share.get_ref(),
            Some(share) => {
                let what = format!("beyond: {}, expected a share of 0 to 100", share.get_ref());
                return Err(self.refuse(share, &what));
            }
        };
        let most = u64::from(u32::MAX);
        let blocks = self.whole("max_blocks", part.max_blocks.as_ref(), 16_384, 1..=most)?;
        let stages = self.whole("max_stages", part.max_stages.as_ref(), 8, 1..=64)?;
        let lanes = self.whole("lanes", part.lanes.as_ref(), 8, 1..=15)? as u8;
        let route = FullRoute {
            engine: engine.name().to_owned(),
            beyond,
            max_blocks: blocks,
            max_stages: stages as u32,
        };
        Ok((route, Router { engine, lanes }))
    }

    fn optional(
        &self,
        part: Option<Spanned<InputPart>>,
        source: InputSource,
        every: f64,
    ) -> Result<Option<Watched>, Error> {
        part.map(|part| self.watched(part, source, every)).transpose()
    }

    fn watched(
        &self,
        part: Spanned<InputPart>,
        source: InputSource,
        every: f64,
    ) -> Result<Watched, Error> {
        let name = source.name();
        let span = part.span();
        let part = part.into_inner();
        // A section has the keys of its input only.
        let (jobs, tables) = (&[InputSource::Jobs][..], &[InputSource::Tables][..]);
        let of_hosts = &[InputSource::Jobs, InputSource::Demands][..];
        let counters = &[InputSource::Counters][..];
        for (key, of, span) in [
            ("empty_is_idle", jobs, part.empty_is_idle.as_ref().map(Spanned::span)),
            ("aliases", of_hosts, part.aliases.as_ref().map(Spanned::span)),
            ("profiles", &of_hosts[1..], part.profiles.as_ref().map(Spanned::span)),
            ("socket", counters, part.socket.as_ref().map(Spanned::span)),
            ("sl", tables, part.sl.as_ref().map(Spanned::span)),
            ("guid2lid", tables, part.guid2lid.as_ref().map(Spanned::span)),
            ("lid_choice", tables, part.lid_choice.as_ref().map(Spanned::span)),
            ("lfts_file", tables, part.lfts_file.as_ref().map(Spanned::span)),
        ] {
            if let (Some(span), true) = (span, !of.contains(&source)) {
                let what = format!("{}[{name}] has no key {key}", self.place.at(&span));
                return Err(Error::input(what).hint(format!("[{}] has it", of[0].name())));
            }
        }
        let is_sent = part.socket.is_some();
        let origin = match (part.file, part.command, part.profiles, part.socket) {
            (Some(file), None, None, None) => Origin::File(self.named("file", &file, "\"PATH\"")?),
            (None, None, Some(folder), None) => {
                Origin::Folder(self.named("profiles", &folder, "\"PATH\"")?)
            }
            (None, None, None, Some(socket)) => {
                Origin::Socket(self.named("socket", &socket, "\"/run/darkfiber/counters.sock\"")?)
            }
            (None, Some(command), None, None) if !command.get_ref().is_empty() => {
                Origin::Command(command.into_inner())
            }
            _ => {
                let at = self.place.at(&span);
                let (keys, hint) = match source {
                    InputSource::Demands => {
                        ("file, command and profiles", ", or profiles = \"FOLDER\"")
                    }
                    InputSource::Counters => {
                        ("file, command and socket", ", or socket = \"PATH\" of OpenSM's plugin")
                    }
                    _ => ("file and command", ""),
                };
                return Err(Error::input(format!("{at}[{name}]: expected one of {keys}")).hint(
                    format!("file = \"PATH\", or command = [\"PROGRAM\", \"ARGUMENT\"]{hint}"),
                ));
            }
        };
        let beside = |key: &str, path: Option<Spanned<PathBuf>>| {
            path.map(|path| self.named(key, &path, "\"PATH\"")).transpose()
        };
        // What is sent is looked at often; the performance manager of OpenSM sweeps every 180 s.
        let (every, timeout) = if is_sent { (1.0, 600.0) } else { (every, 30.0) };
        let is = |b: Option<Spanned<bool>>| b.is_some_and(Spanned::into_inner);
        Ok(Watched {
            source,
            origin,
            every: self.seconds("every_s", part.every_s.as_ref(), every)?,
            timeout: self.seconds("timeout_s", part.timeout_s.as_ref(), timeout)?,
            most_bytes: MOST_BYTES,
            empty_is_idle: is(part.empty_is_idle),
            allow_warnings: is(part.allow_warnings),
            aliases: beside("aliases", part.aliases)?,
            sl: beside("sl", part.sl)?,
            guid2lid: beside("guid2lid", part.guid2lid)?,
            lid_choice: beside("lid_choice", part.lid_choice)?,
        })
    }

    fn policy(&self, part: &PolicyPart) -> Result<Policy, Error> {
        let default = Policy::default();
        let ms = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
        let share = |key: &str, given: Option<&Spanned<f64>>, default: f64| match given {
            None => Ok(default),
            Some(share) if (0.0..=1.0).contains(share.get_ref()) => Ok(*share.get_ref()),
            Some(share) => {
                let what = format!("{key}: {}, expected a share of 0 to 1", share.get_ref());
                Err(self.refuse(share, &what))
            }
        };
        let min_gain = share("min_gain", part.min_gain.as_ref(), default.min_gain)?;
        let most = u64::from(u32::MAX);
        let blocks = part.max_blocks.as_ref();
        let changes = part.max_per_hour.as_ref();
        // A cooldown of 0 is valid.
        let cooldown = match &part.cooldown_s {
            Some(none) if *none.get_ref() == 0.0 => Duration::ZERO,
            some => self.seconds("cooldown_s", some.as_ref(), 30.0)?,
        };
        let hold = self.seconds("hold_s", part.hold_s.as_ref(), LONGEST_HOLD)?;
        if let Some(value) = &part.hold_s
            && hold > Duration::from_secs_f64(LONGEST_HOLD)
        {
            let what =
                format!("hold_s: {}, expected 0.01 to {LONGEST_HOLD} seconds", value.get_ref());
            return Err(self.refuse(value, &what));
        }
        Ok(Policy {
            min_gain,
            hold: ms(hold),
            drain: ms(self.seconds(
                "drain_s",
                part.drain_s.as_ref(),
                default.drain as f64 / 1e3,
            )?),
            max_blocks: self.whole("max_blocks", blocks, default.max_blocks, 1..=most)?,
            cooldown: ms(cooldown),
            max_per_hour: self.whole(
                "max_per_hour",
                changes,
                default.max_per_hour.into(),
                1..=most,
            )? as u32,
            work: ms(self.seconds("work_s", part.work_s.as_ref(), 60.0)?),
            confirm: ms(self.seconds("confirm_s", part.confirm_s.as_ref(), 10.0)?),
            hot: share("hot", part.hot.as_ref(), default.hot)?,
            hot_for: ms(self.seconds("hot_for_s", part.hot_for_s.as_ref(), 60.0)?),
            audit: ms(self.seconds("audit_s", part.audit_s.as_ref(), 600.0)?),
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

    /// A configuration that changes tables; an empty value leaves its key out, but for that of the log.
    fn apply(engines: &str, sweep: &str, log: &str) -> String {
        let tables = GOOD.replace("\"t\"", "\"t\"\nlfts_file = \"l\"");
        let key = |name: &str, value: &str| match value {
            "" => "\n".to_owned(),
            value => format!("{name} = {value}\n"),
        };
        let quoted =
            |text: &str| if text.is_empty() { String::new() } else { format!("\"{text}\"") };
        let words = if sweep.is_empty() { String::new() } else { format!("[\"{sweep}\"]") };
        let (engines, sweep) = (key("engines", &quoted(engines)), key("sweep", &words));
        format!("mode = \"apply-faults\"\n{tables}[opensm]\n{engines}{sweep}log = \"{log}\"\n")
    }

    #[test]
    fn modes_that_change_tables_say_how() {
        let config = read(&apply("file, no_fallback", "true", "osm.log")).expect("good");
        assert_eq!(config.mode, Mode::ApplyFaults);
        let manager = config.manager.expect("it changes tables");
        assert_eq!(manager.engines, ["file", "no_fallback"]);
        assert!(
            manager.log.ends_with("osm.log") && manager.lfts_file.is_some_and(|p| p.ends_with("l"))
        );
        assert!(read(GOOD).expect("good").manager.is_none());
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
            (
                policy("[policy.route]\nengine = \"ftre\""),
                "line 10: no engine is called 'ftre'",
                "ftree",
            ),
            (policy("[policy.route]\nbeyond = 1"), "engine", ""),
            (
                policy("[policy.route]\nengine = \"sar\"\nbeyond = -1"),
                "line 11: beyond: -1, expected a share",
                "",
            ),
            (
                policy("[policy.route]\nengine = \"sar\"\nlanes = 16"),
                "line 11: lanes: 16, expected 1 to 15",
                "",
            ),
            (
                format!("{GOOD}[demands]\n"),
                "line 8: [demands]: expected one of file, command and profiles",
                "PROGRAM",
            ),
            (
                format!("{GOOD}[demands]\nfile = \"d\"\nsl = \"x\"\n"),
                "line 10: [demands] has no key sl",
                "[tables] has it",
            ),
            (
                format!("mode = \"apply\"\n{GOOD}"),
                "line 1: mode apply needs the section",
                "engines",
            ),
            (apply("", "HUP", "l"), "line 1: mode apply-faults needs [opensm] engines", "-R"),
            (apply("file,ftree", "HUP", "l"), "line 11: engines: the engine list", ""),
            (
                apply("nue,no_fallback", "HUP", "l"),
                "line 11: engines: \"nue,no_fallback\" lacks",
                "file",
            ),
            (apply("file,no_fallback", "", "l"), "needs [opensm] sweep", "systemctl"),
            (
                apply("file,no_fallback", "HUP", ""),
                "line 13: log: a name is expected",
                "opensm.log",
            ),
            (
                format!("{GOOD}[switches]\nwrite = [\"w\"]\n"),
                "line 9: write needs [tables] command",
                "dump_fts",
            ),
            (
                format!("{GOOD}[switches]\nwrite = []\n"),
                "line 9: write: a command",
                "plugin/blocks",
            ),
            (format!("{GOOD}[switches]\nwrit = []\n"), "line 9: no key is called 'writ'", "write"),
            (GOOD.replace("\"s\"", "\"\""), "line 1: state: a name is expected", "/var/lib"),
            (GOOD.replace("\"t\"", "\"\""), "line 5: file: a name is expected", ""),
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
