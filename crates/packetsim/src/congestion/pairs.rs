//! Pairs of endpoints that are held back one by one, as the last switch says.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Arriving, Note, Terms};

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
    /// Where other classes have a part of the channel: what 2^16 bytes took of late while packets waited all the time; what the
    /// channel had carried when the last packet left, if others waited then; and bytes of all and of this class since.
    drain: u64,
    left: Option<u64>,
    all: u64,
    own: u64,
}

/// What a source knows of a pair.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Source {
    /// Picoseconds that 2^16 bytes take, or 0.
    pub(super) pace: u64,
}

impl Source {
    pub(super) fn hear(&mut self, note: &Note, now: u64, next: &mut u64) {
        if self.pace == 0 && note.says > 0 {
            // What it has sent already is more than its share. Sources that hear at once do not go on at once.
            let lot = u64::from(note.source.wrapping_mul(0x9e37_79b9) >> 16);
            *next = now + ((((u64::from(note.bytes) * note.says) >> 16) * lot) >> 16);
        }
        self.pace = note.says;
        if note.says == 0 {
            *next = now.min(*next);
        }
    }
}

/// An even share, in 256ths.
const EVEN: u64 = 256;

impl End {
    /// A packet leaves for the endpoint: picoseconds that 2^16 bytes of its source are to take, or 0.
    pub(super) fn arrived(&mut self, terms: Terms, a: &Arriving) -> u64 {
        let &Arriving { now, source, waits, .. } = a;
        let mut pace = a.pace;
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
            self.seen.resize(terms.terminals, 0);
            self.drain = pace;
        }
        if terms.shared {
            pace = self.drain.max(pace);
            if let Some(left) = self.left {
                self.all += a.carried - left;
                self.own += u64::from(a.bytes);
            }
            self.left = (waits > 0).then_some(a.carried);
        }
        self.see(terms, now, source);
        // Over the packets of a turn, since sources that were held back together come together.
        let some = self.active.max(8);
        self.mean = (self.mean * (some - 1) + waits) / some;
        if now >= self.corrects {
            // Not before all have heard of the last time, which takes as long as each of them sends a packet.
            let turn = terms.long(pace * self.active);
            self.corrects = now + terms.round + 2 * turn;
            // As many leave as other classes let.
            if self.own > 8 * u64::from(terms.most) {
                self.drain =
                    (u128::from(a.pace) * u128::from(self.all) / u128::from(self.own)) as u64;
                (self.all, self.own) = (0, 0);
            }
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
