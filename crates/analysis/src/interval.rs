//! Confidence intervals of means of few samples.

/// Degrees of freedom above which the quantile is that of this many: it is within 0.0003 of the normal one.
const MANY: usize = 10_000;

/// The mean of samples and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    /// The mean.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval of the mean; nothing of fewer than two samples.
    pub half: Option<f64>,
    /// How many samples there are.
    pub samples: usize,
}

impl MeanInterval {
    /// Of samples that are independent and about normally distributed, by Student's t; nothing if there is no sample.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let n = samples.len();
        if n == 0 {
            return None;
        }
        let mean = samples.iter().sum::<f64>() / n as f64;
        let half = (n > 1).then(|| {
            let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
            let variance = squares / (n - 1) as f64;
            student_95(n - 1) * (variance / n as f64).sqrt()
        });
        Some(Self { mean, half, samples: n })
    }

    /// The lower end of the interval; the mean if there is none.
    pub fn low(&self) -> f64 {
        self.mean - self.half.unwrap_or(0.0)
    }

    /// The upper end of the interval; the mean if there is none.
    pub fn high(&self) -> f64 {
        self.mean + self.half.unwrap_or(0.0)
    }
}

/// The number that a variable of Student's t distribution does not exceed in magnitude with a probability of 95 %.
///
/// Complexity: O(degrees of freedom), at most ten thousand, times 60 steps of bisection.
///
/// # Panics
/// If there is no degree of freedom.
pub fn student_95(freedom: usize) -> f64 {
    assert!(freedom > 0, "one sample has no spread");
    let freedom = freedom.min(MANY);
    let (mut low, mut high) = (0.0, std::f64::consts::FRAC_PI_2);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if within(middle, freedom) < 0.95 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (freedom as f64).sqrt() * low.tan()
}

/// The probability that a variable of Student's t distribution is at most sqrt(freedom) tan(angle) in magnitude: a finite sum
/// (Abramowitz and Stegun, "Handbook of Mathematical Functions", 1964, 26.7.3 and 26.7.4).
fn within(angle: f64, freedom: usize) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let mut term = if is_odd { cos } else { 1.0 };
    let mut sum = 0.0;
    let mut i = if is_odd { 1 } else { 0 };
    while i + 2 <= freedom {
        sum += term;
        term *= cos * cos * (i + 1) as f64 / (i + 2) as f64;
        i += 2;
    }
    if is_odd { (angle + sin * sum) * std::f64::consts::FRAC_2_PI } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed values: Abramowitz and Stegun, table 26.10, A(t|v) = 0.95.
    #[test]
    fn quantiles_are_those_of_the_table() {
        for (freedom, printed) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (9, 2.262),
            (10, 2.228),
            (29, 2.045),
            (30, 2.042),
            (60, 2.000),
            (120, 1.980),
            (1_000_000, 1.960),
        ] {
            let found = student_95(freedom);
            assert!((found - printed).abs() < 5.1e-4, "{freedom}: {found} instead of {printed}");
        }
    }

    #[test]
    fn two_degrees_have_a_closed_form() {
        // A = t / sqrt(2 + t^2).
        let t = student_95(2);
        assert!((t - (2.0 * 0.95f64.powi(2) / (1.0 - 0.95f64.powi(2))).sqrt()).abs() < 1e-12);
        // One has a Cauchy distribution.
        let cauchy = (0.95 * std::f64::consts::FRAC_PI_2).tan();
        assert!((student_95(1) - cauchy).abs() < 1e-9);
    }

    #[test]
    fn intervals_of_few_samples() {
        assert_eq!(MeanInterval::of(&[]), None);
        let one = MeanInterval::of(&[3.0]).expect("a mean");
        assert_eq!((one.mean, one.half, one.low()), (3.0, None, 3.0));
        // Mean 4, variance 4: half is 4.303 * 2 / sqrt(3).
        let three = MeanInterval::of(&[2.0, 4.0, 6.0]).expect("a mean");
        let half = three.half.expect("an interval");
        assert!((half - 4.302_652_73 * 2.0 / 3f64.sqrt()).abs() < 1e-6, "{half}");
        assert!((three.high() - 4.0 - half).abs() < 1e-12);
        assert_eq!(MeanInterval::of(&[5.0; 4]).expect("a mean").half, Some(0.0));
    }
}
