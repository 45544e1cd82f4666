//! Who plays in a scenario: programs, and the hosts that they are on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use darkfiber_fabric::{TerminalId, Topology};
use darkfiber_flowsim::EXACT;
use darkfiber_formats::jobs::hostlist::{Groups, expand_with};
use darkfiber_formats::places::{Aliases, Places};
use darkfiber_formats::schedules::{self, Read};
use darkfiber_study::simulate::{JobPart, Scenario, places, seated};
use darkfiber_workload::collective::{Call, Collective, Library};
use darkfiber_workload::placement::Free;
use darkfiber_workload::play::{HOSTS, Host, Job, Repeat, host as known_host};
use darkfiber_workload::schedule::{Program, Script};
use darkfiber_workload::trace::{CollectiveCall, CollectiveKind, Volume};
use darkfiber_workload::traffic::{Given, traffic};
use darkfiber_workload::{Machine, Stream, quantity};

use crate::args::Common;
use crate::failure::Failure;
use crate::{history, jobs, out};

/// Jobs like one another that a scenario may have: more than any machine runs at a time.
const MOST_JOBS: u32 = 100_000;
/// Ranks of a node that a job may have: more than any node has processors.
const MOST_PER_NODE: u32 = 65_536;
/// Ranks that a job may have: more than any machine has processors.
const MOST_RANKS: usize = 1 << 26;
/// The longest time that a scenario gives hosts and switches for one message, in picoseconds: a second. Sums of times that are
/// far above what there is would exceed the clock.
const MOST_COST: u64 = 1_000_000_000_000;

/// Refuses numbers that no job can have, before anything is made as many times.
pub(crate) fn check_counts(scenario: &Scenario) -> Result<(), Failure> {
    for (part, number) in scenario.jobs.iter().zip(1..) {
        let wrong = |text: String| Err(Failure::input(format!("job {number}: {text}")));
        let named = [
            ("count", part.count.map(u64::from)),
            ("nodes", part.nodes.map(|n| n as u64)),
            ("per-node", part.per_node.map(u64::from)),
        ];
        if let Some((key, _)) = named.iter().find(|(_, value)| *value == Some(0)) {
            return wrong(format!("{key} 0 must be at least 1"));
        }
        if let Some(count) = part.count.filter(|count| *count > MOST_JOBS) {
            return wrong(format!(
                "count {count} is more than {MOST_JOBS}, the most jobs that are simulated together"
            ));
        }
        if let Some(per_node) = part.per_node.filter(|n| *n > MOST_PER_NODE) {
            return wrong(format!(
                "per-node {per_node} is more than {MOST_PER_NODE}, the most ranks of a node"
            ));
        }
    }
    Ok(())
}

/// The jobs of a scenario.
pub(crate) struct Cast {
    pub(crate) jobs: Vec<Job>,
    pub(crate) names: Vec<String>,
    /// Names of the hosts of each job, in the order of ranks.
    pub(crate) hosts: Vec<Vec<String>>,
    /// What the messages of each job are counted with, if anything.
    pub(crate) classes: Vec<Option<String>>,
    pub(crate) weights: Vec<f64>,
    pub(crate) limits: Vec<f64>,
}

/// A number with a unit, if it is there.
macro_rules! quantity {
    ($name:ident, $of:ty) => {
        pub(crate) fn $name(text: Option<&String>, what: &str) -> Result<Option<$of>, Failure> {
            text.map(|t| quantity::$name(t).map_err(|e| Failure::input(format!("{what}: {e}"))))
                .transpose()
        }
    };
}
quantity!(time, u64);
quantity!(bytes, u64);
quantity!(rate, f64);

/// What hosts cost by a scenario.
pub(crate) fn host(scenario: &Scenario) -> Result<Host, Failure> {
    let known: Vec<&str> = HOSTS.iter().map(|h| h.name).collect();
    let mut host = known_host(&scenario.hosts)
        .map_err(|_| Failure::unknown("kind of hosts", &scenario.hosts, &known))?
        .clone();
    let cost = &scenario.cost;
    let set = |to: &mut u64, from: Option<u64>| *to = from.unwrap_or(*to);
    set(&mut host.send, cost_time(cost.send.as_ref(), "send")?);
    set(&mut host.receive, cost_time(cost.receive.as_ref(), "receive")?);
    set(&mut host.gap, cost_time(cost.gap.as_ref(), "gap")?);
    set(&mut host.rendezvous, bytes(cost.rendezvous.as_ref(), "cost: rendezvous")?);
    set(&mut host.adapters, cost_time(cost.adapters.as_ref(), "adapters")?);
    set(&mut host.switch, cost_time(cost.switch.as_ref(), "switch")?);
    set(&mut host.memory_latency, cost_time(cost.memory_latency.as_ref(), "memory-latency")?);
    let set = |to: &mut f64, from: Option<f64>| *to = from.unwrap_or(*to);
    set(
        &mut host.adapter_bytes_per_second,
        rate(cost.adapter_rate.as_ref(), "cost: adapter-rate")?,
    );
    set(&mut host.memory_bytes_per_second, rate(cost.memory_rate.as_ref(), "cost: memory-rate")?);
    if let Some(noise) = cost.noise {
        if !(0.0..=0.5).contains(&noise) {
            return Err(Failure::input(format!(
                "cost: noise {noise} must be between 0 and 0.5: the part of its time by which computing varies"
            )));
        }
        host.noise = noise;
    }
    if let Some(efficiency) = cost.efficiency {
        if !(efficiency > 0.0 && efficiency <= 1.0) {
            return Err(Failure::input(format!(
                "cost: efficiency {efficiency} must be above 0 and at most 1"
            )));
        }
        host.efficiency = efficiency;
    }
    Ok(host)
}

/// A time that each message costs.
fn cost_time(text: Option<&String>, key: &str) -> Result<Option<u64>, Failure> {
    match (time(text, &format!("cost: {key}"))?, text) {
        (Some(ps), Some(text)) if ps > MOST_COST => {
            Err(Failure::input(format!("cost: {key} {text} must be at most 1s for each message")))
        }
        (ps, _) => Ok(ps),
    }
}

/// How late messages may end, as a part of their own time.
pub(crate) fn precision(scenario: &Scenario) -> Result<f64, Failure> {
    match scenario.cost.precision {
        None => Ok(EXACT),
        Some(part) if (0.0..=0.1).contains(&part) => Ok(part.max(EXACT)),
        Some(part) => Err(Failure::input(format!(
            "cost: precision {part} must be between 0 and 0.1: the part of its own time that a message may end late"
        ))),
    }
}

impl Cast {
    /// Makes programs and gives them hosts, in the order of the jobs.
    pub(crate) fn new(
        scenario: &Scenario,
        topology: &Topology,
        folder: &Path,
        common: &Common,
    ) -> Result<Self, Failure> {
        if scenario.jobs.is_empty() {
            return Err(Failure::input("there is no [[job]]")
                .hint("for example [[job]] traffic = \"mpigraph:bytes=1MiB\", nodes = 28"));
        }
        let machine = Machine::new(topology, 1);
        let aliases = scenario.aliases.as_ref().map(|path| folder.join(path));
        let aliases = jobs::aliases(aliases.as_deref(), &topology.fabric, common)?;
        let called = Called::new(&machine, topology, aliases);
        let mut is_free = vec![true; machine.len()];
        let mut cast = Self {
            jobs: Vec::new(),
            names: Vec::new(),
            hosts: Vec::new(),
            classes: Vec::new(),
            weights: Vec::new(),
            limits: Vec::new(),
        };
        for (i, part) in scenario.jobs.iter().enumerate() {
            let what = format!("job {}", i + 1);
            let told = |f: Failure| Failure {
                message: if f.message.starts_with(&what) {
                    f.message
                } else {
                    format!("{what}: {}", f.message)
                },
                ..f
            };
            let count = part.count.unwrap_or(1);
            for copy in 1..=count {
                cast.add(part, &what, (&machine, &called), &mut is_free, folder, common)
                    .map_err(told)?;
                if count > 1 {
                    let name = cast.names.last_mut().expect("it was just added");
                    *name = format!("{} {copy}", part.called(&what));
                }
            }
        }
        Ok(cast)
    }

    fn add(
        &mut self,
        part: &JobPart,
        what: &str,
        (machine, called): (&Machine, &Called),
        is_free: &mut [bool],
        folder: &Path,
        common: &Common,
    ) -> Result<(), Failure> {
        let per_node = part.per_node.unwrap_or(1);
        if part.hosts.is_some() && (part.nodes.is_some() || part.placement.is_some()) {
            return Err(Failure::input("hosts names its nodes: leave out nodes and placement"));
        }
        let named = part.hosts.as_ref().map(|list| called.hosts(list)).transpose()?;
        let library = part.library.as_deref().unwrap_or("openmpi");
        let known: Vec<&str> = Library::ALL.iter().map(|(name, _)| *name).collect();
        let library = Library::named(library)
            .ok_or_else(|| Failure::unknown("library of collectives", library, &known))?;
        let read = match (&part.traffic, &part.files) {
            (None, Some(files)) => Some(program(files, folder, library, common)?),
            (Some(_), None) => None,
            _ => {
                return Err(Failure::input("give traffic or files, one of them")
                    .hint("`darkfiber list traffic` shows what there is"));
            }
        };
        let left = is_free.iter().filter(|f| **f).count();
        let wanted = match (&named, &read, part.nodes) {
            (Some(hosts), ..) => hosts.len(),
            (_, _, Some(nodes)) => nodes,
            (_, Some(program), _) => program.ranks().div_ceil(per_node) as usize,
            _ => left,
        };
        if named.is_none() && left == 0 {
            return Err(Failure::infeasible("no host is left: earlier jobs have them all")
                .hint("give those `nodes`, or name hosts to share with `hosts`"));
        }
        let hosts = if let Some(hosts) = named {
            hosts
        } else {
            let by = history::known_allocator(part.placement.as_deref().unwrap_or("linear"))?;
            let free = Free { machine, is_free };
            let draw = &mut Stream::new(common.seed(), self.jobs.len() as u64);
            by.give(&free, wanted, draw).ok_or_else(|| {
                Failure::infeasible(format!(
                    "{} finds no {wanted} hosts: {left} of {} are free",
                    by.name,
                    machine.len()
                ))
            })?
        };
        for &h in &hosts {
            is_free[h as usize] = false;
        }
        if hosts.len().saturating_mul(per_node as usize) > MOST_RANKS {
            return Err(Failure::input(format!(
                "per-node {per_node} on {} nodes makes more than {MOST_RANKS} ranks, the most of a job",
                hosts.len()
            )));
        }
        let mut terminals = seated(&hosts, per_node, |h| machine.terminals(h).to_vec());
        let program = if let Some(program) = read {
            let ranks = program.ranks() as usize;
            if ranks > terminals.len() {
                return Err(Failure::infeasible(format!(
                    "its {ranks} ranks do not fit: {} hosts with {per_node} each hold {}",
                    hosts.len(),
                    terminals.len()
                ))
                .hint("give it more nodes, or a larger per-node"));
            }
            terminals.truncate(ranks);
            program
        } else {
            let ranks = u32::try_from(terminals.len())
                .map_err(|_| Failure::infeasible("these are more ranks than can be numbered"))?;
            let mut given = Given::new(ranks);
            (given.per_node, given.library, given.seed) = (per_node, library, common.seed());
            let spec = part.traffic.as_deref().unwrap_or_default();
            traffic(spec, &given).map_err(|e| {
                Failure::input(e).hint("`darkfiber list traffic` shows what there is")
            })?
        };
        let repeat = match time(part.repeat_until.as_ref(), "repeat-until")? {
            Some(until) => Repeat::Until(until),
            None => Repeat::Once,
        };
        let start = time(part.start.as_ref(), "start")?.unwrap_or(0);
        let weight = part.weight.unwrap_or(1.0);
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(Failure::input(format!("weight {weight} must be above 0")));
        }
        self.classes.push(part.class.clone());
        self.weights.push(weight);
        self.limits.push(rate(part.limit.as_ref(), "limit")?.unwrap_or(f64::INFINITY));
        self.hosts.push(hosts.iter().map(|&h| machine.name(h).to_owned()).collect());
        let name = part.called(what);
        // Tables tell jobs by their names.
        let taken = self.names.contains(&name);
        self.names.push(if taken { format!("{name} ({what})") } else { name });
        self.jobs.push(Job { program: Arc::new(program), terminals, start, repeat });
        Ok(())
    }

    /// The terminals of each job, each once.
    pub(crate) fn places(&self) -> Vec<Vec<TerminalId>> {
        places(&self.jobs)
    }
}

/// Hosts of a machine by what users call them.
struct Called {
    /// The nodes that job lists speak of.
    names: BTreeMap<String, u32>,
    /// By terminal, its host, where it has one.
    host_of: Vec<Option<u32>>,
    groups: Groups,
    places: Places,
}

impl Called {
    fn new(machine: &Machine, topology: &Topology, aliases: Aliases) -> Self {
        let mut host_of = vec![None; topology.fabric.terminal_count()];
        let mut names = BTreeMap::new();
        for h in 0..machine.len() as u32 {
            names.insert(machine.name(h).to_owned(), h);
            for t in machine.terminals(h) {
                host_of[t.index()] = Some(h);
            }
        }
        let groups = aliases.groups().clone();
        Self { names, host_of, groups, places: Places::new(&topology.fabric, aliases) }
    }

    /// Those of a node set: names, GUIDs, aliases, groups; each once.
    fn hosts(&self, list: &str) -> Result<Vec<u32>, Failure> {
        let names =
            expand_with(list, &self.groups).map_err(|e| Failure::input(format!("hosts: {e}")))?;
        let mut hosts = Vec::new();
        let mut is_taken = BTreeSet::new();
        for name in &names {
            let found: Vec<u32> = match self.names.get(name) {
                Some(&h) => vec![h],
                None => {
                    self.places.of(name).iter().filter_map(|t| self.host_of[t.index()]).collect()
                }
            };
            if found.is_empty() {
                jobs::refuse_shared("hosts", [name.as_str()], &self.places)?;
                let known: Vec<&str> = self.names.keys().map(String::as_str).collect();
                return Err(Failure::unknown("host of the fabric", name, &known));
            }
            hosts.extend(found.into_iter().filter(|&h| is_taken.insert(h)));
        }
        Ok(hosts)
    }
}

/// What files say that ranks do.
pub(crate) fn program(
    files: &[String],
    folder: &Path,
    library: Library,
    common: &Common,
) -> Result<Program, Failure> {
    let paths: Vec<PathBuf> = files.iter().map(|f| folder.join(f)).collect();
    let (read, found) = schedules::open(&paths, &schedules::Options::default())?;
    let name = files.first().cloned().unwrap_or_default();
    out::diagnostics(&name, &found, common);
    let made = match read {
        Read::Schedule(schedule) => Ok(schedule),
        Read::Matrix(matrix) => matrix.schedule().map_err(|e| e.to_string()),
        Read::Trace(trace) => trace
            .schedule(&mut |script, call| collective(script, call, library))
            .map_err(|e| e.to_string()),
        Read::Report(_) => {
            return Err(Failure::input(format!(
                "{name}: a report of mpiP says how much ranks send, but not to whom"
            ))
            .hint("give the graph of communication that goes with it"));
        }
    };
    made.map(Program::once).map_err(|e| Failure::input(format!("{name}: {e}")))
}

/// Writes a collective of a trace as the library does it.
fn collective(script: &mut Script, call: &CollectiveCall<'_>, library: Library) {
    let kind = match call.kind {
        CollectiveKind::Barrier => Collective::Barrier,
        CollectiveKind::Broadcast => Collective::Bcast,
        CollectiveKind::Reduce => Collective::Reduce,
        CollectiveKind::Allreduce => Collective::Allreduce,
        CollectiveKind::Gather => Collective::Gather,
        CollectiveKind::Scatter => Collective::Scatter,
        CollectiveKind::Allgather => Collective::Allgather,
        CollectiveKind::Alltoall => Collective::Alltoall,
        CollectiveKind::ReduceScatter => Collective::ReduceScatter,
        // Scans differ in what they add up, not in what they send.
        _ => Collective::Scan,
    };
    let sizes: Vec<u64> = match &call.volume {
        Volume::Same(_) => Vec::new(),
        Volume::Each(sizes) => sizes.clone(),
        Volume::Pairs(rows) => rows.iter().flat_map(|row| row.iter().copied()).collect(),
    };
    let bytes = match &call.volume {
        Volume::Same(bytes) => *bytes,
        _ => sizes.iter().sum::<u64>() / sizes.len().max(1) as u64,
    };
    let sizes = (!sizes.is_empty()).then_some(sizes.as_slice());
    let call = Call { root: call.root, tag: call.tag, sizes, ..Call::new(call.ranks, bytes) };
    library.write(script, kind, &call);
}
