//! The same as [`super::html`], for a repository or a mail. It has only the two charts that are files.

use std::fmt::Write;

use super::cases::{Case, cases, column_name, hint, interval, measure_name, setup_name, setups};
use super::date::day;
use super::quantity::readable;
use super::summary::{range, summary};
use super::then::pairings;
use crate::reference::digits;
use crate::result::{ResultFile, Row, Table};

/// Writing to a `String` does not fail.
macro_rules! say {
    ($text:expr, $($argument:tt)*) => {
        let _ = writeln!($text, $($argument)*);
    };
}

pub(super) fn page(files: &[ResultFile]) -> String {
    let mut text = String::new();
    let summary = summary(files);
    say!(text, "# {}\n", super::verdict_in_words(&summary));
    if let Some(first) = files.first() {
        say!(
            text,
            "Outboard {}, {}, {}, {} processors, {}; {}.\n",
            first.outboard,
            day(first.began),
            first.machine.processor,
            first.machine.cores,
            first.machine.system,
            super::extents_in_words(files)
        );
    }
    for headline in &summary.headlines {
        let published = headline.published.as_ref().map(|text| format!(" {text}."));
        say!(
            text,
            "- **{} ×** {}: {}.{} {}",
            headline.ratio,
            headline.gain,
            headline.case,
            sentence(&headline.spread),
            published.unwrap_or_default().trim()
        );
    }
    let tally = summary.tally;
    if tally.all() > 0 {
        say!(
            text,
            "\nOf {} comparisons with stock: {} faster, {} the same, {} slower, {} not proven. {}",
            tally.all(),
            tally.faster,
            tally.same,
            tally.slower,
            tally.invalid,
            super::HOW_COUNTED
        );
    }
    for (picture, shows) in super::PICTURES {
        say!(text, "\n![{shows}]({picture})");
    }
    let (worst, rest) = summary.slower.split_at(summary.slower.len().min(8));
    let mut worst = worst.to_vec();
    if !rest.is_empty() {
        worst.push(format!("and {} more, in the tables below", rest.len()));
    }
    list(&mut text, "What got slower", &worst);
    let doubts: Vec<String> = summary
        .incomplete
        .iter()
        .chain(&summary.invalid)
        .cloned()
        .collect();
    list(&mut text, "Do not rely on this", &doubts);
    for file in files {
        workload(&mut text, file);
    }
    without_html(&text)
}

/// Markdown may hold HTML, results may come from anyone: no element begins here, whatever they say. Lines of
/// code are shown as they are by any reader.
fn without_html(text: &str) -> String {
    let line = |line: &str| match line.strip_prefix("    ") {
        Some(_) => line.to_owned(),
        None => line.replace('<', "&lt;"),
    };
    text.split_inclusive('\n').map(line).collect()
}

fn workload(text: &mut String, file: &ResultFile) {
    say!(text, "\n## {}\n\n{}.", file.workload, file.summary);
    if let Some(failure) = &file.failure {
        say!(text, "\nIt failed: {failure}.");
    } else if !file.complete {
        say!(text, "\nIt was interrupted: some figures are missing.");
    }
    if !file.noise.reasons.is_empty() {
        say!(text, "\nRead with care: {}.", file.noise.reasons.join("; "));
    }
    for table in file.tables.iter().filter(|table| !table.rows.is_empty()) {
        figures(text, table);
    }
    let pairings = pairings(file);
    if !pairings.is_empty() {
        say!(text, "\n### Published and here\n");
        say!(text, "| experiment | published | here |\n|---|---:|---:|");
        for pairing in &pairings {
            let here = pairing.ours_in_words();
            let (published, years) = range(&pairing.published);
            say!(
                text,
                "| {} | {published} ({years}) | {here} |",
                cell(pairing.title)
            );
        }
    }
    for note in &file.notes {
        say!(text, "\n{note}");
    }
    if !file.versions.is_empty() {
        let versions = file
            .versions
            .iter()
            .map(|(name, version)| format!("{name} {version}"));
        say!(text, "\nVersions: {}.", super::listed(versions));
    }
    if let Some(command) = file.commands.first() {
        say!(text, "\n    {command}");
    }
}

fn figures(text: &mut String, table: &Table) {
    let setups = setups(table);
    say!(text, "\n### {}\n", table.title);
    let names: Vec<String> = setups.iter().map(|setup| setup_name(setup)).collect();
    say!(
        text,
        "| {} | | {} |",
        cell(&super::listed(
            table.columns.iter().map(|column| column_name(column))
        )),
        names.join(" | ")
    );
    say!(text, "|---|---|{}", "---:|".repeat(setups.len()));
    for case in cases(table) {
        let figures: Vec<String> = setups
            .iter()
            .map(|setup| case.row(setup).map(figure).unwrap_or_default())
            .collect();
        say!(
            text,
            "| {} | {} | {} |",
            cell(&case.label()),
            measure(&case),
            figures.join(" | ")
        );
    }
    for row in table.rows.iter().filter(|row| row.invalid.is_some()) {
        let reason = row.invalid.as_deref().unwrap_or_default();
        say!(text, "\n✕ {}: {reason}", row.measure);
    }
}

fn measure(case: &Case<'_>) -> String {
    match hint(case.better()) {
        "" => cell(measure_name(case.measure())),
        hint => format!("{} ({hint})", cell(measure_name(case.measure()))),
    }
}

fn figure(row: &Row) -> String {
    let mut text = readable(row.median, &row.unit);
    if row.invalid.is_some() {
        text.push_str(" ✕");
    }
    if let Some(ratio) = &row.ratio {
        let interval = interval(row.samples, ratio);
        let _ = write!(text, ", **{} ×** {interval}", digits(ratio.median));
    }
    text
}

fn list(text: &mut String, title: &str, items: &[String]) {
    if !items.is_empty() {
        say!(text, "\n**{title}**\n");
        for item in items {
            say!(text, "- {item}");
        }
    }
}

fn sentence(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(" {text}.")
    }
}

/// A bar would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
