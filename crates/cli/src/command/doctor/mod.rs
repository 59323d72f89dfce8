//! `outboard doctor`: what is wrong, why, and the remedy.

mod cards;
mod configuration;
mod confinement;
mod haproxy;
mod java;
mod key;
mod openssh;
mod post_quantum;
mod process;
pub(crate) mod profile;
mod program;
mod service;
mod services;
mod settings;
mod store;
mod system;
mod tokens;
mod unserved;

use crate::Failure;
use crate::card_service::Place;
use crate::output::{BAD, GOOD, NOTE, print, print_json, styled};
use crate::processes::Process;
use outboard_advice::ssh::SSH_DIRECTORY;
use outboard_wording::printable;
use serde::Serialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  outboard doctor                  Check the installation and running servers
  outboard doctor --pid 1234       Say why a process does not use Outboard
  outboard doctor --program ssh    Say whether a program can use Outboard
  outboard doctor --key site.key --user www-data
                                   Say whether nginx can use a service key
  outboard doctor --java 1234      Say why a Java server does not use it
  outboard doctor --java           The same of the JDK in PATH

Exit status: 0 all is well, 1 a problem was found.";

/// Name each problem, its reason and its remedy
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Check this running process
    #[arg(long, value_name = "PID")]
    pid: Option<u32>,
    /// Check this program: a path, or a name in PATH
    #[arg(long, value_name = "PROGRAM", conflicts_with = "pid")]
    program: Option<OsString>,
    /// Check this key file, which holds a reference to a key of the card service
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "program"])]
    key: Option<PathBuf>,
    /// With --key: the user whose program uses the key
    #[arg(long, value_name = "USER", requires = "key")]
    user: Option<String>,
    /// Check this running Java server, or this JDK [default: JAVA_HOME and PATH]
    #[arg(long, value_name = "PID|JDK", num_args = 0..=1, default_missing_value = "",
          conflicts_with_all = ["pid", "program", "key"])]
    java: Option<OsString>,
    /// The directory with the drop-ins of 'outboard advise ssh'
    #[arg(long, value_name = "DIRECTORY", default_value = SSH_DIRECTORY, conflicts_with_all = ["pid", "program", "java"])]
    ssh_directory: PathBuf,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let findings = match (arguments.pid, &arguments.program) {
        _ if let Some(file) = &arguments.key => key::examine(file, arguments.user.as_deref())?,
        _ if let Some(named) = &arguments.java => java::examine(named)?,
        (Some(pid), _) => process::examine(pid)?,
        (None, Some(program)) => program::examine(program)?,
        (None, None) => {
            openssh::check(&arguments.ssh_directory)?;
            let mut findings = system::examine(&std::path::absolute(&arguments.ssh_directory)?);
            findings.extend(unserved::examine(&Process::all()));
            findings.extend(store::damaged(&Place::in_force()));
            findings
        }
    };
    let problems = findings
        .iter()
        .filter(|f| f.state == State::Problem)
        .count();
    if arguments.json {
        #[derive(Serialize)]
        struct Report<'a> {
            problems: usize,
            findings: &'a [Finding],
        }
        let findings = &findings[..];
        print_json("outboard-doctor", &Report { problems, findings })?;
    } else {
        print(&findings.iter().map(Finding::text).collect::<String>())?;
    }
    Ok(if problems == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The findings about the installation, the configuration and running servers.
pub(in crate::command) fn examine_system(ssh_directory: &Path) -> Vec<Finding> {
    system::examine(ssh_directory)
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub(in crate::command) struct Finding {
    state: State,
    /// The thing.
    subject: &'static str,
    /// The result.
    what: String,
    /// The reason, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// As it should be.
    Good,
    /// Nothing is wrong, but it is worth knowing.
    Note,
    /// Programs do not use Outboard as they could.
    Problem,
}

impl Finding {
    /// Whether the user has something to do.
    pub(in crate::command) fn is_problem(&self) -> bool {
        self.state == State::Problem
    }

    fn new(state: State, subject: &'static str, what: impl Into<String>) -> Self {
        Self {
            state,
            subject,
            what: what.into(),
            why: None,
            remedy: None,
        }
    }

    fn good(subject: &'static str, what: impl Into<String>) -> Self {
        Self::new(State::Good, subject, what)
    }

    fn note(subject: &'static str, what: impl Into<String>) -> Self {
        Self::new(State::Note, subject, what)
    }

    fn problem(subject: &'static str, what: impl Into<String>) -> Self {
        Self::new(State::Problem, subject, what)
    }

    fn because(mut self, why: impl Into<String>) -> Self {
        self.why = Some(why.into());
        self
    }

    fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// For people: one line, and further lines for the reason and the remedy.
    pub(in crate::command) fn text(&self) -> String {
        let (style, state) = match self.state {
            State::Good => (GOOD, "good"),
            State::Note => (NOTE, "note"),
            State::Problem => (BAD, "problem"),
        };
        let state = styled(style, format!("{state:<7}"));
        let mut text = format!("{state}  {:<13}  {}\n", self.subject, printable(&self.what));
        for (label, more) in [("because", &self.why), ("remedy", &self.remedy)] {
            if let Some(more) = more {
                text.push_str(&format!("{:24}{label}: {}\n", "", printable(more)));
            }
        }
        text
    }
}
