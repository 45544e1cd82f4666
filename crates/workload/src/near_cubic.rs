//! Sides of grids that are as equal as can be.

/// Factors of n as equal as possible, in falling order: the requirement of MPI_Dims_create (MPI 4.0, section 8.5.2:
/// "as close to each other as possible"). Here the largest is minimized, then the next.
pub(crate) fn near_cubic(n: u32, dimensions: usize) -> Vec<u32> {
    factors(n, dimensions, n).unwrap_or_else(|| vec![n])
}

/// This number of factors, none above `most`.
fn factors(n: u32, dimensions: usize, most: u32) -> Option<Vec<u32>> {
    if dimensions <= 1 {
        return (n <= most).then(|| vec![n]);
    }
    // The largest factor is at least the root.
    let root = f64::from(n).powf(1.0 / dimensions as f64) * (1.0 - 1e-9);
    let large = (1..=most.min(n)).filter(|&d| f64::from(d) >= root && n.is_multiple_of(d));
    large.into_iter().find_map(|d| {
        let rest = factors(n / d, dimensions - 1, d)?;
        Some([vec![d], rest].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_near_cubic() {
        for (n, d, sides) in [
            (56, 3, vec![7, 4, 2]),
            (672, 3, vec![12, 8, 7]),
            (1152, 2, vec![36, 32]),
            (64, 3, vec![4, 4, 4]),
            (32, 4, vec![4, 2, 2, 2]),
            (24, 3, vec![4, 3, 2]),
            (13, 2, vec![13, 1]),
            (72, 2, vec![9, 8]),
            (360, 3, vec![9, 8, 5]),
            (1, 3, vec![1, 1, 1]),
        ] {
            assert_eq!(near_cubic(n, d), sides, "{n}");
        }
        for n in 1..300 {
            for d in 1..5 {
                let sides = near_cubic(n, d);
                assert_eq!((sides.len(), sides.iter().product::<u32>()), (d, n));
                assert!(sides.is_sorted_by(|a, b| a >= b), "{sides:?}");
            }
        }
    }
}
