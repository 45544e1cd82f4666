//! A figure is taken from what a command printed, or from its time.

use regex_lite::Regex;
use serde::Deserialize;

/// Where the figure of a command is.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Figure {
    /// A JSON pointer into the output.
    Json(String),
    /// A regular expression for the output, its last match: the first group is the figure, a second one its unit or prefix (`ms`, `M`).
    Regex(String),
    /// Seconds of the process and of all that it started.
    Time(Clock),
}

/// The clock of [`Figure::Time`].
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Clock {
    /// From start to end.
    Wall,
    /// Of the processors, user and system.
    Cpu,
}

/// What a command left: its output and its times.
#[derive(Debug, Default)]
pub(crate) struct Finished {
    /// Standard output.
    pub(crate) out: String,
    /// Wall time in seconds.
    pub(crate) wall: f64,
    /// Processor time in seconds.
    pub(crate) cpu: f64,
}

impl Figure {
    /// Takes the figure.
    ///
    /// # Errors
    /// If the output has none; with what was looked for, and the end of the output.
    pub(crate) fn of(&self, finished: &Finished) -> Result<f64, String> {
        match self {
            Self::Time(Clock::Wall) => Ok(finished.wall),
            Self::Time(Clock::Cpu) => Ok(finished.cpu),
            Self::Json(pointer) => {
                let begin = finished.out.find('{').unwrap_or_default();
                let value: serde_json::Value = serde_json::from_str(&finished.out[begin..])
                    .map_err(|e| format!("the output is not JSON: {e}{}", end(&finished.out)))?;
                let found = value.pointer(pointer).and_then(serde_json::Value::as_f64);
                found.ok_or_else(|| {
                    format!("the output has no number at {pointer}{}", end(&finished.out))
                })
            }
            Self::Regex(pattern) => {
                let regex = Regex::new(pattern).map_err(|e| format!("`{pattern}`: {e}"))?;
                let found = regex.captures_iter(&finished.out).last();
                let found = found.ok_or_else(|| {
                    format!("nothing in the output matches `{pattern}`{}", end(&finished.out))
                })?;
                let digits = found.get(1).ok_or_else(|| format!("`{pattern}` has no group"))?;
                let value: f64 = digits
                    .as_str()
                    .replace(',', "")
                    .parse()
                    .map_err(|_| format!("`{}` is not a number", digits.as_str()))?;
                Ok(value * found.get(2).map_or(Ok(1.0), |unit| factor(unit.as_str()))?)
            }
        }
    }
}

/// The factor of a unit of time, or of a prefix.
fn factor(unit: &str) -> Result<f64, String> {
    Ok(match unit {
        "" | "s" => 1.0,
        "ns" => 1e-9,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return Err(format!("`{unit}` is no unit: ns, us, ms, s, k, M or G is expected")),
    })
}

/// The last lines of an output, for a message.
fn end(out: &str) -> String {
    let lines: Vec<&str> = out.trim_end().lines().collect();
    if lines.is_empty() {
        return "; it printed nothing".to_owned();
    }
    format!("; it ends with:\n{}", lines[lines.len().saturating_sub(5)..].join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(figure: &Figure, out: &str) -> Result<f64, String> {
        figure.of(&Finished { out: out.to_owned(), wall: 2.0, cpu: 1.5 })
    }

    #[test]
    fn figures_are_found() {
        let json = Figure::Json("/routes/0/seconds".to_owned());
        assert_eq!(of(&json, "note\n{\"routes\":[{\"seconds\":0.25}]}"), Ok(0.25));
        let regex = Figure::Regex("([0-9.,]+) ([KMG]?)item/s".to_owned());
        assert_eq!(of(&regex, "1 item/s, 1,500.5 Kitem/s"), Ok(1_500_500.0));
        assert_eq!(of(&Figure::Time(Clock::Cpu), ""), Ok(1.5));
        assert_eq!(of(&Figure::Time(Clock::Wall), ""), Ok(2.0));
    }

    #[test]
    fn messages_say_what_was_looked_for() {
        let regex = Figure::Regex("took ([0-9]+)".to_owned());
        let error = of(&regex, "one\ntwo\n").expect_err("no figure");
        assert_eq!(error, "nothing in the output matches `took ([0-9]+)`; it ends with:\none\ntwo");
        let json = Figure::Json("/a".to_owned());
        assert!(of(&json, "{}").expect_err("no figure").contains("no number at /a"));
        assert!(of(&json, "").expect_err("no figure").contains("it printed nothing"));
    }
}
