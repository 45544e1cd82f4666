//! Axes: from where to where they go, where they are marked, and where on them a value is.

use crate::canvas::nice_axis;
use crate::number::group;

/// Width left of a logarithmic axis, for values that are not above zero.
const SLOT: f64 = 30.0;
/// Distance of the first and the last value from the ends of a horizontal axis.
const PAD: f64 = 10.0;
/// Values that are this many times apart or more have a logarithmic horizontal axis.
const WIDE: f64 = 25.0;
/// As many values are marked one by one at most.
const EACH: usize = 16;

/// An axis of a chart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
    low: f64,
    high: f64,
    /// Marked values, rising, and their labels.
    pub(super) ticks: Vec<(f64, String)>,
    is_log: bool,
    /// Pixels before the lowest value for those that a logarithm does not have.
    slot: f64,
    /// Pixels before the first and behind the last value.
    pad: f64,
}

impl Scale {
    /// A vertical axis from zero to at least `top`, with about `steps` marks.
    pub(crate) fn from_zero(top: f64, steps: u32) -> Self {
        let top = if top > 0.0 { top } else { 1.0 };
        let (high, step) = nice_axis(top, steps);
        Self::linear(0.0, high, step)
    }

    /// A vertical axis of whole numbers from zero to at least `top`.
    pub(crate) fn of_counts(top: f64) -> Self {
        let (_, step) = nice_axis(top.max(1.0), 4);
        let step = step.max(1.0).round();
        Self::linear(0.0, (top.max(1.0) / step).ceil() * step, step)
    }

    /// A vertical axis for values between `low` and `high`; logarithmic if these are more than `far` times apart.
    pub(crate) fn between(low: f64, high: f64, far: f64) -> Self {
        if low > 0.0 && high / low > far {
            let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
            let steps: &[f64] = match high / low {
                ..30.0 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
                ..1e4 => &[1.0, 2.0, 5.0],
                _ => &[1.0],
            };
            let all = decades.flat_map(|d| steps.iter().map(move |m| m * 10f64.powi(d)));
            let seen = all.filter(|t| *t >= low * 0.999 && *t <= high * 1.001);
            let ticks = seen.map(|t| (t, text(t))).collect();
            let (low, high) = (low / 1.05, high * 1.05);
            return Self { low, high, ticks, is_log: true, slot: 0.0, pad: 0.0 };
        }
        if high <= low {
            return Self::from_zero(high, 4);
        }
        let (_, step) = nice_axis(high - low, 4);
        Self::linear((low / step + 1e-9).floor() * step, (high / step - 1e-9).ceil() * step, step)
    }

    /// A horizontal axis from zero to `end`.
    pub(crate) fn up_to(end: f64) -> Self {
        let (_, step) = nice_axis(end.max(f64::MIN_POSITIVE), 10);
        Self { high: end, ..Self::linear(0.0, end * 1.000_1, step) }
    }

    /// A horizontal axis for values that rise, each with its text; logarithmic if they are far apart.
    pub(crate) fn of_values(values: &[(f64, String)]) -> Self {
        let above = || values.iter().map(|v| v.0).filter(|v| *v > 0.0);
        let least = above().fold(f64::INFINITY, f64::min);
        let most = above().fold(0.0, f64::max);
        Self::of_values_as(values, above().count() > 2 && most / least >= WIDE)
    }

    /// The same, where it is known whether it is logarithmic.
    pub(crate) fn of_values_as(values: &[(f64, String)], is_log: bool) -> Self {
        let all = || values.iter().map(|v| v.0);
        let is_log = is_log && all().all(|v| v >= 0.0) && all().any(|v| v > 0.0);
        let seen = || all().filter(|v| !is_log || *v > 0.0);
        let low = seen().fold(f64::INFINITY, f64::min).min(1e300);
        let high = seen().fold(low, f64::max);
        let slot = if is_log && all().any(|v| v <= 0.0) { SLOT } else { 0.0 };
        let ticks = if values.len() <= EACH || is_log {
            values.to_vec()
        } else {
            let (_, step) = nice_axis((high - low).max(f64::MIN_POSITIVE), 8);
            let begin = (low / step).ceil() * step;
            Self::linear(begin, high, step).ticks
        };
        Self { low, high, ticks, is_log, slot, pad: PAD }
    }

    fn linear(low: f64, high: f64, step: f64) -> Self {
        let all = (0..=40).map(|i| low + f64::from(i) * step);
        let ticks = all.take_while(|t| *t <= high + step / 1e6).map(|t| (t, text(t))).collect();
        Self { low, high, ticks, is_log: false, slot: 0.0, pad: 0.0 }
    }

    /// Whether it is logarithmic.
    pub(crate) fn is_log(&self) -> bool {
        self.is_log
    }

    /// Whether a value has no place on it and is drawn next to it.
    pub(super) fn is_beside(&self, value: f64) -> bool {
        self.is_log && value <= 0.0
    }

    /// Distance of a value from the beginning of an axis that is this long.
    pub(super) fn at(&self, value: f64, length: f64) -> f64 {
        if self.is_beside(value) {
            return self.slot / 2.0;
        }
        let share = if self.high <= self.low {
            0.5
        } else if self.is_log {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.slot + self.pad + (length - self.slot - 2.0 * self.pad) * share
    }
}

/// A number next to a mark: six digits at most.
fn text(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 {
        return format!("{value:e}");
    }
    if size >= 1000.0 {
        #[expect(clippy::cast_sign_loss, reason = "its size is above zero")]
        let whole = group(size.round() as u64);
        return if value < 0.0 { format!("-{whole}") } else { whole };
    }
    if size > 0.0 && size < 1e-4 {
        return format!("{:e}", (value * 1e15).round() / 1e15);
    }
    format!("{}", (value * 1e6).round() / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: &Scale) -> Vec<&str> {
        scale.ticks.iter().map(|t| t.1.as_str()).collect()
    }

    #[test]
    fn vertical_axes_hold_their_values() {
        let y = Scale::between(0.55, 2.6, 6.0);
        assert!(!y.is_log && y.low <= 0.55 && y.high >= 2.6);
        assert!(Scale::between(0.5, 80.0, 6.0).is_log);
        assert_eq!(texts(&Scale::of_counts(4.0)), ["0", "1", "2", "3", "4"]);
        assert_eq!(texts(&Scale::from_zero(2000.0, 4)), ["0", "500", "1,000", "1,500", "2,000"]);
        // No values, or one value.
        assert!((Scale::from_zero(0.0, 4).high - 1.0).abs() < 1e-12);
        let one = Scale::between(7.0, 7.0, 20.0);
        assert!(one.low < 7.0 && one.high > 7.0);
    }

    #[test]
    fn horizontal_axes_are_logarithmic_where_values_are_far_apart() {
        let of = |values: &[f64]| {
            let all: Vec<(f64, String)> = values.iter().map(|v| (*v, text(*v))).collect();
            Scale::of_values(&all)
        };
        let near = of(&[0.0, 5.0, 20.0]);
        assert!(!near.is_log);
        assert_eq!((near.at(0.0, 120.0), near.at(20.0, 120.0)), (10.0, 110.0));
        let far = of(&[0.0, 0.1, 1.0, 10.0]);
        assert!(far.is_log && far.is_beside(0.0));
        assert_eq!((far.at(0.0, 150.0), far.at(1.0, 150.0)), (15.0, 90.0));
        assert_eq!(texts(&far), ["0", "0.1", "1", "10"]);
        // A single value is in the middle.
        assert!((of(&[3.0]).at(3.0, 100.0) - 50.0).abs() < 1e-9);
    }
}
