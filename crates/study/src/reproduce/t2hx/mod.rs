//! Domke et al., "HyperX Topology: First At-Scale Implementation and Comparison to the Fat-Tree", SC'19.
//!
//! The machine is rebuilt as far as it is described: both planes with their faults drawn by a seed, five combinations of
//! topology, routing and placement, and traffic whose pattern is known. The cost of its software is not public: hosts
//! are `qdr`, cables have the rate of one adapter (2.26 GiB/s, figure 1), and waiting inside of MPI is not modelled.

pub(super) mod allreduce;
pub(super) mod barrier;
pub(super) mod bisection;
pub(super) mod cables;
pub(super) mod capability;
pub(super) mod capacity;
pub(super) mod collectives;
pub(super) mod deadlock;
mod lab;
pub(super) mod lanes;
pub(super) mod mpigraph;
pub(super) mod planes;
pub(super) mod quadrants;
mod records;
pub(super) mod topology;

const PAPER: &str = "Domke et al.: HyperX Topology: First At-Scale Implementation and Comparison to the Fat-Tree, SC'19";
