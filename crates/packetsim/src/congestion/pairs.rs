//! Pairs of endpoints that are held back one by one, as the last switch says.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::Terms;

/// What the last switch knows of an endpoint.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct End {
    /// By source, when it was seen last, 1 more than that; empty until the endpoint is congested.
    seen: Vec<u64>,
    /// Packets of late: when they left for the endpoint, and whose they were.
    late: VecDeque<(u64, u32)>,
    /// Sources among these.
    active: u64,
    /// Whether sources are held back.
    congested: bool,
    /// Shares are so many 256ths of an even one.
    boost: u64,
    /// Bytes that wait, over the packets of late.
    mean: u64,
    /// What was told last.
    pace: u64,
    /// When shares are corrected next.
    corrects: u64,
}

/// An even share, in 256ths.
const EVEN: u64 = 256;

impl End {
    /// A packet of a source leaves for the endpoint at `now`, and so many bytes wait for it in the last switch; its channel takes
    /// `pace` for 2^16 bytes. What the source's packets are to take, or 0.
    pub(crate) fn arrived(
        &mut self,
        terms: Terms,
        now: u64,
        source: u32,
        waits: u32,
        pace: u64,
        sources: usize,
    ) -> u64 {
        // Half of what the channel carries in a round trip.
        let most = (terms.round << 15) / pace;
        let waits = u64::from(waits);
        if !self.congested {
            if waits <= most {
                return 0;
            }
            self.congested = true;
            self.boost = EVEN;
            self.corrects = now + terms.round;
            self.seen.resize(sources, 0);
        }
        self.see(terms, now, source);
        // Over the packets of a turn, since sources that were held back together come together.
        let some = self.active.max(8);
        self.mean = (self.mean * (some - 1) + waits) / some;
        if now >= self.corrects {
            // Not before all have heard of the last time, which takes as long as each of them sends a packet.
            let turn = terms.long(pace * self.active);
            self.corrects = now + terms.round + 2 * turn;
            if self.mean < most / 8 {
                self.boost += self.boost / 8;
            } else if self.mean > most {
                self.boost = EVEN.max(self.boost - self.boost / 4);
            }
            if self.boost > EVEN * self.active {
                *self = Self::default();
                return 0;
            }
        }
        // A little more than there is when nothing waits, so that the channel never rests; half when much does.
        let now = (EVEN + EVEN / 32).saturating_sub(EVEN * self.mean / (8 * most)).max(EVEN / 2);
        self.pace = pace * self.active * EVEN * EVEN / (self.boost * now);
        self.pace
    }

    /// A source is active; those of whom nothing was seen for as long as three packets of their pace
    /// and four round trips take are not.
    fn see(&mut self, terms: Terms, now: u64, source: u32) {
        let was = std::mem::replace(&mut self.seen[source as usize], now + 1);
        self.active += u64::from(was == 0);
        self.late.push_back((now, source));
        let long = 4 * terms.round + 3 * terms.long(self.pace);
        while let Some(&(when, source)) = self.late.front()
            && when + long < now
        {
            self.late.pop_front();
            // Unless it was seen again since.
            let seen = &mut self.seen[source as usize];
            if *seen == when + 1 {
                *seen = 0;
                self.active -= 1;
            }
        }
    }
}
