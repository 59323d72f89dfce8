//! The command `outboard-bench`: workloads, measured and reported.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use outboard_bench::{Failure, compare, evp, first_light, load, report, suite};
use outboard_manual::Manual;

const EXAMPLES: &str = "\
Examples:
  outboard-bench run --quick        Every workload, smaller: under five minutes
  outboard-bench report             What was found: outboard-results/report.html
  outboard-bench run ssh tls        Two workloads, in full
  outboard-bench list               The workloads, and how long they take
  outboard-bench compare OLD NEW    Did something get worse?

Programs get temporary configurations of their own and listen on 127.0.0.1 alone. Ctrl-C leaves nothing \
running and keeps what was measured.

Exit status: 0 done, 1 an error, a figure without its proof, or something that got worse, 2 wrong usage or \
nothing to compare.";

const FILES: &str = "\
outboard-results/
  Results and their report, unless another directory is named.
~/.cache/outboard/bench-profile.json
  What wins on this machine, as outboard-bench measured it for itself where 'outboard calibrate' has not run.";

/// Measures what Outboard gains: in real programs, and operation by operation
#[derive(Parser)]
#[command(name = "outboard-bench", version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Cli<C: Subcommand> {
    #[command(subcommand)]
    command: C,
}

/// What people use; man pages and completions tell of these.
#[derive(Subcommand)]
enum Command {
    /// Measures workloads, stock and with Outboard, with proof: a result file for each
    Run(suite::Arguments),
    /// The workloads: what they measure, how long they take, what they lack
    List(suite::ListArguments),
    /// Holds new results against old ones: status 1 if something got worse
    Compare(compare::Arguments),
    /// Sets results as a page to read, print and pass on
    Report(report::Arguments),
    /// The main job: ssh, nginx and curl on loopback, stock and with Outboard, with proof
    FirstLight(first_light::Arguments),
    /// Each operation through EVP: stock and Outboard, alternating in one process
    Evp(evp::Arguments),
    /// What loading the provider costs a process
    Load(load::Arguments),
}

/// What the build uses.
#[derive(Subcommand)]
enum AnyCommand {
    #[command(flatten)]
    Public(Command),
    /// Writes man pages (man/*.1) and shell completions into a directory
    #[command(hide = true)]
    Generate {
        /// The directory, made if it is not there
        directory: PathBuf,
    },
}

fn main() -> ExitCode {
    let outcome = match Cli::<AnyCommand>::parse().command {
        AnyCommand::Public(command) => command.run(),
        AnyCommand::Generate { directory } => generate(directory),
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
