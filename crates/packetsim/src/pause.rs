//! Priority flow control: pauses, and adapters that pause without end.

use serde::{Deserialize, Serialize};

/// When an input pauses its sender, by the bytes in a lane's buffer (IEEE 802.1Qbb).
///
/// A pause, and its end, reach the sender over the cable with the latency of a credit. Bytes in flight then need the buffer beyond
/// `xoff` as headroom; where that is too little, credits throttle where real switches would lose packets.
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

/// A broken adapter pauses its switch for a while, and accepts nothing: a pause storm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PauseStorm {
    /// Terminal of the adapter.
    pub terminal: u32,
    /// From when, in picoseconds.
    pub from: u64,
    /// End of the storm, in picoseconds.
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

/// Number of pauses and their duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// Number of pauses.
    pub count: u64,
    /// Total duration in picoseconds; lanes that were paused at once each count.
    pub long: u64,
}

impl Paused {
    /// Adds the pauses of others.
    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.long += other.long;
    }

    /// Sum over the pauses of lanes up to a time.
    pub(crate) fn sum(lanes: &[Pause], now: u64) -> Self {
        let mut sum = Self::default();
        for pause in lanes {
            let open = pause.since.map_or(0, |since| now.saturating_sub(since));
            sum.add(Self { count: pause.count, long: pause.long + open });
        }
        sum
    }
}

/// Pauses by sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pauses {
    /// All adapters together, by their switches.
    pub adapters: Paused,
    /// By port of the network, outputs of switches by the switch behind them. Adapters pause only in storms.
    pub ports: Vec<Paused>,
}

/// The sender's state of pauses of a lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pause {
    /// Bytes in the buffer at the other end, at the time when the current signal was sent.
    held: i64,
    /// Since when it is paused, in picoseconds.
    since: Option<u64>,
    /// Number of pauses, and their total duration in picoseconds.
    count: u64,
    long: u64,
}

impl Pause {
    /// Bytes have come in at the other end, or left (below zero).
    pub(crate) fn note(&mut self, bytes: i64) {
        self.held += bytes;
    }

    /// All of a tick was noted: a pause begins or ends. Whether it ends.
    pub(crate) fn decide(&mut self, pfc: Pfc, now: u64) -> bool {
        match self.since {
            None if self.held > pfc.xoff.into() => {
                self.since = Some(now);
                self.count += 1;
                false
            }
            Some(since) if self.held <= pfc.xon.into() => {
                self.since = None;
                self.long += now - since;
                true
            }
            _ => false,
        }
    }

    /// Whether it is paused.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.since.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Paused above 600 B, on again at 300: after four packets of 200 B, until three have left.
    #[test]
    fn pauses_last_until_enough_has_left() {
        let pfc = Pfc { xoff: 600, xon: 300 };
        let mut pause = Pause::default();
        for (now, bytes, is_on) in [
            (10, 200, false),
            (20, 200, false),
            (30, 200, false),
            (40, 200, true),
            (100, -200, true),
            (200, -200, true),
            (300, -200, false),
            (400, -200, false),
        ] {
            pause.note(bytes);
            let was_on = pause.is_on();
            assert_eq!(pause.decide(pfc, now), was_on && !is_on);
            assert_eq!(pause.is_on(), is_on, "{now}");
        }
        assert_eq!(Paused::sum(&[pause], 1000), Paused { count: 1, long: 260 });
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
