//! One engine, one file. Ways that several share: `dag` (candidates), `balance` (choice), `order`
//! (up and down).

mod acyclic;
mod balance;
mod by_destination;
mod dag;
mod dfsssp;
mod dor;
mod escape;
mod frugal;
mod ftree;
mod grow;
mod lash;
mod layers;
mod minhop;
mod modk;
mod nue;
mod order;
mod refine;
mod sssp;
mod tree;
mod updn;

pub(crate) use dfsssp::DfSssp;
pub(crate) use dor::Dor;
pub(crate) use ftree::FTree;
pub(crate) use lash::Lash;
pub(crate) use minhop::MinHop;
pub(crate) use modk::{DModK, SModK};
pub(crate) use nue::Nue;
pub(crate) use sssp::Sssp;
pub(crate) use updn::{DnUp, UpDn};
