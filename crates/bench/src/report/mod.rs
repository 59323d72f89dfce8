//! `outboard-bench report`: results as pages for people.
//!
//! ```text
//! ResultFile ─▶ cases      the rows that belong together, one for each setup
//!                ├─ summary   headlines, what won and what did not
//!                ├─ glance    what a handshake and a transfer cost, in one picture
//!                ├─ then      the published ratios beside ours
//!                └─ drawing   which chart ─▶ chart: SVG
//!                      └─▶ html, markdown
//! ```

mod cases;
mod chart;
mod date;
mod drawing;
mod glance;
mod html;
mod markdown;
pub(crate) mod phases;
mod quantity;
mod summary;
mod then;

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

pub(crate) use self::quantity::readable;

use self::chart::{Ink, Strip, Strips};
use self::summary::{Summary, Tally, range};
use self::then::Pairing;
use crate::Failure;
use crate::result::{Extent, ResultFile, read_all};

/// Options of `outboard-bench report`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The directory with the results of 'outboard-bench run'
    #[arg(value_name = "DIR", default_value = "outboard-results")]
    directory: PathBuf,
}

/// The same in three forms.
#[derive(Clone, Debug)]
pub struct Rendered {
    /// One self-contained page.
    pub html: String,
    /// For a repository or a mail.
    pub markdown: String,
    /// The cost of a handshake and a transfer, as a self-contained SVG picture, light and dark.
    pub picture: String,
    /// The gains of earlier studies and ours, as such a picture.
    pub then: String,
}

/// The pictures that are files beside the pages, and what they show.
const PICTURES: [(&str, &str); 2] = [
    (
        "report.svg",
        "CPU time with stock OpenSSL and with Outboard",
    ),
    ("then.svg", "Published gains and those measured here"),
];

/// The rule by which a comparison counts as won or lost.
const HOW_COUNTED: &str = "A result counts as faster or slower only if its 95 % interval says so. By chance, 1 \
                           in 40 equal results still looks slower and 1 in 40 looks faster. A difference below 2 \
                           % does not count; with fewer than six pairs, a difference below 50 % divided by their \
                           number does not count.";

/// Writes `report.html`, `report.md`, `report.svg` and `then.svg` beside the results.
///
/// # Errors
/// If the results cannot be read or the pages not be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    if arguments.directory.is_file() {
        let file = arguments.directory.display();
        return Err(
            format!("{file} is a file: name the directory of results that it lies in").into(),
        );
    }
    let rendered = render(&read_all(&arguments.directory)?);
    for (name, text) in [
        ("report.html", &rendered.html),
        ("report.md", &rendered.markdown),
        (PICTURES[0].0, &rendered.picture),
        (PICTURES[1].0, &rendered.then),
    ] {
        let path = arguments.directory.join(name);
        fs::write(&path, text)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Makes pages of results.
pub fn render(results: &[ResultFile]) -> Rendered {
    // From whole systems to single operations, as readers care.
    let mut results = results.to_vec();
    results.sort_by_key(|result| {
        let order = [
            "tls", "java", "trading", "service", "ssh", "steady", "rampup", "cards", "speed",
            "layers", "pq",
        ];
        let place = order.iter().position(|name| *name == result.workload);
        place.unwrap_or(order.len())
    });
    // One experiment of each workload, the one that its study was about.
    let repeated = |result| {
        then::pairings(result)
            .into_iter()
            .find(|pairing| pairing.topic.is_acceleration() && !pairing.ours.is_empty())
    };
    let pairings: Vec<Pairing> = results.iter().filter_map(repeated).collect();
    let where_and_when = where_and_when(&results);
    Rendered {
        html: html::page(&results),
        markdown: markdown::page(&results),
        picture: chart::standalone(
            &glance::glance(&results),
            &[(Ink::Baseline, "stock"), (Ink::Outboard, "with Outboard")],
            &format!(
                "Less is better. Whiskers are 95 % intervals. A ratio in thin type is not a certain difference. \
                 {where_and_when}"
            ),
        ),
        then: chart::standalone(
            &then_and_now(
                "How many times as good as without: measured here, and published",
                &pairings,
            ),
            &[
                (Ink::Outboard, "measured here"),
                (Ink::Published, "published"),
            ],
            &where_and_when,
        ),
    }
}

/// "Intel(R) Xeon(R) …, OpenSSL 3.0.22, 22 November 2026, quick runs."
fn where_and_when(results: &[ResultFile]) -> String {
    let Some(first) = results.first() else {
        return String::new();
    };
    let mut parts = vec![
        first.machine.processor.clone(),
        first.machine.system.clone(),
    ];
    parts.push(date::day(first.began));
    parts.push(extents_in_words(results).to_owned());
    format!("{}.", listed(parts))
}

/// Published and ours, experiment by experiment.
fn then_and_now(title: &str, pairings: &[Pairing]) -> Strips {
    let mut rows = Vec::new();
    for pairing in pairings {
        let (published, ours) = html::marks(pairing);
        let (text, years) = range(&pairing.published);
        rows.push(Strip {
            label: pairing.title.to_owned(),
            marks: ours,
            text: pairing.ours_in_words(),
            follows: false,
        });
        rows.push(Strip {
            label: format!("published {years}"),
            marks: published,
            text,
            follows: true,
        });
    }
    Strips {
        title: title.to_owned(),
        rows,
    }
}

/// The report's title: the main result.
fn verdict_in_words(summary: &Summary) -> String {
    let Tally { slower, .. } = summary.tally;
    let worst = match summary.tally.all() {
        0 => String::new(),
        _ if slower == 0 => ", and nothing got slower".to_owned(),
        all => format!("; {slower} of {all} comparisons got slower"),
    };
    match summary.headlines.first() {
        Some(best) => format!("Up to {}\u{a0}× {}{worst}", best.ratio, best.gain),
        None => format!("No measurable gain of Outboard here{worst}"),
    }
}

/// How much was run, of all.
fn extents_in_words(results: &[ResultFile]) -> &'static str {
    let any = |extent| results.iter().any(|result| result.extent == extent);
    match (any(Extent::Tiny), any(Extent::Quick), any(Extent::Full)) {
        (true, ..) => "tiny runs, whose figures mean nothing",
        (_, true, true) => "in part quick runs",
        (_, true, _) => "quick runs",
        _ => "whole workloads",
    }
}

fn extent_in_words(extent: Extent) -> &'static str {
    match extent {
        Extent::Full => "the whole workload",
        Extent::Quick => "a quick run: fewer and smaller measurements",
        Extent::Tiny => "a tiny run, for tests: its figures mean nothing",
    }
}

/// "4 minutes", "40 seconds".
fn minutes(seconds: f64) -> String {
    if seconds < 99.5 {
        format!("{seconds:.0} seconds")
    } else {
        format!("{:.0} minutes", seconds / 60.0)
    }
}

/// With commas between.
fn listed<Text: AsRef<str>>(items: impl IntoIterator<Item = Text>) -> String {
    let items: Vec<String> = items
        .into_iter()
        .map(|item| item.as_ref().to_owned())
        .collect();
    items.join(", ")
}
