//! Evenness of ECMP by counting flows, compared with the closed forms of balls in bins.

mod balls;
mod moved;
mod spread;

pub use balls::{Balls, collision_free, idle, members_used, members_used_variance};
pub use moved::{MovedFlows, moved};
pub use spread::{Spread, TierSpread, spread};
