//! `outboard advise`: which algorithms should this machine use?

mod document;
mod level;
mod order;
mod pairs;
mod serving;
mod ssh;
mod tls;

pub(crate) use ssh::{DropIn, SSH_DIRECTORY, Side, Verdict, check_directory, drop_ins};

use crate::{Failure, WrongUsage};
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

/// Refuses names of `--only` that `subject` does not have here. The error lists the names that it has.
fn check_only(only: &[String], known: &[&str], subject: &str) -> Result<(), Failure> {
    let unknown: Vec<&str> = only
        .iter()
        .map(String::as_str)
        .filter(|name| !known.contains(name))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    let (unknown, known) = (unknown.join(", "), known.join(", "));
    let message =
        format!("--only: {subject} has no algorithm {unknown} to measure (it has {known})");
    Err(WrongUsage(message).into())
}
