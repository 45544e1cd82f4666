//! Formatting of numbers for readers.

pub use darkfiber_analysis::group;

/// This many of something: `1 entry`, `1,200 entries`.
pub fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", group(n as u64), if n == 1 { one } else { many })
}

/// A duration with three digits: `4.60 us`, `812 us`, `4.07 ms`, `1.23 s`, `95 s`.
pub fn duration(seconds: f64) -> String {
    if seconds < 999.5e-6 {
        format!("{} us", three_digits(seconds * 1e6))
    } else if seconds < 0.9995 {
        format!("{} ms", three_digits(seconds * 1e3))
    } else {
        format!("{} s", three_digits(seconds))
    }
}

/// A mean with as many decimals as make sense next to whole numbers of its size.
pub fn mean(x: f64) -> String {
    #[expect(clippy::cast_sign_loss, reason = "it is above 1000")]
    let whole = |x: f64| x.round() as u64;
    if x >= 1000.0 { group(whole(x)) } else { three_digits(x) }
}

/// A percentage: `0 %` only if it is exactly zero.
pub fn percent(x: f64) -> String {
    if x == 0.0 {
        "0 %".to_owned()
    } else if x < 0.05 {
        "<0.1 %".to_owned()
    } else {
        format!("{x:.1} %")
    }
}

fn three_digits(x: f64) -> String {
    if x >= 99.95 {
        format!("{x:.0}")
    } else if x >= 9.995 {
        format!("{x:.1}")
    } else {
        format!("{x:.2}")
    }
}

/// Four digits or so.
pub(crate) fn short(x: f64) -> String {
    if x != 0.0 && x.abs() < 0.001 {
        return format!("{x:.2e}");
    }
    let digits = if x.abs() >= 1000.0 {
        0
    } else if x.abs() >= 10.0 {
        1
    } else {
        3
    };
    format!("{x:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_three() {
        let texts: Vec<String> = [0, 999, 1000, 1_234_567].map(group).to_vec();
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn durations_keep_three_digits() {
        let texts: Vec<String> = [0.000_812, 0.004_07, 0.0999, 1.234, 95.4].map(duration).to_vec();
        assert_eq!(texts, ["812 us", "4.07 ms", "99.9 ms", "1.23 s", "95.4 s"]);
    }

    #[test]
    fn percents_tell_nothing_from_little() {
        let texts: Vec<String> = [0.0, 0.01, 12.34].map(percent).to_vec();
        assert_eq!(texts, ["0 %", "<0.1 %", "12.3 %"]);
    }
}
