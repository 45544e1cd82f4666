//! Sizes of datatypes.

/// Expected content, for errors.
pub(super) const EXPECTED: &str = "a trace of DUMPI";

/// Sizes of datatypes, in bytes.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes(Vec<Option<u64>>);

/// Those of C that traces without sizes have: from `MPI_CHAR`, which is number 2, on.
const USUAL: [u64; 26] =
    [1, 1, 1, 1, 4, 2, 2, 4, 4, 8, 8, 4, 8, 16, 8, 8, 8, 1, 0, 0, 8, 12, 12, 6, 8, 20];

impl Sizes {
    pub(super) fn set(&mut self, datatype: i64, size: i64) {
        // Numbers have 16 bits.
        let (Ok(at @ 0..=0xffff), Ok(size)) = (usize::try_from(datatype), u64::try_from(size))
        else {
            return;
        };
        if self.0.len() <= at {
            self.0.resize(at + 1, None);
        }
        self.0[at] = Some(size);
    }

    pub(super) fn of(&self, datatype: i64) -> Option<u64> {
        let at = usize::try_from(datatype).ok()?;
        self.0.get(at).copied().flatten().or_else(|| USUAL.get(at.checked_sub(2)?).copied())
    }
}
