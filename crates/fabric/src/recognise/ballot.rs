//! Majority votes, which outweigh the effects of damage.

use std::collections::BTreeMap;

/// Votes on the values of some keys.
#[derive(Default)]
pub(super) struct Ballot(BTreeMap<(u32, u32), u32>);

impl Ballot {
    pub(super) fn cast(&mut self, key: u32, value: u32) {
        *self.0.entry((key, value)).or_default() += 1;
    }

    /// Writes the value with most votes to each key that has any, and forgets them.
    pub(super) fn count(&mut self, result: &mut [u32]) {
        let mut most = 0;
        let mut of = None;
        for ((key, value), votes) in std::mem::take(&mut self.0) {
            if of != Some(key) || votes > most {
                (of, most) = (Some(key), votes);
                result[key as usize] = value;
            }
        }
    }
}
