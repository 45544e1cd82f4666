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
        if now >= self.corrects {
            self.corrects = now + terms.round;
            // By a quarter up when nothing waits, by half down when twice as much as may.
            self.boost = if waits < most / 2 {
                self.boost + (self.boost * (most / 2 - waits) / (2 * most)).max(1)
            } else {
                self.boost - (self.boost * (waits - most / 2).min(most) / (2 * most))
            };
            self.boost = self.boost.clamp(EVEN / 8, EVEN * self.active.max(1));
            if self.boost >= EVEN * self.active && waits < most / 2 {
                *self = Self::default();
                return 0;
            }
        }
        pace * self.active * EVEN / self.boost
    }

    /// A source is active; those of whom nothing was seen for as long as two even shares and four round trips take are not.
    fn see(&mut self, terms: Terms, now: u64, source: u32) {
        let was = std::mem::replace(&mut self.seen[source as usize], now + 1);
        self.active += u64::from(was == 0);
        self.late.push_back((now, source));
        let long = 4 * terms.round * (1 + self.active / 16);
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
