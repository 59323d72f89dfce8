//! `outboard disable`: the system's openssl.cnf as it was.

use super::enable::{is_the_system_s, refuse_stray, resolve};
use crate::output::{To, fold, print, print_json};
use crate::{Failure, WrongUsage};
use outboard_file_replacement::replace;
use outboard_inspect::references;
use outboard_installation::{self as installation, backup_of};
use outboard_openssl_conf as openssl_conf;
use outboard_processes::{Process, restart_command, restart_lines, restart_names};
use outboard_profile::{Rollout, rollout};
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  outboard disable            Remove the lines of 'outboard enable'
  outboard disable --for ssh  Switch off for ssh only";

/// Switch Outboard off for every program of this system
///
/// Removes the block that 'outboard enable' added to the system's openssl.cnf. If the file has no other
/// change since then, every byte is as before.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Edit this configuration instead of the system's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Exclude only this program; repeat the option, or separate names by commas
    #[arg(long = "for", value_name = "PROGRAM", value_delimiter = ',')]
    programs: Vec<String>,
    /// Remove the lines even if key files of this system hold references to keys of the card service
    #[arg(long)]
    anyway: bool,
    /// A program without --for: refused with the line that is meant
    #[arg(hide = true)]
    stray: Vec<String>,
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
    /// The programs that Outboard still serves, in words; none where it was taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    serves: Option<String>,
    restart: Vec<String>,
    /// The line to type for the services among them.
    restart_command: Option<String>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    refuse_stray("disable", &arguments.programs, &arguments.stray)?;
    let library = installation::library()?;
    let file = resolve(arguments.config, &library)?;
    let text =
        fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    let programs = rollout::programs(&arguments.programs).map_err(WrongUsage)?;
    let stripped = openssl_conf::strip(&text)?;
    if !programs.is_empty()
        && let Some(report) = leave_out(&programs, &file, &text)?
    {
        return report.tell(arguments.json);
    }
    if stripped != text && !arguments.anyway && is_the_system_s(&file, &library) {
        refuse_needed(&file)?;
    }
    let backup = backup_of(&file);
    let mut report = Report {
        changed: stripped != text,
        restored: fs::read(&backup).is_ok_and(|original| original == stripped),
        configuration: file.clone(),
        serves: None,
        restart: Vec::new(),
        restart_command: None,
    };
    if report.changed {
        put(&file, &stripped)?;
        report.name_restarts(|_| true);
    }
    if report.restored {
        fs::remove_file(&backup)
            .map_err(|error| format!("cannot remove {}: {error}", backup.display()))?;
    }
    report.tell(arguments.json)
}

/// Refuses while servers of this system read references to keys of the card service: without Outboard they do not start.
fn refuse_needed(file: &Path) -> Result<(), Failure> {
    let found = references::of_system();
    if found.is_empty() {
        return Ok(());
    }
    let names = references::names(found.iter().map(|held| held.file.as_path()), ", ");
    Err(format!(
        "{} is unchanged: no program could read the references to keys of the card service in {names}, so servers would not \
         start (first {}, and restart the servers; --anyway removes the lines all the same)",
        file.display(),
        references::way_back(&found)
    )
    .into())
}

/// Rewrites the block so that Outboard no longer serves these programs. `None` where there is no block, or where no
/// program would be left: then the block goes.
fn leave_out(programs: &[String], file: &Path, text: &[u8]) -> Result<Option<Report>, Failure> {
    let Some(mut earlier) = openssl_conf::earlier(text, file, installation::environment)? else {
        return Ok(None);
    };
    let mut rollout = Rollout::of(&earlier.settings.others);
    if !rollout.exclude(programs) {
        return Ok(None);
    }
    rollout.write(&mut earlier.settings.others);
    let new = earlier.write(text, file, installation::environment)?.text;
    let mut report = Report {
        changed: new != text,
        restored: false,
        configuration: file.to_owned(),
        serves: Some(rollout.text()),
        restart: Vec::new(),
        restart_command: None,
    };
    if report.changed {
        put(file, &new)?;
        report.name_restarts(|process| !rollout.serves(&process.name));
    }
    Ok(Some(report))
}

fn put(file: &Path, text: &[u8]) -> Result<(), Failure> {
    replace::<io::Error>(file, text, |_| Ok(())).map_err(|error| {
        let remedy = installation::remedy();
        format!("cannot replace {}: {error}{remedy}", file.display()).into()
    })
}

impl Report {
    /// Names the concerned processes that have loaded Outboard.
    fn name_restarts(&mut self, concerns: impl Fn(&Process) -> bool) {
        let processes = Process::all();
        let loaded = || {
            let all = processes.iter();
            all.filter(|process| process.outboard.is_some() && concerns(process))
        };
        self.restart = restart_names(loaded());
        self.restart_command = restart_command(loaded());
    }

    fn tell(&self, json: bool) -> Result<ExitCode, Failure> {
        match json {
            true => print_json("outboard-disable", self)?,
            false => print(&self.text())?,
        }
        Ok(ExitCode::SUCCESS)
    }

    fn text(&self) -> String {
        let file = self.configuration.display();
        let mut text = match (self.changed, self.restored) {
            (changed, _) if self.serves.is_some() => format!(
                "Outboard {} {}.\n",
                if changed {
                    "now serves"
                } else {
                    "already serves only"
                },
                self.serves.as_deref().unwrap_or_default()
            ),
            (false, _) => format!("{file} does not load Outboard; nothing was changed.\n"),
            (true, true) => {
                format!("{file} is byte for byte what it was before 'outboard enable'.\n")
            }
            (true, false) => {
                let backup = backup_of(&self.configuration);
                let kept = match backup.exists() {
                    true => format!(" {} stays: the file before that.", backup.display()),
                    false => String::new(),
                };
                format!(
                    "{file} was edited since 'outboard enable': only Outboard's lines were removed.{kept}\n"
                )
            }
        };
        if !self.restart.is_empty() {
            text.push_str("These processes use Outboard until they restart:\n");
            for line in restart_lines(&self.restart) {
                text.push_str(&fold(&format!("  {line}\n"), To::Stdout.room()));
            }
        }
        if let Some(command) = &self.restart_command {
            // Not folded, so that the user can copy it.
            text.push_str(&format!("To restart the services, run:\n  {command}\n"));
        }
        text
    }
}
