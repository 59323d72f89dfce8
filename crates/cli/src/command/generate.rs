//! Man pages and shell completions of this command, for `make install`.

use crate::{Cli, Command, Failure};
use clap::CommandFactory;
use outboard_manual::Manual;
use std::path::PathBuf;
use std::process::ExitCode;

const FILES: &str = "\
/var/lib/outboard/profile.json
  What wins on this machine, by 'outboard calibrate' as root.
~/.local/state/outboard/profile.json
  A user's own profile, which 'outboard run' and 'outboard info' prefer.
/dev/shm/outboard.UID
  A user's ledger.
/dev/shm/outboard-observed-3.UID
  A user's record, after 'outboard enable --observe'.";

/// Writes man pages (man/*.1) and shell completions into a directory
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The directory, made if it is not there
    directory: PathBuf,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let manual = Manual {
        command: Cli::<Command>::command(),
        files: FILES,
        see_also: "config(5), provider(7), property(7), openssl-list(1), outboard-bench(1)",
    };
    manual.write(&arguments.directory)?;
    Ok(ExitCode::SUCCESS)
}
