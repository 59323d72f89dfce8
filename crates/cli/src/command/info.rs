//! `outboard info`: what this processor and this libcrypto can do, and what is chosen.

use crate::Failure;
use crate::output::{print, print_json};
use crate::table::{Align, Table};
use outboard_installation::{self as installation, InForce, Switch};
use outboard_libcrypto::Library;
use outboard_operation::{Operation, Path as Route, card};
use outboard_processes::Process;
use outboard_profile::machine::Class;
use outboard_profile::{Machine, Measurement, Profile, Rollout, Serving, Verdict, serving};
use outboard_wording::{bytes, printable, time};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  outboard info           List every operation: speed, chosen path, reason
  outboard info --json    The same for programs

Path: where an operation runs. Path 'stock' is the program's own OpenSSL. Path 'scalar' is AWS-LC, or Outboard's own code, on \
the caller's thread. Path 'wide' spreads one request across all eight of the processor's lanes. Path 'card' runs up to \
eight requests together in the lanes, if they come at the same time. A lone request of path 'card' runs on path 'wide' \
or 'scalar', or in one lane: the fastest.";

/// The rules of `docs/cards.md`, next to their numbers.
const CONCURRENCY: &str = "\
alone        The path of a lone request. wide: one request uses all
             eight lanes. one lane: a batch of one. The tables for this
             are built after the first few hundred requests.
lanes from   A batch of this many requests of one kind runs in lanes
             together. A smaller batch runs one by one.
queued from  Requests are queued while batches reach this number. After 32
             requests in a row in smaller batches, each request runs at
             once on its caller's thread. Now and then (after 8 requests,
             later after up to 512) one request is queued as a probe. If
             others join it, queueing begins again. A process with one
             thread and no asynchronous jobs is never probed, because no
             other request can join.
'outboard cards' shows the queued requests, and how full the lanes were.
";

/// Show what this machine can do and which path each operation takes
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Use this profile instead of yours or the system's
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    summary: Summary,
    machine: &'a Machine,
    libcrypto: Libcrypto,
    profile: ProfileInForce<'a>,
    operations: Vec<Row<'a>>,
    cards: Vec<Rule>,
}

/// When an operation on path `card` or `wide` is queued, and when it then runs in lanes.
#[derive(Serialize)]
struct Rule {
    operation: Operation,
    /// The path of one that is alone; `card` stands for a batch of one.
    alone: Route,
    /// The fewest filled lanes that beat as many operations one by one: smaller batches run one by one. 9:
    /// none do.
    lanes: u8,
    /// The fewest that do so though they had to be queued: while batches come out smaller, nothing is
    /// queued. 9: none do.
    queued: u8,
    /// Whether these numbers were measured on this machine. Otherwise they are built in.
    measured: bool,
}

#[derive(Serialize)]
struct Libcrypto {
    version: String,
    path: PathBuf,
    configuration_directory: Option<PathBuf>,
    modules_directory: Option<PathBuf>,
}

#[derive(Serialize)]
struct ProfileInForce<'a> {
    path: &'a Path,
    built_in: bool,
    /// Why the file is not used, where it is not.
    not_used_because: Option<String>,
    /// Why it should be made anew though it is used.
    out_of_date_because: Option<String>,
    created: &'a str,
}

/// An operation: what serves it, what it costs, what is chosen.
#[derive(Serialize)]
struct Row<'a> {
    operation: Operation,
    stock: Serving,
    scalar: Serving,
    chosen: Route,
    because: String,
    measurements: Vec<&'a Measurement>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let library = installation::library()?;
    let machine = Machine::detect().named();
    let path = arguments.profile.unwrap_or_else(installation::profile);
    let (profile, error) = Profile::in_force(&path, &machine, &library.version());
    let report = Report {
        summary: Summary::of(&profile, &machine, &library)?,
        libcrypto: Libcrypto::of(&library),
        profile: ProfileInForce {
            path: &path,
            built_in: profile.is_built_in(),
            not_used_because: error.as_ref().map(ToString::to_string),
            out_of_date_because: profile.out_of_date(&library.version()),
            created: &profile.created,
        },
        operations: rows(&profile, &machine),
        cards: Operation::ALL
            .iter()
            .filter_map(|&operation| rule(&profile, operation))
            .collect(),
        machine: &machine,
    };
    if arguments.json {
        print_json("outboard-info", &report)?;
    } else {
        let summary = report
            .summary
            .text(&library.version(), report.profile.created);
        print(
            &(summary
                + "\n"
                + &report.heading()
                + "\n"
                + &table(&profile, &machine)
                + &report.concurrency()),
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The abilities of this machine, and whether Outboard is on.
#[derive(Serialize)]
struct Summary {
    /// Whether the processor has lanes: eight private-key operations at once.
    lanes: bool,
    /// How many operations Outboard is chosen for, of how many.
    chosen: usize,
    operations: usize,
    /// Whether that was measured here.
    measured: bool,
    /// Whether programs that start now use it.
    on: bool,
    /// For which programs, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    serves: Option<String>,
    /// Running processes that have it loaded.
    loaded: usize,
    /// The command to run next; `nothing` if no operation won.
    next: &'static str,
}

impl Summary {
    fn of(profile: &Profile, machine: &Machine, library: &Library) -> Result<Self, Failure> {
        let switch = Switch::of(&InForce::find(library)?);
        let measured = !profile.is_built_in();
        let chosen = profile.chosen();
        Ok(Self {
            lanes: machine.class() == Class::Avx512,
            chosen,
            operations: Operation::compared().count(),
            measured,
            on: switch.is_on,
            serves: switch
                .rollout
                .as_ref()
                .filter(|_| switch.is_on)
                .map(Rollout::text),
            loaded: Process::all()
                .iter()
                .filter(|process| process.outboard.is_some())
                .count(),
            next: match (measured, chosen, switch.is_on) {
                (false, _, _) => "outboard calibrate",
                (true, 0, false) => "nothing",
                (true, 0, true) => "outboard disable",
                (true, _, false) => "outboard enable",
                (true, _, true) => "outboard status",
            },
        })
    }

    /// Five lines.
    fn text(&self, libcrypto: &str, created: &str) -> String {
        let lanes = match self.lanes {
            true => "eight private-key operations at once (AVX-512 IFMA)",
            false => "none: this processor has no AVX-512 IFMA, so operations run one at a time",
        };
        let basis = match (self.measured, self.chosen) {
            (true, _) => format!("measured {created}"),
            (false, 0) => "because nothing is known about this class of processor".to_owned(),
            (false, _) => "by the built-in measurements for this processor class".to_owned(),
        };
        let next = match self.next {
            "nothing" => "nothing: this machine has nothing to gain, and OpenSSL does everything",
            next => next,
        };
        let switch = match (&self.serves, self.on) {
            (Some(serves), true) => format!("on for {serves}"),
            _ => "off: only 'outboard run' uses it".to_owned(),
        };
        format!(
            "lanes      {lanes}\n\
             faster     {} of {} operations, compared with OpenSSL {libcrypto}, {basis}\n\
             switch     {switch}\n\
             loaded by  {} running processes\n\
             next       {}\n",
            self.chosen, self.operations, self.loaded, next
        )
    }
}

/// The table of operations. An operation whose cost depends on the size has one line for each size.
pub(crate) fn table(profile: &Profile, machine: &Machine) -> String {
    // The heading of a column of times also explains the next column. Without times, the next column needs the heading.
    let rows = rows(profile, machine);
    let is_measured = rows.iter().any(|row| !row.measurements.is_empty());
    let (stock, scalar) = match is_measured {
        true => ("by", "by"),
        false => ("stock", "scalar"),
    };
    let mut table = Table::new(&[
        ("operation", Align::Left),
        ("size", Align::Right),
        ("stock", Align::Right),
        (stock, Align::Left),
        ("scalar", Align::Right),
        (scalar, Align::Left),
        ("ratio", Align::Right),
        ("chosen", Align::Left),
        ("because", Align::Left),
    ]);
    for row in rows {
        let mut first = true;
        let measurements: Vec<Option<&Measurement>> = match row.measurements.is_empty() {
            true => vec![None],
            false => row.measurements.iter().copied().map(Some).collect(),
        };
        for measurement in measurements {
            let once = |text: String| if first { text } else { String::new() };
            let number =
                |show: fn(&Measurement) -> String| measurement.map(show).unwrap_or_default();
            table.row([
                once(row.operation.name().to_owned()),
                number(|m| {
                    if m.size == 0 {
                        String::new()
                    } else {
                        bytes(m.size)
                    }
                }),
                number(|m| time(m.stock_ns)),
                once(row.stock.to_string()),
                number(|m| time(m.scalar_ns)),
                once(row.scalar.to_string()),
                number(|m| format!("{:.2}", m.ratio)),
                once(row.chosen.name().to_owned()),
                once(row.because.clone()),
            ]);
            first = false;
        }
    }
    table.render()
}

fn rows<'a>(profile: &'a Profile, machine: &Machine) -> Vec<Row<'a>> {
    let mut numbers = profile
        .libcrypto
        .version
        .split('.')
        .map(|n| n.parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let row = |&operation: &Operation| {
        let of_operation = |measurement: &&Measurement| measurement.operation == operation;
        let measurements: Vec<_> = profile.measurements.iter().filter(of_operation).collect();
        Row {
            operation,
            stock: serving(operation, Route::Stock, machine, version),
            scalar: serving(operation, Route::Scalar, machine, version),
            chosen: chosen(profile, operation),
            because: because(profile, operation, &measurements),
            measurements,
        }
    };
    Operation::ALL.iter().map(row).collect()
}

/// The gain of the lanes in a few words, if the profile chooses them.
fn in_lanes(profile: &Profile, operation: Operation) -> Option<String> {
    let measured = profile.lanes.iter().find(|one| one.operation == operation);
    let gain = |gain: Option<f64>| match gain {
        Some(gain) => format!("{gain:.1} times scalar"),
        None => "faster".into(),
    };
    let across = || {
        let wide = measured.and_then(|one| Some(one.scalar_ns / one.wide_ns?));
        format!("{} across the lanes", gain(wide))
    };
    if operation.is_wide_alone() && chosen(profile, operation) == Route::Wide {
        return Some(format!("{}; with 'post-quantum = yes'", across()));
    }
    let rule = rule(profile, operation)?;
    let alone = (rule.alone == Route::Wide).then(across);
    let together = (profile.path(operation) == Route::Card).then(|| {
        let from = match rule.lanes {
            1 => "in lanes even alone".into(),
            lanes => format!("in lanes from {}", of_eight(lanes)),
        };
        let eight = measured.and_then(|one| Some(8.0 * one.scalar_ns / one.batch_ns?));
        format!("{} with 8 at once, {from}", gain(eight))
    });
    let parts: Vec<String> = [alone, together].into_iter().flatten().collect();
    let unmeasured = if rule.measured {
        ""
    } else {
        "; not measured here"
    };
    Some(parts.join("; ") + unmeasured)
}

/// A number of requests that a batch must have; more than a batch can have is never.
fn of_eight(number: u8) -> String {
    match usize::from(number) {
        ..=card::DEPTH => number.to_string(),
        _ => "never".into(),
    }
}

/// The path of an operation. OpenSSL before 3.5 has no post-quantum operations: there is no stock to choose. From 3.5 on, its
/// own stay.
fn chosen(profile: &Profile, operation: Operation) -> Route {
    match profile.path(operation) {
        path if !operation.is_post_quantum() => path,
        _ if has_post_quantum(profile) => Route::Stock,
        Route::Stock => Route::Scalar,
        path => path,
    }
}

/// Whether the profile's OpenSSL has post-quantum operations of its own.
fn has_post_quantum(profile: &Profile) -> bool {
    let mut numbers = profile
        .libcrypto
        .version
        .split('.')
        .map(|n| n.parse().unwrap_or(0));
    let version: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (3, 5)
}

/// Why an operation takes its path, in a few words.
fn because(profile: &Profile, operation: Operation, measurements: &[&Measurement]) -> String {
    if let Some(reason) = in_lanes(profile, operation) {
        return reason;
    }
    if operation.is_post_quantum() {
        return match has_post_quantum(profile) {
            true => "OpenSSL's own".into(),
            false => "only Outboard has it; with 'post-quantum = yes'".into(),
        };
    }
    let by_ratio = |a: &&&Measurement, b: &&&Measurement| a.ratio.total_cmp(&b.ratio);
    let (Some(worst), Some(best)) = (
        measurements.iter().min_by(by_ratio),
        measurements.iter().max_by(by_ratio),
    ) else {
        return match (profile.is_built_in(), profile.chosen()) {
            (false, _) => "not measured".into(),
            (true, 0) => "nothing is known about this class of processor".into(),
            (true, _) => "built-in measurement for this processor class".into(),
        };
    };
    let at = |m: &Measurement| {
        if m.size == 0 {
            String::new()
        } else {
            format!(" at {}", bytes(m.size))
        }
    };
    match Verdict::of(operation, &profile.measurements) {
        Verdict::Unmeasured => "not measured".into(),
        // One digit would say of 1.04 that nothing is won.
        Verdict::Wins if best.ratio < 1.1 => {
            format!("{:.2} times as fast{}", best.ratio, at(best))
        }
        Verdict::Wins => format!("{:.1} times as fast{}", best.ratio, at(best)),
        Verdict::DrawsWithItsFamily => "a draw, but Outboard has its keys anyway".into(),
        Verdict::WinsOneWay => "faster, but the opposite operation is not".into(),
        Verdict::Draws => "a draw".into(),
        Verdict::Loses => format!("slower: {:.2} times as fast{}", worst.ratio, at(worst)),
    }
}

/// For an operation that the profile has run in lanes, the numbers that it then goes by.
fn rule(profile: &Profile, operation: Operation) -> Option<Rule> {
    let is_in_lanes = profile.path(operation).has_lanes();
    let kind = card::Kind::of(operation).filter(|_| is_in_lanes)?;
    let break_even = profile.break_even();
    let (lanes, queued) = break_even.get(operation)?;
    Some(Rule {
        operation,
        alone: match () {
            () if break_even.is_wide(kind) => Route::Wide,
            () if lanes == 1 => Route::Card,
            () => Route::Scalar,
        },
        lanes,
        queued,
        measured: profile.lanes.iter().any(|one| one.operation == operation),
    })
}

impl Libcrypto {
    fn of(library: &Library) -> Self {
        Self {
            version: library.version(),
            path: library.mapped_path(),
            configuration_directory: library.configuration_directory(),
            modules_directory: library.modules_directory(),
        }
    }
}

impl Report<'_> {
    /// The rule by which cards are used, and its numbers.
    fn concurrency(&self) -> String {
        if self.cards.is_empty() {
            return String::new();
        }
        let mut table = Table::new(&[
            ("concurrency", Align::Left),
            ("alone", Align::Left),
            ("lanes from", Align::Right),
            ("queued from", Align::Right),
            ("numbers", Align::Left),
        ]);
        for rule in &self.cards {
            table.row([
                rule.operation.name().to_owned(),
                match rule.alone {
                    Route::Card => "one lane",
                    path => path.name(),
                }
                .to_owned(),
                of_eight(rule.lanes),
                of_eight(rule.queued),
                if rule.measured {
                    "measured"
                } else {
                    "built in"
                }
                .to_owned(),
            ]);
        }
        format!("\n{}\n{CONCURRENCY}", table.render())
    }

    fn heading(&self) -> String {
        let libcrypto = &self.libcrypto;
        let (path, created) = (self.profile.path.display(), self.profile.created);
        let profile = match (
            &self.profile.not_used_because,
            &self.profile.out_of_date_because,
        ) {
            (None, None) => format!("{path}, measured {created}"),
            (None, Some(reason)) => {
                format!("{path} of {created}: {reason} (run 'outboard calibrate')")
            }
            (Some(reason), _) => format!("built in: {reason}"),
        };
        let profile = printable(&profile);
        format!(
            "processor  {}\nfeatures   {}\nlibcrypto  {} ({})\nprofile    {profile}\n",
            self.machine,
            self.machine.features.join(" "),
            libcrypto.version,
            libcrypto.path.display(),
        )
    }
}
