//! GOAL: schedules of operations with their dependencies, as text.
//!
//! ```text
//! num_ranks 2
//! rank 0 {
//!   l1: calc 1500 cpu 1            // nanoseconds
//!   l2: send 64b to 1 tag 7 cpu 0 nic 0
//!   l2 requires l1                 // begins when l1 is done
//!   l3: recv 8b from -1 tag -1     // any source, any tag
//!   l3 irequires l2                // begins when l2 has started
//! }
//! rank 1 { ...
//! ```
//!
//! The input of LogGOPSim (`txt2bin.re` there is the grammar) and of the simulators derived from it. A statement ends
//! with its line; `/* */` are comments, too. Labels are of one rank and need not come first. `cpu` is the stream of an
//! operation, `nic` is ignored. Ranks may come in any order or not at all. [`super::goal_binary`] is the same compiled.

mod lexer;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

use darkfiber_workload::schedule::{ANY, Builder, MAX_STREAMS, Op, Schedule};

use super::run::{Read, ReadBy, ScheduleFormat};
use super::values::faulty;
use darkfiber_formats::{Diagnostics, ReadError};
use lexer::{Fnv, Lexer, Token, number, shown};

/// The entry of this format.
pub const FORMAT: ScheduleFormat = ScheduleFormat {
    name: "goal",
    what: "a GOAL schedule",
    is_such: |h| h.is_text && is_first(h.bytes),
    read: ReadBy::Run(|f| read(&f.bytes, &f.path).map(|(s, d)| (Read::Schedule(s), d))),
};

/// Expected content, for errors.
const EXPECTED: &str = "a GOAL schedule (num_ranks, rank, send, recv, calc, requires)";

/// Picoseconds in a nanosecond, the unit of `calc`.
pub(super) const NANOSECOND: u64 = 1000;

/// Schedules of HTSIM end rank 0 with a send to this rank, without a receive. It is treated as a computation of no
/// time.
pub(super) const NOBODY: u32 = 999_999_999;

/// The first word of a schedule.
const FIRST: &[u8] = b"num_ranks";

/// Schedules of fewer ranks than this may have ranks without operations.
const FEW: usize = 1 << 20;

/// Whether a text begins like a schedule.
fn is_first(text: &[u8]) -> bool {
    let mut lexer = Lexer { text, at: 0, line: 1 };
    loop {
        match lexer.next() {
            Token::Newline => {}
            token => return token == Token::Word(FIRST),
        }
    }
}

struct Reader<'a> {
    lexer: Lexer<'a>,
    path: &'a Path,
    builder: Option<Builder>,
    labels: HashMap<&'a [u8], u32, std::hash::BuildHasherDefault<Fnv>>,
    /// Dependencies on labels that come later: line, operation, label, on its beginning only.
    later: Vec<(usize, &'a [u8], &'a [u8], bool)>,
    /// The first line with another interface than 0.
    nic: Option<usize>,
    /// Whether there was a rank.
    any: bool,
}

/// Reads a schedule.
///
/// # Errors
/// At the first line that cannot be understood; if a rank or label does not exist; or if the operations do not make a
/// [`Schedule`].
pub fn read(text: &[u8], path: &Path) -> Result<(Schedule, Diagnostics), ReadError> {
    let lexer = Lexer { text, at: 0, line: 1 };
    let (labels, later) = (HashMap::default(), Vec::new());
    let mut reader = Reader { lexer, path, builder: None, labels, later, nic: None, any: false };
    reader.ranks()?;
    let mut d = Diagnostics::default();
    if let Some(line) = reader.nic {
        d.note(line, "operations are on several network interfaces", "they are taken as one");
    }
    if reader.builder.is_some() && !reader.any {
        let what = "there is no rank after `num_ranks`";
        return Err(ReadError::not_such(path, what, EXPECTED, "is the file cut off?"));
    }
    let Some(builder) = reader.builder else {
        return Err(ReadError::not_such(path, "there is no `num_ranks`", EXPECTED, ""));
    };
    let schedule = builder.finish().map_err(|e| faulty(&e, path, EXPECTED))?;
    Ok((schedule, d))
}

impl<'a> Reader<'a> {
    fn fail(&self, what: impl std::fmt::Display, hint: &str) -> ReadError {
        ReadError::not_such(self.path, format!("line {}: {what}", self.lexer.line), EXPECTED, hint)
    }

    /// The error of a token that should be another.
    fn instead(&self, token: Token<'_>, of: &str) -> ReadError {
        // The end of a line belongs to the line before.
        let line = self.lexer.line - usize::from(token == Token::Newline);
        let what = format!("line {line}: {} instead of {of}", shown(token));
        let hint = if token == Token::End { "is the file cut off?" } else { "" };
        ReadError::not_such(self.path, what, EXPECTED, hint)
    }

    fn number(&mut self, what: &str) -> Result<u64, ReadError> {
        match self.lexer.next() {
            Token::Word(word) => number(word)
                .ok_or_else(|| self.instead(Token::Word(word), &format!("{what} (a number)"))),
            token => Err(self.instead(token, &format!("{what} (a number)"))),
        }
    }

    fn ranks(&mut self) -> Result<(), ReadError> {
        loop {
            match self.lexer.next() {
                Token::Newline => {}
                Token::End => return Ok(()),
                Token::Word(FIRST) => {
                    let ranks = self.number("the number of ranks")?;
                    if self.builder.is_some() {
                        return Err(self.fail("a second `num_ranks`", "a file holds one schedule"));
                    }
                    let most = self.lexer.text.len().max(FEW) as u64;
                    let ranks =
                        u32::try_from(ranks).ok().filter(|&n| n > 0 && u64::from(n) <= most);
                    let Some(ranks) = ranks else {
                        return Err(self.fail("the file is too short for that many ranks", ""));
                    };
                    self.builder = Some(Builder::new(ranks));
                }
                Token::Word(b"rank") => {
                    self.any = true;
                    let rank = self.number("a rank")?;
                    let Some(ranks) = self.builder.as_ref().map(Builder::ranks) else {
                        return Err(self.fail("a rank before `num_ranks`", ""));
                    };
                    let Some(rank) = u32::try_from(rank).ok().filter(|&r| r < ranks) else {
                        return Err(self.fail(
                            format!("rank {rank} of {ranks} ranks"),
                            "ranks are counted from 0",
                        ));
                    };
                    match self.lexer.next() {
                        Token::Sign(b'{') => self.operations(rank)?,
                        token => return Err(self.instead(token, "`{`")),
                    }
                }
                token => return Err(self.instead(token, "`rank`")),
            }
        }
    }

    /// The operations of a rank, to its closing brace.
    fn operations(&mut self, rank: u32) -> Result<(), ReadError> {
        loop {
            match self.lexer.next() {
                Token::Newline => {}
                Token::Sign(b'}') => break,
                Token::Word(kind @ (b"send" | b"recv" | b"calc")) => {
                    self.operation(rank, kind)?;
                }
                Token::Word(label) => match self.lexer.next() {
                    Token::Sign(b':') => match self.lexer.next() {
                        Token::Word(kind @ (b"send" | b"recv" | b"calc")) => {
                            let op = self.operation(rank, kind)?;
                            if self.labels.insert(label, op).is_some() {
                                let what = format!(
                                    "label {} stands for two operations",
                                    shown(Token::Word(label))
                                );
                                return Err(self.fail(what, "each needs its own"));
                            }
                        }
                        token => return Err(self.instead(token, "`send`, `recv` or `calc`")),
                    },
                    Token::Word(word @ (b"requires" | b"irequires")) => {
                        let Token::Word(before) = self.lexer.next() else {
                            return Err(self.fail("a dependency without a second label", ""));
                        };
                        self.dependency(label, before, word == b"irequires");
                    }
                    token => return Err(self.instead(token, "`:`, `requires` or `irequires`")),
                },
                token => return Err(self.instead(token, "an operation, a dependency or `}`")),
            }
        }
        for (line, label, before, start) in std::mem::take(&mut self.later) {
            let missing = if self.labels.contains_key(label) { before } else { label };
            if let (Some(&op), Some(&before)) = (self.labels.get(label), self.labels.get(before)) {
                self.depend(op, before, start);
            } else {
                self.lexer.line = line;
                let what = format!("rank {rank} has no label {}", shown(Token::Word(missing)));
                return Err(self.fail(what, "labels are of one rank"));
            }
        }
        self.labels.clear();
        Ok(())
    }

    fn dependency(&mut self, label: &'a [u8], before: &'a [u8], start: bool) {
        match (self.labels.get(label), self.labels.get(before)) {
            (Some(&op), Some(&before)) => self.depend(op, before, start),
            _ => self.later.push((self.lexer.line, label, before, start)),
        }
    }

    fn depend(&mut self, op: u32, before: u32, start: bool) {
        let Some(builder) = &mut self.builder else { return };
        if start { builder.after_start(op, before) } else { builder.after(op, before) }
    }

    /// Parses the rest of a line after `send`, `recv` or `calc`.
    fn operation(&mut self, rank: u32, kind: &[u8]) -> Result<u32, ReadError> {
        if kind == b"calc" {
            let nanoseconds = self.number("nanoseconds")?;
            let stream = self.attributes(&mut 0)?;
            let Some(picoseconds) = nanoseconds.checked_mul(NANOSECOND) else {
                return Err(
                    self.fail(format!("{nanoseconds} ns is too long"), "the most are 5000 hours")
                );
            };
            return self.add(rank, Op::Compute { picoseconds }, stream);
        }
        let (send, side): (bool, &[u8]) =
            if kind == b"send" { (true, b"to") } else { (false, b"from") };
        let bytes = match self.lexer.next() {
            Token::Word([digits @ .., b'b']) if !digits.is_empty() => {
                number(digits).ok_or_else(|| self.fail("not a number of bytes", "such as 8b"))?
            }
            Token::Word(word) => {
                let bytes = number(word)
                    .ok_or_else(|| self.instead(Token::Word(word), "bytes (such as 8b)"))?;
                match self.lexer.next() {
                    Token::Word(b"b") => bytes,
                    token => return Err(self.instead(token, "`b`")),
                }
            }
            token => return Err(self.instead(token, "bytes (such as 8b)")),
        };
        match self.lexer.next() {
            Token::Word(word) if word == side => {}
            token => return Err(self.instead(token, if send { "`to`" } else { "`from`" })),
        }
        let peer = match self.lexer.next() {
            Token::Word(b"-1") if !send => ANY,
            Token::Word(word) => {
                let ranks = self.builder.as_ref().map_or(0, Builder::ranks);
                let found =
                    number(word).ok_or_else(|| self.instead(Token::Word(word), "a rank"))?;
                let Some(peer) =
                    u32::try_from(found).ok().filter(|&p| p < ranks || (send && p == NOBODY))
                else {
                    let what = format!("rank {found} of {ranks} ranks");
                    return Err(self.fail(what, "ranks are counted from 0"));
                };
                peer
            }
            token => return Err(self.instead(token, "a rank")),
        };
        let mut tag = 0;
        let stream = self.attributes(&mut tag)?;
        if send && tag == ANY {
            return Err(self.fail("a message cannot be sent with any tag", ""));
        }
        let op = if send && peer == NOBODY {
            Op::Compute { picoseconds: 0 }
        } else if send {
            Op::Send { to: peer, bytes, tag }
        } else {
            Op::Recv { from: peer, bytes, tag }
        };
        self.add(rank, op, stream)
    }

    fn add(&mut self, rank: u32, op: Op, stream: u8) -> Result<u32, ReadError> {
        match &mut self.builder {
            Some(builder) => Ok(builder.add(rank, op, stream)),
            None => Err(self.fail("an operation before `num_ranks`", "")),
        }
    }

    /// `tag`, `cpu` and `nic`, to the end of the line; the stream.
    fn attributes(&mut self, tag: &mut u32) -> Result<u8, ReadError> {
        let mut stream = 0;
        loop {
            let begin = self.lexer.at;
            match self.lexer.next() {
                Token::Word(b"tag") => match self.lexer.next() {
                    Token::Word(b"-1") => *tag = ANY,
                    Token::Word(word) => match number(word).map(u32::try_from) {
                        Some(Ok(number)) => *tag = number,
                        _ => {
                            return Err(self.instead(Token::Word(word), "a tag (below 4294967296)"));
                        }
                    },
                    token => return Err(self.instead(token, "a tag")),
                },
                Token::Word(b"cpu") => {
                    let cpu = self.number("a processor")?;
                    stream =
                        u8::try_from(cpu).ok().filter(|&c| c < MAX_STREAMS).ok_or_else(|| {
                            self.fail(
                                format!("cpu {cpu}: a rank has at most {MAX_STREAMS} processors"),
                                "",
                            )
                        })?;
                }
                Token::Word(b"nic") => {
                    if self.number("an interface")? > 0 {
                        self.nic = self.nic.or(Some(self.lexer.line));
                    }
                }
                Token::Newline => return Ok(stream),
                Token::Sign(b'}') | Token::End => {
                    self.lexer.at = begin;
                    return Ok(stream);
                }
                token => {
                    return Err(self.instead(token, "`tag`, `cpu`, `nic` or the end of the line"));
                }
            }
        }
    }
}

/// Writes a schedule, so that [`read`] and LogGOPSim's `txt2bin` reproduce it: labels come before the operations that
/// depend on them. Returns the number of computations that are not whole nanoseconds; they are rounded.
///
/// # Errors
/// Any error of `out`.
pub fn write(out: &mut dyn Write, schedule: &Schedule) -> io::Result<u64> {
    let mut rounded = 0;
    writeln!(out, "num_ranks {}", schedule.ranks())?;
    let any = |n: u32| if n == ANY { -1 } else { i64::from(n) };
    for rank in 0..schedule.ranks() {
        let range = schedule.of(rank);
        writeln!(out, "\nrank {rank} {{")?;
        let label = |op: u32| op - range.start + 1;
        for i in range.clone() {
            write!(out, "l{}: ", label(i))?;
            match schedule.op(i) {
                Op::Send { to, bytes, tag } => write!(out, "send {bytes}b to {to} tag {tag}")?,
                Op::Recv { from, bytes, tag } => {
                    write!(out, "recv {bytes}b from {} tag {}", any(from), any(tag))?;
                }
                Op::Put { .. } => return Err(no_puts()),
                Op::Compute { picoseconds } => {
                    rounded += u64::from(picoseconds % NANOSECOND != 0);
                    write!(out, "calc {}", nanoseconds(picoseconds))?;
                }
            }
            match schedule.stream(i) {
                0 => writeln!(out)?,
                stream => writeln!(out, " cpu {stream}")?,
            }
        }
        for i in range.clone() {
            for (next, start) in schedule.dependents(i) {
                let word = if start { "irequires" } else { "requires" };
                writeln!(out, "l{} {word} l{}", label(next), label(i))?;
            }
        }
        writeln!(out, "}}")?;
    }
    Ok(rounded)
}

/// The error for operations that GOAL cannot express.
pub(super) fn no_puts() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "GOAL has sends and receives, no puts")
}

/// The nearest number of nanoseconds.
pub(super) fn nanoseconds(picoseconds: u64) -> u64 {
    picoseconds / NANOSECOND + u64::from(picoseconds % NANOSECOND >= NANOSECOND / 2)
}
