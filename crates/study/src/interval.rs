//! Confidence intervals of means of few samples.

use distrs::StudentsT;

/// A mean, and its confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanInterval {
    /// Mean of the samples.
    pub mean: f64,
    /// Half the width of its confidence interval; infinite of a single sample.
    pub half: f64,
    /// Number of samples.
    pub samples: usize,
}

impl MeanInterval {
    /// The mean of independent samples, with a confidence such as 0.95, by Student's t ("The probable error of a mean",
    /// Biometrika 6, 1908). `None` if there are none.
    pub fn of(samples: &[f64], confidence: f64) -> Option<Self> {
        let n = samples.len();
        if n == 0 {
            return None;
        }
        let mean = samples.iter().sum::<f64>() / n as f64;
        // Equal samples have an exact mean; rounding must not change that.
        if n > 1 && samples.iter().all(|x| x.total_cmp(&samples[0]).is_eq()) {
            return Some(Self { mean: samples[0], half: 0.0, samples: n });
        }
        if n == 1 {
            return Some(Self { mean, half: f64::INFINITY, samples: n });
        }
        let squares: f64 = samples.iter().map(|x| (x - mean) * (x - mean)).sum();
        let error = (squares / (n - 1) as f64 / n as f64).sqrt();
        let half = student_t(confidence, (n - 1) as f64) * error;
        Some(Self { mean, half, samples: n })
    }

    /// Half the width as a part of the mean; 0 if both are.
    pub fn relative(&self) -> f64 {
        if self.half == 0.0 { 0.0 } else { self.half / self.mean.abs() }
    }
}

/// Maximum distance of a mean in standard errors, with this confidence and these degrees of freedom.
pub fn student_t(confidence: f64, freedom: f64) -> f64 {
    StudentsT::ppf(f64::midpoint(1.0, confidence), freedom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_of_the_printed_table() {
        // Two-sided, from any printed table of Student's t.
        for (freedom, confidence, t) in [
            (1.0, 0.95, 12.706),
            (2.0, 0.95, 4.303),
            (4.0, 0.95, 2.776),
            (9.0, 0.95, 2.262),
            (9.0, 0.99, 3.250),
            (29.0, 0.95, 2.045),
            (120.0, 0.99, 2.617),
        ] {
            assert!((student_t(confidence, freedom) - t).abs() < 6e-4, "{freedom} {confidence}");
        }
    }

    #[test]
    fn means_of_few() {
        let of = |samples: &[f64]| MeanInterval::of(samples, 0.95);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3.0]).map(|m| m.half), Some(f64::INFINITY));
        assert_eq!(of(&[0.1, 0.1, 0.1]).map(|m| (m.half, m.relative())), Some((0.0, 0.0)));
        // 1, 2, 3: mean 2, deviation 1, so 4.303 / sqrt(3).
        let m = of(&[1.0, 2.0, 3.0]).expect("some");
        assert!((m.half - 2.4841).abs() < 1e-3 && (m.relative() - 1.242).abs() < 1e-3, "{m:?}");
    }

    #[test]
    fn the_mean_is_inside_as_often_as_it_says() {
        // 4,000 samples of eight uniform numbers, whose mean is 0.5.
        let mut draw = darkfiber_workload::Stream::new(7, 0);
        let mut inside = 0;
        for _ in 0..4000 {
            let mut one = || f64::from(draw.below(1 << 20)) / f64::from(1 << 20);
            let samples: Vec<f64> = (0..8).map(|_| one()).collect();
            let m = MeanInterval::of(&samples, 0.95).expect("some");
            inside += u32::from((m.mean - 0.5).abs() <= m.half);
        }
        // 3,800 of a fair coin of 95 %; 4 standard deviations are 55.
        assert!((3720..=3880).contains(&inside), "{inside}");
    }
}
