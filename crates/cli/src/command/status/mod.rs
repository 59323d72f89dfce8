//! `outboard status`: on one screen, whether it is on, for which programs, what it did, and what is wrong.

mod text;

use crate::Failure;
use crate::output::{print, print_json};
use outboard_administration::{Complaint, MasterState};
use outboard_advice::ssh::SSH_DIRECTORY;
use outboard_inspect::{Finding, card_service::Place};
use outboard_installation::{self as system, InForce, Switch};
use outboard_ledger::{LedgerError, Snapshot, all_paths};
use outboard_ledger_report::{Ledgers, Served, parties};
use outboard_openssl_conf::Place as Groups;
use outboard_processes::{Process, restart_command, with_references};
use outboard_profile::{Machine, Profile, Rollout, rfc3339};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  outboard status          One screen: on or off, work done, problems
  outboard status --json   The same for programs

Exit status: 0 all is well, 1 there is something to do, 2 wrong usage. The first line and the exit \
status follow the rules for a Nagios plugin: 1 is a warning.";

/// Show whether Outboard is on, what it did, and what is wrong
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

/// All of it.
#[derive(Serialize)]
struct Report {
    /// Whether programs that start now use it.
    on: bool,
    configuration: Option<PathBuf>,
    /// When the configuration was last changed, and so at the latest when it was switched on.
    since: Option<String>,
    /// The programs that it serves, in words.
    serves: Option<String>,
    /// Which operations it offers.
    offer: Option<String>,
    /// Whether all cryptography is observed.
    observed: bool,
    /// Where the post-quantum groups stand that Outboard gives programs: first, or second. None where it gives none.
    post_quantum: Option<&'static str>,
    processes: Processes,
    /// When the oldest ledger was made. Counters begin there.
    counted_since: Option<String>,
    total: Served,
    programs: Vec<Program>,
    /// The card service; none where nobody expects one.
    service: Option<Service>,
    /// The problems that 'outboard doctor' finds.
    problems: Vec<Finding>,
}

/// Running processes that use OpenSSL 3.
#[derive(Serialize)]
struct Processes {
    with_outboard: usize,
    without_outboard: usize,
    /// Those with an earlier version of Outboard than the one that is installed.
    outdated: usize,
    /// The command that restarts services among those without Outboard and those with an earlier version.
    restart_command: Option<String>,
    /// Services, else programs, that have references to keys of the card service, used or not.
    with_references: Vec<String>,
}

/// How the card service does.
#[derive(Serialize)]
struct Service {
    directory: PathBuf,
    state: &'static str,
    /// Why it does not answer.
    reason: Option<String>,
    keys: Option<u64>,
    master_key: Option<MasterState>,
    /// The last in its log, for administrators.
    complaint: Option<Complaint>,
}

#[derive(Serialize)]
struct Program {
    program: String,
    running: usize,
    #[serde(flatten)]
    served: Served,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let report = Report::of_this_system()?;
    match arguments.json {
        true => print_json("outboard-status", &report)?,
        false => print(&report.text())?,
    }
    Ok(match report.is_well() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

impl Report {
    fn of_this_system() -> Result<Self, Failure> {
        let library = system::library()?;
        let in_force = InForce::find(&library)?;
        let switch = Switch::of(&in_force);
        let (profile, _) = Profile::in_force(
            &switch.profile(),
            &Machine::detect().named(),
            &library.version(),
        );
        let processes = Process::all();
        let (with, without): (Vec<&Process>, Vec<&Process>) = processes
            .iter()
            .filter(|process| process.uses_openssl())
            .partition(|process| process.outboard.is_some());
        // A restart does not help a program that Outboard is not to serve.
        let serves = |process: &&Process| {
            let rollout = switch.rollout.as_ref();
            rollout.is_none_or(|rollout| rollout.serves(&process.name))
        };
        let outdated = || with.iter().copied().filter(|process| process.is_outdated());
        let stale = without.iter().copied().filter(serves).chain(outdated());
        let restart_command = restart_command(stale).filter(|_| switch.is_on);
        let ledgers = ledgers();
        let programs = programs(&ledgers, &profile);
        let mut total = Served::default();
        programs
            .iter()
            .for_each(|program| total.add(program.served));
        let created = ledgers.iter().map(|(_, snapshot)| snapshot.created).min();
        let findings = outboard_inspect::installation(Path::new(SSH_DIRECTORY));
        Ok(Self {
            on: switch.is_on,
            configuration: in_force.path().map(Path::to_owned),
            since: switch.changed.filter(|_| switch.is_on).map(rfc3339),
            serves: switch.rollout.as_ref().map(Rollout::text),
            offer: switch.offer.map(|offer| offer.to_string()),
            observed: switch.is_observed,
            post_quantum: switch.post_quantum.map(|groups| match groups {
                Groups::First => "first",
                Groups::Second => "second",
            }),
            processes: Processes {
                with_outboard: with.len(),
                without_outboard: without.len(),
                outdated: outdated().count(),
                restart_command,
                with_references: with_references(&processes),
            },
            counted_since: created.map(rfc3339),
            total,
            programs,
            service: Service::of_this_system(),
            problems: findings.into_iter().filter(Finding::is_problem).collect(),
        })
    }

    /// Whether there is nothing to do.
    fn is_well(&self) -> bool {
        self.on && self.problems.is_empty()
    }
}

impl Service {
    fn of_this_system() -> Option<Self> {
        let place = Place::in_force();
        if !place.is_known() {
            return None;
        }
        let answer = place.ask();
        let status = answer.told();
        Some(Self {
            state: answer.state(),
            reason: answer.trouble(&place),
            keys: status.map(|status| status.keys),
            master_key: status.map(|status| status.master.state),
            complaint: status.and_then(|status| status.complaint.clone()),
            directory: place.directory,
        })
    }
}

/// Every ledger that this user may read.
fn ledgers() -> Ledgers {
    let read = |path: PathBuf| -> Result<_, LedgerError> {
        let snapshot = Snapshot::read(&path)?;
        Ok((path, snapshot))
    };
    all_paths()
        .into_iter()
        .filter_map(|path| read(path).ok())
        .collect()
}

/// Each program once: running programs first, then by the number of operations.
fn programs(ledgers: &Ledgers, profile: &Profile) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    for party in ledgers.iter().flat_map(|(_, snapshot)| parties(snapshot)) {
        let served = Served::of(&party.counts, profile);
        match programs
            .iter_mut()
            .find(|known| known.program == party.program)
        {
            Some(known) => {
                known.served.add(served);
                known.running += party.running;
            }
            None => programs.push(Program {
                program: party.program.clone(),
                running: party.running,
                served,
            }),
        }
    }
    programs.retain(|program| program.served.asked > 0);
    programs.sort_by_key(|program| {
        (
            program.running == 0,
            std::cmp::Reverse(program.served.asked),
        )
    });
    programs
}
