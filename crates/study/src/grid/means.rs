//! Means of a quantity over the cells of a point.

use super::row::Record;
use crate::MeanInterval;

/// Identity of a mean: the question, and its subject.
pub(super) type MeanKey<'r> = (&'r str, &'r str);

/// The values of a quantity in some cells, by question and by subject, in order of first appearance.
pub(super) fn values<'r>(records: &'r [Record], quantity: &str) -> Vec<(MeanKey<'r>, Vec<f64>)> {
    let mut all: Vec<(MeanKey<'r>, Vec<f64>)> = Vec::new();
    for answer in records.iter().flat_map(|record| &record.answers) {
        let Some(value) = answer.get(quantity).and_then(super::row::Value::number) else {
            continue;
        };
        let whose = (answer.question.as_str(), answer.of.as_str());
        match all.iter_mut().find(|(other, _)| *other == whose) {
            Some((_, values)) => values.push(value),
            None => all.push((whose, vec![value])),
        }
    }
    all
}

/// The means of a quantity over some cells.
pub(super) fn means<'r>(
    records: &'r [Record],
    quantity: &str,
    confidence: f64,
) -> Vec<(MeanKey<'r>, MeanInterval)> {
    let known =
        |(whose, values): (_, Vec<f64>)| Some((whose, MeanInterval::of(&values, confidence)?));
    values(records, quantity).into_iter().filter_map(known).collect()
}
