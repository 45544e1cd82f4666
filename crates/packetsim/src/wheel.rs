//! Events by time: a ring of ticks, and a map for those far ahead.

use std::collections::BTreeMap;

use darkfiber_workload::state;
use serde::{Deserialize, Serialize};

/// Ticks that the ring holds.
const RING: usize = 1 << 12;

/// Events by tick. Those of one tick are unordered: no code may depend on their order.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    ticks: Ticks,
    ring: Vec<Vec<Event>>,
    now: u64,
    /// Events in the ring.
    near: usize,
    far: BTreeMap<u64, Vec<Event>>,
}

state! {
    pub(crate) struct WheelState of() Wheel {
        ring: Vec<Vec<Event>>,
        now: u64,
        near: usize,
        far: BTreeMap<u64, Vec<Event>>,
    }
}

/// Divides by the length of a tick, which is the same all along: by a multiplication.
#[derive(Clone, Copy, Debug)]
struct Ticks {
    tick: u64,
    /// 2^64 over it, rounded up.
    inverse: u64,
}

impl Ticks {
    fn new(tick: u64) -> Self {
        assert!((2..1 << 20).contains(&tick), "ticks of 2 ps to 1 us");
        Self { tick, inverse: u64::MAX / tick + 1 }
    }

    /// The tick that a time is in; exact for times up to 2^44 ps (17 s) in any ticks, and for longer ones in shorter ticks.
    #[inline]
    fn of(self, time: u64) -> u64 {
        ((u128::from(time) * u128::from(self.inverse)) >> 64) as u64
    }
}

/// An event: its kind, its place, and its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Event(u64);

/// Of a credit: bytes have come in at the other end, instead of left it, which counts where it pauses its sender.
pub(crate) const CAME_IN: u32 = 1 << 31;

/// The lane of a credit, and its bytes.
#[inline]
pub(crate) fn lane_and_bytes(with: u32) -> (u32, u32) {
    (with >> 24 & 0x3f, with & 0xff_ffff)
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum What {
    /// The head of a packet is at a port.
    Arrival,
    /// The next switch has returned credits.
    Credit,
    /// An output may send again.
    Output,
    /// An input may be read again.
    Input,
    /// A terminal has credits again in its switch.
    TerminalCredit,
    /// A terminal may send again.
    Terminal,
    /// A terminal has a new packet.
    Birth,
    /// A terminal hears of its packets, or of who would send to it.
    Note,
}

const WHATS: [What; 8] = [
    What::Arrival,
    What::Credit,
    What::Output,
    What::Input,
    What::TerminalCredit,
    What::Terminal,
    What::Birth,
    What::Note,
];

impl Event {
    #[inline]
    pub(crate) fn new(what: What, place: u32, with: u32) -> Self {
        Self((what as u64) << 61 | u64::from(place) << 32 | u64::from(with))
    }

    #[inline]
    pub(crate) fn what(self) -> What {
        WHATS[(self.0 >> 61) as usize]
    }

    #[inline]
    pub(crate) fn place(self) -> u32 {
        (self.0 >> 32) as u32 & ((1 << 29) - 1)
    }

    #[inline]
    pub(crate) fn with(self) -> u32 {
        self.0 as u32
    }
}

impl WheelState {
    /// Whether each slot of the ring holds events of one tick, and their number is right; `is_there` checks what an event
    /// names.
    pub(crate) fn fits(&self, is_there: impl Fn(Event) -> bool) -> bool {
        self.ring.len() == RING
            && self.near == self.ring.iter().map(Vec::len).sum::<usize>()
            && self.ring.iter().chain(self.far.values()).flatten().all(|e| is_there(*e))
    }
}

impl Wheel {
    /// An empty wheel whose ticks take this number of picoseconds.
    pub(crate) fn new(tick: u64) -> Self {
        let ticks = Ticks::new(tick);
        Self { ticks, ring: vec![Vec::new(); RING], now: 0, near: 0, far: BTreeMap::new() }
    }

    /// Adds an event for who may act in the tick that a time is in.
    #[inline]
    pub(crate) fn within(&mut self, time: u64, event: Event) {
        self.push(self.ticks.of(time), event);
    }

    /// Adds an event for the first tick that begins at a time or later.
    #[inline]
    pub(crate) fn after(&mut self, time: u64, event: Event) {
        self.push(self.tick_after(time), event);
    }

    /// The first tick that begins at a time or later.
    #[inline]
    pub(crate) fn tick_after(&self, time: u64) -> u64 {
        self.ticks.of(time + self.ticks.tick - 1)
    }

    /// Adds an event at a tick that is not over.
    #[inline]
    pub(crate) fn push(&mut self, tick: u64, event: Event) {
        if tick.wrapping_sub(self.now) < RING as u64 {
            self.ring[tick as usize % RING].push(event);
            self.near += 1;
        } else {
            assert!(tick >= self.now, "what is over is over");
            self.far.entry(tick).or_default().push(event);
        }
    }

    /// The next tick at which something happens, from now on.
    pub(crate) fn upcoming(&self) -> Option<u64> {
        let far = self.far.keys().next().copied();
        if self.near == 0 {
            return far;
        }
        let ring = self.now..self.now + RING as u64;
        let near = ring.into_iter().find(|t| !self.ring[*t as usize % RING].is_empty());
        far.into_iter().chain(near).min()
    }

    /// Takes all events of a tick, which is not before any that was taken; the events they cause are later.
    pub(crate) fn take(&mut self, tick: u64, events: &mut Vec<Event>) {
        self.now = tick;
        events.clear();
        std::mem::swap(events, &mut self.ring[tick as usize % RING]);
        self.near -= events.len();
        if self.far.first_key_value().is_some_and(|(t, _)| *t == tick)
            && let Some((_, far)) = self.far.pop_first()
        {
            events.extend(far);
        }
        self.now = tick + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_their_ticks() {
        let mut wheel = Wheel::new(1000);
        for tick in [5u64, 70_000, 5, 4096, 9000] {
            wheel.push(tick, Event::new(What::Credit, 7, tick as u32));
        }
        let (mut seen, mut events) = (Vec::new(), Vec::new());
        while let Some(tick) = wheel.upcoming() {
            wheel.take(tick, &mut events);
            for e in &events {
                assert_eq!((e.what(), e.place(), u64::from(e.with())), (What::Credit, 7, tick));
                seen.push(tick);
            }
        }
        assert_eq!(seen, [5, 5, 4096, 9000, 70_000]);
    }

    #[test]
    fn states_name_what_is_there() {
        let mut wheel = Wheel::new(1000);
        for tick in [5u64, 70_000, 4096] {
            wheel.push(tick, Event::new(What::Arrival, 7, tick as u32));
        }
        let mut state = WheelState::default();
        wheel.swap(&mut state);
        assert!(state.fits(|e| e.place() == 7 && e.with() <= 70_000));
        // Events far ahead are looked at, too; and events are counted.
        assert!(!state.fits(|e| e.with() < 70_000));
        state.near += 1;
        assert!(!state.fits(|_| true));
        state.near -= 1;
        state.ring.pop();
        assert!(!state.fits(|_| true));
    }

    #[test]
    fn times_are_in_their_ticks() {
        for tick in [2u64, 3, 1000, 1024, 1_048_575] {
            let ticks = Ticks::new(tick);
            for n in [0, 1, 7, 999_999, (1 << 44) / tick - 1] {
                let begin = n * tick;
                assert_eq!(ticks.of(begin), n);
                assert_eq!(ticks.of(begin + tick - 1), n);
            }
        }
    }

    #[test]
    fn events_keep_what_they_are() {
        for what in WHATS {
            let e = Event::new(what, (1 << 29) - 1, u32::MAX);
            assert_eq!((e.what(), e.place(), e.with()), (what, (1 << 29) - 1, u32::MAX));
        }
    }
}
