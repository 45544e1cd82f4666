//! The printed numbers of the paper.

/// Names of the columns of Table II.
pub(super) const COLUMNS: [&str; 3] = ["ABB", "AFPB", "ADB"];

/// For each column of Table II the least, largest and mean improvement in percent.
type PrintedColumns = [[f64; 3]; 3];

/// Section IV: name, rows of Table II, and its statements about them.
pub(super) static TEXT: &[(&str, std::ops::Range<usize>, PrintedColumns)] = &[
    ("full", 0..5, [[3.1, 7.1, 5.3], [9.7, 25.2, 15.9], [10.3, 26.5, 18.0]]),
    ("slimmed", 5..10, [[2.6, 3.8, 3.3], [7.1, 13.6, 10.8], [7.9, 18.9, 14.4]]),
    ("fatted", 10..15, [[5.6, 17.6, 10.8], [17.8, 57.7, 35.3], [17.8, 57.7, 35.3]]),
];
