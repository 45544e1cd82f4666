//! GOAL as LogGOPSim's `txt2bin` compiles it.
//!
//! All numbers are little endian and without padding. Offsets count from behind the first eight bytes:
//!
//! | what | bytes |
//! |---|---|
//! | 4223 | 8 |
//! | number of ranks, processors and interfaces of a rank | 4, 1, 1 |
//! | of each rank: where its part begins and ends | 8, 8 |
//!
//! The part of a rank is the number of its operations (4), the number of those that wait for nothing (4), the numbers
//! of these (4 each), the operations (39 each), and a list of numbers of operations (4 each). An operation is how many
//! it waits for (4), its kind (1: 1 send, 2 receive, 3 computation), peer (4), size (8: bytes or nanoseconds), tag (4),
//! processor (1), interface (1); then how many operations wait for its end (4) and where they stand in the list (4),
//! and the same of those that wait for its beginning. All ones are any source, or any tag.
//!
//! The operations that wait for nothing are recomputed, and interfaces are ignored.

use std::io::{self, Write};
use std::path::Path;

use darkfiber_workload::schedule::{ANY, Builder, MAX_STREAMS, Op, Schedule};

use super::bytes::Bytes;
use super::goal::{NANOSECOND, NOBODY, nanoseconds, no_puts};
use super::run::{Read, ReadBy, ScheduleFormat};
use super::values::faulty;
use darkfiber_formats::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "goal-binary",
    what: "a compiled GOAL schedule",
    is_such: |h| h.bytes.starts_with(&MAGIC.to_le_bytes()),
    read: ReadBy::Run(|f| read(&f.bytes, &f.path).map(|(s, d)| (Read::Schedule(s), d))),
};

const EXPECTED: &str = "a compiled GOAL schedule (txt2bin of LogGOPSim)";
const MAGIC: u64 = 4223;
/// Origin of the offsets.
const ORIGIN: u64 = 8;
/// Bytes of an operation.
const NODE: usize = 39;
const SEND: u8 = 1;
const RECV: u8 = 2;
const CALC: u8 = 3;

fn u32_of(bytes: &mut Bytes<'_>, what: &str) -> Result<u32, ReadError> {
    bytes.array(what).map(u32::from_le_bytes)
}

fn u64_of(bytes: &mut Bytes<'_>, what: &str) -> Result<u64, ReadError> {
    bytes.array(what).map(u64::from_le_bytes)
}

/// Reads a schedule.
///
/// # Errors
/// If the file is truncated or refers to items that do not exist, or if the operations do not make a [`Schedule`].
pub fn read(all: &[u8], path: &Path) -> Result<(Schedule, Diagnostics), ReadError> {
    let mut bytes = Bytes::new(all, path, EXPECTED);
    if u64_of(&mut bytes, "the first number")? != MAGIC {
        return Err(bytes.fail("the file does not begin with 4223"));
    }
    let ranks = u32_of(&mut bytes, "the number of ranks")?;
    let _ = bytes.take(2, "the heading")?;
    if ranks as usize > bytes.left() / 16 {
        let most = bytes.left() / 16;
        return Err(bytes.fail(format!("{ranks} ranks, but there is room for {most}")));
    }
    let mut builder = Builder::new(ranks);
    let mut nics = false;
    for rank in 0..ranks {
        let begin = u64_of(&mut bytes, "the table of ranks")?;
        let _ = u64_of(&mut bytes, "the table of ranks")?;
        let mut part = bytes;
        part.seek(begin.saturating_add(ORIGIN), &format!("rank {rank}"))?;
        nics |= operations(&mut part, &mut builder, rank)?;
    }
    let mut d = Diagnostics::default();
    if nics {
        d.note(0, "operations are on several network interfaces", "they are taken as one");
    }
    let schedule = builder.finish().map_err(|e| faulty(&e, path, EXPECTED))?;
    Ok((schedule, d))
}

/// Reads the part of a rank; whether there are several interfaces.
fn operations(bytes: &mut Bytes<'_>, builder: &mut Builder, rank: u32) -> Result<bool, ReadError> {
    let count = u32_of(bytes, "the number of operations")?;
    let roots = u32_of(bytes, "the number of first operations")?;
    let _ = bytes.take(roots as usize * 4, "the first operations")?;
    let mut nodes = *bytes;
    let _ = bytes.take(count as usize * NODE, "the operations")?;
    let list = *bytes;
    let first = builder.len() as u32;
    // Numbers of list entries, twice for each operation.
    let mut waiting = Vec::with_capacity(count as usize);
    let mut nics = false;
    for _ in 0..count {
        let node = &mut nodes;
        let _ = u32_of(node, "an operation")?;
        let kind = node.u8("an operation")?;
        let peer = u32_of(node, "an operation")?;
        let size = u64_of(node, "an operation")?;
        let tag = u32_of(node, "an operation")?;
        let [stream, nic] = node.array("an operation")?;
        nics |= nic > 0;
        let mut four = [0; 4];
        for n in &mut four {
            *n = u32_of(node, "an operation")?;
        }
        waiting.push(four);
        if stream >= MAX_STREAMS {
            return Err(node.fail(format!("processor {stream}; a rank has at most {MAX_STREAMS}")));
        }
        let any = kind == RECV && peer == ANY || kind == SEND && peer == NOBODY;
        if kind != CALC && !any && peer >= builder.ranks() {
            let ranks = builder.ranks();
            return Err(node.fail(format!("rank {rank} names rank {peer} of {ranks} ranks")));
        }
        let op = match kind {
            SEND if tag == ANY => return Err(node.fail("a message cannot be sent with any tag")),
            SEND if peer == NOBODY => Op::Compute { picoseconds: 0 },
            SEND => Op::Send { to: peer, bytes: size, tag },
            RECV => Op::Recv { from: peer, bytes: size, tag },
            CALC => match size.checked_mul(NANOSECOND) {
                Some(picoseconds) => Op::Compute { picoseconds },
                None => return Err(node.fail(format!("a computation of {size} ns is too long"))),
            },
            other => return Err(node.fail(format!("an operation of the unknown kind {other}"))),
        };
        builder.add(rank, op, stream);
    }
    let mut edges = 0;
    for (op, [after, at, started, start_at]) in (first..).zip(waiting) {
        for (many, at, start) in [(after, at, false), (started, start_at, true)] {
            if many == 0 {
                continue;
            }
            let mut entries = list;
            entries.seek(list.at() as u64 + u64::from(at) * 4, "a list of dependents")?;
            // Overlapping lists would make much out of a small file.
            edges += many as usize;
            if edges > list.left() / 4 {
                return Err(entries.fail(format!("{edges} dependents of rank {rank} are too many")));
            }
            for _ in 0..many {
                let next = u32_of(&mut entries, "a list of dependents")?;
                if next >= count {
                    return Err(entries.fail(format!("operation {next} of {count} of rank {rank}")));
                }
                if start {
                    builder.after_start(first + next, op);
                } else {
                    builder.after(first + next, op);
                }
            }
        }
    }
    Ok(nics)
}

/// Writes a schedule as `txt2bin` would. Returns the number of computations that are not whole nanoseconds; they are
/// rounded.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, schedule: &Schedule) -> io::Result<u64> {
    let mut rounded = 0;
    out.write_all(&MAGIC.to_le_bytes())?;
    out.write_all(&schedule.ranks().to_le_bytes())?;
    // `txt2bin` writes the highest number here.
    out.write_all(&[schedule.streams() - 1, 0])?;
    let mut begin = 4 + 2 + 16 * u64::from(schedule.ranks());
    for rank in 0..schedule.ranks() {
        let range = schedule.of(rank);
        let roots = range.clone().filter(|&i| schedule.needs(i) == 0).count();
        let edges: usize = range.clone().map(|i| schedule.dependents(i).len()).sum();
        let end = begin + (8 + 4 * roots + NODE * range.len() + 4 * edges) as u64;
        out.write_all(&begin.to_le_bytes())?;
        out.write_all(&end.to_le_bytes())?;
        begin = end;
    }
    let mut list = Vec::new();
    for rank in 0..schedule.ranks() {
        let range = schedule.of(rank);
        let roots: Vec<u32> = range.clone().filter(|&i| schedule.needs(i) == 0).collect();
        out.write_all(&(range.len() as u32).to_le_bytes())?;
        out.write_all(&(roots.len() as u32).to_le_bytes())?;
        for root in roots {
            out.write_all(&(root - range.start).to_le_bytes())?;
        }
        list.clear();
        for i in range.clone() {
            let (kind, peer, size, tag) = match schedule.op(i) {
                Op::Send { to, bytes, tag } => (SEND, to, bytes, tag),
                Op::Recv { from, bytes, tag } => (RECV, from, bytes, tag),
                Op::Put { .. } => return Err(no_puts()),
                Op::Compute { picoseconds } => {
                    rounded += u64::from(picoseconds % NANOSECOND != 0);
                    (CALC, 0, nanoseconds(picoseconds), 0)
                }
            };
            let mut node = Vec::with_capacity(NODE);
            node.extend(schedule.needs(i).to_le_bytes());
            node.push(kind);
            node.extend(peer.to_le_bytes());
            node.extend(size.to_le_bytes());
            node.extend(tag.to_le_bytes());
            node.extend([schedule.stream(i), 0]);
            for wanted in [false, true] {
                let at = list.len() as u32;
                let of = schedule.dependents(i).filter(|&(_, start)| start == wanted);
                list.extend(of.map(|(next, _)| next - range.start));
                node.extend((list.len() as u32 - at).to_le_bytes());
                node.extend(at.to_le_bytes());
            }
            out.write_all(&node)?;
        }
        for next in &list {
            out.write_all(&next.to_le_bytes())?;
        }
    }
    Ok(rounded)
}
