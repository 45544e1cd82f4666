//! Charts: panels of lines or bars on common axes, and tables whose cells are coloured by their values.
//!
//! Callers fill in a [`Chart`] or a [`HeatMap`]; nothing here depends on their content.

mod bars;
mod colours;
mod groups;
mod heat;
mod legend;
mod lines;
mod panel;
mod picture;
mod scale;
mod value;

pub(crate) use colours::colour;
pub(crate) use heat::{HeatCell, HeatKey, HeatMap, HeatTable};
pub(crate) use scale::Scale;
pub(crate) use value::{Block, Chart, Horizontal, Mark, Measure, Spread};
