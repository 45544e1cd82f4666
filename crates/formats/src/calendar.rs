//! Dates of the Gregorian calendar as Unix times.

/// The Unix time of `2011-04-05T12:13:14` (a blank instead of `T`; without seconds; parts of seconds; UTC unless it
/// ends in a zone), or of the beginning of `2011-04-05`; `None` if it is something else.
pub fn read(text: &str) -> Option<i64> {
    let digits = |from: usize, to: usize| -> Option<i64> {
        let part = text.get(from..to)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok())?
    };
    let is = |at: usize, marks: &[u8]| text.as_bytes().get(at).is_some_and(|b| marks.contains(b));
    if !(is(4, b"-") && is(7, b"-")) {
        return None;
    }
    let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
    if text.len() == 10 {
        return seconds(year, month, day, 0);
    }
    if !(is(10, b"T ") && is(13, b":")) {
        return None;
    }
    let (hour, minute) = (digits(11, 13)?, digits(14, 16)?);
    let (second, mut rest) =
        if is(16, b":") { (digits(17, 19)?, text.get(19..)?) } else { (0, text.get(16..)?) };
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = fraction.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    seconds(year, month, day, hour * 3600 + minute * 60 + second)
        .filter(|_| hour < 24 && minute < 60 && second <= 60)
        .and_then(|t| Some(t - zone(rest)?))
}

/// Seconds east of Greenwich: ``, `Z`, `+01:00`, `-0500`, `+01`.
fn zone(text: &str) -> Option<i64> {
    if text.is_empty() || text == "Z" {
        return Some(0);
    }
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest.replace(':', "")),
        ("-", rest) => (-1, rest.replace(':', "")),
        _ => return None,
    };
    if !matches!(digits.len(), 2 | 4) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let hours: i64 = digits.get(..2)?.parse().ok()?;
    let minutes: i64 = digits.get(2..)?.parse().unwrap_or(0);
    Some(sign * (hours * 3600 + minutes * 60))
}

/// Unix time of a moment of a day of the Gregorian calendar; `None` if there is no such day.
pub(crate) fn seconds(year: i64, month: i64, day: i64, second_of_day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=length).contains(&day) || !(0..=9999).contains(&year) {
        return None;
    }
    // Years that begin in March end with the leap day.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (y.div_euclid(400), y.rem_euclid(400));
    let day_of_year = (153 * m + 2) / 5 + day - 1;
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + day_of_year - 719_468;
    Some(days * 86_400 + second_of_day)
}

/// A Unix time as `2011-04-05T12:13:14`, in UTC.
pub fn text(unix: i64) -> String {
    let (days, rest) = (unix.div_euclid(86_400), unix.rem_euclid(86_400));
    // Years that begin in March end with the leap day.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let m = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * m + 2) / 5 + 1;
    let month = if m < 10 { m + 3 } else { m - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn days_begin_at_midnight() {
        assert_eq!(read("2011-04-05"), read("2011-04-05T00:00"));
        assert_eq!(read("2011-04-5"), None);
        assert_eq!(text(951_868_799), "2000-02-29T23:59:59");
        assert_eq!(text(-1), "1969-12-31T23:59:59");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(unix in -62_000_000_000i64..253_000_000_000) {
            prop_assert_eq!(read(&text(unix)), Some(unix));
        }
    }
}
