//! The command `outboard-bench`: workloads, measured and reported.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use outboard_bench::workloads::{coprocessor, token};
use outboard_bench::{Failure, compare, evp, first_light, handshake, load, report, suite};
use outboard_manual::Manual;

const EXAMPLES: &str = "\
Examples:
  outboard-bench run --quick        Run every workload, smaller: some 10 minutes
  outboard-bench report             Make a page: outboard-results/report.html
  outboard-bench run ssh tls        Run two workloads, in full
  outboard-bench list               List the workloads and their times
  outboard-bench compare OLD NEW    Did something get worse?

Each program gets its own temporary configuration and listens only on 127.0.0.1. Ctrl-C stops every started \
program and keeps the results so far.

Exit status: 0 done, 1 an error, a figure without its proof, or a figure that got worse, 2 wrong usage or \
nothing to compare.

Stock: OpenSSL without Outboard.

Proof: the counters of Outboard's ledger, which show that Outboard did the measured operations.";

const FILES: &str = "\
outboard-results/
  Results and their report, unless you name another directory.
~/.cache/outboard/bench-profile.json
  The cost of each operation on this machine. outboard-bench measures it for itself if 'outboard calibrate' has \
                     not run.";

/// Measure what Outboard gains: in real programs, and for each operation
#[derive(Parser)]
#[command(name = "outboard-bench", version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Cli<C: Subcommand> {
    #[command(subcommand)]
    command: C,
}

/// The commands that people use. Man pages and completions describe them.
#[derive(Subcommand)]
enum Command {
    /// Measure workloads with stock OpenSSL and with Outboard, with proof; write a result file for each
    Run(suite::Arguments),
    /// List the workloads: what they measure, how long they take, what they lack here
    List(suite::ListArguments),
    /// Compare new results with old ones; status 1 if something got worse
    Compare(compare::Arguments),
    /// Make a page of the results, to read, print and send
    Report(report::Arguments),
    /// Run ssh, nginx and curl on loopback, with stock OpenSSL and with Outboard, with proof
    FirstLight(first_light::Arguments),
    /// Measure each operation through EVP: stock and Outboard take turns in one process
    Evp(evp::Arguments),
    /// Show where a server's time goes in a TLS connection, with stock OpenSSL and with Outboard
    Handshake(handshake::Arguments),
    /// Measure what loading the provider costs a process
    Load(load::Arguments),
}

/// All commands, including the one that the build uses.
#[derive(Subcommand)]
enum AnyCommand {
    #[command(flatten)]
    Public(Command),
    /// Write man pages (man/*.1) and shell completions into a directory
    #[command(hide = true)]
    Generate {
        /// The directory; the command makes it if it does not exist
        directory: PathBuf,
    },
    /// The server and client in memory of the command handshake
    #[command(hide = true)]
    Pair(handshake::PairArguments),
    /// The process that calls a PKCS #11 module for the workload token
    #[command(hide = true)]
    TokenCaller(token::CallerArguments),
    /// The process that calls verbs for the workload coprocessor
    #[command(hide = true)]
    CcaCaller(coprocessor::CallerArguments),
}

fn main() -> ExitCode {
    outboard_manual::complete(Cli::<Command>::command);
    let outcome = match outboard_manual::parse::<Cli<AnyCommand>>().command {
        AnyCommand::Public(command) => command.run(),
        AnyCommand::Generate { directory } => generate(directory),
        AnyCommand::Pair(arguments) => handshake::pair(&arguments),
        AnyCommand::TokenCaller(arguments) => token::serve(&arguments),
        AnyCommand::CcaCaller(arguments) => coprocessor::serve(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("outboard-bench: {error}");
        ExitCode::FAILURE
    })
}

impl Command {
    fn run(self) -> Result<ExitCode, Failure> {
        match self {
            Self::Run(arguments) => suite::run(&arguments),
            Self::List(arguments) => suite::list(&arguments),
            Self::Compare(arguments) => compare::run(&arguments),
            Self::Report(arguments) => report::run(&arguments),
            Self::FirstLight(arguments) => first_light::run(&arguments),
            Self::Evp(arguments) => evp::run(&arguments),
            Self::Handshake(arguments) => handshake::run(&arguments),
            Self::Load(arguments) => load::run(&arguments),
        }
    }
}

fn generate(directory: PathBuf) -> Result<ExitCode, Failure> {
    let manual = Manual {
        command: Cli::<Command>::command(),
        files: FILES,
        see_also: "outboard(1), openssl-speed(1), perf(1)",
    };
    manual.write(&directory)?;
    Ok(ExitCode::SUCCESS)
}
