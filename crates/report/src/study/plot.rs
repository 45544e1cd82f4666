//! Pictures of a study: lines, bars or a heat map, chosen from the shape of its table.

mod choice;
mod dimension;
mod draw;
mod options;
mod points;
mod selection;
#[cfg(test)]
mod tests;
mod unit;

use darkfiber_scenario::Error;

pub use self::options::{PlotOptions, Shape};

use self::choice::Choice;
use self::points::Points;
use self::selection::Selection;
use super::StudyResult;

/// Draws the picture of a study.
///
/// Rows that differ in their seed only are one point: their mean, with its confidence interval of 95 % by Student's t. The axes that
/// are neither `x` nor `by` have a panel for each combination of their values.
///
/// # Errors
/// If there is no such axis, column, question or value, with those that are close; if no axis varies, or if there would be too many
/// panels or colours, with the axes to choose from.
pub fn picture(result: &StudyResult<'_>, options: &PlotOptions) -> Result<String, Error> {
    let selection = Selection::of(result, options)?;
    let choice = Choice::of(&selection, options)?;
    let points = Points::of(&selection, &choice);
    let title = match &selection.of_alone {
        Some(of) => format!("{}: {of}", result.title),
        None => result.title.to_owned(),
    };
    Ok(match choice.shape {
        Shape::Map => draw::heat_map(title, &selection, &choice, &points).svg(),
        Shape::Lines | Shape::Bars => draw::chart(title, &selection, &choice, &points).svg(),
    })
}
