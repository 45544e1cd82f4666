//! Sizes, times and rates as people write them.

use thiserror::Error;

/// The text is not a valid quantity.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no {what}: write a number and a unit, for example {example}")]
pub struct NotAQuantity {
    text: String,
    what: &'static str,
    example: &'static str,
}

/// Units of sizes, in bytes.
const SIZES: &[(&str, f64)] = &[
    ("", 1.0),
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
];

/// Units of times, in picoseconds.
const TIMES: &[(&str, f64)] = &[
    ("ps", 1.0),
    ("ns", 1e3),
    ("us", 1e6),
    ("ms", 1e9),
    ("s", 1e12),
    ("min", 60e12),
    ("h", 3_600e12),
    ("d", 86_400e12),
];

/// Units of rates, in bytes a second, besides sizes with `/s`.
const BITS: &[(&str, f64)] =
    &[("bit/s", 0.125), ("kbit/s", 125.0), ("Mbit/s", 125e3), ("Gbit/s", 125e6)];

fn read(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    // An exponent belongs to the number.
    let end = match text[end..].strip_prefix(['e', 'E']) {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-') => {
            let more = rest.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(rest.len());
            end + 1 + more
        }
        _ => end,
    };
    let (number, unit) = text.split_at(end);
    let number: f64 = number.trim().parse().ok()?;
    let factor = units.iter().find(|(name, _)| *name == unit.trim())?.1;
    Some(number * factor).filter(|value| value.is_finite() && *value >= 0.0)
}

/// The nearest whole number; nothing that is above zero becomes zero.
fn whole(value: f64) -> Option<u64> {
    #[expect(clippy::cast_sign_loss, reason = "it was found not to be below zero")]
    (value < 1.8e19 && (value >= 0.5 || value == 0.0)).then_some(value.round() as u64)
}

/// Parses a size in bytes: `64`, `64KiB`, `1.5GB`.
///
/// # Errors
/// If it is invalid.
pub fn bytes(text: &str) -> Result<u64, NotAQuantity> {
    read(text, SIZES).and_then(whole).ok_or_else(|| none(text, "size", "64KiB or 1.5GB"))
}

/// Parses a time in picoseconds: `100ms`, `1.2us`, `3h`; without a unit only 0.
///
/// # Errors
/// If it is invalid.
pub fn time(text: &str) -> Result<u64, NotAQuantity> {
    if text.trim() == "0" {
        return Ok(0);
    }
    read(text, TIMES).and_then(whole).ok_or_else(|| none(text, "time", "100ms, 1.2us or 3h"))
}

/// Parses a rate in bytes a second, above zero: `2.26GiB/s`, `100Gbit/s`.
///
/// # Errors
/// If it is invalid.
pub fn rate(text: &str) -> Result<f64, NotAQuantity> {
    let size = text.trim().strip_suffix("/s").and_then(|size| read(size, &SIZES[1..]));
    size.or_else(|| read(text, BITS))
        .filter(|rate| *rate > 0.0)
        .ok_or_else(|| none(text, "rate", "2.26GiB/s or 100Gbit/s"))
}

fn none(text: &str, what: &'static str, example: &'static str) -> NotAQuantity {
    NotAQuantity { text: text.to_owned(), what, example }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read() {
        assert_eq!(bytes("64"), Ok(64));
        assert_eq!(bytes("1MiB"), Ok(1 << 20));
        assert_eq!(bytes("0.5 GiB"), Ok(1 << 29));
        assert_eq!(bytes("1e3B"), Ok(1000));
        assert_eq!(bytes("1TiB"), Ok(1 << 40));
        assert_eq!(time("1.5us"), Ok(1_500_000));
        assert_eq!(time("3h"), Ok(10_800_000_000_000_000));
        assert_eq!(time("0"), Ok(0));
        assert_eq!(rate("2GB/s"), Ok(2e9));
        assert_eq!(rate("100Gbit/s"), Ok(12.5e9));
    }

    #[test]
    fn others_are_refused() {
        for text in ["", "x", "-1", "1XB", "1e400", "nan", "inf", "KiB"] {
            assert!(bytes(text).is_err(), "{text}");
            assert!(time(text).is_err(), "{text}");
            assert!(rate(text).is_err(), "{text}");
        }
        assert_eq!(
            time("5").map_err(|e| e.to_string()),
            Err("\"5\" is no time: write a number and a unit, for example 100ms, 1.2us or 3h"
                .to_owned())
        );
        assert!(rate("0B/s").is_err() && rate("5").is_err());
    }
}
