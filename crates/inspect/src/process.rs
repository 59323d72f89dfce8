//! Does a running process have Outboard loaded, and if not, why?

use crate::Error;
use crate::card_service::Place;
use crate::configuration::enable_command;
use crate::program::{contains, reads_its_own_section, statically_linked};
use crate::unserved::{Scanner, Unserved};
use crate::{Finding, State, cards, early, haproxy, services};
use outboard_elf::Elf;
use outboard_installation::{self as system, InForce, Switch, module};
use outboard_ledger::{Snapshot, all_paths};
use outboard_openssl_conf::Config;
use outboard_processes::libraries::is_openssl_3;
use outboard_processes::{self as processes, Process};
use outboard_wording::count;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// Examines a process.
///
/// # Errors
/// When the process does not run, or when this user may not examine it.
pub(crate) fn examine(pid: u32) -> Result<Vec<Finding>, Error> {
    let process = Process::read(pid).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("there is no process {pid}"),
        io::ErrorKind::PermissionDenied => {
            let remedy = match system::is_root() {
                true => "what confines this command forbids it, as a container does",
                false => "run this as root",
            };
            format!("you may not examine process {pid}: {error} ({remedy})")
        }
        _ => format!("cannot examine process {pid}: {error}"),
    })?;
    let mut findings = Vec::new();
    if let Some(libcrypto) = process
        .libraries
        .iter()
        .find(|library| is_openssl_3(library))
    {
        findings.push(Finding::good(
            "libcrypto",
            format!("{} uses {}", process.name, libcrypto.display()),
        ));
    }
    let mut scanner = Scanner::new();
    let unserved = scanner.of_process(&process);
    match &process.outboard {
        Some(module) => {
            findings.push(loaded(&process, module));
            let restart = format!(", then restart {}", process.restart_name());
            findings.extend(left_out(&process.name, &restart));
            findings.push(services::uncounted(&process).unwrap_or_else(|| counted(&process)));
            findings.extend(cards::examine(pid));
            findings.extend(haproxy::examine([&process]));
            findings.extend(early::examine(
                &Place::in_force(),
                std::slice::from_ref(&process),
            ));
        }
        None if process.uses_openssl() => findings.push(not_loaded(&process)),
        None => {
            findings.extend(without_openssl(&process, unserved));
            findings.extend(scanner.unread());
            return Ok(findings);
        }
    }
    let also = unserved.into_iter().map(|one| {
        let what = format!(
            "{} also has {}, which Outboard does not serve",
            process.name, one.what
        );
        Finding::note("cryptography", what)
            .because(one.because)
            .remedy(one.remedy)
    });
    findings.extend(also);
    findings.extend(scanner.unread());
    Ok(findings)
}

/// A program that the settings `programs` and `except` leave out. `then` is what follows the command.
pub(crate) fn left_out(name: &str, then: &str) -> Option<Finding> {
    let switch = Switch::of(&InForce::find(&system::library().ok()?).ok()?);
    let rollout = switch.rollout.filter(|rollout| !rollout.serves(name))?;
    Some(
        Finding::note(
            "settings",
            format!("Outboard offers {name} nothing but keys of the card service"),
        )
        .because(format!("Outboard serves {}", rollout.text()))
        .remedy(format!("run 'outboard enable --for {name}'{then}")),
    )
}

fn loaded(process: &Process, module: &Path) -> Finding {
    let what = format!("{} has {} loaded", process.name, module.display());
    if process.is_outdated() {
        return Finding::note("module", what)
            .because("the file was replaced after the process started")
            .remedy(format!(
                "restart {} to use the new file",
                process.restart_name()
            ));
    }
    Finding::good("module", what)
}

/// Its entry in a ledger. This may be any user's ledger, because a process opens the ledger before it changes its user.
pub(crate) fn counted(process: &Process) -> Finding {
    let pid = process.pid;
    for path in services::configured_ledger(process)
        .into_iter()
        .chain(all_paths())
    {
        let Ok(snapshot) = Snapshot::read(&path) else {
            continue;
        };
        if let Some(entry) = snapshot.processes.iter().find(|entry| entry.pid == pid) {
            let operations = entry.counts.rows().map(|row| row.work.operations).sum();
            let ledger = path.display();
            return Finding::good(
                "ledger",
                format!("it counted {} operations in {ledger}", count(operations)),
            );
        }
    }
    Finding::note("ledger", "no readable ledger has an entry for this process")
        .because("it uses another ledger, or counts in its own memory, or has not counted yet")
}

/// The findings about a process that has not loaded the system's OpenSSL 3, nor another under its name.
fn without_openssl(process: &Process, unserved: Vec<Unserved>) -> Vec<Finding> {
    let name = &process.name;
    if let Some(own) = reads_its_own_section(OsStr::new(name)) {
        let own = Finding {
            state: State::Problem,
            ..own
        };
        return vec![own];
    }
    let executable = PathBuf::from(format!("/proc/{}/exe", process.pid));
    if matches!(Elf::read(&executable), Ok(Some(elf)) if elf.interpreter.is_none()) {
        return vec![statically_linked(name, &unserved)];
    }
    if unserved.is_empty() {
        let what = format!("{name} does not have Outboard loaded");
        let finding = Finding::problem("module", what)
            .because("it has not loaded OpenSSL so far")
            .remedy("run this again after it has used cryptography");
        return vec![finding];
    }
    unserved
        .into_iter()
        .map(|one| contains(name, one))
        .collect()
}

/// Why the process has not loaded Outboard: the first reason that explains it.
fn not_loaded(process: &Process) -> Finding {
    let name = &process.name;
    let problem = Finding::problem("module", format!("{name} does not have Outboard loaded"));
    if let Some(own) = reads_its_own_section(OsStr::new(name)) {
        return Finding {
            state: State::Problem,
            ..own
        };
    }
    if let Some(configuration) = processes::environment(process.pid, "OPENSSL_CONF")
        && !names_outboard(Path::new(&configuration), || {
            processes::file(process.pid, Path::new(&configuration))
        })
    {
        return problem
            .because(format!(
                "its environment has OPENSSL_CONF={configuration}, which does not load Outboard"
            ))
            .remedy("start it without that variable, or with 'outboard run'");
    }
    let Some(configuration) = system::library()
        .ok()
        .and_then(|l| system::configuration(&l).ok())
    else {
        return problem;
    };
    if !names_outboard(&configuration, || std::fs::read(&configuration)) {
        return problem
            .because(format!(
                "{} does not load Outboard",
                configuration.display()
            ))
            .remedy(format!(
                "run '{}', or start the program with 'outboard run'",
                enable_command(&InForce::System(configuration))
            ));
    }
    let changed = configuration
        .metadata()
        .and_then(|metadata| metadata.modified())
        .ok();
    if processes::started(process.pid) < changed {
        let because = format!("it started before {} was changed", configuration.display());
        if process.is_of_systemd() {
            // It does no work that Outboard takes over.
            return Finding::note("module", problem.what)
                .because(because)
                .remedy("none is needed: it gets Outboard when the system starts the next time");
        }
        return problem
            .because(because)
            .remedy(format!("restart {}", process.restart_name()));
    }
    let library = system::library().ok();
    let module = module::in_modules_directory(library.as_ref());
    let needed = [Some(configuration), module].into_iter().flatten();
    if let Some((because, remedy)) = needed
        .into_iter()
        .find_map(|file| services::hidden(process, &file))
    {
        return problem.because(because).remedy(remedy);
    }
    problem
        .because(
            "its OpenSSL could not load the module, is not the system's OpenSSL, or does not read its \
             configuration because the program told it so",
        )
        .remedy("run 'outboard doctor' to test the module itself; see docs/incompatibilities.md")
}

fn names_outboard(file: &Path, read: impl FnOnce() -> io::Result<Vec<u8>>) -> bool {
    read()
        .ok()
        .and_then(|text| Config::parse(&text, file, system::environment).ok())
        .is_some_and(|config| config.outboard().is_some())
}
