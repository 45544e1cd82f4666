//! Training of language models: what a step computes and sends, by the shape of the model and how it is divided over GPUs.
//!
//! [`Model`] is the published shape; [`Layout`] says which ranks hold which part; [`pipeline`] says in which order a stage of the
//! pipeline works. Nothing here knows a network.

mod layout;
mod model;
mod pipeline;

pub use layout::{Layout, LayoutError, Order};
pub use model::{Experts, MODELS, Model};
pub use pipeline::{Work, pipeline};
