//! The flow depth: messages are flows that share channels max-min fairly.
//!
//! [`MaxMin`] shares the channels among the current flows, and changes only the rates that an arrival or a departure
//! affects. [`Network`] is a fabric with its routes and capacities, and [`Flows`] carries the messages of a
//! [`darkfiber_workload::play::Player`] over it.
//!
//! Not modelled at this depth: queues, credits, adaptive routing, and packets.
//!
//! ```
//! use darkfiber_flowsim::MaxMin;
//!
//! // Two channels of 10 and 4 bytes a picosecond; one flow crosses both, one the first only.
//! let mut shares = MaxMin::new(&[10.0, 4.0]);
//! let long = shares.add(&[0, 1], 1.0, f64::INFINITY);
//! let short = shares.add(&[0], 1.0, f64::INFINITY);
//! shares.share(&mut Vec::new());
//! // The second channel keeps the long one from more, and the short one has what that leaves of the first.
//! assert_eq!([shares.rate(long), shares.rate(short)], [4.0, 6.0]);
//! ```

mod flows;
mod grid;
mod maxmin;
mod network;
mod path;

pub use flows::{EXACT, Flows, FlowsState, Options};
pub use grid::Grid;
pub use maxmin::{FlowId, MaxMin};
pub use network::Network;
pub use path::{NoRoute, Path};
