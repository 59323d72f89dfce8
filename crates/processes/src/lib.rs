//! Which running processes use OpenSSL, and which of them have Outboard loaded (from `/proc`).
//!
//! ```text
//! lib        a process, its names, its files, what to restart
//! mapped     the files whose code a process runs
//! libraries  libraries of cryptography, by the names of their files
//! ```
//!
//! A process belongs to its user, who may have put anything there: nothing of it is trusted. Knows `/proc` and names of
//! files. Knows nothing of a terminal, nor of what Outboard does in a process.

pub mod libraries;
pub mod mapped;

use libraries::{file_name, is_openssl_3, library};
use outboard_installation as installation;
use outboard_wording::printable;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use serde::Serialize;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A process as its memory map shows it.
#[derive(Clone, Debug, Serialize)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its name, as the kernel keeps it (15 bytes), printable.
    pub name: String,
    /// The systemd service that it belongs to, printable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Whether that service belongs to a user's own systemd, which 'systemctl' does not restart.
    #[serde(skip)]
    is_of_user: bool,
    /// The libraries of cryptography that it has mapped, by path.
    pub libraries: Vec<PathBuf>,
    /// The module `outboard.so`, where it is mapped; the path ends in " (deleted)" once the file was
    /// replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outboard: Option<PathBuf>,
    /// Whether it has a reference to a key of the card service, used or not (`outboard_ledger::ReferenceHeld`).
    #[serde(skip)]
    pub has_reference: bool,
}

impl Process {
    /// Looks at one process.
    ///
    /// # Errors
    /// When it does not exist or may not be looked at.
    pub fn read(pid: u32) -> std::io::Result<Self> {
        let at = |file: &str| format!("/proc/{pid}/{file}");
        let maps = fs::read(at("maps"))?;
        let mut libraries = BTreeSet::new();
        let mut outboard = None;
        let maps = String::from_utf8_lossy(&maps);
        for path in mapped_files(&maps) {
            if is_module(&path) {
                outboard = is_executable(&maps, &path).then_some(path).or(outboard);
            } else if library(&path).is_some() {
                libraries.insert(path);
            }
        }
        let text =
            |file| String::from_utf8_lossy(&fs::read(at(file)).unwrap_or_default()).into_owned();
        let (name, cgroup) = (text("comm"), text("cgroup"));
        Ok(Self {
            pid,
            name: printable(name.trim_end_matches('\n')),
            service: service(&cgroup).as_deref().map(printable),
            is_of_user: cgroup.contains("/user@"),
            libraries: libraries.into_iter().collect(),
            has_reference: outboard.is_some() && shows_reference(&maps),
            outboard,
        })
    }

    /// Every process that may be looked at, in the order of their ids, without the commands of Outboard: they use OpenSSL
    /// to measure and to check it, and need no restart.
    pub fn all() -> Vec<Self> {
        let own = std::process::id();
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let mut pids: Vec<u32> = entries
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(|&pid| pid != own)
            .collect();
        pids.sort_unstable();
        // Processes that end meanwhile, or belong to other users, are left out.
        pids.into_iter()
            .filter_map(|pid| Self::read(pid).ok())
            .filter(|process| !matches!(process.name.as_str(), "outboard" | "outboard-bench"))
            .collect()
    }

    /// Whether it has an OpenSSL 3 or later mapped.
    pub fn uses_openssl(&self) -> bool {
        self.libraries.iter().any(|library| is_openssl_3(library))
    }

    /// Whether it runs an earlier file of Outboard's module than the one that is installed.
    pub fn is_outdated(&self) -> bool {
        let module = self.outboard.as_deref().map(Path::to_string_lossy);
        module.is_some_and(|module| module.ends_with(" (deleted)"))
    }

    /// Whether it is part of systemd itself: it has libcrypto mapped, and a restart of it is of no use.
    pub fn is_of_systemd(&self) -> bool {
        self.pid == 1 || self.service.as_deref() == Some("systemd-journald.service")
    }

    /// The name to restart: the process's service, else the program.
    pub fn restart_name(&self) -> String {
        match &self.service {
            Some(service) => service.clone(),
            None => format!("{} (process {})", self.name, self.pid),
        }
    }
}

/// The line to type that restarts the services among these processes; none where there are none.
///
/// Only services of this machine's systemd are named: users and containers choose the names of theirs. No name is one that a shell
/// would read otherwise.
pub fn restart_command<'a>(processes: impl IntoIterator<Item = &'a Process>) -> Option<String> {
    let units = processes
        .into_iter()
        .filter(|process| !process.is_of_user && !process.is_of_systemd())
        .filter_map(|process| word(process.service.as_deref()?));
    let units: BTreeSet<String> = units.collect();
    let sudo = if installation::is_root() { "" } else { "sudo " };
    let units: Vec<String> = units.into_iter().collect();
    (!units.is_empty()).then(|| format!("{sudo}systemctl restart {}", units.join(" ")))
}

/// A unit's name as a word of a command line.
fn word(unit: &str) -> Option<String> {
    let known = |c: char| c.is_ascii_alphanumeric() || ":_.@-\\".contains(c);
    let fits = unit.chars().all(known) && !unit.starts_with('-');
    fits.then(|| match unit.contains('\\') {
        true => format!("'{unit}'"),
        false => unit.to_owned(),
    })
}

/// The same for people: the processes of one program on one line.
pub fn restart_lines(names: &[String]) -> Vec<String> {
    let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
    for name in names {
        let process = name
            .strip_suffix(')')
            .and_then(|name| name.rsplit_once(" (process "));
        let (program, pid) = process.unwrap_or((name, ""));
        match lines.last_mut() {
            Some((last, pids)) if last == program && !pid.is_empty() => pids.push(pid),
            _ => lines.push((program.to_owned(), vec![pid])),
        }
    }
    let line = |(program, pids): (String, Vec<&str>)| match pids[..] {
        [""] => program,
        [pid] => format!("{program} (process {pid})"),
        _ => format!("{program} (processes {})", pids.join(", ")),
    };
    lines.into_iter().map(line).collect()
}

/// The names to restart, each once, in alphabetical order.
pub fn restart_names<'a>(processes: impl IntoIterator<Item = &'a Process>) -> Vec<String> {
    let processes = processes
        .into_iter()
        .filter(|process| !process.is_of_systemd());
    let names: BTreeSet<String> = processes.map(Process::restart_name).collect();
    names.into_iter().collect()
}

/// The names, as [`restart_names`] gives them, of those that have references to keys of the card service.
pub fn with_references(processes: &[Process]) -> Vec<String> {
    let holders = processes.iter().filter(|process| process.has_reference);
    // In a container, a server may be process 1.
    let names: BTreeSet<String> = holders.map(Process::restart_name).collect();
    names.into_iter().collect()
}

/// The processes that a process started, that those started, and so on, with their [`start_of`].
pub fn descendants(of: u32) -> Vec<(u32, u64)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let parents: Vec<(u32, u32, u64)> = entries
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
            Some((pid, parent(&stat)?, start_ticks(&stat)?))
        })
        .collect();
    let mut family = vec![of];
    let mut found = Vec::new();
    while let Some(elder) = family.pop() {
        let children = parents.iter().filter(|(_, parent, _)| *parent == elder);
        for &(pid, _, start) in children {
            family.push(pid);
            found.push((pid, start));
        }
    }
    found
}

/// When a process was started, in ticks since the system's start: together with its id, this names a process.
/// `None` if it does not run, or has ended and was not waited for.
pub fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    let ended = after_name.trim_start().starts_with(['Z', 'X']);
    start_ticks(&stat).filter(|_| !ended)
}

/// When a process was started.
pub fn started(pid: u32) -> Option<SystemTime> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks = start_ticks(&stat)?;
    let system = fs::read_to_string("/proc/stat").ok()?;
    let booted: u64 = system
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?
        .parse()
        .ok()?;
    let since_boot = Duration::from_secs(ticks / rustix::param::clock_ticks_per_second());
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(booted) + since_boot)
}

/// How long ago a process was started. A clock that was set since has no say in this.
pub fn age(pid: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let millis = start_ticks(&stat)?.checked_mul(1000)? / rustix::param::clock_ticks_per_second();
    uptime()?.checked_sub(Duration::from_millis(millis))
}

/// How long ago the system was started.
pub fn uptime() -> Option<Duration> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let seconds = uptime.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

/// The fourth field of `/proc/PID/stat`.
fn parent(stat: &str) -> Option<u32> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

/// The 22nd field of `/proc/PID/stat` (proc(5)); the second, in parentheses, may hold anything.
fn start_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(19)?.parse().ok()
}

/// The environment that a process was started with, if it may be seen.
pub fn environment(pid: u32, variable: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    environment
        .split(|&byte| byte == 0)
        .filter_map(|entry| std::str::from_utf8(entry).ok()?.split_once('='))
        .find_map(|(name, value)| (name == variable).then(|| value.to_owned()))
}

/// Reads a file by the name that a process uses for it: from the process's working directory, within its root. The user of
/// the process may have put anything there. So this function reads only a regular file of moderate size.
///
/// # Errors
/// If it is anything else, or if this user may not read it.
pub fn file(pid: u32, name: &Path) -> io::Result<Vec<u8>> {
    let of_process = |file: &str| PathBuf::from(format!("/proc/{pid}/{file}"));
    let root = fs::read_link(of_process("root"))?;
    let directory = fs::read_link(of_process("cwd"))?;
    let within = directory.strip_prefix(&root).unwrap_or(&directory);
    let name = Path::new("/").join(within).join(name);
    let file: File = rustix::fs::openat2(
        File::open(of_process("root"))?,
        name,
        // A pipe must not keep us waiting for its other end.
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS,
    )?
    .into();
    moderate(file)
}

/// The text of a file that a process named, as [`file`] reads it, by a name of our own for it.
///
/// # Errors
/// As [`file`], and if it is no text.
pub fn text(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file: File = rustix::fs::open(path, flags, Mode::empty())?.into();
    String::from_utf8(moderate(file)?).map_err(io::Error::other)
}

fn moderate(file: File) -> io::Result<Vec<u8>> {
    const MOST: u64 = 1 << 20;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > MOST {
        return Err(io::Error::other(
            "it is not a regular file of at most 1 MiB",
        ));
    }
    let mut text = Vec::new();
    file.take(MOST).read_to_end(&mut text)?;
    Ok(text)
}

/// The paths of `/proc/PID/maps`: the sixth column, which may hold spaces.
fn mapped_files(maps: &str) -> BTreeSet<PathBuf> {
    let path = |line: &str| Some(PathBuf::from(&line[line.find('/')?..]));
    maps.lines().filter_map(path).collect()
}

/// Whether code of a file may run. Of a module whose code may not (NoExecPaths=), the loader leaves the rest mapped.
fn is_executable(maps: &str, path: &Path) -> bool {
    let columns = |line: &str| {
        let (columns, name) = line.split_at_checked(line.find('/')?)?;
        Some((
            columns.split_whitespace().nth(1)?.to_owned(),
            PathBuf::from(name),
        ))
    };
    maps.lines()
        .filter_map(columns)
        .any(|(permissions, name)| name == path && permissions.contains('x'))
}

/// Whether the first page of a ledger is mapped a second time, and may not be read there. (A ledger may have any name. Of
/// memory with a guard, the first page is mapped once.)
fn shows_reference(maps: &str) -> bool {
    let beginnings: Vec<_> = maps.lines().filter_map(first_page).collect();
    let is_sign = |(size, access, _): &(u64, &str, _)| {
        *access == "---s" && *size == rustix::param::page_size() as u64
    };
    let has_ledger = |file| {
        let of = |(_, access, other): &(u64, &str, _)| *access == "rw-s" && *other == file;
        beginnings.iter().any(of)
    };
    beginnings
        .iter()
        .any(|mapping| is_sign(mapping) && has_ledger(mapping.2))
}

/// The size, the access and the file (device and inode) of a mapping that begins with a file's first page.
fn first_page(line: &str) -> Option<(u64, &str, [&str; 2])> {
    let mut columns = line.split_whitespace();
    let (from, to) = columns.next()?.split_once('-')?;
    let address = |text: &str| u64::from_str_radix(text, 16).ok();
    let size = address(to)?.checked_sub(address(from)?)?;
    let (access, offset) = (columns.next()?, columns.next()?);
    let file = [columns.next()?, columns.next()?];
    (address(offset)? == 0 && file[1] != "0").then_some((size, access, file))
}

/// Whether a file is Outboard's module for OpenSSL.
pub fn is_module(path: &Path) -> bool {
    let name = file_name(path);
    name == "outboard.so" || name == "liboutboard.so"
}

/// Whether a file is part of Outboard, whose cryptography is no other's.
pub fn is_ours(path: &Path) -> bool {
    const OTHERS: [&str; 4] = [
        "outboard-pkcs11.so",
        "liboutboard_pkcs11.so",
        "outboardd",
        "outboard",
    ];
    is_module(path) || OTHERS.contains(&file_name(path))
}

/// `ssh.service` in `0::/system.slice/ssh.service`. What lies deeper, the service itself may have made; what lies elsewhere is no
/// service of this machine, but a container's, for example.
fn service(cgroup: &str) -> Option<String> {
    cgroup.lines().find_map(|line| {
        let (_, path) = line.split_once('/')?;
        let mut components = path.split('/').peekable();
        let is_service = |component: &&str| component.ends_with(".service");
        if components.next_if_eq(&"user.slice").is_some() {
            let mut own = components.filter(|component| !component.starts_with("user@"));
            return own.rfind(is_service).map(str::to_owned);
        }
        components.next_if_eq(&"system.slice")?;
        let below = components.find(|component| !component.ends_with(".slice"));
        below.filter(is_service).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55d0-55d1 r--p 00000000 fe:01 123 /usr/sbin/sshd
7f00-7f01 r-xp 00000000 fe:01 124 /usr/lib/x86_64-linux-gnu/libcrypto.so.3
7f01-7f02 r--p 00001000 fe:01 124 /usr/lib/x86_64-linux-gnu/libcrypto.so.3
7f03-7f04 rw-p 00000000 00:00 0
7f05-7f06 r-xp 00000000 fe:01 125 /opt/with space/outboard.so (deleted)
7fff-7ffe rw-p 00000000 00:00 0 [stack]
";

    #[test]
    fn what_is_to_be_restarted_takes_a_line_for_each_program() {
        let names = [
            "client (process 7)",
            "nginx (process 1)",
            "nginx (process 2)",
            "ssh.service",
        ];
        assert_eq!(
            restart_lines(&names.map(str::to_owned)),
            [
                "client (process 7)",
                "nginx (processes 1, 2)",
                "ssh.service"
            ]
        );
        assert!(restart_lines(&[]).is_empty());
    }

    #[test]
    fn services_are_restarted_by_one_line() {
        let process = |service: Option<&str>, is_of_user| Process {
            pid: 2,
            name: "x".to_owned(),
            service: service.map(str::to_owned),
            is_of_user,
            libraries: Vec::new(),
            outboard: None,
            has_reference: false,
        };
        let processes = [
            process(Some("ssh.service"), false),
            process(Some("nginx.service"), false),
            process(Some("ssh.service"), false),
            process(Some("player.service"), true),
            process(None, false),
        ];
        let line = restart_command(&processes).expect("there are services");
        assert!(
            line.ends_with("systemctl restart nginx.service ssh.service"),
            "{line}"
        );
        assert_eq!(restart_command(&processes[3..]), None);
    }

    #[test]
    fn mapped_files_are_told_apart() {
        let files = mapped_files(MAPS);
        assert_eq!(files.len(), 3);
        let module = files
            .iter()
            .find(|path| is_module(path))
            .expect("it is mapped");
        assert_eq!(module, Path::new("/opt/with space/outboard.so (deleted)"));
        assert!(is_executable(MAPS, module));
        assert!(!is_executable(&MAPS.replace("r-xp", "r--p"), module));
        assert!(files.iter().any(|path| is_openssl_3(path)));
        assert!(
            is_ours(module) && is_ours(Path::new("/usr/local/lib/outboard/outboard-pkcs11.so"))
        );
        assert!(!files.iter().any(|path| is_openssl_3(path) && is_ours(path)));
    }

    #[test]
    fn a_reference_shows() {
        let ledger = "7f09000-7fff000 rw-s 00000000 00:19 9 /dev/shm/outboard.0\n";
        let shows = |ledger: &str, sign: &str| shows_reference(&format!("{MAPS}{ledger}{sign}\n"));
        let sign = "7f07000-7f08000 ---s 00000000 00:19 9 /dev/shm/outboard.0 (deleted)";
        assert!(shows(ledger, sign));
        for (from, to) in [
            ("---s", "r--s"),
            ("7f08000", "7f09000"),
            ("7f07000-", "x-"),
            ("00:19", "00:18"),
            (" 9 ", " 8 "),
            ("00000000", "00001000"),
        ] {
            assert!(!shows(ledger, &sign.replace(from, to)), "{from}");
        }
        // Shared memory whose first page is a guard.
        let rest = ledger.replace("00000000", "00001000");
        assert!(!shows(&rest, sign) && !shows("", sign) && !shows(ledger, ""));
    }

    /// In a container, it is the server.
    #[test]
    fn process_1_has_references_too() {
        let process = |pid, has_reference| Process {
            pid,
            name: "nginx".to_owned(),
            service: None,
            is_of_user: false,
            libraries: Vec::new(),
            outboard: None,
            has_reference,
        };
        let all = [process(1, true), process(2, false)];
        assert_eq!(with_references(&all), ["nginx (process 1)"]);
    }

    #[test]
    fn services_are_named() {
        assert_eq!(
            service("0::/system.slice/ssh.service\n").as_deref(),
            Some("ssh.service")
        );
        assert_eq!(
            service("0::/user.slice/user-0.slice/session-1.scope\n"),
            None
        );
        assert_eq!(
            service("0::/user.slice/user@0.service/app.slice/x.service\n").as_deref(),
            Some("x.service")
        );
        for template in ["0::", "1:name=systemd:"] {
            let cgroup = format!(
                "{template}/system.slice/system-getty.slice/getty@1.service/deeper.service\n"
            );
            assert_eq!(service(&cgroup).as_deref(), Some("getty@1.service"));
        }
        for others in [
            "/nginx.service",
            "/machine.slice/m.scope/system.slice/nginx.service",
            "/system.slice/docker-1.scope/nginx.service",
        ] {
            assert_eq!(service(&format!("0::{others}\n")), None, "{others}");
        }
    }

    #[test]
    fn a_name_is_a_word_of_a_command_or_is_not_in_it() {
        let of = |pid: u32, service: &str| Process {
            pid,
            name: "x".to_owned(),
            service: Some(service.to_owned()),
            is_of_user: false,
            libraries: Vec::new(),
            outboard: None,
            has_reference: false,
        };
        let processes = [
            of(2, "ssh.service"),
            of(3, r"x@a\x2db.service"),
            of(4, "ssh.service;touch ${IFS}x;.service"),
            of(5, "-H.service"),
            of(6, "systemd-journald.service"),
        ];
        let command = restart_command(&processes).expect("there are services");
        let (_, units) = command.split_once("systemctl restart ").expect("a command");
        assert_eq!(units, r"'x@a\x2db.service' ssh.service");
        assert_eq!(restart_command(&processes[3..]), None);
        assert!(!restart_names(&processes).contains(&"systemd-journald.service".to_owned()));
    }

    #[test]
    fn this_process_can_be_read() {
        let process = Process::read(std::process::id()).expect("it is ours");
        assert!(!process.name.is_empty() && process.outboard.is_none());
        assert!(environment(std::process::id(), "PATH").is_some());
        let started = started(std::process::id()).expect("it is ours");
        let age = SystemTime::now()
            .duration_since(started)
            .unwrap_or_default();
        assert!(age < Duration::from_secs(3600), "{age:?}");
    }

    #[test]
    fn only_moderate_regular_files_of_processes_are_read() {
        let pid = std::process::id();
        let directory = tempfile::tempdir().expect("a temporary directory");
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "text").expect("it is ours");
        std::os::unix::fs::symlink("file", at("link")).expect("it is ours");
        for name in ["file", "link"] {
            assert_eq!(file(pid, &at(name)).expect("it is a file"), b"text");
        }
        assert!(
            file(pid, Path::new("Cargo.toml")).is_ok(),
            "where cargo runs tests"
        );
        let large = File::create(at("large")).expect("it is ours");
        large.set_len((1 << 20) + 1).expect("it is ours");
        let made = std::process::Command::new("mkfifo")
            .arg(at("pipe"))
            .status();
        assert!(made.expect("mkfifo is installed").success());
        for name in ["large", "pipe", "none", "."] {
            assert!(file(pid, &at(name)).is_err(), "{name}");
            assert!(text(&at(name)).is_err(), "{name}");
        }
        assert!(file(pid, Path::new("/dev/zero")).is_err());
    }

    #[test]
    fn a_name_with_parentheses_hides_no_field() {
        let fields: Vec<String> = (3..=52).map(|field| field.to_string()).collect();
        let stat = format!("1 (a) b) {}", fields.join(" "));
        assert_eq!(start_ticks(&stat), Some(22));
        assert_eq!(parent(&stat), Some(4));
    }
}
