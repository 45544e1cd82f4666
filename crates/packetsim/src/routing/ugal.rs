//! The shortest path, or a non-minimal one, whichever is emptier.

use super::valiant::step_via_intermediate;
use super::{Distances, Routing, SwitchView};
use crate::packet::{NOBODY, Packet};

/// The criterion by which a non-minimal path is as good as a shortest one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathWeight {
    /// Bytes at the first output times channels of the path, plus this number of bytes.
    ByLength(u32),
    /// Bytes at the first output, twice those of the non-minimal path, and this many more: BookSim2's on the dragonfly.
    Twice(u32),
}

/// Universal globally-adaptive load-balanced routing with local knowledge: the switch at which a packet enters the network
/// compares shortest paths with some through intermediate switches drawn at random, by the bytes that wait at their first outputs.
/// Lanes rise: deadlock-free with twice as many as the diameter.
///
/// A. Singh, Load-Balanced Routing in Interconnection Networks (PhD thesis, Stanford, 2005), chapter 5 (UGAL-L). Progressive:
/// the second switch may revise the decision, which needs one more lane (N. Jiang, J. Kim, W. J. Dally, Indirect Adaptive
/// Routing on Large Scale Interconnection Networks, ISCA'09). Slingshot compares up to four paths (De Sensi et al., An In-Depth
/// Analysis of the Slingshot Interconnect, SC'20, section II-C).
#[derive(Clone, Debug)]
pub struct Ugal {
    /// Distances between switches.
    pub distances: Distances,
    /// Weights by which paths are compared.
    pub weigh: PathWeight,
    /// Shortest paths, and non-minimal paths, that are compared.
    pub candidates: (u8, u8),
    /// Whether the second switch may change its mind.
    pub progressive: bool,
    /// Interval at which switches report the bytes that wait for their outputs to their neighbours, in picoseconds, if they
    /// do: these count in addition to those at the first output.
    pub news: Option<u64>,
}

/// Changes to a comparison of paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Adaptive {
    /// Shortest paths that are compared.
    pub minimal: Option<u8>,
    /// Non-minimal paths that are.
    pub round: Option<u8>,
    /// Bytes that non-minimal paths count more.
    pub bias: Option<u32>,
    /// Interval at which neighbours report the bytes that wait for their outputs, in picoseconds; 0: never.
    pub news: Option<u64>,
}

impl Adaptive {
    /// Whether nothing is changed.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Not decided; decided for a shortest path; decided for a path through another switch.
const NEW: u8 = 0;
const DIRECT: u8 = 1;
const BY_ANOTHER: u8 = 2;

impl Routing for Ugal {
    fn lanes(&self) -> u8 {
        2 * self.distances.diameter().max(1) + u8::from(self.progressive)
    }

    fn news(&self) -> Option<u64> {
        self.news
    }

    #[inline]
    fn route(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> (u32, u8) {
        let again = self.progressive && packet.hops == 1 && packet.phase == DIRECT;
        if (packet.phase == NEW || again)
            && let Some(out) = self.choose(here, packet)
        {
            return (out, packet.hops);
        }
        step_via_intermediate(&self.distances, here, packet)
    }
}

impl Ugal {
    /// Bytes in front of the output of the path to a switch, and of the next output of that path.
    #[inline]
    fn load(&self, here: &mut SwitchView<'_>, out: u32, to: u32) -> u64 {
        let near = match self.weigh {
            PathWeight::ByLength(_) => here.pressing(out),
            PathWeight::Twice(_) => here.occupied(out),
        };
        let next = match self.news {
            // At the end there is only one path.
            Some(_) => here.net.next(here.net.base(here.switch) + out).filter(|next| *next != to),
            None => None,
        };
        let ahead = next.map_or(0, |next| {
            let out = self.distances.any(next, to, here.random);
            here.reported(here.net.base(next) + out)
        });
        u64::from(near) + u64::from(ahead)
    }

    /// The output of the chosen path, if there is a choice.
    #[inline]
    fn choose(&self, here: &mut SwitchView<'_>, packet: &mut Packet) -> Option<u32> {
        let (s, to) = (here.switch, here.net.switch_of(packet.to));
        if s == to {
            packet.phase = DIRECT;
            return None;
        }
        let mut direct = (u64::MAX, 0);
        for _ in 0..self.candidates.0 {
            let out = self.distances.any(s, to, here.random);
            direct = direct.min((self.load(here, out, to), out));
        }
        let cost = match self.weigh {
            PathWeight::ByLength(_) => times(direct.0, || self.distances.hops(s, to)),
            PathWeight::Twice(_) => direct.0,
        };
        let mut best = (cost, direct.1, NOBODY);
        for _ in 0..self.candidates.1 {
            let via = here.random.below(here.net.switch_count() as u32);
            if via == s || via == to {
                continue;
            }
            let out = self.distances.any(s, via, here.random);
            let occupied = self.load(here, out, via);
            let cost = match self.weigh {
                PathWeight::ByLength(more) => {
                    let far = || self.distances.hops(s, via) + self.distances.hops(via, to);
                    times(occupied, far) + u64::from(more)
                }
                PathWeight::Twice(more) => 2 * occupied + u64::from(more),
            };
            let cost = here.biased(cost);
            if cost < best.0 {
                best = (cost, out, via);
            }
        }
        (packet.phase, packet.via) = (if best.2 == NOBODY { DIRECT } else { BY_ANOTHER }, best.2);
        packet.round = !self.distances.leads_nearer(s, to, best.1);
        Some(best.1)
    }
}

/// Bytes that wait times the channels of a path, which are not looked up where nothing waits: tables of large networks are not in the
/// cache.
#[inline]
fn times(bytes: u64, channels: impl FnOnce() -> u8) -> u64 {
    if bytes == 0 { 0 } else { bytes * u64::from(channels()) }
}
