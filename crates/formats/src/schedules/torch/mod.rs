//! Traces of `torch.profiler` (Kineto): what the streams of each rank's GPU did, and when.
//!
//! A file is what `export_chrome_trace` writes, of one rank: an object of JSON with `traceEvents` (times in microseconds) and
//! `distributedInfo`. Read are kernels, copies and fills of the GPU, and of kernels of NCCL the arguments `Collective name`,
//! `In msg nelems`, `dtype`, `Group size`, `Process Group Name`, `Process Group Ranks`, `Src Rank` and `Dst Rank`, which newer versions
//! of torch write.
//!
//! Kernels of a stream follow each other and take the time that they took; messages take what the network makes of them. Traces do not
//! say what waited for what across streams: what sends is taken to wait for the last kernel of every other stream that ended since its
//! own was free, and what computes for the last collective that did. Idle times are kept: with a network as quick as that of the trace,
//! all begins when it did. One file of several ranks stands for all of them, which then do the same, each in the groups that are its.

mod event;
mod group;
mod kernel;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use darkfiber_workload::schedule::{MAX_STREAMS, Op};
use darkfiber_workload::trace::{Collective, OpGraph, OpNode, OpWhat};

use self::event::Trace;
use self::kernel::{Kernel, Sent};
use super::run::{File, Read, ReadBy, ScheduleFormat};
use super::values::MOST_RANKS;
use crate::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "torch",
    what: "a trace of torch",
    is_such: |h| h.is_text && is_such(h.bytes),
    read: ReadBy::Ranks(|files, _| read(files)),
};

/// Of one file for all ranks, the most nodes of all together.
const MOST: usize = 1 << 26;

/// Whether a file begins like a trace of the profiler, or like what `ExecutionTraceObserver` writes.
fn is_such(bytes: &[u8]) -> bool {
    let begin = &bytes[..bytes.len().min(64 << 10)];
    let has = |word: &str| begin.windows(word.len()).any(|w| w == word.as_bytes());
    begin.trim_ascii_start().starts_with(b"{")
        && (["\"traceEvents\"", "\"deviceProperties\"", "\"distributedInfo\""]
            .iter()
            .any(|w| has(w))
            || is_observed(begin))
}

/// Whether a file is of `ExecutionTraceObserver`: it knows no times.
fn is_observed(begin: &[u8]) -> bool {
    let begin = &begin[..begin.len().min(200)];
    let text = String::from_utf8_lossy(begin);
    text.contains("\"schema\"") && text.contains("-chakra.")
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
/// If one is cut off, ranks are missing or twice there, or a kernel of NCCL does not say what it sent.
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
    let mut graph = Graph::new(world);
    for (rank, file, trace) in &traces {
        let about =
            |why| fail(file, why, "newer versions of torch write it: record the trace again");
        let kernels = kernel::kernels(trace, world).map_err(about)?;
        if kernels.is_empty() {
            return Err(fail(file, "nothing ran on a GPU", "profile with ProfilerActivity.CUDA"));
        }
        if stands_for_all && kernels.len().saturating_mul(world as usize) > MOST {
            let what = format!("{} kernels for each of {world} ranks are too many", kernels.len());
            return Err(fail(file, what, "profile fewer steps"));
        }
        let ranks = if stands_for_all { 0..world } else { *rank..*rank + 1 };
        for rank in ranks {
            let group = |members: &[u32]| {
                if stands_for_all {
                    group::carried(members, rank, world)
                } else {
                    Some(members.to_vec())
                }
            };
            graph
                .add(rank, &kernels, stands_for_all, &group)
                .map_err(|why| fail(file, why, "give the traces of all ranks"))?;
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

/// A graph that grows rank by rank.
struct Graph {
    graph: OpGraph,
    /// Numbers of groups, by name and members.
    groups: HashMap<(String, Vec<u32>), u32>,
}

/// Computations of a stream that nothing waits for one by one.
struct Open {
    before: Vec<u32>,
    nanoseconds: u64,
}

impl Graph {
    fn new(ranks: u32) -> Self {
        Self { graph: OpGraph { ranks, ..OpGraph::default() }, groups: HashMap::new() }
    }

    fn push(&mut self, rank: u32, what: OpWhat, before: Vec<u32>, stream: u8) -> u32 {
        self.graph.nodes.push(OpNode { rank, what, before, stream });
        self.graph.nodes.len() as u32 - 1
    }

    /// Adds what a rank did; `carried` are the members of its group where those of the trace are these.
    ///
    /// # Errors
    /// If one rank cannot stand for all.
    fn add(
        &mut self,
        rank: u32,
        kernels: &[Kernel],
        stands_for_all: bool,
        carried: &dyn Fn(&[u32]) -> Option<Vec<u32>>,
    ) -> Result<(), String> {
        let waits = kernel::waits(kernels);
        let targets = kernel::waited_for(&waits);
        let names: BTreeSet<i64> = kernels.iter().map(|k| k.stream).collect();
        let streams: BTreeMap<i64, u8> =
            names.into_iter().zip((0..MAX_STREAMS - 1).cycle()).collect();
        // The node of each kernel that others wait for, and the last of each stream; and what is not a node yet.
        let mut nodes: HashMap<usize, u32> = HashMap::new();
        let mut last: BTreeMap<i64, u32> = BTreeMap::new();
        let mut open: BTreeMap<i64, Open> = BTreeMap::new();
        for (i, (kernel, waited)) in kernels.iter().zip(&waits).enumerate() {
            let name = kernel.stream;
            let stream = streams[&name];
            let compute =
                |ns: u64| OpWhat::Alone(Op::Compute { picoseconds: ns.saturating_mul(1000) });
            let waits_for: Vec<u32> =
                waited.on.iter().filter_map(|k| nodes.get(k).copied()).collect();
            let ends_here = !waits_for.is_empty() || kernel.sent.is_some();
            if ends_here && let Some(Open { before, nanoseconds }) = open.remove(&name) {
                let node = self.push(rank, compute(nanoseconds), before, stream);
                last.insert(name, node);
            }
            let mut before = waits_for;
            before.extend(last.get(&name));
            match &kernel.sent {
                None => {
                    let took = waited.idle + (kernel.end - kernel.begin);
                    let now = open.entry(name).or_insert(Open { before, nanoseconds: 0 });
                    now.nanoseconds += took;
                }
                Some(sent) => {
                    if waited.idle > 0 {
                        before = vec![self.push(rank, compute(waited.idle), before, stream)];
                    }
                    let what = self.what(sent, stands_for_all, carried)?;
                    let node = self.push(rank, what, before, stream);
                    last.insert(name, node);
                    nodes.insert(i, node);
                }
            }
            if targets.contains(&i)
                && let Some(Open { before, nanoseconds }) = open.remove(&name)
            {
                let node = self.push(rank, compute(nanoseconds), before, stream);
                last.insert(name, node);
                nodes.insert(i, node);
            }
        }
        for (name, Open { before, nanoseconds }) in open {
            let what = OpWhat::Alone(Op::Compute { picoseconds: nanoseconds.saturating_mul(1000) });
            self.push(rank, what, before, streams[&name]);
        }
        Ok(())
    }

    fn what(
        &mut self,
        sent: &Sent,
        stands_for_all: bool,
        carried: &dyn Fn(&[u32]) -> Option<Vec<u32>>,
    ) -> Result<OpWhat, String> {
        Ok(match sent {
            Sent::Message { peer, .. } if stands_for_all => {
                return Err(format!(
                    "messages to and from single ranks, such as {peer}, are not the same for all"
                ));
            }
            Sent::Message { is_send: true, peer, bytes } => {
                OpWhat::Alone(Op::Send { to: *peer, bytes: *bytes, tag: 0 })
            }
            Sent::Message { is_send: false, peer, bytes } => {
                OpWhat::Alone(Op::Recv { from: *peer, bytes: *bytes, tag: 0 })
            }
            Sent::Collective { kind, bytes, root, group, members } => {
                let members = carried(members).ok_or_else(|| {
                    format!(
                        "process group `{group}` of {} ranks is no row of a grid of all",
                        members.len()
                    )
                })?;
                let next = self.graph.groups.len() as u32;
                let key = (group.clone(), members);
                let number = *self.groups.entry(key.clone()).or_insert(next);
                if number == next {
                    self.graph.groups.push(key.1);
                }
                OpWhat::Collective(Collective {
                    kind: *kind,
                    communicator: number,
                    root: *root,
                    bytes: *bytes,
                    sizes: Vec::new(),
                })
            }
        })
    }
}
