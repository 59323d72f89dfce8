//! The card service: whether programs reach it, and whether it has what they need.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use outboard_administration::{MasterState, Status};
use outboard_wire::{RELAY_SOCKET, SERVICE_SOCKET};
use outboard_wording::count;
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::card_service::{Answer, Place, Unit};
use crate::ssh_agent::{self, Front};
use crate::system::unfit_for_root;
use crate::{Finding, State, locked_memory, store, tokens};
use outboard_installation::daemon;
use outboard_processes as processes;

pub(crate) const SUBJECT: &str = "card service";

/// The findings about the service; none where there is none and nobody wants one.
pub(crate) fn examine(place: &Place) -> Vec<Finding> {
    if !place.is_known() {
        return Vec::new();
    }
    look(place, place.is_expected()).0
}

/// The findings, and how the service does if it answers. Without it, programs fail if it is `needed`.
pub(crate) fn look(place: &Place, needed: bool) -> (Vec<Finding>, Option<Status>) {
    let mut findings = units(place);
    let answer = place.ask();
    let cause = findings.iter().any(Finding::is_problem);
    let status = match answer {
        Answer::Up(status) => *status,
        // The unit's finding says why nobody answers.
        Answer::Down | Answer::NoDirectory | Answer::Silent if cause => return (findings, None),
        answer => {
            let mut finding = unreachable(place, &answer);
            if !needed {
                finding.state = State::Note;
            }
            findings.push(finding);
            let store = place.store(None);
            findings.extend(store::exposed(&store));
            return (findings, None);
        }
    };
    let before = findings.len();
    findings.extend(locked(place, &status));
    findings.extend(tokens::locked(place));
    findings.extend(sockets(place, &status));
    findings.extend(front(place, &status));
    findings.extend(locked_memory::examine(place, &status));
    findings.extend(version(place, &status));
    findings.extend(store::exposed(&place.store(Some(&status))));
    if !findings[before..].iter().any(Finding::is_problem) {
        findings.push(Finding::good(
            SUBJECT,
            format!(
                "process {} serves {} keys in {}; operations so far: {}",
                status.pid,
                count(status.keys),
                place.directory.display(),
                count(status.served.done)
            ),
        ));
    }
    (findings, Some(status))
}

/// What systemd says of the service's own units.
fn units(place: &Place) -> Vec<Finding> {
    let own = || place.units.iter().filter(|unit| !unit.is_front());
    let masked: Vec<&str> = own()
        .filter(|unit| unit.is_masked())
        .map(|unit| unit.name.as_str())
        .collect();
    let mut findings = Vec::new();
    if !masked.is_empty() {
        let names = masked.join(" ");
        findings.push(
            Finding::problem(SUBJECT, format!("systemd does not start {names}: masked"))
                .because("somebody ran 'systemctl mask'; until that is undone, nobody starts it")
                .remedy(format!(
                    "run 'systemctl unmask {names}', then 'systemctl enable --now outboard.socket outboard.service'"
                )),
        );
    }
    let failed = own().filter(|unit| unit.has_failed());
    findings.extend(failed.map(|unit| failure(place, unit, "outboard.socket outboard.service")));
    let socket_is_off = |unit: &Unit| {
        unit.name == "outboard.socket"
            && !unit.is_active()
            && !unit.is_masked()
            && !unit.has_failed()
    };
    let service_is_on = place
        .units
        .iter()
        .any(|unit| unit.name == "outboard.service" && unit.is_active());
    if service_is_on && place.units.iter().any(socket_is_off) {
        findings.push(
            Finding::note(SUBJECT, "systemd does not hold the service's sockets")
                .because("outboard.socket is not active, so programs see each restart of the service")
                .remedy("run 'systemctl stop outboard.service', then 'systemctl enable --now outboard.socket outboard.service'"),
        );
    }
    findings
}

/// A unit has failed; those units start it again.
fn failure(place: &Place, unit: &Unit, starts: &str) -> Finding {
    let name = &unit.name;
    let finding = Finding::problem(SUBJECT, format!("{name} has failed ({})", unit.result));
    let again = format!("then 'systemctl reset-failed {name}' and 'systemctl start {starts}'");
    match last_words(place, name) {
        Some(words) => {
            let remedy = cure_of(place, &words);
            finding.because(words).remedy(format!("{remedy}, {again}"))
        }
        None => finding.remedy(format!(
            "correct what 'journalctl --unit {name}' says, {again}"
        )),
    }
}

/// The front for ssh clients, of a service that runs.
fn front(place: &Place, status: &Status) -> Option<Finding> {
    let mut units = place.units.iter().filter(|unit| unit.is_front());
    if let Some(unit) = units.clone().find(|unit| unit.has_failed()) {
        return Some(failure(place, unit, "outboard-agent.socket"));
    }
    let is_wanted = place.units.is_empty() || units.any(Unit::is_enabled);
    let socket = ssh_agent::socket(&place.directory);
    let socket = socket.display();
    let restart = match place.is_system() {
        true => "run 'systemctl restart outboard-agent.socket outboard-agent.service'".to_owned(),
        false => restart(place, Some(status)),
    };
    Some(match Front::of(&place.directory) {
        Front::Running => return None,
        Front::Down => Finding::new(
            if is_wanted { State::Problem } else { State::Note },
            SUBJECT,
            format!("sshd and ssh cannot use keys of the service: nobody answers at {socket}"),
        )
        .because("the front for ssh clients does not run ('outboardd --agent')")
        .remedy(ssh_agent::start(&place.directory)),
        Front::Alone => Finding::problem(
            SUBJECT,
            format!("sshd and ssh cannot use keys of the service: the front at {socket} does not reach the service"),
        )
        .because(format!(
            "the service listens at {}, and answers the user that {socket} belongs to; the front runs as that user, \
             and is no newer than the service",
            place.directory.join(RELAY_SOCKET).display()
        ))
        .remedy(match place.is_system() {
            true => format!(
                "run 'systemctl daemon-reload', then 'systemctl stop outboard.service outboard-agent.service', then \
                 'systemctl restart outboard.socket outboard-agent.socket'{}",
                entering(status)
            ),
            false => restart,
        }),
        Front::Silent => {
            let finding = Finding::problem(
                SUBJECT,
                format!("the front for ssh clients accepts connections at {socket} and does not answer"),
            );
            match stopped(place, true) {
                Some(pid) => finding
                    .because(format!("its process {pid} is stopped"))
                    .remedy(format!("run 'kill -CONT {pid}'")),
                None => finding.because("it hangs").remedy(restart),
            }
        }
    })
}

/// Why nobody answers.
fn unreachable(place: &Place, answer: &Answer) -> Finding {
    let (directory, socket) = (place.directory.display(), place.socket());
    let start = format!("run 'outboard service start{}'", place.option());
    if matches!(answer, Answer::Down | Answer::NoDirectory)
        && let Some(finding) = elsewhere(place, &start)
    {
        return finding;
    }
    let socket = socket.display();
    match answer {
        Answer::NoDirectory => {
            let finding = Finding::problem(
                SUBJECT,
                format!("the directory {directory} of the card service does not exist"),
            )
            .remedy(format!(
                "{start}, then restart the programs that use service keys"
            ));
            match &place.setting {
                Some(setting) => finding.because(format!(
                    "[{}] in {} names it, and a program that starts without it reads no reference to a key",
                    setting.section,
                    setting.file.display()
                )),
                None => finding
                    .because("a program that starts without it reads no reference to a key"),
            }
        }
        Answer::Refused => {
            let finding =
                Finding::problem(SUBJECT, format!("the socket {socket} refuses this user"));
            match closed(&place.socket()) {
                Some((path, bits)) => {
                    let path = path.display();
                    finding
                        .because(format!("the permissions of {path} forbid it"))
                        .remedy(format!("run 'chmod {bits} {path}'"))
                }
                None => finding
                    .because("SELinux or AppArmor forbids it, or the user's sandbox")
                    .remedy("look for the denial in the audit log, and allow it"),
            }
        }
        Answer::Silent => silent(place),
        Answer::Strange(reason) => Finding::problem(
            SUBJECT,
            format!("what listens at {socket} is no card service of this version"),
        )
        .because(reason)
        .remedy(restart(place, None)),
        Answer::Down | Answer::Up(_) => {
            let finding = Finding::problem(
                SUBJECT,
                format!("the card service does not run: nobody listens at {socket}"),
            );
            match last_words(place, "outboard.service") {
                Some(words) => {
                    let cure = cure_of(place, &words);
                    finding.because(words).remedy(format!("{cure}, then {start}"))
                }
                None => finding
                    .because("operations with service keys fail after the time of the setting service-limit")
                    .remedy(start),
            }
        }
    }
}

/// It accepts connections, and says nothing.
fn silent(place: &Place) -> Finding {
    let finding = Finding::problem(
        SUBJECT,
        format!(
            "the card service accepts connections at {} and does not answer",
            place.socket().display()
        ),
    );
    match stopped(place, false) {
        Some(pid) => finding
            .because(format!("its process {pid} is stopped"))
            .remedy(format!("run 'kill -CONT {pid}'")),
        None => finding
            .because("it has just been started and opens its store, or it hangs")
            .remedy(format!(
                "run this again in a minute; if it still does not answer, {}",
                restart(place, None)
            )),
    }
}

/// The process of the service, or of its front, where it is stopped.
fn stopped(place: &Place, is_front: bool) -> Option<u32> {
    let is_it = |daemon: &Daemon| {
        daemon.is_stopped
            && daemon.is_front == is_front
            && is_same(&daemon.directory, &place.directory)
    };
    daemons().into_iter().find(is_it).map(|daemon| daemon.pid)
}

/// The configuration names a directory without a service, and a service runs in another one.
fn elsewhere(place: &Place, start: &str) -> Option<Finding> {
    let setting = place.setting.as_ref()?;
    let others: Vec<String> = daemons()
        .into_iter()
        .filter(|daemon| !daemon.is_front)
        .map(|daemon| daemon.directory)
        .filter(|directory| !is_same(directory, &place.directory))
        .map(|directory| directory.display().to_string())
        .collect();
    let first = others.first()?;
    Some(
        Finding::problem(
            SUBJECT,
            format!(
                "programs look for the card service in {}, and it runs in {}",
                place.directory.display(),
                others.join(", ")
            ),
        )
        .because(format!(
            "[{}] in {} has 'service = {}'",
            setting.section,
            setting.file.display(),
            place.directory.display()
        ))
        .remedy(format!(
            "write 'service = {first}' there and restart the programs, or {start}"
        )),
    )
}

/// There is no master key, or it was not entered.
fn locked(place: &Place, status: &Status) -> Option<Finding> {
    let option = place.option();
    let master = &status.master;
    let finding = match master.state {
        MasterState::Open => return None,
        MasterState::Empty => Finding::problem(
            SUBJECT,
            "the card service has no master key, so it has no keys",
        )
        .because("nobody has entered one since its store was made"),
        MasterState::Locked => {
            let pattern = master.patterns[1].as_deref().unwrap_or("unknown");
            Finding::problem(SUBJECT, "the card service is locked: no key can be used")
                .because(match master.source.as_deref() {
                    Some("credential" | "file") => format!(
                        "the {} of the master key has another key; the store needs the one with pattern {pattern}",
                        master.source.as_deref().unwrap_or_default()
                    ),
                    _ => format!(
                        "the master key with pattern {pattern} was not entered since the service started"
                    ),
                })
        }
    };
    Some(finding.remedy(match (master.parts, master.state) {
        (0, MasterState::Empty) => format!(
            "run 'openssl rand -hex 32 > FILE' and 'outboard service enter{option} < FILE', and keep FILE in a safe place, or enter parts (docs/service.md)"
        ),
        (0, _) => format!("run 'outboard service enter{option}' and type the master key's 64 digits"),
        (parts, _) => format!(
            "{parts} parts are entered: enter the others, then run 'outboard service enter --complete{option}'"
        ),
    }))
}

/// Whether every user's programs can connect for the use of keys.
fn sockets(place: &Place, status: &Status) -> Vec<Finding> {
    let socket = place.directory.join(SERVICE_SOCKET);
    let name = socket.display();
    if let Some((path, bits)) = closed(&socket) {
        let path = path.display();
        let systemd = match place.is_system() {
            true => " (and set SocketMode=0666 in outboard.socket)",
            false => "",
        };
        return vec![
            Finding::problem(SUBJECT, format!("not every user can connect to {name}"))
                .because(format!("the permissions of {path} forbid it"))
                .remedy(format!("run 'chmod {bits} {path}'{systemd}")),
        ];
    }
    let is_socket = fs::symlink_metadata(&socket).is_ok_and(|found| found.file_type().is_socket());
    let listener = match is_socket {
        true => SocketAddrUnix::new(&socket).and_then(|address| listener(&address)),
        false => Err(Errno::NOENT),
    };
    if let Err(error) = listener {
        return vec![
            Finding::problem(SUBJECT, format!("programs cannot connect to {name}"))
                .because(match error {
                    Errno::NOENT => "somebody removed it while the service runs".to_owned(),
                    Errno::CONNREFUSED => "the running service does not listen there".to_owned(),
                    error => error.to_string(),
                })
                .remedy(restart(place, Some(status))),
        ];
    }
    twin(place, status).into_iter().collect()
}

/// The abstract address, for programs in a root directory of their own.
fn twin(place: &Place, status: &Status) -> Option<Finding> {
    let directory = place.directory.canonicalize().ok()?;
    let owner = directory.metadata().ok()?.uid();
    let name = outboard_wire::abstract_name(&directory)?;
    let address = SocketAddrUnix::new_abstract_name(&name).ok()?;
    match listener(&address) {
        Ok(uid) if uid == 0 || uid == owner => None,
        Ok(uid) => Some(
            Finding::problem(
                SUBJECT,
                format!("uid {uid} listens at the card service's abstract address"),
            )
            .because("programs in a chroot refuse it: they accept root and the owner of the directory only")
            .remedy(format!(
                "end that user's process ('ss -xlp' names it), then {}",
                restart(place, Some(status))
            )),
        ),
        Err(_) => Some(
            Finding::note(SUBJECT, "nobody listens at the card service's abstract address")
                .because("a program that has changed its root directory (HAProxy) does not reach the service")
                .remedy(restart(place, Some(status))),
        ),
    }
}

/// Who listens at an address.
fn listener(address: &SocketAddrUnix) -> rustix::io::Result<u32> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    net::connect(&socket, address)?;
    Ok(sockopt::socket_peercred(&socket)?.uid.as_raw())
}

/// A service of another version than the installed program.
fn version(place: &Place, status: &Status) -> Option<Finding> {
    let program = daemon().ok()?;
    if unfit_for_root([program.as_path()]).is_some() {
        return None;
    }
    let said = Command::new(&program)
        .arg("--version")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let installed = said.trim().strip_prefix("outboardd ")?;
    if installed == status.outboard {
        return None;
    }
    Some(
        Finding::problem(
            SUBJECT,
            format!(
                "the card service that runs is version {}; {} is version {installed}",
                status.outboard,
                program.display()
            ),
        )
        .because("the service was not restarted after the installation")
        .remedy(format!(
            "{} (no program loses an operation)",
            restart(place, Some(status))
        )),
    )
}

/// How the service is restarted, and gets its master key again where people entered it.
pub(crate) fn restart(place: &Place, status: Option<&Status>) -> String {
    match place.is_system() {
        true => format!(
            "run 'systemctl restart outboard.service'{}",
            status.map(entering).unwrap_or_default()
        ),
        false => format!(
            "run 'outboard service stop{0}' and 'outboard service start{0}'",
            place.option()
        ),
    }
}

/// What follows a restart of the service that forgets its master key.
pub(crate) fn entering(status: &Status) -> &'static str {
    let master = &status.master;
    match (master.state, master.source.as_deref()) {
        (MasterState::Open, Some("parts")) => {
            ", then 'outboard service enter': a restart forgets the master key that people entered"
        }
        _ => "",
    }
}

/// What a unit said before it ended; outside systemd, what the service said.
fn last_words(place: &Place, unit: &str) -> Option<String> {
    let log = match place.is_system() {
        true => {
            let mut journal = Command::new("journalctl");
            let journal = journal
                .args(["--unit", unit])
                .args(["--lines=30", "--output=cat", "--no-pager"])
                .stdin(Stdio::null())
                .stderr(Stdio::null());
            String::from_utf8_lossy(&journal.output().ok()?.stdout).into_owned()
        }
        false => processes::text(&place.directory.join("outboardd.log")).ok()?,
    };
    let error = log.lines().rev().find(|line| line.contains("ERROR "))?;
    let (_, words) = error.split_once("ERROR ")?;
    Some(words.trim().to_owned())
}

/// The remedy for what the service said.
fn cure_of(place: &Place, words: &str) -> String {
    match words.contains("damaged") || words.contains("does not exist") {
        true => store::restore(place),
        false => "correct what it says".to_owned(),
    }
}

/// The first file or directory on the way to a socket that keeps other users from it, and the bits that they need.
fn closed(socket: &Path) -> Option<(PathBuf, &'static str)> {
    const OTHERS_WRITE: u32 = 0o002;
    const OTHERS_ENTER: u32 = 0o001;
    let lacks = |path: &Path, bit| path.metadata().is_ok_and(|meta| meta.mode() & bit == 0);
    for directory in socket.ancestors().skip(1) {
        if lacks(directory, OTHERS_ENTER) {
            return Some((directory.to_owned(), "o+x"));
        }
    }
    lacks(socket, OTHERS_WRITE).then(|| (socket.to_owned(), "a+rw"))
}

/// A running outboardd.
struct Daemon {
    pid: u32,
    directory: PathBuf,
    /// Whether it is the front for ssh clients.
    is_front: bool,
    is_stopped: bool,
}

/// Those of every user.
fn daemons() -> Vec<Daemon> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let daemon = |pid: u32| {
        let read = |file: &str| fs::read(format!("/proc/{pid}/{file}")).ok();
        if read("comm")? != b"outboardd\n" {
            return None;
        }
        let line = String::from_utf8_lossy(&read("cmdline")?).into_owned();
        let stat = String::from_utf8_lossy(&read("stat")?).into_owned();
        let (_, after_name) = stat.rsplit_once(')')?;
        Some(Daemon {
            pid,
            directory: directory_of(&line),
            is_front: line.split('\0').any(|word| word == "--agent"),
            is_stopped: after_name.trim_start().starts_with(['T', 't']),
        })
    };
    entries
        .filter_map(|entry| daemon(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// The directory in a command line of outboardd.
fn directory_of(line: &str) -> PathBuf {
    let mut words = line.split_terminator('\0');
    while let Some(word) = words.next() {
        let value = match word.strip_prefix("--directory") {
            Some("") => words.next(),
            Some(value) => value.strip_prefix('='),
            None => None,
        };
        if let Some(value) = value {
            return value.into();
        }
    }
    outboard_wire::SYSTEM_DIRECTORY.into()
}

fn is_same(one: &Path, other: &Path) -> bool {
    let plain = |path: &Path| path.canonicalize().unwrap_or(path.to_owned());
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_s_directory_is_in_its_command_line() {
        for (line, directory) in [
            ("outboardd\0", "/run/outboard"),
            ("outboardd\0--directory\0/d\0--store\0/s\0", "/d"),
            ("outboardd\0--store\0/s\0--directory=/d\0", "/d"),
        ] {
            assert_eq!(directory_of(line), Path::new(directory), "{line}");
        }
    }
}
