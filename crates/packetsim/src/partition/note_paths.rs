//! Notes that take bytes on channels and wait there: from switch to switch, by shortest paths.
//!
//! Requests, grants and acknowledgements have their own crossbars in switches (De Sensi et al., SC'20, section II-A), and share the
//! channels with data: so a note waits for the data that its output has granted before, and that an adapter is sending, and data waits
//! for it. Of several shortest paths it takes the one whose channel is free first. Buffers for notes never fill (decision): a sender
//! of packets has few notes in flight.

use super::Partition;
use crate::Peer;
use crate::congestion::CongestionMessage;
use crate::routing::Routing;
use crate::stop::Stop;
use crate::wheel::{Event, What};

impl<R: Routing> Partition<'_, R> {
    /// A note leaves a terminal or a switch at a time, and is heard at another one if notes are free.
    pub(super) fn send_note(&mut self, from: Stop, note: CongestionMessage, when: u64, free: u64) {
        if self.note_paths.is_none() {
            return self.note_at(free, Stop::Heard(note.to()), note);
        }
        if when > self.now {
            return self.note_at(when, from, note);
        }
        self.pass_on(from, note);
    }

    /// Forwards the notes that are at terminals or ports in this tick, in an order that does not depend on
    /// partitions.
    pub(super) fn pass_notes(&mut self) {
        let mut passing = std::mem::take(&mut self.passing);
        passing.sort_unstable();
        for (at, note) in passing.drain(..) {
            self.pass_on(at, note);
        }
        self.passing = passing;
    }

    fn pass_on(&mut self, at: Stop, note: CongestionMessage) {
        let bytes = self.micro.tuning.notes.bytes as u32;
        match at {
            Stop::Heard(_) => self.heard.push(note),
            Stop::Sent(terminal) => {
                let (home, seat) = (self.net.home(terminal), self.seat(terminal));
                let port = self.net.port(home);
                let channel = &mut self.terminals[seat].channel;
                let departs = (*channel).max(self.now);
                *channel = departs + port.long(bytes + self.micro.framing.gap);
                self.note_at(departs + u64::from(port.latency), Stop::Passes(home), note);
            }
            Stop::Passes(port) => {
                let switch = self.net.port(port).switch;
                let Some(out) = self.next_port(switch, note.to()) else {
                    // No path leads there: nothing else would end the wait for it.
                    let one_way = self.terms.map_or(0, |terms| terms.one_way);
                    return self.note_at(self.now + one_way, Stop::Heard(note.to()), note);
                };
                let departs = self.switches.carry(out, self.now, bytes);
                let port = self.net.port(out);
                let head = departs + u64::from(port.latency);
                match port.peer() {
                    Peer::Port(next) => self.note_at(head, Stop::Passes(next), note),
                    Peer::Terminal(to) => {
                        self.note_at(head + port.long(bytes), Stop::Heard(to), note);
                    }
                }
            }
        }
    }

    /// The port of a switch that leads nearer to a terminal: the one whose channel is free first.
    fn next_port(&self, switch: u32, terminal: u32) -> Option<u32> {
        let home = self.net.home(terminal);
        let to = self.net.port(home).switch;
        if to == switch {
            return Some(home);
        }
        let base = self.net.base(switch);
        let sets = self.note_paths.as_ref()?.nearer(switch, to).iter().zip(0u32..);
        let ports = sets.flat_map(|(&set, word)| {
            (0..64).filter(move |bit| set >> bit & 1 != 0).map(move |bit| base + word * 64 + bit)
        });
        ports.min_by_key(|&port| (self.switches.free_at(port), port))
    }

    /// A note will be somewhere at a time.
    pub(super) fn note_at(&mut self, when: u64, stop: Stop, note: CongestionMessage) {
        let tick = self.wheel.tick_after(when);
        let port = match stop {
            Stop::Heard(terminal) | Stop::Sent(terminal) => self.net.home(terminal),
            Stop::Passes(port) => port,
        };
        if self.span.ports.contains(&port) {
            self.note(tick, stop, note);
        } else {
            self.away.note(tick, port, stop, note);
        }
    }

    /// A note is there in a tick.
    pub(super) fn note(&mut self, tick: u64, stop: Stop, note: CongestionMessage) {
        let slot = self.unused.pop().unwrap_or_else(|| {
            self.notes.push(note);
            self.notes.len() as u32 - 1
        });
        self.notes[slot as usize] = note;
        self.wheel.push(tick, Event::new(What::Note, stop.place(), slot));
    }
}
