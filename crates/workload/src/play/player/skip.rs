//! A player as something that comes to the same state again and again.

use super::{Event, EventKind, HELD, Player};
use crate::play::Snapshot;
use crate::play::level::{Level, Watch};
use crate::schedule::Program;

impl Player<'_> {
    /// The program of its only job, if its ranks can repeat exactly: no other jobs, no noise, and no laps recorded.
    pub(in crate::play) fn lone_program(&self) -> Option<&Program> {
        let [job] = self.jobs else { return None };
        (self.host.noise <= 0.0 && self.lapped.is_none()).then_some(&*job.program)
    }

    /// The loops of the first job about a place that have at least this many iterations, the outermost first, and by how much
    /// messages of their iterations differ in size: by no more than `within`, a part of the smallest.
    pub(in crate::play) fn levels(
        &self,
        place: (u64, u32),
        least: u64,
        within: f64,
    ) -> Vec<(Level, f64)> {
        let Some(program) = self.lone_program().filter(|p| place.0 < p.epochs()) else {
            return Vec::new();
        };
        let mut levels = Vec::new();
        program.each_loop(place.0, |found| levels.push((Level::Epochs(found), 0.0)));
        let (alike, spread) = program.blocks()[program.block(place.0).0].alike(place.1, within);
        let rounds = Level::Rounds { epoch: place.0, begin: alike.start, end: alike.end };
        levels.push((rounds, spread));
        levels.retain(|(level, _)| level.count() >= least);
        levels
    }

    /// Times the iterations of a loop from here on, within those that are timed already.
    pub(in crate::play) fn watch(&mut self, level: Level) {
        self.watches.push(Watch::new(level, self.running[0].idle()));
    }

    /// The furthest place of a rank of the first job; `None` if one is at the end.
    pub(in crate::play) fn most_place(&self) -> Option<(u64, u32)> {
        let running = &self.running[0];
        let busy = running.ranks.iter().zip(running.idle()).filter(|(_, is_idle)| !**is_idle);
        busy.map(|(r, _)| (r.epoch, r.round)).max()
    }

    /// A rank of the first job that has anything to do.
    pub(in crate::play) fn busy_rank(&self) -> Option<u32> {
        self.running.first()?.idle().iter().position(|idle| !idle).map(|rank| rank as u32)
    }

    /// The current epoch and round of a rank of the first job.
    #[inline]
    pub(in crate::play) fn place(&self, rank: u32) -> (u64, u32) {
        let r = &self.running[0].ranks[rank as usize];
        (r.epoch, r.round)
    }

    /// Adds all that its first job does from here on depends on.
    pub(in crate::play) fn describe(&self, snapshot: &mut Snapshot) {
        let running = &self.running[0];
        snapshot.word(running.gathered.into());
        for (rank, r) in running.ranks.iter().enumerate() {
            if running.idle()[rank] {
                continue;
            }
            snapshot.place((r.epoch, r.round));
            snapshot.word(u64::from(r.block) << 32 | u64::from(r.remaining));
            // A rank that waits to start an epoch has nothing left of the one before.
            if r.remaining > 0 {
                let steps = r.steps(&self.jobs[0]);
                let ops = steps.of(rank as u32);
                for waits in &running.ops[r.base as usize..r.base as usize + ops.len()] {
                    snapshot.word(u64::from(waits.left) << 32 | u64::from(waits.state.min(HELD)));
                    if waits.state >= HELD {
                        self.describe_message(waits.state - HELD, snapshot);
                    }
                }
            }
            for (&place, early) in &running.early[rank] {
                snapshot.place(place);
                for &(recv, message) in early {
                    snapshot.item(|snapshot| {
                        snapshot.word(recv.into());
                        self.describe_message(message, snapshot);
                    });
                }
                snapshot.end_set();
            }
        }
        for &free in &running.free {
            snapshot.time(free.max(self.now));
        }
        for (time, Event { rank, what, kind, .. }) in self.agenda.ordered() {
            snapshot.item(|snapshot| {
                snapshot.time(time);
                snapshot.word(kind as u64);
                match kind {
                    EventKind::Begin => {}
                    EventKind::Begun | EventKind::Done => {
                        snapshot.word(u64::from(rank) << 32 | u64::from(what));
                    }
                    EventKind::Sent
                    | EventKind::Request
                    | EventKind::Answer
                    | EventKind::Arrived => self.describe_message(what, snapshot),
                }
            });
        }
        snapshot.end_set();
        snapshot.waited(self.waits);
    }

    /// Adds a message that is not received yet, independent of its number.
    pub fn describe_message(&self, message: u32, snapshot: &mut Snapshot) {
        let m = &self.messages[message as usize];
        snapshot.place((m.epoch, m.round));
        snapshot.word(u64::from(m.from) << 32 | u64::from(m.to));
        snapshot.word(u64::from(m.send) << 32 | u64::from(m.recv));
        snapshot.word(m.bytes);
        snapshot.word(u64::from(m.asks) | u64::from(m.holds) << 1 | u64::from(m.departed > 0) << 2);
        snapshot.time(if m.departed > 0 { m.departed } else { self.now });
    }

    /// Advances by a number of epochs and rounds, of picoseconds and of events at once: by a multiple of the difference
    /// between two equal snapshots.
    pub(in crate::play) fn skip(&mut self, (epochs, rounds): (u64, u32), time: u64, events: u64) {
        let running = &mut self.running[0];
        let on = |(epoch, round): (u64, u32)| (epoch + epochs, round + rounds);
        for rank in 0..running.ranks.len() {
            if !running.idle()[rank] {
                let r = &mut running.ranks[rank];
                (r.epoch, r.round) = on((r.epoch, r.round));
                r.begun += time;
            }
        }
        running.free.iter_mut().for_each(|free| *free += time);
        for early in &mut running.early {
            *early = std::mem::take(early).into_iter().map(|(at, what)| (on(at), what)).collect();
        }
        for m in &mut self.messages {
            // Those that were received stay in their places until these are used again.
            (m.epoch, m.round) = (m.epoch.wrapping_add(epochs), m.round.wrapping_add(rounds));
            if m.departed > 0 {
                m.departed += time;
            }
        }
        self.agenda.put_off(time);
        self.now += time;
        self.events = self.events.saturating_add(events);
    }
}
