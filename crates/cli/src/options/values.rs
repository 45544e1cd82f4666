//! Parsers of option values.

use crate::failure::Failure;

/// Parses a positive number.
pub(crate) fn above_zero(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|&p: &f64| p > 0.0 && p.is_finite());
    number.ok_or_else(|| "a number above 0 is expected".to_owned())
}

/// Parses the maximum size of an input that is read.
pub(crate) fn input_size(text: &str) -> Result<u64, String> {
    let bytes = darkfiber_workload::quantity::bytes(text).map_err(|e| e.to_string())?;
    if bytes == 0 { Err("nothing can be read with 0 bytes".to_owned()) } else { Ok(bytes) }
}

/// A number of hosts.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    text.trim()
        .parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| "a number from 1 on is expected".to_owned())
}

/// A share in percent.
pub(crate) fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok().filter(|p| (0.0..=100.0).contains(p));
    number.ok_or_else(|| "a number from 0 to 100 is expected".to_owned())
}

/// Refuses a name that is given twice, since results are identified by names.
pub(crate) fn distinct<'a>(
    what: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), Failure> {
    let mut seen = Vec::new();
    for name in names {
        if seen.contains(&name) {
            return Err(Failure::usage(format!("{what} {name} is given twice")));
        }
        seen.push(name);
    }
    Ok(())
}
