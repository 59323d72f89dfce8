//! Aligned tables for people.

/// How a column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// Sets a table in columns two blanks apart; no line ends in blanks.
///
/// # Panics
/// If a row has another number of cells than there are columns.
pub fn table(columns: &[(&str, Align)], rows: &[Vec<String>]) -> String {
    let header = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
    let lines: Vec<&Vec<String>> = std::iter::once(&header).chain(rows).collect();
    let widths: Vec<usize> = (0..columns.len())
        .map(|column| lines.iter().map(|line| line[column].chars().count()).max())
        .map(Option::unwrap_or_default)
        .collect();
    let mut text = String::new();
    for line in lines {
        assert_eq!(line.len(), columns.len(), "one cell for each column");
        let cells: Vec<String> = line
            .iter()
            .zip(columns.iter().zip(&widths))
            .map(|(cell, ((_, align), &width))| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            })
            .collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_left_figures_right() {
        let rows = [
            vec!["a".into(), "1.5".into()],
            vec!["µs per".into(), "10.25".into()],
        ];
        let text = table(&[("what", Align::Left), ("n", Align::Right)], &rows);
        assert_eq!(text, "what        n\na         1.5\nµs per  10.25\n");
    }
}
