//! How histograms are kept: as values and how often they were recorded, for `#[serde(with = "...")]`.

use hdrhistogram::{Counter, Histogram};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a histogram.
///
/// # Errors
/// Whatever the serializer says.
pub fn serialize<T: Counter + Serialize, S: Serializer>(
    histogram: &Histogram<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let values: Vec<(u64, T)> =
        histogram.iter_recorded().map(|v| (v.value_iterated_to(), v.count_at_value())).collect();
    (histogram.sigfig(), values).serialize(serializer)
}

/// Reads one.
///
/// # Errors
/// If it is none.
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
