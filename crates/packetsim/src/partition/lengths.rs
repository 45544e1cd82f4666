//! Lengths of packets and of their pieces, and whether switches can take them.

use crate::{
    Arbitration, ConfigError, Congestion, Interleave, Net, Queues, SwitchModel, TILED_PORTS,
};

/// Lengths of packets, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lengths {
    /// Data of one at most.
    pub(crate) most: u32,
    /// The same on a channel.
    pub(crate) wire: u32,
    /// Minimum length: shorter packets take as long.
    pub(crate) least: u32,
    /// Maximum length of a unit on a channel: a packet, or a flit including the remainder of the last one.
    pub(crate) piece: u32,
}

impl Lengths {
    /// Packets of at most this number of bytes, with a routing that needs this number of lanes; packets shorter than a tick take
    /// a tick.
    pub(crate) fn new(
        net: &Net,
        micro: &SwitchModel,
        lanes: u8,
        most: u32,
    ) -> Result<Self, ConfigError> {
        // Lengths of packets as they are on channels.
        let most_data = most;
        let most = micro.framing.frame(most);
        micro.check(most)?;
        let ports = (0..net.port_count() as u32).map(|p| u32::from(net.port(p).number));
        if micro.arbitration == Arbitration::Tiles && ports.max() > Some(TILED_PORTS) {
            return Err(ConfigError(format!(
                "tiles have {TILED_PORTS} ports, and this fabric has switches with more: take another arbitration"
            )));
        }
        if lanes > micro.lanes {
            return Err(ConfigError(format!(
                "this routing needs {lanes} virtual lanes to be free of deadlock, and there are {}: give as many, or take another \
                 routing",
                micro.lanes
            )));
        }
        if (0..net.port_count() as u32).any(|p| net.port(p).latency == u32::MAX) {
            return Err(ConfigError(
                "packets take less than 4.29 ms over a cable, with its forward error correction: take less, or the depth flow".to_owned(),
            ));
        }
        // All that is multiplied with it: a packet with what follows it, and a buffer of an output.
        let longest = (u64::from(most) + u64::from(micro.framing.gap))
            .max(micro.output_buffer.unwrap_or(0).into());
        if longest.checked_mul(net.slowest_pace()).is_none() {
            return Err(ConfigError(format!(
                "{longest} B take longer than 281 s on the slowest channel: take shorter packets, faster cables, or the depth flow"
            )));
        }
        if net.quickest(most) < micro.tick {
            return Err(ConfigError(format!(
                "a packet of {most} B passes a channel in less than a tick of {} ps: make it longer",
                micro.tick
            )));
        }
        let (mut below, mut least) = (0, most);
        while least - below > 1 {
            let middle = below + (least - below) / 2;
            if net.quickest(middle) < micro.tick { below = middle } else { least = middle }
        }
        if least > u16::MAX.into() {
            return Err(ConfigError(format!(
                "{least} B pass a channel in a tick of {} ps: make ticks shorter",
                micro.tick
            )));
        }
        let piece = match micro.interleave {
            Interleave::Packets => u32::MAX,
            Interleave::Flits => {
                check_flits(micro, least)?;
                least
            }
        };
        Ok(Self { most: most_data, wire: most, least, piece })
    }
}

/// Refuses options that flits of several packets do not support yet.
fn check_flits(micro: &SwitchModel, flit: u32) -> Result<(), ConfigError> {
    let impossible = |why: &str| Err(ConfigError(format!("flits are interleaved {why}")));
    if micro.queues != Queues::Lanes {
        return impossible("in queues by lane only: give --queues lanes, or interleave packets");
    }
    if !matches!(micro.arbitration, Arbitration::RoundRobin | Arbitration::Age) {
        return impossible("with arbitration round-robin or age only");
    }
    if !micro.classes.is_empty() {
        return impossible("without traffic classes only");
    }
    if micro.congestion != Congestion::None {
        return impossible("without congestion control only");
    }
    if micro.buffer < 2 * flit {
        return impossible(&format!(
            "with room for two of them at least: {} B of buffer are less than 2 times {flit} B",
            micro.buffer
        ));
    }
    Ok(())
}
