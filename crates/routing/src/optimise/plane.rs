//! Projective planes of prime order, and the triangle: any two lines meet in a point.

/// The lines of the plane over the field of `q` elements, `q` prime: `q^2 + q + 1` lines of `q + 1` points
/// each, numbered from 0. Of order 1: the sides of a triangle.
pub(super) fn lines(q: u32) -> Vec<Vec<u32>> {
    if q == 1 {
        return vec![vec![0, 1], vec![1, 2], vec![0, 2]];
    }
    // Points and lines are triples up to a factor, the first non-zero number 1; a point is on a line if the
    // scalar product is 0.
    let mut triples = vec![[0, 0, 1]];
    triples.extend((0..q).map(|c| [0, 1, c]));
    triples.extend((0..q * q).map(|bc| [1, bc / q, bc % q]));
    let lies_on =
        |a: &[u32; 3], b: &[u32; 3]| (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]).is_multiple_of(q);
    triples
        .iter()
        .map(|line| {
            let on = |p: &usize| lies_on(&triples[*p], line);
            (0..triples.len()).filter(on).map(|p| p as u32).collect()
        })
        .collect()
}

/// The largest prime, or 1, whose plane has at most this many points.
pub(super) fn order(points: u32) -> Option<u32> {
    let prime = |q: &u32| (2..*q).all(|d| !q.is_multiple_of(d));
    (1..=points.isqrt()).rev().find(|q| q * q + q < points && prime(q))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_meet_once() {
        for q in [1, 2, 3, 5, 7] {
            let lines = lines(q);
            assert_eq!(lines.len() as u32, q * q + q + 1);
            for (i, a) in lines.iter().enumerate() {
                assert_eq!(a.len() as u32, q + 1);
                for b in &lines[..i] {
                    assert_eq!(a.iter().filter(|p| b.contains(p)).count(), 1);
                }
            }
        }
        let orders = [2, 3, 6, 7, 13, 30, 31].map(order);
        assert_eq!(orders, [None, Some(1), Some(1), Some(2), Some(3), Some(3), Some(5)]);
    }
}
