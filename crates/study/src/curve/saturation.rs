//! From which load on a network is saturated.

/// The largest load below which nothing is saturated, by bisection of loads from 0 to 1: `is_saturated` is called until both ends
/// are `within` of each other. 1 if no load saturates.
///
/// # Errors
/// Those of `is_saturated`.
pub fn saturation<E>(
    within: f64,
    mut is_saturated: impl FnMut(f64) -> Result<bool, E>,
) -> Result<f64, E> {
    if !is_saturated(1.0)? {
        return Ok(1.0);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > within {
        let middle = f64::midpoint(low, high);
        if is_saturated(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_until_it_is_known_well_enough() {
        for at in [0.013, 0.25, 0.618, 0.999] {
            let mut asked = 0;
            let found = saturation(0.01, |load| {
                asked += 1;
                Ok::<_, ()>(load > at)
            });
            let found = found.expect("no error");
            assert!(found <= at && at - found <= 0.01, "{at}: {found}");
            // 2^-7 is below 0.01.
            assert_eq!(asked, 8);
        }
        assert_eq!(saturation(0.01, |_| Ok::<_, ()>(false)), Ok(1.0));
        assert_eq!(saturation(0.01, |_| Err("no")), Err("no"));
    }
}
