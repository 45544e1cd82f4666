//! One difference, for people and programs.

use darkfiber_fabric::{CableEnd, Cabling};
use schemars::JsonSchema;
use serde::Serialize;

/// What differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// A device that is expected and not found, with all its cables.
    DeviceMissing,
    /// A device that is found and not expected, with all its cables.
    DeviceExtra,
    /// A device with another GUID in the place of an expected one.
    DeviceReplaced,
    /// A device under another name.
    DeviceRenamed,
    /// Two cables that exchanged an end.
    CablesSwapped,
    /// A cable with one end in the wrong place.
    CableMoved,
    /// A cable that is expected and not found.
    CableMissing,
    /// A cable that is found and not expected.
    CableExtra,
    /// A cable of another width or speed than expected.
    CableSpeed,
}

/// One difference. Ends are `device` or `device port N`.
#[derive(Clone, Debug, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Difference {
    /// What it is.
    pub kind: DifferenceKind,
    /// The device, or the end of the cable that is as expected.
    pub at: String,
    /// What is expected there: the other end of the cable, a speed, a GUID or a name.
    pub expected: Option<String>,
    /// What is found there.
    pub found: Option<String>,
    /// What to do, for the one who walks there.
    pub action: String,
}

/// An end for people.
pub(super) fn name(cabling: &Cabling, end: CableEnd) -> String {
    let device = &cabling.devices[end.device].name;
    end.port.map_or_else(|| device.clone(), |port| format!("{device} port {port}"))
}
