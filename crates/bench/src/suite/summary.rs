//! The result of a workload for the terminal: one line for each comparison.

use crate::report::readable;
use crate::result::{ENOUGH, Ratio, ResultFile, Row, Table};
use crate::table::{Align, table};

const COLUMNS: [(&str, Align); 7] = [
    ("what", Align::Left),
    ("measure", Align::Left),
    ("baseline", Align::Right),
    ("setup", Align::Left),
    ("figure", Align::Right),
    ("times as good", Align::Right),
    ("95 % between", Align::Left),
];

/// Every figure that has a baseline beside that, and what must not be overlooked.
pub(super) fn of(result: &ResultFile) -> String {
    let mut text = format!("{}: {}\n", result.workload, result.summary);
    for each in &result.tables {
        let rows: Vec<Vec<String>> = each.rows.iter().filter_map(|row| line(each, row)).collect();
        if !rows.is_empty() {
            text += &format!("\n{}\n{}", each.title, table(&COLUMNS, &rows));
        }
    }
    text.push('\n');
    if let Some(failure) = &result.failure {
        text += &format!("{}: ended early: {failure}\n", result.workload);
    }
    for (table, row) in result.rows() {
        if let Some(reason) = &row.invalid {
            let figure = [&labels(table, row), &row.measure, &row.setup];
            let figure = figure.map(String::as_str).join(", ");
            text += &format!(
                "{}: INVALID: {}: {figure}: {reason}\n",
                result.workload, table.name
            );
        }
    }
    for reason in &result.noise.reasons {
        text += &format!("{}: noisy: {reason}\n", result.workload);
    }
    text + "\n"
}

/// Nothing for the baseline itself.
fn line(table: &Table, row: &Row) -> Option<Vec<String>> {
    let ratio = row.ratio.as_ref()?;
    let mut rows = table.rows.iter();
    let baseline = rows.find(|each| each.belongs_with(row) && each.setup == ratio.baseline)?;
    let invalid = row.invalid.as_ref().map_or("", |_| " INVALID");
    Some(vec![
        labels(table, row),
        row.measure.clone(),
        readable(baseline.median, &row.unit),
        row.setup.clone(),
        readable(row.median, &row.unit),
        format!("{:.2} ×", ratio.median),
        format!("{}{invalid}", interval(ratio, row.samples)),
    ])
}

/// "1.40 and 1.60"; too few pairs have no such interval, and say how few they are.
fn interval(ratio: &Ratio, pairs: u64) -> String {
    match pairs {
        1 => "only one pair".to_owned(),
        2..ENOUGH => format!("{:.2} to {:.2}, all {pairs} pairs", ratio.low, ratio.high),
        _ => format!("{:.2} and {:.2}", ratio.low, ratio.high),
    }
}

fn labels(table: &Table, row: &Row) -> String {
    let labels = table.columns.iter().map(|column| row.label(column));
    labels.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn every_comparison_has_a_line() {
        let fixture =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/results/speed.json");
        let mut result = crate::result::read(&fixture).unwrap();
        result.noise.reasons.push("other load".into());
        result.tables[1].rows[1].invalid = Some("not proved".into());
        let text = of(&result);
        assert!(
            text.contains("aes-128-gcm-seal, 16384  throughput"),
            "{text}"
        );
        assert!(text.contains("2.00 ×  1.96 and 2.04\n"), "{text}");
        assert!(
            text.contains("speed: INVALID: keyed: rsa-4096-sign, rate, outboard: not proved"),
            "{text}"
        );
        assert!(text.contains("speed: noisy: other load"), "{text}");
    }
}
