//! The installation: OpenSSL, module, configuration, profile, ledger, OpenSSH's drop-ins.

use super::{Finding, State, confinement, haproxy, openssh};
use crate::command::info;
use crate::module::{self, Obstacle};
use crate::openssl_conf::Config;
use crate::probe;
use crate::processes::{Process, restart_lines, restart_names};
use crate::system::{self, InForce};
use crate::trust::changeable_by_others;
use outboard_ledger::{LedgerError, Snapshot, default_path};
use outboard_libcrypto::Library;
use outboard_profile::{Machine, ProfileError};
use std::path::{Path, PathBuf};

/// Examines everything, as far as it goes.
pub(super) fn examine(ssh_directory: &Path) -> Vec<Finding> {
    let library = match system::library() {
        Ok(library) => library,
        Err(error) => return vec![Finding::problem("libcrypto", error.to_string())],
    };
    let mut findings = vec![Finding::good(
        "libcrypto",
        format!("OpenSSL {}", library.version()),
    )];
    let configured = configuration(&library, &mut findings);
    let module = module(&library, &configured, &mut findings);
    let observer = configured.as_ref().and_then(|one| one.observer.as_deref());
    let observing = observer.map(observing);
    let is_whole = observing
        .as_ref()
        .is_none_or(|finding| finding.state == State::Good);
    findings.extend(observing);
    // What an observing module that is gone keeps from loading is told of it alone.
    if let (Some(configuration), Some(module), true) = (&configured, &module, is_whole) {
        let files = configuration.modules.iter().map(PathBuf::as_path);
        findings.push(
            match unfit_for_root(files.chain([module.as_path(), &configuration.file])) {
                Some(reason) => Finding::problem("loading", "not tried").because(reason),
                None => loads(configuration, module),
            },
        );
    }
    profile(&library, &configured, &mut findings);
    findings.push(ledger(&configured));
    findings.extend(confinement::examine(module.as_deref()));
    let processes = Process::all();
    if configured.is_some() {
        findings.extend(left_behind(&processes));
    }
    findings.extend(haproxy::examine(&processes));
    findings.extend(openssh::examine(ssh_directory));
    findings
}

/// The configuration in force, when it loads Outboard.
struct Configured {
    file: PathBuf,
    module: Option<PathBuf>,
    /// The module that observes it, after 'enable --observe'.
    observer: Option<PathBuf>,
    /// All that Outboard's section names: the observing module, too.
    modules: Vec<PathBuf>,
    profile: Option<PathBuf>,
    ledger: Option<PathBuf>,
}

fn configuration(library: &Library, findings: &mut Vec<Finding>) -> Option<Configured> {
    let in_force = match InForce::find(library) {
        Ok(in_force) => in_force,
        Err(error) => {
            findings.push(Finding::problem("configuration", error.to_string()));
            return None;
        }
    };
    if in_force == InForce::Nothing {
        findings.push(
            Finding::problem(
                "configuration",
                "OPENSSL_CONF is empty, so programs started from here read none",
            )
            .remedy("unset OPENSSL_CONF"),
        );
        return None;
    }
    let file = in_force.path()?.to_owned();
    let name = file.display();
    if let InForce::Environment(_) = in_force {
        findings.push(
            Finding::note("configuration", format!("OPENSSL_CONF names {name}"))
                .because("programs started from here read it instead of the system's"),
        );
    }
    let text = match std::fs::read(&file) {
        Ok(text) => text,
        Err(error) => {
            findings.push(
                Finding::problem("configuration", format!("{name} cannot be read: {error}"))
                    .remedy("restore it from OpenSSL's package, and make it readable for all"),
            );
            return None;
        }
    };
    let config = match Config::parse(&text, &file, system::environment) {
        Ok(config) => config,
        Err(error) => {
            findings.push(Finding::problem("configuration", error.to_string()));
            return None;
        }
    };
    for missing in &config.missing_includes {
        findings.push(Finding::note(
            "configuration",
            format!("{name} includes {missing}, which does not exist"),
        ));
    }
    if let Some(private) = module::private(&file) {
        findings.push(
            Finding::problem("configuration", format!("not every user can read {name}"))
                .because(format!("of the permissions of {}", private.display()))
                .remedy(format!("run 'chmod o+rX {}'", private.display())),
        );
    }
    let Some(named) = config.outboard() else {
        findings.push(
            Finding::note(
                "configuration",
                format!("{name} does not load Outboard: only 'outboard run' does"),
            )
            .remedy("run 'outboard enable' to switch it on for every program"),
        );
        return None;
    };
    if !named.preferred {
        findings.push(
            Finding::problem(
                "configuration",
                format!("{name} loads Outboard, but programs do not prefer it"),
            )
            .because("default_properties has no clause ?provider=outboard")
            .remedy("run 'outboard enable'"),
        );
    } else {
        findings.push(Finding::good(
            "configuration",
            format!("{name} loads Outboard and prefers it"),
        ));
    }
    super::settings::examine(&config, &named.section, &file, findings);
    let path = |setting: &str| {
        let assignment = config.assignment(&named.section, setting)?;
        Some(PathBuf::from(&assignment.value))
    };
    Some(Configured {
        module: path("inner").or_else(|| path("module")),
        observer: path("inner").and_then(|_| path("module")),
        modules: path("inner").into_iter().chain(path("module")).collect(),
        profile: path("profile"),
        ledger: path("ledger"),
        file,
    })
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
            .because("programs started from here look for modules there alone"),
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
                    super::State::Problem
                } else {
                    super::State::Note
                },
                "module",
                format!("not every user can read {name}"),
            );
            findings.push(
                finding
                    .because(format!("of the permissions of {}", private.display()))
                    .remedy("run 'make install'"),
            );
            findings.push(loads_alone(&path, configured));
        }
        None => findings.push(loads_alone(&path, configured)),
    }
    Some(path)
}

/// What stands between programs and both providers where a system is observed.
fn observing(observer: &Path) -> Finding {
    let name = observer.display();
    let obstacle = match module::obstacle(observer) {
        None => {
            return Finding::good(
                "observing",
                format!("{name} counts what programs do ('outboard observe --all' shows it)"),
            );
        }
        Some(obstacle) => obstacle,
    };
    let (what, because) = match obstacle {
        Obstacle::Unreadable(error) => (format!("{name} cannot be read"), error),
        Obstacle::Foreign(reason) => (format!("{name} is no module for this machine"), reason),
        Obstacle::Private(private) => (
            format!("not every user can read {name}"),
            format!("of the permissions of {}", private.display()),
        ),
    };
    Finding::problem(
        "observing",
        format!("{what}: programs run without Outboard"),
    )
    .because(because)
    .remedy("run 'make install', or 'outboard enable' (without --observe)")
}

/// Why root should not have that code run, if it should not: trying a module runs it, as 'outboard enable' would
/// have root's programs do; and so may what ssh reads.
pub(super) fn unfit_for_root<'a>(files: impl IntoIterator<Item = &'a Path>) -> Option<String> {
    const ROOT: u32 = 0;
    if !system::is_root() {
        return None;
    }
    files.into_iter().find_map(|file| {
        // What is not there is told of where it is tried.
        let changeable = changeable_by_others(file, ROOT).ok()??;
        let changeable = changeable.display();
        Some(format!(
            "others than root may change {changeable}, and could have their code run as root"
        ))
    })
}

fn loads_alone(module: &Path, configured: &Option<Configured>) -> Finding {
    let name = module.display();
    if let Some(reason) = unfit_for_root([module]) {
        let state = if configured.is_some() {
            super::State::Problem
        } else {
            super::State::Note
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
                format!("{name} says it is version {version}; this command is {ours}"),
            )
            .remedy("install both from one build")
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
        Finding::problem("loading", format!("OpenSSL refuses {name}")).because(error)
    } else if !report.default_is_active {
        Finding::problem(
            "loading",
            format!("with {name} the default provider is not active"),
        )
        .because("another provider is activated, and it is not")
        .remedy("run 'outboard enable'")
    } else if !report.outboard_is_active {
        let finding = Finding::problem("loading", format!("with {name} Outboard is not active"));
        match report.module_error {
            Some(reason) => finding.because(reason),
            None => finding.because("the module loads by itself, so its section is at fault"),
        }
        .remedy("run 'outboard enable'")
    } else {
        Finding::good(
            "loading",
            format!("a program that reads {name} has Outboard active"),
        )
    }
}

fn profile(library: &Library, configured: &Option<Configured>, findings: &mut Vec<Finding>) {
    let path = match configured {
        Some(configured) => configured
            .profile
            .clone()
            .unwrap_or_else(|| system::SYSTEM_PROFILE.into()),
        None => system::profile(),
    };
    let name = path.display();
    let machine = Machine::detect().named();
    let (profile, error) = info::in_force(&path, &machine, &library.version());
    match error {
        None => {
            findings.push(match info::out_of_date(&profile, &library.version()) {
                None => Finding::good("profile", format!("{name} holds for this machine")),
                Some(reason) => Finding::note(
                    "profile",
                    format!("{name} is in use, but of other versions than are installed"),
                )
                .because(reason)
                .remedy("run 'outboard calibrate'"),
            });
            if let Some(private) = module::private(&path).filter(|_| configured.is_some()) {
                findings.push(
                    Finding::problem("profile", format!("not every user can read {name}"))
                        .because(format!("of the permissions of {}", private.display()))
                        .remedy(format!("run 'chmod o+rX {}'", private.display())),
                );
            }
        }
        Some(error @ ProfileError::Missing { .. }) => findings.push(
            Finding::note("profile", error.to_string())
                .because("without one, what is known of this class of processor decides"),
        ),
        Some(error) => findings
            .push(Finding::problem("profile", error.to_string()).because(
                "programs pass over it: what is known of this class of processor decides",
            )),
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
        Err(LedgerError::Missing { .. }) => {
            let directory = path.parent().unwrap_or(Path::new("/"));
            match rustix::fs::access(directory, rustix::fs::Access::WRITE_OK) {
                Ok(()) => Finding::good("ledger", format!("{name} will be made at the first use")),
                Err(error) => Finding::problem("ledger", format!("{name} cannot be made: {error}"))
                    .because("programs then count in their own memory, where nobody sees it")
                    .remedy(format!(
                        "make {} writable, or name another ledger",
                        directory.display()
                    )),
            }
        }
        Err(error) => Finding::problem("ledger", error.to_string())
            .because("programs then count in their own memory, where nobody sees it"),
    }
}

/// Processes that were started before Outboard was switched on.
fn left_behind(processes: &[Process]) -> Option<Finding> {
    let without = processes
        .iter()
        .filter(|p| p.uses_openssl() && p.outboard.is_none());
    let names = restart_names(without);
    (!names.is_empty()).then(|| {
        Finding::note(
            "processes",
            format!("run without it: {}", restart_lines(&names).join(", ")),
        )
        .because("they were started before, or cannot use it ('outboard doctor --pid PID' tells)")
        .remedy("restart them")
    })
}
