//! The jobs of a scenario: programs, and the hosts that they are on.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use darkfiber_fabric::{Fabric, TerminalId, Topology};
use darkfiber_formats::hostlist::{Groups, expand, expand_with};
use darkfiber_formats::places::{self, Aliases, Places};
use darkfiber_formats::{Diagnostics, input};
use darkfiber_traces::schedules::{self, Read};
use darkfiber_workload::collective::{Call, Collective, Library};
use darkfiber_workload::placement::{Free, allocator};
use darkfiber_workload::play::{self, Repeat};
use darkfiber_workload::schedule::{Program, Script};
use darkfiber_workload::trace::{CollectiveCall, CollectiveKind, Volume};
use darkfiber_workload::traffic::{Ranks, traffic};
use darkfiber_workload::{Machine, Stream};

use crate::planes::Rails;
use crate::value::Positive;
use crate::{Error, Files, JobPart, Listener, MessageClass, PlanePart, Scenario, classes};

/// Ranks that a job may have: more than any machine has processors.
const MOST_RANKS: usize = 1 << 26;

/// A job of a scenario.
#[derive(Clone, Debug)]
pub struct Job {
    /// Program of its ranks, their places, and when it runs.
    pub play: play::Job,
    /// Name of the job.
    pub name: String,
    /// Names of its hosts, in the order of ranks.
    pub hosts: Vec<String>,
    /// Its flows get this many times the share of others.
    pub weight: f64,
    /// Most that each of its messages takes, in bytes a second; infinite without a limit.
    pub limit: f64,
    /// Classes of its messages, by rising bytes: the last one has all that are left. Empty where none is named.
    pub classes: Vec<MessageClass>,
    /// Whether each of its messages is divided into equal parts, one for each plane of the fabric. Its terminals are those of
    /// the first plane.
    pub striped: bool,
    /// The number by which the noise of its hosts is drawn; its place among the jobs of a run if there is none.
    pub number: Option<u32>,
}

impl From<play::Job> for Job {
    /// A job without a name and without options.
    fn from(play: play::Job) -> Self {
        let (name, hosts, classes) = (String::new(), Vec::new(), Vec::new());
        let (weight, limit) = (1.0, f64::INFINITY);
        Self { play, name, hosts, weight, limit, classes, striped: false, number: None }
    }
}

impl From<&play::Job> for Job {
    fn from(play: &play::Job) -> Self {
        play.clone().into()
    }
}

impl From<&Self> for Job {
    fn from(job: &Self) -> Self {
        job.clone()
    }
}

impl AsRef<play::Job> for Job {
    fn as_ref(&self) -> &play::Job {
        &self.play
    }
}

/// Other names of hosts, if there is a file of them.
///
/// # Errors
/// If the file cannot be read.
pub fn aliases(
    path: Option<&Path>,
    fabric: &Fabric,
    listener: &mut dyn Listener,
) -> Result<Aliases, Error> {
    let Some(path) = path else { return Ok(Aliases::new()) };
    let (aliases, found) = places::read_aliases(&input::read_text(path)?, path, fabric)?;
    listener.remarks(&path.display().to_string(), &found);
    Ok(aliases)
}

/// Refuses names that are descriptions of several hosts: they are ambiguous.
///
/// # Errors
/// If there is such a name.
pub fn refuse_shared<'a>(
    source: &str,
    names: impl IntoIterator<Item = &'a str>,
    places: &Places,
) -> Result<(), Error> {
    match names.into_iter().find(|name| places.shared(name) > 0) {
        Some(name) => Err(Error::input(format!("{source}: {}", places.why_unknown(name))).hint(
            "--node-name-map FILE gives hosts names of their own, `0xGUID \"name\"` on each line",
        )),
        None => Ok(()),
    }
}

/// Makes programs and gives them hosts, in the order of the jobs.
pub(crate) fn resolve(
    scenario: &Scenario,
    topology: &Topology,
    files: &dyn Files,
    seed: u64,
    listener: &mut dyn Listener,
) -> Result<Vec<Job>, Error> {
    if scenario.jobs.is_empty() {
        return Ok(Vec::new());
    }
    let machine = Machine::new(topology, 1);
    let rails = Rails::new(&topology.fabric);
    let of_planes: Vec<Machine> =
        (0..rails.count()).map(|plane| machine.in_plane(topology, plane)).collect();
    let path = scenario.aliases.as_ref().map(|name| files.locate(name));
    let aliases =
        aliases(path.as_deref(), &topology.fabric, listener).map_err(|e| e.inside("aliases"))?;
    let called = HostsByName::new(&machine, topology, aliases);
    let is_free = vec![true; machine.len()];
    let mut seats = HostAllocation {
        of_planes: &of_planes,
        rails: &rails,
        called,
        is_free,
        files,
        seed,
        jobs: Vec::new(),
    };
    for (part, number) in scenario.jobs.iter().zip(1..) {
        let what = format!("job {number}");
        let classes = classes::of_job(scenario, part).map_err(|e| e.inside(what.as_str()))?;
        let count = part.count.map_or(1, |count| count.0);
        for copy in 1..=count {
            let mut job = seats.add(part, &what, listener).map_err(|e| e.inside(what.as_str()))?;
            job.classes.clone_from(&classes);
            if count > 1 {
                job.name = format!("{} {copy}", part.called(&what));
            }
            seats.jobs.push(job);
        }
    }
    Ok(seats.jobs)
}

/// Hosts that jobs get, one job after the other.
struct HostAllocation<'a> {
    /// The hosts with their terminals in each plane.
    of_planes: &'a [Machine],
    rails: &'a Rails,
    called: HostsByName,
    is_free: Vec<bool>,
    files: &'a dyn Files,
    seed: u64,
    jobs: Vec<Job>,
}

impl HostAllocation<'_> {
    /// The plane of a job's terminals, from 0.
    fn plane(&self, part: &JobPart) -> Result<usize, Error> {
        let planes = self.of_planes.len();
        match part.plane {
            Some(PlanePart::Number(number)) if usize::from(number) <= planes => {
                Ok(usize::from(number) - 1)
            }
            Some(PlanePart::Number(number)) => {
                let are = if planes == 1 { "is one plane" } else { "are planes 1 to" };
                let last = if planes == 1 { String::new() } else { format!(" {planes}") };
                Err(Error::input(format!("there is no plane {number}: there {are}{last}"))
                    .inside("plane"))
            }
            Some(PlanePart::Striped) if planes == 1 => {
                Err(Error::input("the fabric is one plane, and nothing can be striped over it")
                    .hint("leave out plane")
                    .inside("plane"))
            }
            Some(PlanePart::Rails) if planes == 1 => {
                Err(Error::input("the fabric is one plane, and its rails are joined")
                    .hint("leave out plane: ranks of a host use its adapters in turn")
                    .inside("plane"))
            }
            None if planes > 1 => Err(Error::input(format!(
                "the fabric has {planes} planes, and this job names none"
            ))
            .hint("plane = 1, the number of another, \"striped\" over all, or \"rails\": rank r of a host on plane r modulo their number")),
            _ => Ok(0),
        }
    }

    /// Refuses messages between hosts whose ends are in different planes.
    fn keeps_to_rails(&self, program: &Program, terminals: &[TerminalId]) -> Result<(), Error> {
        let plane = |t: TerminalId| self.rails.peers(t).iter().position(|&peer| peer == t);
        let planes: Vec<Option<usize>> = terminals.iter().map(|&t| plane(t)).collect();
        let host = |rank: u32| self.rails.peers(terminals[rank as usize]).first();
        let mut crossing = None;
        for block in program.blocks() {
            block.each_pair(|from, to| {
                if planes[from as usize] != planes[to as usize] && host(from) != host(to) {
                    crossing.get_or_insert((from, to));
                }
            });
        }
        let Some((from, to)) = crossing else { return Ok(()) };
        let number = |rank: u32| planes[rank as usize].map_or(0, |plane| plane + 1);
        Err(Error::infeasible(format!(
            "rank {from} on plane {} sends to rank {to} of another host on plane {}, and no cable joins planes",
            number(from),
            number(to)
        ))
        .hint("collectives of `nccl` keep to their rails with crossnic=0"))
    }

    fn add(
        &mut self,
        part: &JobPart,
        what: &str,
        listener: &mut dyn Listener,
    ) -> Result<Job, Error> {
        // The requested options must be consistent.
        let per_node = part.per_node.map_or(1, |n| n.0 as u32);
        if part.hosts.is_some() && (part.nodes.is_some() || part.placement.is_some()) {
            return Err(Error::input("hosts names its nodes: leave out nodes and placement"));
        }
        if part.hosts.is_some() && part.count.is_some_and(|count| count.0 > 1) {
            return Err(Error::input(
                "hosts names the nodes of one job, and there are more by count",
            )
            .hint("a [[job]] for each, or nodes and placement"));
        }
        let named = part.hosts.as_ref().map(|list| self.called.hosts(list));
        let named = named.transpose().map_err(|e| e.inside("hosts"))?;
        let library = part.library.map_or_else(Library::default, |library| library.0.1);
        let read = match (&part.traffic, &part.files) {
            (None, Some(names)) => {
                let copies = part.scale_out.map(|copies| copies.0 as u32);
                let read = program(&names.0, copies, self.files, library, listener);
                Some(read.map_err(|e| e.inside("files"))?)
            }
            (Some(_), None) if part.scale_out.is_some() => {
                return Err(Error::input("only traces of files are scaled out")
                    .hint("traffic has `nodes` and `per-node`")
                    .inside("scale-out"));
            }
            (Some(_), None) => None,
            _ => {
                return Err(Error::input("give traffic or files, one of them")
                    .hint("`darkfiber list traffic` shows what there is"));
            }
        };
        // Its hosts: those that are named, or those that an allocator finds among the free ones.
        let plane = self.plane(part)?;
        let striped = part.plane == Some(PlanePart::Striped);
        let in_rails = part.plane == Some(PlanePart::Rails);
        let machine = &self.of_planes[plane];
        let serves = |h: u32| {
            let mut of = machine.terminals(h).iter();
            !machine.terminals(h).is_empty()
                && (!(striped || in_rails) || of.all(|&t| !self.rails.peers(t).is_empty()))
        };
        let is_free: Vec<bool> =
            self.is_free.iter().zip(0..).map(|(&free, h)| free && serves(h)).collect();
        let left = is_free.iter().filter(|f| **f).count();
        if let Some(&host) = named.iter().flatten().find(|&&h| !serves(h)) {
            let where_to = if striped || in_rails {
                "every plane".to_owned()
            } else {
                format!("plane {}", plane + 1)
            };
            return Err(Error::input(format!(
                "{} has no terminal in {where_to}",
                machine.name(host)
            ))
            .inside("hosts"));
        }
        let wanted = match (&named, &read, part.nodes) {
            (Some(hosts), ..) => hosts.len(),
            (_, _, Some(nodes)) => nodes.0 as usize,
            (_, Some(program), _) => program.ranks().div_ceil(per_node) as usize,
            _ => left,
        };
        if named.is_none() && left == 0 {
            return Err(Error::infeasible("no host is left: earlier jobs have them all")
                .hint("give those `nodes`, or name hosts to share with `hosts`"));
        }
        let hosts = if let Some(hosts) = named {
            hosts
        } else {
            let by = match part.placement {
                Some(chosen) => chosen.0,
                None => allocator("linear")?,
            };
            let free = Free { machine, is_free: &is_free };
            let draw = &mut Stream::new(self.seed, self.jobs.len() as u64);
            by.allocate(&free, wanted, draw).ok_or_else(|| {
                Error::infeasible(format!(
                    "{} finds no {wanted} hosts: {left} of {} are free",
                    by.name,
                    machine.len()
                ))
            })?
        };
        for &h in &hosts {
            self.is_free[h as usize] = false;
        }
        if hosts.len().saturating_mul(per_node as usize) > MOST_RANKS {
            return Err(Error::input(format!(
                "per-node {per_node} on {} nodes makes more than {MOST_RANKS} ranks, the most of a job",
                hosts.len()
            )));
        }
        // Its ranks, and their program.
        let mut terminals = rank_terminals(&hosts, per_node, |h| {
            let of_plane = machine.terminals(h);
            if in_rails {
                // The first of each plane, then the second ones.
                of_plane.iter().flat_map(|&t| self.rails.peers(t)).copied().collect()
            } else {
                of_plane.to_vec()
            }
        });
        let program = if let Some(program) = read {
            let ranks = program.ranks() as usize;
            if ranks > terminals.len() {
                return Err(Error::infeasible(format!(
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
                .map_err(|_| Error::infeasible("these are more ranks than can be numbered"))?;
            let mut given = Ranks::new(ranks);
            (given.per_node, given.library, given.seed) = (per_node, library, self.seed);
            let spec = part.traffic.as_deref().unwrap_or_default();
            traffic(spec, &given).map_err(|e| {
                Error::input(e)
                    .hint("`darkfiber list traffic` shows what there is")
                    .inside("traffic")
            })?
        };
        if in_rails {
            self.keeps_to_rails(&program, &terminals)?;
        }
        if let Some(Positive(weight)) = part.weight.filter(|w| !(1e-6..=1e6).contains(&w.0)) {
            let what = format!("{weight} is out of range: 0.000001 to 1000000");
            return Err(Error::input(what).inside("weight"));
        }
        let repeat = part.repeat_until.map_or(Repeat::Once, |until| Repeat::Until(until.0));
        let start = part.start.map_or(0, |start| start.0);
        let called = part.called(what);
        // Tables identify jobs by their names.
        let taken = self.jobs.iter().any(|job| job.name == called);
        Ok(Job {
            play: play::Job { program: Arc::new(program), terminals, start, repeat },
            name: if taken { format!("{called} ({what})") } else { called },
            hosts: hosts.iter().map(|&h| machine.name(h).to_owned()).collect(),
            weight: part.weight.map_or(1.0, |weight| weight.0),
            limit: part.limit.map_or(f64::INFINITY, |limit| limit.0),
            classes: Vec::new(),
            striped,
            number: None,
        })
    }
}

/// The terminals of ranks on some hosts, `per_node` consecutive ones on each; ranks of a host with several adapters
/// use them in turn.
pub fn rank_terminals(
    hosts: &[u32],
    per_node: u32,
    terminals: impl Fn(u32) -> Vec<TerminalId>,
) -> Vec<TerminalId> {
    let mut all = Vec::with_capacity(hosts.len() * per_node as usize);
    for &host in hosts {
        let of = terminals(host);
        all.extend((0..per_node as usize).map(|i| of[i % of.len()]));
    }
    all
}

/// Hosts of a machine by their user-visible names.
struct HostsByName {
    /// The nodes that job lists speak of.
    names: BTreeMap<String, u32>,
    /// By terminal, its host, where it has one.
    host_of: Vec<Option<u32>>,
    groups: Groups,
    places: Places,
}

impl HostsByName {
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
    fn hosts(&self, list: &str) -> Result<Vec<u32>, Error> {
        let names = expand_with(list, &self.groups).map_err(Error::input)?;
        // Sets may overlap; in a list of names a second one is a mistake, or is meant to be another rank.
        if !list.contains('@')
            && let Ok(listed) = expand(list)
            && let Some(twice) = {
                let mut seen = BTreeSet::new();
                listed.iter().find(|name| !seen.insert(*name))
            }
        {
            return Err(Error::input(format!("{twice} is named twice"))
                .hint("several ranks of a host: per-node, with each host once"));
        }
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
                refuse_shared(list, [name.as_str()], &self.places)?;
                if !self.places.of(name).is_empty() {
                    return Err(Error::input(format!("{name} runs no jobs")).hint(
                        "`compute` and `storage` say which hosts do; what failed runs none",
                    ));
                }
                let known: Vec<&str> = self.names.keys().map(String::as_str).collect();
                return Err(Error::unknown("host of the fabric", name, &known));
            }
            hosts.extend(found.into_iter().filter(|&h| is_taken.insert(h)));
        }
        Ok(hosts)
    }
}

/// The program of ranks from files; of graphs, `copies` copies of these.
///
/// # Errors
/// If they cannot be read, do not make a schedule, or cannot be copied.
pub fn program(
    names: &[String],
    copies: Option<u32>,
    files: &dyn Files,
    library: Library,
    listener: &mut dyn Listener,
) -> Result<Program, Error> {
    let mut paths = Vec::new();
    for name in names {
        paths.extend(files.matching(name)?);
    }
    let (mut read, found) = schedules::open(&paths, &schedules::Options::default())?;
    let name = names.first().cloned().unwrap_or_default();
    listener.remarks(&name, &found);
    if let Some(copies) = copies.filter(|&copies| copies > 1) {
        let (large, remarks) = scaled_out(read, copies).map_err(|e| e.inside("scale-out"))?;
        listener.remarks(&name, &remarks);
        read = large;
    }
    let made = match read {
        Read::Schedule(schedule) => Ok(schedule),
        Read::Matrix(matrix) => matrix.schedule().map_err(|e| e.to_string()),
        Read::Trace(trace) => trace
            .schedule(&mut |script, call| collective(script, call, library))
            .map_err(|e| e.to_string()),
        Read::Graph(graph) => graph
            .schedule(&mut |script, call| collective(script, call, library))
            .map_err(|e| e.to_string()),
        Read::Report(_) => {
            return Err(Error::input(format!(
                "{name}: a report of mpiP says how much ranks send, but not to whom"
            ))
            .hint("give the graph of communication that goes with it"));
        }
    };
    made.map(Program::once).map_err(|e| Error::input(format!("{name}: {e}")))
}

/// The most ranks and nodes of copies together.
const MOST_COPIED: u64 = 1 << 25;

/// `copies` copies of a graph, and diagnostics about them.
fn scaled_out(read: Read, copies: u32) -> Result<(Read, Diagnostics), Error> {
    let Read::Graph(graph) = read else {
        return Err(Error::input("only graphs are copied, as traces of Chakra and torch are")
            .hint("leave out scale-out"));
    };
    let nodes = u64::from(copies) * (graph.nodes.len() as u64).max(graph.ranks.into());
    if nodes > MOST_COPIED {
        return Err(Error::input(format!(
            "{copies} copies have {nodes} operations: at most {MOST_COPIED} can be"
        )));
    }
    let (large, grew) = graph.scaled_out(copies).ok_or_else(|| {
        Error::input("no process group is of every k-th rank of all, for some k: copies would never meet")
            .hint("groups of the slowest dimension of the ranks grow: data parallelism, where ranks are numbered so")
    })?;
    let mut remarks = Diagnostics::default();
    remarks.note(
        0,
        format!("{grew} of {} process groups grow over {copies} copies", graph.groups.len()),
        "those of every k-th rank of all; the others stay within a copy",
    );
    Ok((Read::Graph(large), remarks))
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
        // Scans differ in what they add up, not in their messages.
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
