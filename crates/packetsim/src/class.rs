//! Traffic classes and their shares of a channel.

use serde::{Deserialize, Serialize};

/// A traffic class: a separate virtual queue at every output and adapter, with separate lanes and buffers behind it.
///
/// De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect (SC'20), section II-E.
#[derive(Clone, Debug, PartialEq)]
pub struct TrafficClass {
    /// Name of the class for users.
    pub name: String,
    /// The differentiated services code point of its packets (RFC 2474).
    pub dscp: u8,
    /// Bandwidth beyond all guarantees goes to the classes of the highest priority that have something to send.
    pub priority: u8,
    /// Minimum share of every channel if it has enough to send, in 2^30ths.
    pub least: u32,
    /// Maximum share of every channel.
    pub most: u32,
    /// Whether packets of a pair of endpoints stay in order: they take another path only when none of them is in flight. `None`: as
    /// the switches have it ([`crate::SwitchModel::ordered`]).
    pub ordered: Option<bool>,
    /// Whether packets that find no buffer space are dropped, to be sent again, instead of waiting.
    pub lossy: bool,
    /// Non-minimal paths count this many times as much as they would, in 256ths.
    pub bias: u32,
    /// Bytes of buffer of each of its lanes at every input; as the switches have it without.
    pub buffer: Option<u32>,
}

impl TrafficClass {
    /// A class without a guarantee that may use the whole channel.
    pub fn plain(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            dscp: 0,
            priority: 0,
            least: 0,
            most: WHOLE,
            ordered: None,
            lossy: false,
            bias: EVEN,
            buffer: None,
        }
    }
}

/// The whole channel, as a share.
pub const WHOLE: u32 = 1 << WHOLE_BITS;
const WHOLE_BITS: u32 = 30;
/// A bias that changes nothing.
pub const EVEN: u32 = 256;

/// The use of a channel by a class, in picoseconds of it.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Share {
    /// When the rest was true.
    at: u64,
    /// Credit towards its minimum, and what is left of its maximum; below zero after a long packet.
    owed: i64,
    left: i64,
    /// Recent use, which decays over time.
    had: u64,
}

/// Limit, in picoseconds, of the credit of a class that has nothing to send.
const BURST: i64 = 1_000_000;
/// Time constant of the recent shares, in picoseconds.
const MEMORY: u64 = 50_000_000;

/// Sort key of a class; see [`Shares::key`].
pub(crate) type Key = (bool, u8, u64);

impl Share {
    fn key(&self, class: &TrafficClass) -> Key {
        (self.owed <= 0, u8::MAX - class.priority, self.had)
    }

    fn at(mut self, class: &TrafficClass, now: u64) -> Self {
        let long = now.saturating_sub(self.at);
        let part =
            |of: u32| (((u128::from(long) * u128::from(of)) >> WHOLE_BITS) as u64).cast_signed();
        self.owed = (self.owed + part(class.least)).min(BURST);
        self.left = (self.left + part(class.most)).min(BURST);
        self.had -=
            (u128::from(self.had) * u128::from(long.min(MEMORY)) / u128::from(MEMORY)) as u64;
        self.at = self.at.max(now);
        self
    }
}

/// Use of some consecutive channels by classes: nothing is stored if there is only one class, which has no limit.
#[derive(Clone, Debug)]
pub(crate) struct Shares<'n> {
    classes: &'n [TrafficClass],
    /// By channel and class.
    of: Vec<Share>,
}

/// The class that is granted next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Number of the class.
    Class(u32),
    /// No class before a time.
    Later(u64),
}

impl<'n> Shares<'n> {
    /// Of this many channels.
    pub(crate) fn new(classes: &'n [TrafficClass], channels: usize) -> Self {
        let some = if classes.is_empty() { 0 } else { channels * classes.len() };
        let full = Share { owed: BURST, left: BURST, ..Share::default() };
        Self { classes, of: vec![full; some] }
    }

    /// Whether there is nothing to arbitrate.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        self.classes.is_empty()
    }

    /// Selects the class of a non-empty set that may send on a channel.
    ///
    /// First the classes below their minimum, by priority; then those of the highest priority; among these the one with the
    /// lowest recent use. So bandwidth beyond the guarantees goes to the class with the lowest share.
    pub(crate) fn next(&self, channel: usize, set: u64, now: u64) -> Next {
        let (mut best, mut later) = (None, u64::MAX);
        for (c, class) in self.classes.iter().enumerate().filter(|(c, _)| set >> c & 1 != 0) {
            let share = self.of[channel * self.classes.len() + c].at(class, now);
            if share.left <= 0 {
                let long = (u128::from(share.left.unsigned_abs() + 1) << WHOLE_BITS)
                    / u128::from(class.most);
                later = later.min(now + long as u64 + 1);
                continue;
            }
            let key = share.key(class);
            if best.is_none_or(|(least, _)| key < least) {
                best = Some((key, c as u32));
            }
        }
        best.map_or(Next::Later(later), |b| Next::Class(b.1))
    }

    /// Sort key of a class on a channel, the lowest goes first: whether nothing is owed, how far below the highest priority,
    /// recent use.
    #[inline]
    pub(crate) fn key(&self, channel: usize, class: u8, now: u64) -> Key {
        let Some(c) = self.classes.get(usize::from(class)) else { return Key::default() };
        self.of[channel * self.classes.len() + usize::from(class)].at(c, now).key(c)
    }

    /// A class has used the channel for `long`.
    #[inline]
    pub(crate) fn spend(&mut self, channel: usize, class: u32, now: u64, long: u64) {
        let Some(c) = self.classes.get(class as usize) else { return };
        let share = &mut self.of[channel * self.classes.len() + class as usize];
        *share = share.at(c, now);
        // Use beyond the guarantees does not count against the minimum.
        if share.owed > 0 {
            share.owed -= long.cast_signed();
        }
        share.left -= long.cast_signed();
        share.had += long;
    }

    /// Whether a state is of as many channels and classes.
    pub(crate) fn is_like(&self, state: &SharesState) -> bool {
        self.of.len() == state.0.len()
    }

    /// Swaps the state with another one.
    pub(crate) fn swap(&mut self, state: &mut SharesState) {
        std::mem::swap(&mut self.of, &mut state.0);
    }
}

/// The changing state of shares.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SharesState(Vec<Share>);

#[cfg(test)]
mod tests {
    use super::*;

    /// Shares of a channel, in percent, of classes that always have something to send; a packet takes 0.1 us.
    fn shares(classes: &[TrafficClass], packets: u64) -> Vec<u64> {
        let mut shares = Shares::new(classes, 1);
        let (mut now, mut count) = (0, vec![0; classes.len()]);
        let all = (1 << classes.len()) - 1;
        for _ in 0..packets {
            match shares.next(0, all, now) {
                Next::Class(c) => {
                    count[c as usize] += 1;
                    shares.spend(0, c, now, 100_000);
                    now += 100_000;
                }
                Next::Later(when) => {
                    assert!(when > now);
                    now = when;
                }
            }
        }
        count.iter().map(|c| (c * 100_000 * 1000 / now + 5) / 10).collect()
    }

    fn class(least: u32, most: u32, priority: u8) -> TrafficClass {
        let part = |percent: u32| WHOLE / 100 * percent;
        TrafficClass { least: part(least), most: part(most), priority, ..TrafficClass::plain("c") }
    }

    /// Every class gets its minimum, and the rest goes to those with the lowest share: the level to which water
    /// fills.
    #[test]
    fn water_fills_up_the_lowest() {
        let of = |all: &[(u32, u32, u8)]| {
            let classes: Vec<_> = all.iter().map(|&(l, m, p)| class(l, m, p)).collect();
            shares(&classes, 20_000)
        };
        assert_eq!(of(&[(80, 100, 0), (10, 100, 0)]), [80, 20]);
        assert_eq!(of(&[(50, 100, 0), (10, 100, 0), (10, 100, 0)]), [50, 25, 25]);
        assert_eq!(of(&[(0, 100, 0), (0, 100, 0)]), [50, 50]);
        // Limits leave the channel idle where no other class sends, and give the rest to others where there are some.
        assert_eq!(of(&[(0, 30, 0)]), [30]);
        assert_eq!(of(&[(0, 30, 0), (10, 100, 0)]), [30, 70]);
        // Priority takes all bandwidth beyond the guarantees.
        assert_eq!(of(&[(0, 100, 0), (10, 100, 1)]), [0, 100]);
        assert_eq!(of(&[(20, 100, 0), (0, 100, 1)]), [20, 80]);
    }

    /// A class that was alone has no less than others when they start.
    #[test]
    fn the_past_is_forgotten() {
        let classes = [class(0, 100, 0), class(0, 100, 0)];
        let mut shares = Shares::new(&classes, 1);
        let mut now = 0;
        let mut run = |set: u64, packets: u64| {
            let mut count = [0, 0];
            for _ in 0..packets {
                let Next::Class(c) = shares.next(0, set, now) else { panic!("there is no limit") };
                count[c as usize] += 1;
                shares.spend(0, c, now, 100_000);
                now += 100_000;
            }
            count
        };
        assert_eq!(run(1, 100_000), [100_000, 0]);
        let both = run(3, 10_000);
        assert!(both[1] - both[0] < 1000, "{both:?}");
    }
}
