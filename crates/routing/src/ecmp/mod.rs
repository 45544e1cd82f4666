//! Equal-cost multipath (ECMP), as switches of Ethernet and IP forward: towards every destination a switch has a *set* of next
//! hops, all on shortest paths, and a hash of a packet's header picks one of them, so that packets of a flow stay in order.
//!
//! There is no forwarding table by destination that says this: the path is that of a flow. So all that follow flows (counting, flows,
//! packets) ask one function, [`Ecmp::next`], and see the same paths. The sets alone decide about deadlock
//! ([`check_sets`](crate::check::check_sets)).
//!
//! Real switches' hash functions are not published; what is here is a family to which they belong (CRC, XOR, Jenkins, with fields, a
//! seed and a rotation), so answers are for the modelled hash.

mod fields;
mod hashes;
mod header;
mod place;
mod spec;

pub use fields::Field;
pub use hashes::{HASHES, HashFunction};
pub use header::{Header, ROCE_PORT, roce_source_port};
pub use place::{Ecmp, tiers};
pub use spec::{Differs, ECMP_KEYS, EcmpError, EcmpSpec};
