//! Processes of one packet simulation, connected by MPI.
//!
//! [`start`] begins MPI; what it returns connects a run with the others (`darkfiber_packetsim::Load::processes`, `Parts::processes`)
//! as long as it lives. The MPI of the system is linked with the feature `mpi` only: without it [`start`] says how to build with it.

mod error;
#[cfg(feature = "mpi")]
mod world;

#[cfg(not(feature = "mpi"))]
mod absent;

#[cfg(not(feature = "mpi"))]
pub use absent::{World, start};
pub use error::StartError;
#[cfg(feature = "mpi")]
pub use world::{World, start};
