//! Distribution of the parts of a model over ranks.

use thiserror::Error;

/// Parallel dimension that varies fastest, after tensor and context, which are innermost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Copies adjacent, stages far apart: Megatron-LM's default.
    #[default]
    DataFirst,
    /// Stages adjacent, copies far apart: Llama 3.
    PipelineFirst,
}

/// Division of a model over ranks: `tensor` x `context` x `data` x `stages`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Parts of each matrix (TP).
    pub tensor: u32,
    /// Parts of each sequence (CP).
    pub context: u32,
    /// Stages of the pipeline (PP).
    pub stages: u32,
    /// Copies, each of other sequences (DP).
    pub data: u32,
    /// Parts of the experts (EP), among ranks that differ in context and data.
    pub experts: u32,
    /// The dimension that varies fastest.
    pub order: Order,
}

/// A division that does not fit.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// Ranks that are no multiple.
    #[error("{ranks} ranks are no multiple of tp x cp x pp = {product}")]
    Ranks {
        /// Number of ranks.
        ranks: u32,
        /// The required divisor of the number.
        product: u64,
    },
    /// Experts' parts that do not divide.
    #[error("ep = {experts} does not divide cp x dp = {copies}")]
    Experts {
        /// Parts of the experts.
        experts: u32,
        /// Ranks that hold the same part otherwise.
        copies: u32,
    },
}

impl Layout {
    /// A layout over this number of ranks; the remaining factor is data parallel.
    ///
    /// # Errors
    /// If the number of ranks is not divisible.
    pub fn new(
        ranks: u32,
        [tensor, context, stages, experts]: [u32; 4],
        order: Order,
    ) -> Result<Self, LayoutError> {
        let product = u64::from(tensor) * u64::from(context) * u64::from(stages);
        if product == 0 || !u64::from(ranks).is_multiple_of(product) || ranks == 0 {
            return Err(LayoutError::Ranks { ranks, product });
        }
        let data = (u64::from(ranks) / product) as u32;
        let copies = context * data;
        if experts == 0 || !copies.is_multiple_of(experts) {
            return Err(LayoutError::Experts { experts, copies });
        }
        Ok(Self { tensor, context, stages, data, experts, order })
    }

    /// The rank of a part.
    pub fn rank(&self, tensor: u32, context: u32, data: u32, stage: u32) -> u32 {
        let inner = tensor + self.tensor * context;
        let size = self.tensor * self.context;
        inner
            + size
                * match self.order {
                    Order::DataFirst => data + self.data * stage,
                    Order::PipelineFirst => stage + self.stages * data,
                }
    }

    /// Ranks of a stage that differ in their part of matrices only, group by group.
    pub fn tensor_groups(&self, stage: u32) -> impl Iterator<Item = Vec<u32>> + '_ {
        (0..self.data).flat_map(move |d| {
            (0..self.context)
                .map(move |c| (0..self.tensor).map(|t| self.rank(t, c, d, stage)).collect())
        })
    }

    /// Ranks of a stage that differ in their part of sequences only.
    pub fn context_groups(&self, stage: u32) -> impl Iterator<Item = Vec<u32>> + '_ {
        (0..self.data).flat_map(move |d| {
            (0..self.tensor)
                .map(move |t| (0..self.context).map(|c| self.rank(t, c, d, stage)).collect())
        })
    }

    /// Ranks of a stage that hold the same parameters, but for experts.
    pub fn copies(&self, stage: u32) -> impl Iterator<Item = Vec<u32>> + '_ {
        (0..self.tensor).map(move |t| self.copies_of(t, stage))
    }

    fn copies_of(&self, tensor: u32, stage: u32) -> Vec<u32> {
        let all = (0..self.data).flat_map(|d| (0..self.context).map(move |c| (c, d)));
        all.map(|(c, d)| self.rank(tensor, c, d, stage)).collect()
    }

    /// Ranks of a stage among which the experts of a layer are divided: neighbours among those that hold the same otherwise.
    pub fn expert_groups(&self, stage: u32) -> impl Iterator<Item = Vec<u32>> + '_ {
        self.copies(stage).flat_map(move |copies| {
            copies.chunks(self.experts as usize).map(<[u32]>::to_vec).collect::<Vec<_>>()
        })
    }

    /// Ranks of a stage that hold the same experts.
    pub fn expert_copies(&self, stage: u32) -> impl Iterator<Item = Vec<u32>> + '_ {
        self.copies(stage).flat_map(move |copies| {
            let every = self.experts as usize;
            let of = |i: usize| copies.iter().skip(i).step_by(every).copied().collect();
            (0..every).map(of).collect::<Vec<Vec<u32>>>()
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_rank_is_in_one_group_of_each_kind() {
        for order in [Order::DataFirst, Order::PipelineFirst] {
            let layout = Layout::new(192, [4, 2, 3, 4], order).expect("it divides");
            assert_eq!(layout.data, 8);
            let mut stages: Vec<u32> = Vec::new();
            for stage in 0..3 {
                let kinds: [Vec<Vec<u32>>; 5] = [
                    layout.tensor_groups(stage).collect(),
                    layout.context_groups(stage).collect(),
                    layout.copies(stage).collect(),
                    layout.expert_groups(stage).collect(),
                    layout.expert_copies(stage).collect(),
                ];
                let sizes = [4, 2, 16, 4, 4];
                let of_first: BTreeSet<u32> = kinds[0].iter().flatten().copied().collect();
                for (groups, size) in kinds.iter().zip(sizes) {
                    assert!(groups.iter().all(|g| g.len() == size));
                    let all: Vec<u32> = groups.iter().flatten().copied().collect();
                    assert_eq!(all.len(), 64);
                    assert_eq!(all.iter().copied().collect::<BTreeSet<_>>(), of_first);
                }
                stages.extend(of_first);
            }
            stages.sort_unstable();
            assert_eq!(stages, (0..192).collect::<Vec<_>>());
        }
        // Tensor parts are neighbours; with Llama 3's order the next stage is as near as can be.
        let layout = Layout::new(192, [4, 2, 3, 1], Order::PipelineFirst).expect("it divides");
        assert_eq!((layout.rank(1, 0, 0, 0), layout.rank(0, 0, 0, 1)), (1, 8));
    }

    #[test]
    fn what_does_not_divide_is_refused() {
        let refused = |parts, text: &str| {
            let error = Layout::new(64, parts, Order::DataFirst).expect_err("it does not divide");
            assert_eq!(error.to_string(), text);
        };
        refused([8, 1, 3, 1], "64 ranks are no multiple of tp x cp x pp = 24");
        refused([8, 1, 2, 3], "ep = 3 does not divide cp x dp = 4");
    }
}
