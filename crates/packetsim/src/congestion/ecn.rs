//! Explicit congestion notification and the rates of DCQCN: Y. Zhu et al., Congestion Control for Large-Scale RDMA Deployments
//! (SIGCOMM'15), section 3. Its constants are for 40 Gbit/s; queues are counted here as the time that they take (decision).

use serde::{Deserialize, Serialize};

use super::congestion_message::CongestionMessage;
use super::parameter::{Parameter, Unit};
use super::params::CongestionParams;
use super::recovery::{self, Recovery};
use super::seen::{ArrivingPacket, DepartingPacket, OutputQueueState};
use super::sides::{Control, Receiving, Sending};
use super::tuning::{EcnParams, ONE, Tuning, part};
use crate::Random;

/// Parameters that users can set.
pub(super) const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "kmin",
        unit: Unit::Time,
        range: [0, 1_000_000_000],
        meaning: "queues up to this long, as time of their channel, are not marked",
        source: "section 5, K_min: 5 KB at 40 Gbit/s",
        of: |t| &mut t.ecn.kmin,
    },
    Parameter {
        name: "kmax",
        unit: Unit::Time,
        range: [1, 1_000_000_000],
        meaning: "all packets of longer queues are marked",
        source: "section 5, K_max: 200 KB at 40 Gbit/s",
        of: |t| &mut t.ecn.kmax,
    },
    Parameter {
        name: "pmax",
        unit: Unit::Share,
        range: [0, ONE],
        meaning: "part of the packets that is marked just below kmax",
        source: "section 5, P_max",
        of: |t| &mut t.ecn.pmax,
    },
    Parameter {
        name: "notice",
        unit: Unit::Time,
        range: [0, 1_000_000_000_000],
        meaning: "an endpoint tells a source of marks at most once in this time",
        source: "section 3.1, N",
        of: |t| &mut t.ecn.notice,
    },
    Parameter {
        name: "g",
        unit: Unit::Share,
        range: [ONE / 65_536, ONE],
        meaning: "part of the mean of marks that is new with each notice",
        source: "section 3.2, g",
        of: |t| &mut t.ecn.g,
    },
    Parameter {
        name: "forget",
        unit: Unit::Time,
        range: [1_000_000, 1_000_000_000_000],
        meaning: "without notices the mean of marks falls by the part g in each such time",
        source: "section 3.2, K",
        of: |t| &mut t.ecn.forgets,
    },
    recovery::timer("section 5, T", |t| &mut t.ecn.back.timer),
    recovery::bytes("section 5, B", |t| &mut t.ecn.back.bytes),
    recovery::halves("section 3.2, F", |t| &mut t.ecn.back.halves),
    recovery::increase("section 5, R_AI: 40 Mbit/s of 40 Gbit/s", |t| &mut t.ecn.back.increase),
    recovery::hyper("decision: as `increase`", |t| &mut t.ecn.back.hyper),
    recovery::least("decision", |t| &mut t.ecn.back.least),
];

/// DCQCN: explicit congestion notification by endpoints.
pub(crate) struct Ecn;

impl Control for Ecn {
    type Sender = Sender;
    type Receiver = Receiver;

    const LOOKS: bool = true;

    fn sender() -> Sender {
        Sender::default()
    }

    fn pass(
        tuning: &Tuning,
        _: Option<&mut OutputQueueState>,
        passing: &DepartingPacket,
        random: &mut Random,
    ) -> (bool, u64) {
        (marks(&tuning.ecn, passing, random), 0)
    }
}

/// Whether a packet that leaves is marked (figure 5).
fn marks(params: &EcnParams, p: &DepartingPacket, random: &mut Random) -> bool {
    let long = (u64::from(p.waits) * p.pace) >> 16;
    if long <= params.kmin {
        return false;
    }
    if long > params.kmax {
        return true;
    }
    let share = u128::from(long - params.kmin) << 16;
    let whole = u128::from(params.kmax - params.kmin) * u128::from(ONE);
    u128::from(random.below(1 << 16)) < share * u128::from(params.pmax) / whole
}

/// By source, the earliest time at which marks are reported to it again.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Receiver {
    tells: Vec<u64>,
}

impl Receiving for Receiver {
    /// Returns 1 if marks are reported to the source.
    fn arrived(
        &mut self,
        terms: CongestionParams<'_>,
        a: &ArrivingPacket,
        _: &mut Vec<(u32, u64)>,
    ) -> u64 {
        if a.mark == 0 {
            return 0;
        }
        self.tells.resize(terms.terminals, 0);
        let tells = &mut self.tells[a.source as usize];
        if a.now < *tells {
            return 0;
        }
        *tells = a.now + terms.tuning.ecn.notice;
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
    fn go_on(&mut self, p: &EcnParams, now: u64) {
        while self.mean > 0 && self.since + p.forgets <= now {
            self.mean -= (part(p.g, self.mean.into()) as u32).max(1);
            self.since += p.forgets;
        }
        self.recovery.go_on(&p.back, now);
    }
}

impl Sending for Sender {
    fn sent(&mut self, tuning: &Tuning, bytes: u64, now: u64) -> u8 {
        self.recovery.sent(bytes);
        self.go_on(&tuning.ecn, now);
        0
    }

    fn pace(&mut self, tuning: &Tuning, now: u64, pace: u64) -> u64 {
        self.go_on(&tuning.ecn, now);
        self.recovery.pace(pace)
    }

    /// Whether marks were never reported to it.
    fn is_new(&mut self, _: &Tuning, _: u64, _: u64) -> bool {
        self.since == 0
    }

    fn hear(&mut self, tuning: &Tuning, note: &CongestionMessage, now: u64, _: &mut u64) {
        let p = &tuning.ecn;
        if note.says == 0 {
            return;
        }
        self.go_on(p, now);
        // For a source without earlier reports the mean is one (section 3.2: alpha begins at 1).
        if self.since == 0 {
            self.mean = 1 << 16;
        }
        self.recovery.less(&p.back, self.mean / 2, now);
        let part = |of: u32| part(p.g, of.into()) as u32;
        self.mean = self.mean - part(self.mean) + part(1 << 16);
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing is marked up to K_min, half of P_max at the middle towards K_max, everything beyond (figure 5).
    #[test]
    fn marks_grow_with_the_queue() {
        // 40 Gbit/s: queues in bytes are those of the paper.
        let pace = (1 << 16) * 200;
        let mut random = Random::new(1, 1);
        let mut of = |waits: u32| {
            let p = DepartingPacket { waits, bytes: 1000, pace, was_held: false };
            (0..100_000).filter(|_| marks(&EcnParams::DEFAULT, &p, &mut random)).count()
        };
        assert_eq!([of(0), of(5_000), of(200_100)], [0, 0, 100_000]);
        let half = of(102_500);
        assert!((400..600).contains(&half), "{half}");
    }

    /// The first notice halves a rate; so do others at once, since the mean of marks stays one; without any it forgets by a 256th
    /// every 55 us (equations 1 and 2).
    #[test]
    fn rates_follow_the_mean_of_marks() {
        const DEFAULT: EcnParams = EcnParams::DEFAULT;
        let note = |says| CongestionMessage {
            source: 0,
            endpoint: 1,
            class: 0,
            to_endpoint: false,
            bytes: 1000,
            says,
            lost: None,
            in_order: None,
        };
        let mut source = Sender::default();
        let tuning = &Tuning::DEFAULT;
        source.hear(tuning, &note(0), 0, &mut 0);
        assert!(source.is_new(tuning, 0, 0) && source.pace(tuning, 0, 1000) == 0);
        source.hear(tuning, &note(1), 1_000_000, &mut 0);
        assert_eq!(source.pace(tuning, 1_000_000, 1000), 2000);
        source.hear(tuning, &note(1), 2_000_000, &mut 0);
        assert_eq!(source.pace(tuning, 2_000_000, 1000), 4000);
        source.go_on(&DEFAULT, 2_000_000 + 10 * DEFAULT.forgets);
        let forgotten = (255.0f64 / 256.0).powi(10) * 65536.0;
        assert!((f64::from(source.mean) - forgotten).abs() < 12.0, "{}", source.mean);
    }

    /// Marks are reported to a source at most once in 50 us.
    #[test]
    fn notices_are_seldom() {
        let terms = CongestionParams {
            congestion: crate::Congestion::Ecn,
            one_way: 1,
            round: 2,
            window: ONE,
            most: 1000,
            wire: 1000,
            terminals: 4,
            reorder: None,
            shared: false,
            tuning: &crate::Tuning::DEFAULT,
        };
        let mut end = Receiver::default();
        let reported: u64 = (0..1000u64)
            .map(|i| {
                let a = ArrivingPacket {
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
                end.arrived(terms, &a, &mut Vec::new())
            })
            .sum();
        assert_eq!(reported, 20);
    }
}
