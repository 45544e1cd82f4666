//! The parameters of a training step: keys of a spec as bytes and times of a rank.

use darkfiber_fabric::{Params, SpecError};

use crate::traffic::values::{count, size};
use crate::traffic::{Ranks, TrafficError};
use crate::training::{Layout, LayoutError, MODELS, Model, Order};

/// The parameters of a training step.
pub(super) struct Step {
    pub(super) layout: Layout,
    pub(super) parts: u32,
    pub(super) batches: u32,
    /// Ranks of a host.
    pub(super) per_node: u32,
    pub(super) zero: u32,
    /// Whether the forward pass is recomputed in the backward pass.
    pub(super) again: bool,
    /// Time of a part and microbatch forward and backward, in picoseconds.
    pub(super) forward: u64,
    pub(super) backward: u64,
    /// Bytes, by default of a part and microbatch.
    pub(super) sizes: Sizes,
    /// Picoseconds a byte inside a host.
    pub(super) nvlink: f64,
}

/// Bytes that a rank has to do with.
pub(super) struct Sizes {
    /// Bytes between stages.
    pub(super) activation: u64,
    /// Of which all Allreduces of tensor parallel ranks are, forward and backward.
    pub(super) tensor: [u64; 2],
    /// Keys and values of the whole sequence.
    pub(super) context: u64,
    /// To all experts, and back from them.
    pub(super) experts: [u64; 2],
    /// Parameters of a part, and of its experts: their number.
    pub(super) parameters: [u64; 2],
}

/// Microbatches of all parts and ranks together, each of which takes some operations of a schedule.
const MOST_PIECES: u64 = 1 << 26;
/// Tokens of a microbatch.
const MOST_TOKENS: u64 = 1_000_000_000;
/// Picoseconds that a rank may take: 1000 hours, so that clocks do not run over.
const LONGEST: f64 = 3.6e18;

/// A whole number of bytes or picoseconds.
#[expect(clippy::cast_sign_loss, reason = "none is below zero")]
pub(super) fn whole(x: f64) -> u64 {
    x.round() as u64
}

impl Step {
    /// Reads a spec.
    ///
    /// # Errors
    /// If a value cannot be, or ranks do not divide.
    pub(super) fn read(params: &Params, job: &Ranks, n: u32) -> Result<Self, TrafficError> {
        // The model, and how it is divided.
        let names = || format!("one of {}", MODELS.names().collect::<Vec<_>>().join(", "));
        let model = MODELS
            .get(params.raw("model").unwrap_or_default())
            .map_err(|_| params.bad("model", names()))?;
        let mut model = *model;
        if let Some(layers) = params.get("layers", 1..=10_000)? {
            shorten(&mut model, layers);
        }
        let per_node = job.per_node.clamp(1, n);
        let part = |key, default| Ok::<u32, SpecError>(params.get(key, 1..=n)?.unwrap_or(default));
        let divided =
            [part("tp", per_node.min(8))?, part("cp", 1)?, part("pp", 1)?, part("ep", 1)?];
        let order = match params.raw("order").unwrap_or("data") {
            "data" => Order::DataFirst,
            "pipeline" => Order::PipelineFirst,
            _ => return Err(params.bad("order", "data or pipeline").into()),
        };
        let layout = Layout::new(n, divided, order).map_err(|e| match e {
            LayoutError::Ranks { ranks, product } => TrafficError::Ranks {
                traffic: "train",
                needs: "a multiple of tp x cp x pp",
                ranks,
                hint: format!("take a multiple of {product}, or other parts"),
            },
            LayoutError::Experts { copies, .. } => {
                params.bad("ep", format!("a divisor of cp x dp = {copies}")).into()
            }
        })?;
        // The shape of a step, and its validity.
        let stages = layout.stages;
        let parts = params.get("parts", 1..=256)?.unwrap_or(1);
        let batches = count(params, "batches", 2 * stages)?;
        if parts > 1 && !batches.is_multiple_of(stages) {
            let want = format!("a multiple of pp = {stages}, as parts is {parts}");
            return Err(params.bad("batches", want).into());
        }
        if model.layers < stages {
            let want = format!("at most {}: the layers of the model", model.layers);
            return Err(params.bad("pp", want).into());
        }
        if model.layers < stages * parts {
            let want = format!("at most {} with pp = {stages}: the layers", model.layers / stages);
            return Err(params.bad("parts", want).into());
        }
        let experts = model.experts.map_or(1, |e| e.count);
        if !experts.is_multiple_of(layout.experts) {
            let want = format!("a divisor of {experts}, the experts of a layer");
            return Err(params.bad("ep", want).into());
        }
        let pieces = u64::from(batches) * u64::from(parts);
        if pieces * u64::from(n) > MOST_PIECES {
            let most = MOST_PIECES / u64::from(n) / u64::from(parts);
            let want =
                format!("at most {most} on {n} ranks with parts = {parts}: repeat steps instead");
            return Err(params.bad("batches", want).into());
        }
        let zero = params.get("zero", 0..=3)?.unwrap_or(1);
        if zero == 2 {
            return Err(params.bad("zero", "0, 1 or 3; 2 sends what 1 does").into());
        }
        let again = params.get("recompute", 0..=1)?.unwrap_or(0);
        let micro = params.get("micro", 1..=100_000)?.unwrap_or(1);
        let sequence = params.get("sequence", 1..=100_000_000)?.unwrap_or(model.sequence);
        if u64::from(micro) * u64::from(sequence) > MOST_TOKENS {
            return Err(params.bad("micro", "fewer: a microbatch has at most 10^9 tokens").into());
        }
        let tflops = operations(params)?;
        let nvlink = size(params, "nvlink", 370_000_000_000)?;
        if nvlink < 1_000_000 {
            return Err(params.bad("nvlink", "at least 1MB, a second").into());
        }
        let nvlink = 1e12 / nvlink as f64;

        // Shares of a rank.
        let [t, c] = [f64::from(layout.tensor), f64::from(layout.context)];
        let pieces = f64::from(stages) * f64::from(parts);
        let layers = f64::from(model.layers) / pieces;
        let tokens = f64::from(micro) * f64::from(sequence) / c;
        let vector = 2.0 * f64::from(model.hidden);
        let compute = tokens * model.forward(sequence) / (t * pieces) / tflops;
        let reduced = |times: f64| whole(times * layers * tokens * vector);
        let of_experts = |bytes: u32| {
            model.experts.map_or(0, |e| {
                let layers = f64::from(e.layers) / pieces;
                let each = f64::from(e.taken) * f64::from(model.hidden) * f64::from(bytes);
                whole(layers * tokens * each / t)
            })
        };
        let shared = (model.dense_parameters() + model.embedding) as f64 / (t * pieces);
        let experts = model.expert_parameters() as f64 / (t * pieces * f64::from(layout.experts));
        let sizes = Sizes {
            activation: whole(tokens * vector / t),
            tensor: [reduced(2.0), reduced(2.0 + 2.0 * f64::from(again))],
            context: whole(2.0 * f64::from(model.kept) * layers * tokens * c / t),
            experts: [of_experts(model.experts.map_or(2, |e| e.sent)), of_experts(2)],
            parameters: [whole(shared), whole(experts)],
        };
        // Upper bound of the traffic inside a host: each exchange of a piece three times, parameters by 8 bytes.
        let exchanged = sizes.tensor.iter().chain(&sizes.experts).sum::<u64>() + sizes.context;
        let inside = 3.0 * exchanged as f64 + 8.0 * sizes.parameters.iter().sum::<u64>() as f64;
        let piece = compute * (3.0 + f64::from(again)) + 2.0 * inside * nvlink;
        let pieces = f64::from(batches) * f64::from(parts);
        if piece * pieces * f64::from(count(params, "repeat", 1)?) > LONGEST {
            let want = "more, or more nvlink: a run takes at most 1000 hours";
            return Err(params.bad("tflops", want).into());
        }
        Ok(Self {
            layout,
            parts,
            batches,
            per_node,
            zero,
            again: again == 1,
            forward: whole(compute),
            backward: whole(compute * (2.0 + f64::from(again))),
            sizes,
            nvlink,
        })
    }

    /// Whether all of a group are on one host.
    pub(super) fn is_inside(&self, group: &[u32]) -> bool {
        group.iter().all(|r| r / self.per_node == group[0] / self.per_node)
    }
}

/// The same model with fewer or more layers: as many dense ones before the experts as there were.
fn shorten(model: &mut Model, layers: u32) {
    if let Some(experts) = &mut model.experts {
        let dense = model.layers - experts.layers;
        experts.layers = layers.saturating_sub(dense);
    }
    model.layers = layers;
}

/// Operations that a GPU does in a picosecond.
fn operations(params: &Params) -> Result<f64, SpecError> {
    let Some(text) = params.raw("tflops") else { return Ok(500.0) };
    match text.parse::<f64>() {
        Ok(value) if (0.001..=1e6).contains(&value) => Ok(value),
        _ => Err(params.bad("tflops", "10^12 operations a second, from 0.001 to 1000000")),
    }
}
