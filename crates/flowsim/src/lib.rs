//! The flow depth: messages are flows that share channels max-min fairly.
//!
//! [`MaxMin`] shares the channels among the flows of the moment, and changes only what an arrival or a departure
//! changes. [`Network`] is a fabric with its routes and capacities, and [`Flows`] carries the messages of a
//! [`darkfiber_workload::play::Player`] over it.
//!
//! What is not seen at this depth: queues, credits, adaptive routing, and packets.

mod choice;
mod flows;
mod grid;
mod heap;
mod maxmin;
mod network;
mod path;

pub use choice::Choice;
pub use flows::{EXACT, Flows, FlowsState, Options};
pub use grid::Grid;
pub use maxmin::{FlowId, MaxMin};
pub use network::Network;
pub use path::{NoRoute, Path};
