//! One engine, one file. Ways that several share: `dag` (candidates), `balance` (choice), `order`
//! (up and down), `lines` and `stages` (lattices and groups), `cuts` (datelines), `rules` (layers that
//! are free of cycles by a rule).

mod acyclic;
mod balance;
mod by_destination;
mod canon;
mod capacity;
mod cuts;
mod dag;
mod dependencies;
mod dfsssp;
mod dor;
mod dragonfly_min;
mod escape;
mod frugal;
mod ftree;
mod grow;
mod hyperx_min;
mod lash;
mod layers;
mod lines;
mod mates;
mod minhop;
pub(crate) mod modk;
mod nue;
mod opt;
mod order;
mod parx;
mod parx_trees;
mod refine;
mod relief;
mod rules;
mod sar;
mod sar_best;
mod sssp;
mod stages;
mod torus;
mod tree;
mod two_level;
mod updn;

pub(crate) use dfsssp::DfSssp;
pub(crate) use dor::Dor;
pub(crate) use dragonfly_min::DragonflyMin;
pub(crate) use ftree::FTree;
pub(crate) use hyperx_min::HyperXMin;
pub(crate) use lash::Lash;
pub(crate) use minhop::MinHop;
pub(crate) use modk::{DModK, SModK};
pub(crate) use nue::Nue;
pub(crate) use opt::{Opt, OptBalanced, OptRect};
pub(crate) use parx::{PARX, PARX_OPPOSITE};
pub(crate) use sar::{SAR, SAR_MINMAX};
pub(crate) use sar_best::SarBest;
pub(crate) use sssp::Sssp;
pub(crate) use torus::Torus;
pub(crate) use updn::{DnUp, UpDn};
