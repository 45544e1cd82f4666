//! The network as a data structure.
//!
//! A [`Fabric`] is an immutable value: switches, adapters, hosts and terminals with dense ids, and
//! directed channels in compressed-row order. It is made by a [`FabricBuilder`] (from a dump, or by a
//! generator) and changed only by making a new value from [`Faults`]. What a fabric *is* (a tree with
//! levels, a grid with coordinates, groups) is a separate value, its [`Shape`].
//!
//! This crate does no I/O.

mod builder;
mod by_name;
mod cabling;
mod close_names;
mod digest;
mod fabric;
mod faults;
pub mod generate;
mod ids;
mod link;
pub mod memory;
mod naming;
mod natural_order;
mod node;
mod pits;
mod planes;
mod presets;
pub mod rails;
mod recognise;
mod registry;
mod shape;
mod spec;
mod spec_error;
mod topology;

pub use builder::{BuildError, FabricBuilder};
pub use by_name::open;
pub use cabling::{Cable, CableEnd, Cabling, Device};
pub use close_names::nearest;
pub use digest::Digest;
pub use fabric::{AtPort, Fabric};
pub use faults::{FaultError, Faults, Renumbering, SYMBOL_ERRORS_OF_A_BAD_CABLE};
pub use generate::{
    COMMON_KEYS, FAMILIES, Family, Key, MAX_CABLES, MAX_NODES, MAX_PLANES, MAX_PORTS, Params,
};
pub use ids::{AdapterId, ChannelId, Guid, HostId, SwitchId, TerminalId};
pub use link::LinkClass;
pub use naming::{AdapterName, NewNames, SharedName};
pub use natural_order::natural_order;
pub use node::{Adapter, Host, Loopback, Role, Switch, Terminal, UnlinkedAdapter};
pub use pits::lift_pits;
pub use planes::Planes;
pub use presets::{PRESETS, Preset};
pub use recognise::{Missing, RECOGNISERS, Recogniser, Recognition, Unrecognised, recognise};
pub use registry::{Entry, Registry, Unknown};
pub use shape::{
    DragonflyShape, ExpanderShape, GridKind, GridShape, GroupKind, Pgft, PlanesShape, Shape,
    SlimFlyShape, TreeShape,
};
pub use spec::{family, parse_spec, preset};
pub use spec_error::SpecError;
pub use topology::Topology;
