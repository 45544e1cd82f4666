//! What the paper prints.

/// n, m, r.
pub(super) type Size = (u32, u32, u32);

/// Table I: tree, WORST of OPT, improvement in percent. That of D-mod-k is n.
pub(super) static TABLE_I: &[(Size, u32, u32)] = &[
    ((9, 9, 18), 3, 200),
    ((16, 16, 32), 4, 300),
    ((25, 25, 50), 5, 400),
    ((12, 12, 24), 4, 200),
    ((24, 24, 48), 6, 300),
    ((12, 4, 16), 6, 100),
    ((24, 9, 33), 8, 200),
    ((24, 16, 40), 6, 300),
    ((16, 8, 24), 8, 100),
    ((24, 8, 32), 12, 100),
    ((8, 16, 24), 2, 300),
    ((12, 16, 28), 3, 300),
    ((10, 25, 35), 2, 400),
    ((8, 24, 32), 2, 300),
    ((16, 32, 48), 4, 300),
];

/// A pair of columns and the improvement in percent.
#[derive(Clone, Copy)]
pub(super) struct Cells {
    pub(super) opt: f64,
    pub(super) dmodk: f64,
    pub(super) improvement: f64,
}

const fn cells(opt: f64, dmodk: f64, improvement: f64) -> Cells {
    Cells { opt, dmodk, improvement }
}

/// A row of Table II.
pub(super) struct Average {
    pub(super) tree: Size,
    /// Whether plain OPT leaves top switches unused, so that the paper balanced it.
    pub(super) balanced: bool,
    /// ABB, AFPB, ADB.
    pub(super) cells: [Cells; 3],
}

const fn row(tree: Size, balanced: bool, abb: Cells, afpb: Cells, adb: Cells) -> Average {
    Average { tree, balanced, cells: [abb, afpb, adb] }
}

/// Names of the columns, and the patterns behind them.
pub(super) const COLUMNS: [(&str, &str); 3] =
    [("ABB", "bisect"), ("AFPB", "permutation"), ("ADB", "dissemination")];

/// Table II. The first five trees have full bisection, the next five are slimmed, the last five fatted.
pub(super) static TABLE_II: &[Average] = &[
    row(
        (9, 9, 18),
        false,
        cells(0.380, 0.362, 5.0),
        cells(0.333, 0.266, 25.2),
        cells(0.334, 0.264, 26.5),
    ),
    row(
        (16, 16, 32),
        false,
        cells(0.317, 0.296, 7.1),
        cells(0.253, 0.220, 15.0),
        cells(0.265, 0.219, 21.0),
    ),
    row(
        (25, 25, 50),
        false,
        cells(0.278, 0.262, 6.1),
        cells(0.224, 0.193, 16.1),
        cells(0.235, 0.194, 21.1),
    ),
    row(
        (12, 12, 24),
        true,
        cells(0.333, 0.323, 3.1),
        cells(0.265, 0.239, 10.9),
        cells(0.266, 0.239, 10.9),
    ),
    row(
        (24, 24, 48),
        true,
        cells(0.278, 0.264, 5.3),
        cells(0.215, 0.196, 9.7),
        cells(0.215, 0.195, 10.3),
    ),
    row(
        (12, 4, 16),
        false,
        cells(0.234, 0.228, 2.6),
        cells(0.176, 0.158, 11.4),
        cells(0.184, 0.157, 17.2),
    ),
    row(
        (24, 9, 33),
        false,
        cells(0.198, 0.192, 3.1),
        cells(0.149, 0.131, 13.7),
        cells(0.155, 0.132, 18.9),
    ),
    row(
        (24, 16, 40),
        false,
        cells(0.244, 0.235, 3.8),
        cells(0.192, 0.169, 13.6),
        cells(0.199, 0.169, 17.8),
    ),
    row(
        (16, 8, 24),
        true,
        cells(0.248, 0.239, 3.8),
        cells(0.185, 0.171, 8.2),
        cells(0.185, 0.168, 10.1),
    ),
    row(
        (24, 8, 32),
        true,
        cells(0.189, 0.183, 3.3),
        cells(0.136, 0.127, 7.1),
        cells(0.136, 0.126, 7.9),
    ),
    row(
        (8, 16, 24),
        false,
        cells(0.500, 0.442, 13.1),
        cells(0.500, 0.326, 53.4),
        cells(0.500, 0.326, 53.4),
    ),
    row(
        (12, 16, 28),
        false,
        cells(0.369, 0.343, 7.6),
        cells(0.333, 0.259, 28.6),
        cells(0.333, 0.259, 28.6),
    ),
    row(
        (10, 25, 35),
        false,
        cells(0.500, 0.425, 17.6),
        cells(0.500, 0.317, 57.7),
        cells(0.500, 0.317, 57.7),
    ),
    row(
        (8, 24, 32),
        true,
        cells(0.487, 0.461, 5.6),
        cells(0.430, 0.351, 22.5),
        cells(0.428, 0.350, 22.3),
    ),
    row(
        (16, 32, 48),
        true,
        cells(0.374, 0.340, 10.0),
        cells(0.311, 0.264, 17.8),
        cells(0.311, 0.264, 17.8),
    ),
];

/// For each column of Table II the least, largest and mean improvement in percent.
type Said = [[f64; 3]; 3];

/// Section IV: name, rows of Table II, and what is said of them.
pub(super) static TEXT: &[(&str, std::ops::Range<usize>, Said)] = &[
    ("full", 0..5, [[3.1, 7.1, 5.3], [9.7, 25.2, 15.9], [10.3, 26.5, 18.0]]),
    ("slimmed", 5..10, [[2.6, 3.8, 3.3], [7.1, 13.6, 10.8], [7.9, 18.9, 14.4]]),
    ("fatted", 10..15, [[5.6, 17.6, 10.8], [17.8, 57.7, 35.3], [17.8, 57.7, 35.3]]),
];
