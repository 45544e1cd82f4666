//! A rate that falls at once and recovers in steps of time and of bytes: half of the way a number of times, then
//! beyond.
//!
//! The reaction point of IEEE Std 802.1Qau-2010 (clauses 30.2.2 and 32.10 to 32.14), which DCQCN took over without some of its rules:
//! [`RecoveryParams::rules`].

use serde::{Deserialize, Serialize};

use super::parameter::{Parameter, Unit};
use super::tuning::{ONE, RecoveryParams, Rules, Tuning, part};

/// The rate of the channel.
pub(super) const LINE: u32 = 1 << 20;

/// Accessor of a parameter of a scheme.
type ParameterOf = fn(&mut Tuning) -> &mut u64;

/// `timer` of a scheme: where its default is from, and where it is kept.
pub(super) const fn timer(source: &'static str, of: ParameterOf) -> Parameter {
    Parameter {
        name: "timer",
        unit: Unit::Time,
        range: [1_000_000, 1_000_000_000_000],
        meaning: "a rate comes back a step in each such time",
        source,
        of,
    }
}

/// `bytes` of a scheme: where its default is from, and where it is kept.
pub(super) const fn bytes(source: &'static str, of: ParameterOf) -> Parameter {
    Parameter {
        name: "bytes",
        unit: Unit::Bytes,
        range: [1000, 1_000_000_000_000],
        meaning: "a rate comes back a step whenever this many bytes were sent",
        source,
        of,
    }
}

/// `halves` of a scheme: where its default is from, and where it is kept.
pub(super) const fn halves(source: &'static str, of: ParameterOf) -> Parameter {
    Parameter {
        name: "halves",
        unit: Unit::Count,
        range: [0, 1000],
        meaning: "steps half way back to the rate before; those behind them go beyond it",
        source,
        of,
    }
}

/// `increase` of a scheme: where its default is from, and where it is kept.
pub(super) const fn increase(source: &'static str, of: ParameterOf) -> Parameter {
    Parameter {
        name: "increase",
        unit: Unit::Share,
        range: [0, ONE],
        meaning: "what each step beyond adds, as part of the channel's rate",
        source,
        of,
    }
}

/// `hyper` of a scheme: where its default is from, and where it is kept.
pub(super) const fn hyper(source: &'static str, of: ParameterOf) -> Parameter {
    Parameter {
        name: "hyper",
        unit: Unit::Share,
        range: [0, ONE],
        meaning: "what it adds instead where both time and bytes are beyond, times the steps beyond of the one that has fewer",
        source,
        of,
    }
}

/// `least` of a scheme: where its default is from, and where it is kept.
pub(super) const fn least(source: &'static str, of: ParameterOf) -> Parameter {
    Parameter {
        name: "least",
        unit: Unit::Share,
        range: [ONE / 65_536 + 1, ONE],
        meaning: "no rate falls below this part of the channel's",
        source,
        of,
    }
}

/// The current rate of a source.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Recovery {
    rate: u32,
    /// Target of the recovery.
    target: u32,
    /// Steps of time and of bytes since it fell; when the next one of time is over, and bytes until the next one of those.
    by_time: u32,
    by_bytes: u32,
    since: u64,
    bytes: u64,
}

impl Default for Recovery {
    fn default() -> Self {
        Self { rate: LINE, target: LINE, by_time: 0, by_bytes: 0, since: 0, bytes: 0 }
    }
}

impl Recovery {
    /// Whether it is that of the channel.
    pub(super) fn is_whole(&self) -> bool {
        self.rate >= LINE
    }

    /// It falls by this many 2^16ths.
    pub(super) fn less(&mut self, back: &RecoveryParams, by: u32, now: u64) {
        // In the standard those that come before the first step of bytes do not lower the target, nor delay that step.
        if back.rules == Rules::Dcqcn || self.by_bytes > 0 {
            (self.target, self.bytes) = (self.rate, 0);
        }
        let less = (u64::from(self.rate) * u64::from(by.min(1 << 15))) >> 16;
        self.rate = (self.rate - less as u32).max(part(back.least, LINE.into()) as u32);
        (self.by_time, self.by_bytes, self.since) = (0, 0, now);
    }

    /// This many bytes were sent.
    pub(super) fn sent(&mut self, bytes: u64) {
        if !self.is_whole() {
            self.bytes += bytes;
        }
    }

    /// Advances the time.
    pub(super) fn go_on(&mut self, back: &RecoveryParams, now: u64) {
        while !self.is_whole() && self.since + self.period(back, back.timer) <= now {
            self.since += self.period(back, back.timer);
            self.by_time += 1;
            self.step(back);
        }
        while !self.is_whole() && self.bytes >= self.period(back, back.bytes) {
            self.bytes -= self.period(back, back.bytes);
            self.by_bytes += 1;
            self.step(back);
        }
    }

    /// Steps of time and of bytes behind those that go half way.
    fn beyond(&self, back: &RecoveryParams) -> [u32; 2] {
        [self.by_time, self.by_bytes].map(|steps| steps.saturating_sub(back.halves as u32))
    }

    /// Time or bytes to the next step. Where both are beyond, the standard takes the next steps twice as fast.
    fn period(&self, back: &RecoveryParams, whole: u64) -> u64 {
        let is_fast = back.rules == Rules::Standard && self.beyond(back).iter().all(|&n| n > 0);
        if is_fast { whole.div_ceil(2) } else { whole }
    }

    fn step(&mut self, back: &RecoveryParams) {
        let of_line = |part_of: u64| part(part_of, LINE.into()) as u32;
        let added = match self.beyond(back) {
            [0, 0] => 0,
            [0, _] | [_, 0] => of_line(back.increase),
            [time, bytes] => of_line(back.hyper).saturating_mul(time.min(bytes)),
        };
        // Far below its target a rate does not go half of that way at once.
        let is_first = self.by_time == 1 || self.by_bytes == 1;
        if back.rules == Rules::Standard && is_first && self.target / 10 > self.rate {
            self.target /= 8;
        } else {
            self.target = self.target.saturating_add(added).min(LINE);
        }
        // Up, so that it arrives.
        self.rate = self.rate.midpoint(self.target) + u32::from(self.rate < self.target);
        if self.target == LINE && LINE - self.rate < LINE / 1000 {
            *self = Self::default();
        }
    }

    /// Picoseconds that 2^16 bytes are to take on a channel where they take `pace`; 0 at its rate.
    pub(super) fn pace(&self, pace: u64) -> u64 {
        if self.is_whole() { 0 } else { pace * u64::from(LINE) / u64::from(self.rate) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::tuning::ONE;

    const BACK: RecoveryParams = RecoveryParams {
        timer: 10,
        bytes: 1000,
        halves: 5,
        least: ONE / 4096,
        increase: ONE / 100,
        hyper: ONE / 100,
        rules: Rules::Dcqcn,
    };

    /// Recovers half of the distance five times, then increases.
    #[test]
    fn it_comes_back() {
        let mut rate = Recovery::default();
        rate.less(&BACK, 1 << 15, 0);
        assert_eq!(rate.pace(1000), 2000);
        let mut rates = Vec::new();
        for step in 1..=5 {
            rate.go_on(&BACK, step * 10);
            rates.push(f64::from(rate.rate) / f64::from(LINE));
        }
        for (rate, exact) in rates.iter().zip([0.75, 0.875, 0.9375, 0.96875, 0.984_375]) {
            assert!((rate - exact).abs() < 1e-4, "{rate} {exact}");
        }
        // Twice in a row: the target is what it was when it fell.
        rate.less(&BACK, 1 << 15, 50);
        rate.less(&BACK, 1 << 15, 50);
        rate.go_on(&BACK, 100);
        assert!(rate.rate < LINE / 2, "{}", rate.rate);
        rate.sent(100_000);
        rate.go_on(&BACK, 100);
        assert!(rate.is_whole() && rate.pace(1000) == 0);
    }

    /// Notes in a row leave the target of the standard where it was, and bytes count on; behind a step of bytes it is the rate.
    #[test]
    fn the_standard_keeps_its_target() {
        const STANDARD: RecoveryParams = RecoveryParams { rules: Rules::Standard, ..BACK };
        let share = |rate: u32| f64::from(rate) / f64::from(LINE);
        let mut rate = Recovery::default();
        rate.less(&STANDARD, 1 << 15, 0);
        rate.sent(600);
        rate.less(&STANDARD, 1 << 15, 1);
        assert_eq!([rate.rate, rate.target], [LINE / 4, LINE]);
        rate.sent(400);
        rate.go_on(&STANDARD, 1);
        assert!((share(rate.rate) - 0.625).abs() < 1e-4);
        rate.less(&STANDARD, 1 << 15, 2);
        assert!(
            (share(rate.target) - 0.625).abs() < 1e-4 && (share(rate.rate) - 0.3125).abs() < 1e-4
        );
        // DCQCN's is the rate before the last note.
        let mut rate = Recovery::default();
        rate.less(&BACK, 1 << 15, 0);
        rate.less(&BACK, 1 << 15, 1);
        assert_eq!([rate.rate, rate.target], [LINE / 4, LINE / 2]);
    }

    /// A rate below a tenth of its target has an eighth of that as its next one. Beyond both thresholds steps come twice as fast, and
    /// add more each time.
    #[test]
    fn the_standard_comes_back_carefully_and_then_fast() {
        const STANDARD: RecoveryParams =
            RecoveryParams { rules: Rules::Standard, halves: 1, ..BACK };
        let mut rate = Recovery { rate: LINE / 16, ..Recovery::default() };
        rate.go_on(&STANDARD, 10);
        assert_eq!([rate.target, rate.rate], [LINE / 8, LINE * 3 / 32 + 1]);
        // The second step of time is beyond; the second one of bytes, too, which is the first of the faster ones.
        rate.go_on(&STANDARD, 20);
        let added = part(STANDARD.hyper, LINE.into()) as u32;
        assert_eq!(rate.target, LINE / 8 + added);
        rate.sent(2000);
        rate.go_on(&STANDARD, 20);
        assert_eq!(rate.target, LINE / 8 + 3 * added, "one step beyond by time only, one by both");
        rate.go_on(&STANDARD, 25);
        assert_eq!(rate.target, LINE / 8 + 4 * added, "after half of the time");
        rate.sent(500);
        rate.go_on(&STANDARD, 25);
        assert_eq!(rate.target, LINE / 8 + 6 * added, "after half of the bytes, two steps beyond");
    }

    /// A source never stops.
    #[test]
    fn there_is_a_least_rate() {
        let mut rate = Recovery::default();
        for _ in 0..100 {
            rate.less(&BACK, 1 << 16, 0);
        }
        assert_eq!(rate.pace(1000), 4_096_000);
    }
}
