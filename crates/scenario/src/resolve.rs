//! From a scenario to all that it names.

use std::path::PathBuf;
use std::sync::Arc;

use darkfiber_fabric::SwitchId;
use darkfiber_flowsim::EXACT;
use darkfiber_routing::check::{SetReport, check_groups};
use darkfiber_routing::ecmp::Ecmp;
use darkfiber_routing::{Request, Routes};
use darkfiber_workload::play::Host;

use crate::run::in_each_plane;
use crate::tables::{self, TableFiles};
use crate::{
    Case, Chain, Depth, EngineInput, Error, FabricSource, Files, Hashing, HowPart, Job, Listener,
    Loaded, Medium, PacketOptions, Scenario, Sharing, Tables, UpdateCase, UpdatePart, classes,
    demanded, fabric, jobs, places, sent, update,
};

impl Scenario {
    /// The length of the intervals that are counted, in picoseconds.
    pub fn interval(&self) -> Option<u64> {
        self.keep.interval.map(|time| time.0).filter(|&ps| ps > 0)
    }

    /// Overheads of hosts and latencies of switches.
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

    /// The depth of simulation, with its options but for those that need the fabric.
    fn medium(&self) -> Result<Medium, Error> {
        let classes = classes::classes(self)?;
        Ok(match self.depth {
            Depth::Count => Medium::Count,
            Depth::LogGp => Medium::Formula,
            Depth::Flow => Medium::Flow(Sharing {
                small: self.cost.small.map_or(0, |bytes| bytes.0),
                precision: self.cost.precision.map_or(EXACT, |part| part.0.max(EXACT)),
            }),
            Depth::Packet => {
                Medium::Packet(Box::new(PacketOptions::of(&self.packets, &self.cost, classes)?))
            }
        })
    }

    /// Loads the named fabric: a file in the folder of the scenario, or a preset or spec; all of it, with its faults.
    ///
    /// # Errors
    /// If there is no such fabric, or a modification is impossible.
    pub fn load(&self, files: &dyn Files, listener: &mut dyn Listener) -> Result<Loaded, Error> {
        fabric::load(&self.source(files), listener)
    }

    /// As [`load`](Self::load), before anything fails: several scenarios may have it in common.
    ///
    /// # Errors
    /// If there is no such fabric.
    pub fn load_whole(
        &self,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Loaded, Error> {
        fabric::load_whole(&self.source(files), listener)
    }

    /// The fabric that it names, from one that was [loaded whole](Self::load_whole) before.
    ///
    /// # Errors
    /// If a fault is not of this fabric.
    pub fn fail(
        &self,
        whole: &Arc<Loaded>,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Arc<Loaded>, Error> {
        let source = self.source(files);
        if !source.has_faults() {
            return Ok(Arc::clone(whole));
        }
        Ok(Arc::new(fabric::with_faults(whole.without_text(), &source, listener)?))
    }

    /// The source of its fabric, and its modifications.
    fn source(&self, files: &dyn Files) -> FabricSource {
        let beside = files.locate(&self.fabric);
        let is_file = !self.fabric.starts_with('@') && beside.exists();
        let beside_or_word = |word: &String| {
            let beside = files.locate(word);
            if beside.is_file() { beside.display().to_string() } else { word.clone() }
        };
        FabricSource {
            name: if is_file { beside.display().to_string() } else { self.fabric.clone() },
            node_name_map: self.node_name_map.as_ref().map(|map| files.locate(map)),
            compute: self.compute.as_ref().map(beside_or_word),
            storage: self.storage.as_ref().map(beside_or_word),
            plane: self.plane,
            fail_links: self.fail_links,
            fail_percent: self.fail_percent.map(|percent| percent.0),
            fail: self.fail.iter().map(beside_or_word).collect(),
            symbol_errors: self.symbol_errors,
            hosts_per_switch: self.hosts_per_switch.unwrap_or(1),
            seed: self.seed.unwrap_or(1),
        }
    }

    /// Finds and makes everything that is named except the tables: reads or generates the fabric, places the jobs, of which
    /// there may be none.
    ///
    /// # Errors
    /// If something does not exist, or is impossible on this fabric; with the keys concerned.
    pub fn open(&self, files: &dyn Files, listener: &mut dyn Listener) -> Result<Case<()>, Error> {
        let loaded = self.fabric(files, listener)?;
        self.open_on(loaded, files, listener)
    }

    /// Its fabric, once what is cheap to check of the rest is checked.
    ///
    /// # Errors
    /// If there is no such fabric or no such switch; with the keys concerned.
    pub fn fabric(
        &self,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Arc<Loaded>, Error> {
        self.medium()?;
        listener.stage("reading");
        self.load(files, listener).map(Arc::new).map_err(|e| e.of_key("fabric"))
    }

    /// As [`open`](Self::open), on the fabric that it names, which was [loaded](Self::load) before.
    ///
    /// # Errors
    /// If something is not there, or cannot be on this fabric; with the keys that it is about.
    pub fn open_on(
        &self,
        loaded: Arc<Loaded>,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Case<()>, Error> {
        let seed = self.seed.unwrap_or(1);
        let mut medium = self.medium()?;
        if let Medium::Packet(options) = &mut medium {
            options.wire(&self.packets, &loaded.topology, seed)?;
        }
        let roots = match &self.routes.roots {
            Some(text) => {
                let beside = files.locate(text);
                let text =
                    if beside.is_file() { beside.display().to_string() } else { text.clone() };
                fabric::roots(&loaded.topology.fabric, &text, listener)
                    .map_err(|e| e.of_key("roots").inside("routes"))?
            }
            None => Vec::new(),
        };
        let jobs = jobs::resolve(self, &loaded.topology, files, seed, listener)?;
        if listener.hears_notes()
            && !jobs.is_empty()
            && let Some(note) = loaded.unknown_speeds()
        {
            listener.note(&note);
        }
        if listener.hears_notes() {
            self.unused_keys().iter().for_each(|note| listener.note(note));
        }
        Ok(Case {
            loaded,
            tables: (),
            roots,
            title: self.title.clone().unwrap_or_default(),
            seed,
            host: self.host(),
            jobs,
            medium,
            update: None,
            scenario: self.clone(),
        })
    }

    /// Finds and makes all that is named: as [`open`](Self::open), and computes or reads the tables, for one job at least.
    ///
    /// # Errors
    /// If something is not there, or cannot be on this fabric; with the keys that it is about.
    pub fn resolve(&self, files: &dyn Files, listener: &mut dyn Listener) -> Result<Case, Error> {
        let loaded = self.fabric(files, listener)?;
        self.resolve_on(loaded, files, listener)
    }

    /// As [`resolve`](Self::resolve), on the fabric that it names, which was loaded before.
    ///
    /// # Errors
    /// As that.
    pub fn resolve_on(
        &self,
        loaded: Arc<Loaded>,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Case, Error> {
        let mut open = self.open_on(loaded, files, listener)?;
        if self.jobs.is_empty() {
            return Err(Error::input("there is no [[job]]")
                .hint("for example [[job]] traffic = \"mpigraph:bytes=1MiB\", nodes = 28")
                .inside("job"));
        }
        listener.stage("routing");
        let tables = open.named_tables(files, listener)?;
        let update = self.update.as_ref().map(|part| {
            open.update(part, &tables.routes, files, listener).map_err(|e| e.inside("update"))
        });
        open.update = update.transpose()?;
        Ok(open.with(tables))
    }
}

impl Case<()> {
    /// The tables that the scenario names, or its update does.
    ///
    /// # Errors
    /// If they cannot be read, or no engine routes the fabric; with the keys that it is about.
    pub fn named_tables(
        &self,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Tables, Error> {
        let part = &self.scenario.routes;
        let update = self.scenario.update.as_ref();
        part.expect_tables_of_files()?;
        if let Some(hashing) = &part.ecmp {
            return self
                .hashed(hashing, files, listener)
                .map_err(|e| e.inside("ecmp").inside("routes"));
        }
        let roots = update.and_then(|u| u.from_roots.as_deref());
        let names = update.and_then(|u| u.from_jobs.as_deref());
        let found = match (&part.engine, &part.tables, update.and_then(|u| u.from.as_ref())) {
            (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
                return Err(Error::input("the tables in place are named by [routes], too")
                    .hint("leave out engine and tables there, or from here")
                    .inside("from")
                    .inside("update"));
            }
            (None, None, Some(name)) => {
                return self
                    .named(name, roots, names, files, listener)
                    .map_err(|e| e.inside("from").inside("update"));
            }
            (Some(chain), None, None) => {
                self.of_chain(chain, roots, names).map_err(|e| e.inside("engine"))
            }
            (None, Some(name), None) => {
                self.of_file(name, files, listener).map_err(|e| e.inside("tables"))
            }
            _ => Err(Error::input("give an engine, tables or ecmp, one of them")
                .hint("for example engine = \"dfsssp\"")),
        };
        found.map_err(|e| e.inside("routes"))
    }

    /// Reads tables, and reports that lane 0 was assumed for all routes, where that matters.
    ///
    /// # Errors
    /// If they cannot be read, are of another fabric, or a set of them was torn or altered.
    pub fn read(&self, files: &TableFiles, listener: &mut dyn Listener) -> Result<Tables, Error> {
        let read = tables::read(files, &self.scenario.fabric, &self.loaded, listener)?;
        read.report_assumed_lane(self.fabric(), listener);
        if self.scenario.routes.ecmp.is_none() {
            read.report_static_ports(listener);
        }
        let from = files.tables.display().to_string();
        Ok(Tables { routes: Arc::new(read.routes), lids: read.lids, from })
    }

    /// No tables, but hashes: over all shortest paths, or over the groups of ports of an engine or of tables.
    fn hashed(
        &self,
        hashing: &Hashing,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Tables, Error> {
        let part = &self.scenario.routes;
        let groups = match (&part.engine, &part.tables) {
            (None, None) => None,
            (Some(chain), None) => Some(self.of_chain(chain, None, None)?),
            (None, Some(name)) => Some(self.of_file(name, files, listener)?),
            (Some(_), Some(_)) => {
                return Err(Error::input(
                    "groups are those of an engine or of tables, one of them",
                )
                .hint("leave out engine or tables"));
            }
        };
        if self.scenario.update.is_some() {
            return Err(Error::input("an update is one of forwarding tables, and ECMP has none")
                .hint("leave out [update], or take an engine"));
        }
        if part.lmc.0 > 0 {
            return Err(Error::input("lmc is of LIDs, and ECMP has none")
                .hint("qps=N gives every pair of terminals N queue pairs"));
        }
        let Some(tables) = groups else {
            let ecmp = Ecmp::new(self.fabric(), &hashing.0, self.seed);
            return Ok(Routes::by_hash(self.fabric(), ecmp).into());
        };
        let mut routes = Routes::by_hash(self.fabric(), self.over_groups(hashing, &tables)?);
        routes.engine = format!("{} over {}", routes.engine, tables.routes.engine);
        Ok(routes.into())
    }

    /// Hashes over the groups of ports of tables.
    fn over_groups(&self, hashing: &Hashing, tables: &Tables) -> Result<Ecmp, Error> {
        let (fabric, routes, spec) = (self.fabric(), &tables.routes, &hashing.0);
        let buckets = spec.buckets.map(|buckets| buckets as usize);
        let Some(hops) = routes.groups_by_switch(fabric, buckets) else {
            return Err(Error::input(format!(
                "{} has no groups of ports among which hashes could pick",
                routes.engine
            ))
            .hint("engines ar_updn and ar_ftree have, and ibdiagnet2.far; or leave out engine and tables"));
        };
        if routes.layer_count() > 1 {
            return Err(Error::input(format!(
                "routes of {} are free of deadlock in {} virtual lanes, and hashes know of none",
                routes.engine,
                routes.layer_count()
            ))
            .hint("leave out ecmp, or take an engine that needs one lane on this fabric"));
        }
        if let Some(SetReport { loops, unreachable, .. }) =
            check_groups(fabric, routes).map(|found| found.sets)
            && loops + unreachable > 0
        {
            return Err(Error::input(format!(
                "groups of ports of {} lead into loops to {loops} destinations, and nowhere for {unreachable} pairs",
                routes.engine
            ))
            .hint("darkfiber check names the entries"));
        }
        if spec.weighted {
            return Err(Error::input(
                "weights are of all shortest paths, and these are groups of ports",
            )
            .hint("leave out weighted, or engine and tables"));
        }
        let hops = hops.map_err(|home| {
            let name = &fabric.switch(home).description;
            Error::input(format!("LIDs of hosts on switch \"{name}\" have different groups")).hint(
                "hashes pick by switch, and these groups differ by LID, as they do where some LIDs have paths against the rule; \
                 try ar_updn or ar_ftree, or leave out engine and tables",
            )
        })?;
        Ok(Ecmp::over(fabric, spec, self.seed, hops))
    }

    /// Those of a file or directory in the folder of the scenario.
    fn of_file(
        &self,
        name: &str,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Tables, Error> {
        let path: PathBuf = files.locate(name);
        let part = &self.scenario.routes;
        let beside = |name: &Option<String>| name.as_deref().map(|name| files.locate(name));
        let all = TableFiles {
            sl: beside(&part.sl),
            sl2vl: beside(&part.sl2vl),
            path_bits: beside(&part.path_bits),
            lid_choice: beside(&part.lid_choice),
            groups: beside(&part.groups),
            guid2lid: beside(&part.guid2lid),
            ..TableFiles::at(path)
        };
        Ok(Tables { from: name.to_owned(), ..self.read(&all, listener)? })
    }

    /// Tables of the first of some engines that does not refuse; they are given the jobs.
    ///
    /// # Errors
    /// The refusals of all of them.
    pub fn route(&self, chain: &Chain) -> Result<Tables, Error> {
        self.of_chain(chain, None, None)
    }

    /// Those of an engine, for these roots and these jobs, or all of them.
    fn of_chain(
        &self,
        chain: &Chain,
        roots: Option<&[String]>,
        job_names: Option<&[String]>,
    ) -> Result<Tables, Error> {
        let fabric = self.fabric();
        let roots = roots.map(|names| self.switches(names)).transpose()?;
        let known: Vec<Job> = match job_names {
            None => self.jobs.clone(),
            Some(names) => {
                if let Some(name) = names.iter().find(|n| self.jobs.iter().all(|j| &j.name != *n)) {
                    let all: Vec<&str> = self.jobs.iter().map(|j| j.name.as_str()).collect();
                    return Err(Error::unknown("job", name, &all));
                }
                self.jobs.iter().filter(|j| names.contains(&j.name)).cloned().collect()
            }
        };
        let follows = self.scenario.routes.follow == EngineInput::Jobs;
        let demands = if follows && chain.engines.iter().any(|e| e.follows_demands()) {
            demanded(&sent(&in_each_plane(&known, fabric)))
        } else {
            Vec::new()
        };
        let places = if follows { places(&in_each_plane(&known, fabric)) } else { Vec::new() };
        let request = Request {
            roots: roots.as_deref().unwrap_or(&self.roots),
            jobs: &places,
            demands: &demands,
            ..self.request()
        };
        Ok(chain.route(fabric, &request)?.into())
    }

    /// Those of a file or directory that is there, or else of an engine.
    fn named(
        &self,
        name: &str,
        roots: Option<&[String]>,
        job_names: Option<&[String]>,
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<Tables, Error> {
        if files.locate(name).exists() {
            return self.of_file(name, files, listener);
        }
        self.of_chain(&Chain::parse(name)?, roots, job_names)
    }

    /// Finds switches by name.
    fn switches(&self, names: &[String]) -> Result<Vec<SwitchId>, Error> {
        let fabric = self.fabric();
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
        files: &dyn Files,
        listener: &mut dyn Listener,
    ) -> Result<UpdateCase, Error> {
        let fabric = self.fabric();
        let planes = self.topology().plane_count();
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
        update::check(part, fabric.hosts().len())?;
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
                let (roots, job_names) = (part.to_roots.as_deref(), part.to_jobs.as_deref());
                let to = self
                    .named(name, roots, job_names, files, listener)
                    .map_err(|e| e.inside("to"))?;
                (Arc::unwrap_or_clone(to.routes), to.from)
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
                let high = self.of_chain(chain, None, None).map_err(|e| e.inside("high"))?;
                Some(Arc::unwrap_or_clone(high.routes))
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
