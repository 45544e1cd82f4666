//! Sets of next hops: towards every destination, the channels that a switch may pick among.
//!
//! One value carries what Ethernet and InfiniBand have: groups of ECMP, from which a hash picks by flow, and groups of ports of adaptive
//! routing, from which a switch picks by load. They are proved alike ([`check_sets`](crate::check::check_sets),
//! [`check_groups`](crate::check::check_groups)), whoever picks, and what they load on average is counted alike.
//!
//! Destinations are switches with terminals (ECMP), or rows of [`Routes`](crate::Routes) (a LID each). Those with the same sets have one
//! number.

mod group;
mod sets;
mod shortest;

pub use group::{Group, Groups};
pub(crate) use sets::HopsOfPart;
pub use sets::{NextHops, NextHopsBuilder};
pub(crate) use shortest::Found;
