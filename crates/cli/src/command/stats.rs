//! `outboard stats`: the counters of the ledger.

use crate::ledgers::{Ledgers, Which, since};
use crate::listing::{self, Counted};
use crate::output::{To, print, print_json};
use crate::{Failure, output};
use outboard_ledger::{self as ledger, Snapshot};
use outboard_profile::rfc3339;
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  outboard stats              What your own programs did
  outboard stats --all        What everyone's did (root sees all users)
  outboard stats --pid 1234   What one process did
  outboard stats --watch      What happens now, every two seconds
  outboard stats --reset      Begin to count anew";

/// Show what was counted: program, operation, path, number, bytes and time
///
/// Bulk operations are timed by sample; their time is inferred from those that were timed.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    which: Which,
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
        print(&text(&ledgers, "Nothing was counted.\n"))?;
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
    loop {
        std::thread::sleep(interval);
        let now = arguments.which.read()?;
        let differences = since(&now, &before);
        if arguments.json {
            print_json("outboard-stats", &document(&differences))?;
        } else {
            let title = format!("In the last {} s:\n", interval.as_secs());
            let text = text(&differences, "nothing\n");
            let clear = if clear { CLEAR } else { "" };
            print(&format!(
                "{clear}{}{text}",
                output::styled(output::TITLE, title)
            ))?;
        }
        if output::is_unread() {
            return Ok(ExitCode::SUCCESS);
        }
        before = now;
    }
}

fn text(ledgers: &Ledgers, nothing: &str) -> String {
    let parties: Vec<_> = ledgers
        .iter()
        .flat_map(|(_, snapshot)| listing::parties(snapshot))
        .collect();
    match listing::tables(&parties, To::Stdout) {
        tables if tables.is_empty() => nothing.to_owned(),
        tables => tables,
    }
}

#[derive(Serialize)]
struct Document<'a> {
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
