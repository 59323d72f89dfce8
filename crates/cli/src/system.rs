//! Where things are on this system: its OpenSSL, the configuration in force, profiles.

use crate::Failure;
use outboard_libcrypto::Library;
use outboard_openssl_conf::{self as openssl_conf, Config};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The profile of the whole system, which the provider reads unless told otherwise.
pub(crate) const SYSTEM_PROFILE: &str = "/var/lib/outboard/profile.json";

/// The system's own OpenSSL.
///
/// # Errors
/// When there is none of version 3 or later.
pub(crate) fn library() -> Result<Library, Failure> {
    Library::open(Library::SYSTEM).map_err(|error| {
        format!("cannot use the system's OpenSSL: {error} (install OpenSSL 3: Debian's libssl3)")
            .into()
    })
}

/// The file that every program reads: `openssl.cnf` where `library` was built to look for it.
///
/// # Errors
/// When it was built to look nowhere.
pub(crate) fn configuration(library: &Library) -> Result<PathBuf, Failure> {
    let directory = library
        .configuration_directory()
        .ok_or("this OpenSSL was built without a configuration file (name one with --config)")?;
    Ok(directory.join("openssl.cnf"))
}

/// The configuration that a program started from here reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InForce {
    /// `openssl.cnf`, as the library was built.
    System(PathBuf),
    /// The file that `OPENSSL_CONF` names.
    Environment(PathBuf),
    /// `OPENSSL_CONF` is empty: OpenSSL reads nothing.
    Nothing,
}

impl InForce {
    /// Looks at the environment first, as OpenSSL does.
    pub(crate) fn find(library: &Library) -> Result<Self, Failure> {
        match std::env::var_os("OPENSSL_CONF") {
            None => Ok(Self::System(configuration(library)?)),
            Some(path) if path.is_empty() => Ok(Self::Nothing),
            Some(path) => Ok(Self::Environment(path.into())),
        }
    }

    /// The file, if any.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::System(path) | Self::Environment(path) => Some(path),
            Self::Nothing => None,
        }
    }

    /// Its name, for messages.
    pub(crate) fn name(&self) -> &Path {
        self.path().unwrap_or(Path::new("(nothing)"))
    }

    /// Its content; empty if the file does not exist, because OpenSSL ignores a missing file too.
    pub(crate) fn read(&self) -> Result<Vec<u8>, Failure> {
        match self.path().map(fs::read) {
            None => Ok(Vec::new()),
            Some(Ok(text)) => Ok(text),
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Some(Err(error)) => {
                Err(format!("cannot read {}: {error}", self.name().display()).into())
            }
        }
    }

    /// Its content without Outboard, for `--stock`.
    pub(crate) fn without_outboard(&self) -> Result<Vec<u8>, Failure> {
        let text = openssl_conf::strip(&self.read()?)?;
        let config = Config::parse(&text, self.name(), environment)?;
        if config.outboard().is_some() {
            let file = self.name().display();
            let reason = "configures the provider outboard by hand, so --stock cannot leave it out";
            return Err(format!("{file} {reason} (remove those lines first)").into());
        }
        Ok(text)
    }
}

/// Where a user keeps a profile of one's own: `$XDG_STATE_HOME/outboard/profile.json`.
pub(crate) fn user_profile() -> Option<PathBuf> {
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let state = std::env::var_os("XDG_STATE_HOME").and_then(absolute);
    let home = || {
        Some(
            std::env::var_os("HOME")
                .and_then(absolute)?
                .join(".local/state"),
        )
    };
    Some(state.or_else(home)?.join("outboard/profile.json"))
}

/// The profile that 'outboard run' and 'outboard info' use: the user's own if there is one, else the
/// system's.
pub(crate) fn profile() -> PathBuf {
    user_profile()
        .filter(|path| path.exists())
        .unwrap_or_else(|| SYSTEM_PROFILE.into())
}

/// Whether this command may change the system.
pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The remedy to name where the system could not be changed.
pub(crate) fn remedy() -> &'static str {
    if is_root() { "" } else { " (run it as root)" }
}

/// The environment, for [`outboard_openssl_conf::Config::parse`].
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
