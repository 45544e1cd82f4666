//! Presets: the machines that the literature measures, by name.
//!
//! Each states what its paper prints, where that contradicts itself, and what was decided.

mod build;
mod machines;
mod missing;
mod preset;
mod trees;

pub use preset::{PRESETS, Preset};
