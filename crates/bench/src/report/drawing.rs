//! Which chart a table gets: bars, ratios on a scale, or small multiples.

use super::cases::{Case, ink, is_gain, scale, setup_name, setups};
use super::chart::{Bar, Bars, Group, Line, Mark, Panel, Panels, Point, Strip, Strips};
use super::quantity::{number, readable};
use super::summary::span;
use crate::reference::{digits, times};
use crate::result::Table;

/// A table's chart.
pub(super) enum Drawing {
    /// Few cases of one magnitude: the figures themselves.
    Bars(Bars),
    /// Many, or of many magnitudes: their ratios.
    Ratios(Strips),
    /// Figures that grow along a column.
    Panels(Panels),
}

/// Bars from one zero are no longer compared by eye when the longest is this many times the shortest.
const MAGNITUDES: f64 = 25.0;

/// More groups of bars than this don't fit a screen.
const GROUPS: usize = 12;

/// The measure to draw, of a table that has several: user time, as the studies did, or throughput; else the
/// first that is compared with anything; else the first.
pub(super) fn lead<'a>(cases: &[Case<'a>]) -> &'a str {
    let compared = |case: &&Case<'_>| case.rows.iter().any(|row| row.ratio.is_some());
    cases
        .iter()
        .filter(compared)
        .find(|case| {
            case.measure() == "user"
                || (case.measure() == "throughput" && case.row("kernel").is_some())
        })
        .or_else(|| cases.iter().find(compared))
        .or_else(|| cases.first())
        .map_or("", Case::measure)
}

/// Draws the cases of one measure. `id` is unique on the page.
pub(super) fn drawing(table: &Table, cases: &[Case<'_>], id: &str) -> Drawing {
    if let Some(column) = scale(table) {
        return Drawing::Panels(panels(table, column, cases, id));
    }
    let medians = || {
        cases
            .iter()
            .flat_map(|case| &case.rows)
            .map(|row| row.median)
    };
    let most = medians().fold(0.0, f64::max);
    let least = medians().fold(f64::INFINITY, f64::min);
    let compared = cases
        .iter()
        .any(|case| case.rows.iter().any(|row| row.ratio.is_some()));
    if compared && (cases.len() > GROUPS || most > least * MAGNITUDES) {
        Drawing::Ratios(ratios(table, cases))
    } else {
        Drawing::Bars(bars(table, cases))
    }
}

fn bars(table: &Table, cases: &[Case<'_>]) -> Bars {
    let setups = setups(table);
    let group = |case: &Case<'_>| Group {
        label: case.label(),
        bars: case
            .rows
            .iter()
            .map(|row| Bar {
                ink: ink(&row.setup, &setups),
                setup: setup_name(&row.setup),
                value: row.median,
                low: row.low,
                high: row.high,
                text: readable(row.median, &row.unit),
                ratio: row.ratio.as_ref().map(|ratio| times(ratio.median)),
                invalid: row.invalid.is_some(),
            })
            .collect(),
    };
    Bars {
        title: table.title.clone(),
        groups: cases.iter().map(group).collect(),
    }
}

fn ratios(table: &Table, cases: &[Case<'_>]) -> Strips {
    let setups = setups(table);
    let strip = |case: &Case<'_>| {
        let compared = || {
            case.rows
                .iter()
                .filter_map(|row| Some((row, row.ratio.as_ref()?)))
        };
        let marks: Vec<Mark> = compared()
            .map(|(row, ratio)| Mark {
                ink: ink(&row.setup, &setups),
                ratio: ratio.median,
                interval: Some((ratio.low, ratio.high)),
                name: format!(
                    "{}, {}: {} × ({} to {})",
                    case.label(),
                    setup_name(&row.setup),
                    digits(ratio.median),
                    digits(ratio.low),
                    digits(ratio.high)
                ),
                invalid: row.invalid.is_some(),
            })
            .collect();
        // The row's text is about Outboard, if it takes part. Peers have only marks.
        let ours = || {
            compared()
                .filter(|(row, _)| is_gain(row) || row.setup == "lanes")
                .map(|(_, ratio)| ratio.median)
        };
        let all: Vec<f64> = match ours().count() {
            0 => marks.iter().map(|mark| mark.ratio).collect(),
            _ => ours().collect(),
        };
        let low = all.iter().copied().fold(f64::INFINITY, f64::min);
        let high = all.iter().copied().fold(0.0, f64::max);
        (!marks.is_empty()).then(|| Strip {
            label: case.label(),
            marks,
            text: span(low, high),
            follows: false,
        })
    };
    Strips {
        title: table.title.clone(),
        rows: cases.iter().filter_map(strip).collect(),
    }
}

/// One panel for each case along the column, one line for each setup.
fn panels(table: &Table, column: &str, cases: &[Case<'_>], id: &str) -> Panels {
    let setups = setups(table);
    let mut panels: Vec<Panel> = Vec::new();
    for case in cases {
        let Some(x) = case.place(column) else {
            continue;
        };
        let label = case.label_without(Some(column));
        let place = panels.iter().position(|panel| panel.label == label);
        let place = place.unwrap_or_else(|| {
            panels.push(Panel {
                label,
                lines: Vec::new(),
            });
            panels.len() - 1
        });
        let lines = &mut panels[place].lines;
        for row in &case.rows {
            let setup = setup_name(&row.setup);
            let point = Point {
                x,
                name: length(row.label(column)),
                value: row.median,
                low: row.low,
                high: row.high,
                invalid: row.invalid.is_some(),
            };
            match lines.iter_mut().find(|line| line.setup == setup) {
                Some(line) => line.points.push(point),
                None => lines.push(Line {
                    ink: ink(&row.setup, &setups),
                    setup,
                    points: vec![point],
                }),
            }
        }
    }
    for line in panels.iter_mut().flat_map(|panel| &mut panel.lines) {
        line.points
            .sort_by(|left, right| left.x.total_cmp(&right.x));
    }
    Panels {
        id: id.to_owned(),
        measure: cases.first().map_or("", Case::measure).to_owned(),
        unit: cases.first().map_or("", Case::unit).to_owned(),
        along: column.to_owned(),
        panels,
    }
}

/// What stands on an axis. Round powers of two read better: 65536 is `64 K`; of `50-99` there is room for 100.
fn length(label: &str) -> String {
    match label.parse::<u64>() {
        Ok(value) if value >= 1 << 20 && value.is_multiple_of(1 << 20) => {
            format!("{} M", value >> 20)
        }
        Ok(value) if value >= 1 << 10 && value.is_multiple_of(1 << 10) => {
            format!("{} K", value >> 10)
        }
        Ok(_) => label.to_owned(),
        Err(_) => number(label).map_or_else(|| label.to_owned(), |end| end.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_short_names() {
        assert_eq!(length("64"), "64");
        assert_eq!(length("16384"), "16 K");
        assert_eq!(length("1048576"), "1 M");
        assert_eq!(length("550-599"), "600");
    }
}
