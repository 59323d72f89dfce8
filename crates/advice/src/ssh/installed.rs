//! The installed OpenSSH, asked: what it knows, what is configured.

use outboard_programs::{Launch, Sshd};
use outboard_wording::printable;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::algorithm::Kind;
use crate::Error;

/// Algorithms by kind, in the order of preference.
pub type Lists = BTreeMap<Kind, Vec<String>>;

/// `OpenSSH_9.2p1 Debian-2+deb12u10`.
pub(super) fn version() -> Result<String, Error> {
    let said = Launch::new("ssh")?.arg("-V").succeed()?.errors;
    let version = said.split(',').next().unwrap_or_default().trim();
    Ok(version.to_owned())
}

/// The names that `ssh -Q` lists.
pub(super) fn known(kind: Kind) -> Result<Vec<String>, Error> {
    let said = Launch::new("ssh")?.args(["-Q", kind.query()]).succeed()?;
    Ok(said.output.lines().map(str::to_owned).collect())
}

/// The names that this sshd accepts. `key` is a host key for the trial.
pub(super) fn accepted(kind: Kind, names: Vec<String>, key: &Path) -> Result<Vec<String>, Error> {
    Sshd::make_its_directory()?;
    let mut accepted = Vec::new();
    for name in names {
        let tried = Launch::new("sshd")?
            .args(["-t", "-f", "/dev/null", "-h"])
            .arg(key)
            .args(["-o", &format!("{}={name}", kind.keyword())])
            .finish()?;
        if tried.status.success() {
            accepted.push(name);
        }
    }
    Ok(accepted)
}

/// Why it is not known what a program makes of a configuration.
#[derive(Debug)]
pub(super) enum Refusal {
    /// It could not be asked.
    Unasked(String),
    /// It does not accept the configuration, and says this.
    Said(String),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unasked(reason) | Self::Said(reason) => formatter.write_str(reason),
        }
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal.to_string())
    }
}

/// The side that a configuration belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// sshd.
    Server,
    /// ssh, scp, sftp.
    Client,
}

impl Side {
    /// The main configuration's name below /etc/ssh.
    pub fn file(self) -> &'static str {
        match self {
            Self::Server => "sshd_config",
            Self::Client => "ssh_config",
        }
    }

    /// The program that reads it.
    pub fn program(self) -> &'static str {
        match self {
            Self::Server => "sshd",
            Self::Client => "ssh",
        }
    }

    /// The name of the other end.
    pub fn peer(self) -> &'static str {
        match self {
            Self::Server => "client",
            Self::Client => "server",
        }
    }

    /// The lists that its program makes of a configuration.
    ///
    /// # Errors
    /// [`Refusal`], with the name for the file that is given here.
    pub(super) fn evaluate(self, configuration: &Path, key: &Path) -> Result<Lists, Refusal> {
        let unasked = |error: outboard_programs::Error| Refusal::Unasked(error.to_string());
        let launch = Launch::new(self.program()).map_err(unasked)?;
        if self == Self::Server {
            Sshd::make_its_directory().map_err(unasked)?;
        }
        let launch = match self {
            // A host key of our own: sshd insists on one, and only root may read the system's.
            Self::Server => launch.arg("-T").arg("-h").arg(key).arg("-f"),
            Self::Client => launch.arg("-G").arg("-F"),
        };
        let launch = match self {
            Self::Server => launch.arg(configuration),
            Self::Client => launch.arg(configuration).arg(NOBODY),
        };
        let said = launch.finish().map_err(unasked)?;
        if !said.status.success() {
            // The message quotes files, which any user may have written.
            let lines: Vec<String> = said.errors.trim().lines().map(printable).collect();
            return Err(Refusal::Said(lines.join("\n")));
        }
        Ok(Kind::ALL
            .into_iter()
            .map(|kind| (kind, list(&said.output, kind)))
            .collect())
    }
}

/// A host that no `Host` block means (RFC 2606).
pub(super) const NOBODY: &str = "outboard.invalid";

/// A host key that belongs to no host, so that sshd can be asked; in a directory of one's own.
pub(super) fn temporary_key(directory: &Path) -> Result<PathBuf, Error> {
    let key = directory.join("key");
    Launch::new("ssh-keygen")?
        .args(["-q", "-N", "", "-t", "ed25519", "-f"])
        .arg(&key)
        .succeed()?;
    Ok(key)
}

fn list(output: &str, kind: Kind) -> Vec<String> {
    output
        .lines()
        .filter_map(|line| line.split_once(' '))
        .find(|(keyword, _)| keyword.eq_ignore_ascii_case(kind.keyword()))
        .map(|(_, names)| names.split(',').map(str::to_owned).collect())
        .unwrap_or_default()
}
