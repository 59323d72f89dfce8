//! `outboard probe`: the child process in which other commands try a configuration. Not for people.

use crate::Failure;
use crate::output;
use outboard_inspect::probe;
use std::path::PathBuf;
use std::process::ExitCode;

/// Loads a configuration as a program would, and reports
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The configuration; without it, only the module is tried
    #[arg(long)]
    config: Option<PathBuf>,
    /// The module to load by its path if the configuration does not
    #[arg(long)]
    module: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let report = probe::run(arguments.config.as_deref(), arguments.module.as_deref())?;
    output::print(&serde_json::to_string(&report)?)?;
    Ok(ExitCode::SUCCESS)
}
