//! Table 1 as printed.

use crate::replay::Measure;

/// Improvement of SAR: machine, engine, measure; max, max in percent, mean, mean in percent (dark fiber: points).
pub(super) type Printed = (&'static str, &'static str, Measure, f64, f64, f64, f64);

pub(super) const TABLE_1: &[Printed] = &[
    ("@taurus", "dfsssp", Measure::EfiMax, 279.0, 50.8, 57.3, 23.3),
    ("@taurus", "ftree", Measure::EfiMax, 18.0, 21.2, -1.1, -0.6),
    ("@taurus", "updn", Measure::EfiMax, 18.0, 21.2, -1.1, -0.6),
    ("@tsubame25", "dfsssp", Measure::EfiMax, 321.0, 61.2, 119.4, 38.5),
    ("@tsubame25", "ftree", Measure::EfiMax, 1186.0, 71.2, 80.5, 29.7),
    ("@tsubame25", "updn", Measure::EfiMax, 354.0, 48.7, 69.9, 26.8),
    ("@taurus", "dfsssp", Measure::GammaMaxMean, 16.0, 39.0, 4.3, 23.4),
    ("@taurus", "ftree", Measure::GammaMaxMean, 1.6, 11.4, -0.3, -2.1),
    ("@taurus", "updn", Measure::GammaMaxMean, 1.6, 11.4, -0.3, -2.1),
    ("@tsubame25", "dfsssp", Measure::GammaMaxMean, 18.9, 46.0, 6.7, 30.1),
    ("@tsubame25", "ftree", Measure::GammaMaxMean, 38.0, 49.8, 2.7, 14.8),
    ("@tsubame25", "updn", Measure::GammaMaxMean, 10.6, 29.9, 2.4, 13.2),
    ("@taurus", "dfsssp", Measure::DarkFiberPercent, 9.38, 0.0, 6.03, 0.0),
    ("@taurus", "ftree", Measure::DarkFiberPercent, 7.64, 0.0, 3.62, 0.0),
    ("@taurus", "updn", Measure::DarkFiberPercent, 7.64, 0.0, 3.62, 0.0),
    ("@tsubame25", "dfsssp", Measure::DarkFiberPercent, 12.06, 0.0, 7.63, 0.0),
    ("@tsubame25", "ftree", Measure::DarkFiberPercent, 17.74, 0.0, 9.99, 0.0),
    ("@tsubame25", "updn", Measure::DarkFiberPercent, 9.24, 0.0, 5.51, 0.0),
    ("@taurus", "dfsssp", Measure::LinksPerJobMean, 16.5, 15.0, 7.7, 11.1),
    ("@taurus", "ftree", Measure::LinksPerJobMean, 14.1, 13.8, 6.6, 9.4),
    ("@taurus", "updn", Measure::LinksPerJobMean, 14.1, 13.8, 6.6, 9.4),
    ("@tsubame25", "dfsssp", Measure::LinksPerJobMean, 49.2, 26.7, 18.3, 17.4),
    ("@tsubame25", "ftree", Measure::LinksPerJobMean, 75.1, 43.9, 26.5, 27.3),
    ("@tsubame25", "updn", Measure::LinksPerJobMean, 22.3, 14.9, 7.4, 6.4),
];
