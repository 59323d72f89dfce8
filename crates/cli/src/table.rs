//! Aligned tables without borders.

use crate::output::{TITLE, To, styled};

/// How a column is aligned.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// A table that is as wide as what it holds, unless the terminal is narrower.
pub(crate) struct Table {
    columns: Vec<(&'static str, Align)>,
    expendable: &'static [&'static str],
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns.
    pub(crate) fn new(columns: &[(&'static str, Align)]) -> Self {
        Self {
            columns: columns.to_vec(),
            expendable: &[],
            rows: Vec::new(),
        }
    }

    /// Columns that are left out where the terminal is too narrow, the first of these first.
    pub(crate) fn expendable(mut self, titles: &'static [&'static str]) -> Self {
        self.expendable = titles;
        self
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
        self.render_to(To::Stdout)
    }

    /// The same, for where it goes.
    pub(crate) fn render_to(&self, to: To) -> String {
        self.render_within(to.room())
    }

    /// So that lines have at most so many characters, if that can be: first without what is expendable, then with
    /// the words of the last column on lines of their own.
    fn render_within(&self, room: usize) -> String {
        let mut widths: Vec<usize> = (0..self.columns.len())
            .map(|index| self.width(index))
            .collect();
        let total = |widths: &[usize]| {
            let shown = widths.iter().filter(|&&width| width > 0);
            shown.map(|width| width + GAP.len()).sum::<usize>()
        };
        let fits = |widths: &[usize]| total(widths).saturating_sub(GAP.len()) <= room;
        for title in self.expendable {
            let known = self.columns.iter().position(|(name, _)| name == title);
            if let Some(index) = known.filter(|_| !fits(&widths)) {
                widths[index] = 0;
            }
        }
        let words = match self.columns.last() {
            Some((_, Align::Left)) if !fits(&widths) => Some(self.columns.len() - 1),
            _ => None,
        };
        // Beside the other columns where there is room for some words, else below.
        let beside = words.map(|words| total(&widths[..words]));
        let indent = beside.filter(|beside| beside + WORDS <= room);
        let is_below = indent.is_none();
        let indent = indent.unwrap_or(INDENT);
        let line = |cells: Vec<&str>, is_title: bool| {
            let mut line = String::new();
            for (index, (cell, &width)) in cells.iter().zip(&widths).enumerate() {
                if width == 0 {
                    continue;
                }
                match (self.columns[index].1, Some(index) == words && !is_title) {
                    (_, true) => append_wrapped(&mut line, cell, indent, room),
                    (_, false) if Some(index) == words && is_below => {}
                    (Align::Left, _) => line.push_str(&format!("{cell:<width$}{GAP}")),
                    (Align::Right, _) => line.push_str(&format!("{cell:>width$}{GAP}")),
                }
            }
            line.trim_end().to_owned()
        };
        let titles = self.columns.iter().map(|(title, _)| *title).collect();
        let mut text = styled(TITLE, line(titles, true)) + "\n";
        for row in &self.rows {
            text.push_str(&line(row.iter().map(String::as_str).collect(), false));
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

/// The gap between columns.
const GAP: &str = "  ";

/// The least room for words beside other columns, in characters.
const WORDS: usize = 24;

/// How far words are moved that stand below their row.
const INDENT: usize = 4;

/// Appends words to a line, and goes on in lines that begin at `indent`; where this one is longer already, they
/// begin below.
fn append_wrapped(line: &mut String, words: &str, indent: usize, room: usize) {
    let mut length = line.chars().count();
    for (index, word) in words.split_whitespace().enumerate() {
        let needed = word.chars().count();
        let goes_on = match index {
            0 => length == indent,
            _ => length + 1 + needed <= room,
        };
        if !goes_on {
            line.truncate(line.trim_end().len());
            line.push('\n');
            line.push_str(&" ".repeat(indent));
            length = indent;
        } else if index > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += needed;
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
    fn a_narrow_terminal_is_respected() {
        let mut table = Table::new(&[
            ("name", Align::Left),
            ("size", Align::Right),
            ("time", Align::Right),
            ("because", Align::Left),
        ])
        .expendable(&["size"]);
        let because = "it is safe and has been for a long time";
        table.row(["é".repeat(10), "1".into(), "2 s".into(), because.into()]);
        table.row(["b".into(), "12".into(), "3 s".into(), String::new()]);
        let within = |room| {
            let text = anstream::adapter::strip_str(&table.render_within(room)).to_string();
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(room), "{text}");
            text
        };
        let whole = within(63);
        assert_eq!(whole, within(1000));
        assert!(
            whole.starts_with("name        size  time  because\n"),
            "{whole}"
        );
        assert_eq!(
            within(62),
            "name        time  because\n\
             éééééééééé   2 s  it is safe and has been for a long time\n\
             b            3 s\n"
        );
        assert_eq!(
            within(42),
            "name        time  because\n\
             éééééééééé   2 s  it is safe and has been\n                  for a long time\n\
             b            3 s\n"
        );
        let below = "name        time\n\
                     éééééééééé   2 s\n    it is safe and has been for a long\n    time\n\
                     b            3 s\n";
        assert_eq!(within(41), below);
        assert_eq!(within(38), below);
        for room in 16..63 {
            within(room);
        }
    }
}
