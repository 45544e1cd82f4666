//! Quantiles of histograms, and how histograms are kept: as values and how often they were recorded, for
//! `#[serde(with = "...")]`.

use hdrhistogram::{Counter, Histogram};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A quantile of values that were recorded in units of `unit`, in the unit of `longest`, which is the exact maximum.
/// A histogram returns the upper end of a bin; the result never exceeds the maximum.
pub fn quantile<T: Counter>(histogram: &Histogram<T>, q: f64, unit: f64, longest: f64) -> f64 {
    (histogram.value_at_quantile(q) as f64 * unit).min(longest)
}

/// Serializes a histogram.
///
/// # Errors
/// Any error of the serializer.
pub fn serialize<T: Counter + Serialize, S: Serializer>(
    histogram: &Histogram<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let values: Vec<(u64, T)> =
        histogram.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect();
    (histogram.sigfig(), values).serialize(serializer)
}

/// Deserializes a histogram.
///
/// # Errors
/// If the data is not a histogram.
pub fn deserialize<'de, T: Counter + Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Histogram<T>, D::Error> {
    let (digits, values): (u8, Vec<(u64, T)>) = Deserialize::deserialize(deserializer)?;
    let mut histogram = Histogram::new(digits).map_err(D::Error::custom)?;
    for (value, count) in values {
        histogram.record_n(value, count).map_err(D::Error::custom)?;
    }
    Ok(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_quantile_exceeds_the_maximum() {
        let mut histogram = Histogram::<u32>::new(3).expect("three digits");
        histogram.record(5_678_901).expect("it grows");
        assert!(histogram.value_at_quantile(0.5) > 5_678_901, "bins have an upper end");
        let longest = 5_678_901e-9;
        for q in [0.0, 0.5, 0.99, 1.0] {
            assert!(quantile(&histogram, q, 1e-9, longest) <= longest);
        }
        histogram.record_n(1000, 3).expect("it grows");
        assert!((quantile(&histogram, 0.5, 1e-9, longest) - 1e-6).abs() < 1e-9);
    }
}
