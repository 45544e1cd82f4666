//! JSON: one object, indented, with a line end.

use serde::Serialize;

/// The text of a result.
///
/// # Panics
/// Never for the types of [`model`](crate::model): their maps have string keys.
pub fn text(result: &(impl Serialize + ?Sized)) -> String {
    let mut text = serde_json::to_string_pretty(result).expect("results have string keys");
    text.push('\n');
    text
}
