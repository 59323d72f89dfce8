//! `outboard doctor`: what is wrong, why, and the remedy.

use crate::Failure;
use crate::completion;
use crate::output::{BAD, GOOD, NOTE, print, print_json, styled};
use outboard_advice::ssh::SSH_DIRECTORY;
use outboard_inspect::{self as inspect, Finding, State};
use outboard_wording::printable;
use serde::Serialize;
use std::ffi::OsString;
use std::path::PathBuf;
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
    #[arg(long, value_name = "PID", add = completion::processes())]
    pid: Option<u32>,
    /// Check this program: a path, or a name in PATH
    #[arg(long, value_name = "PROGRAM", conflicts_with = "pid")]
    program: Option<OsString>,
    /// Check this key file, which holds a reference to a key of the card service
    #[arg(long, value_name = "FILE", conflicts_with_all = ["pid", "program"])]
    key: Option<PathBuf>,
    /// With --key: the user whose program uses the key
    #[arg(long, value_name = "USER", requires = "key", add = completion::users())]
    user: Option<String>,
    /// Check this running Java server, or this JDK [default: JAVA_HOME and PATH]
    #[arg(long, value_name = "PID|JDK", num_args = 0..=1, default_missing_value = "",
          add = completion::java_servers(), conflicts_with_all = ["pid", "program", "key"])]
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
        _ if let Some(file) = &arguments.key => inspect::key(file, arguments.user.as_deref())?,
        _ if let Some(named) = &arguments.java => inspect::java(named)?,
        (Some(pid), _) => inspect::process(pid)?,
        (None, Some(program)) => inspect::program(program)?,
        (None, None) => inspect::everything(&arguments.ssh_directory)?,
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
        print(&findings.iter().map(text).collect::<String>())?;
    }
    Ok(if problems == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// For people: one line, and further lines for the reason and the remedy.
pub(super) fn text(finding: &Finding) -> String {
    let (style, state) = match finding.state {
        State::Good => (GOOD, "good"),
        State::Note => (NOTE, "note"),
        State::Problem => (BAD, "problem"),
    };
    let state = styled(style, format!("{state:<7}"));
    let mut text = format!(
        "{state}  {:<13}  {}\n",
        finding.subject,
        printable(&finding.what)
    );
    for (label, more) in [("because", &finding.why), ("remedy", &finding.remedy)] {
        if let Some(more) = more {
            text.push_str(&format!("{:24}{label}: {}\n", "", printable(more)));
        }
    }
    text
}
