//! The meaning of a column, and the unit in which it is drawn.

use darkfiber_study::grid::QUESTIONS;

/// The column of the main value of a row.
const VALUE: &str = "value";

/// A column in the form in which it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unit {
    /// Name of the column.
    pub(super) column: String,
    /// Label of the axis: the column, with its unit.
    pub(super) label: String,
    /// Meaning of the column, in the words of its question; may be empty.
    pub(super) meaning: String,
    /// Factor by which values are multiplied.
    pub(super) factor: f64,
}

impl Unit {
    /// The unit of a column of a question, whose largest value is known: times get a unit in which they are short.
    /// `alone` is the subject of all rows, if there is one.
    pub(super) fn of(
        (question, column): (&str, &str),
        alone: Option<&str>,
        largest: f64,
        is_share: bool,
    ) -> Self {
        // A question that occurs twice has its parameters in its name.
        let name = question.split(':').next().unwrap_or_default();
        let known = QUESTIONS.get(name).ok();
        let columns = known.map_or(&[][..], |question| question.columns());
        let meaning = columns.iter().rfind(|(name, _)| *name == column);
        let mut meaning = meaning.map_or("", |(_, meaning)| *meaning).to_owned();
        let (label, factor) = if meaning.contains("in seconds") {
            let units = [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)];
            let fits = units.into_iter().find(|(_, factor)| largest * factor >= 1.0);
            let (unit, factor) = fits.unwrap_or(("s", 1.0));
            meaning = meaning.replace("in seconds", &format!("in {unit}"));
            (format!("{column}, {unit}"), factor)
        } else if is_share {
            (format!("{column}, share of cells"), 1.0)
        } else {
            // The subject of a value is more informative.
            let name = alone.filter(|_| column == VALUE).unwrap_or(column);
            (name.to_owned(), 1.0)
        };
        Self { column: column.to_owned(), label, meaning, factor }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit() {
        let unit = Unit::of(("runs", "run_mean"), None, 2.5e-5, false);
        assert_eq!((unit.label.as_str(), unit.factor), ("run_mean, us", 1e6));
        assert!(unit.meaning.starts_with("mean time of a run of the job, in us"), "{unit:?}");
        let count = Unit::of(("routes:x=1", "efi_max"), None, 2.5e-5, false);
        assert_eq!((count.label.as_str(), count.factor), ("efi_max", 1.0));
        let share = Unit::of(("routes", "deadlock_free"), None, 1.0, true);
        assert_eq!(share.label, "deadlock_free, share of cells");
        assert_eq!(Unit::of(("of later", "x"), Some("y"), 1.0, false).meaning, "");
        assert_eq!(Unit::of(("patterns", "value"), Some("ebb"), 1.0, false).label, "ebb");
    }
}
