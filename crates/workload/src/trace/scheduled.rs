//! From calls to schedules.

use std::collections::{BTreeSet, HashMap, VecDeque};

use super::error::TraceError;
use super::{ANY, Call, Collective, CollectiveKind, Message, MpiTrace, WORLD};
use crate::schedule::{Op, Schedule, Script};

/// A collective of all its members, to be written as messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectiveCall<'a> {
    /// Kind of the collective.
    pub kind: CollectiveKind,
    /// Its members as ranks of the script.
    pub ranks: &'a [u32],
    /// The place of the root among them; 0 for those without.
    pub root: u32,
    /// Number of bytes; see [`CollectiveKind`] for their meaning.
    pub volume: Volume<'a>,
    /// A tag that no other messages have, but for those of other collectives of the same communicator.
    pub tag: u32,
}

/// Bytes of a collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Volume<'a> {
    /// The same for all members.
    Same(u64),
    /// Bytes by member.
    Each(Vec<u64>),
    /// By member, the bytes that it sends to each.
    Pairs(Vec<&'a [u64]>),
}

/// Tags of a schedule for tags of communicators.
enum Tags {
    /// All messages are in one communicator.
    Plain,
    /// Numbers for pairs of communicator and tag.
    Numbered(HashMap<(u32, u32), u32>),
}

impl Tags {
    /// With the first tag that is free.
    fn of(trace: &MpiTrace) -> Result<(Self, u32), TraceError> {
        let mut found = BTreeSet::new();
        let mut note = |m: &Message| {
            if m.tag != ANY {
                found.insert((m.communicator, m.tag));
            }
        };
        for call in trace.ranks.iter().flatten().flatten() {
            match call {
                Call::Send(m) | Call::Recv(m) | Call::Isend(m, _) | Call::Irecv(m, _) => note(m),
                Call::Sendrecv(both) => both.iter().for_each(&mut note),
                _ => {}
            }
        }
        let plain = found.iter().all(|f| f.0 == WORLD);
        let most = found.iter().map(|f| f.1).max().unwrap_or(0);
        let needed = trace.communicators.len() as u64 + 1;
        if plain && u64::from(most) + needed < u64::from(ANY) {
            return Ok((Self::Plain, most + 1));
        }
        let free = found.len() as u64;
        if free + needed >= u64::from(ANY) {
            return Err(TraceError::Tags);
        }
        Ok((Self::Numbered(found.into_iter().zip(0..).collect()), free as u32))
    }

    fn tag(&self, m: &Message) -> u32 {
        match self {
            _ if m.tag == ANY => ANY,
            Self::Plain => m.tag,
            Self::Numbered(numbers) => numbers[&(m.communicator, m.tag)],
        }
    }
}

/// State while the calls of all ranks are processed.
struct Walk<'a> {
    trace: &'a MpiTrace,
    calls: Vec<&'a [Call]>,
    script: Script,
    tags: Tags,
    free: u32,
    /// By rank, the call that is next.
    next: Vec<usize>,
    /// By rank, pending operations by request.
    requests: Vec<HashMap<u32, u32>>,
    /// By communicator, how many members have come.
    arrived: Vec<usize>,
    running: VecDeque<u32>,
}

impl MpiTrace {
    /// The schedule of these calls. `write` is called for every collective when all its members have arrived, and
    /// writes its messages into the script; a wait of each member precedes and follows it.
    ///
    /// Nonblocking calls continue until a wait names their request. Messages of different communicators have
    /// different tags; only a receive of any tag could take one of another communicator.
    ///
    /// # Errors
    /// If calls of ranks are missing, do not agree, or their messages have only one end.
    ///
    /// # Panics
    /// If a communicator has a member that is not a rank of the world.
    pub fn schedule(
        &self,
        write: &mut dyn FnMut(&mut Script, &CollectiveCall<'_>),
    ) -> Result<Schedule, TraceError> {
        let missing = self.missing();
        if let Some(&first) = missing.first() {
            let (count, ranks) = (missing.len(), self.ranks.len());
            return Err(TraceError::Missing { count, ranks, first });
        }
        let ranks = self.ranks.len();
        let (tags, free) = Tags::of(self)?;
        let mut walk = Walk {
            trace: self,
            calls: self.ranks.iter().flatten().map(Vec::as_slice).collect(),
            script: Script::new(ranks as u32),
            tags,
            free,
            next: vec![0; ranks],
            requests: vec![HashMap::new(); ranks],
            arrived: vec![0; self.communicators.len()],
            running: (0..ranks as u32).collect(),
        };
        while let Some(rank) = walk.running.pop_front() {
            walk.run(rank, write)?;
        }
        walk.all_done()?;
        Ok(walk.script.finish()?)
    }
}

impl<'a> Walk<'a> {
    /// Goes through the calls of a rank until it has to wait for others.
    fn run(
        &mut self,
        rank: u32,
        write: &mut dyn FnMut(&mut Script, &CollectiveCall<'_>),
    ) -> Result<(), TraceError> {
        let r = rank as usize;
        while let Some(call) = self.calls[r].get(self.next[r]) {
            match call {
                Call::Compute { picoseconds } => {
                    self.script.compute(rank, *picoseconds);
                    self.script.wait(rank);
                }
                Call::Send(m) => {
                    let op = self.send(rank, m)?;
                    self.script.begin(rank, op);
                    self.script.wait(rank);
                }
                Call::Recv(m) => {
                    let op = self.recv(rank, m)?;
                    self.script.begin(rank, op);
                    self.script.wait(rank);
                }
                Call::Sendrecv(both) => {
                    let ops = [self.send(rank, &both[0])?, self.recv(rank, &both[1])?];
                    let started = ops.map(|op| self.script.detached(rank, op));
                    self.script.join(rank, &started);
                }
                Call::Isend(m, request) => {
                    let op = self.send(rank, m)?;
                    let id = self.script.detached(rank, op);
                    self.requests[r].insert(*request, id);
                }
                Call::Irecv(m, request) => {
                    let op = self.recv(rank, m)?;
                    let id = self.script.detached(rank, op);
                    self.requests[r].insert(*request, id);
                }
                Call::Wait(requests) => {
                    let call = self.next[r];
                    let open = &mut self.requests[r];
                    let found = requests.iter().map(|&request| {
                        let none = TraceError::NoSuchRequest { rank, call, request };
                        open.remove(&request).ok_or(none)
                    });
                    let started: Vec<u32> = found.collect::<Result<_, _>>()?;
                    self.script.join(rank, &started);
                }
                Call::Collective(c) => {
                    let members = self.members(rank, c.communicator)?;
                    if c.communicator != WORLD && !members.contains(&rank) {
                        let (call, peer) = (self.next[r], rank);
                        let (communicator, members) = (c.communicator, members.len());
                        return Err(TraceError::NoSuchRank {
                            rank,
                            call,
                            peer,
                            communicator,
                            members,
                        });
                    }
                    let here = &mut self.arrived[c.communicator as usize];
                    *here += 1;
                    if *here < members.len() {
                        return Ok(());
                    }
                    *here = 0;
                    self.together(c, members, write)?;
                    return Ok(());
                }
            }
            self.next[r] += 1;
        }
        Ok(())
    }

    fn members(&self, rank: u32, communicator: u32) -> Result<&'a [u32], TraceError> {
        let members = self.trace.communicators.get(communicator as usize);
        members.filter(|m| !m.is_empty()).map(Vec::as_slice).ok_or(TraceError::NoMembers {
            rank,
            call: self.next[rank as usize],
            communicator,
        })
    }

    /// The other end of a message as a rank of the world.
    fn peer(&self, rank: u32, m: &Message) -> Result<u32, TraceError> {
        let members = self.members(rank, m.communicator)?;
        members.get(m.peer as usize).copied().ok_or(TraceError::NoSuchRank {
            rank,
            call: self.next[rank as usize],
            peer: m.peer,
            communicator: m.communicator,
            members: members.len(),
        })
    }

    fn send(&self, rank: u32, m: &Message) -> Result<Op, TraceError> {
        Ok(Op::Send { to: self.peer(rank, m)?, bytes: m.bytes, tag: self.tags.tag(m) })
    }

    fn recv(&self, rank: u32, m: &Message) -> Result<Op, TraceError> {
        let from = if m.peer == ANY { ANY } else { self.peer(rank, m)? };
        Ok(Op::Recv { from, bytes: m.bytes, tag: self.tags.tag(m) })
    }

    /// The collective at which a rank has arrived.
    fn collective(&self, rank: u32) -> Option<&'a Collective> {
        match self.calls[rank as usize].get(self.next[rank as usize]) {
            Some(Call::Collective(c)) => Some(c),
            _ => None,
        }
    }

    /// All members have come.
    fn together(
        &mut self,
        last: &Collective,
        members: &'a [u32],
        write: &mut dyn FnMut(&mut Script, &CollectiveCall<'_>),
    ) -> Result<(), TraceError> {
        let communicator = last.communicator;
        let all: Vec<&Collective> =
            members.iter().filter_map(|&rank| self.collective(rank)).collect();
        let [first, ..] = all.as_slice() else { return Ok(()) };
        for (&rank, c) in members.iter().zip(&all) {
            let call = self.next[rank as usize];
            let kind = c.kind;
            if (kind, c.root) != (first.kind, first.root) {
                let named = |c: &Collective| {
                    let root = if c.kind.rooted() {
                        format!(" with root {}", c.root)
                    } else {
                        String::new()
                    };
                    format!("{}{root}", c.kind)
                };
                return Err(TraceError::Disagree {
                    rank,
                    call,
                    found: named(c),
                    expected: named(first),
                    other: members[0],
                    other_call: self.next[members[0] as usize],
                    communicator,
                });
            }
            let size = members.len();
            if c.root as usize >= size {
                let peer = c.root;
                return Err(TraceError::NoSuchRank {
                    rank,
                    call,
                    peer,
                    communicator,
                    members: size,
                });
            }
            if c.sizes.len() != size && !(c.sizes.is_empty() && first.sizes.is_empty()) {
                let found = c.sizes.len();
                return Err(TraceError::Sizes { rank, call, kind, found, members: size });
            }
        }
        let volume = volume(&all);
        let call = CollectiveCall {
            kind: first.kind,
            ranks: members,
            root: first.root,
            volume,
            tag: self.free + communicator,
        };
        self.script.wait_all(members);
        write(&mut self.script, &call);
        self.script.wait_all(members);
        for &rank in members {
            self.next[rank as usize] += 1;
            self.running.push_back(rank);
        }
        Ok(())
    }

    /// Every rank must have come to its end.
    fn all_done(&self) -> Result<(), TraceError> {
        for rank in 0..self.calls.len() as u32 {
            let Some(c) = self.collective(rank) else { continue };
            let members = self.members(rank, c.communicator)?;
            let comes = |&&other: &&u32| {
                self.collective(other).is_none_or(|o| o.communicator != c.communicator)
            };
            // Some member is missing, or it would have continued.
            let Some(&other) = members.iter().find(comes) else { continue };
            let call = self.next[other as usize];
            let state = match self.collective(other) {
                Some(o) => {
                    format!("waits in call {call}, {} of communicator {}", o.kind, o.communicator)
                }
                None => format!("is done after {call} calls"),
            };
            return Err(TraceError::Alone {
                rank,
                call: self.next[rank as usize],
                kind: c.kind,
                communicator: c.communicator,
                other,
                state,
            });
        }
        Ok(())
    }
}

/// The bytes that all members' calls together say.
pub(super) fn volume<'a>(all: &[&'a Collective]) -> Volume<'a> {
    let first = all[0];
    if !first.sizes.is_empty() {
        return match first.kind {
            CollectiveKind::Alltoall => {
                Volume::Pairs(all.iter().map(|c| c.sizes.as_slice()).collect())
            }
            _ => Volume::Each(first.sizes.clone()),
        };
    }
    let alike = all.iter().all(|c| c.bytes == first.bytes);
    match first.kind {
        CollectiveKind::Gather
        | CollectiveKind::Scatter
        | CollectiveKind::Allgather
        | CollectiveKind::ReduceScatter
            if !alike =>
        {
            Volume::Each(all.iter().map(|c| c.bytes).collect())
        }
        _ => Volume::Same(all.iter().map(|c| c.bytes).max().unwrap_or(0)),
    }
}
