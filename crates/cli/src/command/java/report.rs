//! What 'outboard java' says.

use super::failed;
use super::plan::{Keys, Plan, Way};
use super::trial::Tried;
use crate::Failure;
use crate::output::{To, fold};
use outboard_installation::backup_of;
use outboard_processes::{Process, restart_command, restart_lines, restart_names};
use outboard_wording::printable;
use serde::Serialize;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
pub(super) struct Report {
    jdk: PathBuf,
    jdk_version: String,
    /// Whether the JDK's own java.security is meant, or a file for one server.
    whole_jdk: bool,
    slot: u64,
    /// The provider's name in Java.
    provider: String,
    /// The number of its line.
    number: usize,
    configuration: Text,
    /// The lines of Outboard in the security properties.
    properties: Text,
    /// What a server is started with; none with --whole-jdk.
    option: Option<String>,
    pub(super) changed: bool,
    pub(super) tried: Vec<Tried>,
    notes: Vec<String>,
    restart: Vec<String>,
    restart_command: Option<String>,
}

#[derive(Serialize)]
struct Text {
    file: PathBuf,
    lines: String,
}

const PACKAGED: &str = "a package manager that finds java.security changed asks what to do when an upgrade of the JDK changes it, \
                        too, and unattended upgrades leave such a package out";

impl Report {
    pub(super) fn of(plan: &Plan) -> Self {
        let is_whole = plan.way == Way::Jdk;
        let mut notes = Vec::new();
        if is_whole {
            notes.push(PACKAGED.to_owned());
        }
        if let Keys::Token(_) | Keys::Coprocessor = plan.keys {
            let password = match plan.keys {
                Keys::Token(_) => "the PIN, or none if the token has no PIN",
                _ => "none",
            };
            notes.push(format!(
                "in the server's key store: type PKCS11, provider {}, no file, password: {password}",
                plan.pkcs11.provider()
            ));
        }
        let text = |file: &Path, text: &str| Text {
            file: file.to_owned(),
            lines: text.to_owned(),
        };
        Self {
            jdk: plan.jdk.home.clone(),
            jdk_version: plan.jdk.version.clone(),
            whole_jdk: is_whole,
            slot: plan.keys.slot(),
            provider: plan.pkcs11.provider(),
            number: plan.number(),
            configuration: text(&plan.configuration.path, &plan.pkcs11.text()),
            properties: text(&plan.properties.path, &plan.lines),
            option: plan.option(),
            changed: false,
            tried: Vec::new(),
            notes,
            restart: Vec::new(),
            restart_command: None,
        }
    }

    /// Names the processes of the JDK that run: with --whole-jdk, they use Outboard after a restart.
    pub(super) fn name_restarts(&mut self, plan: &Plan) {
        if !self.whole_jdk || !self.changed {
            return;
        }
        let java = plan.jdk.program("java");
        let is_of_jdk = |process: &Process| {
            let program = fs::read_link(format!("/proc/{}/exe", process.pid));
            program.is_ok_and(|program| program == java)
        };
        let processes: Vec<Process> = Process::all().into_iter().filter(is_of_jdk).collect();
        self.restart = restart_names(&processes);
        self.restart_command = restart_command(&processes);
    }

    pub(super) fn text(&self, is_print: bool) -> String {
        let (properties, configuration) = (&self.properties, &self.configuration);
        let file = properties.file.display();
        let mut text = String::new();
        if is_print {
            for (place, shown) in [
                ("This would be in", configuration),
                (
                    if self.whole_jdk {
                        "These lines would be added at the end of"
                    } else {
                        "And this in"
                    },
                    properties,
                ),
            ] {
                text.push_str(&format!(
                    "{place} {}:\n\n{}\n",
                    shown.file.display(),
                    shown.lines
                ));
            }
        } else if !self.changed {
            text.push_str(&format!(
                "{file} already registers Outboard; nothing was changed.\n"
            ));
        } else if self.whole_jdk {
            text.push_str(&format!(
                "{file} now registers Outboard. Programs of this JDK that start from now on use it.\nThe file as it was: {}\n",
                backup_of(&properties.file).display()
            ));
        } else {
            text.push_str(&format!(
                "{file} registers Outboard, with {}.\n",
                configuration.file.display()
            ));
        }
        if !self.tried.is_empty() {
            let names: Vec<&str> = self.tried.iter().map(Tried::what).collect();
            text.push_str(&format!(
                "Java {} in {} tried it: {} by Outboard.\n",
                printable(&self.jdk_version),
                self.jdk.display(),
                names.join(", ")
            ));
        }
        if let Some(option) = &self.option {
            text.push_str(&format!(
                "Start the server with this option of Java:\n  {option}\n"
            ));
        }
        for note in &self.notes {
            text.push_str(&fold(&format!("Note: {note}.\n"), To::Stdout.room()));
        }
        if !self.restart.is_empty() {
            text.push_str(
                "These processes run with this JDK. They use Outboard after a restart:\n",
            );
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

/// What '--revert' did.
#[derive(Default, Serialize)]
pub(super) struct Reverted {
    /// Files without Outboard's block.
    pub(super) changed: Vec<PathBuf>,
    /// Whether such a file is byte for byte what it was.
    pub(super) is_as_before: bool,
    removed: Vec<PathBuf>,
}

impl Reverted {
    /// Removes a file of 'outboard java'; another one stays.
    pub(super) fn remove(&mut self, file: &Path) -> Result<(), Failure> {
        match fs::read(file) {
            Ok(text) if super::plan::is_ours(&text) => {
                fs::remove_file(file).map_err(|error| failed(file, &error))?;
                self.removed.push(file.to_owned());
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(file, &error)),
        }
        Ok(())
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for file in &self.changed {
            let how = match self.is_as_before {
                true => "is byte for byte what it was before 'outboard java'",
                false => "was edited since 'outboard java': only Outboard's lines were removed",
            };
            text.push_str(&format!("{} {how}.\n", file.display()));
        }
        for file in &self.removed {
            text.push_str(&format!("{} is removed.\n", file.display()));
        }
        match text.is_empty() {
            true => "There is nothing to remove.\n".to_owned(),
            false => text + "Servers that run go on as they are until they restart.\n",
        }
    }
}
