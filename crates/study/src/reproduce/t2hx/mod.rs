//! Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison to the Fat-Tree", SC'19.
//!
//! The machine is rebuilt as far as it is described: both planes with their faults drawn by a seed, five combinations of
//! topology, routing and placement, and traffic whose pattern is known. What its software cost is not public: hosts are
//! `qdr`, cables carry what one adapter can (2.26 GiB/s, figure 1), and who waits inside of MPI is not modelled.

mod allreduce;
mod barrier;
mod bisection;
mod cables;
mod capability;
mod capacity;
mod collectives;
mod deadlock;
mod lab;
mod lanes;
mod mpigraph;
mod planes;
mod quadrants;
mod topology;

pub(super) use allreduce::RingAllreduce;
pub(super) use barrier::Barriers;
pub(super) use bisection::Bisection;
pub(super) use cables::Cables;
pub(super) use capability::Capability;
pub(super) use capacity::Capacity;
pub(super) use collectives::{ALLREDUCE, ALLTOALL, BCAST, GATHER, REDUCE, SCATTER};
pub(super) use deadlock::Deadlocks;
pub(super) use lanes::Lanes;
pub(super) use mpigraph::MpiGraph;
pub(super) use planes::BothPlanes;
pub(super) use quadrants::Quadrants;
pub(super) use topology::Machine;

const PAPER: &str = "Domke et al.: HyperX Topology: First At-Scale Implementation and Comparison to the Fat-Tree, SC'19";
