//! The page: self-contained, for a phone, a desk and paper.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::cases::{
    Case, cases, column_name, hint, ink, interval, is_gain, measure_name, setup_name, setups,
};
use super::chart::{self, Ink, Mark};
use super::date::day;
use super::drawing::{Drawing, drawing, lead};
use super::quantity::readable;
use super::summary::{Headline, Summary, Tally, Verdict, range, summary, verdict};
use super::then::{Pairing, pairings};
use crate::reference::Source;
use crate::reference::times;
use crate::result::{Better, Extent, ResultFile, Row, Table};

const STYLE: &str = include_str!("page.css");

/// A table with more columns than fit, set as a list of lists.
const STACKED: &str = include_str!("stacked.css");

/// Tables with more rows than this are folded; paper shows them all.
const LONG: usize = 16;

/// More than this no one takes in.
const HEADLINES: usize = 5;

pub(super) fn page(files: &[ResultFile]) -> String {
    let summary = summary(files);
    let first = files.first();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // The page loads nothing and runs nothing, wherever it is opened.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { "Outboard: what it gains here" }
                style { (PreEscaped(style())) }
            }
            body {
                header {
                    @if let Some(first) = first {
                        p class="eyebrow" { "Outboard " (first.outboard) " · " (day(first.began)) " · " (first.machine.processor) }
                    }
                    h1 { (super::verdict_in_words(&summary)) " " (extent(files)) }
                }
                main {
                    (short(&summary, files))
                    (at_a_glance(files))
                    (then_and_now(files))
                    @for file in files { (workload(file)) }
                    (how(files))
                }
                footer {
                    p { "Written by " code { "outboard-bench report" } ". This page is complete. It loads \
                                                                        nothing and runs nothing." }
                }
            }
        }
    }
    .into_string()
}

/// Tables of class `stacked` are stacked everywhere, those of class `many` on a phone.
fn style() -> String {
    let many = STACKED.replace(".stacked", ".many");
    let phone = "@media screen and (max-width:47rem)";
    format!("{}{STYLE}{STACKED}{phone}{{{many}}}", chart::STYLE)
}

fn extent(files: &[ResultFile]) -> Markup {
    let words = super::extents_in_words(files);
    html! {
        @match files.iter().map(|file| file.extent).max_by_key(|extent| *extent as u8) {
            Some(Extent::Tiny) => span class="badge warn" { (words) },
            Some(Extent::Quick) => span class="badge" { (words) },
            _ => {}
        }
    }
}

/// The part for a reader with ten seconds.
fn short(summary: &Summary, files: &[ResultFile]) -> Markup {
    html! {
        @if !summary.headlines.is_empty() {
            div class="headlines" {
                @for headline in summary.headlines.iter().take(HEADLINES) { (card(headline)) }
            }
        }
        (tally(summary.tally))
        @if !summary.slower.is_empty() {
            div class="note" {
                p { b { "What got slower" } }
                ul {
                    @for text in summary.slower.iter().take(8) { li { (text) } }
                    @if summary.slower.len() > 8 { li { "and " (summary.slower.len() - 8) " more, in the tables below" } }
                }
            }
        }
        @if !summary.invalid.is_empty() || !summary.incomplete.is_empty() {
            div class="note" {
                p { b { "Do not rely on this" } }
                ul {
                    @for text in summary.incomplete.iter().chain(&summary.invalid) { li { (text) } }
                }
            }
        }
        @let noisy: Vec<&ResultFile> = files.iter().filter(|file| !file.noise.reasons.is_empty()).collect();
        @if !noisy.is_empty() {
            div class="note" {
                p { b { "The machine was not quiet" } " in " (super::listed(noisy.iter().map(|file| file.workload.as_str())))
                    ". Setups took turns, so noise changes the ratios less than the figures. The intervals say \
                     how much." }
            }
        }
        nav aria-label="Workloads" {
            @for file in files { a href={ "#" (file.workload) } { (file.workload) } }
            a href="#how" { "how it was measured" }
        }
    }
}

fn card(headline: &Headline) -> Markup {
    html! {
        div class="headline" {
            p class="eyebrow" { (headline.workload) }
            p class="ratio" { (headline.ratio) small { "×" } }
            p class="gain" { (headline.gain) }
            p class="case" { (headline.case) }
            p class="small" {
                (headline.spread)
                @if let Some(published) = &headline.published { br; (published) }
            }
        }
    }
}

fn tally(tally: Tally) -> Markup {
    let all = tally.all();
    let parts = [
        ("faster", tally.faster, "faster"),
        (
            "same",
            tally.same,
            "the same: mostly operations that stay with the program’s own OpenSSL",
        ),
        ("slower", tally.slower, "slower"),
        ("invalid", tally.invalid, "not proven"),
    ];
    html! {
        @if all > 0 {
            div class="tally" aria-hidden="true" {
                @for (class, count, _) in parts {
                    @if count > 0 { span class=(class) style={ "flex:" (count) } {} }
                }
            }
            ul class="legend" {
                @for (class, count, name) in parts {
                    @if count > 0 || class == "slower" {
                        li { span class={ "swatch key-" (class) } {} span { b { (count) } " " (name) } }
                    }
                }
            }
            p class="small" {
                "Of " (all) " comparisons of Outboard with stock. " (super::HOW_COUNTED)
            }
        }
    }
}

/// The cost of handshakes, transfers and queries, with stock and with Outboard.
fn at_a_glance(files: &[ResultFile]) -> Markup {
    let shares = super::glance::glance(files);
    html! {
        @if !shares.groups.is_empty() {
            section id="glance" {
                h2 { "CPU time, stock and with Outboard" }
                p { "From the kernel’s accounting of the processes. The whole bar is stock, whatever its length \
                     in seconds." }
                (chart::legend(&[
                    (Ink::Baseline, "Stock".to_owned()),
                    (Ink::Outboard, "Outboard; whiskers are 95 % intervals".to_owned()),
                ]))
                figure { (chart::both(&shares, "glance-picture")) }
            }
        }
    }
}

/// All experiments that others published and we repeated, on one scale.
fn then_and_now(files: &[ResultFile]) -> Markup {
    let pairings = files.iter().flat_map(pairings);
    let (accelerated, ways): (Vec<_>, Vec<_>) = pairings
        .filter(|pairing| !pairing.ours.is_empty())
        .partition(|pairing| pairing.topic.is_acceleration());
    html! {
        @if !accelerated.is_empty() || !ways.is_empty() {
            section id="then" {
                h2 { "Then and now" }
                p {
                    "The same experiments, with the hardware of their time and with Outboard, each on its own machine. Absolute
                    speeds of different machines cannot be compared, so there are none here."
                }
                ul class="legend" {
                    li { (chart::key(Ink::Outboard)) "measured here" }
                    li { (chart::key(Ink::Published)) "published, 2005 to 2017" }
                }
                @for (id, title, pairings) in [
                    ("then", "With acceleration against without", accelerated),
                    ("ways", "One way of working against another", ways),
                ] {
                    @if !pairings.is_empty() {
                        h3 { (title) }
                        figure { (chart::both(&super::then_and_now(title, &pairings), id)) }
                    }
                }
                p class="source" { "Sources are named with each workload below." }
            }
        }
    }
}

fn workload(file: &ResultFile) -> Markup {
    let id = &file.workload;
    html! {
        section id=(id) {
            h2 { (id) " "
                @if !file.complete { span class="badge warn" { "incomplete" } }
                @else if file.extent == Extent::Tiny { span class="badge warn" { "tiny" } }
            }
            p { (file.summary) "." }
            @if let Some(failure) = &file.failure { p class="note" { "It failed: " (failure) } }
            @if !file.noise.reasons.is_empty() {
                p class="note" { "Read with care: " (super::listed(file.noise.reasons.iter().map(String::as_str))) "." }
            }
            @for table in &file.tables {
                @if !table.rows.is_empty() {
                    h3 { (table.title) }
                    (picture(table, &format!("{id}-{}", table.name)))
                    (figures(table))
                }
            }
            (beside(file))
            @if !file.notes.is_empty() {
                ul class="small" { @for note in &file.notes { li { (note) } } }
            }
        }
    }
}

fn picture(table: &Table, id: &str) -> Markup {
    let all = cases(table);
    let lead = lead(&all);
    let all: Vec<Case<'_>> = all
        .into_iter()
        .filter(|case| case.measure() == lead)
        .collect();
    let Some(first) = all.first() else {
        return html! {};
    };
    let setups = setups(table);
    let drawn = drawing(table, &all, id);
    let ratios = matches!(drawn, Drawing::Ratios(_));
    let legend: Vec<(Ink, String)> = setups
        .iter()
        .filter(|setup| {
            all.iter().any(|case| {
                case.row(setup)
                    .is_some_and(|row| !ratios || row.ratio.is_some())
            })
        })
        .map(|setup| (ink(setup, &setups), setup_name(setup)))
        .collect();
    html! {
        p class="small" {
            (measure_name(first.measure()))
            @match &drawn {
                Drawing::Ratios(_) => { ", times as good as stock (with 95 % intervals)" }
                Drawing::Panels(panels) => { ", by " (panels.along.replace('_', " ")) (aside(first.better())) }
                Drawing::Bars(_) => { (aside(first.better())) "; whiskers are quartiles" }
            }
        }
        (chart::legend(&legend))
        figure {
            @match &drawn {
                Drawing::Bars(bars) => (chart::both(bars, id)),
                Drawing::Ratios(strips) => (chart::both(strips, id)),
                Drawing::Panels(panels) => (panels.draw()),
            }
        }
    }
}

/// Which way is good, after something else.
fn aside(better: Better) -> String {
    match hint(better) {
        "" => String::new(),
        hint => format!("; {hint}"),
    }
}

fn figures(table: &Table) -> Markup {
    let all = cases(table);
    let setups = setups(table);
    // How many columns fit on a phone, and how many without breaking their intervals.
    let class = match setups.len() {
        ..=2 => "few",
        3..=4 => "few many",
        _ => "stacked",
    };
    let mut measures: Vec<&str> = all.iter().map(Case::measure).collect();
    measures.dedup();
    measures.sort_by_key(|measure| all.iter().position(|case| case.measure() == *measure));
    measures.dedup();
    let body = html! {
        table class=(class) {
            thead {
                tr {
                    th scope="col" { (super::listed(table.columns.iter().map(|column| column_name(column)))) }
                    @for setup in &setups { th scope="col" class="figure" { (setup_name(setup)) } }
                }
            }
            @for measure in measures {
                @let of: Vec<&Case<'_>> = all.iter().filter(|case| case.measure() == measure).collect();
                tbody {
                    tr { th class="measure" scope="rowgroup" colspan=(setups.len() + 1) {
                        (measure_name(measure)) @if !hint(of[0].better()).is_empty() { small { ", " (hint(of[0].better())) } }
                    } }
                    @for case in of {
                        tr {
                            th scope="row" { (case.label()) (doubts(case)) }
                            @for setup in &setups { (cell(case, setup)) }
                        }
                    }
                }
            }
        }
    };
    html! {
        @if all.len() > LONG {
            details { summary { "All " (all.len()) " figures" } (body) }
        } @else { (body) }
    }
}

fn cell(case: &Case<'_>, setup: &str) -> Markup {
    let Some(row) = case.row(setup) else {
        return html! { td class="figure" {} };
    };
    html! {
        td class="figure" data-label=(setup_name(setup)) {
            span { (readable(row.median, &row.unit)) @if row.invalid.is_some() { " " span class="warn" { "✕" } } }
            @if let Some(ratio) = &row.ratio {
                small {
                    span class={ "times" @if is_gain(row) && verdict(row) == Verdict::Slower { " slower" } } { (times(ratio.median)) }
                    " " span { (interval(row.samples, ratio)) }
                }
            }
        }
    }
}

/// Why rows of a case must not be believed.
fn doubts(case: &Case<'_>) -> Markup {
    html! {
        @for (row, reason) in case.rows.iter().filter_map(|row: &&Row| Some((row, row.invalid.as_ref()?))) {
            br; small class="warn" { "✕ " (setup_name(&row.setup)) ": " (reason) }
        }
    }
}

/// The published results beside ours.
fn beside(file: &ResultFile) -> Markup {
    let pairings = pairings(file);
    html! {
        @if !pairings.is_empty() {
            h3 { "Published and here" }
            table class="many" {
                thead { tr {
                    th scope="col" { "experiment" }
                    th scope="col" { "published" }
                    th scope="col" { "here" }
                } }
                tbody {
                    @for pairing in &pairings {
                        tr {
                            th scope="row" { (pairing.title) }
                            td class="text" data-label="published" {
                                span class="times" { (range(&pairing.published).0) }
                                small { (by(pairing)) }
                            }
                            td class="text" data-label="here" { (here(pairing)) }
                        }
                    }
                }
            }
            p class="source" {
                "Ratios of each study’s own machine. Sources: "
                @for (index, source) in sources(&pairings).into_iter().enumerate() {
                    @if index > 0 { "; " } (source)
                }
                "."
            }
        }
    }
}

fn here(pairing: &Pairing) -> Markup {
    let text = pairing.ours_in_words();
    html! {
        @if pairing.ours.iter().all(|ours| ours.invalid) { span class="small" { (text) } }
        @else { span class="times" { (text) } }
        @match pairing.ours.as_slice() {
            [] => {}
            [one] => { small { (one.label) } }
            several => { small { (several.len()) " cases" } }
        }
    }
}

/// What brought the published gains: each once.
fn by(pairing: &Pairing) -> String {
    let mut by: Vec<&str> = pairing
        .published
        .iter()
        .map(|gain| gain.by.as_str())
        .collect();
    by.sort_unstable();
    by.dedup();
    match by.len() {
        0..=4 => by.join("; "),
        count => format!("{}; {}; and {} more", by[0], by[1], count - 2),
    }
}

/// "IBM, title, 2005, section 4.4, …": each document once, with its places.
fn sources(pairings: &[Pairing]) -> Vec<String> {
    let mut found: Vec<(&Source, Vec<&str>)> = Vec::new();
    for source in pairings
        .iter()
        .flat_map(|pairing| &pairing.published)
        .map(|gain| gain.source)
    {
        match found
            .iter_mut()
            .find(|(document, _)| document.title == source.title)
        {
            Some((_, places)) if places.contains(&source.locator.as_str()) => {}
            Some((_, places)) => places.push(&source.locator),
            None => found.push((source, vec![&source.locator])),
        }
    }
    let text = |(source, places): (&Source, Vec<&str>)| {
        format!(
            "{}, {}, {} ({})",
            source.authors,
            source.title,
            source.year,
            places.join(", ")
        )
    };
    found.into_iter().map(text).collect()
}

fn how(files: &[ResultFile]) -> Markup {
    html! {
        section id="how" {
            h2 { "How it was measured" }
            p {
                "Setups took turns in one run. A ratio is the median of the ratios of neighbours in time. Above 1 is better,
                whichever direction is better for the figure itself. The interval contains the true median with 95 %
                confidence (bootstrap). CPU time comes from the kernel’s accounting of the measured processes. If a figure
                credits Outboard with work, Outboard’s ledger (its counters) must show that Outboard did this work.
                Otherwise the figure is marked as not proven."
            }
            @for (index, file) in files.iter().enumerate() {
                h3 { (file.workload) }
                dl {
                    // The machine appears once if it is the same for all results.
                    @if index == 0 || file.machine != files[index - 1].machine {
                        dt { "machine" }
                        dd { (file.machine.processor) ", " (file.machine.cores) " processors, " (readable(file.machine.memory as f64, "B")) ", "
                            (file.machine.system) ", " (file.machine.kernel) }
                    }
                    dt { "when" } dd { (day(file.began)) ", " (super::minutes(file.seconds)) ", " (super::extent_in_words(file.extent)) }
                    dt { "noise" } dd {
                        "other programs " (readable(file.noise.others, "")) " of the processors, stolen " (readable(file.noise.stolen, ""))
                        ", load at the start " (format!("{:.2}", file.noise.load))
                    }
                    @if !file.versions.is_empty() {
                        dt { "versions" } dd { (super::listed(file.versions.iter().map(|(name, version)| format!("{name} {version}")))) }
                    }
                }
                @if let Some(first) = file.commands.first() { pre { (first) } }
                @if file.commands.len() > 1 {
                    details {
                        summary { "The commands that it ran" }
                        pre { (file.commands[1..].join("\n")) }
                    }
                }
            }
        }
    }
}

/// For [`super::then_and_now`]: our ratios as marks.
pub(super) fn marks(pairing: &Pairing) -> (Vec<Mark>, Vec<Mark>) {
    let published = pairing.published.iter().map(|gain| Mark {
        ink: Ink::Published,
        ratio: gain.ratio,
        interval: None,
        name: format!("{}: {gain} ({}, {})", gain.case, gain.by, gain.source.year),
        invalid: false,
    });
    let ours = pairing.ours.iter().map(|ours| Mark {
        ink: Ink::Outboard,
        ratio: ours.ratio,
        interval: ours.interval,
        name: format!("{}: {}", ours.label, times(ours.ratio)),
        invalid: ours.invalid,
    });
    (published.collect(), ours.collect())
}
