//! Where the programs are, and which Debian package brings them.

use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::Error;

/// A program and the Debian package that holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Program {
    /// The program's name.
    pub name: &'static str,
    /// Debian's package.
    pub package: &'static str,
}

/// Every program that the benchmarks and the whole-program tests start.
const PROGRAMS: &[Program] = &[
    Program::new("a2enmod", "apache2"),
    Program::new("apache2", "apache2-bin"),
    Program::new("bash", "bash"),
    Program::new("catalina.sh", "tomcat10-common"),
    Program::new("certutil", "libnss3-tools"),
    Program::new("chromium", "chromium"),
    Program::new("curl", "curl"),
    Program::new("gnutls-serv", "gnutls-bin"),
    Program::new("h2load", "nghttp2-client"),
    Program::new("haproxy", "haproxy"),
    Program::new("java", "openjdk-17-jdk-headless"),
    Program::new("javac", "openjdk-17-jdk-headless"),
    Program::new("keytool", "openjdk-17-jdk-headless"),
    Program::new("jlink", "openjdk-17-jdk-headless"),
    Program::new("logrotate", "logrotate"),
    Program::new("modutil", "libnss3-tools"),
    Program::new("nginx", "nginx-light"),
    Program::new("nsenter", "util-linux"),
    Program::new("openssl", "openssl"),
    Program::new("perf", "linux-perf"),
    Program::new("p11tool", "gnutls-bin"),
    Program::new("pkcs11-tool", "opensc"),
    Program::new("pgbench", "postgresql"),
    Program::new("postgres", "postgresql"),
    Program::new("id", "coreutils"),
    Program::new("initdb", "postgresql"),
    Program::new("psql", "postgresql-client"),
    Program::new("python3", "python3"),
    Program::new("rsync", "rsync"),
    Program::new("scp", "openssh-client"),
    Program::new("sftp", "openssh-client"),
    Program::new("softhsm2-util", "softhsm2"),
    Program::new("ssh", "openssh-client"),
    Program::new("ssh-keygen", "openssh-client"),
    Program::new("sshd", "openssh-server"),
    Program::new("stunnel", "stunnel4"),
    Program::new("systemctl", "systemd"),
    Program::new("unshare", "util-linux"),
    Program::new("valgrind", "valgrind"),
    Program::new("wrk", "wrk"),
];

impl Program {
    const fn new(name: &'static str, package: &'static str) -> Self {
        Self { name, package }
    }
}

/// The program's path: in PATH, where Debian keeps servers, or where it keeps PostgreSQL and Tomcat.
///
/// # Errors
/// [`Error::Missing`] with the package to install.
///
/// # Panics
/// If the program is not in the list above: a mistake of ours.
pub fn find(name: &str) -> Result<PathBuf, Error> {
    let program = PROGRAMS
        .iter()
        .find(|program| program.name == name)
        .expect("every program that we start is in the list");
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/usr/sbin", "/usr/bin", "/sbin", "/bin"].map(PathBuf::from))
        .chain(postgresql_directories())
        .chain([PathBuf::from("/usr/share/tomcat10/bin")])
        .map(|directory| directory.join(name))
        .find(|candidate| is_executable(candidate))
        .ok_or(Error::Missing {
            program: program.name,
            package: program.package,
        })
}

/// Which of the programs are not installed.
pub fn missing(names: &[&str]) -> Vec<Program> {
    PROGRAMS
        .iter()
        .copied()
        .filter(|program| names.contains(&program.name) && find(program.name).is_err())
        .collect()
}

/// Whether all of them are installed.
///
/// # Errors
/// [`Error::NotInstalled`] names those that are not, and the packages to install.
pub fn all_installed(names: &[&str]) -> Result<(), Error> {
    let missing = missing(names);
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|program| program.name).collect();
    let mut packages: Vec<&str> = missing.iter().map(|program| program.package).collect();
    packages.sort_unstable();
    packages.dedup();
    Err(Error::NotInstalled {
        programs: names.join(", "),
        packages: packages.join(" "),
    })
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Debian keeps each version's server programs out of PATH; the newest first.
fn postgresql_directories() -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir("/usr/lib/postgresql") else {
        return Vec::new();
    };
    let mut directories: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .collect();
    directories.sort();
    directories.reverse();
    directories
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_every_system_has() {
        assert!(find("bash").unwrap().ends_with("bash"));
    }

    #[test]
    fn packages_are_named() {
        for program in PROGRAMS {
            assert!(!program.package.is_empty());
        }
        assert!(missing(&["bash"]).is_empty());
    }
}
