//! Columns of numbers in tables with a heading.

use std::path::Path;

use crate::tables::counted;
use crate::{Diagnostics, ReadError};

/// Reads some columns of a table whose cells are separated by commas, semicolons or tabs; by their headings, small letters or
/// not. Rows in which one of them is no number are reported and left out.
///
/// # Errors
/// If it is no table, or has no such column.
pub fn columns(
    text: &str,
    path: &Path,
    names: &[&str],
) -> Result<(Vec<Vec<f64>>, Diagnostics), ReadError> {
    let first = text.lines().find(|l| !l.trim().is_empty()).unwrap_or_default();
    let count = |of: u8| first.bytes().filter(|&b| b == of).count();
    let delimiter = [b',', b';', b'\t'].into_iter().max_by_key(|&d| count(d)).unwrap_or(b',');
    let refused = |what: String, hint: String| {
        ReadError::not_such(path, what, "a table with a heading", &hint)
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let heading: Vec<String> = match reader.headers() {
        Ok(heading) => heading.iter().map(|h| h.trim_start_matches('#').to_owned()).collect(),
        Err(e) => return Err(refused(e.to_string(), String::new())),
    };
    let mut places = Vec::new();
    for name in names {
        let place = heading.iter().position(|h| h.eq_ignore_ascii_case(name)).ok_or_else(|| {
            let known = format!("its columns are {}", heading.join(", "));
            refused(format!("there is no column '{name}'"), known)
        })?;
        places.push(place);
    }
    let mut found = Diagnostics::default();
    let mut columns = vec![Vec::new(); names.len()];
    let (mut left_out, mut at) = (0usize, 0);
    for record in reader.records() {
        let Ok(record) = record else {
            left_out += 1;
            continue;
        };
        let number = |&i: &usize| record.get(i)?.parse::<f64>().ok().filter(|x| x.is_finite());
        let row: Option<Vec<f64>> = places.iter().map(number).collect();
        if let Some(row) = row {
            for (column, x) in columns.iter_mut().zip(row) {
                column.push(x);
            }
        } else {
            left_out += 1;
            if at == 0 {
                at = record.position().map_or(0, |p| p.line() as usize);
            }
        }
    }
    if left_out > 0 {
        let rows = counted(left_out, "row has", "rows have");
        found.warn(at, format!("{rows} no number in a column that counts"), "left out");
    }
    Ok((columns, found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let text = "#Load;x; Time\n1;a;2.5\n3;b;\n-1e3;c;4\n";
        let (columns, found) = columns(text, Path::new("t"), &["time", "load"]).expect("a table");
        assert_eq!(columns, [vec![2.5, 4.0], vec![1.0, -1000.0]]);
        assert_eq!((found.0.len(), found.0[0].line), (1, 3));
        let refused = super::columns(text, Path::new("t"), &["speed"]).expect_err("no such column");
        assert!(refused.to_string().contains("'speed'"), "{refused}");
        assert!(super::columns("", Path::new("t"), &["x"]).is_err());
    }
}
