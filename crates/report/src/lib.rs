//! Results as terminal tables, JSON, CSV and pictures.
//!
//! [`model`] holds the results as plain data; scripts rely on their JSON keys. The other modules turn them into text.
//! Nothing here computes, reads or writes files.

pub mod blast;
mod canvas;
mod chart;
#[cfg(feature = "parquet")]
pub mod columns;
pub mod comma;
pub mod compare;
pub mod congest;
pub mod curve;
pub mod difference;
pub mod doctor;
pub mod ease;
pub mod ecmp;
pub mod engines;
pub mod estimate;
pub mod explain;
pub mod fabric;
pub mod figures;
pub mod findings;
pub mod framing;
pub mod heat;
pub mod hot;
pub mod json;
pub mod listing;
pub mod measure;
pub mod model;
pub mod nccl;
pub mod number;
pub mod optimise;
pub mod page;
pub mod place;
pub mod quantity;
pub mod rails;
pub mod rehearsal;
pub mod replay;
pub mod reproduce;
pub mod reroute;
pub mod review;
pub mod schema;
mod shades;
pub mod sharing;
mod show;
pub mod simulate;
pub mod study;
mod style;
pub mod survive;
pub mod svg;
pub mod sweep;
pub mod table;
pub mod transition;

pub use fabric::FabricResult;
pub use model::{
    ClassFacts, Comparison, FabricFacts, Listed, PortGroups, Provenance, RailFacts, Refused,
    RouteOutcome, Routed, Single, Towards,
};
pub use show::Report;
pub use style::Style;
pub use sweep::Sweep;
