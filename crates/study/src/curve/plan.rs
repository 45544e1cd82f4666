//! The traffic of a load curve, and the duration of its measurement.

use darkfiber_analysis::diameter;
use darkfiber_fabric::{Fabric, Shape, TerminalId};
use darkfiber_packetsim::{Load, Net, SwitchModel, Targets};
use darkfiber_scenario::Error;
use darkfiber_workload::{Extent, Participants, Stream, pattern};

/// Phases of a pattern whose pairs are combined.
const PHASES: u64 = 4096;
/// The measurement lasts as long as this number of packets takes on a channel, and at least as long as this number of ways over
/// [`SWITCHES`] switches without waiting.
const PACKETS: u64 = 100;
const WAYS: u64 = 20;
const SWITCHES: u64 = 8;
/// It is doubled so often at most: near saturation it takes that for intervals to be as wide as they have to be.
const DOUBLINGS: u32 = 4;
/// Picoseconds of a second, and the maximum duration of a measurement.
const SECOND: u64 = 1_000_000_000_000;
const LONGEST: u64 = 1000 * SECOND;

/// The traffic of a load curve, and its durations; `None` stands for the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Pattern of the destinations: `uniform`, or a spec of the patterns.
    pub pattern: String,
    /// Bytes of a message, whose packets are created at once; `None`: a single packet.
    pub message: Option<u64>,
    /// Picoseconds over which packets are measured; the time of 100 packets on a channel or of 20 ways over 8 switches without,
    /// whichever is longer, and up to 16 times that where packets take long or it is open whether sources fall behind.
    pub measure: Option<u64>,
    /// Picoseconds before that; until latencies have settled without.
    pub warmup: Option<u64>,
    /// Picoseconds of an interval in which channels are counted, if they are.
    pub interval: Option<u64>,
}

impl Traffic {
    /// A time that is given and is shorter than the longest of the shortest ways through the network without waiting: which one,
    /// what was given, and what it is compared with, in picoseconds. Packets of that time tell little of the network: what arrives in
    /// it was created before, and what is created in it arrives later.
    pub fn too_short(
        &self,
        fabric: &Fabric,
        net: &Net,
        micro: &SwitchModel,
        packet: u32,
    ) -> Option<(&'static str, u64, u64)> {
        let given = [("measure", self.measure), ("warmup", self.warmup)];
        let (name, time) =
            given.into_iter().filter_map(|(name, time)| Some((name, time?))).min_by_key(|t| t.1)?;
        let switches = diameter(fabric) as u64 + 1;
        let longest = (switches + 1) * net.slowest(packet) + switches * micro.pipeline;
        (time < longest).then_some((name, time, longest))
    }

    /// Everything of a load except its level: packets of `packet` bytes on this network.
    ///
    /// # Errors
    /// If there is no such pattern, or a message or a time is invalid.
    pub fn load(
        &self,
        (fabric, shape): (&Fabric, Option<&Shape>),
        net: &Net,
        micro: &SwitchModel,
        packet: u32,
        seed: u64,
    ) -> Result<Load, Error> {
        let message = self.message.unwrap_or(packet.into());
        if message < packet.into() {
            return Err(Error::usage(format!(
                "a message of {message} B is less than a packet of {packet} B"
            ))
            .hint("give packets as short: a message is one packet then"));
        }
        if self.interval == Some(0) {
            return Err(
                Error::usage("an interval of 0 s has no end").hint("100ns is some, for packets")
            );
        }
        let path_time = SWITCHES * (net.slowest(packet) + micro.pipeline);
        let measure = self.measure.unwrap_or_else(|| {
            let one = net.slowest(packet).saturating_mul(message.div_ceil(packet.into()));
            (WAYS * path_time).max(one.saturating_mul(PACKETS))
        });
        let doublings = if self.measure.is_some() { 0 } else { DOUBLINGS };
        if measure.saturating_mul(1 << doublings).max(self.warmup.unwrap_or(0)) > LONGEST {
            return Err(Error::usage(format!(
                "more than {} s would be simulated, which is for ever",
                LONGEST / SECOND
            ))
            .hint("measure for a shorter time, or shorter messages; warm up for less"));
        }
        Ok(Load {
            targets: targets(&self.pattern, fabric, shape, net, seed)?,
            load: 0.0,
            bytes: packet,
            message,
            warmup: self.warmup,
            measure: measure.max(10),
            doublings,
            drain: measure.saturating_mul(4),
            interval: self.interval,
            parts: 1,
            processes: None,
            seed,
        })
    }
}

/// Destinations of the terminals.
fn targets(
    spec: &str,
    fabric: &Fabric,
    shape: Option<&Shape>,
    net: &Net,
    seed: u64,
) -> Result<Targets, Error> {
    let n = net.terminal_count() as u32;
    if spec == "uniform" {
        return Ok(Targets::uniform(n));
    }
    let all: Vec<_> = (0..n).map(TerminalId).collect();
    let groups: Participants = Participants::of(fabric, shape, &all);
    let pattern = pattern(spec, &groups).map_err(|e| Error::usage(format!("pattern: {e}")))?;
    let mut pairs = Vec::new();
    let mut together = Vec::new();
    let phases = match pattern.extent() {
        Extent::Phases(n) => n.min(PHASES),
        // Many samples of patterns that are redrawn each time; one of a permutation, which is fixed.
        Extent::Samples if pattern.is_permutation() => 1,
        Extent::Samples => PHASES,
    };
    for i in 0..phases {
        pattern.fill(i, &mut Stream::new(seed, i), &mut pairs);
        together.extend_from_slice(&pairs);
    }
    Ok(Targets::pairs(n, &together))
}
