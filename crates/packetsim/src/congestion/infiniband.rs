//! Congestion control of InfiniBand: InfiniBand Architecture Specification, volume 1, annex A10. Tables are the manager's to fill;
//! parameters are after E. G. Gran et al., First Experiences with Congestion Control in InfiniBand Hardware (IPDPS'10), where
//! they state them.

use serde::{Deserialize, Serialize};

use super::{CongestionMessage, Passing};

/// What must wait for an output so that it marks packets: the threshold 15 of annex A10 is the keenest there is, without bytes;
/// decision.
const THRESHOLD: u32 = 16 << 10;
/// The last entry of the table (CCTI_Limit).
const LAST: u32 = 127;
/// Entries up for each mark (CCTI_Increase), and how long it takes for one down (CCTI_Timer 150, in units of 1.024 us).
const UP: u32 = 1;
const DOWN: u64 = 153_600_000;

/// Whether a packet that leaves is marked: by an output that is a root of congestion, since it has room behind it.
pub(super) fn marks(p: &Passing) -> bool {
    p.waits > THRESHOLD && !p.was_held
}

/// Where a pair is in its table.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sender {
    index: u32,
    since: u64,
}

impl Sender {
    fn go_on(&mut self, now: u64) {
        let steps = now.saturating_sub(self.since) / DOWN;
        self.index = self.index.saturating_sub(steps.try_into().unwrap_or(u32::MAX));
        self.since += steps * DOWN;
    }

    /// Entry i: packets are i packets' time apart (decision: the specification leaves the table to the manager).
    pub(super) fn pace(&mut self, now: u64, pace: u64) -> u64 {
        self.go_on(now);
        if self.index == 0 { 0 } else { pace * u64::from(1 + self.index) }
    }

    pub(super) fn hear(&mut self, note: &CongestionMessage, now: u64) {
        if note.says != 0 {
            self.go_on(now);
            if self.index == 0 {
                self.since = now;
            }
            self.index = (self.index + UP).min(LAST);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry up for each mark, one down every 153.6 us, none beyond the last; roots of congestion mark, victims do not.
    #[test]
    fn tables_go_up_and_down() {
        let pass = |waits, was_held| marks(&Passing { waits, bytes: 100, pace: 1, was_held });
        assert_eq!(
            [pass(16 << 10, false), pass(17 << 10, false), pass(17 << 10, true)],
            [false, true, false]
        );
        let note = CongestionMessage {
            source: 0,
            endpoint: 1,
            class: 0,
            to_endpoint: false,
            bytes: 100,
            says: 1,
            lost: None,
        };
        let mut source = Sender::default();
        for _ in 0..5 {
            source.hear(&note, 1000);
        }
        assert_eq!(source.pace(1000, 10), 60);
        assert_eq!(source.pace(1000 + 2 * DOWN, 10), 40);
        assert_eq!(source.pace(1000 + 5 * DOWN, 10), 0);
        for _ in 0..500 {
            source.hear(&note, 1 << 40);
        }
        assert_eq!(source.pace(1 << 40, 10), 1280);
    }
}
