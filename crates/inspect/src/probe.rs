//! Tries how libcrypto reads a configuration and loads the module. This happens in a child process, so that a module that
//! crashes does not end this command.

use outboard_installation as installation;
use outboard_openssl_conf as openssl_conf;

use crate::Error;
use outboard_libcrypto::{Context, Library};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::{Command, Stdio};

/// The result of the trial.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Why OpenSSL refuses the configuration.
    pub configuration_error: Option<String>,
    /// Whether the default provider is active once it is loaded.
    pub default_is_active: bool,
    /// Whether Outboard is.
    pub outboard_is_active: bool,
    /// Whether the default provider's stand-in is.
    pub observed_is_active: bool,
    /// Why the module cannot be loaded by its path; `None` if it was not tried or could.
    pub module_error: Option<String>,
    /// The version that the loaded module says it has.
    pub module_version: Option<String>,
}

/// Tries a configuration and, where that does not load Outboard, the module by itself.
///
/// # Errors
/// When the child process cannot start, or crashes. Other programs that load the module would crash too.
pub fn probe(config: Option<&Path>, module: Option<&Path>) -> Result<Report, Error> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg("probe")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    for (option, path) in [("--config", config), ("--module", module)] {
        if let Some(path) = path {
            command.arg(option).arg(path);
        }
    }
    // The child loads only what the options name.
    command
        .env_remove("OPENSSL_CONF")
        .env_remove("OPENSSL_MODULES");
    let answer = command.output()?;
    serde_json::from_slice(&answer.stdout)
        .map_err(|_| format!("a test process that loaded it crashed: {}", answer.status).into())
}

/// The child's side: what [`probe`] starts as `outboard probe` prints this as JSON.
///
/// # Errors
/// If OpenSSL cannot be used at all.
pub fn run(config: Option<&Path>, module: Option<&Path>) -> Result<Report, Error> {
    let library = installation::library()?;
    library.ignore_system_configuration()?;
    let mut report = Report::default();
    if let Some(config) = config {
        let _no_record = NoRecord::begin();
        let context = Context::new(&library)?;
        if let Err(error) = context.load_configuration(config) {
            report.configuration_error = Some(error.to_string());
        }
        report.default_is_active = context.has_provider("default");
        report.outboard_is_active = context.has_provider("outboard");
        report.observed_is_active = context.has_provider(openssl_conf::OBSERVED);
        if report.outboard_is_active {
            // It is active already, so this only makes it answer.
            report.module_version = version(&context, "outboard").ok().flatten();
        }
    }
    if let Some(module) = module.filter(|_| !report.outboard_is_active) {
        match try_module(&library, module) {
            Ok(version) => report.module_version = version,
            Err(reason) => report.module_error = Some(reason),
        }
    }
    Ok(report)
}

/// A trial makes no record, lest it leave one behind: what comes after another's start cannot be taken away
/// without taking away what that counts. Modules ask for the largest size that a file may have before they make
/// one (`outboard_shared_memory`), and do without.
struct NoRecord(Option<Rlimit>);

impl NoRecord {
    /// Less than the smallest record or ledger, more than anything else is.
    const LARGEST: u64 = 64 << 10;

    fn begin() -> Self {
        // If a module of others writes more than this, its write fails. The signal must not end this process.
        // SAFETY: no handler of ours is replaced; this process does nothing but the trial.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        let before = getrlimit(Resource::Fsize);
        let limit = Rlimit {
            current: Some(before.current.unwrap_or(u64::MAX).min(Self::LARGEST)),
            ..before
        };
        Self(setrlimit(Resource::Fsize, limit).is_ok().then_some(before))
    }
}

impl Drop for NoRecord {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            // Back to what it was is always allowed.
            let _ = setrlimit(Resource::Fsize, before);
        }
    }
}

fn try_module(library: &Library, module: &Path) -> Result<Option<String>, String> {
    let name = module.to_str().ok_or("its path is not text")?;
    let context = Context::new(library).map_err(|error| error.to_string())?;
    version(&context, name).map_err(|error| error.to_string())
}

fn version(context: &Context, provider: &str) -> outboard_libcrypto::Result<Option<String>> {
    Ok(context.load_provider(provider)?.information(c"version"))
}
