//! How a value is written for people: counts, sizes and times, and names that others chose.
//!
//! Knows numbers, units and characters. Knows nothing of what a value means, nor of a terminal: columns, colours and
//! locales are for the caller.

/// Text that others chose (names of processes, settings of theirs) as it can be shown: what could steer a
/// terminal, or turn the reading direction around, is written as an escape.
pub fn printable(text: &str) -> String {
    let steers = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A count with its thousands apart: `1 234 567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes in binary units with three significant digits: `1.50 MiB`.
pub fn bytes(number: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if number < 1024 {
        return format!("{number} B");
    }
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = number as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{} {}", significant(value), units[unit])
}

/// Nanoseconds in the unit that suits them, with three significant digits: `12.3 µs`.
pub fn time(nanoseconds: f64) -> String {
    let mut value = nanoseconds;
    for unit in ["ns", "µs", "ms"] {
        if value < 999.5 {
            return format!("{} {unit}", significant(value));
        }
        value /= 1000.0;
    }
    format!("{} s", significant(value))
}

/// Three significant digits of a number that is not negative.
fn significant(value: f64) -> String {
    if value >= 99.95 {
        format!("{value:.0}")
    } else if value >= 9.995 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_steer_no_terminal() {
        assert_eq!(printable("ssh-é (x)"), "ssh-é (x)");
        assert_eq!(
            printable("\u{1b}]0;x\u{7}\n\u{9b}1m\u{202e}"),
            r"\u{1b}]0;x\u{7}\u{a}\u{9b}1m\u{202e}"
        );
    }

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1 234 567");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.50 KiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
        assert_eq!(time(12.34), "12.3 ns");
        assert_eq!(time(999.9), "1.00 µs");
        assert_eq!(time(2.5e9), "2.50 s");
    }
}
