//! Presets: the machines that the literature measures, by name.
//!
//! Each gives the numbers that its paper prints, their contradictions, and our decisions.

mod build;
mod machines;
mod missing;
mod preset;
mod trees;

pub use preset::{PRESETS, Preset};
