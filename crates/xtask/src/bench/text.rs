//! Figures as people read them.

/// A figure with its unit: three digits, times in s, ms, us or ns, rates with k, M or G before the unit.
pub(crate) fn figure(value: f64, unit: &str) -> String {
    if unit == "s" {
        let (scale, unit) = match value.abs() {
            v if v == 0.0 || v >= 1.0 => (1.0, "s"),
            v if v >= 1e-3 => (1e3, "ms"),
            v if v >= 1e-6 => (1e6, "us"),
            _ => (1e9, "ns"),
        };
        return format!("{} {unit}", digits(value * scale));
    }
    let (scale, prefix) = match value.abs() {
        v if v >= 1e9 => (1e-9, "G "),
        v if v >= 1e6 => (1e-6, "M "),
        v if v >= 1e4 => (1e-3, "k "),
        _ => (1.0, ""),
    };
    format!("{} {prefix}{unit}", digits(value * scale))
}

/// A ratio: one decimal, two below one, none from ten on.
pub(crate) fn ratio(value: f64) -> String {
    match value {
        v if v >= 9.95 => thousands(&format!("{v:.0}")),
        v if v >= 0.995 => format!("{v:.1}"),
        v => format!("{v:.2}"),
    }
}

/// Whether a ratio, as it is printed, is below a goal.
pub(crate) fn is_below(value: f64, goal: f64) -> bool {
    let step: f64 = if goal >= 10.0 { 1.0 } else { 10.0 };
    (value * step).round() < (goal * step).round()
}

/// Three digits, or all of a number of more; zeros behind the point left out.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    let text = format!("{value:.decimals$}");
    if decimals == 0 {
        return thousands(&text);
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Commas between thousands of a whole number.
fn thousands(whole: &str) -> String {
    let mut out = String::new();
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let shown = [
            (0.0115, "s", "11.5 ms"),
            (0.108, "s", "108 ms"),
            (8.637, "s", "8.64 s"),
            (34.1, "s", "34.1 s"),
            (5200.0, "s", "5,200 s"),
            (0.0005, "s", "500 us"),
            (510e6, "paths/s", "510 M paths/s"),
            (5.1e6, "hops/s", "5.1 M hops/s"),
            (7750.0, "bisections/s", "7,750 bisections/s"),
        ];
        for (value, unit, expected) in shown {
            assert_eq!(figure(value, unit), expected);
        }
    }

    #[test]
    fn ratios_are_compared_as_printed() {
        assert_eq!([0.894, 1.652, 94.0, 1234.0].map(ratio), ["0.89", "1.7", "94", "1,234"]);
        assert!(!is_below(1.652, 1.7) && is_below(1.613, 1.7));
        assert!(is_below(94.4, 100.0) && !is_below(99.6, 100.0) && is_below(0.94, 1.0));
    }
}
