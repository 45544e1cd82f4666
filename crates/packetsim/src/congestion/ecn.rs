//! Explicit congestion notification and the rates of DCQCN: Y. Zhu et al., Congestion Control for Large-Scale RDMA Deployments
//! (SIGCOMM'15), section 3. Its constants are for 40 Gbit/s; queues are counted here as the time that they take (decision).

use serde::{Deserialize, Serialize};

use super::recovery::{LINE, Recovery};
use super::{Arriving, CongestionMessage, CongestionParams, Passing};
use crate::Random;

/// Queues in picoseconds of their channel: 5 KB and 200 KB at 40 Gbit/s (section 5, K_min and K_max); and one packet of so many
/// is marked just below the second one (P_max, 1 %).
const NONE_BELOW: u64 = 1_000_000;
const ALL_ABOVE: u64 = 40_000_000;
const ONE_OF: u64 = 100;
/// An endpoint tells a source at most so often (section 3.1).
const TELLS: u64 = 50_000_000;
/// The mean of marks is a 256th new each time, and forgets so in 55 us without (g and K, section 3.2).
const GAIN: u32 = 256;
const FORGETS: u64 = 55_000_000;
/// More is sent after as long, and after as many bytes (T and B, section 5).
const TIMER: u64 = 55_000_000;
const BYTES: u64 = 10_000_000;

/// Whether a packet that leaves is marked (figure 5).
pub(super) fn marks(p: &Passing, random: &mut Random) -> bool {
    let long = (u64::from(p.waits) * p.pace) >> 16;
    if long <= NONE_BELOW {
        return false;
    }
    let part = (long - NONE_BELOW) << 16;
    let whole = (ALL_ABOVE - NONE_BELOW) * ONE_OF;
    long > ALL_ABOVE || u64::from(random.below(1 << 16)) < part / whole
}

/// By source, when it is told of marks again at the earliest.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Receiver {
    tells: Vec<u64>,
}

impl Receiver {
    /// 1 if the source is told of marks.
    pub(super) fn arrived(&mut self, terms: CongestionParams, a: &Arriving) -> u64 {
        if a.mark == 0 {
            return 0;
        }
        self.tells.resize(terms.terminals, 0);
        let tells = &mut self.tells[a.source as usize];
        if a.now < *tells {
            return 0;
        }
        *tells = a.now + TELLS;
        1
    }
}

/// The rate of a pair.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sender {
    recovery: Recovery,
    /// The mean of marks in 2^16ths, and since when it holds.
    mean: u32,
    since: u64,
}

impl Sender {
    fn go_on(&mut self, now: u64) {
        while self.mean > 0 && self.since + FORGETS <= now {
            self.mean -= (self.mean / GAIN).max(1);
            self.since += FORGETS;
        }
        self.recovery.go_on(now, TIMER, BYTES, Self::more);
    }

    /// What is added in each step: a thousandth (40 Mbit/s of 40 Gbit/s); where both time and bytes have been quiet for long, so
    /// much times the steps of the one that had fewer (hyper increase).
    fn more(by_time: u32, by_bytes: u32) -> u32 {
        LINE / 1000 * by_time.min(by_bytes).max(1)
    }

    /// Whether it was never told of marks.
    pub(super) fn is_new(&self) -> bool {
        self.since == 0
    }

    pub(super) fn sent(&mut self, bytes: u64, now: u64) {
        self.recovery.sent(bytes);
        self.go_on(now);
    }

    pub(super) fn pace(&mut self, now: u64, pace: u64) -> u64 {
        self.go_on(now);
        self.recovery.pace(pace)
    }

    pub(super) fn hear(&mut self, note: &CongestionMessage, now: u64) {
        if note.says == 0 {
            return;
        }
        self.go_on(now);
        // Of a source that was not told before the mean is one (section 3.2: alpha begins at 1).
        if self.since == 0 {
            self.mean = 1 << 16;
        }
        self.recovery.less(self.mean / 2, now);
        self.mean = self.mean - self.mean / GAIN + (1 << 16) / GAIN;
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is marked up to K_min, half of P_max half way to K_max, everything beyond (figure 5).
    #[test]
    fn marks_grow_with_the_queue() {
        // 40 Gbit/s: queues in bytes are those of the paper.
        let pace = (1 << 16) * 200;
        let mut random = Random::new(1, 1);
        let mut of = |waits: u32| {
            let p = Passing { waits, bytes: 1000, pace, was_held: false };
            (0..100_000).filter(|_| marks(&p, &mut random)).count()
        };
        assert_eq!([of(0), of(5_000), of(200_100)], [0, 0, 100_000]);
        let half = of(102_500);
        assert!((400..600).contains(&half), "{half}");
    }

    /// The first notice halves a rate; so do others at once, since the mean of marks stays one; without any it forgets by a 256th
    /// every 55 us (equations 1 and 2).
    #[test]
    fn rates_follow_the_mean_of_marks() {
        let note = |says| CongestionMessage {
            source: 0,
            endpoint: 1,
            class: 0,
            to_endpoint: false,
            bytes: 1000,
            says,
            lost: None,
        };
        let mut source = Sender::default();
        source.hear(&note(0), 0);
        assert!(source.is_new() && source.pace(0, 1000) == 0);
        source.hear(&note(1), 1_000_000);
        assert_eq!(source.pace(1_000_000, 1000), 2000);
        source.hear(&note(1), 2_000_000);
        assert_eq!(source.pace(2_000_000, 1000), 4000);
        source.go_on(2_000_000 + 10 * FORGETS);
        let forgotten = (255.0f64 / 256.0).powi(10) * 65536.0;
        assert!((f64::from(source.mean) - forgotten).abs() < 12.0, "{}", source.mean);
    }

    /// A source is told at most once in 50 us.
    #[test]
    fn notices_are_seldom() {
        let terms = CongestionParams {
            congestion: crate::Congestion::Ecn,
            way: 1,
            round: 2,
            most: 1000,
            wire: 1000,
            terminals: 4,
            shared: false,
        };
        let mut end = Receiver::default();
        let told: u64 = (0..1000u64)
            .map(|i| {
                let a = Arriving {
                    now: i * 1_000_000,
                    source: 3,
                    bytes: 1000,
                    payload: 1000,
                    waits: 0,
                    pace: 1,
                    carried: 0,
                    round: 0,
                    mark: 1,
                    is_dropped: false,
                };
                end.arrived(terms, &a)
            })
            .sum();
        assert_eq!(told, 20);
    }
}
