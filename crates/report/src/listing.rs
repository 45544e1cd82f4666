//! Lists of components: the output of `list` and of `reproduce` without experiments.

use serde::{Serialize, Serializer};

use crate::model::{Listed, ListedCell};
use crate::style::Style;
use crate::table;
use crate::{Report, comma};

/// A heading and rows, the first column being the name.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    /// The heading of each column.
    pub heading: &'a [&'a str],
    /// The rows, as many cells as the heading has.
    pub rows: &'a [Vec<String>],
    /// Columns that people see, from the first; programs get all.
    pub shown: usize,
    /// Headings of columns of numbers, which are numbers in JSON, and stand at the right for people.
    pub numbers: &'a [&'a str],
    /// Text for people instead of the table.
    pub text: Option<String>,
}

impl<'a> Listing<'a> {
    /// All columns of a table.
    pub fn of(heading: &'a [&'a str], rows: &'a [Vec<String>]) -> Self {
        Self { heading, rows, shown: heading.len(), numbers: &[], text: None }
    }
}

impl Report for Listing<'_> {
    fn text(&self, style: Style) -> String {
        if let Some(text) = &self.text {
            return text.clone();
        }
        let rows: Vec<Vec<String>> = self.rows.iter().map(|r| r[..self.shown].to_vec()).collect();
        let shown = &self.heading[..self.shown];
        let right: Vec<usize> =
            (0..shown.len()).filter(|&i| self.numbers.contains(&shown[i])).collect();
        table::plain(shown, &rows, &right, style)
    }

    fn csv(&self) -> String {
        let heading = self.heading.iter().map(|&h| h.to_owned()).collect();
        comma::text(&[&[heading], self.rows].concat())
    }
}

impl Serialize for Listing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items = self.rows.iter().map(|row| {
            let cells = self.heading.iter().zip(row);
            cells.map(|(h, text)| (h.replace(' ', "_"), self.cell(h, text))).collect()
        });
        Listed { items: items.collect() }.serialize(serializer)
    }
}

impl Listing<'_> {
    fn cell(&self, heading: &str, text: &str) -> ListedCell {
        if !self.numbers.contains(&heading) {
            return ListedCell::Text(text.to_owned());
        }
        let number = || text.parse().map_or(ListedCell::Unknown, ListedCell::Number);
        text.parse().map_or_else(|_| number(), ListedCell::Count)
    }
}
