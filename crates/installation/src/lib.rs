//! Where things are on this system: its OpenSSL, the configuration in force, profiles, Outboard's modules.
//!
//! Looks at the environment, at files' headers and permissions, and at what libcrypto says of itself. Changes nothing.
//! Knows nothing of what a module does or what a profile contains.

mod error;
pub mod module;
mod switch;
mod trust;

pub use error::Error;
pub use switch::Switch;
pub use trust::changeable_by_others;

use outboard_libcrypto::Library;
use outboard_openssl_conf::{self as openssl_conf, Config};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The profile of the whole system, which the provider reads unless told otherwise.
pub const SYSTEM_PROFILE: &str = outboard_profile::SYSTEM_PATH;

/// The system's own OpenSSL.
///
/// # Errors
/// When there is none of version 3 or later.
pub fn library() -> Result<Library, Error> {
    Library::open(Library::SYSTEM).map_err(Error::NoOpenSsl)
}

/// The file that every program reads: `openssl.cnf` where `library` was built to look for it.
///
/// # Errors
/// When it was built to look nowhere.
pub fn configuration(library: &Library) -> Result<PathBuf, Error> {
    let directory = library
        .configuration_directory()
        .ok_or(Error::NoConfiguration)?;
    Ok(directory.join("openssl.cnf"))
}

/// The configuration that a program started from here reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InForce {
    /// `openssl.cnf`, as the library was built.
    System(PathBuf),
    /// The file that `OPENSSL_CONF` names.
    Environment(PathBuf),
    /// `OPENSSL_CONF` is empty, or a device (`/dev/null`): OpenSSL reads nothing.
    Nothing,
}

impl InForce {
    /// Looks at the environment first, as OpenSSL does.
    ///
    /// # Errors
    /// If no environment variable names a file, and `library` was built to look nowhere.
    pub fn find(library: &Library) -> Result<Self, Error> {
        match std::env::var_os("OPENSSL_CONF") {
            None => Ok(Self::System(configuration(library)?)),
            Some(path) if path.is_empty() || is_device(Path::new(&path)) => Ok(Self::Nothing),
            Some(path) => Ok(Self::Environment(path.into())),
        }
    }

    /// The file, if any.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::System(path) | Self::Environment(path) => Some(path),
            Self::Nothing => None,
        }
    }

    /// Its name, for messages.
    pub fn name(&self) -> &Path {
        self.path().unwrap_or(Path::new("(nothing)"))
    }

    /// Its content; empty if the file does not exist, because OpenSSL ignores a missing file too.
    ///
    /// # Errors
    /// If the file is there and cannot be read.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        match self.path().map(fs::read) {
            None => Ok(Vec::new()),
            Some(Ok(text)) => Ok(text),
            Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Some(Err(error)) => Err(Error::Unreadable {
                file: self.name().to_owned(),
                error,
            }),
        }
    }

    /// Its content without Outboard, for `--stock`.
    ///
    /// # Errors
    /// If it cannot be read or understood, or loads Outboard without Outboard's own block.
    pub fn without_outboard(&self) -> Result<Vec<u8>, Error> {
        let text = openssl_conf::strip(&self.read()?)?;
        let config = Config::parse(&text, self.name(), environment)?;
        if config.outboard().is_some() {
            return Err(Error::ByHand(self.name().to_owned()));
        }
        Ok(text)
    }
}

/// Where a user keeps a profile of one's own: `$XDG_STATE_HOME/outboard/profile.json`.
pub fn user_profile() -> Option<PathBuf> {
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
pub fn profile() -> PathBuf {
    user_profile()
        .filter(|path| path.exists())
        .unwrap_or_else(|| SYSTEM_PROFILE.into())
}

/// The place of the copy of a configuration, as it was before 'outboard enable'. The name must not end in .cnf or .conf: a configuration that
/// includes the whole directory would read it.
pub fn backup_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".before-outboard");
    name.into()
}

/// The service's program: beside this command, or where 'make install' puts it.
///
/// # Errors
/// If it is in neither place.
pub fn daemon() -> Result<PathBuf, Error> {
    const NAME: &str = "outboardd";
    let own = std::env::current_exe().map_err(Error::NoCommand)?;
    let here = own.parent().unwrap_or(Path::new("/"));
    let places = [here.join(NAME), here.join("../sbin").join(NAME)];
    places
        .iter()
        .find(|place| place.is_file())
        .cloned()
        .ok_or_else(|| Error::NoDaemon(here.to_owned()))
}

/// Whether the card service is installed: its program, or systemd's unit of it.
pub fn has_service() -> bool {
    const PLACES: [&str; 6] = [
        "/usr/sbin/outboardd",
        "/usr/local/sbin/outboardd",
        "/etc/systemd/system/outboard.service",
        "/usr/local/lib/systemd/system/outboard.service",
        "/usr/lib/systemd/system/outboard.service",
        "/lib/systemd/system/outboard.service",
    ];
    daemon().is_ok() || PLACES.iter().any(|place| Path::new(place).exists())
}

/// What installs the card service on this system.
pub fn service_installation() -> &'static str {
    match Path::new("/usr/bin/dpkg").exists() {
        true => "apt install outboard-service",
        false if Path::new("/usr/bin/rpm").exists() => "dnf install outboard-service",
        false => "make install",
    }
}

fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_char_device())
}

/// Whether systemd runs this system (sd_booted(3)).
pub fn has_systemd() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

/// Whether OpenSSL has the post-quantum groups of TLS 1.3 itself: from 3.5 on.
pub fn has_post_quantum_groups(library: &Library) -> bool {
    let (major, minor, _) = library.version_numbers();
    (major, minor) >= (3, 5)
}

/// Whether this command may change the system.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The remedy to name where the system could not be changed.
pub fn remedy() -> &'static str {
    if is_root() { "" } else { " (run it as root)" }
}

/// The environment, for [`outboard_openssl_conf::Config::parse`].
pub fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
