//! Times as people and JSON write them.

use std::time::SystemTime;

/// A time in UTC, to the second: `2026-11-21T20:19:59Z` (RFC 3339). Times before 1970 are given as 1970.
pub fn rfc3339(time: SystemTime) -> String {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of a day counted from 1970-01-01, in the Gregorian calendar. A year is taken to
/// begin in March, so that the leap day is its last (H. Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", civil_from_days).
fn date(days_since_1970: u64) -> (u64, u64, u64) {
    const DAYS_TO_1970: u64 = 719_468; // from 0000-03-01
    const DAYS_IN_400_YEARS: u64 = 146_097;
    let days = days_since_1970 + DAYS_TO_1970;
    let (era, day_of_era) = (days / DAYS_IN_400_YEARS, days % DAYS_IN_400_YEARS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let (month, years_more) = match month_from_march {
        ..10 => (month_from_march + 3, 0),
        _ => (month_from_march - 9, 1),
    };
    (era * 400 + year_of_era + years_more, month, day)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(seconds: u64) -> String {
        rfc3339(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
    }

    #[test]
    fn known_times() {
        // From GNU date: date -u -d @SECONDS +%FT%TZ
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_709_251_199), "2024-02-29T23:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
        assert_eq!(at(1_795_292_399), "2026-11-21T20:19:59Z");
    }

    #[test]
    fn days_follow_one_another() {
        let mut previous = date(0);
        for day in 1..200_000 {
            let next = date(day);
            let in_order = next == (previous.0, previous.1, previous.2 + 1)
                || next == (previous.0, previous.1 + 1, 1) && previous.2 >= 28
                || next == (previous.0 + 1, 1, 1) && (previous.1, previous.2) == (12, 31);
            assert!(in_order, "{previous:?} then {next:?}");
            previous = next;
        }
    }
}
