//! Two straight lines that meet: from where on does load cost time?

use std::ops::AddAssign;

/// `y = start + before (x - at)` up to a break at `x = at`, and `start + after (x - at)` behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piecewise {
    /// Position at which the lines meet.
    pub at: f64,
    /// From where to where the break may be with a confidence of 95 % (profile likelihood, errors taken to be normal and
    /// independent).
    pub between: (f64, f64),
    /// Value at the break.
    pub start: f64,
    /// Slope before the break.
    pub before: f64,
    /// Slope after the break.
    pub after: f64,
    /// Share of the variance that the lines explain.
    pub r2: f64,
    /// The same for one straight line.
    pub r2_straight: f64,
}

/// Number of parts of the points that are left out in turn.
const FOLDS: usize = 10;
/// Candidates for the break between the least and the most `x`.
const CANDIDATES: usize = 2000;
/// 95 % of a chi-square distribution with one degree of freedom are below this.
const CHI_SQUARE: f64 = 3.841_459;
/// 99 of 100 straight lines with normal errors stay below this with `(n - 4) ln(error of one line / error of two)`, at any number of
/// points: their break is the best of many, so that a distribution for a given break does not hold. Drawn: 4,000 lines each of 6 to
/// 60 points, 1,500 of 200 and 1,000.
const BY_CHANCE: f64 = 11.6;
/// A smaller part of the variance is lost in rounding.
const ROUNDING: f64 = 1e-12;

impl Piecewise {
    /// Fits by least squares. `None` if there are fewer than five points, or all at fewer than four places.
    ///
    /// The break is the best of 2,000 places; for a given place the lines are linear least squares.
    ///
    /// Complexity: O(n log n).
    pub fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let mut sorted: Vec<(f64, f64)> =
            points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut places: Vec<f64> = sorted.iter().map(|p| p.0).collect();
        places.dedup();
        if sorted.len() < 5 || places.len() < 4 {
            return None;
        }
        let n = sorted.len() as f64;
        // Around the middle, and as parts of the whole, squares lose no digits.
        let middle = sorted.iter().fold((0.0, 0.0), |m, p| (m.0 + p.0 / n, m.1 + p.1 / n));
        let scale = |of: fn(&(f64, f64)) -> f64, middle: f64| {
            let most = sorted.iter().map(|p| (of(p) - middle).abs()).fold(0.0, f64::max);
            if most > 0.0 { most } else { 1.0 }
        };
        let scale = (scale(|p| p.0, middle.0), scale(|p| p.1, middle.1));
        // What is left of values that are all the same is rounding.
        let is_flat = scale.1 <= ROUNDING * middle.1.abs();
        let to = |p: &(f64, f64)| {
            let y = if is_flat { 0.0 } else { (p.1 - middle.1) / scale.1 };
            ((p.0 - middle.0) / scale.0, y)
        };
        let scaled: Vec<(f64, f64)> = sorted.iter().map(to).collect();
        let mut below = vec![Sums::default()];
        for &(x, y) in &scaled {
            let mut sums = below[below.len() - 1];
            sums += (x, y);
            below.push(sums);
        }
        let all = below[scaled.len()];
        // The break leaves two places on either side.
        let place = |x: f64| (x - middle.0) / scale.0;
        let (first, last) = (place(places[1]), place(places[places.len() - 2]));
        let candidates = (0..=CANDIDATES)
            .map(|i| first + (last - first) * i as f64 / CANDIDATES as f64)
            .map(|at| {
                let upto = scaled.partition_point(|p| p.0 <= at);
                (at, all.lines(below[upto], at))
            });
        let fits: Vec<(f64, Lines)> = candidates.collect();
        let (at, best) = *fits.iter().min_by(|a, b| a.1.error.total_cmp(&b.1.error))?;
        let most = best.error.max(1e-15) * (CHI_SQUARE / n).exp();
        let mut near = fits.iter().filter(|f| f.1.error <= most).map(|f| f.0);
        let least = near.next().unwrap_or(at);
        let back = |x: f64| middle.0 + x * scale.0;
        let share = |error: f64| if all.yy > 0.0 { 1.0 - error / all.yy } else { 1.0 };
        let slope = scale.1 / scale.0;
        Some(Self {
            at: back(at),
            between: (back(least), back(near.next_back().unwrap_or(least))),
            start: middle.1 + best.start * scale.1,
            before: best.before * slope,
            after: best.after * slope,
            r2: share(best.error),
            r2_straight: share(all.yy - if all.xx > 0.0 { all.xy * all.xy / all.xx } else { 0.0 }),
        })
    }

    /// Share of the variance that lines explain for points that they were not fitted to: every tenth point in turn is
    /// left out, by rising `x`. Below zero if they are worse than the mean.
    pub fn cross_validated(points: &[(f64, f64)]) -> f64 {
        let mut sorted = points.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mean = sorted.iter().map(|p| p.1).sum::<f64>() / sorted.len().max(1) as f64;
        let (mut missed, mut all) = (0.0, 0.0);
        for fold in 0..FOLDS {
            let is_left_out = |(i, _): &(usize, &(f64, f64))| i % FOLDS == fold;
            let seen: Vec<(f64, f64)> =
                sorted.iter().enumerate().filter(|p| !is_left_out(p)).map(|p| *p.1).collect();
            let fit = Self::fit(&seen);
            for (_, &(x, y)) in sorted.iter().enumerate().filter(is_left_out) {
                missed += (y - fit.map_or(mean, |f| f.value(x))).powi(2);
                all += (y - mean).powi(2);
            }
        }
        if all > 0.0 { 1.0 - missed / all } else { 1.0 }
    }

    /// Whether two lines fit so much better than one that a straight line with normal errors does so in less than one of a hundred
    /// sets of this many points.
    pub fn is_broken(&self, points: usize) -> bool {
        let error = |r2: f64| (1.0 - r2).max(ROUNDING);
        let gain = (error(self.r2_straight) / error(self.r2)).ln();
        gain * points.saturating_sub(4) as f64 > BY_CHANCE
    }

    /// The value at some place.
    pub fn value(&self, x: f64) -> f64 {
        self.start + (x - self.at) * if x <= self.at { self.before } else { self.after }
    }
}

/// Sums over some points.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    n: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl AddAssign<(f64, f64)> for Sums {
    fn add_assign(&mut self, (x, y): (f64, f64)) {
        self.n += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }
}

#[derive(Clone, Copy, Debug)]
struct Lines {
    start: f64,
    before: f64,
    after: f64,
    /// Sum of squared differences.
    error: f64,
}

impl Sums {
    /// The best lines that meet at a place; `below` are the sums up to there.
    fn lines(&self, below: Sums, at: f64) -> Lines {
        // Distances to the break, those before it and those behind it: u = min(x - at, 0), v = max(x - at, 0).
        let around = |s: &Sums| {
            let xx = s.xx - 2.0 * at * s.x + at * at * s.n;
            (s.x - at * s.n, xx, s.xy - at * s.y)
        };
        let (u, uu, uy) = around(&below);
        let (w, ww, wy) = around(self);
        let (v, vv, vy) = (w - u, ww - uu, wy - uy);
        // n a + u b + v c = y; u a + uu b = uy; v a + vv c = vy.
        let (uu, vv) = (uu.max(1e-12), vv.max(1e-12));
        let a =
            (self.y - u * uy / uu - v * vy / vv) / (self.n - u * u / uu - v * v / vv).max(1e-12);
        let b = (uy - u * a) / uu;
        let c = (vy - v * a) / vv;
        let error = self.yy - a * self.y - b * uy - c * vy;
        Lines { start: a, before: b, after: c, error: error.max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn two_lines_are_found() {
        let line = |x: f64| if x <= 58.0 { 14.0 + 0.01 * x } else { 14.58 + 0.3 * (x - 58.0) };
        let points: Vec<(f64, f64)> =
            (0..200).map(|i| f64::from(i) / 2.0).map(|x| (x, line(x))).collect();
        let fit = Piecewise::fit(&points).expect("enough points");
        assert!((fit.at - 58.0).abs() < 0.05, "{fit:?}");
        assert!((fit.before - 0.01).abs() < 1e-3 && (fit.after - 0.3).abs() < 1e-3, "{fit:?}");
        assert!(fit.r2 > 0.9999 && fit.r2_straight < 0.9, "{fit:?}");
        assert!((fit.value(80.0) - line(80.0)).abs() < 0.02);
        assert!(fit.between.0 <= fit.at && fit.at <= fit.between.1);
        assert!(Piecewise::cross_validated(&points) > 0.999);
        // Random points are not predicted.
        let random: Vec<(f64, f64)> =
            (0..60u32).map(|i| (f64::from(i), f64::from(i * i * 7919 % 97))).collect();
        assert!(Piecewise::cross_validated(&random) < 0.2);
    }

    #[test]
    fn what_cannot_be_fitted() {
        assert_eq!(Piecewise::fit(&[(1.0, 1.0); 10]), None);
        assert_eq!(Piecewise::fit(&[(1.0, 1.0), (2.0, 2.0), (3.0, 1.0)]), None);
        // 7.3 forty times over has another mean in binary.
        for (n, y) in [(10u32, 3.0), (40, 7.3), (120, 0.1)] {
            let flat: Vec<(f64, f64)> = (0..n).map(|i| (f64::from(i), y)).collect();
            let fit = Piecewise::fit(&flat).expect("enough points");
            let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
            let is_flat = near(fit.before, 0.0) && near(fit.value(4.5), y);
            assert!(near(fit.r2, 1.0) && is_flat && !fit.is_broken(n as usize), "{fit:?}");
        }
    }

    proptest! {
        /// No other break and no other lines are nearer to the points.
        #[test]
        fn nothing_is_nearer(
            points in prop::collection::vec((0.0..100.0f64, -50.0..50.0f64), 6..40),
            at in 10.0..90.0f64, start in -50.0..50.0f64, before in -2.0..2.0f64, after in -2.0..2.0f64,
        ) {
            let Some(fit) = Piecewise::fit(&points) else { return Ok(()) };
            let mut places: Vec<f64> = points.iter().map(|p| p.0).collect();
            places.sort_by(f64::total_cmp);
            let at = at.clamp(places[1], places[places.len() - 2]);
            let error = |f: &dyn Fn(f64) -> f64| {
                points.iter().map(|p| (p.1 - f(p.0)).powi(2)).sum::<f64>()
            };
            let other = |x: f64| start + (x - at) * if x <= at { before } else { after };
            let (ours, others) = (error(&|x| fit.value(x)), error(&other));
            prop_assert!(ours <= others * 1.001 + 1e-6, "{ours} {others} {fit:?}");
        }
    }
}
