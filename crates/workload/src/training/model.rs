//! Shapes of published language models.

use darkfiber_fabric::Registry;

/// A decoder of layers that are all alike, but for the first ones of a mixture of experts, which may be dense.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Name in specs.
    pub name: &'static str,
    /// Description, and the source of its shape.
    pub doc: &'static str,
    /// The number of layers.
    pub layers: u32,
    /// Numbers that represent a token between layers.
    pub hidden: u32,
    /// Parameters of a layer's attention.
    pub attention: u64,
    /// Width of all heads together: that of a token's queries and values.
    pub heads: u32,
    /// Numbers that a layer keeps of a token for others to attend to: keys and values.
    pub kept: u32,
    /// Parameters of a dense layer's perceptron.
    pub dense: u64,
    /// Experts that replace dense perceptrons.
    pub experts: Option<Experts>,
    /// Parameters that turn tokens into vectors and vectors into tokens.
    pub embedding: u64,
    /// Parameters of the part that is computed for each token: vectors into tokens.
    pub logits: u64,
    /// Tokens of a sequence.
    pub sequence: u32,
}

/// Perceptrons of which each token takes a few.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Experts {
    /// Layers that have them.
    pub layers: u32,
    /// Number of experts of a layer.
    pub count: u32,
    /// Number of experts that a token takes.
    pub taken: u32,
    /// Number of experts that all tokens take besides.
    pub shared: u32,
    /// Parameters of one expert.
    pub each: u64,
    /// Bytes of a number on the path to an expert; on the return it has 2.
    pub sent: u32,
}

darkfiber_fabric::named!(Model);

/// Grouped-query attention with heads of 128, and a perceptron with a gate (Llama, Mixtral).
const fn grouped(hidden: u32, heads: u32, groups: u32) -> u64 {
    let (h, heads, groups) = (hidden as u64, heads as u64 * 128, groups as u64 * 128);
    2 * h * heads + 2 * h * groups
}

/// Parameters of a perceptron with a gate: three matrices.
const fn gated(hidden: u32, inner: u32) -> u64 {
    3 * hidden as u64 * inner as u64
}

const fn llama(
    name: &'static str,
    doc: &'static str,
    [layers, hidden, heads, inner]: [u32; 4],
) -> Model {
    Model {
        name,
        doc,
        layers,
        hidden,
        attention: grouped(hidden, heads, 8),
        heads: heads * 128,
        kept: 2 * 8 * 128,
        dense: gated(hidden, inner),
        experts: None,
        embedding: 2 * 128_256 * hidden as u64,
        logits: 128_256 * hidden as u64,
        sequence: 8192,
    }
}

/// GPT-3's layers: all heads have separate keys and values, two matrices of four times the width.
const fn gpt(name: &'static str, doc: &'static str, layers: u32, hidden: u32) -> Model {
    let h = hidden as u64;
    Model {
        name,
        doc,
        layers,
        hidden,
        attention: 4 * h * h,
        heads: hidden,
        kept: 2 * hidden,
        dense: 8 * h * h,
        experts: None,
        embedding: 51_200 * h,
        logits: 51_200 * h,
        sequence: 2048,
    }
}

/// The registry of models.
pub static MODELS: Registry<Model> = Registry::new(
    "model",
    &[
        llama(
            "llama3-8b",
            "Llama 3 8B (Grattafiori et al., \"The Llama 3 Herd of Models\", arXiv 2407.21783, table 3)",
            [32, 4096, 32, 14_336],
        ),
        llama("llama3-70b", "Llama 3 70B (the same)", [80, 8192, 64, 28_672]),
        llama("llama3-405b", "Llama 3 405B (the same)", [126, 16_384, 128, 53_248]),
        gpt(
            "gpt3-175b",
            "GPT-3 175B as Megatron-LM trains it (Narayanan et al., SC'21, table 1)",
            96,
            12_288,
        ),
        gpt("gpt-1t", "GPT of 1008 billion parameters (the same)", 128, 25_600),
        Model {
            name: "mixtral-8x7b",
            doc: "Mixtral 8x7B: 8 experts, 2 for a token (Jiang et al., arXiv 2401.04088, table 1)",
            layers: 32,
            hidden: 4096,
            attention: grouped(4096, 32, 8),
            heads: 4096,
            kept: 2 * 8 * 128,
            dense: 0,
            experts: Some(Experts {
                layers: 32,
                count: 8,
                taken: 2,
                shared: 0,
                each: gated(4096, 14_336),
                sent: 2,
            }),
            embedding: 2 * 32_000 * 4096,
            logits: 32_000 * 4096,
            sequence: 32_768,
        },
        Model {
            name: "deepseek-v3",
            doc: "DeepSeek-V3 671B: 256 experts and a shared one, 8 for a token, three dense layers (DeepSeek-AI, arXiv \
                  2412.19437, section 4.2); tokens go to experts in FP8",
            layers: 61,
            hidden: 7168,
            // Latent attention: queries by 1,536, keys and values by 512 and 64, 128 heads of 128 + 64 and 128.
            attention: 7168 * (1536 + 512 + 64)
                + 1536 * 128 * (128 + 64)
                + 512 * 128 * (128 + 128)
                + 128 * 128 * 7168,
            heads: 128 * 160,
            kept: 512 + 64,
            dense: gated(7168, 18_432),
            experts: Some(Experts {
                layers: 58,
                count: 256,
                taken: 8,
                shared: 1,
                each: gated(7168, 2048),
                sent: 1,
            }),
            embedding: 2 * 129_280 * 7168,
            logits: 129_280 * 7168,
            sequence: 4096,
        },
    ],
);

impl Model {
    /// Parameters that every token meets, but for the embedding.
    pub fn dense_parameters(&self) -> u64 {
        let (with, shared) = self.experts.map_or((0, 0), |e| (e.layers, e.shared));
        let shared = self.experts.map_or(0, |e| u64::from(e.layers) * u64::from(shared) * e.each);
        u64::from(self.layers) * self.attention
            + u64::from(self.layers - with) * self.dense
            + shared
    }

    /// Parameters of all experts.
    pub fn expert_parameters(&self) -> u64 {
        self.experts.map_or(0, |e| u64::from(e.layers) * u64::from(e.count) * e.each)
    }

    /// The number of all parameters.
    pub fn parameters(&self) -> u64 {
        self.dense_parameters() + self.expert_parameters() + self.embedding
    }

    /// Parameters that a token is multiplied with.
    pub fn active_parameters(&self) -> u64 {
        let taken = self.experts.map_or(0, |e| u64::from(e.layers) * u64::from(e.taken) * e.each);
        self.dense_parameters() + taken + self.logits
    }

    /// Floating-point operations of a token in the forward pass in a sequence of this length: two for each parameter,
    /// and attention to half of the sequence on average. Backward is twice as much.
    pub fn forward(&self, sequence: u32) -> f64 {
        let attention = 2.0 * f64::from(sequence) * f64::from(self.heads) * f64::from(self.layers);
        2.0 * self.active_parameters() as f64 + attention
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of parameters as printed, in billions: all, and those used by a token (vectors into tokens
    /// included).
    #[test]
    fn parameters_are_those_that_are_printed() {
        for (name, all, active) in [
            ("llama3-8b", 8.03, None),
            ("llama3-70b", 70.6, None),
            ("llama3-405b", 405.8, None),
            ("gpt3-175b", 174.6, None),
            ("gpt-1t", 1008.0, None),
            ("mixtral-8x7b", 46.7, Some(12.9)),
            ("deepseek-v3", 671.0, Some(37.0)),
        ] {
            let model = MODELS.get(name).expect("a model");
            let near = |found: u64, printed: f64| (found as f64 / 1e9 / printed - 1.0).abs() < 0.01;
            assert!(near(model.parameters(), all), "{name}: {}", model.parameters());
            if let Some(active) = active {
                // Printed numbers count the embedding, too.
                let found = model.active_parameters() + model.embedding - model.logits;
                assert!((found as f64 / 1e9 / active - 1.0).abs() < 0.02, "{name}: {found}");
            }
        }
    }

    /// Bytes that a layer keeps of a token, over all layers (arXiv 2505.09343, table 1).
    #[test]
    fn kept_bytes_are_those_that_are_printed() {
        for (name, bytes) in [("llama3-405b", 516_096), ("deepseek-v3", 70_272)] {
            let model = MODELS.get(name).expect("a model");
            assert_eq!(2 * model.layers * model.kept, bytes);
        }
    }

    /// Six operations for each parameter and token, forward and backward; attention adds 2 L s h on average forward.
    #[test]
    fn operations_are_six_for_each_parameter() {
        let model = MODELS.get("llama3-405b").expect("a model");
        let all = 3.0 * model.forward(0);
        let by_hand = 6.0 * (405.8e9 - 128_256.0 * 16_384.0);
        assert!((all / by_hand - 1.0).abs() < 0.002, "{all} {by_hand}");
        assert!(model.forward(131_072) > 1.5 * model.forward(8192));
    }
}
