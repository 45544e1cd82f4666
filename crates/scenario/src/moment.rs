//! Times and durations as people type them.

use darkfiber_formats::calendar;

/// A moment in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogMoment {
    /// A Unix time in seconds.
    At(i64),
    /// Seconds after the first job of the log began.
    After(i64),
}

impl LogMoment {
    /// The moment as Unix time in a log whose first job started at `first`.
    pub fn of(self, first: i64) -> i64 {
        match self {
            Self::At(time) => time,
            Self::After(seconds) => first.saturating_add(seconds),
        }
    }
}

/// From here on a number alone is a Unix time, as in logs: from 1973 on.
const UNIX: i64 = 100_000_000;
/// From here on a number alone is no count of seconds: `20240331` is meant to be a date.
const UNCLEAR: i64 = 10_000_000;

/// Parses a date (`2013-01-15`, `2013-01-15T12:00`), a Unix time, or a duration after the start of the first job (`10d`).
///
/// # Errors
/// The expected forms, if it is neither.
pub fn when(text: &str) -> Result<LogMoment, String> {
    let found = match text.trim().parse::<i64>() {
        Ok(number) if number >= UNIX => Some(LogMoment::At(number)),
        Ok(number) if number >= UNCLEAR => None,
        _ => calendar::read(text)
            .map(LogMoment::At)
            .or_else(|| seconds(text).ok().map(LogMoment::After)),
    };
    found.ok_or_else(|| {
        "a date (2013-01-15, 2013-01-15T12:00), a Unix time, or a time after the first job began (10d, 36h) is \
         expected"
            .to_owned()
    })
}

/// Parses `600`, `600s`, `10min`, `2h`, `1.5d`: at least a second.
///
/// # Errors
/// The expected forms, if it is invalid.
pub fn duration(text: &str) -> Result<i64, String> {
    seconds(text)
        .and_then(|s| if s > 0 { Ok(s) } else { Err("more than 0 is expected".to_owned()) })
}

fn seconds(text: &str) -> Result<i64, String> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = match unit {
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        _ => f64::NAN,
    };
    let value = number.trim().parse().unwrap_or(f64::NAN) * unit;
    // A million years are enough for any history.
    if (0.0..3e13).contains(&value) {
        Ok(value.round() as i64)
    } else {
        Err("a number with s, min, h, d or w is expected: 10min".to_owned())
    }
}

/// A moment for people: a date where it is a Unix time (logs that count from their beginning do not last for years).
pub fn text(time: i64) -> String {
    if time >= UNIX { calendar::text(time) } else { format!("second {time}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_people_type() {
        assert_eq!(when("1711850400"), Ok(LogMoment::At(1_711_850_400)));
        assert_eq!(when("7200"), Ok(LogMoment::After(7200)));
        assert!(when("20240331").is_err(), "neither seconds nor a date");
        assert_eq!(duration("10min"), Ok(600));
        assert_eq!(duration("1.5 h"), Ok(5400));
        assert_eq!(duration("90"), Ok(90));
        for text in ["", "0", "-5", "10 parsec", "min", "1e99d", "nan"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(when("10d"), Ok(LogMoment::After(864_000)));
        assert_eq!(when("0"), Ok(LogMoment::After(0)));
        assert_eq!(when("1970-01-02T00:00"), Ok(LogMoment::At(86_400)));
        assert!(when("soon").is_err());
    }
}
