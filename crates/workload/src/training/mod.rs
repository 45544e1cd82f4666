//! Training of language models: computation and traffic of a step, by the shape of the model and its division over GPUs.
//!
//! [`Model`] is the published shape; [`Layout`] maps parts to ranks; [`pipeline`] gives the order in which a stage of the
//! pipeline works. Nothing here depends on a network.

mod layout;
mod model;
mod pipeline;

pub use layout::{Layout, LayoutError, Order};
pub use model::{Experts, MODELS, Model};
pub use pipeline::{Work, pipeline};
