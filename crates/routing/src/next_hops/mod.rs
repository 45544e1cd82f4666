//! Sets of next hops: towards every destination, the channels that a switch may pick among.
//!
//! One type represents both groups of ECMP (Ethernet), from which a hash picks by flow, and groups of ports of adaptive routing
//! (InfiniBand), from which a switch picks by load. Both are proved alike ([`check_sets`](crate::check::check_sets),
//! [`check_groups`](crate::check::check_groups)), and their average loads are counted alike.
//!
//! Destinations are switches with terminals (ECMP), or rows of [`Routes`](crate::Routes) (one for each LID). Those with the same sets
//! have one number.

mod group;
mod sets;
mod shortest;

pub use group::{Group, Groups};
pub(crate) use sets::HopsOfPart;
pub use sets::{NextHops, NextHopsBuilder};
pub(crate) use shortest::NextHopSet;
