//! From a scenario to all that it names: fabric, tables, jobs on their hosts, and what carries their messages.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use darkfiber_fabric::SwitchId;
use darkfiber_flowsim::EXACT;
use darkfiber_formats::input;
use darkfiber_packetsim::Observer;
use darkfiber_routing::{Lids, Request, Routes};
use darkfiber_workload::play::{Host, Record};

use crate::lines::Lines;
use crate::run::in_each_plane;
use crate::tables::{self, TableFiles};
use crate::value::HINT;
use crate::{
    Chain, Depth, EngineInput, Error, FabricSource, Files, Folder, HowPart, Job, Listener, Loaded,
    Medium, PacketOptions, Scenario, Setup, Sharing, SimError, Simulated, UpdateCase, UpdatePart,
    classes, demanded, fabric, jobs, places, sent, update,
};

/// Where keys are described.
const KEYS: &str = "docs/simulate.md has all keys; docs/schema/scenario.json is for editors";

/// A scenario as it stands in a file, whose lines errors name.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    /// What it says. It may be changed before it is resolved: the seed, the depth.
    pub scenario: Scenario,
    /// What the file is called in errors.
    pub name: String,
    lines: Lines,
}

impl ScenarioFile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is no scenario: with the name of the file, the line, what was expected and what to do.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        let lines = Lines::of(text);
        match toml::from_str::<Scenario>(text) {
            Ok(scenario) => {
                let file = Self { scenario, name: name.to_owned(), lines };
                file.scenario.check().map_err(|error| file.located(error))?;
                Ok(file)
            }
            Err(error) => Err(not_a_scenario(&error, name, &lines)),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`ScenarioFile::parse`], and if it cannot be read.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::parse(&input::read_text(path)?, &path.display().to_string())
    }

    /// Finds and makes all that the scenario names: see [`Scenario::resolve`].
    ///
    /// # Errors
    /// With the name of the file, and the line that an error is about.
    pub fn resolve(&self, files: &dyn Files, listener: &mut dyn Listener) -> Result<Case, Error> {
        let mut case =
            self.scenario.resolve(files, listener).map_err(|error| self.located(error))?;
        if self.scenario.title.is_none() {
            let stem = Path::new(&self.name).file_stem().unwrap_or_default();
            case.title = stem.to_string_lossy().into_owned();
        }
        Ok(case)
    }

    /// An error about this scenario, with the name of the file and the line.
    #[must_use]
    pub fn located(&self, error: Error) -> Error {
        let line = self.lines.of_key(&error.at);
        let at = line.map_or_else(String::new, |line| format!("line {line}: "));
        let message = format!("{}: {at}{error}", self.name);
        // What is wrong with a scenario is wrong in its file, not on the command line.
        let kind = match error.kind {
            crate::ErrorKind::Usage => crate::ErrorKind::Input,
            other => other,
        };
        Error { kind, at: Vec::new(), message, hint: error.hint }
    }
}

/// Why a text is no scenario.
fn not_a_scenario(error: &toml::de::Error, name: &str, lines: &Lines) -> Error {
    let message = error.message().trim();
    // What is missing is missing on no line.
    let missing = message.strip_prefix("missing field `").and_then(|m| m.strip_suffix('`'));
    if let Some(key @ ("job" | "fabric" | "routes")) = missing {
        let key = if key == "job" { "[[job]]" } else { key };
        return Error::input(format!("{name}: there is no {key}")).hint(KEYS);
    }
    let (message, hint) = message.split_once(HINT).unwrap_or((message, KEYS));
    let mut message = message.to_owned();
    for (kind, plain) in [
        ("usize", "a whole number"),
        ("i64", "a whole number"),
        ("u64", "a whole number"),
        ("u32", "a whole number"),
        ("u8", "a whole number"),
        ("f64", "a number"),
    ] {
        message = message.replace(&format!("expected {kind}"), &format!("expected {plain}"));
    }
    let mut text = format!("{name}: ");
    let mut hint = hint;
    if let Some(span) = error.span() {
        let _infallible = write!(text, "line {}: ", lines.number(span.start));
        if let Some(key) = lines.key_at(span.start) {
            text.push_str(&key.join(": "));
            // `nodes 0 must be at least 1`, but `fabric: invalid type`.
            let is_value =
                message.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '"');
            text.push_str(if is_value { " " } else { ": " });
            // Such a message says all that there is to say.
            if is_value && hint == KEYS {
                hint = "";
            }
        }
    }
    Error::input(text + &message).hint(hint)
}

/// A scenario with all that it names.
pub struct Case {
    /// The fabric, and how it came to be.
    pub loaded: Loaded,
    /// The tables.
    pub routes: Routes,
    /// The LIDs that the tables speak of, where they do.
    pub lids: Option<Lids>,
    /// Which engine or file the tables are from.
    pub from: String,
    /// What it is called.
    pub title: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// What hosts and switches cost.
    pub host: Host,
    /// Who does what, where.
    pub jobs: Vec<Job>,
    /// What carries messages.
    pub medium: Medium,
    /// An update of the tables, if there is one.
    pub update: Option<UpdateCase>,
    /// What it was made of.
    pub scenario: Scenario,
}

impl Case {
    /// What is simulated.
    pub fn setup(&self) -> Setup<'_> {
        let scenario = &self.scenario;
        Setup {
            topology: &self.loaded.topology,
            routes: &self.routes,
            host: &self.host,
            jobs: self.jobs.clone(),
            medium: self.medium.clone(),
            link_rate: scenario.cost.link_rate.map(|rate| rate.0),
            lids: scenario.routes.lids,
            seed: self.seed,
            interval: scenario.interval(),
            held: false,
            messages: scenario.keep.messages,
            update: self.update.as_ref(),
            follow: None,
        }
    }

    /// Simulates it. `each` is told of every message that is received, in the order of time; `observer`, if there is one, keeps
    /// the run now and then, so that it can be resumed.
    ///
    /// # Errors
    /// If ranks wait for what never comes, the tables lose a message, or packets deadlock.
    pub fn run(
        &self,
        observer: Option<&dyn Observer>,
        each: &mut dyn FnMut(&Record),
    ) -> Result<Simulated, SimError> {
        crate::simulate(&Setup { follow: observer, ..self.setup() }, each)
    }
}

impl Scenario {
    /// The length of the intervals that are counted, in picoseconds.
    pub fn interval(&self) -> Option<u64> {
        self.keep.interval.map(|time| time.0).filter(|&ps| ps > 0)
    }

    /// What hosts and switches cost.
    pub fn host(&self) -> Host {
        let mut host = self.hosts.0.clone();
        let cost = &self.cost;
        let set = |to: &mut u64, from: Option<u64>| *to = from.unwrap_or(*to);
        set(&mut host.send, cost.send.map(|t| t.0.0));
        set(&mut host.receive, cost.receive.map(|t| t.0.0));
        set(&mut host.gap, cost.gap.map(|t| t.0.0));
        set(&mut host.rendezvous, cost.rendezvous.map(|b| b.0));
        set(&mut host.adapters, cost.adapters.map(|t| t.0.0));
        set(&mut host.switch, cost.switch.map(|t| t.0.0));
        set(&mut host.memory_latency, cost.memory_latency.map(|t| t.0.0));
        let set = |to: &mut f64, from: Option<f64>| *to = from.unwrap_or(*to);
        set(&mut host.adapter_bytes_per_second, cost.adapter_rate.map(|r| r.0));
        set(&mut host.memory_bytes_per_second, cost.memory_rate.map(|r| r.0));
        set(&mut host.noise, cost.noise.map(|n| n.0));
        set(&mut host.efficiency, cost.efficiency.map(|e| e.0));
        host
    }

    /// What carries messages.
    fn medium(&self) -> Result<Medium, Error> {
        let classes = classes::classes(self)?;
        Ok(match self.depth {
            Depth::Count => Medium::Count,
            Depth::LogGp => Medium::Formula,
            Depth::Flow => Medium::Flow(Sharing {
                small: self.cost.small.map_or(0, |bytes| bytes.0),
                precision: self.cost.precision.map_or(EXACT, |part| part.0.max(EXACT)),
            }),
            Depth::Packet => Medium::Packet(Box::new(PacketOptions::of(&self.packets, classes)?)),
        })
    }

    /// Finds and makes all that is named: reads or generates the fabric, places the jobs, computes or reads the tables.
    ///
    /// # Errors
    /// If something is not there, or cannot be on this fabric; with the keys that it is about.
    pub fn resolve(&self, files: &dyn Files, listener: &mut dyn Listener) -> Result<Case, Error> {
        let seed = self.seed.unwrap_or(1);
        // What costs nothing to look at comes first.
        let medium = self.medium()?;
        listener.stage("reading");
        let loaded = fabric::load(&self.fabric_source(files, seed), listener)
            .map_err(|e| e.inside("fabric"))?;
        let jobs = jobs::resolve(self, &loaded.topology, files, seed, listener)?;
        listener.stage("routing");
        let (routes, from, lids) = self.tables(&loaded, &jobs, files, seed, listener)?;
        let update = self.update.as_ref().map(|part| {
            let tables = Tables { scenario: self, loaded: &loaded, jobs: &jobs, files, seed };
            tables.update(part, &routes, listener).map_err(|e| e.inside("update"))
        });
        Ok(Case {
            update: update.transpose()?,
            loaded,
            routes,
            lids,
            from,
            title: self.title.clone().unwrap_or_default(),
            seed,
            host: self.host(),
            jobs,
            medium,
            scenario: self.clone(),
        })
    }

    /// The fabric that is named: a file beside the scenario, or a preset or spec.
    fn fabric_source(&self, files: &dyn Files, seed: u64) -> FabricSource {
        let beside = files.locate(&self.fabric);
        let is_file = !self.fabric.starts_with('@') && beside.exists();
        let beside_or_word = |word: &String| {
            let beside = files.locate(word);
            if beside.is_file() { beside.display().to_string() } else { word.clone() }
        };
        FabricSource {
            name: if is_file { beside.display().to_string() } else { self.fabric.clone() },
            node_name_map: self.node_name_map.as_ref().map(|map| files.locate(map)),
            plane: self.plane,
            fail_links: self.fail_links,
            fail: self.fail.iter().map(beside_or_word).collect(),
            symbol_errors: self.symbol_errors,
            seed,
            ..FabricSource::default()
        }
    }

    /// The tables, where they are from, and the LIDs that they speak of.
    fn tables(
        &self,
        loaded: &Loaded,
        jobs: &[Job],
        files: &dyn Files,
        seed: u64,
        listener: &mut dyn Listener,
    ) -> Result<(Routes, String, Option<Lids>), Error> {
        let tables = Tables { scenario: self, loaded, jobs, files, seed };
        let part = &self.routes;
        let update = self.update.as_ref();
        let roots = update.and_then(|u| u.from_roots.as_deref());
        let told = update.and_then(|u| u.from_jobs.as_deref());
        let found = match (&part.engine, &part.tables, update.and_then(|u| u.from.as_ref())) {
            (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
                return Err(Error::input("the tables in place are named by [routes], too")
                    .hint("leave out engine and tables there, or from here")
                    .inside("from")
                    .inside("update"));
            }
            (None, None, Some(name)) => {
                return tables
                    .named(name, roots, told, listener)
                    .map_err(|e| e.inside("from").inside("update"));
            }
            (Some(chain), None, None) => {
                tables.of_chain(chain, roots, told).map_err(|e| e.inside("engine"))
            }
            (None, Some(name), None) => {
                tables.of_files(name, listener).map_err(|e| e.inside("tables"))
            }
            _ => Err(Error::input("give an engine or tables, one of them")
                .hint("for example engine = \"dfsssp\"")),
        };
        found.map_err(|e| e.inside("routes"))
    }
}

/// What tables are made of, or found by.
struct Tables<'a> {
    scenario: &'a Scenario,
    loaded: &'a Loaded,
    jobs: &'a [Job],
    files: &'a dyn Files,
    seed: u64,
}

impl Tables<'_> {
    /// Those of a file or directory.
    fn of_files(
        &self,
        name: &str,
        listener: &mut dyn Listener,
    ) -> Result<(Routes, String, Option<Lids>), Error> {
        let path: PathBuf = self.files.locate(name);
        let read =
            tables::read(&TableFiles::at(path), &self.scenario.fabric, self.loaded, listener)?;
        read.tell_assumed_lane(&self.loaded.topology.fabric, listener);
        Ok((read.routes, name.to_owned(), read.lids))
    }

    /// Those of an engine, which has these roots and is told of these jobs, or all.
    fn of_chain(
        &self,
        chain: &Chain,
        roots: Option<&[String]>,
        told: Option<&[String]>,
    ) -> Result<(Routes, String, Option<Lids>), Error> {
        let (part, fabric) = (&self.scenario.routes, &self.loaded.topology.fabric);
        let roots = self.switches(roots.unwrap_or_default())?;
        let known: Vec<Job> = match told {
            None => self.jobs.to_vec(),
            Some(names) => {
                if let Some(name) = names.iter().find(|n| self.jobs.iter().all(|j| &j.name != *n)) {
                    let all: Vec<&str> = self.jobs.iter().map(|j| j.name.as_str()).collect();
                    return Err(Error::unknown("job", name, &all));
                }
                self.jobs.iter().filter(|j| names.contains(&j.name)).cloned().collect()
            }
        };
        let follows = part.follow == EngineInput::Jobs;
        let demands = if follows && chain.engines.iter().any(|e| e.follows_demands()) {
            demanded(&sent(&in_each_plane(&known, fabric)))
        } else {
            Vec::new()
        };
        let places = if follows { places(&in_each_plane(&known, fabric)) } else { Vec::new() };
        let request = Request {
            shape: self.loaded.topology.shape.as_ref(),
            roots: &roots,
            lmc: part.lmc.0 as u8,
            lanes: part.lanes.map_or(8, |lanes| lanes.0 as u8),
            jobs: &places,
            demands: &demands,
            seed: self.seed,
            ..Request::default()
        };
        let routes = chain.route(fabric, &request)?;
        let engine = routes.engine.clone();
        Ok((routes, engine, None))
    }

    /// Those of a file or directory that is there, or else of an engine.
    fn named(
        &self,
        name: &str,
        roots: Option<&[String]>,
        told: Option<&[String]>,
        listener: &mut dyn Listener,
    ) -> Result<(Routes, String, Option<Lids>), Error> {
        if self.files.locate(name).exists() {
            return self.of_files(name, listener);
        }
        self.of_chain(&Chain::parse(name)?, roots, told)
    }

    /// Switches by name.
    fn switches(&self, names: &[String]) -> Result<Vec<SwitchId>, Error> {
        let fabric = &self.loaded.topology.fabric;
        let all = fabric.switches();
        let find = |name: &String| {
            let found = all.iter().position(|s| &s.description == name).map(SwitchId::new);
            found.ok_or_else(|| {
                let known: Vec<&str> = all.iter().map(|s| s.description.as_str()).collect();
                Error::unknown("switch", name, &known)
            })
        };
        names.iter().map(find).collect()
    }

    /// The update of tables, with all that it names.
    fn update(
        &self,
        part: &UpdatePart,
        from: &Routes,
        listener: &mut dyn Listener,
    ) -> Result<UpdateCase, Error> {
        let fabric = &self.loaded.topology.fabric;
        let planes = self.loaded.topology.plane_count();
        if planes > 1 {
            return Err(Error::input(format!(
                "the fabric has {planes} planes, each a subnet with tables of its own: one is updated at a time"
            ))
            .hint("plane = 1 beside fabric takes one of them"));
        }
        let depth = self.scenario.depth;
        if depth != Depth::Packet {
            return Err(Error::input(format!(
                "tables are written under packets, and the depth is {depth}"
            ))
            .hint("depth = \"packet\""));
        }
        let fault = part.fault.as_ref();
        let dying =
            fault.map(|f| update::dying(fabric, f, self.seed).map_err(|e| e.inside("fault")));
        let dying = dying.transpose()?;
        let mend = |routes: &Routes, how: HowPart| {
            let cables = dying.as_ref().map_or(&[][..], |d| &d.1);
            update::mended(fabric, routes, cables, how)
        };
        let (to, to_name) = match (&part.to, &dying) {
            (Some(name), _) => {
                let (roots, told) = (part.to_roots.as_deref(), part.to_jobs.as_deref());
                let (to, name, _) =
                    self.named(name, roots, told, listener).map_err(|e| e.inside("to"))?;
                (to, name)
            }
            (None, Some(_)) => (mend(from, part.how)?, "mended".to_owned()),
            (None, None) => {
                return Err(Error::input("there are no tables to update to")
                    .hint("to = \"dfsssp\", a directory of tables, or [update.fault] whose mended tables are taken"));
            }
        };
        let high = match part.how {
            HowPart::FivePhase => {
                let usual = Chain::parse("updn")?;
                let chain = part.high.as_ref().unwrap_or(&usual);
                Some(self.of_chain(chain, None, None).map_err(|e| e.inside("high"))?.0)
            }
            _ => None,
        };
        let mended = match fault {
            Some(f) if f.repair.unwrap_or(false) => {
                Some([mend(from, HowPart::DropDrain)?, mend(&to, HowPart::DropDrain)?])
            }
            _ => None,
        };
        let case = UpdateCase::new(fabric, from, to, part.how, high)?;
        Ok(UpdateCase {
            to_name,
            at: part.at.0,
            delays: update::delays(part),
            hosts: update::hosts(part),
            fault: dying,
            mended,
            seed: self.seed,
            ..case
        })
    }
}

impl Folder {
    /// Reads and resolves a scenario file whose other files lie beside it.
    ///
    /// # Errors
    /// As [`ScenarioFile::read`] and [`ScenarioFile::resolve`].
    pub fn case(file: &Path) -> Result<Case, Error> {
        ScenarioFile::read(file)?.resolve(&Self::of(file), &mut ())
    }
}
