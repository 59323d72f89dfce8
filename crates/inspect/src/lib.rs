//! What is wrong, why, and the remedy: the installation, a program, a process, a key file, a Java server.
//!
//! ```text
//! everything ──▶ system         the installation: OpenSSL, module, ledger
//!                 ├─ configuration, settings   what openssl.cnf says
//!                 ├─ profile     whether programs can use the profile
//!                 ├─ confinement, services     what AppArmor, SELinux and systemd take from Outboard
//!                 ├─ haproxy, openssh          what these programs need
//!                 ├─ service, locked_memory    the card service, its store and tokens
//!                 ├─ early       processes that must be restarted before they can use it
//!                 └─ references, host_keys     files that need a key which the service lacks
//! program, process ──▶ unserved  cryptography that Outboard does not serve
//!                       └─ own_code            cryptography inside a file, by its texts
//! process ──▶ cards              which threads run the batches
//! key                            a key file that refers to a key of the card service
//!  └─ loading                    whether any program can read it
//! java/                          a Java server, or a JDK
//!
//! all of them answer with findings
//! probe         how libcrypto reads a configuration, tried in a child process
//! card_service  where the card service is, and whether it answers
//! ssh_agent     the same of its front for ssh clients
//! ```
//!
//! Looks at files, `/proc`, systemd and the card service, and starts OpenSSL in a child process. Changes nothing. Knows
//! nothing of a terminal. What other users chose (files, names, settings) is hostile: it is read with bounds, and shown
//! as [`outboard_wording::printable`] makes it.

pub mod card_service;
mod cards;
mod configuration;
mod confinement;
pub mod early;
mod error;
mod finding;
mod haproxy;
pub mod host_keys;
mod java;
mod key;
pub mod loading;
pub mod locked_memory;
mod openssh;
mod own_code;
mod post_quantum;
pub mod probe;
mod process;
mod profile;
mod program;
pub mod references;
mod service;
mod services;
mod settings;
pub mod ssh_agent;
mod store;
mod system;
mod tokens;
mod unserved;

pub use error::Error;
pub use finding::{Finding, State};

use card_service::Place;
use outboard_processes::Process;
use std::ffi::OsStr;
use std::path::Path;

/// The findings about the installation, the running processes and the card service's store. `ssh_directory` has the
/// drop-ins of `outboard advise ssh`.
///
/// # Errors
/// If `ssh_directory` is named and is no directory.
pub fn everything(ssh_directory: &Path) -> Result<Vec<Finding>, Error> {
    openssh::check(ssh_directory)?;
    let mut findings = installation(&std::path::absolute(ssh_directory)?);
    findings.extend(unserved::examine(&Process::all()));
    let place = Place::in_force();
    findings.extend(store::damaged(&place));
    findings.extend(references::examine(&place));
    findings.extend(host_keys::examine(&place));
    Ok(findings)
}

/// The findings about the installation, the configuration and running servers.
pub fn installation(ssh_directory: &Path) -> Vec<Finding> {
    system::examine(ssh_directory)
}

/// Whether a running process uses Outboard, and if not, why.
///
/// # Errors
/// If it does not run, or this user may not look at it.
pub fn process(pid: u32) -> Result<Vec<Finding>, Error> {
    process::examine(pid)
}

/// Whether a program, by its path or its name in `PATH`, can use Outboard.
///
/// # Errors
/// If there is no such program.
pub fn program(program: &OsStr) -> Result<Vec<Finding>, Error> {
    program::examine(program)
}

/// Whether there is a program of that path or that name in `PATH`, or a process of that name.
pub fn is_known(program: &str, processes: &[Process]) -> bool {
    // The kernel keeps 15 bytes of a name.
    let name = program.rsplit('/').next().unwrap_or_default();
    let runs = |process: &Process| process.name == name.get(..15).unwrap_or(name);
    program::find(OsStr::new(program)).is_ok() || processes.iter().any(runs)
}

/// Whether a key file, which refers to a key of the card service, serves its user.
///
/// # Errors
/// If the file cannot be read, or there is no such user.
pub fn key(file: &Path, user: Option<&str>) -> Result<Vec<Finding>, Error> {
    key::examine(file, user)
}

/// Why a Java server (by its process id), or the servers of a JDK (by its directory), do not use the PKCS #11 module.
/// Nothing named: the only JDK at hand.
///
/// # Errors
/// If there is none, or this user may not look at it.
pub fn java(named: &OsStr) -> Result<Vec<Finding>, Error> {
    java::examine(named)
}
