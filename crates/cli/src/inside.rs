//! What users name of switches and of the routings of packets.

use darkfiber_packetsim::routing::{Kind, ROUTINGS, kind};
use darkfiber_packetsim::{MICROS, Micro, preset};

use crate::failure::Failure;

/// What switches of a name are like.
pub(crate) fn switches(name: &str) -> Result<Micro, Failure> {
    let known: Vec<&str> = MICROS.iter().map(|m| m.name).collect();
    let preset = preset(name).ok_or_else(|| Failure::unknown("switch", name, &known))?;
    Ok(preset.micro())
}

/// A routing by name.
pub(crate) fn routing(name: &str) -> Result<&'static Kind, Failure> {
    let known: Vec<&str> = ROUTINGS.iter().map(|k| k.name).collect();
    kind(name).ok_or_else(|| Failure::unknown("routing", name, &known))
}

/// Bytes of packets and buffers.
pub(crate) fn short(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
