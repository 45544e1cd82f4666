//! Arithmetic in finite fields, as far as Slim Fly needs it.
//!
//! An element of GF(p^k) is a polynomial of degree below k over GF(p); its number has the coefficients
//! as digits to base p, so that 0 and 1 are zero and one, and the numbers below p are GF(p).

/// GF(q), with a generator of its multiplicative group.
pub(crate) struct Field {
    /// Characteristic of the field.
    p: u32,
    /// Powers of the generator, from the zeroth; all but 0 once.
    exp: Vec<u32>,
    /// Exponent of each element but 0.
    log: Vec<u32>,
}

impl Field {
    /// The field of `q` elements, 2 <= q < 2^15; `None` if `q` is not a power of a prime.
    ///
    /// The generator is the root `x` of the first primitive polynomial: a monic one of degree k modulo
    /// which the powers of `x` are all q-1 elements but 0. (For k = 1 this makes `x` a primitive root.)
    pub(crate) fn new(q: u32) -> Option<Self> {
        let p = (2..=q).find(|p| q.is_multiple_of(*p))?;
        let mut power = p;
        while power < q {
            power *= p;
        }
        if power != q {
            return None;
        }
        // `x^k` equals the other terms of the polynomial: `tail`, a different one for each candidate.
        (1..q).find_map(|tail| {
            let mut field = Self { p, exp: Vec::with_capacity(q as usize - 1), log: Vec::new() };
            let mut element = 1;
            for _ in 1..q {
                field.exp.push(element);
                element = field.shifted(element, q, tail);
                if element == 1 {
                    break;
                }
            }
            (field.exp.len() == q as usize - 1 && element == 1).then(|| {
                field.log = vec![0; q as usize];
                for (i, &e) in field.exp.iter().enumerate() {
                    field.log[e as usize] = i as u32;
                }
                field
            })
        })
    }

    /// `element * x` where `x^k = tail`.
    fn shifted(&self, element: u32, q: u32, tail: u32) -> u32 {
        let top = element / (q / self.p);
        let low = element % (q / self.p) * self.p;
        (0..top).fold(low, |sum, _| self.add(sum, tail))
    }

    /// The sum, digit by digit.
    pub(crate) fn add(&self, mut a: u32, mut b: u32) -> u32 {
        let (mut sum, mut place) = (0, 1);
        while a > 0 || b > 0 {
            sum += (a % self.p + b % self.p) % self.p * place;
            (a, b, place) = (a / self.p, b / self.p, place * self.p);
        }
        sum
    }

    /// The additive inverse of an element.
    pub(crate) fn negated(&self, mut a: u32) -> u32 {
        let (mut negated, mut place) = (0, 1);
        while a > 0 {
            negated += (self.p - a % self.p) % self.p * place;
            (a, place) = (a / self.p, place * self.p);
        }
        negated
    }

    /// The product of two elements.
    pub(crate) fn times(&self, a: u32, b: u32) -> u32 {
        if a == 0 || b == 0 {
            return 0;
        }
        self.power(self.log[a as usize] + self.log[b as usize])
    }

    /// The generator to the power `i`.
    pub(crate) fn power(&self, i: u32) -> u32 {
        self.exp[i as usize % self.exp.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_axioms_hold() {
        for q in [2u32, 3, 4, 5, 7, 8, 9, 16, 25, 27] {
            let f = Field::new(q).expect("a prime power");
            let mut powers: Vec<u32> = (0..q - 1).map(|i| f.power(i)).collect();
            powers.sort_unstable();
            assert_eq!(powers, (1..q).collect::<Vec<_>>(), "GF({q})");
            for a in 0..q {
                assert_eq!(f.add(a, f.negated(a)), 0);
                assert_eq!((f.add(a, 0), f.times(a, 1)), (a, a));
                for b in 0..q {
                    assert_eq!(f.add(a, b), f.add(b, a));
                    for c in 0..q {
                        assert_eq!(f.add(f.add(a, b), c), f.add(a, f.add(b, c)));
                        assert_eq!(f.times(f.times(a, b), c), f.times(a, f.times(b, c)));
                        assert_eq!(f.times(a, f.add(b, c)), f.add(f.times(a, b), f.times(a, c)));
                    }
                }
            }
        }
    }

    #[test]
    fn prime_fields_are_whole_numbers_modulo_p() {
        let f = Field::new(13).expect("a prime");
        for (a, b) in (0..13).flat_map(|a| (0..13).map(move |b| (a, b))) {
            assert_eq!((f.add(a, b), f.times(a, b)), ((a + b) % 13, a * b % 13));
        }
    }

    #[test]
    fn only_prime_powers_have_a_field() {
        let fields: Vec<u32> = (2..33).filter(|&q| Field::new(q).is_some()).collect();
        assert_eq!(fields, [2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 23, 25, 27, 29, 31, 32]);
    }
}
