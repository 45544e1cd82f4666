//! A resolved scenario: fabric, tables, jobs on their hosts, and the simulation depth.

use std::sync::Arc;

use darkfiber_fabric::{Fabric, SwitchId, Topology};
use darkfiber_packetsim::Observer;
use darkfiber_routing::{Lids, Request, Routes};
use darkfiber_workload::play::{Host, Record};

use crate::{Error, Job, Loaded, Medium, Scenario, Setup, SimError, Simulated, UpdateCase};

/// Forwarding tables, and where they are from.
#[derive(Clone, Debug)]
pub struct Tables {
    /// The tables, with the service levels and the LID of each path.
    pub routes: Arc<Routes>,
    /// The LIDs that the tables speak of, where they do.
    pub lids: Option<Lids>,
    /// The engine or file that they are from.
    pub from: String,
}

/// A scenario with all that it names. Where several tables are compared, all but these is a `Case<()>`, which
/// [routes](Case::route) and [reads](Case::read) them.
pub struct Case<T = Tables> {
    /// The fabric, and how it came to be; scenarios on the same one share it.
    pub loaded: Arc<Loaded>,
    /// The tables, or `()` while they are open.
    pub tables: T,
    /// Root switches for engines that take some.
    pub roots: Vec<SwitchId>,
    /// The title of tables and pictures.
    pub title: String,
    /// The seed of all random choices.
    pub seed: u64,
    /// Overheads of hosts and latencies of switches.
    pub host: Host,
    /// The jobs on their hosts, in the order of the scenario.
    pub jobs: Vec<Job>,
    /// The depth of simulation, with its options.
    pub medium: Medium,
    /// An update of the tables, if there is one.
    pub update: Option<UpdateCase>,
    /// The scenario that it was made of.
    pub scenario: Scenario,
}

impl<T> Case<T> {
    /// The fabric and its shape.
    pub fn topology(&self) -> &Topology {
        &self.loaded.topology
    }

    /// Fabric of the scenario.
    pub fn fabric(&self) -> &Fabric {
        &self.loaded.topology.fabric
    }

    /// The request for engines: the scenario's LMC, lanes and seed, without jobs and demands.
    pub fn request(&self) -> Request<'_> {
        let part = &self.scenario.routes;
        Request {
            shape: self.topology().shape.as_ref(),
            roots: &self.roots,
            lmc: part.lmc.0 as u8,
            lanes: part.lanes.map_or(8, |lanes| lanes.0 as u8),
            seed: self.seed,
            ..Request::default()
        }
    }
}

impl Case<()> {
    /// A fabric that a program has, with the defaults of a scenario and no jobs.
    pub fn of(topology: Topology) -> Self {
        let scenario = Scenario::default();
        Self {
            loaded: Arc::new(topology.into()),
            tables: (),
            roots: Vec::new(),
            title: String::new(),
            seed: 1,
            host: scenario.host(),
            jobs: Vec::new(),
            medium: Medium::Flow(crate::Sharing::default()),
            update: None,
            scenario,
        }
    }

    /// The case with these tables.
    pub fn with(self, tables: Tables) -> Case {
        let Self { loaded, tables: (), roots, title, seed, host, jobs, medium, update, scenario } =
            self;
        Case { loaded, tables, roots, title, seed, host, jobs, medium, update, scenario }
    }
}

impl Tables {
    /// Refuses operations that need forwarding tables where switches hash instead; `what` needs them.
    ///
    /// # Errors
    /// If routes are by ECMP.
    pub fn expect_tables(&self, what: &str) -> Result<(), Error> {
        if self.routes.hashed.is_none() {
            return Ok(());
        }
        Err(Error::infeasible(format!("{what}: routes by ECMP have no forwarding tables"))
            .hint("simulate and `darkfiber ecmp` follow hashes; for this take an engine or tables"))
    }
}

impl From<Routes> for Tables {
    /// Tables that an engine made.
    fn from(routes: Routes) -> Self {
        let from = routes.engine.clone();
        Self { routes: Arc::new(routes), lids: None, from }
    }
}

impl Case {
    /// The setup of its simulation.
    pub fn setup(&self) -> Setup<'_> {
        let scenario = &self.scenario;
        Setup {
            topology: self.topology(),
            routes: &self.tables.routes,
            host: &self.host,
            jobs: self.jobs.clone(),
            medium: self.medium.clone(),
            link_rate: scenario.cost.link_rate.map(|rate| rate.0),
            latencies: [scenario.cost.cable, scenario.cost.host_cable]
                .map(|latency| latency.map(|time| time.0.0)),
            lids: scenario.routes.lids,
            seed: self.seed,
            interval: scenario.interval(),
            held: false,
            messages: scenario.keep.messages,
            multiplies: !scenario.cost.run_repeats.unwrap_or(false),
            update: self.update.as_ref(),
            follow: None,
            processes: None,
        }
    }

    /// Simulates it. `each` is called for every message that is received, in the order of time, except for repeats that are
    /// multiplied ([`Setup::multiplies`]); `observer`, if there is one, saves the run regularly, so that it can be resumed.
    ///
    /// # Errors
    /// If ranks wait for messages that never come, the tables lose a message, or packets deadlock.
    pub fn run(
        &self,
        observer: Option<&dyn Observer>,
        each: &mut dyn FnMut(&Record),
    ) -> Result<Simulated, SimError> {
        crate::simulate(&Setup { follow: observer, ..self.setup() }, each)
    }
}
