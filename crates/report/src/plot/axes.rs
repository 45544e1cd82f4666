//! The axes that all panels have in common.

use darkfiber_study::Summary;

use crate::canvas::nice_axis;

/// Height of a panel.
pub(super) const PANEL: f64 = 150.0;
/// Width left of the logarithmic axis, for the fabric without faults.
const SLOT: f64 = 30.0;
/// An axis of ratios is logarithmic if they spread more than this.
const SPREAD: f64 = 6.0;

/// Shares of failed cables: a slot for none, then logarithmic.
pub(super) struct XAxis {
    /// Those that occur, rising.
    pub(super) percents: Vec<f64>,
    pub(super) width: f64,
}

impl XAxis {
    pub(super) fn of<'a>(rows: impl Iterator<Item = &'a Summary>, width: f64) -> Self {
        let mut percents: Vec<f64> = rows.map(|r| r.percent).collect();
        percents.sort_by(f64::total_cmp);
        percents.dedup();
        Self { percents, width }
    }

    /// Distance from the left end of the panel.
    pub(super) fn at(&self, percent: f64) -> f64 {
        if percent <= 0.0 {
            return SLOT / 2.0;
        }
        let low = self.percents.iter().copied().find(|&p| p > 0.0).unwrap_or(percent);
        let top = self.percents.last().copied().unwrap_or(percent);
        let share = if top > low { (percent / low).ln() / (top / low).ln() } else { 0.5 };
        SLOT + 10.0 + (self.width - SLOT - 20.0) * share
    }
}

/// An axis of values over `low..=top`.
pub(super) struct YAxis {
    pub(super) low: f64,
    pub(super) top: f64,
    pub(super) ticks: Vec<f64>,
    log: bool,
}

impl YAxis {
    pub(super) fn of_ratios<'a>(rows: impl Iterator<Item = &'a Summary>) -> Self {
        let (mut low, mut top) = (1.0f64, 1.2f64);
        for stat in rows.filter_map(|r| r.efi_max_relative) {
            low = low.min(stat.min);
            top = top.max(stat.max);
        }
        if low > 0.0 && top / low > SPREAD {
            let decades = (low.log10().floor() as i32)..=(top.log10().ceil() as i32);
            let steps: &[f64] =
                if top / low < 30.0 { &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0] } else { &[1.0, 2.0, 5.0] };
            let all = decades.flat_map(|d| steps.iter().map(move |m| m * 10f64.powi(d)));
            let ticks = all.filter(|&t| t >= low * 0.999 && t <= top * 1.001).collect();
            return Self { low: low / 1.05, top: top * 1.05, ticks, log: true };
        }
        let (_, step) = nice_axis(top - low, 4);
        let low = (low / step + 1e-9).floor() * step;
        let top = (top / step - 1e-9).ceil() * step;
        Self { low, top, ticks: steps(low, top, step), log: false }
    }

    pub(super) fn of_layers<'a>(rows: impl Iterator<Item = &'a Summary>) -> Self {
        let most = rows.filter_map(|r| r.layers).map(|s| s.max).fold(1.0, f64::max);
        let (_, step) = nice_axis(most, 4);
        let step = step.max(1.0).round();
        let top = (most / step).ceil() * step;
        Self { low: 0.0, top, ticks: steps(0.0, top, step), log: false }
    }

    /// Distance from the bottom of the panel.
    pub(super) fn at(&self, value: f64) -> f64 {
        let share = if self.log {
            (value.max(self.low) / self.low).ln() / (self.top / self.low).ln()
        } else {
            (value - self.low) / (self.top - self.low)
        };
        PANEL * share
    }
}

fn steps(low: f64, top: f64, step: f64) -> Vec<f64> {
    (0..=40).map(|i| low + f64::from(i) * step).take_while(|&t| t <= top + step / 1e6).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::row;
    use super::*;

    #[test]
    fn axes_hold_their_values() {
        let rows = [row("m", 1.0, Some(1.1)), row("m", 2.0, Some(1.3))];
        let y = YAxis::of_ratios(rows.iter());
        assert!(y.low <= 0.55 && y.top >= 2.6 && !y.log);
        let wide = [row("m", 1.0, Some(1.0)), row("m", 2.0, Some(40.0))];
        assert!(YAxis::of_ratios(wide.iter()).log);
        assert_eq!(YAxis::of_layers(rows.iter()).ticks, [0.0, 1.0, 2.0, 3.0, 4.0]);
    }
}
