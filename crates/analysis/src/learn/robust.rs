//! Robust principal component analysis: the common low-rank part of many rows, and outliers in few cells.

use nalgebra::{DMatrix, SymmetricEigen};

/// `X = L + S`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Common part of the rows, of low rank.
    pub low: DMatrix<f64>,
    /// Outliers, a sparse matrix.
    pub sparse: DMatrix<f64>,
    /// Number of nonzero singular values of `low`.
    pub rank: usize,
    /// Share of the cells of `sparse` that are nonzero.
    pub filled: f64,
    /// Distance of the sum from `X`, relative to its Frobenius norm.
    pub apart: f64,
}

/// Ends when the sum is as near as this.
const NEAR: f64 = 1e-7;
/// Steps at most; some 40 are usual.
const STEPS: usize = 500;
/// Growth factor of the penalty in each step, and its initial value, in parts of 1 / ||X||.
const GROWTH: f64 = 1.5;
const PENALTY: f64 = 1.25;
/// Singular values and cells below this part of the largest count as zero.
const NOTHING: f64 = 1e-6;

/// Principal component pursuit: the least sum of singular values of `L` and `1 / sqrt(max(rows, columns))` times that of
/// all cells of `S`.
///
/// E. J. Candès et al., Robust Principal Component Analysis? (J. ACM 58, 2011), section 1; solved by inexact augmented
/// Lagrange multipliers: Z. Lin, M. Chen, Y. Ma, The Augmented Lagrange Multiplier Method for Exact Recovery of Corrupted
/// Low-Rank Matrices (2010), algorithm 5 with its parameters. The paper of the pipeline names no method.
///
/// Complexity: some 40 steps of O(rows columns min(rows, columns)).
pub fn decompose(x: &DMatrix<f64>) -> Parts {
    if x.nrows() > x.ncols() {
        let parts = decompose(&x.transpose());
        return Parts { low: parts.low.transpose(), sparse: parts.sparse.transpose(), ..parts };
    }
    let size = x.norm();
    let most = x.amax();
    let spectral = spectrum(x).1.first().copied().unwrap_or(0.0);
    if size == 0.0 || spectral == 0.0 {
        return Parts { low: x.clone(), sparse: x.clone(), rank: 0, filled: 0.0, apart: 0.0 };
    }
    let weight = 1.0 / (x.ncols() as f64).sqrt();
    let mut penalty = PENALTY / spectral;
    let mut dual = x / spectral.max(most / weight);
    let mut sparse = DMatrix::zeros(x.nrows(), x.ncols());
    let mut low = sparse.clone();
    let (mut rank, mut apart) = (0, f64::INFINITY);
    for _ in 0..STEPS {
        // Towards S by cells, towards L by singular values.
        let shift = &dual / penalty;
        sparse = (x - &low + &shift).map(|cell| shrunk(cell, weight / penalty));
        let of_low = x - &sparse + &shift;
        (low, rank) = thinned(&of_low, 1.0 / penalty);
        let rest = x - &low - &sparse;
        apart = rest.norm() / size;
        if apart < NEAR {
            break;
        }
        dual += rest * penalty;
        penalty *= GROWTH;
    }
    let least = sparse.amax() * NOTHING;
    let filled = sparse.iter().filter(|cell| cell.abs() > least).count();
    Parts { low, filled: filled as f64 / sparse.len() as f64, sparse, rank, apart }
}

fn shrunk(x: f64, by: f64) -> f64 {
    x.signum() * (x.abs() - by).max(0.0)
}

/// Left singular vectors and singular values, the largest first, of a matrix that is no higher than wide.
fn spectrum(m: &DMatrix<f64>) -> (DMatrix<f64>, Vec<f64>) {
    // By the eigenvalues of the small M Mt: the loss of precision is far below the threshold for zero.
    let eigen = SymmetricEigen::new(m * m.transpose());
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let vectors = eigen.eigenvectors.select_columns(&order);
    let values = order.iter().map(|&i| eigen.eigenvalues[i].max(0.0).sqrt()).collect();
    (vectors, values)
}

/// The same with singular values that are less by this much, and how many are left.
fn thinned(m: &DMatrix<f64>, by: f64) -> (DMatrix<f64>, usize) {
    let (vectors, values) = spectrum(m);
    let least = values.first().map_or(0.0, |v| v * NOTHING);
    let rank = values.iter().filter(|&&v| v > by.max(least)).count();
    let kept = vectors.columns(0, rank);
    let mut scaled = kept.clone_owned();
    for (mut column, value) in scaled.column_iter_mut().zip(&values) {
        column *= 1.0 - by / value;
    }
    (scaled * (kept.transpose() * m), rank)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A matrix of rank two, with some outlier cells: the setting in which the parts are known to be found.
    fn mixed(rows: usize, columns: usize) -> (DMatrix<f64>, DMatrix<f64>) {
        let at = |i: usize, k: u32| (f64::from(k) + i as f64 * 0.7).sin();
        let low = DMatrix::from_fn(rows, columns, |i, j| {
            at(i, 1) * at(j, 2) + at(3 * i, 3) * at(2 * j, 5)
        });
        let sparse = DMatrix::from_fn(rows, columns, |i, j| {
            if (i * columns + j) * 7919 % 101 < 4 { 5.0 + at(i, 7) } else { 0.0 }
        });
        (low, sparse)
    }

    #[test]
    fn parts_are_found_again() {
        for (rows, columns) in [(40, 120), (120, 40)] {
            let (low, sparse) = mixed(rows, columns);
            let parts = decompose(&(&low + &sparse));
            assert_eq!(parts.rank, 2, "{}", parts.filled);
            assert!((&parts.low - &low).norm() < 1e-4 * low.norm());
            assert!((&parts.sparse - &sparse).norm() < 1e-4 * sparse.norm());
            assert!(parts.filled < 0.06, "{}", parts.filled);
        }
    }

    #[test]
    fn nothing_has_no_parts() {
        let parts = decompose(&DMatrix::zeros(3, 5));
        assert_eq!((parts.rank, parts.low.norm(), parts.sparse.norm()), (0, 0.0, 0.0));
    }

    proptest! {
        /// For any input, it is the sum of both parts.
        #[test]
        fn both_make_the_whole(cells in prop::collection::vec(-9.0..9.0f64, 6..60), rows in 1usize..6) {
            let columns = cells.len() / rows;
            let x = DMatrix::from_row_slice(rows, columns, &cells[..rows * columns]);
            let parts = decompose(&x);
            prop_assert!((&parts.low + &parts.sparse - &x).norm() <= 1e-5 * x.norm(), "{}", parts.apart);
        }
    }
}
