//! What happens when: a ring of ticks, and a map for what is far ahead.

use std::collections::BTreeMap;

/// Ticks that the ring holds.
const RING: usize = 1 << 12;

/// Events by tick. Those of one tick come in no order: nobody may depend on it.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    ring: Vec<Vec<Event>>,
    now: u64,
    /// Events in the ring.
    near: usize,
    far: BTreeMap<u64, Vec<Event>>,
}

/// Something that happens: what, where, and with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event(u64);

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum What {
    /// The head of a packet is at a port.
    Arrival,
    /// The next switch has room again.
    Credit,
    /// An output may send again.
    Output,
    /// An input may be read again.
    Input,
    /// A terminal has room again in its switch.
    TerminalCredit,
    /// A terminal may send again.
    Terminal,
    /// A terminal has a new packet.
    Birth,
}

const WHATS: [What; 7] = [
    What::Arrival,
    What::Credit,
    What::Output,
    What::Input,
    What::TerminalCredit,
    What::Terminal,
    What::Birth,
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

impl Wheel {
    pub(crate) fn new() -> Self {
        Self { ring: vec![Vec::new(); RING], now: 0, near: 0, far: BTreeMap::new() }
    }

    /// Adds an event at a tick that is not over.
    #[inline]
    pub(crate) fn push(&mut self, tick: u64, event: Event) {
        debug_assert!(tick >= self.now, "what is over is over");
        if tick - self.now < RING as u64 {
            self.ring[tick as usize % RING].push(event);
            self.near += 1;
        } else {
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

    /// Takes all events of a tick, which is not before any that was taken; what they lead to is later.
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
        let mut wheel = Wheel::new();
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
    fn events_keep_what_they_are() {
        for what in WHATS {
            let e = Event::new(what, (1 << 29) - 1, u32::MAX);
            assert_eq!((e.what(), e.place(), e.with()), (what, (1 << 29) - 1, u32::MAX));
        }
    }
}
