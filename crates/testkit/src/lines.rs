//! What is printed, one thing a line.

use std::fmt::{Display, Write as _};

/// Each of the items on a line of its own.
pub fn lines<T: Display>(items: &[T]) -> String {
    items.iter().fold(String::new(), |mut text, item| {
        let _ = writeln!(text, "{item}");
        text
    })
}
