//! `outboard stats`: the counters of the ledger.

use crate::command::info;
use crate::keys::Keys;
use crate::ledgers::{Ledgers, Which, since};
use crate::listing::{self, By, Counted, Sort};
use crate::output::{To, print, print_json};
use crate::served::{Served, seconds};
use crate::table::count;
use crate::{Failure, output, system};
use outboard_ledger::{self as ledger, Snapshot};
use outboard_profile::{Machine, rfc3339};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  outboard stats              What your own programs did
  outboard stats --all        What everyone's did (root sees all users)
  outboard stats --by user    One line for each user (or process, operation)
  outboard stats --pid 1234   What one process did
  outboard stats --watch      What happens now, every two seconds (q quits)
  outboard stats --reset      Begin to count anew

Elapsed: the time by the clock between the beginning and the end of the operations, waiting for a processor \
included; for an operation in the lanes, its share of the batch. Each: that time divided by the count.

CPU time saved: the difference between what OpenSSL and Outboard were measured to need ('outboard calibrate'), for \
each operation that Outboard served.";

/// Show what was counted: program, operation, path, number, bytes and time
///
/// Bulk operations are timed by sample; their time is inferred from those that were timed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    which: Which,
    /// What a line stands for
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "program",
        conflicts_with = "json"
    )]
    by: By,
    /// What is listed first, after whether it runs
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
    /// Show what is counted between one look and the next
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "2",
          value_parser = clap::value_parser!(u64).range(1..))]
    watch: Option<u64>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    if arguments.reset {
        return reset(&arguments);
    }
    if let Some(seconds) = arguments.watch {
        return watch(&arguments, Duration::from_secs(seconds));
    }
    let ledgers = arguments.which.read()?;
    if arguments.json {
        print_json("outboard-stats", &document(&ledgers))?;
    } else {
        let sort = arguments.sort;
        let listed = text(&ledgers, &arguments, sort, "Nothing was counted.\n");
        print(&(listed + &total(&ledgers)))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn reset(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let mut concerned = 0;
    for path in arguments.which.paths() {
        match ledger::reset(&path, arguments.which.pid) {
            Ok(number) => concerned += number,
            Err(error) if arguments.which.tolerates(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(pid) = arguments.which.pid.filter(|_| concerned == 0) {
        return Err(arguments.which.unknown(pid));
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

/// Shows the difference between one look and the next until it is interrupted.
fn watch(arguments: &Arguments, interval: Duration) -> Result<ExitCode, Failure> {
    const CLEAR: &str = "\x1b[H\x1b[2J";
    let clear = std::io::stdout().is_terminal() && !arguments.json;
    let mut before = arguments.which.read()?;
    let mut sort = arguments.sort;
    let keys = Keys::new();
    loop {
        let next = |key| sort = if key == b's' { sort.next() } else { sort };
        if !keys.wait(interval, next) {
            return Ok(ExitCode::SUCCESS);
        }
        let now = arguments.which.read()?;
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

fn text(ledgers: &Ledgers, arguments: &Arguments, sort: Sort, nothing: &str) -> String {
    let all = ledgers.iter();
    let parties = all
        .flat_map(|(_, snapshot)| listing::parties(snapshot))
        .collect();
    let parties = listing::folded(parties, arguments.by, sort);
    match listing::tables(&parties, To::Stdout) {
        tables if tables.is_empty() => nothing.to_owned(),
        tables => tables,
    }
}

/// What all of it comes to, in words; empty where nothing was counted.
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

/// The same by the profile that programs use, or the built-in one, which knows no times.
fn served(ledgers: &Ledgers) -> Served {
    let version = system::library().map_or_else(|_| String::new(), |library| library.version());
    let (profile, _) = info::in_force(&system::profile(), &Machine::detect(), &version);
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
