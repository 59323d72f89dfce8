//! `outboard advise`: which algorithms should this machine use?

mod arguments;
mod progress;
mod ssh;
mod tls;

use crate::{Failure, WrongUsage};
use outboard_advice::Error;
use std::process::ExitCode;

/// Measure what algorithms cost on this machine, and advise which to use
///
/// Measures real transfers, logins and handshakes, then puts what is safe today in order, the fastest
/// first. Nothing is changed unless it is asked for.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(clap::Subcommand)]
enum Subject {
    Ssh(ssh::Arguments),
    Tls(tls::Arguments),
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.subject {
        Subject::Ssh(arguments) => ssh::run(arguments),
        Subject::Tls(arguments) => tls::run(arguments),
    }
}

/// The failure that ends the command: an unknown name is wrong usage.
fn failure(error: Error) -> Failure {
    match error {
        Error::Unknown { .. } => WrongUsage(error.to_string()).into(),
        other => other.into(),
    }
}
