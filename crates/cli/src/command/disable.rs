//! `outboard disable`: the system's openssl.cnf as it was.

use super::enable::{backup_of, resolve};
use crate::openssl_conf;
use crate::output::{To, fold, print, print_json};
use crate::processes::{Process, restart_lines, restart_names};
use crate::replace::replace;
use crate::{Failure, system};
use serde::Serialize;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

/// Switch Outboard off for every program of this system
///
/// Takes the block that 'outboard enable' added out of the system's openssl.cnf. If nothing else was
/// changed since, the file is byte for byte what it was before.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The configuration to edit, instead of the system's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    configuration: PathBuf,
    changed: bool,
    /// Whether the file is what it was before 'enable', or was edited since.
    restored: bool,
    restart: Vec<String>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let file = resolve(arguments.config, &system::library()?)?;
    let text =
        fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let stripped = openssl_conf::strip(&text)?;
    let backup = backup_of(&file);
    let mut report = Report {
        changed: stripped != text,
        restored: fs::read(&backup).is_ok_and(|original| original == stripped),
        configuration: file.clone(),
        restart: Vec::new(),
    };
    if report.changed {
        replace::<io::Error>(&file, &stripped, |_| Ok(())).map_err(|error| {
            let remedy = system::remedy();
            format!("cannot replace {}: {error}{remedy}", file.display())
        })?;
        let processes = Process::all();
        report.restart = restart_names(processes.iter().filter(|p| p.outboard.is_some()));
    }
    if report.restored {
        fs::remove_file(&backup)
            .map_err(|error| format!("cannot remove {}: {error}", backup.display()))?;
    }
    if arguments.json {
        print_json("outboard-disable", &report)?;
    } else {
        print(&report.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Report {
    fn text(&self) -> String {
        let file = self.configuration.display();
        let mut text = match (self.changed, self.restored) {
            (false, _) => format!("{file} does not load Outboard; nothing was changed.\n"),
            (true, true) => {
                format!("{file} is byte for byte what it was before 'outboard enable'.\n")
            }
            (true, false) => format!(
                "{file} was edited since 'outboard enable': only Outboard's lines were removed.\n"
            ),
        };
        if !self.restart.is_empty() {
            text.push_str("These still have it loaded until they are restarted:\n");
            for line in restart_lines(&self.restart) {
                text.push_str(&fold(&format!("  {line}\n"), To::Stdout.room()));
            }
        }
        text
    }
}
