//! Adapters of a scenario that pause their switches for a while.

use darkfiber_fabric::Fabric;
use darkfiber_formats::places::{Aliases, Places};
use darkfiber_packetsim::PauseStorm;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::value::{Bytes, Picos};

/// Priority flow control: when a buffer pauses its sender.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PfcPart {
    /// With more than this in a lane's buffer, or on its way there, its sender is paused.
    pub xoff: Bytes,
    /// With at most this much the pause ends.
    pub xon: Bytes,
}

/// An adapter that pauses its switch without reason.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PauseStormPart {
    /// Whose adapter, or adapters: a host's name, or a GUID.
    pub host: String,
    /// When it begins.
    pub at: Picos,
    /// How long it lasts.
    #[serde(rename = "for")]
    pub long: Picos,
}

/// The storms of a scenario, in the order in which they begin.
pub(crate) fn storms(parts: &[PauseStormPart], fabric: &Fabric) -> Result<Vec<PauseStorm>, Error> {
    let mut all = Vec::new();
    let places = (!parts.is_empty()).then(|| Places::new(fabric, Aliases::default()));
    for (part, i) in parts.iter().zip(1u32..) {
        let terminals = places.as_ref().map_or(&[][..], |places| places.of(&part.host));
        if terminals.is_empty() {
            let known: Vec<&str> = fabric.hosts().iter().map(|host| host.name.as_str()).collect();
            return Err(Error::unknown("host of the fabric", &part.host, &known)
                .inside("host")
                .inside(format!("pause-storm {i}"))
                .inside("packets"));
        }
        let (from, until) = (part.at.0, part.at.0.saturating_add(part.long.0));
        all.extend(terminals.iter().map(|t| PauseStorm { terminal: t.0, from, until }));
    }
    all.sort_by_key(|storm| storm.from);
    Ok(all)
}
