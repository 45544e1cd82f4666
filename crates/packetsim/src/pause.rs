//! Priority flow control: pauses, and adapters that pause without end.

use serde::{Deserialize, Serialize};

/// When an input pauses whoever sends to it, by bytes of a lane's buffer that are taken or on their way there (IEEE 802.1Qbb).
///
/// What is on its way when a pause is sent is counted already, so that no buffer overflows: the headroom is what the buffer has beyond
/// `xoff`. A pause, and its end, take what a credit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pfc {
    /// With more than this many bytes there a lane is paused.
    pub xoff: u32,
    /// With at most this many its pause ends.
    pub xon: u32,
}

impl Pfc {
    /// Refuses thresholds that a buffer of this many bytes cannot have.
    pub(crate) fn check(self, buffer: u32) -> Result<(), String> {
        let Self { xoff, xon } = self;
        if xon < xoff && xoff < buffer {
            return Ok(());
        }
        Err(format!(
            "pauses begin above {xoff} B and end at {xon} B: xon must be below xoff, and that below the buffer of {buffer} B, which \
             keeps the rest as headroom"
        ))
    }
}

/// An adapter that is broken pauses its switch for a while, and takes nothing: a pause storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseStorm {
    /// The adapter's terminal.
    pub terminal: u32,
    /// From when, in picoseconds.
    pub from: u64,
    /// Up to when.
    pub until: u64,
}

/// When something that would leave for a terminal at a time does.
pub(crate) fn after_storms(storms: &[PauseStorm], terminal: u32, mut when: u64) -> u64 {
    // In the order in which they begin: one may follow the other.
    for storm in storms.iter().filter(|s| s.terminal == terminal) {
        if (storm.from..storm.until).contains(&when) {
            when = storm.until;
        }
    }
    when
}

/// How often something was paused, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paused {
    /// How often.
    pub count: u64,
    /// How long in all, in picoseconds; lanes that were paused at once each count.
    pub long: u64,
}

impl Paused {
    /// Others, too.
    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.long += other.long;
    }

    /// What lanes had up to a time.
    pub(crate) fn sum(lanes: &[Pause], now: u64) -> Self {
        let mut sum = Self::default();
        for pause in lanes {
            let open = pause.since.map_or(0, |since| now.saturating_sub(since));
            sum.add(Self { count: pause.count, long: pause.long + open });
        }
        sum
    }
}

/// Who was paused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// All adapters together, by their switches.
    pub adapters: Paused,
    /// By port of the network, outputs of switches by the switch behind them. Adapters pause nobody but in storms.
    pub ports: Vec<Paused>,
}

/// What a sender knows of pauses of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    /// Bytes of room that it may not use while it is paused, and since when it is, in picoseconds.
    withheld: u32,
    since: Option<u64>,
    /// How often it was paused, and how long in all, in picoseconds.
    count: u64,
    long: u64,
}

impl Pause {
    /// Something was sent in a lane whose buffer has this many bytes, and now has room for `room`: a pause may begin.
    pub(crate) fn sent(&mut self, pfc: Pfc, room: &mut u32, buffer: u32, now: u64) {
        if self.since.is_none() && buffer - *room > pfc.xoff {
            self.withheld = std::mem::take(room);
            self.since = Some(now);
            self.count += 1;
        }
    }

    /// There is room for this many bytes again: the sender's, unless it is paused and stays so.
    pub(crate) fn freed(&mut self, pfc: Pfc, room: &mut u32, bytes: u32, buffer: u32, now: u64) {
        let Some(since) = self.since else {
            *room += bytes;
            return;
        };
        self.withheld += bytes;
        if buffer - self.withheld <= pfc.xon {
            *room = std::mem::take(&mut self.withheld);
            self.since = None;
            self.long += now - since;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A buffer of 1,000 B, paused above 600 and on again at 300: four packets of 200 B go, the pause lasts until three have left.
    #[test]
    fn pauses_last_until_enough_has_left() {
        let pfc = Pfc { xoff: 600, xon: 300 };
        let mut room = 1000;
        let mut pause = Pause::default();
        for sent in 1..=4u64 {
            assert!(room >= 200, "packet {sent}");
            room -= 200;
            pause.sent(pfc, &mut room, 1000, 10 * sent);
        }
        assert_eq!((room, pause.count), (0, 1));
        for (freed, expected) in [(1, 0), (2, 0), (3, 800)] {
            pause.freed(pfc, &mut room, 200, 1000, 100 * freed);
            assert_eq!(room, expected);
        }
        assert_eq!(Paused::sum(&[pause], 1000), Paused { count: 1, long: 260 });
        pause.freed(pfc, &mut room, 200, 1000, 400);
        assert_eq!(room, 1000);
    }

    #[test]
    fn storms_hold_what_would_leave_in_them() {
        let storm = |from, until| PauseStorm { terminal: 3, from, until };
        let storms = [storm(10, 20), storm(20, 25), storm(40, 50)];
        let leaves = |terminal, when| after_storms(&storms, terminal, when);
        assert_eq!([9, 10, 19, 25, 39, 45].map(|when| leaves(3, when)), [9, 25, 25, 25, 39, 50]);
        assert_eq!(leaves(2, 12), 12);
    }

    #[test]
    fn thresholds_are_in_order() {
        let holds = |xoff, xon| Pfc { xoff, xon }.check(1000).is_ok();
        assert!(holds(600, 300) && holds(999, 0));
        assert!(!holds(300, 300) && !holds(1000, 10) && !holds(200, 300));
    }
}
