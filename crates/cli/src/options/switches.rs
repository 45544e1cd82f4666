//! What switches and packets are like, at packet depth.

use clap::Args;
use darkfiber_fabric::{ChannelId, Fabric, Shape, SwitchId, Topology};
use darkfiber_packetsim::{ARBITRATIONS, FRAMINGS, INTERLEAVES, MICROS, QUEUES, SwitchModel};
use darkfiber_workload::Stream;
use darkfiber_workload::quantity::{bytes, time};

use crate::failure::Failure;

/// Bytes of the largest packet: no network has any of more than some kilobytes.
const LARGEST_PACKET: u64 = 16 << 20;

/// Switches, packets and lanes.
#[derive(Args, Clone, Debug)]
pub(crate) struct SwitchArgs {
    /// Switch model: a name of `darkfiber list switches` [default: qdr; congest: rosetta]
    #[arg(long, value_name = "SWITCHES", help_heading = "Switch options")]
    pub(crate) switches: Option<String>,
    /// Bytes of a packet [default: 2KiB; congest: 4KiB]
    #[arg(long, value_name = "BYTES", help_heading = "Switch options")]
    pub(crate) packet: Option<String>,
    /// Number of virtual channels [default: as many as the routing needs]
    #[arg(long, value_name = "N", alias = "lanes", help_heading = "Switch options", value_parser = clap::value_parser!(u8).range(1..=64))]
    pub(crate) vcs: Option<u8>,
    /// Bytes of buffer for each virtual channel of an input [default: by --switches]
    #[arg(long, value_name = "BYTES", help_heading = "Switch options")]
    pub(crate) buffer: Option<String>,
    /// Latency of cables between switches [default: by --switches]
    #[arg(long, value_name = "TIME", help_heading = "Switch options")]
    pub(crate) cable: Option<String>,
    /// Latency of cables between groups of a dragonfly [default: by --switches]
    #[arg(long, value_name = "TIME", help_heading = "Switch options")]
    pub(crate) global_cable: Option<String>,
    /// Queues of packets: lanes, outputs (virtual output queues) or memory (output-queued) [default: by --switches]
    #[arg(long, value_name = "QUEUES", help_heading = "Switch options")]
    pub(crate) queues: Option<String>,
    /// Arbitration of outputs: round-robin, age, islip or tiles [default: by --switches]
    #[arg(long, value_name = "ARBITRATION", help_heading = "Switch options")]
    pub(crate) arbitration: Option<String>,
    /// What is interleaved on a channel: packets, or flits of packets in different lanes (needs --queues lanes)
    /// [default: packets]
    #[arg(long, value_name = "PIECES", help_heading = "Switch options")]
    pub(crate) interleave: Option<String>,
    /// Framing of packets on channels: a name of `darkfiber list framing`; loads count payload only [default: none]
    #[arg(long, value_name = "FRAMING", help_heading = "Switch options")]
    pub(crate) framing: Option<String>,
    /// Bit error rate of cables; corrupted packets are retransmitted
    #[arg(long, value_name = "P", default_value_t = 0.0, help_heading = "Switch options")]
    pub(crate) bit_errors: f64,
    /// Cables with only some of their lanes working, as SHARE:PART, e.g. 0.05:0.5
    #[arg(long, value_name = "SHARE:PART", help_heading = "Switch options")]
    pub(crate) degraded: Option<String>,
}

impl SwitchArgs {
    /// What the switches are called.
    pub(crate) fn name<'a>(&'a self, usual: &'a str) -> &'a str {
        self.switches.as_deref().unwrap_or(usual)
    }

    /// Bytes of a packet.
    pub(crate) fn packet(&self, usual: u32) -> Result<u32, Failure> {
        let Some(text) = &self.packet else { return Ok(usual) };
        match quantity(text, "--packet", bytes)? {
            size @ 1..=LARGEST_PACKET => Ok(size as u32),
            size => Err(Failure::usage(format!(
                "--packet: {size} B is no size of a packet: 1 B to {LARGEST_PACKET} B are"
            ))),
        }
    }

    /// What switches and cables are like.
    pub(crate) fn model(
        &self,
        usual: &str,
        topology: &Topology,
        seed: u64,
    ) -> Result<SwitchModel, Failure> {
        let mut model = MICROS.get(self.name(usual))?.micro();
        if let Some(text) = &self.buffer {
            model.buffer = short(quantity(text, "--buffer", bytes)?);
        }
        if let Some(name) = &self.queues {
            model.queues = QUEUES.get(name)?.1;
        }
        if let Some(name) = &self.arbitration {
            model.arbitration = ARBITRATIONS.get(name)?.1;
        }
        if let Some(name) = &self.interleave {
            model.interleave = INTERLEAVES.get(name)?.1;
        }
        if let Some(name) = &self.framing {
            model.framing = FRAMINGS.get(name)?;
        }
        model.bit_errors = self.bit_errors;
        if let Some(text) = &self.degraded {
            model.widths = degraded(text, &topology.fabric, seed)?;
        }
        if let Some(text) = &self.cable {
            model.cable = Some(short(quantity(text, "--cable", time)?));
        }
        if let Some(text) = &self.global_cable {
            let long = short(quantity(text, "--global-cable", time)?);
            let Some(Shape::Dragonfly(d)) = &topology.shape else {
                return Err(Failure::usage("--global-cable: there are groups on dragonflies only"));
            };
            let fabric = &topology.fabric;
            let group = |s: SwitchId| d.group[s.index()];
            let latency = |c: ChannelId| {
                let global = group(fabric.tail(c)) != group(fabric.head(c));
                if global { long } else { model.link(fabric, c).0 }
            };
            model.latencies =
                (0..fabric.channel_count()).map(ChannelId::new).map(latency).collect();
        }
        Ok(model)
    }
}

/// A quantity that an option gives.
pub(crate) fn quantity<E: std::fmt::Display>(
    text: &str,
    option: &str,
    read: fn(&str) -> Result<u64, E>,
) -> Result<u64, Failure> {
    read(text).map_err(|e| Failure::usage(format!("{option}: {e}")))
}

/// Bytes of buffers and times of cables.
fn short(quantity: u64) -> u32 {
    u32::try_from(quantity).unwrap_or(u32::MAX)
}

/// By channel, the part of its lanes that works, if only so many of the lanes work of some cables, drawn at random: `SHARE:PART`.
fn degraded(text: &str, fabric: &Fabric, seed: u64) -> Result<Vec<f32>, Failure> {
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
