//! Routes, the engines that compute them, and the checker that proves them.
//!
//! Read [`engine`] first (what an engine is given and returns), then `engines/minhop.rs`. [`Routes`]
//! is plain data: nothing downstream can tell which engine, or OpenSM, made it. [`check`] shares no
//! code with the engines.

pub mod check;
mod dimension_orders;
mod each_plane;
pub mod ecmp;
pub mod engine;
mod engines;
mod flow_path;
mod layers;
mod lid_blocks;
mod lid_choice;
mod lid_offsets;
mod lids;
pub mod next_hops;
pub mod optimise;
mod orthants;
mod planes;
mod refusal;
mod registry;
mod request;
pub mod reroute;
mod routes;
mod searches;
mod spread;
mod step;
mod stop;
pub mod transition;
mod unconnected;

pub use engine::{Deadlock, Engine, FabricRequirement, Refusals, route_first};
pub use engines::{
    NoLayersByHop, NoLayersBySource, layers_by_hop, layers_by_source, least_load_of_jobs,
};
pub use layers::{HopLanes, LEVELS, Layers};
pub use lid_blocks::LidBlocks;
pub use lid_choice::LidChoice;
pub use lids::{LidError, Lids, MAX_UNICAST_LID};
pub use orthants::Orthants;
pub use planes::joined;
pub use refusal::Refusal;
pub use registry::{ENGINES, find_engine};
pub use request::{Demand, LayerBy, Request};
pub use routes::{DELIVER, DestId, NO_ROUTE, Routes};
pub use searches::{SEARCHES, search_from};
pub use spread::spread_lanes;
pub use step::{Step, follow, step};
pub use stop::{Stop, unwind_if_asked};
