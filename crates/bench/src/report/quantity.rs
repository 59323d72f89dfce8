//! Figures as people read them: three digits, a prefix, a unit.

/// A figure with its unit, as the results have it: `("s", 0.000594)` is `594 µs`.
pub(crate) fn readable(value: f64, unit: &str) -> String {
    match unit {
        "s" => time(value),
        "ns" => time(value / 1e9),
        "B/s" => format!("{}B/s", prefixed(value)),
        "B" => bytes(value),
        "1/s" if value >= 1e6 => format!("{}/s", prefixed(value)),
        "1/s" => format!("{} /s", grouped(value)),
        "1" => grouped(value),
        "" => format!("{} %", three_digits(value * 100.0)),
        other => format!("{} {other}", three_digits(value)),
    }
}

/// Memory and block lengths, which come in powers of two: `16 KiB`.
fn bytes(value: f64) -> String {
    match value {
        ..1024.0 => format!("{} B", three_digits(value)),
        1024.0..1_048_576.0 => format!("{} KiB", three_digits(value / 1024.0)),
        1_048_576.0..1_073_741_824.0 => format!("{} MiB", three_digits(value / 1_048_576.0)),
        _ => format!("{} GiB", three_digits(value / 1_073_741_824.0)),
    }
}

fn time(seconds: f64) -> String {
    match seconds.abs() {
        0.0 => "0 s".to_owned(),
        ..1e-6 => format!("{} ns", three_digits(seconds * 1e9)),
        1e-6..1e-3 => format!("{} µs", three_digits(seconds * 1e6)),
        1e-3..1.0 => format!("{} ms", three_digits(seconds * 1e3)),
        _ => format!("{} s", three_digits(seconds)),
    }
}

/// With a decimal prefix and a blank before it: `5.69 G`.
fn prefixed(value: f64) -> String {
    match value.abs() {
        ..1e3 => format!("{} ", three_digits(value)),
        1e3..1e6 => format!("{} k", three_digits(value / 1e3)),
        1e6..1e9 => format!("{} M", three_digits(value / 1e6)),
        _ => format!("{} G", three_digits(value / 1e9)),
    }
}

fn three_digits(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        ..9.995 => format!("{value:.2}"),
        9.995..99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Thousands apart: `184,000`; small figures with three digits.
pub(super) fn grouped(value: f64) -> String {
    if value.abs() < 999.5 {
        return three_digits(value);
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The number that a label stands for, so that a scale can be drawn: `16`, `16 B`, `64 KiB`, `1M`, `8 jobs`,
/// and for `50-99` what comes after it.
pub(super) fn number(label: &str) -> Option<f64> {
    let label = label.trim();
    if let Some((first, last)) = label.split_once('-') {
        let (_, last): (f64, f64) = (first.parse().ok()?, last.parse().ok()?);
        return Some(last + 1.0);
    }
    let end = label
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(label.len());
    let value: f64 = label[..end].parse().ok()?;
    let factor = match label[end..].trim() {
        "KiB" | "K" | "k" => 1024.0,
        "MiB" | "M" => 1_048_576.0,
        "" | "B" | "bytes" | "byte" | "job" | "jobs" | "card" | "cards" | "connections" => 1.0,
        _ => return None,
    };
    Some(value * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits_and_a_unit() {
        assert_eq!(readable(0.000_594, "s"), "594 µs");
        assert_eq!(readable(1.5, "s"), "1.50 s");
        assert_eq!(readable(2_543_000.0, "ns"), "2.54 ms");
        assert_eq!(readable(5.689e9, "B/s"), "5.69 GB/s");
        assert_eq!(readable(2.0, "1"), "2.00");
        assert_eq!(readable(65536.0, "B"), "64.0 KiB");
        assert_eq!(readable(9442.3, "1/s"), "9,442 /s");
        assert_eq!(readable(184_000.0, "1/s"), "184,000 /s");
        assert_eq!(readable(3_347_438.0, "1/s"), "3.35 M/s");
        assert_eq!(readable(0.853, ""), "85.3 %");
        assert_eq!(readable(0.0, "s"), "0 s");
    }

    #[test]
    fn labels_are_numbers_where_they_are() {
        assert_eq!(number("16"), Some(16.0));
        assert_eq!(number("64 KiB"), Some(65536.0));
        assert_eq!(number("1M"), Some(1_048_576.0));
        assert_eq!(number("aes-128-gcm"), None);
        assert_eq!(number("3des-cbc"), None);
        assert_eq!(number("50-99"), Some(100.0));
        assert_eq!(number("all"), None);
        assert_eq!(number(""), None);
    }
}
