//! The activities of the streams of a GPU, and their dependencies.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use darkfiber_workload::trace::CollectiveKind;

use super::event::{Args, Event, Trace, integer, ranks, text};
use super::group::{self, Members};
use crate::schedules::values::MOST_BYTES;
use serde_json::Value;

/// A stream of a GPU, by its device and its number.
pub(super) type Stream = (i64, i64);

/// Something on a stream. Times are in nanoseconds from when the first one began.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) stream: Stream,
    pub(super) begin: u64,
    pub(super) end: u64,
    /// When the processor launched it, if the trace records it.
    launched: Option<i64>,
    /// The communication of the kernel, if any.
    pub(super) sent: Option<CommKernel>,
}

/// A collective or message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CommKernel {
    /// Bytes that the rank gives, the place of the root, the number of the process group in the trace, and the bytes for each member
    /// where they may differ.
    Collective { kind: CollectiveKind, bytes: u64, root: u32, group: usize, sizes: Vec<u64> },
    /// Bytes to another rank, or from it.
    Message { is_send: bool, peer: u32, bytes: u64 },
}

/// A process group of a trace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) members: Members,
}

/// An error in a trace, and what to do.
#[derive(Debug)]
pub(super) struct Fault(pub(super) String, pub(super) &'static str);

const OLD: &str = "newer versions of torch write it: record the trace again";
const DAMAGED: &str = "is the file damaged?";
const UNKNOWN: &str = "known are torch's usual types of elements, and collectives and messages one by one, not coalesced";

/// The dependencies of a kernel.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KernelDependencies {
    /// Kernels of other streams.
    pub(super) on: Vec<usize>,
    /// Idle time between the end of these and of the previous one on its stream and its start, in nanoseconds.
    pub(super) idle: u64,
    /// Time in which it used its stream alone: those of a stream do not overlap, whatever their times are.
    pub(super) took: u64,
}

/// The most nanoseconds that a trace lasts.
const LONGEST: f64 = 1e16;

/// What [`kernels`] finds in a trace.
pub(super) struct Found {
    /// Kernels, copies and fills in the order of their start.
    pub(super) kernels: Vec<Kernel>,
    /// Its process groups.
    pub(super) groups: Vec<Group>,
    /// Exchanges of unequal parts whose list is cut off, so that they are taken to be equal.
    pub(super) cut: usize,
}

/// Kernels, copies and fills of a trace, and its process groups. Exchanges that may have unequal parts say the bytes of each if
/// any of the traces `has_parts`.
///
/// # Errors
/// A description of what is missing in a collective.
pub(super) fn kernels(trace: &Trace, world: u32, has_parts: bool) -> Result<Found, Fault> {
    let on_gpu = || trace.events.iter().filter(|e| e.is_on_gpu());
    let first = on_gpu().filter_map(Event::times).map(|t| t.0).fold(f64::INFINITY, f64::min);
    let launches = trace.launches();
    let mut groups =
        Groups { trace, world, all: Vec::new(), known: HashMap::new(), has_parts, cut: 0 };
    let mut kernels = Vec::new();
    for event in on_gpu() {
        let Some((ts, dur)) = event.times() else {
            return Err(Fault(format!("`{}` has no time", event.name()), DAMAGED));
        };
        let begin = ((ts - first) * 1000.0).round();
        let long = (dur * 1000.0).round();
        if !(long >= 0.0 && begin + long < LONGEST) {
            let what = format!("`{}` begins at {ts} us and takes {dur} us", event.name());
            return Err(Fault(what, DAMAGED));
        }
        #[expect(clippy::cast_sign_loss, reason = "nothing begins before the first one")]
        let [begin, long] = [begin, long].map(|ns| ns as u64);
        let number = |of: fn(&Args) -> Option<&Value>| event.args().and_then(|a| integer(of(a)));
        let stream = (
            number(|a| a.device.as_ref()).unwrap_or(0),
            number(|a| a.stream.as_ref()).unwrap_or(-1),
        );
        let call = number(|a| a.correlation.as_ref()).and_then(|c| launches.get(&c));
        let launched = call.map(|us| ((us - first) * 1000.0).round() as i64);
        let sent = groups.sent(event)?;
        kernels.push(Kernel { stream, begin, end: begin + long, launched, sent });
    }
    kernels.sort_by_key(|k| (k.begin, k.end));
    Ok(Found { kernels, groups: groups.all, cut: groups.cut })
}

/// Process groups of a trace, as they come up.
struct Groups<'a> {
    trace: &'a Trace,
    world: u32,
    all: Vec<Group>,
    /// Numbers by the data in kernels: name, ranks and size.
    known: HashMap<String, usize>,
    /// Whether exchanges that may have unequal parts say the bytes of each.
    has_parts: bool,
    /// Those whose list was cut off.
    cut: usize,
}

impl Groups<'_> {
    /// The communication of an event over the network or between GPUs, if it is a kernel of NCCL.
    fn sent(&mut self, event: &Event) -> Result<Option<CommKernel>, Fault> {
        if !event.name().starts_with("nccl") {
            return Ok(None);
        }
        let fault = |what: &str, hint| Fault(format!("`{}` {what}", event.name()), hint);
        let named = event.args().and_then(|a| Some((a, text(a.collective.as_ref())?)));
        let Some((args, name)) = named else {
            return Err(fault("does not say which collective it is, of how many bytes", OLD));
        };
        let size = |count: Option<&Value>| -> Result<u64, Fault> {
            let Some(dtype) = text(args.dtype.as_ref()) else {
                return Err(fault("does not say the type of its elements", OLD));
            };
            let Some(width) = width(&dtype) else {
                return Err(fault(&format!("has elements of the unknown type {dtype}"), UNKNOWN));
            };
            let Some(count) = count else {
                return Err(fault("does not say how many elements", OLD));
            };
            let whole = integer(Some(count)).and_then(|n| u64::try_from(n).ok());
            let bytes = whole.and_then(|n| n.checked_mul(width)).filter(|b| *b <= MOST_BYTES);
            bytes.ok_or_else(|| {
                fault(&format!("has {count} elements, no size below a TiB"), DAMAGED)
            })
        };
        let given = || size(args.given.as_ref());
        if let Some((_, is_send)) = [("send", true), ("recv", false)].iter().find(|m| m.0 == name) {
            let side = if *is_send { &args.destination } else { &args.source };
            let Some(peer) = integer(side.as_ref()) else {
                return Err(fault("does not say which rank is at its other end", OLD));
            };
            let Some(peer) = u32::try_from(peer).ok().filter(|&peer| peer < self.world) else {
                let what = format!("is to or from rank {peer} of a world of {}", self.world);
                return Err(fault(&what, DAMAGED));
            };
            return Ok(Some(CommKernel::Message { is_send: *is_send, peer, bytes: given()? }));
        }
        let Some(kind) = kind(&name) else {
            return Err(fault(&format!("is the unknown collective `{name}`"), UNKNOWN));
        };
        let group = self.number(event, args)?;
        let n = self.all[group].members.len() as u64;
        let bytes = match kind {
            CollectiveKind::Barrier => 0,
            // Only the root gives anything.
            CollectiveKind::Scatter if args.taken.is_some() => size(args.taken.as_ref())?,
            CollectiveKind::Alltoall | CollectiveKind::ReduceScatter | CollectiveKind::Scatter => {
                given()?.div_ceil(n)
            }
            _ => given()?,
        };
        let sizes = if name == "all_to_allv" && self.has_parts {
            let stated = ranks(args.parts.as_ref()).filter(|(parts, _)| !parts.is_empty());
            self.cut += usize::from(stated.as_ref().is_some_and(|(_, is_cut)| *is_cut));
            match stated.filter(|(_, is_cut)| !is_cut) {
                Some((parts, _)) if parts.len() as u64 != n => {
                    let what = format!("has {} parts for {n} members", parts.len());
                    return Err(fault(&what, DAMAGED));
                }
                Some((parts, _)) => {
                    let part = |&n: &u32| size(Some(&Value::from(n)));
                    parts.iter().map(part).collect::<Result<_, _>>()?
                }
                None => vec![bytes; n as usize],
            }
        } else {
            Vec::new()
        };
        // Torch writes a root as its place.
        let root = integer(args.root.as_ref()).and_then(|r| u32::try_from(r).ok());
        let root = root.filter(|&r| kind.rooted() && u64::from(r) < n).unwrap_or(0);
        Ok(Some(CommKernel::Collective { kind, bytes, root, group, sizes }))
    }

    /// The number of the process group of a kernel.
    fn number(&mut self, event: &Event, args: &Args) -> Result<usize, Fault> {
        let name = text(args.group.as_ref()).unwrap_or_default();
        let said = format!("{name} {:?} {:?}", args.members, args.group_size);
        if let Some(&number) = self.known.get(&said) {
            return Ok(number);
        }
        let members = group::members(self.trace, args, self.world)
            .map_err(|why| Fault(format!("`{}`: {why}", event.name()), OLD))?;
        let found = Group { name, members };
        let number = self.all.iter().position(|g| *g == found).unwrap_or_else(|| {
            self.all.push(found);
            self.all.len() - 1
        });
        self.known.insert(said, number);
        Ok(number)
    }
}

/// Collectives by the names that torch has for them.
fn kind(name: &str) -> Option<CollectiveKind> {
    use CollectiveKind as K;
    let plain: String = name.chars().filter(|c| *c != '_').collect();
    let known = [
        ("allreduce", K::Allreduce),
        ("reducescatter", K::ReduceScatter),
        ("allgather", K::Allgather),
        ("alltoall", K::Alltoall),
        ("broadcast", K::Broadcast),
        ("barrier", K::Barrier),
        ("reduce", K::Reduce),
        ("gather", K::Gather),
        ("scatter", K::Scatter),
    ];
    known.iter().find(|k| plain.starts_with(k.0)).map(|k| k.1)
}

/// Bytes of an element, by torch's name of its type.
fn width(dtype: &str) -> Option<u64> {
    Some(match dtype.to_ascii_lowercase().as_str() {
        "double" | "long" | "int64" | "float64" | "uint64" | "complexfloat" => 8,
        "float" | "int" | "int32" | "float32" | "uint32" => 4,
        "half" | "bfloat16" | "short" | "int16" | "float16" | "uint16" => 2,
        "byte" | "char" | "bool" | "int8" | "uint8" => 1,
        word if word.starts_with("float8") => 1,
        _ => return None,
    })
}

/// A kernel that was launched and only waited starts within this time after its dependency, in nanoseconds.
const AT_ONCE: u64 = 10_000;

/// The dependencies of each of these. Communication waits for the computations of other streams that were launched before it; any
/// kernel waits for a collective of another stream if it was launched before that ended, and started immediately afterwards.
///
/// Traces do not record why a kernel waited. Where they do not record its launch, communication is assumed to wait for the last computation
/// of every other stream that ended since its own was free. The dependencies found let every kernel start when it did, if messages take as
/// long as they did.
pub(super) fn waits(kernels: &[Kernel]) -> Vec<KernelDependencies> {
    // By stream, its kernels so far, in order.
    let mut computed: BTreeMap<Stream, Vec<usize>> = BTreeMap::new();
    let mut received = computed.clone();
    let mut free: BTreeMap<Stream, u64> = BTreeMap::new();
    let mut all = Vec::with_capacity(kernels.len());
    for (i, kernel) in kernels.iter().enumerate() {
        let since = free.get(&kernel.stream).copied();
        let is_new = |k: usize| since.is_none_or(|since| kernels[k].end > since);
        let mut on = Vec::new();
        if kernel.sent.is_some() {
            let was_asked_before = |k: usize| match (kernels[k].launched, kernel.launched) {
                (Some(other), Some(own)) => other < own,
                _ => true,
            };
            let others = computed.iter().filter(|(stream, _)| **stream != kernel.stream);
            on.extend(others.filter_map(|(_, of)| {
                let mut before = of.iter().rev().copied();
                let last =
                    before.find(|&k| kernels[k].end <= kernel.begin && was_asked_before(k))?;
                is_new(last).then_some(last)
            }));
        }
        let others = received.iter().filter(|(stream, _)| **stream != kernel.stream);
        on.extend(others.filter_map(|(_, of)| {
            let last = of.iter().rev().copied().find(|&k| kernels[k].end <= kernel.begin)?;
            let end = kernels[last].end;
            let stood_by = kernel.launched.is_none_or(|asked| asked < end.cast_signed());
            let at_once = kernel.begin - end.max(since.unwrap_or(0)).min(kernel.begin) <= AT_ONCE;
            (is_new(last) && stood_by && at_once).then_some(last)
        }));
        let could = on.iter().map(|&k| kernels[k].end).chain(since).max().unwrap_or(0);
        let took = kernel.end.saturating_sub(kernel.begin.max(since.unwrap_or(0)));
        all.push(KernelDependencies { on, idle: kernel.begin.saturating_sub(could), took });
        free.insert(kernel.stream, kernel.end.max(since.unwrap_or(0)));
        let of = if kernel.sent.is_some() { &mut received } else { &mut computed };
        of.entry(kernel.stream).or_default().push(i);
    }
    all
}

/// The kernels that others waited for.
pub(super) fn waited_for(waits: &[KernelDependencies]) -> BTreeSet<usize> {
    waits.iter().flat_map(|w| w.on.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(stream: i64, times: [u64; 2], sends: bool, launched: Option<i64>) -> Kernel {
        let sent = sends.then_some(CommKernel::Message { is_send: true, peer: 1, bytes: 1 });
        let [begin, end] = times.map(|us| 1000 * us);
        let launched = launched.map(|us| 1000 * us);
        Kernel { stream: (0, stream), begin, end, launched, sent }
    }

    /// Two computations, a collective that waits for the first, and a third one that waited for the collective; a fourth was launched
    /// when that was over, and started at random in its time.
    #[test]
    fn streams_wait_for_each_other() {
        let all = |launches: [Option<i64>; 6]| {
            let [a, b, c, d, e, f] = launches;
            [
                kernel(7, [0, 100], false, a),
                kernel(7, [100, 180], false, b),
                kernel(9, [103, 300], true, c),
                kernel(7, [305, 400], false, d),
                kernel(9, [410, 420], true, e),
                kernel(7, [424, 500], false, f),
            ]
        };
        let of = |launches: [Option<i64>; 6]| {
            let found = waits(&all(launches));
            found.into_iter().map(|w| (w.on, w.idle / 1000)).collect::<Vec<_>>()
        };
        let asked = [Some(-5), Some(-4), Some(-4), Some(10), Some(401), Some(422)];
        let expected =
            [(vec![], 0), (vec![], 0), (vec![0], 3), (vec![2], 5), (vec![3], 10), (vec![], 24)];
        assert_eq!(of(asked), expected);
        // Launches are not known: a kernel that starts immediately is assumed to have waited.
        let guessed = of([None; 6]);
        assert_eq!(guessed[..5], expected[..5]);
        assert_eq!(guessed[5], (vec![4], 4));
        assert_eq!(waited_for(&waits(&all(asked))).into_iter().collect::<Vec<_>>(), [0, 2, 3]);
    }

    #[test]
    fn collectives_have_many_names() {
        use CollectiveKind as K;
        for (name, expected) in [
            ("allreduce", K::Allreduce),
            ("_allgather_base", K::Allgather),
            ("all_gather_into_tensor_coalesced", K::Allgather),
            ("_reduce_scatter_base", K::ReduceScatter),
            ("reduce_scatter_tensor_coalesced", K::ReduceScatter),
            ("all_to_allv", K::Alltoall),
            ("_reduce_oop", K::Reduce),
            ("_broadcast_oop", K::Broadcast),
        ] {
            assert_eq!(kind(name), Some(expected), "{name}");
        }
        assert_eq!(kind("coalesced"), None);
        assert_eq!(
            ["BFloat16", "Float8_e4m3fn", "Long", "Blob"].map(width),
            [Some(2), Some(1), Some(8), None]
        );
    }
}
