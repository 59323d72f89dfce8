//! What the hardening of a service takes from Outboard: systemd.exec(5) names the settings.

use crate::Finding;
use outboard_installation as system;
use outboard_ledger::all_paths;
use outboard_openssl_conf::Config;
use outboard_processes::{self as processes, Process};
use rustix::fs::{StatVfsMountFlags, major, minor, statvfs};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where ledgers are.
const SHARED_MEMORY: &str = "/dev/shm";

/// What Outboard asks of the system and a program without it need not ask. (docs/hardening.md lists them.)
const CALLS: [&str; 10] = [
    "fallocate",
    "fchmod",
    "getresuid",
    "gettid",
    "linkat",
    "madvise",
    "prctl",
    "sched_getaffinity",
    "statx",
    "unlink",
];

/// What is to be said of services, and of other processes that are confined like them.
pub(crate) fn examine(processes: &[Process]) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let counting = processes
        .iter()
        .filter(|process| process.outboard.is_some())
        .filter_map(|process| Some((process, uncounted(process)?)))
        // One process tells of all of its service.
        .filter(|(process, _)| seen.insert(process.restart_name()));
    let mut findings: Vec<Finding> = counting.map(|(_, finding)| finding).collect();
    findings.extend(filters(processes));
    findings
}

/// Why nobody sees what a process counts, if that is so.
pub(crate) fn uncounted(process: &Process) -> Option<Finding> {
    let maps = fs::read_to_string(format!("/proc/{}/maps", process.pid)).ok()?;
    let name = process.restart_name();
    let note = |what: &str| Finding::note("ledger", format!("{name} {what}"));
    if let Some(elsewhere) = configured_ledger(process) {
        let theirs = PathBuf::from(format!("/proc/{}/root", process.pid))
            .join(elsewhere.strip_prefix("/").unwrap_or(&elsewhere));
        let has_it = |ledger: Ledger| shared_files(&maps).any(|file| file == ledger);
        if Ledger::of(&theirs).is_some_and(has_it) {
            return None;
        }
        let file = elsewhere.display();
        return Some(
            note("counts in its own memory, where nobody sees it")
                .because(format!(
                    "its configuration names the ledger {file}, which it has not opened"
                ))
                .remedy(format!(
                    "let its user write {file}, or remove the setting 'ledger', then restart {name}"
                )),
        );
    }
    let Some(ledger) = mapped_ledger(&maps) else {
        let (because, remedy) = unwritable(process)?;
        return Some(
            note("counts in its own memory, where nobody sees it")
                .because(because)
                .remedy(remedy),
        );
    };
    let of_system = ledgers_of_system();
    if of_system.contains(&ledger) {
        return None;
    }
    // Where files of /dev/shm are, to this command.
    let is_in_the_same_place = fs::metadata(SHARED_MEMORY)
        .is_ok_and(|directory| (major(directory.dev()), minor(directory.dev())) == ledger.device);
    let finding = if is_in_the_same_place {
        note("counts in a ledger that was removed")
            .because(
                "somebody removed it; systemd does, of a service's user when the service stops \
                 (RemoveIPC=, DynamicUser=), of a person at the last logout",
            )
            .remedy(format!("restart {name}: it then makes a new ledger"))
    } else {
        note("counts in a ledger that only it sees")
            .because("it has a /dev/shm of its own (TemporaryFileSystem=, or a container's)")
            .remedy(format!(
                "let it have the system's: BindPaths=/dev/shm ({})",
                edit(process)
            ))
    };
    Some(finding)
}

/// The ledger that the setting `ledger` names, in the configuration that a process reads.
pub(crate) fn configured_ledger(process: &Process) -> Option<PathBuf> {
    let named = processes::environment(process.pid, "OPENSSL_CONF");
    let (file, text) = match named {
        Some(file) => {
            let file = PathBuf::from(file);
            let text = processes::file(process.pid, &file).ok()?;
            (file, text)
        }
        None => {
            let file = system::configuration(&system::library().ok()?).ok()?;
            let text = fs::read(&file).ok()?;
            (file, text)
        }
    };
    let config = Config::parse(&text, &file, system::environment).ok()?;
    let section = &config.outboard()?.section;
    let ledger = PathBuf::from(&config.assignment(section, "ledger")?.value);
    // In /dev/shm, the checks of the usual ledgers say more.
    (ledger.is_absolute() && !ledger.starts_with(SHARED_MEMORY)).then_some(ledger)
}

/// Why a process that has no ledger could make none, and the remedy.
fn unwritable(process: &Process) -> Option<(String, String)> {
    let theirs = PathBuf::from(format!("/proc/{}/root{SHARED_MEMORY}", process.pid));
    let edit = edit(process);
    let is_read_only =
        || statvfs(&theirs).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::RDONLY));
    if !is_same(&theirs, Path::new(SHARED_MEMORY)) {
        return Some((
            "the system's /dev/shm is hidden from it (InaccessiblePaths=, TemporaryFileSystem=)"
                .into(),
            format!("take /dev/shm out of that setting ({edit})"),
        ));
    }
    if is_read_only() {
        return Some((
            "/dev/shm is read-only for it (ReadOnlyPaths=)".into(),
            format!("take /dev/shm out of that setting ({edit})"),
        ));
    }
    let limits = fs::read_to_string(format!("/proc/{}/limits", process.pid)).ok()?;
    let limit = file_size_limit(&limits)?;
    Some((
        format!(
            "it may write no file of more than {limit} bytes (LimitFSIZE=), and a ledger has 6 MB"
        ),
        format!("raise that limit ({edit})"),
    ))
}

/// What keeps a process from a file that it would have to load, and the remedy.
pub(crate) fn hidden(process: &Process, file: &Path) -> Option<(String, String)> {
    let root = PathBuf::from(format!("/proc/{}/root", process.pid));
    // Its own root may have become another since it was started (chroot): that tells nothing.
    if !is_same(&root, Path::new("/")) && fs::read_link(&root).ok()? != Path::new("/") {
        return None;
    }
    // A link of theirs would be followed to a file of ours.
    let file = file.canonicalize().unwrap_or(file.to_owned());
    let theirs = root.join(file.strip_prefix("/").ok()?);
    let name = file.display();
    let edit = edit(process);
    // An inaccessible file is an empty one in its place.
    if theirs
        .metadata()
        .map_or(true, |metadata| metadata.len() == 0)
    {
        return Some((
            format!(
                "{name} is hidden from it (InaccessiblePaths=, TemporaryFileSystem=, RootDirectory=)"
            ),
            format!(
                "take it out of InaccessiblePaths=, or add BindReadOnlyPaths={name} to the others ({edit})"
            ),
        ));
    }
    let may_not =
        statvfs(&theirs).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NOEXEC));
    may_not.then(|| {
        (
            format!("it may not run the code of {name} (NoExecPaths=)"),
            format!("take its directory out of that setting, or name it in ExecPaths= ({edit})"),
        )
    })
}

/// Services whose filter of system calls ends a program that loads Outboard: those that did not survive it, and those that
/// are about to meet it.
fn filters(processes: &[Process]) -> Vec<Finding> {
    if !outboard_installation::has_systemd() {
        return Vec::new();
    }
    let Some(shown) = shown_by_systemctl() else {
        return Vec::new();
    };
    let uses_openssl = |service: &str| {
        let without = |process: &Process| process.uses_openssl() && process.outboard.is_none();
        processes
            .iter()
            .any(|process| process.service.as_deref() == Some(service) && without(process))
    };
    shown
        .split("\n\n")
        .map(Unit::parse)
        .filter(|unit| unit.died_of_a_signal() || uses_openssl(unit.name))
        .filter_map(|unit| {
            let calls = unit.fatal_calls();
            if calls.is_empty() {
                return None;
            }
            let (name, calls) = (unit.name, calls.join(" "));
            Some(
                Finding::problem(
                    "filter",
                    format!("the filter of {name} kills a program that loads Outboard"),
                )
                .because(format!("its SystemCallFilter= does not allow {calls}"))
                .remedy(format!(
                    "add 'SystemCallFilter={calls}' ('systemctl edit {name}'), or \
                     'SystemCallErrorNumber=EPERM', then restart {name}"
                )),
            )
        })
        .collect()
}

/// What systemd says of every service, drop-ins and groups of system calls resolved.
fn shown_by_systemctl() -> Option<String> {
    let shown = Command::new("systemctl")
        .args(["show", "*.service"])
        .args([
            "--property",
            "Id,Result,SystemCallFilter,SystemCallErrorNumber",
        ])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    String::from_utf8(shown.stdout).ok()
}

/// A service as `systemctl show` tells of it.
struct Unit<'a> {
    name: &'a str,
    result: &'a str,
    /// Names of system calls, some with what becomes of them; after a `~` those that are not allowed.
    filter: &'a str,
    /// What becomes of a call that is not allowed.
    error: &'a str,
}

impl<'a> Unit<'a> {
    fn parse(shown: &'a str) -> Self {
        let value = |name: &str| {
            let mut values = shown.lines().filter_map(|line| line.split_once('='));
            values
                .find_map(|(key, value)| (key == name).then_some(value))
                .unwrap_or_default()
        };
        Self {
            name: value("Id"),
            result: value("Result"),
            filter: value("SystemCallFilter"),
            error: value("SystemCallErrorNumber"),
        }
    }

    fn died_of_a_signal(&self) -> bool {
        matches!(self.result, "signal" | "core-dump")
    }

    /// Which of our calls end the program.
    fn fatal_calls(&self) -> Vec<&'static str> {
        // systemd's number for 'kill'.
        let kills = matches!(self.error, "" | "kill" | "2147483646");
        if !kills || self.filter.is_empty() {
            return Vec::new();
        }
        let listed: BTreeSet<&str> = match self.filter.strip_prefix('~') {
            // What has an error of its own is no more than refused.
            Some(denied) => denied
                .split_whitespace()
                .filter(|word| !word.contains(':') || word.ends_with(":kill"))
                .map(name_of)
                .collect(),
            None => self.filter.split_whitespace().map(name_of).collect(),
        };
        let is_deny_list = self.filter.starts_with('~');
        CALLS
            .into_iter()
            .filter(|call| listed.contains(call) == is_deny_list)
            .collect()
    }
}

fn name_of(word: &str) -> &str {
    word.split_once(':').map_or(word, |(name, _)| name)
}

/// Which file a ledger is. Its name tells little: a process that made one has it mapped by a temporary name, which is gone.
#[derive(Debug, PartialEq, Eq)]
struct Ledger {
    /// Major and minor number.
    device: (u32, u32),
    inode: u64,
}

impl Ledger {
    fn of(path: &Path) -> Option<Self> {
        let metadata = path.metadata().ok()?;
        Some(Self {
            device: (major(metadata.dev()), minor(metadata.dev())),
            inode: metadata.ino(),
        })
    }

    /// The file in a line of `/proc/PID/maps`.
    fn mapped(line: &str) -> Option<Self> {
        let columns: Vec<&str> = line.split_whitespace().take(5).collect();
        let (major, minor) = columns.get(3)?.split_once(':')?;
        let number = |hexadecimal| u32::from_str_radix(hexadecimal, 16).ok();
        Some(Self {
            device: (number(major)?, number(minor)?),
            inode: columns.get(4)?.parse().ok()?,
        })
    }
}

/// The first ledger of /dev/shm in `/proc/PID/maps`.
fn mapped_ledger(maps: &str) -> Option<Ledger> {
    let is_ledger = |line: &&str| {
        let path = line.find('/').map(|at| &line[at..]);
        path.is_some_and(|path| path.starts_with("/dev/shm/outboard."))
    };
    maps.lines().filter(is_ledger).find_map(Ledger::mapped)
}

/// The files that a process shares with others, and may write.
fn shared_files(maps: &str) -> impl Iterator<Item = Ledger> {
    let is_shared = |line: &&str| line.split(' ').nth(1) == Some("rw-s");
    maps.lines().filter(is_shared).filter_map(Ledger::mapped)
}

/// Every user's.
fn ledgers_of_system() -> Vec<Ledger> {
    let ledgers = all_paths();
    ledgers.iter().filter_map(|path| Ledger::of(path)).collect()
}

/// The limit of `/proc/PID/limits` that is too small for a ledger.
fn file_size_limit(limits: &str) -> Option<u64> {
    const LEDGER: u64 = 6 << 20;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max file size"))?;
    let soft = line.split_whitespace().next()?.parse().ok()?;
    (soft < LEDGER).then_some(soft)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// How the setting is changed.
fn edit(process: &Process) -> String {
    match &process.service {
        Some(service) => format!("'systemctl edit {service}', then restart it"),
        None => "where it is started".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fatal(filter: &str, error: &str) -> Vec<&'static str> {
        let shown = format!(
            "Id=x.service\nResult=signal\nSystemCallFilter={filter}\nSystemCallErrorNumber={error}"
        );
        let unit = Unit::parse(&shown);
        assert!(unit.name == "x.service" && unit.died_of_a_signal());
        unit.fatal_calls()
    }

    #[test]
    fn filters_that_kill_are_told_from_those_that_do_not() {
        const KILL: &str = "2147483646";
        assert!(fatal("~", KILL).is_empty(), "no filter");
        assert!(
            fatal("", KILL).is_empty(),
            "an older systemd's way to say so"
        );
        assert_eq!(fatal("~madvise mount", KILL), ["madvise"]);
        assert!(fatal("~madvise", "1").is_empty(), "refused");
        assert!(fatal("~madvise:EPERM", KILL).is_empty(), "refused");
        assert_eq!(fatal("~madvise:kill", KILL), ["madvise"]);
        let mut all = CALLS.join(" ");
        assert!(fatal(&all, KILL).is_empty());
        all = all.replace("madvise", "madvise:EPERM").replace("statx", "");
        assert_eq!(fatal(&all, KILL), ["statx"]);
        assert_eq!(fatal("read write", KILL), CALLS);
    }

    #[test]
    fn a_ledger_is_found_among_what_is_mapped() {
        let maps = "\
7f00-7f01 r-xp 00000000 fe:01 124 /usr/lib/x86_64-linux-gnu/ossl-modules/outboard.so
7f01-7f02 rw-s 00000000 00:1a 77 /dev/shm/outboard.0 (deleted)
";
        let ledger = mapped_ledger(maps).expect("it is mapped");
        assert!(ledger.inode == 77 && ledger.device == (0, 0x1a));
        assert!(mapped_ledger(maps.lines().next().expect("the module")).is_none());
        let shared: Vec<Ledger> = shared_files(maps).collect();
        assert_eq!(shared, [ledger], "code is not shared");
    }

    #[test]
    fn a_limit_that_is_too_small_is_found() {
        let limits = "Limit  Soft  Hard  Units\nMax file size   65536   65536   bytes\n";
        assert_eq!(file_size_limit(limits), Some(65536));
        assert_eq!(file_size_limit(&limits.replace("65536", "unlimited")), None);
    }

    #[test]
    fn this_process_is_not_confined() {
        let process = Process::read(std::process::id()).expect("it is ours");
        assert!(hidden(&process, Path::new("/proc/self/exe")).is_none());
        let (because, _) = hidden(&process, Path::new("/no/module.so")).expect("it is not there");
        assert!(because.contains("/no/module.so is hidden"), "{because}");
    }
}
