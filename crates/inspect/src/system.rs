//! The installation: OpenSSL, module, configuration, profile, ledger, OpenSSH's drop-ins.

use crate::card_service::Place;
use crate::configuration::{self, Configured, enable_command};
use crate::probe;
use crate::{Finding, State, confinement, early, haproxy, openssh, profile, service, services};
use outboard_installation::changeable_by_others;
use outboard_installation::{
    self as system,
    module::{self, Obstacle},
};
use outboard_ledger::{Snapshot, default_path};
use outboard_libcrypto::Library;
use outboard_processes::{Process, restart_command, restart_lines, restart_names};
use std::path::{Path, PathBuf};

/// Examines everything, as far as it goes.
pub(crate) fn examine(ssh_directory: &Path) -> Vec<Finding> {
    let library = match system::library() {
        Ok(library) => library,
        Err(error) => return vec![Finding::problem("libcrypto", error.to_string())],
    };
    let mut findings = vec![Finding::good(
        "libcrypto",
        format!("OpenSSL {}", library.version()),
    )];
    let configured = configuration::examine(&library, &mut findings);
    let module = module(&library, &configured, &mut findings);
    let observer = configured.as_ref().and_then(|one| one.observer.as_deref());
    let observing = observer.map(observing);
    let is_whole = observing
        .as_ref()
        .is_none_or(|finding| finding.state == State::Good);
    findings.extend(observing);
    // If the observing module is missing, its own finding says what does not load.
    if let (Some(configuration), Some(module), true) = (&configured, &module, is_whole) {
        let files = configuration.modules.iter().map(PathBuf::as_path);
        findings.push(
            match unfit_for_root(files.chain([module.as_path(), &configuration.file])) {
                Some(reason) => Finding::problem("loading", "not tried").because(reason),
                None => loads(configuration, module),
            },
        );
    }
    profile::examine(&library, configured.as_ref(), &mut findings);
    findings.push(ledger(&configured));
    findings.extend(confinement::examine(module.as_deref()));
    let processes = Process::all();
    if configured.is_some() {
        findings.extend(left_behind(&processes));
        findings.extend(services::examine(&processes));
    }
    findings.extend(haproxy::examine(&processes));
    findings.extend(openssh::examine(ssh_directory));
    let place = Place::in_force();
    findings.extend(service::examine(&place));
    findings.extend(early::examine(&place, &processes));
    findings
}

/// The module that programs load, or would load.
fn module(
    library: &Library,
    configured: &Option<Configured>,
    findings: &mut Vec<Finding>,
) -> Option<PathBuf> {
    if let Some(directory) = std::env::var_os("OPENSSL_MODULES") {
        findings.push(
            Finding::note(
                "module",
                format!("OPENSSL_MODULES names {}", directory.display()),
            )
            .because("programs that you start here look for modules only in that directory")
            .remedy("run 'unset OPENSSL_MODULES', unless you set it on purpose"),
        );
    }
    let path = match configured {
        Some(configured) => configured
            .module
            .clone()
            .or_else(|| module::in_modules_directory(Some(library)))?,
        None => match module::find(None, Some(library)) {
            Ok(path) => path,
            Err(error) => {
                findings.push(Finding::problem("module", error));
                return None;
            }
        },
    };
    let name = path.display();
    match module::obstacle(&path) {
        Some(Obstacle::Unreadable(error)) => findings.push(
            Finding::problem("module", format!("{name} cannot be read: {error}"))
                .remedy("run 'make install', or 'outboard disable'"),
        ),
        Some(Obstacle::Foreign(reason)) => findings.push(
            Finding::problem("module", format!("{name} is no module for this machine"))
                .because(reason)
                .remedy("install the build for this machine"),
        ),
        Some(Obstacle::Private(private)) => {
            let finding = Finding::new(
                // A single user's build serves that user well.
                if configured.is_some() {
                    State::Problem
                } else {
                    State::Note
                },
                "module",
                format!("not every user can read {name}"),
            );
            findings.push(
                finding
                    .because(format!(
                        "the permissions of {} forbid it",
                        private.display()
                    ))
                    .remedy("run 'make install'"),
            );
            findings.push(loads_alone(&path, configured));
        }
        None => findings.push(loads_alone(&path, configured)),
    }
    Some(path)
}

/// The observing module, which stands between programs and both providers on an observed system.
fn observing(observer: &Path) -> Finding {
    let name = observer.display();
    let obstacle = match module::obstacle(observer) {
        None => {
            return Finding::good(
                "observing",
                format!(
                    "{name} counts the cryptography of programs ('outboard observe --all' shows it)"
                ),
            );
        }
        Some(obstacle) => obstacle,
    };
    let (what, because) = match obstacle {
        Obstacle::Unreadable(error) => (format!("{name} cannot be read"), error),
        Obstacle::Foreign(reason) => (format!("{name} is no module for this machine"), reason),
        Obstacle::Private(private) => (
            format!("not every user can read {name}"),
            format!("the permissions of {} forbid it", private.display()),
        ),
    };
    Finding::problem(
        "observing",
        format!("{what}: programs run without Outboard"),
    )
    .because(because)
    .remedy("run 'make install', or 'outboard enable --no-observe'")
}

/// The reason why root must not run the code in these files, if there is one. A test of a module runs its code. So does
/// 'outboard enable', in root's programs. A file that ssh reads may also run code.
pub(crate) fn unfit_for_root<'a>(files: impl IntoIterator<Item = &'a Path>) -> Option<String> {
    const ROOT: u32 = 0;
    if !system::is_root() {
        return None;
    }
    files.into_iter().find_map(|file| {
        // The check that tries the file reports a missing file.
        let changeable = changeable_by_others(file, ROOT).ok()??;
        let changeable = changeable.display();
        Some(format!(
            "users other than root can change {changeable}, and this check would run their code as root"
        ))
    })
}

fn loads_alone(module: &Path, configured: &Option<Configured>) -> Finding {
    let name = module.display();
    if let Some(reason) = unfit_for_root([module]) {
        let state = if configured.is_some() {
            State::Problem
        } else {
            State::Note
        };
        return Finding::new(state, "module", format!("{name} was not tried"))
            .because(reason)
            .remedy("run 'sudo make install', then the 'outboard doctor' that it installed");
    }
    match probe::probe(None, Some(module)) {
        Err(error) => Finding::problem("module", format!("{name} cannot be loaded"))
            .because(error.to_string())
            .remedy("run 'outboard disable', and report this"),
        Ok(probe::Report {
            module_error: Some(reason),
            ..
        }) => Finding::problem("module", format!("OpenSSL cannot load {name}"))
            .because(reason)
            .remedy("run 'make install' with a build for this system"),
        Ok(report) => version(name.to_string(), report.module_version),
    }
}

fn version(name: String, version: Option<String>) -> Finding {
    let ours = env!("CARGO_PKG_VERSION");
    match version {
        Some(version) if version == ours => {
            Finding::good("module", format!("{name} loads, version {version}"))
        }
        version => {
            let version = version.unwrap_or_else(|| "none".into());
            Finding::note(
                "module",
                format!("{name} is version {version}; this command is version {ours}"),
            )
            .remedy("install both from the same build")
        }
    }
}

/// Whether a program that reads the configuration has Outboard active afterwards.
fn loads(configured: &Configured, module: &Path) -> Finding {
    let name = configured.file.display();
    let report = match probe::probe(Some(&configured.file), Some(module)) {
        Ok(report) => report,
        Err(error) => return Finding::problem("loading", error.to_string()),
    };
    if let Some(error) = report.configuration_error {
        Finding::problem("loading", format!("OpenSSL refuses {name}"))
            .because(error)
            .remedy("correct the error that OpenSSL names")
    } else if !report.default_is_active {
        Finding::problem(
            "loading",
            format!("with {name} the default provider is not active"),
        )
        .because("the configuration activates another provider, but not the default provider")
        .remedy(format!("run '{}'", enable_command(&configured.in_force)))
    } else if !report.outboard_is_active {
        let finding = Finding::problem("loading", format!("with {name} Outboard is not active"));
        match report.module_error {
            Some(reason) => finding.because(reason),
            None => finding.because(format!(
                "the module itself loads, so the error is in the section [{}]",
                configured.section
            )),
        }
        .remedy(format!("run '{}'", enable_command(&configured.in_force)))
    } else {
        Finding::good(
            "loading",
            format!("a program that reads {name} has Outboard active"),
        )
    }
}

fn ledger(configured: &Option<Configured>) -> Finding {
    let own = default_path(rustix::process::geteuid().as_raw());
    let path = configured
        .as_ref()
        .and_then(|c| c.ledger.clone())
        .unwrap_or(own);
    let name = path.display();
    match Snapshot::read(&path) {
        Ok(snapshot) => {
            let alive = snapshot
                .processes
                .iter()
                .filter(|process| process.alive)
                .count();
            Finding::good(
                "ledger",
                format!("{name} counts; running processes that counted in it: {alive}"),
            )
        }
        Err(error) if error.is_missing() => {
            let directory = path.parent().unwrap_or(Path::new("/"));
            match rustix::fs::access(directory, rustix::fs::Access::WRITE_OK) {
                Ok(()) if is_full(directory) => Finding::problem(
                    "ledger",
                    format!("{name} cannot be made: {} is full", directory.display()),
                )
                .because("programs then count in their own memory, which no command can read")
                .remedy(format!("remove files in {}", directory.display())),
                Ok(()) => Finding::good(
                    "ledger",
                    format!("{name} does not exist yet; the first use makes it"),
                ),
                Err(error) => Finding::problem("ledger", format!("{name} cannot be made: {error}"))
                    .because("programs then count in their own memory, which no command can read")
                    .remedy(format!(
                        "make {} writable, or name another ledger",
                        directory.display()
                    )),
            }
        }
        Err(error) => Finding::problem("ledger", error.to_string())
            .because("programs then count in their own memory, which no command can read")
            .remedy(format!(
                "run 'rm {name}'; the next program that starts makes it again"
            )),
    }
}

/// Whether the file system of that directory has no room for another file.
fn is_full(directory: &Path) -> bool {
    rustix::fs::statvfs(directory).is_ok_and(|room| room.f_bavail == 0)
}

/// Processes that were started before Outboard was switched on.
fn left_behind(processes: &[Process]) -> Option<Finding> {
    let without = processes
        .iter()
        .filter(|p| p.uses_openssl() && p.outboard.is_none());
    let names = restart_names(without.clone());
    (!names.is_empty()).then(|| {
        Finding::note(
            "processes",
            format!("running without Outboard: {}", restart_lines(&names).join(", ")),
        )
        .because("they started before Outboard was switched on, or cannot use it ('outboard doctor --pid PID' \
                  gives the reason)")
        .remedy(match restart_command(without) {
            Some(command) => format!("run '{command}', and restart the others"),
            None => "restart them".to_owned(),
        })
    })
}
