//! The configuration that programs read: whether it is intact, which users may change it, whether it loads Outboard.

use crate::{Finding, post_quantum, settings};
use outboard_installation::{self as system, InForce, backup_of, changeable_by_others, module};
use outboard_libcrypto::Library;
use outboard_openssl_conf::{Config, strip};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The configuration in force, when it loads Outboard.
pub(crate) struct Configured {
    pub(crate) in_force: InForce,
    pub(crate) file: PathBuf,
    /// The section of the provider's settings.
    pub(crate) section: String,
    pub(crate) module: Option<PathBuf>,
    /// The module that observes it, after 'enable --observe'.
    pub(crate) observer: Option<PathBuf>,
    /// All modules that Outboard's section names, including the observing module.
    pub(crate) modules: Vec<PathBuf>,
    pub(crate) profile: Option<PathBuf>,
    pub(crate) ledger: Option<PathBuf>,
}

/// Examines the configuration in force, as far as it goes.
pub(crate) fn examine(library: &Library, findings: &mut Vec<Finding>) -> Option<Configured> {
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
                "OPENSSL_CONF names no file, so programs that you start here read no configuration",
            )
            .remedy("run 'unset OPENSSL_CONF'"),
        );
        return None;
    }
    let file = in_force.path()?.to_owned();
    let name = file.display();
    if let InForce::Environment(_) = in_force {
        findings.push(
            Finding::note("configuration", format!("OPENSSL_CONF names {name}"))
                .because("programs that you start here read it instead of the system's"),
        );
    }
    let text = match std::fs::read(&file) {
        Ok(text) => text,
        Err(error) => {
            findings.push(unreadable(&file, &error));
            return None;
        }
    };
    findings.extend(changeable(&in_force, &file));
    let base = match strip(&text) {
        Ok(base) => base,
        Err(error) => {
            findings.push(damaged(&in_force, &file, &error.to_string()));
            return None;
        }
    };
    let parse = |text| Config::parse(text, &file, system::environment);
    let config = match parse(&text) {
        Ok(config) => config,
        Err(error) => {
            let finding = Finding::problem("configuration", error.to_string());
            findings.push(match parse(&base) {
                Ok(_) => finding
                    .because("somebody changed a line in Outboard's own block")
                    .remedy(format!(
                        "run '{}', which writes the block again",
                        enable_command(&in_force)
                    )),
                Err(_) => finding
                    .because(
                        "OpenSSL reads nothing after that line, so programs run without Outboard",
                    )
                    .remedy("correct that line"),
            });
            return None;
        }
    };
    for missing in &config.missing_includes {
        findings.push(
            Finding::note(
                "configuration",
                format!("{name} includes {missing}, which does not exist"),
            )
            .because("OpenSSL ignores a missing file without a message")
            .remedy("restore that file, or remove the line"),
        );
    }
    if let Some(private) = module::private(&file) {
        findings.push(
            Finding::problem("configuration", format!("not every user can read {name}"))
                .because(format!(
                    "the permissions of {} forbid it",
                    private.display()
                ))
                .remedy(format!("run 'chmod o+rX {}'", private.display())),
        );
    }
    let Some(named) = config.outboard() else {
        findings.push(
            Finding::note(
                "configuration",
                format!("{name} does not load Outboard: only 'outboard run' does"),
            )
            .remedy(switch_on(library, &in_force)),
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
            .remedy(format!("run '{}'", enable_command(&in_force))),
        );
    } else {
        findings.push(Finding::good(
            "configuration",
            format!("{name} loads Outboard and prefers it"),
        ));
    }
    settings::examine(&config, &named.section, &file, findings);
    post_quantum::examine(&config, &file, library, findings);
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
        section: named.section.clone(),
        in_force,
        file,
    })
}

/// The command that writes Outboard's block into the configuration in force.
pub(crate) fn enable_command(in_force: &InForce) -> String {
    match in_force {
        InForce::Environment(file) => format!("outboard enable --config {}", file.display()),
        _ if system::is_root() => "outboard enable".to_owned(),
        _ => "sudo outboard enable".to_owned(),
    }
}

/// How to switch Outboard on, by commands that work. `enable` refuses a module that some user cannot read. For root's
/// programs, it also refuses a module that others can change.
fn switch_on(library: &Library, in_force: &InForce) -> String {
    const ROOT: u32 = 0;
    let enable = enable_command(in_force);
    let is_fit = module::find(None, Some(library)).is_ok_and(|module| {
        let is_the_system_s = matches!(in_force, InForce::System(_));
        module::obstacle(&module).is_none()
            && (!is_the_system_s || matches!(changeable_by_others(&module, ROOT), Ok(None)))
    });
    match is_fit {
        true => format!("run '{enable}' to switch it on for every program"),
        false => {
            format!("run 'sudo make install', then '{enable}', to switch it on for every program")
        }
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> Finding {
    let name = file.display();
    let finding = Finding::problem("configuration", format!("{name} cannot be read: {error}"))
        .because("programs run without it, and so without Outboard");
    let backup = backup_of(file);
    match error.kind() {
        std::io::ErrorKind::PermissionDenied => finding.remedy(format!("run 'chmod o+rX {name}'")),
        _ if backup.exists() => finding.remedy(format!(
            "run 'cp -p {} {name}', which restores the file from before 'outboard enable'",
            backup.display()
        )),
        _ => finding.remedy("restore it from OpenSSL's package (Debian: openssl)"),
    }
}

/// Somebody edited the block's markers. Then neither `enable` nor `disable` knows which lines are the block's.
fn damaged(in_force: &InForce, file: &Path, reason: &str) -> Finding {
    let finding = Finding::problem("configuration", format!("{}: {reason}", file.display()))
        .because(
            "'outboard enable' and 'outboard disable' find their block by its first and last line",
        );
    let (backup, enable) = (backup_of(file), enable_command(in_force));
    match backup.exists() {
        true => finding.remedy(format!(
            "run 'cp -p {} {}', which restores the file from before 'outboard enable', then '{enable}'",
            backup.display(),
            file.display()
        )),
        false => finding.remedy(format!(
            "remove the block's lines with an editor, then run '{enable}'"
        )),
    }
}

/// A user who can change the configuration can load code into every program that reads it. The directories of a user's
/// own file are not checked.
fn changeable(in_force: &InForce, file: &Path) -> Option<Finding> {
    const ROOT: u32 = 0;
    const OTHERS_WRITE: u32 = 0o002;
    let path = match in_force {
        InForce::System(_) => changeable_by_others(file, ROOT).ok()??,
        _ => {
            let mode = file.metadata().ok()?.mode();
            Some(file.to_owned()).filter(|_| mode & OTHERS_WRITE != 0)?
        }
    };
    let owner = path.metadata().ok()?.uid();
    let path = path.display();
    let remedy = match (in_force, owner) {
        (InForce::System(_), owner) if owner != ROOT => format!("run 'chown root {path}' as root"),
        _ => format!("run 'chmod go-w {path}'"),
    };
    Some(
        Finding::problem("configuration", format!("other users can change {path}"))
            .because("every program that reads the configuration would load code that these users name in it")
            .remedy(remedy),
    )
}
