//! Dates as Unix times.

use jiff::Timestamp;
use jiff::civil::Time;
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

/// The Unix time of `2011-04-05T12:13:14` (a blank instead of `T`; without seconds; parts of seconds; UTC unless it
/// ends in a zone), or of the beginning of `2011-04-05`; `None` if it is something else.
pub fn read(text: &str) -> Option<i64> {
    // Other texts that jiff accepts may be the number or the name of a job.
    let mark = |at: usize, marks: &[u8]| text.as_bytes().get(at).is_some_and(|b| marks.contains(b));
    let short = text.len() == 10;
    if !(mark(4, b"-") && mark(7, b"-")) || !(short || mark(10, b"T ") && mark(13, b":")) {
        return None;
    }
    let pieces = Pieces::parse(text).ok().filter(|p| p.time_zone_annotation().is_none())?;
    let offset = pieces.to_numeric_offset().unwrap_or(Offset::UTC);
    let time = pieces.time().unwrap_or(Time::midnight());
    offset.to_timestamp(pieces.date().to_datetime(time)).ok().map(unix)
}

/// The Unix time of a date like `Jan  2 03:04:05 2015`, as UTC.
pub fn read_ctime(text: &str) -> Option<i64> {
    let time = jiff::fmt::strtime::parse("%b %d %H:%M:%S %Y", text).ok()?.to_datetime().ok()?;
    Offset::UTC.to_timestamp(time).ok().map(unix)
}

/// Unix seconds, rounded down.
fn unix(time: Timestamp) -> i64 {
    time.as_second() - i64::from(time.subsec_nanosecond() < 0)
}

/// A Unix time as `2011-04-05T12:13:14`, in UTC; the years end with 9999.
pub fn text(unix: i64) -> String {
    let most = if unix < 0 { Timestamp::MIN } else { Timestamp::MAX };
    let time = Timestamp::from_second(unix).unwrap_or(most);
    time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
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
        assert!(text(i64::MAX).starts_with("9999-12-") && text(i64::MIN).starts_with("-9999-01-"));
        assert_eq!(read("1969-12-31T23:59:59.5"), Some(-1));
        assert_eq!(read_ctime("Jan  2 03:04:05 2015"), read("2015-01-02T03:04:05"));
        assert_eq!((read_ctime("Foo  2 03:04:05 2015"), read_ctime("2 3")), (None, None));
        for other in
            ["20110405", "20110405T121314", "2011-04-05T12", "2011-04-05T12:13[Asia/Tokyo]"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(unix in -62_000_000_000i64..253_000_000_000) {
            prop_assert_eq!(read(&text(unix)), Some(unix));
        }
    }
}
