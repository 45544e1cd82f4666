//! One engine, one file. Ways that several share: `dag` (candidates), `balance` (choice), `order`
//! (up and down).

mod acyclic;
mod balance;
mod dag;
mod dfsssp;
mod dor;
mod ftree;
mod layers;
mod minhop;
mod modk;
mod order;
mod sssp;
mod updn;

pub(crate) use dfsssp::DfSssp;
pub(crate) use dor::Dor;
pub(crate) use ftree::FTree;
pub(crate) use minhop::MinHop;
pub(crate) use modk::{DModK, SModK};
pub(crate) use sssp::Sssp;
pub(crate) use updn::{DnUp, UpDn};
