//! The machine with two planes, and its five combinations of topology, routing and placement.

use std::sync::Arc;

use darkfiber_fabric::{TerminalId, Topology, open};
use darkfiber_flowsim::EXACT;
use darkfiber_routing::{Request, Routes, find_engine};
use darkfiber_workload::placement::{Free, allocator};
use darkfiber_workload::play::{Host, Job, Repeat, host};
use darkfiber_workload::schedule::Program;
use darkfiber_workload::traffic::{Ranks, traffic};
use darkfiber_workload::{Machine, Stream};

use darkfiber_scenario::{Medium, Setup, Sharing, Simulated, demanded, sent, simulate};

/// Data rate of cables, in bytes a second: that of mpiGraph for one pair (figure 1).
pub(super) const CABLE: f64 = 2.26 * 1_073_741_824.0;

/// A combination of section 4.4.3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Combination {
    pub(super) name: &'static str,
    plane: Plane,
    engine: &'static str,
    placement: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plane {
    FatTree,
    HyperX,
}

/// The five, the baseline first.
pub(super) const ALL: [Combination; 5] = [
    Combination {
        name: "FT/ftree/linear",
        plane: Plane::FatTree,
        engine: "ftree",
        placement: "linear",
    },
    Combination {
        name: "FT/SSSP/clustered",
        plane: Plane::FatTree,
        engine: "sssp",
        placement: "clustered",
    },
    Combination {
        name: "HX/DFSSSP/linear",
        plane: Plane::HyperX,
        engine: "dfsssp",
        placement: "linear",
    },
    Combination {
        name: "HX/DFSSSP/random",
        plane: Plane::HyperX,
        engine: "dfsssp",
        placement: "random",
    },
    Combination {
        name: "HX/PARX/clustered",
        plane: Plane::HyperX,
        engine: "parx",
        placement: "clustered",
    },
];

struct Site {
    topology: Topology,
    machine: Machine,
    /// Routes that follow no demands, by engine.
    routes: Vec<(&'static str, Routes)>,
}

impl Site {
    fn new(preset: &str, engines: &[&'static str]) -> Self {
        let topology = open(preset).expect("a preset");
        let machine = Machine::new(&topology, 1);
        let routes = engines.iter().map(|e| (*e, routed(&topology, e, &[]))).collect();
        Self { topology, machine, routes }
    }
}

pub(super) fn routed(topology: &Topology, engine: &str, jobs: &[Job]) -> Routes {
    let demands = demanded(&sent(jobs));
    let request =
        Request { shape: topology.shape.as_ref(), demands: &demands, ..Request::default() };
    find_engine(engine)
        .expect("registered")
        .route(&topology.fabric, &request)
        .expect("it routes both planes")
}

/// Both planes of the machine.
pub(super) struct Lab {
    fat_tree: Site,
    hyperx: Site,
    host: Host,
    precision: f64,
}

impl Lab {
    pub(super) fn new() -> Self {
        Self {
            fat_tree: Site::new("@t2hx-fattree", &["ftree", "sssp"]),
            hyperx: Site::new("@t2hx-hyperx", &["dfsssp"]),
            host: host("qdr").expect("known").clone(),
            precision: EXACT,
        }
    }

    /// The same, but messages may end late by this part of their own time.
    pub(super) fn with_precision(mut self, precision: f64) -> Self {
        self.precision = precision;
        self
    }

    fn site(&self, c: &Combination) -> &Site {
        match c.plane {
            Plane::FatTree => &self.fat_tree,
            Plane::HyperX => &self.hyperx,
        }
    }

    /// Hosts for jobs of these sizes, one after the other.
    pub(super) fn places(
        &self,
        c: &Combination,
        sizes: &[usize],
        seed: u64,
    ) -> Vec<Vec<TerminalId>> {
        let machine = &self.site(c).machine;
        let by = allocator(c.placement).expect("registered");
        let mut is_free = vec![true; machine.len()];
        let mut places = Vec::new();
        for (i, &n) in sizes.iter().enumerate() {
            let free = Free { machine, is_free: &is_free };
            let hosts = by
                .allocate(&free, n, &mut Stream::new(seed, i as u64))
                .expect("there are enough hosts");
            for &h in &hosts {
                is_free[h as usize] = false;
            }
            places.push(hosts.iter().map(|&h| machine.terminals(h)[0]).collect());
        }
        places
    }

    /// One program on this many nodes.
    pub(super) fn alone(&self, c: &Combination, program: Arc<Program>, seed: u64) -> Simulated {
        let nodes = program.ranks() as usize;
        let terminals = self.places(c, &[nodes], seed).remove(0);
        self.run(c, &[Job { program, terminals, start: 0, repeat: Repeat::Once }], seed)
    }

    /// Jobs. Routes that follow demands are made for them.
    pub(super) fn run(&self, c: &Combination, jobs: &[Job], seed: u64) -> Simulated {
        let site = self.site(c);
        let known = site.routes.iter().find(|(e, _)| *e == c.engine);
        let made =
            if known.is_none() { Some(routed(&site.topology, c.engine, jobs)) } else { None };
        let routes = known.map(|(_, r)| r).or(made.as_ref()).expect("one of both");
        let limits = Limits { small: SMALL, precision: self.precision };
        measured(&site.topology, routes, &self.host, jobs, limits, seed)
    }
}

/// Messages of at most this size share the bandwidth that large ones leave, without a noticeable delay of others.
pub(super) const SMALL: u64 = 512;

/// Limits below which results need not be exact: see [`Setup`].
#[derive(Clone, Copy)]
struct Limits {
    small: u64,
    precision: f64,
}

fn measured(
    topology: &Topology,
    routes: &Routes,
    host: &Host,
    jobs: &[Job],
    limits: Limits,
    seed: u64,
) -> Simulated {
    let Limits { small, precision } = limits;
    let setup = Setup {
        medium: Medium::Flow(Sharing { small, precision }),
        link_rate: Some(CABLE),
        seed,
        ..Setup::new(topology, routes, host, jobs)
    };
    simulate(&setup, &mut |_| ()).expect("programs of the registry come to their ends")
}

/// A program on the first nodes of a machine, over routes that an engine makes for it.
pub(super) fn on_first(
    topology: &Topology,
    engine: &str,
    program: Arc<Program>,
    small: u64,
) -> Simulated {
    let machine = Machine::new(topology, 1);
    let terminals = (0..program.ranks()).map(|h| machine.terminals(h)[0]).collect();
    let jobs = [Job { program, terminals, start: 0, repeat: Repeat::Once }];
    let routes = routed(topology, engine, &jobs);
    let limits = Limits { small, precision: EXACT };
    measured(topology, &routes, host("qdr").expect("known"), &jobs, limits, 1)
}

/// The program of a spec for this many nodes with a rank each.
pub(super) fn program(spec: &str, nodes: u32, seed: u64) -> Option<Arc<Program>> {
    let mut given = Ranks::new(nodes);
    given.seed = seed;
    traffic(spec, &given).ok().map(Arc::new)
}
