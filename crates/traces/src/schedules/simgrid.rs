//! Time-independent traces of SimGrid: an action a line, `rank action arguments`.
//!
//! ```text
//! 0 init
//! 0 compute 127161               flops
//! 0 isend 1 42 1000 2            to, tag, count, datatype
//! 0 wait 0 1 42                  from, to, tag
//! 0 allreduce 32 12513009 1      count, flops, datatype
//! ```
//!
//! One file for a rank, or one for all. The arguments are those of `smpi_replay.cpp`; everything is in the communicator
//! of all ranks, since SimGrid replays it so. `init` with a word behind it makes counts mean doubles, instead of bytes,
//! where an action does not give the datatype. A `test` waits for nothing: whether it found its message is not
//! recorded. `location`, `comm_size`, `comm_split` and `comm_dup` only show the number of ranks.

use std::collections::{HashMap, VecDeque};
use std::path::Path;

use darkfiber_workload::trace::{ANY, Call, Collective, CollectiveKind, Message, MpiTrace, WORLD};

use super::run::{File, Options, Read, ReadBy, ScheduleFormat};
use super::values::{MOST_BYTES, MOST_RANKS, picoseconds, tell_missing, whole};
use darkfiber_formats::{Diagnostics, ReadError};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "simgrid",
    what: "a time-independent trace of SimGrid; ranks compute 1 Gflop/s",
    is_such: |h| is_first(&h.lines),
    read: ReadBy::Ranks(|files, options| {
        read(files, options).map(|(trace, d)| (Read::Trace(trace), d))
    }),
};

const EXPECTED: &str = "a time-independent trace of SimGrid (lines `rank action arguments`)";

/// Bytes of datatypes by their numbers (SimGrid, `smpi_datatype.cpp`).
const TYPES: [u64; 60] = [
    8, 4, 1, 2, 8, 4, 1, 8, 1, 1, 2, 4, 8, 8, 16, 4, 1, 1, 2, 4, 8, 1, 2, 4, 8, 8, 16, 32, 8, 8, 8,
    16, 16, 8, 8, 8, 16, 16, 4, 4, 8, 16, 8, 16, 16, 4, 2, 4, 8, 16, 32, 1, 8, 16, 32, 0, 0, 1, 8,
    8,
];

const ACTIONS: &[&str] = &[
    "init",
    "finalize",
    "comm_size",
    "comm_split",
    "comm_dup",
    "location",
    "send",
    "isend",
    "recv",
    "irecv",
    "test",
    "wait",
    "waitany",
    "waitall",
    "sendrecv",
    "barrier",
    "bcast",
    "reduce",
    "allreduce",
    "alltoall",
    "alltoallv",
    "gather",
    "gatherv",
    "scatter",
    "scatterv",
    "allgather",
    "allgatherv",
    "reducescatter",
    "scan",
    "exscan",
    "compute",
    "sleep",
];

/// The rank and the rest of a line.
fn split(line: &str) -> Option<(u32, &str, std::str::SplitWhitespace<'_>)> {
    let mut words = line.split_whitespace();
    let rank = words.next()?.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().ok()?;
    Some((rank, words.next()?, words))
}

/// Whether a text begins like a trace.
fn is_first(text: &str) -> bool {
    let mut lines =
        text.lines().filter(|l| !l.trim().is_empty() && !l.starts_with('#')).take(3).peekable();
    let action = |name: &str| ACTIONS.iter().any(|a| a.eq_ignore_ascii_case(name));
    lines.peek().is_some() && lines.all(|l| split(l).is_some_and(|(_, name, _)| action(name)))
}

/// State of a rank while it is read.
struct Rank {
    calls: Vec<Call>,
    /// Pending requests, in the order of their start; by sender, receiver and tag.
    open: HashMap<(i64, i64, i64), VecDeque<u32>>,
    order: VecDeque<u32>,
    requests: u32,
    /// Bytes of a unit of counts.
    unit: u64,
}

/// The arguments of an action.
struct Arguments<'a> {
    path: &'a Path,
    line: usize,
    words: Vec<&'a str>,
    unit: u64,
}

impl Arguments<'_> {
    fn fail(&self, what: impl std::fmt::Display, hint: &str) -> ReadError {
        ReadError::not_such(self.path, format!("line {}: {what}", self.line), EXPECTED, hint)
    }

    fn word(&self, at: usize, what: &str) -> Result<&str, ReadError> {
        self.words.get(at).copied().ok_or_else(|| {
            self.fail(format!("{what} is missing (argument {})", at + 1), "is the file cut off?")
        })
    }

    fn bad(&self, word: &str, what: &str) -> ReadError {
        self.fail(format!("`{}` is not {what}", darkfiber_formats::excerpt(word)), "")
    }

    /// A number that may be below zero.
    fn signed(&self, at: usize, what: &str) -> Result<i64, ReadError> {
        let word = self.word(at, what)?;
        word.parse().map_err(|_| self.bad(word, what))
    }

    fn count(&self, at: usize, what: &str) -> Result<u64, ReadError> {
        let word = self.word(at, what)?;
        whole(word).ok_or_else(|| self.bad(word, &format!("{what} (a number not below zero)")))
    }

    /// Bytes of a datatype that may be given.
    fn unit(&self, at: usize) -> Result<u64, ReadError> {
        let Some(word) = self.words.get(at) else { return Ok(self.unit) };
        let known = word.parse::<usize>().ok().and_then(|n| TYPES.get(n).copied());
        known.ok_or_else(|| self.bad(word, "the number of a datatype (below 60)"))
    }

    fn bytes(&self, at: usize, unit: u64) -> Result<u64, ReadError> {
        let bytes = self.count(at, "a count")?.saturating_mul(unit);
        if bytes > MOST_BYTES {
            return Err(self.bad(self.word(at, "a count")?, "a count of at most a TiB"));
        }
        Ok(bytes)
    }

    fn list(&self, at: usize, ranks: usize, unit: u64) -> Result<Vec<u64>, ReadError> {
        // The last one first: nothing is collected from lines that are too short.
        let _ = self.word(at + ranks - 1, "one of the counts of all ranks")?;
        (at..at + ranks).map(|i| self.bytes(i, unit)).collect()
    }

    fn root(&self, at: usize) -> Result<u32, ReadError> {
        let Some(word) = self.words.get(at) else { return Ok(0) };
        word.parse().map_err(|_| self.bad(word, "a rank"))
    }
}

/// Reads a trace from the files of its ranks.
///
/// # Errors
/// At the first line that cannot be understood.
pub fn read(files: &[File], options: &Options) -> Result<(MpiTrace, Diagnostics), ReadError> {
    let mut d = Diagnostics::default();
    let mut ranks = 0;
    let mut computes = None;
    for file in files {
        for (i, line) in String::from_utf8_lossy(&file.bytes).lines().enumerate() {
            let Some((rank, name, mut words)) = split(line) else { continue };
            let size = words.next().filter(|_| name == "comm_size").and_then(|w| w.parse().ok());
            if name == "compute" {
                computes.get_or_insert(i + 1);
            }
            ranks = ranks.max(rank.saturating_add(1)).max(size.unwrap_or(0));
            if ranks > MOST_RANKS {
                let what = format!("line {}: more than {MOST_RANKS} ranks", i + 1);
                return Err(ReadError::not_such(
                    &file.path,
                    what,
                    EXPECTED,
                    "is the line damaged?",
                ));
            }
        }
    }
    if let Some(line) = computes {
        d.note(
            line,
            "computations are numbers of operations, not times",
            format!("each rank does {:e} of them a second", options.flops_per_second),
        );
    }
    let mut trace = MpiTrace::new(ranks);
    let mut state: Vec<Option<Rank>> = (0..ranks).map(|_| None).collect();
    for file in files {
        for (i, line) in String::from_utf8_lossy(&file.bytes).lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let line_number = i + 1;
            let mut args =
                Arguments { path: &file.path, line: line_number, words: Vec::new(), unit: 1 };
            let Some((rank, name, words)) = split(line) else {
                let what = format!("not an action: {}", darkfiber_formats::excerpt(line));
                return Err(args.fail(what, "is the file cut off?"));
            };
            args.words.extend(words);
            let rank_state = state[rank as usize].get_or_insert_with(|| Rank {
                calls: Vec::new(),
                open: HashMap::new(),
                order: VecDeque::new(),
                requests: 0,
                unit: 1,
            });
            args.unit = rank_state.unit;
            let name = name.to_ascii_lowercase();
            trace.count(&name, 1);
            rank_state.action(rank, &name, &args, ranks as usize, options)?;
        }
    }
    for (calls, rank) in trace.ranks.iter_mut().zip(state) {
        *calls = rank.map(|r| r.calls);
    }
    if trace.ranks.iter().flatten().next().is_none() {
        let path = files.first().map_or(Path::new(""), |f| &f.path);
        return Err(ReadError::not_such(path, "there are no actions", EXPECTED, ""));
    }
    tell_missing(&trace, &mut d);
    Ok((trace, d))
}

impl Rank {
    fn action(
        &mut self,
        rank: u32,
        name: &str,
        args: &Arguments<'_>,
        n: usize,
        options: &Options,
    ) -> Result<(), ReadError> {
        use CollectiveKind as K;
        let one = |kind, root, bytes| (kind, root, bytes, Vec::new());
        let mut after = 0;
        let (kind, root, bytes, sizes) = match name {
            // Actions that take no time, and those that only compute.
            "finalize" | "comm_size" | "comm_split" | "comm_dup" | "location" | "test" => {
                return Ok(());
            }
            "init" => {
                self.unit = if args.words.is_empty() { 1 } else { 8 };
                return Ok(());
            }
            "compute" | "sleep" => {
                let word = args.word(0, "how much")?;
                let amount = word.parse().ok().filter(|a: &f64| a.is_finite() && *a >= 0.0);
                let amount = amount.ok_or_else(|| args.bad(word, "an amount (not below zero)"))?;
                let seconds =
                    if name == "sleep" { amount } else { amount / options.flops_per_second };
                self.compute(picoseconds(seconds));
                return Ok(());
            }
            // Messages, and the actions that wait for them.
            "send" | "isend" | "recv" | "irecv" => return self.message(rank, name, args),
            "sendrecv" => {
                let (send, recv) = (args.unit(4)?, args.unit(5)?);
                let [to, from] = [args.signed(1, "a rank")?, args.signed(3, "a rank")?];
                let peer = |p: i64| u32::try_from(p).unwrap_or(ANY);
                let communicator = WORLD;
                let sent =
                    Message { peer: peer(to), bytes: args.bytes(0, send)?, tag: 0, communicator };
                let got =
                    Message { peer: peer(from), bytes: args.bytes(2, recv)?, tag: 0, communicator };
                if sent.peer as usize >= n || got.peer != ANY && got.peer as usize >= n {
                    return Err(args.fail(format!("ranks {to} and {from} of {n}"), ""));
                }
                self.calls.push(Call::Sendrecv(Box::new([sent, got])));
                return Ok(());
            }
            "wait" | "waitany" => {
                if args.words.len() < 3 {
                    // In older versions: the oldest pending one.
                    if let Some(request) = self.order.pop_front() {
                        self.open.values_mut().for_each(|q| q.retain(|&r| r != request));
                        self.calls.push(Call::Wait(vec![request]));
                    }
                    return Ok(());
                }
                let key = (
                    args.signed(0, "a sender")?,
                    args.signed(1, "a receiver")?,
                    args.signed(2, "a tag")?,
                );
                // As in SimGrid, assume that a test has completed a request that is not pending.
                if let Some(request) = self.open.get_mut(&key).and_then(VecDeque::pop_front) {
                    self.order.retain(|&r| r != request);
                    self.calls.push(Call::Wait(vec![request]));
                }
                return Ok(());
            }
            "waitall" => {
                self.open.clear();
                self.calls.push(Call::Wait(self.order.drain(..).collect()));
                return Ok(());
            }
            // Collectives: the order of arguments differs between them.
            "barrier" => one(K::Barrier, 0, 0),
            "bcast" => one(K::Broadcast, args.root(1)?, args.bytes(0, args.unit(2)?)?),
            "reduce" => {
                after = args.count(1, "flops")?;
                one(K::Reduce, args.root(2)?, args.bytes(0, args.unit(3)?)?)
            }
            "allreduce" | "scan" | "exscan" => {
                after = args.count(1, "flops")?;
                let kind = match name {
                    "scan" => K::Scan,
                    "exscan" => K::Exscan,
                    _ => K::Allreduce,
                };
                one(kind, 0, args.bytes(0, args.unit(2)?)?)
            }
            "alltoall" => one(K::Alltoall, 0, args.bytes(0, args.unit(2)?)?),
            "allgather" => one(K::Allgather, 0, args.bytes(0, args.unit(2)?)?),
            "gather" => one(K::Gather, args.root(2)?, args.bytes(0, args.unit(3)?)?),
            "scatter" => one(K::Scatter, args.root(2)?, args.bytes(1, args.unit(4)?)?),
            "gatherv" => one(K::Gather, args.root(1 + n)?, args.bytes(0, args.unit(2 + n)?)?),
            "allgatherv" => {
                // Datatypes to send and to receive precede displacements, or stand alone.
                let given = args.words.len() > 1 + 2 * n || args.words.len() <= 3 + n;
                let unit = if given { args.unit(1 + n)? } else { args.unit };
                one(K::Allgather, 0, args.bytes(0, unit)?)
            }
            "scatterv" => one(K::Scatter, args.root(1 + n)?, args.bytes(n, args.unit(3 + n)?)?),
            "reducescatter" => {
                after = args.count(n, "flops")?;
                let sizes = args.list(0, n, args.unit(1 + n)?)?;
                (K::ReduceScatter, 0, sizes.get(rank as usize).copied().unwrap_or(0), sizes)
            }
            "alltoallv" => {
                let sizes = args.list(1, n, args.unit(2 + 2 * n)?)?;
                let _ = args.word(1 + 2 * n, "one of the counts to receive")?;
                (K::Alltoall, 0, 0, sizes)
            }
            _ => {
                let what = format!("`{}` is not a known action", darkfiber_formats::excerpt(name));
                return Err(args.fail(what, "known are those of SimGrid but for one-sided ones"));
            }
        };
        // A collective, and the computation of a reduction after it.
        if root as usize >= n {
            return Err(args.fail(format!("root {root} of {n} ranks"), ""));
        }
        let communicator = WORLD;
        self.calls.push(Call::Collective(Box::new(Collective {
            kind,
            communicator,
            root,
            bytes,
            sizes,
        })));
        self.compute(picoseconds(after as f64 / options.flops_per_second));
        Ok(())
    }

    fn compute(&mut self, picoseconds: u64) {
        if picoseconds > 0 {
            self.calls.push(Call::Compute { picoseconds });
        }
    }

    fn message(&mut self, rank: u32, name: &str, args: &Arguments<'_>) -> Result<(), ReadError> {
        let send = name.ends_with("send");
        let partner = args.signed(0, "a rank")?;
        // Before there were tags: rank and size only.
        let tagged = args.words.len() > 2;
        let tag_given = if tagged { args.signed(1, "a tag")? } else { 0 };
        let size_at = if tagged { 2 } else { 1 };
        let unit = args.unit(3)?;
        let size_word = args.word(size_at, "a size")?;
        // The size may be unknown to a receiver in advance.
        let unknown = !send && size_word.starts_with('-');
        let bytes = if unknown { 0 } else { args.bytes(size_at, unit)? };
        let wild = |value: i64, what: &str| match u32::try_from(value) {
            Ok(value) if value != ANY => Ok(value),
            _ if !send && value < 0 => Ok(ANY),
            _ => Err(args.fail(format!("{value} is not {what}"), "")),
        };
        let (peer, tag) = (wild(partner, "a rank")?, wild(tag_given, "a tag")?);
        let message = Message { peer, bytes, tag, communicator: WORLD };
        let own = i64::from(rank);
        self.calls.push(match name {
            "send" => Call::Send(message),
            "recv" => Call::Recv(message),
            _ => {
                let request = self.requests;
                self.requests += 1;
                let ends = if send { (own, partner) } else { (partner, own) };
                self.open.entry((ends.0, ends.1, tag_given)).or_default().push_back(request);
                self.order.push_back(request);
                if send { Call::Isend(message, request) } else { Call::Irecv(message, request) }
            }
        });
        Ok(())
    }
}
