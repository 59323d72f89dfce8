//! `outboard advise ssh`: the cost of each algorithm of the installed OpenSSH on this machine, and the advised order.

mod text;

use super::arguments::{Level, ServingArguments};
use super::failure;
use super::progress::User;
use crate::Failure;
use crate::output::{print, print_json};
use outboard_advice::ssh::{Choice, Request, SCHEMA, SSH_DIRECTORY, Side, advise, revert};
use outboard_programs::clean_up_on_signals;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  outboard advise ssh                      Measure and show, change nothing
  outboard advise ssh --apply              Write the advice as drop-ins
  outboard advise ssh --revert             Remove the drop-ins
  outboard advise ssh --level fips         Only what FIPS 140-3 allows
  outboard advise ssh --prove              Also copy 1 GiB, before and after
  outboard advise ssh --json >costs.json   Measure once;
  outboard advise ssh --costs costs.json   advise without measuring again

In SSH the client's order decides: both use the first algorithm of the client's list that the server also has. \
So the client's drop-in makes copies from this machine fast. The server's drop-in excludes algorithms.

Drop-in: a file of its own in /etc/ssh/sshd_config.d or /etc/ssh/ssh_config.d.";

/// Which ciphers, MACs and key exchanges should this machine's ssh and sshd use?
///
/// Measures each algorithm of the installed OpenSSH, in real transfers and logins through a temporary sshd on
/// loopback (a minute or two). Then it puts the algorithms that are safe today in order, the fastest first. An
/// algorithm that is configured today and is not broken stays at the end, so that nobody is locked out.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// How careful the choice is
    #[arg(long, value_name = "LEVEL", default_value_t)]
    level: Level,
    /// Leave out algorithms that would only come last
    #[arg(long)]
    strict: bool,
    /// Advise for the server, the client or both
    #[arg(long = "for", value_name = "WHOSE", default_value_t)]
    whose: Whose,
    /// Show the drop-ins and change nothing (default)
    #[arg(long, conflicts_with_all = ["apply", "revert"])]
    dry_run: bool,
    /// Write the drop-ins
    #[arg(long, conflicts_with = "revert")]
    apply: bool,
    /// Remove the drop-ins that --apply wrote
    #[arg(long)]
    revert: bool,
    /// Measure roughly, in about twenty seconds
    #[arg(long)]
    quick: bool,
    /// Measure only these algorithms; the others come after them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Take the costs from a document that --json printed, instead of measuring
    #[arg(long, value_name = "FILE", conflicts_with = "only")]
    costs: Option<PathBuf>,
    /// Copy a file of 1 GiB (128 MiB with --quick) with today's and with the advised lists, in pairs
    #[arg(long, conflicts_with = "revert")]
    prove: bool,
    #[command(flatten)]
    serving: ServingArguments,
    /// The directory of sshd_config, ssh_config and their drop-ins
    #[arg(long, value_name = "DIRECTORY", default_value = SSH_DIRECTORY)]
    directory: PathBuf,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Whose {
    #[default]
    Both,
    Server,
    Client,
}

impl std::fmt::Display for Whose {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Both => "both",
            Self::Server => "server",
            Self::Client => "client",
        })
    }
}

impl Whose {
    fn sides(self) -> &'static [Side] {
        match self {
            Self::Both => &[Side::Server, Side::Client],
            Self::Server => &[Side::Server],
            Self::Client => &[Side::Client],
        }
    }
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    clean_up_on_signals()?;
    let directory = std::path::absolute(&arguments.directory)?;
    let sides = arguments.whose.sides().to_vec();
    if arguments.revert {
        let removed = revert(&sides, &directory)?;
        match arguments.json {
            true => print_json("outboard-advise-ssh-revert", &Reverted { removed })?,
            false => print(&text::reverted(&removed))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let request = Request {
        choice: Choice {
            level: arguments.level.into(),
            strict: arguments.strict,
        },
        sides,
        directory,
        apply: arguments.apply,
        is_quick: arguments.quick,
        only: arguments.only,
        costs: arguments.costs,
        prove: arguments.prove,
        serving: arguments.serving.into(),
    };
    let report = advise(&request, &User).map_err(failure)?;
    match arguments.json {
        true => print_json(SCHEMA, &report)?,
        false => print(&text::of(&report))?,
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Reverted {
    removed: Vec<PathBuf>,
}
