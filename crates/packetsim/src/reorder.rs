//! Packets that overtake each other: a window that bounds by how many, and what arrived out of order.
//!
//! Endpoints that put packets into memory wherever they belong, as those of Ultra Ethernet do, record which of a pair's packets
//! after the oldest missing one have arrived. Their memory for this bounds how far a source may be ahead of that one.

use serde::{Deserialize, Serialize};

/// Maximum packets of a window: their numbers have eight bits, and half of these separate before from after.
pub(crate) const MOST_WINDOW: u8 = 128;

/// Packet numbers of a pair at its source.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Numbers {
    /// Number of the next packet, and of the oldest one that its endpoint is missing, as far as is known.
    next: u8,
    oldest: u8,
}

impl Numbers {
    /// Whether another packet may be sent, with a window of this many packets.
    pub(crate) fn lets(self, window: u8) -> bool {
        self.next.wrapping_sub(self.oldest) < window
    }

    /// The number of a packet that is sent.
    pub(crate) fn take(&mut self) -> u8 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        number
    }

    /// An endpoint reports that it has all before this one. Earlier reports may arrive later.
    pub(crate) fn has_all_before(&mut self, oldest: u8) {
        let ahead = oldest.wrapping_sub(self.oldest);
        if ahead <= self.next.wrapping_sub(self.oldest) {
            self.oldest = oldest;
        }
    }
}

/// Packets of one source that have arrived at an endpoint.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Arrivals {
    /// The oldest one that is missing, and which of those from it on are there.
    oldest: u8,
    there: u128,
}

impl Arrivals {
    /// A packet arrives: by how many it is ahead of the oldest one that was missing, and the oldest one that is missing now.
    pub(crate) fn arrived(&mut self, number: u8) -> (u8, u8) {
        let ahead = number.wrapping_sub(self.oldest);
        debug_assert!(ahead < MOST_WINDOW, "sources keep to the window");
        self.there |= 1u128 << ahead;
        let whole = self.there.trailing_ones();
        self.there = self.there.checked_shr(whole).unwrap_or(0);
        self.oldest = self.oldest.wrapping_add(whole as u8);
        (ahead, self.oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any order within the window: no packet is ahead of the oldest missing one by more than it, the window never closes for ever,
    /// and in the end everything arrives. Acknowledgements arrive in another order than they were sent.
    #[test]
    fn windows_slide_whatever_overtakes() {
        for (window, step) in [(1u8, 1usize), (3, 2), (64, 37), (128, 91)] {
            let (mut source, mut endpoint) = (Numbers::default(), Arrivals::default());
            let (mut sent, mut arrived, mut deepest) = (0u64, 0u64, 0u8);
            let mut under_way: Vec<u8> = Vec::new();
            let mut said: Vec<u8> = Vec::new();
            while arrived < 5000 {
                while source.lets(window) {
                    under_way.push(source.take());
                    sent += 1;
                }
                assert!(sent - arrived <= u64::from(window));
                let (ahead, oldest) =
                    endpoint.arrived(under_way.swap_remove(step % under_way.len()));
                deepest = deepest.max(ahead);
                assert!(ahead < window);
                arrived += 1;
                said.push(oldest);
                // Two of three are heard late.
                if said.len() == 3 {
                    said.drain(..).rev().for_each(|oldest| source.has_all_before(oldest));
                }
                if under_way.is_empty() {
                    said.drain(..).rev().for_each(|oldest| source.has_all_before(oldest));
                }
            }
            assert!(window == 1 || deepest > 0);
        }
    }
}
