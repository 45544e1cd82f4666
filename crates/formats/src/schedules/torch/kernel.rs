//! What kept the streams of a GPU busy, and what waited for what.

use std::collections::{BTreeMap, BTreeSet};

use darkfiber_workload::trace::CollectiveKind;

use super::event::{Args, Event, Trace, integer, text};
use super::group::{self, Members};

/// Something on a stream.
#[derive(Debug)]
pub(super) struct Kernel {
    pub(super) stream: i64,
    /// From the first one of the trace on, in nanoseconds.
    pub(super) begin: u64,
    pub(super) end: u64,
    /// What it sent, if it did.
    pub(super) sent: Option<Sent>,
}

/// A collective or message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sent {
    /// Bytes that the rank gives, and the process group.
    Collective { kind: CollectiveKind, bytes: u64, root: u32, group: String, members: Members },
    /// Bytes to another rank, or from it.
    Message { is_send: bool, peer: u32, bytes: u64 },
}

/// What a kernel waited for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Waited {
    /// Kernels of other streams.
    pub(super) on: Vec<usize>,
    /// How long after these and the one before it on its stream it began, in nanoseconds.
    pub(super) idle: u64,
}

/// The most bytes that a rank gives.
const MOST_BYTES: u64 = 1 << 40;

/// Kernels, copies and fills of a trace in the order in which they began.
///
/// # Errors
/// What is missing of a collective.
pub(super) fn kernels(trace: &Trace, world: u32) -> Result<Vec<Kernel>, String> {
    let on_gpu = trace.events.iter().filter(|e| e.is_on_gpu());
    let mut all = Vec::new();
    for event in on_gpu {
        let (Some(ts), Some(dur)) = (event.ts, event.dur) else { continue };
        if !(ts.is_finite() && dur.is_finite() && dur >= 0.0) {
            return Err(format!("`{}` begins at {ts} us and takes {dur} us", event.name));
        }
        let args = event.args.as_ref();
        let stream = args.and_then(|a| integer(a.stream.as_ref())).unwrap_or(-1);
        all.push((ts, dur, Kernel { stream, begin: 0, end: 0, sent: sent(trace, event, world)? }));
    }
    let first = all.iter().map(|k| k.0).fold(f64::INFINITY, f64::min);
    #[expect(clippy::cast_sign_loss, reason = "nothing begins before the first one")]
    let ns = |us: f64| (us * 1000.0).round() as u64;
    for (ts, dur, kernel) in &mut all {
        kernel.begin = ns(*ts - first);
        kernel.end = kernel.begin + ns(*dur);
    }
    let mut kernels: Vec<Kernel> = all.into_iter().map(|k| k.2).collect();
    kernels.sort_by_key(|k| (k.begin, k.end));
    Ok(kernels)
}

/// What an event sent over the network or between GPUs, if it is a kernel of NCCL.
fn sent(trace: &Trace, event: &Event, world: u32) -> Result<Option<Sent>, String> {
    if !event.name.starts_with("nccl") {
        return Ok(None);
    }
    let of = |what: &str| format!("`{}` {what}", event.name);
    let Some((args, name)) =
        event.args.as_ref().and_then(|a| Some((a, text(a.collective.as_ref())?)))
    else {
        return Err(of("does not say which collective it is, of how many bytes"));
    };
    let given = integer(args.given.as_ref()).and_then(|n| u64::try_from(n).ok());
    let width = text(args.dtype.as_ref()).and_then(|word| width(&word));
    let bytes = given.zip(width).and_then(|(n, width)| n.checked_mul(width));
    let size =
        || bytes.filter(|&bytes| bytes <= MOST_BYTES).ok_or_else(|| of("has no size below a TiB"));
    if let Some(is_send) = [("send", true), ("recv", false)].iter().find(|m| m.0 == name) {
        let side = if is_send.1 { &args.destination } else { &args.source };
        let peer = integer(side.as_ref()).and_then(|n| u32::try_from(n).ok());
        let peer = peer.filter(|&peer| peer < world);
        let peer = peer.ok_or_else(|| of("does not say which rank is at its other end"))?;
        return Ok(Some(Sent::Message { is_send: is_send.1, peer, bytes: size()? }));
    }
    let kind = kind(&name).ok_or_else(|| of(&format!("is the unknown collective `{name}`")))?;
    let members = group::members(trace, args, world).map_err(|why| of(&format!("- {why}")))?;
    let n = members.len() as u64;
    let bytes = match kind {
        CollectiveKind::Barrier => 0,
        CollectiveKind::Alltoall | CollectiveKind::ReduceScatter | CollectiveKind::Scatter => {
            size()?.div_ceil(n)
        }
        _ => size()?,
    };
    Ok(Some(Sent::Collective {
        kind,
        bytes,
        root: root(args, &members),
        group: text(args.group.as_ref()).unwrap_or_default(),
        members,
    }))
}

/// The place of a root in its group: the first one where nothing is said.
fn root(args: &Args, members: &[u32]) -> u32 {
    let rank = integer(args.root.as_ref());
    let place = members.iter().position(|&m| Some(i64::from(m)) == rank);
    place.unwrap_or(0) as u32
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

/// What each of these waited for: what sends, for the last that others had finished since its stream was free; what computes, for the
/// last that others had received since then.
///
/// Traces do not say why anything waited. What is so found lets everything begin when it did, if messages take as long as they did.
pub(super) fn waits(kernels: &[Kernel]) -> Vec<Waited> {
    // By stream, the ends of what is on it so far, and of what was received: rising, as streams do one thing at a time.
    let mut ends: BTreeMap<i64, Vec<(u64, usize)>> = BTreeMap::new();
    let mut received = ends.clone();
    let mut free: BTreeMap<i64, u64> = BTreeMap::new();
    let mut all = Vec::with_capacity(kernels.len());
    for (i, kernel) in kernels.iter().enumerate() {
        let since = free.get(&kernel.stream).copied();
        let others = if kernel.sent.is_some() { &ends } else { &received };
        let last = |(_, of): (&i64, &Vec<(u64, usize)>)| {
            let upto = of.partition_point(|(end, _)| *end <= kernel.begin);
            of[..upto].last().copied().filter(|(end, _)| since.is_none_or(|s| *end > s))
        };
        let on: Vec<(u64, usize)> = others
            .iter()
            .filter(|(stream, _)| **stream != kernel.stream)
            .filter_map(last)
            .collect();
        let could = on.iter().map(|w| w.0).chain(since).max().unwrap_or(0);
        let on = on.into_iter().map(|w| w.1).collect();
        all.push(Waited { on, idle: kernel.begin.saturating_sub(could) });
        let end = kernel.end.max(since.unwrap_or(0));
        free.insert(kernel.stream, end);
        ends.entry(kernel.stream).or_default().push((end, i));
        if kernel.sent.is_some() {
            received.entry(kernel.stream).or_default().push((end, i));
        }
    }
    all
}

/// The kernels that others waited for.
pub(super) fn waited_for(waits: &[Waited]) -> BTreeSet<usize> {
    waits.iter().flat_map(|w| w.on.iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(stream: i64, begin: u64, end: u64, sends: bool) -> Kernel {
        let sent = sends.then_some(Sent::Message { is_send: true, peer: 1, bytes: 1 });
        Kernel { stream, begin, end, sent }
    }

    /// Two computations, a collective that waits for the first, and a third one that waits for the collective.
    #[test]
    fn streams_wait_for_each_other() {
        let all = [
            kernel(7, 0, 100, false),
            kernel(7, 100, 180, false),
            kernel(9, 103, 300, true),
            kernel(7, 310, 400, false),
            kernel(7, 405, 410, false),
        ];
        let found = waits(&all);
        let of = |i: usize| (found[i].on.as_slice(), found[i].idle);
        assert_eq!(of(0), (&[][..], 0));
        assert_eq!(of(1), (&[][..], 0));
        assert_eq!(of(2), (&[0][..], 3));
        assert_eq!(of(3), (&[2][..], 10));
        assert_eq!(of(4), (&[][..], 5));
        assert_eq!(waited_for(&found).into_iter().collect::<Vec<_>>(), [0, 2]);
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
