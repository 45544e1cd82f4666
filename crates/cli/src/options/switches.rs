//! Models of switches and packets, at packet depth.

use clap::Args;
use darkfiber_scenario::value::{Between, Bytes, Choice, Chosen, Degraded, Picos};
use darkfiber_scenario::{Depth, PacketsPart, Scenario};
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
    /// Bytes of a packet [default: by --switches; qdr: 2KiB]
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
    /// Keep packets of a pair in order [default: by --switches]
    #[arg(long, value_name = "YES|NO", help_heading = "Switch options", value_parser = ["yes", "no"], hide_possible_values = true)]
    pub(crate) ordered: Option<String>,
    /// Bit error rate of cables; corrupted packets are retransmitted
    #[arg(long, value_name = "P", default_value_t = 0.0, help_heading = "Switch options")]
    pub(crate) bit_errors: f64,
    /// Cables with only some of their lanes working, as SHARE:PART, e.g. 0.05:0.5
    #[arg(long, value_name = "SHARE:PART", help_heading = "Switch options")]
    pub(crate) degraded: Option<String>,
}

impl SwitchArgs {
    /// Sets a scenario to packet depth with such switches; `usual` is the default model.
    pub(crate) fn fill(&self, scenario: &mut Scenario, usual: &str) -> Result<(), Failure> {
        let size = match optional(self.packet.as_ref(), "--packet", bytes)? {
            Some(size) if !(1..=LARGEST_PACKET).contains(&size) => {
                return Err(Failure::usage(format!(
                    "--packet: {size} B is no size of a packet: 1 B to {LARGEST_PACKET} B are"
                )));
            }
            size => size,
        };
        let degraded = self.degraded.as_deref().map(str::parse::<Degraded>).transpose();
        scenario.depth = Depth::Packet;
        scenario.packets = PacketsPart {
            switches: Some(Chosen::named(self.switches.as_deref().unwrap_or(usual))?),
            size: size.map(Bytes),
            ordered: self.ordered.as_ref().map(|word| word == "yes"),
            lanes: self.vcs,
            buffer: optional(self.buffer.as_ref(), "--buffer", bytes)?.map(Bytes),
            cable: optional(self.cable.as_ref(), "--cable", time)?.map(Picos),
            global_cable: optional(self.global_cable.as_ref(), "--global-cable", time)?.map(Picos),
            degraded: degraded.map_err(|e| e.inside("--degraded"))?,
            queues: chosen(self.queues.as_ref())?,
            arbitration: chosen(self.arbitration.as_ref())?,
            interleave: chosen(self.interleave.as_ref())?,
            framing: chosen(self.framing.as_ref())?,
            bit_errors: Between(self.bit_errors),
            ..PacketsPart::default()
        };
        Ok(())
    }
}

/// The component of a name, if one is given.
fn chosen<T: Choice>(name: Option<&String>) -> Result<Option<Chosen<T>>, Failure> {
    Ok(name.map(|name| Chosen::named(name)).transpose()?)
}

/// A quantity that an option may give.
pub(crate) fn optional<E: std::fmt::Display>(
    text: Option<&String>,
    option: &str,
    read: fn(&str) -> Result<u64, E>,
) -> Result<Option<u64>, Failure> {
    text.map(|text| quantity(text, option, read)).transpose()
}

/// A quantity that an option gives.
pub(crate) fn quantity<E: std::fmt::Display>(
    text: &str,
    option: &str,
    read: fn(&str) -> Result<u64, E>,
) -> Result<u64, Failure> {
    read(text).map_err(|e| Failure::usage(format!("{option}: {e}")))
}
