//! The subject of an analysis: a scenario, or a running fabric with its counters.

use std::collections::BTreeMap;
use std::path::Path;

use darkfiber_analysis::estimate::{Estimate, Pairs};
use darkfiber_analysis::heat::Flow;
use darkfiber_fabric::{Fabric, TerminalId};
use darkfiber_formats::counters::{self, Window};
use darkfiber_formats::places::Places;
use darkfiber_formats::{demands, input, sent as records};
use darkfiber_scenario::{Case, places, sent};

use crate::failure::Failure;
use crate::jobs::{self, Running};
use crate::load;
use crate::options::{Common, CountedArgs, FabricArgs};
use crate::out::{self, Teller};
use crate::progress::Progress;

/// Maximum number of terminals whose pairs are all considered where jobs do not give the pairs.
const ALL_PAIRS: usize = 2_000;

/// All that is needed.
pub(crate) struct CountedTraffic {
    /// The fabric and its tables; of a scenario, its jobs.
    pub(crate) case: Case,
    /// Names of the jobs.
    pub(crate) jobs: Vec<String>,
    /// The terminals of each; of all together where they cannot be distinguished.
    pub(crate) places: Vec<Vec<TerminalId>>,
    pub(crate) flows: Vec<Flow>,
    /// The data from which the flows were estimated.
    pub(crate) counted: Option<(Window, Estimate)>,
    /// Why hosts of running jobs may seem to be free, if they may.
    pub(crate) unplaced: Option<Failure>,
}

impl CountedTraffic {
    /// Reads it; three steps of progress.
    pub(crate) fn load(
        scenario: Option<&Path>,
        live: &CountedArgs,
        common: &Common,
        progress: &Progress,
    ) -> Result<Self, Failure> {
        if let Some(path) = scenario {
            if let Some(option) = live.first_given() {
                let what =
                    format!("{option} is without a scenario, which names all of that itself");
                return Err(Failure::usage(what)
                    .hint("leave it out, or give --fabric and --routes instead of the scenario"));
            }
            let file = load::scenario(path, &live.names, common)?;
            let case = load::case(&file, &mut Teller::with(common, progress))?;
            let (flows, places) = (sent(&case.jobs), places(&case.jobs));
            let jobs = case.jobs.iter().map(|job| job.name.clone()).collect();
            progress.step();
            return Ok(Self { case, jobs, places, flows, counted: None, unplaced: None });
        }
        let (Some(name), Some(path)) = (&live.fabric, &live.routes) else {
            return Err(Failure::usage("give a scenario, or --fabric and --routes"));
        };
        if live.sent.is_none() && live.counters.is_empty() {
            return Err(Failure::usage("give --sent or --counters: what was sent")
                .hint("two files of perfquery -x, before and after, are enough"));
        }
        progress.at("reading");
        let scenario = FabricArgs::whole(name, &live.names).scenario(common);
        let open = load::open(&scenario, common)?;
        let tables = open.read(&live.beside.files(path), &mut Teller::new(common))?;
        let case = open.with(tables);
        progress.step();
        let network = case.fabric();
        let running = match &live.jobs.jobs {
            Some(path) => {
                let aliases = live.jobs.aliases.as_deref();
                Some(Running::load(path, aliases, live.jobs.at, network, common)?)
            }
            None => None,
        };
        let unplaced = match (&running, &live.jobs.jobs) {
            (Some(running), Some(path)) => running.expect_all_placed(path).err(),
            _ => None,
        };
        progress.step();
        let places =
            Places::new(network, jobs::aliases(live.jobs.aliases.as_deref(), network, common)?);
        let mut given = Self {
            case,
            jobs: Vec::new(),
            places: Vec::new(),
            flows: Vec::new(),
            counted: None,
            unplaced,
        };
        if let Some(path) = &live.sent {
            given.recorded(path, running, &places, common)?;
        } else {
            progress.at("estimating");
            given.estimated(live, running, &places, common)?;
        }
        progress.step();
        Ok(given)
    }

    fn fabric(&self) -> &Fabric {
        self.case.fabric()
    }

    /// Traffic from records of messages.
    fn recorded(
        &mut self,
        path: &Path,
        running: Option<Running>,
        places: &Places,
        common: &Common,
    ) -> Result<(), Failure> {
        let text = input::read_text(path)?;
        let (all, mut remarks) = if records::is_such(&text) {
            records::read(&text, path, places)?
        } else {
            let (all, remarks) = demands::read(&text, path, places)?;
            let one = |d: &darkfiber_routing::Demand| records::TerminalTraffic {
                job: None,
                from: d.from,
                to: d.to,
                bytes: d.weight,
            };
            (all.iter().map(one).collect(), remarks)
        };
        if all.is_empty() {
            let hint = "there is no traffic to look at: is the file of another time, or cut short?";
            remarks.warn(0, "nothing was sent from one host to another", hint);
        }
        out::diagnostics(&path.display().to_string(), &remarks, common);
        self.case.title = input::name_of(path);
        // A record names its job; otherwise it belongs to the job that has both ends.
        let mut ends = running.as_ref().map_or_else(Vec::new, |running| running.places.clone());
        let mut jobs = Jobs::new(running, self.fabric().terminal_count());
        let flows = all.iter().map(|s| Flow {
            job: jobs.of(s.job.as_deref(), s.from, s.to),
            from: s.from,
            to: s.to,
            bytes: s.bytes,
        });
        self.flows = flows.collect();
        // A job has the hosts that it runs on, and those that it sends between.
        ends.resize(jobs.names.len(), Vec::new());
        for f in &self.flows {
            ends[f.job as usize].extend([f.from, f.to]);
        }
        for of in &mut ends {
            of.sort_unstable();
            of.dedup();
        }
        self.places = ends;
        self.jobs = jobs.names;
        Ok(())
    }

    /// Traffic estimated from port counters.
    fn estimated(
        &mut self,
        live: &CountedArgs,
        running: Option<Running>,
        places: &Places,
        common: &Common,
    ) -> Result<(), Failure> {
        let mut files = Vec::new();
        for path in &live.counters {
            let (readings, remarks) = counters::read(&input::read_text(path)?, path)?;
            out::diagnostics(&path.display().to_string(), &remarks, common);
            files.push((path.as_path(), readings));
        }
        let files: Vec<(&Path, &[counters::Reading])> =
            files.iter().map(|(path, readings)| (*path, readings.as_slice())).collect();
        let (window, remarks) =
            counters::window(self.fabric(), self.case.tables.lids.as_ref(), places, &files)?;
        let names: Vec<String> = live.counters.iter().map(|p| input::name_of(p)).collect();
        self.case.title = names.join(", ");
        out::diagnostics(&self.case.title, &remarks, common);
        let count = self.fabric().terminal_count();
        let (names, ends) = if let Some(running) = running {
            (running.ids, running.places)
        } else if count > ALL_PAIRS {
            return Err(Failure::infeasible(format!(
                "without jobs any of {count} terminals may have sent to any other: too many pairs to estimate"
            ))
            .hint("--jobs LIST tells who runs together (squeue, for example)"));
        } else {
            (vec!["all".to_owned()], vec![(0..count).map(TerminalId::new).collect()])
        };
        let pairs = Pairs::new(self.fabric(), &self.case.tables.routes, &ends);
        let estimate = pairs.estimate(&window.carried);
        let all: u64 = window.carried.iter().flatten().fold(0, |sum, &b| sum.saturating_add(b));
        if estimate.flows.is_empty() && all > 0 {
            return Err(Failure::infeasible(
                "counters show traffic, and no job has two hosts between which it could have been",
            )
            .hint("give the jobs that ran when the counters were read, or leave out --jobs"));
        }
        self.flows.clone_from(&estimate.flows);
        self.places = ends;
        self.jobs = names;
        self.counted = Some((window, estimate));
        Ok(())
    }
}

/// Job that a record belongs to.
struct Jobs {
    names: Vec<String>,
    number: BTreeMap<String, u32>,
    /// By terminal, the jobs that have it.
    has: Vec<Vec<u32>>,
}

/// Traffic that belongs to no known job.
pub(crate) const NO_JOB: &str = "no job";

impl Jobs {
    fn new(running: Option<Running>, terminals: usize) -> Self {
        let Running { ids: names, places, .. } = running.unwrap_or_default();
        let mut has = vec![Vec::new(); terminals];
        for (j, terminals) in (0..).zip(&places) {
            for t in terminals {
                has[t.index()].push(j);
            }
        }
        let number = (0..).zip(&names).map(|(j, name)| (name.clone(), j)).collect();
        Self { names, number, has }
    }

    fn of(&mut self, name: Option<&str>, from: TerminalId, to: TerminalId) -> u32 {
        if name.is_none() {
            let both = |j: &&u32| self.has[to.index()].contains(j);
            if let Some(job) = self.has[from.index()].iter().find(both) {
                return *job;
            }
        }
        let name = name.unwrap_or(NO_JOB);
        if let Some(&job) = self.number.get(name) {
            return job;
        }
        let job = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.number.insert(name.to_owned(), job);
        job
    }
}
