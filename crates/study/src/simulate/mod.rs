//! Simulating a scenario: a fabric, its routes, jobs placed on it, and their traffic.
//!
//! [`Scenario`] is what a file says; who reads files makes a [`Setup`] of it, and [`simulate`] runs that.

mod packets;
mod pairs;
mod run;
mod scenario;
mod steps;

pub use packets::{Inside, channels};
pub use pairs::{Pair, Pairs};
pub use run::{
    Setup, Simulated, Trouble, Until, demanded, isolated, places, seated, sent, simulate,
    simulate_until,
};
pub use scenario::{
    AdaptivePart, ClassPart, CostPart, Depth, Follow, JobPart, KeepPart, LidsPart, PacketsPart,
    RoutesPart, Scenario, ShortPart,
};
pub use steps::{Counted, counted};
