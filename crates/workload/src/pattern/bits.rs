//! Patterns on the bits of a participant's number.

use darkfiber_fabric::Params;

use super::shift::Phases;
use super::{Participants, Pattern, PatternError, PatternKind};

/// The number of bits, if there are 2^bits participants.
pub(super) fn power_of_two(
    pattern: &'static str,
    among: &Participants,
) -> Result<u32, PatternError> {
    let count = among.count();
    if count >= 2 && count.is_power_of_two() {
        return Ok(count.trailing_zeros());
    }
    let below = if count < 2 { 2 } else { 1 << count.ilog2() };
    Err(PatternError::Count {
        pattern,
        needs: "a power of two",
        count,
        hint: format!("take {below} of them, or shift, tornado or permutation"),
        fits: (below < count).then_some(below),
    })
}

/// Kind of the pattern `bit-complement`.
pub(super) struct BitComplement;

impl PatternKind for BitComplement {
    fn name(&self) -> &'static str {
        "bit-complement"
    }

    fn summary(&self) -> &'static str {
        "everybody sends to the one with all bits turned"
    }

    fn doc(&self) -> &'static str {
        "s sends to n - 1 - s, which for 2^b participants are all b bits turned (Dally, Towles, \
         \"Principles and practices of interconnection networks\", table 3.1). Needs a power of two."
    }

    fn make(&self, _: &Params, among: &Participants) -> Result<Box<dyn Pattern>, PatternError> {
        let bits = power_of_two(self.name(), among)?;
        let mask = (1 << bits) - 1;
        Ok(Phases::boxed(1, move |_, pairs| pairs.extend((0..1 << bits).map(|s| [s, s ^ mask]))))
    }
}

/// Kind of the pattern `bit-reverse`.
pub(super) struct BitReverse;

impl PatternKind for BitReverse {
    fn name(&self) -> &'static str {
        "bit-reverse"
    }

    fn summary(&self) -> &'static str {
        "everybody sends to the one with the bits in reverse order"
    }

    fn doc(&self) -> &'static str {
        "As in an FFT (Dally, Towles, \"Principles and practices of interconnection networks\", table \
         3.1). Needs a power of two."
    }

    fn make(&self, _: &Params, among: &Participants) -> Result<Box<dyn Pattern>, PatternError> {
        let bits = power_of_two(self.name(), among)?;
        let reverse = move |s: u32| s.reverse_bits() >> (32 - bits);
        Ok(Phases::boxed(1, move |_, pairs| pairs.extend((0..1 << bits).map(|s| [s, reverse(s)]))))
    }
}

/// Kind of the pattern `transpose`.
pub(super) struct Transpose;

impl PatternKind for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }

    fn summary(&self) -> &'static str {
        "row and column of a square matrix change places"
    }

    fn doc(&self) -> &'static str {
        "Participant i k + j sends to j k + i, k being the root of n. For 2^b participants these are the \
         bits turned by b/2 (Dally, Towles, \"Principles and practices of interconnection networks\", \
         table 3.1). Needs a square."
    }

    fn make(&self, _: &Params, among: &Participants) -> Result<Box<dyn Pattern>, PatternError> {
        let count = among.count();
        let k = count.isqrt();
        if count < 4 || k * k != count {
            let below = k.max(2);
            return Err(PatternError::Count {
                pattern: self.name(),
                needs: "a square",
                count,
                hint: format!("take {} of them", below * below),
                fits: (below * below < count).then_some(below * below),
            });
        }
        Ok(Phases::boxed(1, move |_, pairs| {
            pairs.extend((0..count).map(|s| [s, s % k * k + s / k]));
        }))
    }
}
