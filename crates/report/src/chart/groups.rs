//! Positions of the bars of groups.

/// Width of a bar at least, and of the gap between groups.
const BAR: f64 = 9.0;
const GAP: f64 = 14.0;
/// Width of the widest bar.
const WIDEST: f64 = 64.0;

/// Required width of a panel for these groups of bars.
pub(super) fn width(groups: usize, series: usize) -> f64 {
    groups as f64 * (series as f64 * BAR + GAP)
}

/// The middle of a group, from the left of the panel, and how wide its bars are.
pub(super) fn place(group: f64, groups: usize, series: usize, width: f64) -> (f64, f64) {
    let slot = width / groups.max(1) as f64;
    let bar = ((slot - GAP).max(slot * 0.6) / series.max(1) as f64).min(WIDEST);
    ((group + 0.5) * slot, bar)
}
