//! Options of several commands: one struct for each concept, flattened where it applies.

mod common;
mod counted;
mod ease;
mod engines;
mod fabric;
mod from;
mod jobs;
mod page;
mod store;
mod switches;
mod tables;
pub(crate) mod values;

pub(crate) use common::{Common, Format};
pub(crate) use counted::CountedArgs;
pub(crate) use ease::EaseArgs;
pub(crate) use engines::{EngineArgs, LayerBy, RequestArgs};
pub(crate) use fabric::{FabricArgs, FabricOptions, FaultArgs, NamesArgs};
pub(crate) use from::BesideFrom;
pub(crate) use jobs::{HistoryArgs, JobsArgs};
pub(crate) use page::PageArgs;
pub(crate) use store::{CheckpointArgs, StoreArgs};
pub(crate) use switches::{SwitchArgs, optional, quantity};
pub(crate) use tables::{BesideTables, SetArgs, TableArgs, TablesOrEngine};
