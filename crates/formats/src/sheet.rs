//! Tables with a heading whose cells are separated by commas, semicolons or tabs.

/// The separator of the cells of a heading.
pub(crate) fn delimiter(heading: &str) -> u8 {
    let count = |of: u8| heading.bytes().filter(|&b| b == of).count();
    [b'\t', b';', b','].into_iter().max_by_key(|&d| count(d)).unwrap_or(b',')
}

/// The first line that is not empty.
pub(crate) fn heading(text: &str) -> &str {
    text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default()
}

/// Reads such a table; lines may have more or fewer cells than the heading.
pub(crate) fn reader(text: &str) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(delimiter(heading(text))).flexible(true).trim(csv::Trim::All);
    builder
}

/// The line of a row, from 1. What comes before it, the end of a line of two bytes and lines without anything, is not of it.
pub(crate) fn line(text: &str, record: &csv::StringRecord) -> usize {
    let Some(position) = record.position() else { return 0 };
    let bytes = text.as_bytes().get(position.byte() as usize..).unwrap_or_default();
    let ends = bytes.iter().take_while(|&&b| b == b'\n' || b == b'\r');
    position.line() as usize + ends.filter(|&&b| b == b'\n').count()
}

/// Small letters and digits of a heading.
pub(crate) fn plain(heading: &str) -> String {
    let letters = heading.chars().filter(char::is_ascii_alphanumeric);
    letters.collect::<String>().to_ascii_lowercase()
}
