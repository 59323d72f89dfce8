//! `outboard service`: the card service itself.

mod systemd;

use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Subcommand;
use outboard_administration::{
    Complaint, Connection, Master, MasterState, Reply, Request, Secret, Status,
};
use outboard_processes as processes;
use outboard_profile::rfc3339;
use outboard_wire::SYSTEM_DIRECTORY;
use outboard_wording::{count, printable};
use rustix::process::Pid;
use serde::Serialize;
use zeroize::Zeroizing;

use crate::output::{print, print_json};
use crate::{Failure, WrongUsage};
use outboard_inspect::card_service::{option, time_of};
use outboard_inspect::locked_memory::has_swap;
use outboard_inspect::ssh_agent::{self, Front};

const EXAMPLES: &str = "\
Examples:
  outboard service start                    Start the system's service
  outboard service start --directory DIR    Start one for development
  outboard service status                   Show how it does
  outboard service enter --part             Enter a part of a master key
  outboard service roll prepare             Begin to change the master key

Master key: 32 random bytes. The service stores every private key encrypted under it. Registers 'new', \
'current' and 'old' hold up to three of them while one is exchanged for another. A verification pattern tells \
master keys apart and reveals nothing of them.";

/// Start, stop and steer the card service, which holds private keys
///
/// The service (outboardd) keeps private keys in a process of its own. Programs that face the network ask it
/// for signatures. 'outboard keys' says which keys it has, and who may use them.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// The directory of the service's sockets
    #[arg(long, value_name = "DIR", default_value = SYSTEM_DIRECTORY, global = true)]
    directory: PathBuf,
}

#[derive(Subcommand)]
enum Command {
    /// Start the service
    Start,
    /// Stop the service
    Stop,
    /// Show how the service does; exits with 1 if it cannot serve
    Status {
        /// Print a JSON document
        #[arg(long)]
        json: bool,
    },
    /// Enter a master key, or a part of one, from standard input: 64 hexadecimal digits
    Enter {
        /// The digits are a part: enter two or more, then --complete
        #[arg(long, conflicts_with = "complete")]
        part: bool,
        /// All parts are entered: combine them inside the service
        #[arg(long)]
        complete: bool,
        /// The register: new, current or old; otherwise the service chooses
        #[arg(long, value_parser = ["new", "current", "old"])]
        register: Option<String>,
    },
    /// Exchange the master key: prepare, activate, finalise, or cancel
    Roll {
        /// The step
        #[arg(value_parser = ["prepare", "activate", "finalise", "cancel"])]
        step: String,
    },
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let directory = std::path::absolute(&arguments.directory)?;
    match arguments.command {
        Command::Start => start(&directory),
        Command::Stop => stop(&directory),
        Command::Status { json } => {
            let status = status(&mut Connection::open(&directory)?)?;
            match json {
                true => print_json("outboard-service", &Shown::of(&directory, &status))?,
                false => print(&text(&directory, &status))?,
            }
            Ok(match status.master.state {
                MasterState::Open => ExitCode::SUCCESS,
                _ => ExitCode::FAILURE,
            })
        }
        Command::Enter {
            part,
            complete,
            register,
        } => enter(&directory, part, complete, register),
        Command::Roll { step } => {
            let mut service = Connection::open(&directory)?;
            match service.ask(&Request::Roll { step })? {
                Reply::Done => print(&text(&directory, &status(&mut service)?))?,
                _ => return Err(service.surprised().into()),
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Starts the system's service by systemd, or one of a directory's own in the background, with its front for ssh clients.
fn start(directory: &Path) -> Result<ExitCode, Failure> {
    let is_system = directory == Path::new(SYSTEM_DIRECTORY);
    let status = match answer(directory) {
        // systemd may have started it for this very question.
        Some(status) if is_system => status,
        Some(status) => {
            print("The service serves already.\n")?;
            status
        }
        None if is_system => {
            systemd::start()?;
            answer(directory).ok_or("outboard.service does not answer (run 'outboard doctor')")?
        }
        None => launch(directory, "outboardd", &[], || answer(directory))?,
    };
    if !is_system && ssh_agent::listener(directory).is_none() {
        let listener = || ssh_agent::listener(directory);
        launch(directory, "outboardd-agent", &["--agent"], listener)?;
    }
    print(&text(directory, &status))?;
    Ok(ExitCode::SUCCESS)
}

/// Starts the service's program in the background, with a log of that name, and waits until it is up.
fn launch<T>(
    directory: &Path,
    name: &str,
    words: &[&str],
    is_up: impl Fn() -> Option<T>,
) -> Result<T, Failure> {
    let daemon = outboard_installation::daemon()?;
    let log = directory.join(name).with_extension("log");
    let cannot = |error| format!("cannot write {}: {error}", log.display());
    fs::create_dir_all(directory).map_err(cannot)?;
    let open = |truncate| {
        let mut options = OpenOptions::new();
        options.create(true).write(true).mode(0o600);
        options.truncate(truncate).append(!truncate).open(&log)
    };
    // The log of this start alone, so that what it says at the end is about this start. The last start's stays beside it.
    let _ = fs::rename(&log, log.with_extension("log.before"));
    open(true).map_err(cannot)?;
    let mut command = std::process::Command::new(&daemon);
    command
        .args(words)
        .arg("--directory")
        .arg(directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(open(false).map_err(cannot)?)
        .process_group(0);
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", daemon.display()))?;
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(20) {
        if let Some(up) = is_up() {
            return Ok(up);
        }
        if child.try_wait()?.is_some() {
            let said = fs::read_to_string(&log).unwrap_or_default();
            let said = match said.trim_end() {
                "" if is_full(directory) => format!(
                    "{} is on a file system that is full, so its log is empty, too (make room there, and run this again)",
                    directory.display()
                ),
                "" => format!("it wrote nothing into {}", log.display()),
                said => said.to_owned(),
            };
            return Err(format!("{name} ended at once: {said}").into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("{name} does not answer after 20 seconds").into())
}

/// Whether the file system of a directory has no room left.
fn is_full(directory: &Path) -> bool {
    rustix::fs::statvfs(directory).is_ok_and(|room| room.f_bavail == 0)
}

/// How the service does; none where it does not answer. (A service that was just killed may still accept connections.)
fn answer(directory: &Path) -> Option<Status> {
    status(&mut Connection::open(directory).ok()?).ok()
}

fn stop(directory: &Path) -> Result<ExitCode, Failure> {
    if directory == Path::new(SYSTEM_DIRECTORY) {
        return systemd::stop(directory);
    }
    if let Some(front) = ssh_agent::listener(directory) {
        end(front, || ssh_agent::listener(directory).is_some())?;
    }
    let status = status(&mut Connection::open(directory)?)?;
    let pid = i32::try_from(status.pid)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or("the service tells no process id")?;
    end(pid, || Connection::open(directory).is_ok())?;
    print("The service has stopped.\n")?;
    Ok(ExitCode::SUCCESS)
}

/// Ends a process, and waits as long as it answers or is still there: until then, it has the store.
fn end(process: Pid, answers: impl Fn() -> bool) -> Result<(), Failure> {
    let start_now = || processes::start_of(process.as_raw_nonzero().get().unsigned_abs());
    let start = start_now();
    rustix::process::kill_process(process, rustix::process::Signal::TERM).map_err(|error| {
        let number = process.as_raw_nonzero();
        format!("cannot stop the service (process {number}): {error}")
    })?;
    let since = Instant::now();
    while answers() || (start.is_some() && start_now() == start) {
        if since.elapsed() > Duration::from_secs(20) {
            let number = process.as_raw_nonzero();
            return Err(
                format!("process {number} of the service still runs after 20 seconds").into(),
            );
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Reads a part or a master key from standard input.
fn enter(
    directory: &Path,
    part: bool,
    complete: bool,
    register: Option<String>,
) -> Result<ExitCode, Failure> {
    let mut service = Connection::open(directory)?;
    let before = status(&mut service)?.master;
    let lets_choose = register.is_none();
    let request = match complete {
        true => Request::CompleteParts { register },
        false => {
            let mut line = Zeroizing::new(String::with_capacity(256));
            BufReader::new(io::stdin().lock().take(256)).read_line(&mut line)?;
            let key = Secret(bytes_of(line.trim())?);
            match part {
                true => Request::EnterPart {
                    register,
                    part: key,
                },
                false => Request::Enter { register, key },
            }
        }
    };
    match service.ask(&request)? {
        Reply::Pattern { pattern } if part => {
            print(&format!(
                "The check value of this part is {pattern}. After the last part, run 'outboard service enter --complete{}'.\n",
                option(directory)
            ))?;
        }
        Reply::Pattern { pattern } => {
            print(&entered(&before, lets_choose, &pattern, directory))?;
        }
        _ => return Err(service.surprised().into()),
    }
    Ok(ExitCode::SUCCESS)
}

/// What became of a master key with that pattern.
fn entered(before: &Master, lets_choose: bool, pattern: &str, directory: &Path) -> String {
    let said = format!("The verification pattern of the master key is {pattern}.\n");
    let is = |known: &Option<String>| known.as_deref() == Some(pattern);
    let [new, current, _] = &before.patterns;
    match before.state {
        MasterState::Open if lets_choose && is(current) => {
            format!(
                "This master key (pattern {pattern}) is entered already, as 'current': nothing to do.\n"
            )
        }
        MasterState::Open if lets_choose && (new.is_none() || is(new)) => {
            let option = option(directory);
            format!(
                "{said}It is in register 'new', and 'current' (pattern {}) stays in use. 'outboard service roll prepare{option}' \
                 begins to exchange the two; 'outboard service roll cancel{option}' forgets the new one.\n",
                current.as_deref().unwrap_or("unknown")
            )
        }
        _ => said,
    }
}

/// 32 bytes of 64 hexadecimal digits.
fn bytes_of(digits: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let wrong = || {
        let problem = "a master key, or a part of one, has 64 hexadecimal digits (to make one: 'openssl rand -hex 32')";
        Failure::from(WrongUsage(problem.into()))
    };
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(wrong());
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(32));
    for pair in digits.as_bytes().chunks(2) {
        let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
        bytes.push(u8::from_str_radix(pair, 16).map_err(|_| wrong())?);
    }
    Ok(bytes)
}

fn status(service: &mut Connection) -> Result<Status, Failure> {
    match service.ask(&Request::Status)? {
        Reply::Status(status) => Ok(*status),
        _ => Err(service.surprised().into()),
    }
}

/// What the document has: what the service tells, and how its front does.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    status: &'a Status,
    agent: Front,
}

impl<'a> Shown<'a> {
    fn of(directory: &Path, status: &'a Status) -> Self {
        let agent = Front::of(directory);
        Self { status, agent }
    }
}

fn text(directory: &Path, status: &Status) -> String {
    let mut text = String::new();
    let mut line = |title: &str, value: String| text += &format!("{title:<13}{value}\n");
    line(
        "service",
        format!("process {}, Outboard {}", status.pid, status.outboard),
    );
    line(
        "store",
        format!("{}, {} keys", status.store, count(status.keys)),
    );
    let master = master_key(status.master.state);
    let source = match (status.master.state, status.master.source.as_deref()) {
        (MasterState::Open, Some("file")) => {
            ", from a file: for development, not for keys that matter"
        }
        (MasterState::Open, Some("credential")) => ", from a systemd credential",
        (MasterState::Open, Some("parts")) => ", by people",
        _ => "",
    };
    line("master key", format!("{master}{source}"));
    for (register, pattern) in ["new", "current", "old"]
        .iter()
        .zip(&status.master.patterns)
    {
        if let Some(pattern) = pattern {
            line(&format!("  {register}"), format!("pattern {pattern}"));
        }
    }
    if status.master.phase != "idle" {
        line("roll", status.master.phase.clone());
    }
    let memory = match status.locked_memory {
        true => "locked",
        false if has_swap() => {
            "not locked: a swap device may receive keys ('outboard doctor' says what to do)"
        }
        false => "not locked, and there is no swap device",
    };
    line("memory", memory.into());
    let lanes = match status.lanes {
        true => format!(", {} in lanes", count(status.served.in_lanes)),
        false => String::new(),
    };
    line(
        "served",
        format!(
            "{} operations{lanes}, {} refused, {} programs connected",
            count(status.served.done),
            count(status.served.refused),
            count(status.connections)
        ),
    );
    line("ssh agent", Front::of(directory).words(directory));
    if let Some(complaint) = &status.complaint {
        line("complaint", last(complaint));
    }
    text
}

/// Whether the service has its master key, in words.
pub(in crate::command) fn master_key(state: MasterState) -> &'static str {
    match state {
        MasterState::Open => "entered",
        MasterState::Locked => "not entered: no key can be used (run 'outboard service enter')",
        MasterState::Empty => "none yet (run 'outboard service enter')",
    }
}

/// The last complaint, with its time.
pub(in crate::command) fn last(complaint: &Complaint) -> String {
    let time = rfc3339(time_of(complaint.time));
    format!("{time}: {}", printable(&complaint.sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_master_key_has_64_digits() {
        assert_eq!(*bytes_of(&"0f".repeat(32)).unwrap(), [15; 32]);
        for wrong in [
            "",
            "0f",
            &"0g".repeat(32),
            &"0f".repeat(33),
            &"é".repeat(32),
        ] {
            assert!(bytes_of(wrong).is_err(), "{wrong}");
        }
    }
}
