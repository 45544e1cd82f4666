//! A rate that falls at once and recovers in steps of time and of bytes: half of the way a number of times, then
//! beyond.
//!
//! The reaction point of IEEE Std 802.1Qau-2010, clause 30.2.2, which DCQCN took over.

use serde::{Deserialize, Serialize};

use super::parameter::{Parameter, Unit};
use super::tuning::{ONE, RecoveryParams, Tuning, part};

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
        self.target = self.rate;
        let less = (u64::from(self.rate) * u64::from(by.min(1 << 15))) >> 16;
        self.rate = (self.rate - less as u32).max(part(back.least, LINE.into()) as u32);
        (self.by_time, self.by_bytes, self.since, self.bytes) = (0, 0, now, 0);
    }

    /// This many bytes were sent.
    pub(super) fn sent(&mut self, bytes: u64) {
        if !self.is_whole() {
            self.bytes += bytes;
        }
    }

    /// Advances the time; `more` is how often the increase is added after the halving steps are over, by steps of time and of
    /// bytes beyond those.
    pub(super) fn go_on(&mut self, back: &RecoveryParams, now: u64, more: fn(u32, u32) -> u32) {
        while !self.is_whole() && self.since + back.timer <= now {
            self.since += back.timer;
            self.by_time += 1;
            self.step(back, more);
        }
        while !self.is_whole() && self.bytes >= back.bytes {
            self.bytes -= back.bytes;
            self.by_bytes += 1;
            self.step(back, more);
        }
    }

    fn step(&mut self, back: &RecoveryParams, more: fn(u32, u32) -> u32) {
        let halves = back.halves as u32;
        if self.by_time.max(self.by_bytes) > halves {
            let beyond = |steps: u32| steps.saturating_sub(halves);
            let times = more(beyond(self.by_time), beyond(self.by_bytes));
            let added = (part(back.increase, LINE.into()) as u32).saturating_mul(times);
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
    };

    /// Recovers half of the distance five times, then increases.
    #[test]
    fn it_comes_back() {
        let mut rate = Recovery::default();
        rate.less(&BACK, 1 << 15, 0);
        assert_eq!(rate.pace(1000), 2000);
        let mut rates = Vec::new();
        for step in 1..=5 {
            rate.go_on(&BACK, step * 10, |_, _| 1);
            rates.push(f64::from(rate.rate) / f64::from(LINE));
        }
        for (rate, exact) in rates.iter().zip([0.75, 0.875, 0.9375, 0.96875, 0.984_375]) {
            assert!((rate - exact).abs() < 1e-4, "{rate} {exact}");
        }
        // Twice in a row: the target is what it was when it fell.
        rate.less(&BACK, 1 << 15, 50);
        rate.less(&BACK, 1 << 15, 50);
        rate.go_on(&BACK, 100, |_, _| 1);
        assert!(rate.rate < LINE / 2, "{}", rate.rate);
        rate.sent(100_000);
        rate.go_on(&BACK, 100, |_, _| 1);
        assert!(rate.is_whole() && rate.pace(1000) == 0);
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
