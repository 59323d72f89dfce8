//! A Java virtual machine that runs, as `/proc` shows it. All of it may be hostile.

use super::options::Options;
use super::registration::{self, Seen};
use super::{Finding, SUBJECT, too_old};
use crate::Error;
use crate::card_service::Place;
use crate::process::counted;
use crate::services;
use outboard_accounts::{self as accounts, Account};
use outboard_jdk::{Jdk, RELEASE, Security, expanded};
use outboard_processes::mapped;
use outboard_processes::{self as processes, Process, is_ours};
use outboard_wire::SYSTEM_DIRECTORY;
use outboard_wording::printable;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A process that runs Java.
pub(super) struct Java {
    process: Process,
    pub(super) user: User,
}

/// Who a process is.
pub(super) struct User {
    pub(super) uid: u32,
    groups: Vec<u32>,
}

const LIBJVM: &str = "libjvm.so";

pub(super) fn examine(pid: u32) -> Result<Vec<Finding>, Error> {
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => format!("there is no process {pid}"),
        io::ErrorKind::PermissionDenied => {
            format!("you may not examine process {pid}: {error} (run this as root)")
        }
        _ => format!("cannot examine process {pid}: {error}"),
    };
    let process = Process::read(pid).map_err(unreadable)?;
    let code = mapped::code(pid).map_err(unreadable)?;
    let user = User::of(pid).map_err(unreadable)?;
    let java = Java { process, user };
    let name = java.process.restart_name();
    let machine = code
        .iter()
        .find(|file| file.path.file_name().is_some_and(|name| name == LIBJVM));
    // lib/server/libjvm.so
    let Some(home) = machine.and_then(|file| file.path.ancestors().nth(3)) else {
        return Err(
            format!("{name} is not a Java virtual machine: it has not loaded {LIBJVM}").into(),
        );
    };
    let read = |file: &Path| processes::file(pid, file);
    let release = read(&home.join(RELEASE)).unwrap_or_default();
    let jdk = Jdk::released(home.to_owned(), &String::from_utf8_lossy(&release));
    let options = Options::of(&words(pid, "cmdline").map_err(unreadable)?, |name| {
        processes::environment(pid, name)
    });

    let mut findings: Vec<Finding> = too_old(&jdk).into_iter().collect();
    let sources = java.properties(&jdk, &options, &read, &mut findings)?;
    let entries = sources
        .iter()
        .flat_map(|(file, text)| expanded(text, file, &jdk, &read));
    let security = Security::of(entries);
    let files: Vec<String> = sources
        .iter()
        .map(|(file, _)| printable(&file.display().to_string()))
        .collect();
    let registered = security.registered(&jdk, &read);
    findings.extend(registration::examine(&Seen {
        jdk: &jdk,
        security: &security,
        source: &files.join(" and "),
        read: &read,
        process: Some(&java),
    }));

    let module = code.iter().find(|file| is_ours(&file.path));
    match module {
        Some(file) if file.path.to_string_lossy().ends_with(" (deleted)") => findings.push(
            Finding::note(
                "module",
                format!("{name} has {} loaded", file.path.display()),
            )
            .because("the file was replaced after the process started")
            .remedy(format!("restart {name} to use the new file")),
        ),
        Some(file) => {
            findings.push(Finding::good(
                "module",
                format!("{name} has {} loaded", file.path.display()),
            ));
            findings.push(counted(&java.process));
        }
        None if !findings.iter().any(Finding::is_problem) => {
            let needed = sources.iter().map(|(file, _)| file.clone());
            let needed = needed.chain(registered.iter().map(|one| one.file.clone()));
            findings.push(java.not_loaded(needed.collect()));
        }
        None => {}
    }
    for one in registered
        .iter()
        .filter_map(|one| one.configuration.as_ref().ok())
    {
        if let Some((because, remedy)) = services::hidden(&java.process, &one.library) {
            findings.push(
                Finding::problem("module", format!("{name} cannot load it"))
                    .because(because)
                    .remedy(remedy),
            );
        }
    }
    findings.extend(java.confined());
    findings.extend(java.virtual_threads(&jdk, &options));
    Ok(findings)
}

impl Java {
    /// The files of security properties that it reads, in its order.
    fn properties(
        &self,
        jdk: &Jdk,
        options: &Options,
        read: super::Read,
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<(PathBuf, Vec<u8>)>, Error> {
        let own = jdk.security();
        let text = read(&own).map_err(|error| format!("cannot read {}: {error}", own.display()))?;
        let allows = Security::of(expanded(&text, &own, jdk, read)).allows_other_files;
        if let Some(file) = &options.argument_file {
            findings.push(
                Finding::note(
                    SUBJECT,
                    format!("the options in @{} were not read", printable(file)),
                )
                .because("a file of arguments may have changed since the start"),
            );
        }
        let own = (own, text);
        let Some(other) = &options.properties else {
            return Ok(vec![own]);
        };
        let name = printable(&other.file.display().to_string());
        if !allows {
            let what = format!("Java ignores -Djava.security.properties={name}");
            findings.push(
                Finding::problem(SUBJECT, what)
                    .because(format!(
                        "{} does not have security.overridePropertiesFile=true",
                        own.0.display()
                    ))
                    .remedy("set that property, or run 'outboard java --whole-jdk'"),
            );
            return Ok(vec![own]);
        }
        let text = match read(&other.file) {
            Ok(text) => text,
            Err(error) => {
                findings.push(
                    Finding::problem(
                        SUBJECT,
                        format!("cannot read {name}, which -Djava.security.properties names"),
                    )
                    .because(format!(
                        "{error}; Java ignores such an option without a message"
                    ))
                    .remedy("name an absolute path, such as the one that 'outboard java' prints"),
                );
                return Ok(vec![own]);
            }
        };
        findings.extend(self.unreadable(&other.file));
        if other.replaces {
            findings.push(
                Finding::note(
                    SUBJECT,
                    format!(
                        "-Djava.security.properties=={name} replaces all of {}",
                        own.0.display()
                    ),
                )
                .because("with '==', Java reads that file alone")
                .remedy("to add to the JDK's own properties, write one '='"),
            );
            return Ok(vec![(other.file.clone(), text)]);
        }
        Ok(vec![own, (other.file.clone(), text)])
    }

    /// A file that its user may not read.
    pub(super) fn unreadable(&self, file: &Path) -> Option<Finding> {
        let obstacle = self.user.obstacle(file)?;
        let user = accounts::name(Account::User, self.user.uid);
        let obstacle = printable(&obstacle.display().to_string());
        let what = format!(
            "{user} cannot read {}",
            printable(&file.display().to_string())
        );
        Some(
            Finding::problem(SUBJECT, what)
                .because(format!("the permissions of {obstacle} do not allow it"))
                .remedy(format!(
                    "run 'chmod a+rX {obstacle}', then restart {}",
                    self.process.restart_name()
                )),
        )
    }

    /// Everything is right, and the module is not there.
    fn not_loaded(&self, needed: Vec<PathBuf>) -> Finding {
        let name = self.process.restart_name();
        // The kernel tells whole seconds.
        let started =
            processes::started(self.process.pid).map(|time| time + Duration::from_secs(1));
        let changed = |file: &PathBuf| file.metadata().and_then(|it| it.modified()).ok();
        let changed: Option<SystemTime> = needed.iter().filter_map(changed).max();
        let what = format!("{name} does not have outboard-pkcs11.so loaded");
        if started < changed {
            return Finding::problem("module", what)
                .because("it started before the files were written")
                .remedy(format!("restart {name}"));
        }
        Finding::note("module", what)
            .because("Java loads the module with its first signature or key store of type PKCS11")
            .remedy("run this again after a handshake")
    }

    /// What confines it, as far as `/proc` says.
    fn confined(&self) -> Vec<Finding> {
        let name = self.process.restart_name();
        let mut findings = Vec::new();
        let status = words_of_status(self.process.pid, "Seccomp:").unwrap_or_default();
        if status.first().is_some_and(|mode| mode == "2") {
            findings.push(
                Finding::note("confinement", format!("{name} has a filter of system calls (seccomp)"))
                    .because("the module needs memory, futex, getrandom and, for keys of the card service, sockets")
                    .remedy("if signatures fail, see 'Sandboxes' in docs/token.md"),
            );
        }
        let label = fs::read_to_string(format!("/proc/{}/attr/current", self.process.pid));
        let label = label.unwrap_or_default();
        let label = printable(label.trim_matches(['\0', '\n']));
        if label.ends_with("(enforce)") {
            findings.push(
                Finding::note("confinement", format!("{name} has the AppArmor profile {label}"))
                    .because("the profile must allow to map outboard-pkcs11.so and to read its configuration")
                    .remedy("look for apparmor=\"DENIED\" with the name outboard: 'journalctl -k'"),
            );
        }
        findings
    }

    /// How many virtual threads sign at the same time.
    fn virtual_threads(&self, jdk: &Jdk, options: &Options) -> Option<Finding> {
        const SINCE: u32 = 21;
        jdk.feature().filter(|&feature| feature >= SINCE)?;
        let tasks = fs::read_dir(format!("/proc/{}/task", self.process.pid)).ok()?;
        let is_of_them = |task: fs::DirEntry| {
            let name = fs::read_to_string(task.path().join("comm"));
            name.is_ok_and(|name| name.starts_with("VirtualThread-"))
        };
        if !tasks.flatten().any(is_of_them) {
            return None;
        }
        let most = match &options.parallelism {
            Some(number) => printable(number),
            None => "as many as there are processors".to_owned(),
        };
        let what = format!("virtual threads that sign at the same time: {most}");
        Some(
            Finding::note(SUBJECT, what)
                .because("a virtual thread keeps its platform thread while the module computes, and eight at once share the lanes")
                .remedy("to let more wait together, start it with -Djdk.virtualThreadScheduler.parallelism=16"),
        )
    }

    /// Where the service is that its module asks.
    pub(super) fn place(&self) -> Place {
        let settings =
            processes::environment(self.process.pid, "OUTBOARD_PKCS11").unwrap_or_default();
        let named = settings.split(',').find_map(|setting| {
            let (name, value) = setting.split_once('=')?;
            (name.trim() == "service").then(|| PathBuf::from(value.trim()))
        });
        match named {
            Some(directory) if directory != Path::new(SYSTEM_DIRECTORY) => Place {
                directory,
                setting: None,
                units: Vec::new(),
            },
            _ => Place::in_force(),
        }
    }
}

impl User {
    fn of(pid: u32) -> io::Result<Self> {
        let numbers = |name| -> io::Result<Vec<u32>> {
            let words = words_of_status(pid, name)?;
            Ok(words.iter().filter_map(|word| word.parse().ok()).collect())
        };
        let mut groups = numbers("Groups:")?;
        groups.extend(numbers("Gid:")?);
        // Real, effective, saved, of the file system.
        let uid = numbers("Uid:")?.get(1).copied();
        let uid = uid.ok_or_else(|| io::Error::other("it does not say who it is"))?;
        Ok(Self { uid, groups })
    }

    /// The file, or the first directory on its way, that keeps this user out. A file that is not there keeps nobody out.
    fn obstacle(&self, file: &Path) -> Option<PathBuf> {
        const READ: u32 = 4;
        const ENTER: u32 = 1;
        let file = file.canonicalize().ok()?;
        let allows = |path: &Path, bit: u32| {
            let Ok(metadata) = path.metadata() else {
                return true;
            };
            let shift = match () {
                () if self.uid == 0 => return true,
                () if metadata.uid() == self.uid => 6,
                () if self.groups.contains(&metadata.gid()) => 3,
                () => 0,
            };
            metadata.mode() >> shift & bit != 0
        };
        if !allows(&file, READ) {
            return Some(file);
        }
        let mut directories = file.ancestors().skip(1);
        directories
            .find(|directory| !allows(directory, ENTER))
            .map(Path::to_owned)
    }
}

/// The words of a line of `/proc/PID/status`.
fn words_of_status(pid: u32, name: &str) -> io::Result<Vec<String>> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let words = line.unwrap_or_default().split_whitespace();
    Ok(words.map(str::to_owned).collect())
}

/// Words that end with a zero byte, in a file of `/proc/PID`. A process chooses them: only the first of them are read.
fn words(pid: u32, file: &str) -> io::Result<Vec<String>> {
    const MOST: u64 = 1 << 20;
    let mut text = Vec::new();
    File::open(format!("/proc/{pid}/{file}"))?
        .take(MOST)
        .read_to_end(&mut text)?;
    let words = text.split(|&byte| byte == 0);
    Ok(words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect())
}
