//! Congestion control: how sources are throttled so that no queue grows in front of an endpoint. One file for each
//! scheme.
//!
//! A scheme has up to three sides ([`sides`]): the marks of switches on passing packets, the replies of the endpoint's side to
//! arriving packets, and the rate or window of a source for a pair of endpoints.

mod congestion_message;
mod ecn;
mod grants;
mod infiniband;
mod kind;
mod notes;
mod outbox;
mod pairs;
mod parameter;
mod params;
mod qcn;
mod recovery;
mod registry;
mod seen;
mod sides;
mod tuned;
mod tuning;

pub(crate) use congestion_message::{CongestionMessage, Lost, Notification};
pub use kind::Congestion;
pub(crate) use outbox::{Outbox, Sent, Turn};
pub(crate) use pairs::SPECULATIVE;
pub use parameter::{Parameter, TuningError, Unit};
pub(crate) use params::CongestionParams;
pub use registry::{CONGESTIONS, Scheme};
pub(crate) use seen::{ArrivingPacket, DepartingPacket, OutputQueueState};
pub use tuned::Tuned;
pub use tuning::Tuning;

use serde::{Deserialize, Serialize};

use self::ecn::Ecn;
use self::grants::Grants;
use self::infiniband::InfiniBand;
use self::pairs::{Pairs, Reserve};
use self::qcn::Qcn;
use self::sides::{Control, Receiving, Sending, Unthrottled};
use crate::{Net, Random, SwitchModel};

/// No control at all.
pub(crate) struct None;

impl Control for None {
    type Sender = Unthrottled;
    type Receiver = Unthrottled;

    fn sender() -> Unthrottled {
        Unthrottled
    }
}

/// The state of a pair at the source, the state at the endpoint, and the actions of switches, by scheme: each call goes to that scheme's
/// side.
macro_rules! schemes {
    ($($scheme:ident),* $(,)?) => {
        #[doc = "What a source knows of a pair."]
        #[derive(Clone, Debug, Serialize, Deserialize)]
        enum Sender {
            $(#[doc = "Of this scheme."] $scheme(<$scheme as Control>::Sender)),*
        }

        #[doc = "What the endpoint's side knows."]
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Receiver {
            $(#[doc = "Of this scheme."] $scheme(<$scheme as Control>::Receiver)),*
        }

        impl Congestion {
            /// Value of [`Control::HAS_POINTS`] of the scheme.
            pub(crate) fn has_points(self) -> bool {
                match self { $(Self::$scheme => $scheme::HAS_POINTS),* }
            }

            /// Value of [`Control::DROPS_SPECULATIVE`] of the scheme.
            pub(crate) fn drops_speculative(self) -> bool {
                match self { $(Self::$scheme => $scheme::DROPS_SPECULATIVE),* }
            }

            /// Calls [`Control::reports_lost`] of the scheme.
            pub(crate) fn reports_lost(self, mark: u8) -> bool {
                match self { $(Self::$scheme => $scheme::reports_lost(mark)),* }
            }

            /// Value of [`Control::LOOKS`] of the scheme.
            #[inline]
            pub(crate) fn looks(self) -> bool {
                match self { $(Self::$scheme => $scheme::LOOKS),* }
            }

            /// Calls [`Control::window`] of the scheme.
            fn window(self, tuning: &Tuning) -> u64 {
                match self { $(Self::$scheme => $scheme::window(tuning)),* }
            }

            /// Calls [`Control::pass`] of the scheme.
            pub(crate) fn pass(
                self,
                tuning: &Tuning,
                point: Option<&mut OutputQueueState>,
                passing: &DepartingPacket,
                random: &mut Random,
            ) -> (bool, u64) {
                match self { $(Self::$scheme => $scheme::pass(tuning, point, passing, random)),* }
            }
        }

        impl Receiver {
            /// As a scheme has it.
            pub(crate) fn new(congestion: Congestion) -> Self {
                match congestion { $(Congestion::$scheme => Self::$scheme(Default::default())),* }
            }

            /// Calls [`Receiving::arrived`] of the scheme.
            pub(crate) fn arrived(
                &mut self,
                terms: CongestionParams<'_>,
                arriving: &ArrivingPacket,
                grants: &mut Vec<(u32, u64)>,
            ) -> u64 {
                match self { $(Self::$scheme(end) => end.arrived(terms, arriving, grants)),* }
            }

            /// Calls [`Receiving::asked`] of the scheme.
            pub(crate) fn asked(
                &mut self,
                terms: CongestionParams<'_>,
                source: u32,
                bytes: [u64; 2],
                pace: u64,
                grants: &mut Vec<(u32, u64)>,
            ) {
                match self { $(Self::$scheme(end) => end.asked(terms, source, bytes, pace, grants)),* }
            }
        }

        impl Sender {
            /// As a scheme has it.
            fn new(congestion: Congestion) -> Self {
                match congestion { $(Congestion::$scheme => Self::$scheme($scheme::sender())),* }
            }
        }

        impl Sending for Sender {
            fn add(
                &mut self,
                terms: CongestionParams<'_>,
                bytes: u64,
                under_way: u64,
                window: u64,
            ) -> u64 {
                match self { $(Self::$scheme(s) => s.add(terms, bytes, under_way, window)),* }
            }

            fn add_lost(&mut self, bytes: u64) -> u64 {
                match self { $(Self::$scheme(s) => s.add_lost(bytes)),* }
            }

            fn lets(
                &self,
                terms: CongestionParams<'_>,
                bytes: u64,
                under_way: u64,
                window: u64,
            ) -> bool {
                match self { $(Self::$scheme(s) => s.lets(terms, bytes, under_way, window)),* }
            }

            fn sent(&mut self, tuning: &Tuning, bytes: u64, now: u64) -> u8 {
                match self { $(Self::$scheme(s) => s.sent(tuning, bytes, now)),* }
            }

            fn pace(&mut self, tuning: &Tuning, now: u64, pace: u64) -> u64 {
                match self { $(Self::$scheme(s) => s.pace(tuning, now, pace)),* }
            }

            fn hear(&mut self, tuning: &Tuning, note: &CongestionMessage, now: u64, next: &mut u64) {
                match self { $(Self::$scheme(s) => s.hear(tuning, note, now, next)),* }
            }

            fn is_new(&mut self, tuning: &Tuning, now: u64, pace: u64) -> bool {
                match self { $(Self::$scheme(s) => s.is_new(tuning, now, pace)),* }
            }
        }
    };
}

schemes!(None, Pairs, Reserve, Ecn, InfiniBand, Qcn, Grants);

impl Default for Sender {
    fn default() -> Self {
        Self::None(Unthrottled)
    }
}

impl<'a> CongestionParams<'a> {
    /// Of a network: the round trip over five channels, with the wait of a packet where a faster channel follows a slower one, and
    /// a packet with at most this number of bytes of a message, and of bytes on channels.
    pub(crate) fn new(net: &Net, micro: &'a SwitchModel, [most, wire]: [u32; 2]) -> Self {
        let one_way = 5 * (net.slowest(0) + micro.pipeline + micro.spread);
        Self {
            congestion: micro.congestion,
            one_way,
            round: 2 * one_way + net.slowest(wire) + net.longest_wait(wire),
            window: micro.congestion.window(&micro.tuning),
            most,
            wire,
            terminals: net.terminal_count(),
            reorder: micro.reorder,
            shared: micro.classes.len() > 1,
            tuning: &micro.tuning,
        }
    }
}
