//! Aligned tables without borders.

use crate::output::{TITLE, styled};

/// How a column is aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table that is as wide as what it holds.
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row of as many cells as there are columns.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        debug_assert_eq!(N, self.columns.len());
        self.rows.push(cells.into());
    }

    /// Whether there is no row.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The title line and the rows, each with a line end; columns in which nothing stands are left
    /// out.
    pub(crate) fn render(&self) -> String {
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|index| self.width(index))
            .collect();
        let line = |cells: Vec<&str>| {
            let mut line = String::new();
            for ((cell, (_, align)), &width) in cells.iter().zip(&self.columns).zip(&widths) {
                if width == 0 {
                    continue;
                }
                match align {
                    Align::Left => line.push_str(&format!("{cell:<width$}  ")),
                    Align::Right => line.push_str(&format!("{cell:>width$}  ")),
                }
            }
            line.trim_end().to_owned()
        };
        let titles = line(self.columns.iter().map(|(title, _)| *title).collect());
        let mut text = styled(TITLE, titles) + "\n";
        for row in &self.rows {
            text.push_str(&line(row.iter().map(String::as_str).collect()));
            text.push('\n');
        }
        text
    }

    /// The width of a column; 0 if nothing stands in it.
    fn width(&self, index: usize) -> usize {
        let length = |text: &str| text.chars().count();
        let widest = self
            .rows
            .iter()
            .map(|row| length(&row[index]))
            .max()
            .unwrap_or(0);
        if widest == 0 {
            0
        } else {
            widest.max(length(self.columns[index].0))
        }
    }
}

/// A count with its thousands apart: `1 234 567`.
pub(crate) fn count(number: u64) -> String {
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
pub(crate) fn bytes(number: u64) -> String {
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
pub(crate) fn time(nanoseconds: f64) -> String {
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
    fn columns_line_up_without_trailing_space() {
        let mut table = Table::new(&[
            ("name", Align::Left),
            ("µs", Align::Right),
            ("why", Align::Left),
        ]);
        assert!(table.is_empty());
        table.row(["a".into(), "1.5".into(), "é".into()]);
        table.row(["long name".into(), "12.5".into(), String::new()]);
        let text = anstream::adapter::strip_str(&table.render()).to_string();
        assert_eq!(
            text,
            "name         µs  why\na           1.5  é\nlong name  12.5\n"
        );
    }

    #[test]
    fn a_column_of_nothing_is_left_out() {
        let mut table = Table::new(&[
            ("a", Align::Left),
            ("empty", Align::Right),
            ("b", Align::Left),
        ]);
        table.row(["1".into(), String::new(), "2".into()]);
        let text = anstream::adapter::strip_str(&table.render()).to_string();
        assert_eq!(text, "a  b\n1  2\n");
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
