//! One engine, one file. Ways that several share: `dag` (candidates), `balance` (choice), `order`
//! (up and down), `lines` and `stages` (lattices and groups), `cuts` (datelines), `rules` (layers that
//! are free of cycles by a rule).

mod acyclic;
mod balance;
mod cuts;
mod dag;
mod dfsssp;
mod dor;
mod dragonfly_min;
mod ftree;
mod hyperx_min;
mod layers;
mod lines;
mod minhop;
mod modk;
mod order;
mod rules;
mod sssp;
mod stages;
mod torus;
mod updn;

pub(crate) use dfsssp::DfSssp;
pub(crate) use dor::Dor;
pub(crate) use dragonfly_min::DragonflyMin;
pub(crate) use ftree::FTree;
pub(crate) use hyperx_min::HyperXMin;
pub(crate) use minhop::MinHop;
pub(crate) use modk::{DModK, SModK};
pub(crate) use sssp::Sssp;
pub(crate) use torus::Torus;
pub(crate) use updn::{DnUp, UpDn};
