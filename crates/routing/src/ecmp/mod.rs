//! Equal-cost multipath (ECMP), as switches of Ethernet and IP forward: towards every destination a switch has a *set* of next
//! hops, all on shortest paths, and a hash of a packet's header picks one of them, so that packets of a flow stay in order.
//!
//! No forwarding table by destination can express this: the path depends on the flow. So all code that follows flows (counting, flow
//! level, packet level) calls one function, [`Ecmp::next`], and sees the same paths. The sets alone decide about deadlock
//! ([`check_sets`](crate::check::check_sets)).
//!
//! The hash functions of real switches are not published; this is the family to which they belong (CRC, XOR, Jenkins, with fields, a
//! seed and a rotation), so results hold for the modelled hash.

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
