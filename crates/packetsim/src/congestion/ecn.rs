//! Explicit congestion notification and the rates of DCQCN: Y. Zhu et al., Congestion Control for Large-Scale RDMA Deployments
//! (SIGCOMM'15), section 3. Its constants are for 40 Gbit/s; queues are counted here as the time that they take (decision).

use serde::{Deserialize, Serialize};

use super::recovery::{LINE, Recovery};
use super::{Arriving, Note, Passing, Terms};
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
pub(crate) struct End {
    tells: Vec<u64>,
}

impl End {
    /// 1 if the source is told of marks.
    pub(super) fn arrived(&mut self, terms: Terms, a: &Arriving) -> u64 {
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
pub(crate) struct Source {
    recovery: Recovery,
    /// The mean of marks in 2^16ths, and since when it holds.
    mean: u32,
    since: u64,
}

impl Source {
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

    pub(super) fn hear(&mut self, note: &Note, now: u64) {
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
