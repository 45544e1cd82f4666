//! A program that was built without MPI.

use std::sync::Arc;

use darkfiber_packetsim::Processes;

use crate::StartError;

/// Never there: the program was built without MPI.
#[derive(Debug)]
pub enum World {}

impl World {
    /// The processes.
    pub fn processes(&self) -> &Arc<dyn Processes> {
        match *self {}
    }
}

/// Begins MPI.
///
/// # Errors
/// Always: the program was built without it.
pub fn start() -> Result<World, StartError> {
    Err(StartError::NotBuilt)
}
