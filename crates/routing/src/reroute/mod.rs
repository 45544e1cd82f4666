//! From a fault to tables: complete tables for a damaged fabric that differ from the old ones in few entries.
//!
//! Re-routing from scratch moves entries all over the fabric for one dead cable, and each moved entry is a block to
//! send and a flow to disturb. Here the old tables are repaired. The switches whose path to a destination led over
//! what failed are **cut off** on that row; all others keep every entry. From the fault outwards each cut-off
//! switch keeps its entry if the switch behind it is connected again, and if not (or if that path would be worse
//! than any of the old tables) takes the least loaded path to the connected part. A path stays in its virtual layer
//! as long as the layer's channel dependency graph stays acyclic with old and new paths together.
//!
//! [`Prepared`] holds what this needs and one pass over the tables gives: loads, dependencies, and an
//! order of the channels. It is made once and updated from fault to fault.
//!
//! Loads count pairs of terminals or, if it is known ([`Prepared::with_demands`]), what they send;
//! then [`Prepared::relieve`] also moves traffic off hot channels without any fault.
//!
//! Ids in this module are those of the fabric that the tables were made for; [`Prepared::tables`]
//! translates.

mod after_fault;
mod book;
mod channel;
mod close;
mod coexist;
mod crossing;
mod cut;
mod cut_off;
mod detour;
mod ease;
mod easing;
mod fit;
mod freedom;
mod graph;
mod labels;
mod mend;
mod mended;
mod outcome;
mod prepared;
mod protect;
mod relieve;
mod rung;
mod tables;
mod towards;
mod traffic;
mod tree;
mod trial;
mod trials;
mod written;

pub use book::{Book, Fault, Page, Repair};
pub use easing::Eased;
pub use outcome::{Change, Coexistence, Drain, Moved, RerouteError, RerouteOutcome};
pub use prepared::Prepared;
pub use protect::Protection;
pub use relieve::{Goal, Move, Policy, Relief};
pub use rung::Rung;
pub use tables::{Changed, changed_by_switch, difference};
pub use towards::Taken;
pub use trial::Trial;
pub use trials::Trials;
