//! `outboard stats`: the counters of the ledger, and of the card service's keys.

mod http;
mod keys;

use crate::keystrokes::Keys;
use crate::listing::{self, WhichArguments};
use crate::output::{To, print, print_json};
use crate::{Failure, output};
use outboard_inspect::card_service::Place;
use outboard_installation as installation;
use outboard_ledger::{self as ledger, Snapshot};
use outboard_ledger_report::{
    self as report, Counted, Error, Ledgers, Served, Which, openmetrics, seconds, since,
};
use outboard_profile::{Machine, Profile, rfc3339};
use outboard_wording::count;
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  outboard stats              Show the operations of your own programs
  outboard stats --all        Show all programs (root sees all users)
  outboard stats --by user    One line for each user (or process, operation)
  outboard stats --pid 1234   Show one process
  outboard stats --watch      Show changes every two seconds (q quits)
  outboard stats --reset      Set the counters to zero
  outboard stats --keys       Show who used which key of the card service
  outboard stats --openmetrics
                              Print text for Prometheus (node_exporter)

Elapsed: the clock time from the beginning to the end of the operations, including waits for a processor. \
An operation in the lanes counts with its share of the batch. Each: that time divided by the count.

--keys: the operations with each key since the card service started, by user and by process. Root and the service's \
user see all; the administrator of a key sees that key; other users see their own use. The processes that used a key \
last are listed, and the others are added up.

CPU time saved: for each operation that Outboard served, the difference between the times of OpenSSL and \
Outboard that 'outboard calibrate' measured.";

/// The meaning of a line of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum By {
    /// All processes of one program
    #[default]
    Program,
    /// All processes of one user
    User,
    /// One kind of operation, of every process
    Operation,
    /// One process
    Process,
}

impl From<By> for report::By {
    fn from(by: By) -> Self {
        match by {
            By::Program => Self::Program,
            By::User => Self::User,
            By::Operation => Self::Operation,
            By::Process => Self::Process,
        }
    }
}

/// The order of lines: among running programs, and then among ended ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Sort {
    /// The longest time
    #[default]
    Elapsed,
    /// The most operations
    Count,
    /// The first in the alphabet
    Name,
}

impl From<Sort> for report::Sort {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Elapsed => Self::Elapsed,
            Sort::Count => Self::Count,
            Sort::Name => Self::Name,
        }
    }
}

/// Show the counters: program, operation, path, number, bytes and time
///
/// Outboard times only a sample of the bulk operations, and estimates their total time from the sample.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    which: WhichArguments,
    /// Add up the counters by this
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "program",
        conflicts_with = "json"
    )]
    by: By,
    /// Sort by this; running programs always come first
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "elapsed",
        conflicts_with = "json"
    )]
    sort: Sort,
    /// Set the counters to zero
    #[arg(long, conflicts_with = "watch")]
    reset: bool,
    /// Show the changes in each interval, of 2 seconds unless you name another
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2",
          value_parser = clap::value_parser!(u64).range(1..))]
    watch: Option<u64>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    /// Print OpenMetrics text, for Prometheus: also the card service's counters. If standard input is a TCP connection
    /// (outboard-metrics.socket), answer one request of HTTP for /metrics
    #[arg(long, conflicts_with_all = ["json", "reset", "watch", "by", "sort"])]
    openmetrics: bool,
    /// Show who used which key of the card service
    #[arg(long, conflicts_with_all = ["openmetrics", "reset", "watch", "by", "sort", "pid", "program", "all", "ledger"])]
    keys: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    if arguments.keys {
        return keys::show(arguments.json);
    }
    if arguments.reset {
        return reset(&arguments);
    }
    if let Some(seconds) = arguments.watch {
        return watch(&arguments, Duration::from_secs(seconds));
    }
    let ledgers = listing::read(&(&arguments.which).into())?;
    if arguments.openmetrics {
        let place = Place::in_force();
        let text = || openmetrics::text(&ledgers, &place.ask(), &place.usage());
        match http::connection() {
            // A client that is gone wants no answer.
            Some(client) => http::answer(client, text).unwrap_or_default(),
            None => print(&text())?,
        }
    } else if arguments.json {
        print_json("outboard-stats", &document(&ledgers))?;
    } else {
        let sort = arguments.sort.into();
        let listed = text(&ledgers, &arguments, sort, "Nothing was counted.\n");
        print(&(listed + &total(&ledgers)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn reset(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let which = Which::from(&arguments.which);
    let mut concerned = 0;
    for path in which.paths() {
        match ledger::reset(&path, which.pid) {
            Ok(number) => concerned += number,
            Err(error) if which.tolerates(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(pid) = which.pid.filter(|_| concerned == 0) {
        return Err(Error::UnknownProcess(pid).into());
    }
    if arguments.json {
        #[derive(Serialize)]
        struct Reset {
            reset: usize,
        }
        print_json("outboard-stats-reset", &Reset { reset: concerned })?;
    } else {
        let plural = if concerned == 1 { "" } else { "es" };
        print(&format!(
            "Set the counters of {concerned} process{plural} to zero.\n"
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the difference between two readings, again and again, until the user ends it.
fn watch(arguments: &Arguments, interval: Duration) -> Result<ExitCode, Failure> {
    const CLEAR: &str = "\x1b[H\x1b[2J";
    let clear = std::io::stdout().is_terminal() && !arguments.json;
    let which = Which::from(&arguments.which);
    let mut before = listing::read(&which)?;
    let mut sort = report::Sort::from(arguments.sort);
    let keys = Keys::new();
    loop {
        let next = |key| {
            sort = if key == b's' {
                report::Sort::next(sort)
            } else {
                sort
            }
        };
        if !keys.wait(interval, next) {
            return Ok(ExitCode::SUCCESS);
        }
        let now = listing::read(&which)?;
        let differences = since(&now, &before);
        if arguments.json {
            print_json("outboard-stats", &document(&differences))?;
        } else {
            let title = format!("In the last {} s:\n", interval.as_secs());
            let text = text(&differences, arguments, sort, "nothing\n");
            let clear = if clear { CLEAR } else { "" };
            let hint = match keys.are_there() {
                true => format!("\nq: quit   s: sort (now by {})\n", sort.name()),
                false => String::new(),
            };
            print(&format!(
                "{clear}{}{text}{hint}",
                output::styled(output::TITLE, title)
            ))?;
        }
        if output::is_unread() {
            return Ok(ExitCode::SUCCESS);
        }
        before = now;
    }
}

fn text(ledgers: &Ledgers, arguments: &Arguments, sort: report::Sort, nothing: &str) -> String {
    let all = ledgers.iter();
    let parties = all
        .flat_map(|(_, snapshot)| report::parties(snapshot))
        .collect();
    let parties = report::folded(parties, arguments.by.into(), sort);
    match listing::tables(&parties, To::Stdout) {
        tables if tables.is_empty() => nothing.to_owned(),
        tables => tables,
    }
}

/// The total in words. Empty if nothing was counted.
fn total(ledgers: &Ledgers) -> String {
    let served = served(ledgers);
    let since = ledgers.iter().map(|(_, snapshot)| snapshot.created).min();
    let (Some(share), Some(since)) = (served.share(), since) else {
        return String::new();
    };
    let mut text = format!(
        "\nOutboard served {} of {} operations ({share:.0} %) since {}.\n",
        count(served.served),
        count(served.asked),
        rfc3339(since)
    );
    if let Some(saved) = served.saved_cpu_seconds {
        text += &format!(
            "CPU time saved, by this machine's profile: {}.\n",
            seconds(saved)
        );
    }
    text
}

/// The total, priced by the profile that programs use. The built-in profile has no times.
fn served(ledgers: &Ledgers) -> Served {
    let version =
        installation::library().map_or_else(|_| String::new(), |library| library.version());
    let (profile, _) = Profile::in_force(&installation::profile(), &Machine::detect(), &version);
    let mut served = Served::default();
    for (_, snapshot) in ledgers {
        served.add(Served::of(&snapshot.total(), &profile));
    }
    served
}

#[derive(Serialize)]
struct Document<'a> {
    /// Of all ledgers together.
    served: Served,
    ledgers: Vec<Ledger<'a>>,
}

#[derive(Serialize)]
struct Ledger<'a> {
    ledger: &'a PathBuf,
    created: String,
    total: Counted,
    processes: Vec<Process<'a>>,
    programs: Vec<Program<'a>>,
}

#[derive(Serialize)]
struct Process<'a> {
    pid: u32,
    uid: u32,
    program: &'a str,
    alive: bool,
    started: String,
    #[serde(flatten)]
    counted: Counted,
}

#[derive(Serialize)]
struct Program<'a> {
    program: &'a str,
    processes: u64,
    #[serde(flatten)]
    counted: Counted,
}

fn document(ledgers: &Ledgers) -> Document<'_> {
    Document {
        served: served(ledgers),
        ledgers: ledgers
            .iter()
            .map(|(path, snapshot)| Ledger::new(path, snapshot))
            .collect(),
    }
}

impl<'a> Ledger<'a> {
    fn new(path: &'a PathBuf, snapshot: &'a Snapshot) -> Self {
        Self {
            ledger: path,
            created: rfc3339(snapshot.created),
            total: (&snapshot.total()).into(),
            processes: snapshot
                .processes
                .iter()
                .map(|process| Process {
                    pid: process.pid,
                    uid: process.uid,
                    program: &process.program,
                    alive: process.alive,
                    started: rfc3339(process.started),
                    counted: (&process.counts).into(),
                })
                .collect(),
            programs: snapshot
                .programs
                .iter()
                .map(|program| Program {
                    program: &program.program,
                    processes: program.processes,
                    counted: (&program.counts).into(),
                })
                .collect(),
        }
    }
}
