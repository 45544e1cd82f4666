//! The elements of a fabric: switches, adapters, hosts, terminals.

use serde::{Deserialize, Serialize};

use crate::{AdapterId, Guid, HostId, SwitchId};

/// A switch as seen by the subnet manager.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Switch {
    /// GUID of the node.
    pub guid: Guid,
    /// System image GUID: chips of one chassis share it. Equal to `guid` where unknown.
    pub system_guid: Guid,
    /// Node description, verbatim.
    pub description: String,
    /// Number of external ports; ports are numbered `1..=ports`, port 0 is the switch itself.
    pub ports: u8,
    /// LID of port 0 where the input has one.
    pub lid: Option<u16>,
    /// Whether port 0 is "enhanced" (has LMC and speaks to applications).
    pub enhanced_port0: bool,
    /// Id of the vendor.
    pub vendor: u32,
    /// Id of the device.
    pub device: u32,
}

/// The role of a terminal. It decides the order in which engines take destinations (compute first, then storage, then
/// the rest, as OpenSM's `cn_guid_file` and `io_guid_file`) and which can run jobs.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A terminal that runs jobs.
    #[default]
    Compute,
    /// Storage target or gateway.
    Storage,
    /// Anything else that sends and receives: login, management.
    Other,
    /// In-network aggregation (SHARP) pseudo-adapter inside a switch; never runs jobs.
    Aggregation,
}

/// A channel adapter: one node GUID, one or more ports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adapter {
    /// GUID of the node.
    pub guid: Guid,
    /// System image GUID, equal to `guid` where unknown.
    pub system_guid: Guid,
    /// Node description, verbatim.
    pub description: String,
    /// Number of ports, linked or not.
    pub ports: u8,
    /// The host it sits in.
    pub host: HostId,
    /// Id of the vendor.
    pub vendor: u32,
    /// Id of the device.
    pub device: u32,
}

/// A host: a node of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name: the first word of its adapters' descriptions where they have one.
    pub name: String,
}

/// A terminal: one linked port of an adapter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    /// The adapter it belongs to.
    pub adapter: AdapterId,
    /// Port number on the adapter.
    pub port: u8,
    /// GUID of the port.
    pub guid: Guid,
    /// The switch it hangs on.
    pub switch: SwitchId,
    /// Port number on that switch.
    pub switch_port: u8,
    /// Base LID where the input has one.
    pub lid: Option<u16>,
    /// LID mask control of the input: the port owns `2^lmc` LIDs.
    pub lmc: u8,
    /// Role of the terminal.
    pub role: Role,
    /// Link class index, see [`Fabric::classes`](crate::Fabric::classes).
    pub class: u8,
}

/// A cable whose two ends are ports of one switch. It carries no route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loopback {
    /// Switch of both ports.
    pub switch: SwitchId,
    /// The two ports, lower first.
    pub ports: (u8, u8),
    /// Index of the link class.
    pub class: u8,
}

/// An adapter no port of which has a link to a switch.
pub type UnlinkedAdapter = AdapterId;
