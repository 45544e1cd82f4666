//! Traces of `torch.profiler` (Kineto): activities of the streams of each rank's GPU, with times.
//!
//! A file is the output of `export_chrome_trace`, of one rank: an object of JSON with `traceEvents` (times in microseconds) and
//! `distributedInfo`. Kernels, copies and fills of the GPU are read, and of kernels of NCCL the arguments `Collective name`, `In msg
//! nelems`, `dtype`, `Group size`, `Process Group Name`, `Process Group Ranks`, `Src Rank` and `Dst Rank`, which newer versions of
//! torch write.
//!
//! Kernels of a stream follow each other and keep their durations; the durations of messages come from the network. Dependencies across
//! streams are derived from the launch time of each kernel (`correlation`). Idle times are kept: with a network as fast as that of the
//! trace, everything starts when it did. One file of several ranks stands for all of them, which then do the same, each in its own groups.

mod event;
mod group;
mod kernel;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use darkfiber_workload::schedule::{MAX_STREAMS, Op};
use darkfiber_workload::trace::{Collective, OpGraph, OpNode, OpWhat};

use self::event::Trace;
use self::group::Row;
use self::kernel::{CommKernel, Fault, Found, Group, Kernel, KernelDependencies, Stream};
use super::run::{File, Read, ReadBy, ScheduleFormat};
use super::values::MOST_RANKS;
use darkfiber_formats::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "torch",
    what: "a trace of torch",
    is_such: |h| h.is_text && is_such(h.bytes),
    read: ReadBy::Ranks(|files, _| read(files)),
};

/// Of one file for all ranks, the most nodes of all together.
const MOST: usize = 1 << 24;

/// Whether a file begins like a trace of the profiler, or like output of `ExecutionTraceObserver`.
fn is_such(bytes: &[u8]) -> bool {
    let begin = &bytes[..bytes.len().min(64 << 10)];
    let has = |word: &str| begin.windows(word.len()).any(|w| w == word.as_bytes());
    begin.trim_ascii_start().starts_with(b"{")
        && (["\"traceEvents\"", "\"deviceProperties\"", "\"distributedInfo\""]
            .iter()
            .any(|w| has(w))
            || is_observed(begin))
}

/// Whether a file is of `ExecutionTraceObserver`: it has no times.
fn is_observed(begin: &[u8]) -> bool {
    let begin = &begin[..begin.len().min(200)];
    let text = String::from_utf8_lossy(begin);
    text.contains("\"schema\"") && (text.contains("-chakra.") || text.contains("\"start_ts\""))
}

fn fail(file: &File, what: impl std::fmt::Display, hint: &str) -> ReadError {
    ReadError::not_such(
        &file.path,
        what.to_string(),
        "traces of torch.profiler, of one rank or all",
        hint,
    )
}

/// Reads the traces of all ranks, or one that stands for all.
///
/// # Errors
/// If one is truncated, ranks are missing or duplicate, or a kernel of NCCL has no size.
pub fn read(files: &[File]) -> Result<(Read, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut traces = Vec::new();
    for (place, file) in (0..).zip(files) {
        if is_observed(&file.bytes) {
            return Err(fail(
                file,
                "this is of ExecutionTraceObserver, which writes no times",
                "give what torch.profiler's export_chrome_trace writes, or what chakra_converter makes of both",
            ));
        }
        let trace: Trace = serde_json::from_slice(&file.bytes)
            .map_err(|e| fail(file, e, "is the file cut off?"))?;
        let rank = trace.distributed.as_ref().and_then(|d| d.rank).unwrap_or(place);
        traces.push((rank, file, trace));
    }
    traces.sort_by_key(|t| t.0);
    let stated = traces.iter().filter_map(|t| t.2.distributed.as_ref()?.world_size).max();
    let count = traces.len() as u32;
    let world = stated.unwrap_or(count);
    let stands_for_all = count == 1 && world > 1;
    if world > MOST_RANKS {
        let file = traces[0].1;
        return Err(fail(file, format!("{world} ranks are too many"), "is the file damaged?"));
    }
    if !stands_for_all {
        for (expected, (rank, file, _)) in (0..world.max(count)).zip(&traces) {
            if *rank != expected || count != world {
                return Err(fail(
                    file,
                    format!("{count} traces of {world} ranks, this one of rank {rank}"),
                    "give the trace of each rank once, or one that stands for all",
                ));
            }
        }
    }
    let mut graph = Growing::new(world);
    let has_parts = traces.iter().any(|(.., trace)| trace.has_parts());
    for (rank, file, trace) in &traces {
        let Found { kernels, groups, cut } = kernel::kernels(trace, world, has_parts)
            .map_err(|Fault(what, hint)| fail(file, what, hint))?;
        if cut > 0 {
            let exchanges = if cut == 1 { "exchange" } else { "exchanges" };
            d.note(
                0,
                format!(
                    "{}: {exchanges} of unequal parts, whose list is cut off",
                    file.path.display()
                ),
                "the parts are taken to be equal",
            );
        }
        if kernels.is_empty() {
            return Err(fail(file, "nothing ran on a GPU", "profile with ProfilerActivity.CUDA"));
        }
        if stands_for_all && kernels.len().saturating_mul(world as usize) > MOST {
            let what = format!("{} kernels for each of {world} ranks are too many", kernels.len());
            return Err(fail(file, what, "profile fewer steps"));
        }
        let plan = RankPlan::of(kernels, &groups, stands_for_all.then_some(world))
            .map_err(|why| fail(file, why, "give the traces of all ranks"))?;
        if plan.streams.len() > usize::from(MAX_STREAMS - 1) {
            d.note(
                0,
                format!("{}: {} streams", file.path.display(), plan.streams.len()),
                "some share a processor, and wait for each other",
            );
        }
        let ranks = if stands_for_all { 0..world } else { *rank..*rank + 1 };
        for rank in ranks {
            graph.add(rank, &plan, &groups);
        }
        if stands_for_all {
            d.note(
                0,
                format!("one trace of {world} ranks"),
                "all are taken to do what this one did",
            );
        }
    }
    Ok((Read::Graph(graph.graph), d))
}

/// The operations of a rank, derived once for all ranks that share them.
struct RankPlan {
    kernels: Vec<Kernel>,
    waits: Vec<KernelDependencies>,
    /// Kernels that others wait for.
    targets: BTreeSet<usize>,
    /// Numbers of streams for a schedule.
    streams: BTreeMap<Stream, u8>,
    /// Of one trace for all ranks, by process group the row that it is.
    rows: Option<Vec<Row>>,
}

impl RankPlan {
    /// The plan of a trace, which stands for all ranks of a world of this size, if that is given.
    ///
    /// # Errors
    /// If it cannot stand for all.
    fn of(kernels: Vec<Kernel>, groups: &[Group], world: Option<u32>) -> Result<Self, String> {
        let rows = world.map(|world| {
            let message = kernels.iter().find_map(|k| match k.sent {
                Some(CommKernel::Message { peer, .. }) => Some(peer),
                _ => None,
            });
            if let Some(peer) = message {
                return Err(format!(
                    "messages to and from single ranks, such as {peer}, are not the same for all"
                ));
            }
            let row = |group: &Group| {
                Row::of(&group.members, world).ok_or_else(|| {
                    let (name, count) = (&group.name, group.members.len());
                    format!("process group `{name}` of {count} ranks is no row of a grid of all")
                })
            };
            groups.iter().map(row).collect::<Result<Vec<_>, _>>()
        });
        let waits = kernel::waits(&kernels);
        let targets = kernel::waited_for(&waits);
        let names: BTreeSet<Stream> = kernels.iter().map(|k| k.stream).collect();
        let streams = names.into_iter().zip((0..MAX_STREAMS - 1).cycle()).collect();
        Ok(Self { kernels, waits, targets, streams, rows: rows.transpose()? })
    }
}

/// A graph that grows rank by rank.
struct Growing {
    graph: OpGraph,
    /// Numbers of groups: of traces of each rank by name and members, of one for all by number there and first member.
    by_members: HashMap<(String, Vec<u32>), u32>,
    by_row: HashMap<(usize, u32), u32>,
}

/// Consecutive computations of a stream on which nothing depends individually.
struct Open {
    before: Vec<u32>,
    nanoseconds: u64,
}

/// A computation of this number of nanoseconds.
fn compute(ns: u64) -> OpWhat {
    OpWhat::Alone(Op::Compute { picoseconds: ns.saturating_mul(1000) })
}

impl Growing {
    fn new(ranks: u32) -> Self {
        let graph = OpGraph { ranks, ..OpGraph::default() };
        Self { graph, by_members: HashMap::new(), by_row: HashMap::new() }
    }

    fn push(&mut self, rank: u32, what: OpWhat, before: Vec<u32>, stream: u8) -> u32 {
        self.graph.nodes.push(OpNode { rank, what, before, stream });
        self.graph.nodes.len() as u32 - 1
    }

    /// Adds the operations of a rank.
    fn add(&mut self, rank: u32, plan: &RankPlan, groups: &[Group]) {
        let numbers: Vec<u32> =
            (0..groups.len()).map(|g| self.number(rank, plan, groups, g)).collect();
        // The node of each kernel with dependents, and the last of each stream; and kernels that are not a node yet.
        let mut nodes: HashMap<usize, u32> = HashMap::new();
        let mut last: BTreeMap<Stream, u32> = BTreeMap::new();
        let mut open: BTreeMap<Stream, Open> = BTreeMap::new();
        for (i, (kernel, waited)) in plan.kernels.iter().zip(&plan.waits).enumerate() {
            let name = kernel.stream;
            let stream = plan.streams[&name];
            let mut before: Vec<u32> =
                waited.on.iter().filter_map(|k| nodes.get(k).copied()).collect();
            let ends_here = !before.is_empty() || kernel.sent.is_some();
            if ends_here && let Some(Open { before, nanoseconds }) = open.remove(&name) {
                let node = self.push(rank, compute(nanoseconds), before, stream);
                last.insert(name, node);
            }
            before.extend(last.get(&name));
            if let Some(sent) = kernel.sent.clone() {
                if waited.idle > 0 {
                    before = vec![self.push(rank, compute(waited.idle), before, stream)];
                }
                let node = self.push(rank, what(sent, &numbers), before, stream);
                last.insert(name, node);
                nodes.insert(i, node);
                continue;
            }
            let now = open.entry(name).or_insert(Open { before, nanoseconds: 0 });
            now.nanoseconds += waited.idle + waited.took;
            if plan.targets.contains(&i)
                && let Some(Open { before, nanoseconds }) = open.remove(&name)
            {
                let node = self.push(rank, compute(nanoseconds), before, stream);
                last.insert(name, node);
                nodes.insert(i, node);
            }
        }
        for (name, Open { before, nanoseconds }) in open {
            self.push(rank, compute(nanoseconds), before, plan.streams[&name]);
        }
    }

    /// The number of a process group of a rank, a new one if need be.
    fn number(&mut self, rank: u32, plan: &RankPlan, groups: &[Group], group: usize) -> u32 {
        let next = self.graph.groups.len() as u32;
        let of = &groups[group];
        let (number, members) = if let Some(rows) = &plan.rows {
            let row = rows[group];
            let number = *self.by_row.entry((group, row.first(rank))).or_insert(next);
            (number, (number == next).then(|| row.members(rank).collect()))
        } else {
            let key = (of.name.clone(), of.members.clone());
            let number = *self.by_members.entry(key).or_insert(next);
            (number, (number == next).then(|| of.members.clone()))
        };
        self.graph.groups.extend(members);
        number
    }
}

/// The communication, with the numbers of process groups.
fn what(sent: CommKernel, numbers: &[u32]) -> OpWhat {
    match sent {
        CommKernel::Message { is_send: true, peer, bytes } => {
            OpWhat::Alone(Op::Send { to: peer, bytes, tag: 0 })
        }
        CommKernel::Message { is_send: false, peer, bytes } => {
            OpWhat::Alone(Op::Recv { from: peer, bytes, tag: 0 })
        }
        CommKernel::Collective { kind, bytes, root, group, sizes } => {
            let communicator = numbers[group];
            OpWhat::Collective(Collective { kind, communicator, root, bytes, sizes })
        }
    }
}
