//! What users name of switches and of the routings of packets.

use darkfiber_fabric::{ChannelId, Fabric};
use darkfiber_packetsim::routing::{Kind, ROUTINGS};
use darkfiber_packetsim::{
    ARBITRATIONS, Arbitration, CONGESTIONS, Congestion, FRAMINGS, Framing, MICROS, QUEUES, Queues,
    SwitchModel,
};
use darkfiber_workload::Stream;

use crate::failure::Failure;

/// What switches of a name are like.
pub(crate) fn switches(name: &str) -> Result<SwitchModel, Failure> {
    Ok(MICROS.get(name)?.micro())
}

/// A routing by name.
pub(crate) fn routing(name: &str) -> Result<&'static Kind, Failure> {
    Ok(ROUTINGS.get(name)?)
}

/// How packets wait, by name.
pub(crate) fn queues(name: &str) -> Result<Queues, Failure> {
    Ok(QUEUES.get(name)?.1)
}

/// Whose turn it is, by name.
pub(crate) fn arbitration(name: &str) -> Result<Arbitration, Failure> {
    Ok(ARBITRATIONS.get(name)?.1)
}

/// What holds sources back, by name.
pub(crate) fn congestion(name: &str) -> Result<Congestion, Failure> {
    Ok(CONGESTIONS.get(name)?.congestion)
}

/// What packets have on channels beside data, by name.
pub(crate) fn framing(name: &str) -> Result<&'static Framing, Failure> {
    Ok(FRAMINGS.get(name)?)
}

/// By channel, the part of its lanes that works, if only so many of the lanes work of some cables, drawn by lot: `SHARE:PART`.
pub(crate) fn degraded(text: &str, fabric: &Fabric, seed: u64) -> Result<Vec<f32>, Failure> {
    let wrong = || {
        Failure::usage(format!("--degraded: {text} is no SHARE:PART"))
            .hint("0.05:0.5 has half of the lanes of 5 % of the cables work")
    };
    let (share, part) = text.split_once(':').ok_or_else(wrong)?;
    let number = |text: &str| text.parse::<f32>().ok().filter(|x| (0.0..=1.0).contains(x));
    let share = number(share).ok_or_else(wrong)?;
    let part = number(part).filter(|p| *p > 0.0).ok_or_else(wrong)?;
    let mut widths = vec![1.0; fabric.channel_count()];
    let cables: Vec<ChannelId> = (0..fabric.channel_count())
        .map(ChannelId::new)
        .filter(|&c| c.index() < fabric.reverse(c).index())
        .collect();
    #[expect(clippy::cast_sign_loss, reason = "a share is not below zero")]
    let count = (share * cables.len() as f32).round() as usize;
    let mut cables = cables;
    Stream::new(seed, 0xdead).shuffle(&mut cables);
    for &cable in &cables[..count] {
        for c in [cable, fabric.reverse(cable)] {
            widths[c.index()] = part;
        }
    }
    Ok(widths)
}

/// Bytes of packets and buffers.
pub(crate) fn short(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
