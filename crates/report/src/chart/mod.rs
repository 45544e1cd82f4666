//! Charts: panels of lines or bars on common axes, and tables whose cells are coloured by what is in them.
//!
//! What draws fills in a [`Chart`] or a [`HeatMap`]; nothing here knows what is drawn.

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
