//! Pairs that the user gives.

use crate::Stream;

use super::{Extent, Pattern, PatternError};

struct ListedPairs(Vec<[u32; 2]>);

impl Pattern for ListedPairs {
    fn extent(&self) -> Extent {
        Extent::Phases(1)
    }

    fn fill(&self, _: u64, _: &mut Stream, pairs: &mut Vec<[u32; 2]>) {
        pairs.clone_from(&self.0);
    }
}

/// The pattern of these pairs among `count` participants; a pair that is given twice sends twice.
///
/// # Errors
/// [`PatternError::Nobody`] if a pair names a participant that does not exist.
pub fn listed_pairs(pairs: Vec<[u32; 2]>, count: u32) -> Result<Box<dyn Pattern>, PatternError> {
    for (i, &[s, d]) in pairs.iter().enumerate() {
        let index = s.max(d);
        if index >= count {
            return Err(PatternError::Nobody { number: i + 1, index, count });
        }
    }
    Ok(Box::new(ListedPairs(pairs.into_iter().filter(|[s, d]| s != d).collect())))
}
