//! Days of the calendar.

/// "21 November 2026", of seconds since 1970 (UTC). After Howard Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`: years that begin in March have their leap day at their end.
pub(super) fn day(seconds: u64) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    // Days since 0000-03-01; an era is the 146,097 days of 400 years.
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // March is 0.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = year_of_era + era * 400 + u64::from(month >= 10);
    let name = MONTHS[usize::try_from((month + 2) % 12).expect("less than 12")];
    format!("{day} {name} {year}")
}

#[cfg(test)]
mod tests {
    use super::day;

    /// Seconds from `date -u -d DATE +%s`.
    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(day(0), "1 January 1970");
        assert_eq!(day(951_782_400), "29 February 2000");
        assert_eq!(day(951_868_799), "29 February 2000");
        assert_eq!(day(951_868_800), "1 March 2000");
        assert_eq!(day(1_795_305_600), "22 November 2026");
        assert_eq!(day(4_102_444_799), "31 December 2099");
    }
}
