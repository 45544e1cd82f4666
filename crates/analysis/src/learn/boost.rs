//! Gradient boosting of regression trees with Huber's loss.

use std::collections::BTreeMap;

use smartcore::linalg::basic::matrix::DenseMatrix;
use smartcore::tree::decision_tree_regressor::{
    DecisionTreeRegressor, DecisionTreeRegressorParameters,
};

/// Parameters of boosting. The paper of the pipeline gives none of them; these are scikit-learn's values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoostingParams {
    /// Number of trees.
    pub trees: usize,
    /// Weight of each tree in the sum.
    pub rate: f64,
    /// Splits from root to leaf, at most.
    pub depth: u16,
    /// Rows of a leaf, at least.
    pub leaf: usize,
    /// Share of the rows whose distance counts squared; that of others counts linearly.
    pub near: f64,
}

impl Default for BoostingParams {
    fn default() -> Self {
        Self { trees: 100, rate: 0.1, depth: 3, leaf: 5, near: 0.9 }
    }
}

type Tree = DecisionTreeRegressor<f64, f64, DenseMatrix<f64>, Vec<f64>>;

/// A sum of trees.
pub struct BoostedTrees {
    start: f64,
    rate: f64,
    trees: Vec<(Tree, Leaves)>,
}

/// The value that is added at a leaf, by the tree's own value of the leaf as bits. Leaves with the same value are
/// one.
type Leaves = BTreeMap<u64, f64>;

impl BoostedTrees {
    /// Learns `y` from rows of `x`.
    ///
    /// J. H. Friedman, Greedy Function Approximation: A Gradient Boosting Machine (Annals of Statistics 29, 2001),
    /// algorithm 4 (M-TreeBoost).
    ///
    /// # Panics
    /// If there are no rows, or not as many as values.
    pub fn fit(x: &[Vec<f64>], y: &[f64], how: BoostingParams) -> Self {
        assert!(!x.is_empty() && x.len() == y.len(), "a value for each row");
        let start = median(y.to_vec());
        let matrix = matrix(x);
        let mut values = vec![start; y.len()];
        let parameters = DecisionTreeRegressorParameters::default()
            .with_max_depth(how.depth)
            .with_min_samples_leaf(how.leaf)
            .with_min_samples_split(2 * how.leaf);
        let parameters = DecisionTreeRegressorParameters { seed: Some(1), ..parameters };
        let mut trees = Vec::with_capacity(how.trees);
        for _ in 0..how.trees {
            let rest: Vec<f64> = y.iter().zip(&values).map(|(y, v)| y - v).collect();
            let far = quantile(rest.iter().map(|r| r.abs()).collect(), how.near);
            let pull = rest.iter().map(|r| r.clamp(-far, far)).collect();
            let tree = Tree::fit(&matrix, &pull, parameters.clone()).expect("rows and values");
            let said = tree.predict(&matrix).expect("the same rows");
            let mut of_leaf: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
            for (said, rest) in said.iter().zip(&rest) {
                of_leaf.entry(said.to_bits()).or_default().push(*rest);
            }
            let leaves: Leaves =
                of_leaf.into_iter().map(|(leaf, rest)| (leaf, centre(&rest, far))).collect();
            for (value, said) in values.iter_mut().zip(&said) {
                *value += how.rate * leaves[&said.to_bits()];
            }
            trees.push((tree, leaves));
        }
        Self { start, rate: how.rate, trees }
    }

    /// Predictions for rows of `x`.
    ///
    /// # Panics
    /// If they are not as wide as the training rows.
    pub fn predict(&self, x: &[Vec<f64>]) -> Vec<f64> {
        let mut values = vec![self.start; x.len()];
        if x.is_empty() {
            return values;
        }
        let matrix = matrix(x);
        for (tree, leaves) in &self.trees {
            let said = tree.predict(&matrix).expect("rows of the same width");
            for (value, said) in values.iter_mut().zip(said) {
                *value += self.rate * leaves.get(&said.to_bits()).copied().unwrap_or(0.0);
            }
        }
        values
    }
}

fn matrix(x: &[Vec<f64>]) -> DenseMatrix<f64> {
    let width = x[0].len();
    let columns = (0..width).flat_map(|j| x.iter().map(move |row| row[j])).collect();
    DenseMatrix::new(x.len(), width, columns, true).expect("rows of one width")
}

/// Huber's centre: the median, and one step from it towards the mean of the values that are not far.
fn centre(rest: &[f64], far: f64) -> f64 {
    let middle = median(rest.to_vec());
    let step = |r: &f64| (r - middle).clamp(-far, far);
    middle + rest.iter().map(step).sum::<f64>() / rest.len() as f64
}

fn median(values: Vec<f64>) -> f64 {
    quantile(values, 0.5)
}

/// Between the neighbours of its place.
fn quantile(mut values: Vec<f64>, part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let place = part * (values.len() - 1) as f64;
    let below = place.floor();
    #[expect(clippy::cast_sign_loss, reason = "a place is not below zero")]
    let i = below as usize;
    let above = values[(i + 1).min(values.len() - 1)];
    values[i] + (place - below) * (above - values[i])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> (Vec<Vec<f64>>, Vec<f64>) {
        let x: Vec<Vec<f64>> = (0..400u32)
            .map(|i| vec![f64::from(i * 37 % 400) / 400.0, f64::from(i * 91 % 400) / 400.0])
            .collect();
        let y = x.iter().map(|r| if r[0] > 0.5 { 3.0 + 2.0 * r[1] } else { 1.0 }).collect();
        (x, y)
    }

    #[test]
    fn a_law_is_learnt() {
        let (x, y) = rows();
        let model = BoostedTrees::fit(&x[..300], &y[..300], BoostingParams::default());
        let predicted = model.predict(&x[300..]);
        for ((x, y), p) in x[300..].iter().zip(&y[300..]).zip(&predicted) {
            // But for those next to the step.
            assert!((p - y).abs() < 0.3 || (x[0] - 0.5).abs() < 0.005, "{x:?}: {p}, not {y}");
        }
        assert!(model.predict(&[]).is_empty());
    }

    #[test]
    fn few_that_are_far_do_not_count_squared() {
        let (x, mut y) = rows();
        let truth = y.clone();
        for i in (0..400).step_by(20) {
            y[i] += 1000.0;
        }
        let missed = |near: f64| {
            let model =
                BoostedTrees::fit(&x, &y, BoostingParams { near, ..BoostingParams::default() });
            let pairs = model.predict(&x).into_iter().zip(&truth);
            pairs.map(|(p, t)| (p - t).powi(2)).sum::<f64>() / 400.0
        };
        assert!(missed(0.9) < 0.1, "{}", missed(0.9));
        assert!(missed(1.0) > 10.0, "{}", missed(1.0));
    }

    #[test]
    fn no_tree_is_the_median() {
        let none = BoostingParams { trees: 0, ..BoostingParams::default() };
        let model = BoostedTrees::fit(&[vec![0.0], vec![1.0], vec![2.0]], &[1.0, 2.0, 9.0], none);
        assert_eq!(model.predict(&[vec![5.0]]), [2.0]);
        assert!((quantile(vec![4.0, 1.0, 2.0], 0.75) - 3.0).abs() < 1e-12);
    }
}
