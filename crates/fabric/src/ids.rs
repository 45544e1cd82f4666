//! Dense identifiers and GUIDs.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! dense_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an array index.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id of array index `i`.
            #[inline]
            pub fn new(i: usize) -> Self {
                debug_assert!(u32::try_from(i).is_ok());
                Self(i as u32)
            }
        }
    };
}

dense_id! {
    /// A switch, `0..fabric.switch_count()`, in the order of the input.
    SwitchId
}
dense_id! {
    /// A terminal: one linked endpoint port. Ordered by (switch, switch port), so that the terminals
    /// of one switch are a contiguous range.
    TerminalId
}
dense_id! {
    /// A channel adapter (HCA, NIC, SHARP aggregation node), in the order of the input.
    AdapterId
}
dense_id! {
    /// A host: one or more adapters in one box.
    HostId
}
dense_id! {
    /// A directed channel; see [`Fabric`](crate::Fabric) for how the three ranges are laid out.
    ChannelId
}

/// A 64-bit globally unique identifier of a node or port.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Guid(pub u64);

impl Guid {
    /// Whether it looks like those that this program gives to nodes that have none: a vendor's identifier (OUI) of zeros and `0x20` or
    /// `0x50`, which nobody has registered.
    pub fn is_made_up(self) -> bool {
        matches!(self.0 >> 40, 0x20 | 0x50)
    }
}

impl fmt::Display for Guid {
    /// `0x` and sixteen hexadecimal digits, as OpenSM prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0x{:016x}", self.0)
    }
}
