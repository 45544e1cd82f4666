//! Cables of a scenario that lose lanes while it runs.

use darkfiber_fabric::{ChannelId, Fabric, Faults};
use darkfiber_packetsim::{LaneFault, draw_cables};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::faults::in_fabric;
use crate::value::{Fraction, Picos, Share};

/// Cables between switches of which only a part of the lanes works from a time on.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LaneFaultPart {
    /// When.
    pub at: Picos,
    /// Which cable: `GUID:PORT` or `NAME[PORT]`. This or `share`.
    pub cable: Option<String>,
    /// This much of all cables between switches, a part of 1, drawn by the seed of the scenario. This or `cable`.
    pub share: Option<Share>,
    /// What of their lanes works, a part of 1: 0.75 is three of four.
    pub lanes: Fraction,
}

/// Faults of lanes by channel and time.
pub(crate) fn lane_faults(
    parts: &[LaneFaultPart],
    fabric: &Fabric,
    seed: u64,
) -> Result<Vec<LaneFault>, Error> {
    let mut all = Vec::new();
    for (fault, i) in parts.iter().zip(1u32..) {
        let cables = cables(fault, fabric, seed.wrapping_add(u64::from(i) - 1))
            .map_err(|e| e.inside(format!("lane-fault {i}")).inside("packets"))?;
        let (at, part) = (fault.at.0, fault.lanes.0 as f32);
        let both = cables.into_iter().flat_map(|c| [c, fabric.reverse(c)]);
        all.extend(both.map(|channel| LaneFault { at, channel, part }));
    }
    Ok(all)
}

fn cables(part: &LaneFaultPart, fabric: &Fabric, seed: u64) -> Result<Vec<ChannelId>, Error> {
    match (&part.cable, part.share) {
        (Some(word), None) => {
            let (found, _) = in_fabric(fabric, word, None).map_err(|mut e| {
                e.message = e.message.replace("--fail ", "");
                e.inside("cable")
            })?;
            let Faults { links, switches, terminals } = found;
            if links.len() != 1 || !switches.is_empty() || !terminals.is_empty() {
                return Err(Error::input(format!("{word} is no cable between two switches"))
                    .hint("GUID:PORT or NAME[PORT] is one")
                    .inside("cable"));
            }
            Ok(links)
        }
        (None, Some(share)) => {
            let drawn = draw_cables(fabric, share.0, seed);
            if drawn.is_empty() {
                return Err(Error::input(format!(
                    "{} of {} cables between switches is none",
                    share.0,
                    fabric.channel_count() / 2
                ))
                .inside("share"));
            }
            Ok(drawn)
        }
        _ => Err(Error::input("give a cable or a share of all, one of them")
            .hint("for example share = 0.05")),
    }
}
