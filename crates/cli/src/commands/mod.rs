//! One file for each command.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod congest;
pub(crate) mod ease;
mod entries;
pub(crate) mod explain;
pub(crate) mod fabric;
pub(crate) mod framing;
pub(crate) mod hot;
mod in_place;
pub(crate) mod jobs;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod measure;
pub(crate) mod metrics;
pub(crate) mod optimize;
pub(crate) mod place;
pub(crate) mod replay;
pub(crate) mod reproduce;
pub(crate) mod reroute;
pub(crate) mod route;
pub(crate) mod saturate;
pub(crate) mod share;
pub(crate) mod simulate;
pub(crate) mod survive;
pub(crate) mod sweep;
