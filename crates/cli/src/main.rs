//! The command outboard: status, run, observe, info, stats, cards, calibrate, advise, enable, disable, doctor, service, keys, token, cca, java.
//!
//! ```text
//! main ──▶ command/* ──▶ outboard-inspect  what is wrong, why, and the remedy; the card service, and whether it answers
//!                    ├─▶ outboard-openssl-conf   what openssl.cnf says, and the block that 'enable' adds
//!                    ├─▶ outboard-jdk      a JDK's security properties, and lines that are added to them
//!                    ├─▶ outboard-installation  where this system has OpenSSL, its configuration, profiles, modules
//!                    ├─▶ outboard-processes  which process uses which libcrypto
//!                    ├─▶ stage, supervise  running a program so that it does not notice
//!                    ├─▶ outboard-file-replacement  changing a file so that no process reads half of it
//!                    ├─▶ outboard-ledger-report  what the ledger counted, added up
//!                    ├─▶ listing           the same as tables
//!                    ├─▶ completion        keys, processes and users, as a shell offers them
//!                    ├─▶ keystrokes        single keystrokes from a terminal
//!                    ├─▶ outboard-accounts  users and groups by name and number
//!                    ├─▶ outboard-wording  counts, sizes and times, as people read them
//!                    └─▶ output, table     output for people and, with --json, for programs
//! ```

mod command;
mod completion;
mod keystrokes;
mod listing;
mod output;
mod stage;
mod supervise;
mod table;

use clap::{CommandFactory, Parser, Subcommand};
use outboard_installation as installation;
use outboard_wire::SYSTEM_DIRECTORY;
use std::path::Path;
use std::process::ExitCode;

/// The reason why a command failed: one sentence that names the thing, the reason and the remedy.
type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A [`Failure`] that the caller caused: an argument that only the installed programs can recognise as wrong.
#[derive(Debug)]
struct WrongUsage(String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

const EXAMPLES: &str = "\
Examples:
  outboard calibrate                      Measure this machine (under a minute)
  outboard run --proof -- ssh host true   Run a program, list what ran where
  outboard observe -- curl URL            List a program's cryptography and cost
  outboard enable                         Switch on for every program
  outboard status                         Show: on or off, work done, problems
  outboard stats --all                    Count the operations of each program
  outboard cards                          Show queues and how full the lanes are
  outboard doctor --pid 1234              Say why a process does not use it

Exit status: 0 done, 1 an error or a problem found, 2 wrong usage; \
'run' and 'observe' return the status of the program that they run, and 'cca call' the return code of the verb.

Path: where an operation runs. Path 'stock' is the program's own OpenSSL. Path 'scalar' is AWS-LC, or \
Outboard's own code, one operation at a time on the caller's thread. Path 'wide' spreads one operation across the lanes. Path 'card' runs several in them.

Lane: one of eight places in the vector registers of a processor with AVX-512 IFMA. Eight private-key \
operations, one in each lane, cost about as much as two to five one after the other.

Card: a queue of up to eight operations of one kind, and a worker thread that runs the waiting operations in the \
                        lanes. \
A process has cards only if it has several operations at the same time.";

/// Make the cryptography of installed programs faster, and prove it
///
/// Outboard is an OpenSSL provider and this command. Programs that use OpenSSL 3 (sshd, nginx, curl, Python
/// and so on) use Outboard without a rebuild. Outboard does only the operations that it does faster on this
/// machine, according to a measurement. OpenSSL does everything else.
#[derive(Parser)]
#[command(name = "outboard", version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Cli<C: Subcommand> {
    #[command(subcommand)]
    command: C,
}

/// The commands that people use. Man pages and completions describe them.
#[derive(Subcommand)]
enum Command {
    Status(command::status::Arguments),
    Run(command::run::Arguments),
    Observe(command::observe::Arguments),
    Info(command::info::Arguments),
    Stats(command::stats::Arguments),
    Cards(command::cards::Arguments),
    Calibrate(command::calibrate::Arguments),
    Advise(command::advise::Arguments),
    Enable(command::enable::Arguments),
    Disable(command::disable::Arguments),
    Doctor(command::doctor::Arguments),
    Service(command::service::Arguments),
    Keys(command::keys::Arguments),
    Token(command::token::Arguments),
    Cca(command::cca::Arguments),
    Java(command::java::Arguments),
}

/// All commands, including those that the build and the command itself use.
#[derive(Subcommand)]
enum AnyCommand {
    #[command(flatten)]
    Public(Command),
    #[command(hide = true)]
    Generate(command::generate::Arguments),
    #[command(hide = true)]
    Probe(command::probe::Arguments),
}

fn main() -> ExitCode {
    outboard_manual::complete(Cli::<Command>::command);
    // clap prints usage errors itself and exits with 2.
    let outcome = match outboard_manual::parse::<Cli<AnyCommand>>().command {
        AnyCommand::Public(command) => command.run(),
        AnyCommand::Generate(arguments) => command::generate::run(arguments),
        AnyCommand::Probe(arguments) => command::probe::run(arguments),
    };
    outcome.unwrap_or_else(|failure| {
        let missing = is_of_no_service(&failure).then(service_is_missing);
        output::complain(&missing.unwrap_or_else(|| failure.to_string()));
        match failure.is::<WrongUsage>() {
            true => ExitCode::from(2),
            false => ExitCode::FAILURE,
        }
    })
}

/// Whether the command looked for the system's card service, and there is none.
fn is_of_no_service(failure: &Failure) -> bool {
    use outboard_administration::Error;
    let Some(Error::Unreachable { path, reason }) = failure.downcast_ref() else {
        return false;
    };
    reason.kind() == std::io::ErrorKind::NotFound
        && path.parent() == Some(Path::new(SYSTEM_DIRECTORY))
        && !installation::has_service()
}

/// What to say then.
fn service_is_missing() -> String {
    format!(
        "the card service is not installed (run '{}', then 'systemctl enable --now outboard.socket outboard-agent.socket \
         outboard.service'; docs/service.md)",
        installation::service_installation()
    )
}

impl Command {
    fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Status(arguments) => command::status::run(arguments),
            Self::Run(arguments) => command::run::run(arguments),
            Self::Observe(arguments) => command::observe::run(arguments),
            Self::Info(arguments) => command::info::run(arguments),
            Self::Stats(arguments) => command::stats::run(arguments),
            Self::Cards(arguments) => command::cards::run(arguments),
            Self::Calibrate(arguments) => command::calibrate::run(arguments),
            Self::Advise(arguments) => command::advise::run(arguments),
            Self::Enable(arguments) => command::enable::run(arguments),
            Self::Disable(arguments) => command::disable::run(arguments),
            Self::Doctor(arguments) => command::doctor::run(arguments),
            Self::Service(arguments) => command::service::run(arguments),
            Self::Keys(arguments) => command::keys::run(arguments),
            Self::Token(arguments) => command::token::run(arguments),
            Self::Cca(arguments) => command::cca::run(arguments),
            Self::Java(arguments) => command::java::run(arguments),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each paragraph is one line, because the terminal's width decides where a line breaks. Examples have columns.
    #[test]
    fn help_fits_a_terminal_of_80_columns() {
        fn check(command: &clap::Command) {
            let epilogue = command.get_after_help().map(ToString::to_string);
            for paragraph in epilogue.unwrap_or_default().split("\n\n") {
                let lines = paragraph.lines();
                assert!(
                    paragraph.is_ascii(),
                    "help is for every locale: {paragraph}"
                );
                match paragraph.starts_with("Examples:") {
                    true => lines.for_each(|line| assert!(line.chars().count() <= 80, "{line}")),
                    false => assert!(lines.count() <= 1, "{paragraph}"),
                }
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::<Command>::command());
    }
}
