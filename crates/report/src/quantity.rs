//! Times, sizes and rates for people.

use crate::number::group;

/// A time for people: three digits and a unit.
pub fn seconds(s: f64) -> String {
    for (unit, factor) in [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)] {
        if s * factor >= 0.9995 {
            return digits(s * factor, unit);
        }
    }
    if s > 0.0 { digits(s * 1e12, "ps") } else { "0 s".to_owned() }
}

/// A size for people.
pub fn bytes(b: f64) -> String {
    for (unit, size) in [
        ("TiB", 1_099_511_627_776.0),
        ("GiB", 1_073_741_824.0),
        ("MiB", 1_048_576.0),
        ("KiB", 1024.0),
    ] {
        if b >= size * 0.9995 {
            return digits(b / size, unit);
        }
    }
    digits(b, "B")
}

/// A rate for people.
pub fn rate(bytes_per_second: f64) -> String {
    format!("{}/s", bytes(bytes_per_second))
}

fn digits(value: f64, unit: &str) -> String {
    if value >= 999.5 {
        #[expect(clippy::cast_sign_loss, reason = "it is above zero")]
        let whole = value.round() as u64;
        format!("{} {unit}", group(whole))
    } else if value >= 99.95 {
        format!("{value:.0} {unit}")
    } else if value >= 9.995 {
        format!("{value:.1} {unit}")
    } else {
        format!("{value:.2} {unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits() {
        let times = [0.0, 2.5e-12, 1.234e-6, 0.05, 12.3456, 10_800.0].map(seconds);
        assert_eq!(times, ["0 s", "2.50 ps", "1.23 us", "50.0 ms", "12.3 s", "10,800 s"]);
        let sizes = [0.0, 1023.0, 1024.0, 1.5e9].map(bytes);
        assert_eq!(sizes, ["0.00 B", "1,023 B", "1.00 KiB", "1.40 GiB"]);
    }
}
