//! Slim Fly: the graphs of McKay, Miller and Siran, of diameter 2.

use crate::{LinkClass, Shape, SlimFlyShape, SpecError, SwitchId, Topology};

use super::field::Field;
use super::layout::{Layout, Size};
use super::{Family, Key, Params};

/// Tag of Slim Fly switches in their GUIDs.
const TAG: u64 = 0x30;

/// Generator of the family `slimfly`.
pub(super) struct SlimFly;

impl Family for SlimFly {
    fn name(&self) -> &'static str {
        "slimfly"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["mms"]
    }

    fn summary(&self) -> &'static str {
        "Slim Fly MMS(q): 2q^2 switches, diameter 2 with nearly the fewest switches possible"
    }

    fn doc(&self) -> &'static str {
        "q = 4w+d is a prime power, d one of -1, 0, 1; the degree is (3q-d)/2. A switch is (half, \
         column, row) with column and row in GF(q). Two of one column are joined if their rows differ \
         by an element of a set X (half 0) or X' (half 1); (0,x,y) and (1,m,c) are joined if y = mx+c. \
         With e a generator of the field's units, X are its even powers and X' its odd ones; for d = \
         -1 the even and the odd powers below 2w with their negatives. Ports: p hosts; then by rising \
         element of the set, then by rising column of the other half. An element of GF(p^k) is \
         numbered by its coefficients as digits to base p."
    }

    fn paper(&self) -> &'static str {
        "Besta, Hoefler, \"Slim Fly: a cost effective low-diameter network topology\", SC'14; sets: \
         McKay, Miller, Siran, \"A note on large graphs of diameter two and given maximum degree\", J. \
         Comb. Theory B 74, 1998, and Hafner, \"Geometric realisation of the graphs of \
         McKay-Miller-Siran\", J. Comb. Theory B 90, 2004"
    }

    fn keys(&self) -> &'static [Key] {
        const {
            &[
                Key::required("q", "a prime power that is not 2, e.g. 5"),
                Key::optional("p", "hosts of a switch", "half of the degree, rounded up"),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "slimfly:q=3,p=2"
    }

    fn generate(&self, params: &Params) -> Result<Topology, SpecError> {
        let q = params.need("q", 3..=169)?;
        let Some(field) = Field::new(q) else {
            return Err(params.bad("q", "a power of a prime, e.g. 5, 7, 8, 9, 11, 13"));
        };
        let sets = generators(&field, q);
        let local = sets[0].len() as u32;
        let p = params.get("p", 0..=254)?.unwrap_or((local + q).div_ceil(2));
        let switches = 2 * u64::from(q) * u64::from(q);
        let size = Size {
            switches,
            hosts: switches * u64::from(p),
            rails: 1,
            ports: u64::from(p + local + q),
            cables: switches * u64::from(local + q) / 2,
        };
        let hdr = || LinkClass::infiniband("4xHDR").unwrap_or_else(LinkClass::unknown);
        let mut layout = Layout::new(params, size, hdr(), hdr())?;

        let id = |half: u32, column: u32, row: u32| SwitchId((half * q + column) * q + row);
        let place = |s: u32| [s / (q * q), s / q % q, s % q];
        for [half, column, row] in (0..switches as u32).map(place) {
            let name = format!("h{half}c{column:02}r{row:02}");
            let s = layout.switch(TAG, id(half, column, row).index(), name);
            for port in 1..=p {
                layout.host(&[(s, port)])?;
            }
        }
        for [half, column, row] in (0..switches as u32).map(place) {
            let set = &sets[half as usize];
            for (out, &step) in (p + 1..).zip(set) {
                let other = field.add(row, step);
                // The set has the negative of each element: the reverse direction.
                let back = set.partition_point(|&e| e < field.negated(step)) as u32;
                if row < other {
                    let ends = (id(half, column, row), id(half, column, other));
                    layout.cable((ends.0, out), (ends.1, p + 1 + back), layout.link)?;
                }
            }
        }
        let across = p + local + 1;
        for x in 0..q {
            for (m, c) in (0..q).flat_map(|m| (0..q).map(move |c| (m, c))) {
                let y = field.add(field.times(m, x), c);
                let ends = ((id(0, x, y), across + m), (id(1, m, c), across + x));
                layout.cable(ends.0, ends.1, layout.link)?;
            }
        }
        layout.finish(|_| {
            let coords = (0..switches as u32).flat_map(place).map(|x| x as u16).collect();
            Shape::SlimFly(SlimFlyShape { q, coords })
        })
    }
}

/// The sets X and X', sorted, each closed under negation. Every element but 0 is in one of them, and
/// every one that is not in a set is a sum of two that are.
pub(crate) fn generators(field: &Field, q: u32) -> [Vec<u32>; 2] {
    [0, 1].map(|odd| {
        let mut set: Vec<u32> = match q % 4 {
            // q = 4w-1: -1 is an odd power, so w powers and their negatives.
            3 => (0..q.div_ceil(4))
                .map(|i| field.power(2 * i + odd))
                .flat_map(|e| [e, field.negated(e)])
                .collect(),
            // q = 4w+1 or 4w: -1 is an even power, or 1 itself. For 4w both sets have q/2 elements.
            _ => (0..q / 2).map(|i| field.power(2 * i + odd)).collect(),
        };
        set.sort_unstable();
        set
    })
}
