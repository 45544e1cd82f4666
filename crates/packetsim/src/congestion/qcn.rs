//! Quantised congestion notification: IEEE Std 802.1Qau-2010. Bytes of its queues are those of the standard for 10 Gbit/s.

use serde::{Deserialize, Serialize};

use super::congestion_message::CongestionMessage;
use super::parameter::{Parameter, Unit};
use super::recovery::{self, Recovery};
use super::seen::{DepartingPacket, OutputQueueState};
use super::sides::{Control, Sending, Unthrottled};
use super::tuning::{QcnParams, Tuning};
use crate::Random;

/// Parameters that users can set.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "aim",
        unit: Unit::Bytes,
        range: [1, 1 << 30],
        meaning: "the queue that is aimed at",
        source: "clause 32.8, cpQSp, for 10 Gbit/s",
        of: |t| &mut t.qcn.aim,
    },
    Parameter {
        name: "growth",
        unit: Unit::Count,
        range: [0, 64],
        meaning: "how many times a queue's growth counts as much as its length",
        source: "clause 32.8, cpW",
        of: |t| &mut t.qcn.growth,
    },
    Parameter {
        name: "sample",
        unit: Unit::Bytes,
        range: [1000, 1_000_000_000],
        meaning: "bytes from one sample to the next where nothing is congested",
        source: "clause 32.8, cpSampleBase",
        of: |t| &mut t.qcn.sample,
    },
    recovery::timer("clause 32.11, rpgTimeReset", |t| &mut t.qcn.back.timer),
    recovery::bytes("clause 32.11, rpgByteReset", |t| &mut t.qcn.back.bytes),
    recovery::halves("clause 32.11, rpgThreshold: 5, of which the last is beyond", |t| {
        &mut t.qcn.back.halves
    }),
    recovery::increase("clause 32.11, rpgAiRate: 5 Mbit/s of 10 Gbit/s", |t| {
        &mut t.qcn.back.increase
    }),
    recovery::hyper("clause 32.11, rpgHaiRate: 50 Mbit/s of 10 Gbit/s", |t| &mut t.qcn.back.hyper),
    recovery::least("clause 32.11, rpgMinRate: 5 Mbit/s of 10 Gbit/s", |t| &mut t.qcn.back.least),
];

/// Notes have this many steps (clause 32.9), and the strongest one is half of a rate.
const STEPS: i64 = 64;

/// Quantized congestion notification (IEEE 802.1Qau).
pub(crate) struct Qcn;

impl Control for Qcn {
    type Sender = Sender;
    type Receiver = Unthrottled;

    const LOOKS: bool = true;
    const HAS_POINTS: bool = true;

    fn sender() -> Sender {
        Sender::default()
    }

    fn pass(
        tuning: &Tuning,
        point: Option<&mut OutputQueueState>,
        passing: &DepartingPacket,
        random: &mut Random,
    ) -> (bool, u64) {
        (false, point.map_or(0, |point| point.pass(&tuning.qcn, passing, random)))
    }
}

impl OutputQueueState {
    /// The notification for the source of a packet, or 0.
    fn pass(&mut self, params: &QcnParams, p: &DepartingPacket, random: &mut Random) -> u64 {
        let [aim, growth] = [params.aim, params.growth].map(u64::cast_signed);
        self.until -= i64::from(p.bytes);
        if self.until > 0 {
            return 0;
        }
        let waits = i64::from(p.waits);
        let feedback = (waits - aim) + growth * (waits - self.was);
        self.was = waits;
        let most = aim * (2 * growth + 1);
        let steps = (feedback * STEPS / most).clamp(0, STEPS - 1);
        // The stronger, the sooner the next one: up to eight times (clause 32.9, by the three upper bits of six), at random within 15 %.
        let next = params.sample / (1 + steps.cast_unsigned() / 8);
        let jitter = u64::from(random.below(300));
        self.until = (next * (850 + jitter) / 1000).cast_signed();
        steps.cast_unsigned()
    }
}

/// The rate of a pair.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sender {
    recovery: Recovery,
}

impl Sender {
    fn go_on(&mut self, p: &QcnParams, now: u64) {
        self.recovery.go_on(&p.back, now);
    }
}

impl Sending for Sender {
    fn sent(&mut self, tuning: &Tuning, bytes: u64, now: u64) -> u8 {
        self.recovery.sent(bytes);
        self.go_on(&tuning.qcn, now);
        0
    }

    fn pace(&mut self, tuning: &Tuning, now: u64, pace: u64) -> u64 {
        self.go_on(&tuning.qcn, now);
        self.recovery.pace(pace)
    }

    fn hear(&mut self, tuning: &Tuning, note: &CongestionMessage, now: u64, _: &mut u64) {
        let p = &tuning.qcn;
        if note.says != 0 {
            self.go_on(p, now);
            // 64 steps are half of the rate.
            self.recovery.less(&p.back, (note.says << 9) as u32, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: QcnParams = QcnParams::DEFAULT;

    /// F_b = (q - Q_eq) + w (q - q_old), in 64ths of its maximum, (2 w + 1) Q_eq (clause 32.9); no notification where that
    /// is below 0.
    #[test]
    fn feedback_is_of_length_and_growth() {
        let mut random = Random::new(1, 1);
        let mut at = |was: i64, waits: u32| {
            let mut point = OutputQueueState { until: 0, was };
            point.pass(
                &DEFAULT,
                &DepartingPacket { waits, bytes: 1000, pace: 1, was_held: false },
                &mut random,
            )
        };
        assert_eq!(at(26_000, 26_000), 0);
        assert_eq!(at(0, 20_000), (3 * 20_000 - 26_000) * 64 / 130_000);
        assert_eq!(at(52_000, 52_000), 12);
        assert_eq!(at(80_000, 52_000), 0, "it falls");
        assert_eq!(at(0, 1 << 20), 63);
        // A sample for each 150 KB while nothing is congested, within 15 %.
        let mut point = OutputQueueState::default();
        let sampled = (0..15_000)
            .filter(|_| {
                let before = point.until;
                point.pass(
                    &DEFAULT,
                    &DepartingPacket { waits: 0, bytes: 1000, pace: 1, was_held: false },
                    &mut random,
                );
                point.until > before
            })
            .count();
        assert!((95..=106).contains(&sampled), "{sampled}");
    }

    /// The strongest feedback takes half of a rate.
    #[test]
    fn rates_fall_by_feedback() {
        let note = |says| CongestionMessage {
            source: 0,
            endpoint: 1,
            class: 0,
            to_endpoint: false,
            bytes: 0,
            says,
            lost: None,
            in_order: None,
        };
        for (says, pace) in [(63, 1969), (32, 1333), (16, 1142), (0, 0)] {
            let mut source = Sender::default();
            source.hear(&Tuning::DEFAULT, &note(says), 1, &mut 0);
            assert_eq!(source.pace(&Tuning::DEFAULT, 1, 1000), pace, "{says}");
        }
    }
}
