//! Where a JDK is, and which one.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A JDK or a Java runtime environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jdk {
    /// Its directory.
    pub home: PathBuf,
    /// Its version, as its file `release` says it: `17.0.15`. Empty if the file does not say.
    pub version: String,
}

/// The file of a JDK that says its version.
pub const RELEASE: &str = "release";

/// Why a directory is no JDK that can be used.
#[derive(Debug, thiserror::Error)]
pub enum JdkError {
    /// There is nothing of that name.
    #[error("cannot find {}: {error}", path.display())]
    Missing {
        /// What was named.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It has no security properties.
    #[error(
        "{} is not a JDK: it has no conf/security/java.security (name the directory that bin/java is in)",
        .0.display()
    )]
    NoJdk(PathBuf),
    /// It is of before Java 9.
    #[error("{} is Java 8 or older: Outboard needs Java 17 or later", .0.display())]
    TooOld(PathBuf),
    /// None was named, and there are several.
    #[error(
        "JAVA_HOME and PATH name several JDKs: {} (choose one: '{option} {}')",
        listed(homes),
        homes.first().map(|home| home.display().to_string()).unwrap_or_default()
    )]
    Several {
        /// Their directories.
        homes: Vec<PathBuf>,
        /// How to name one.
        option: &'static str,
    },
    /// None was named, and there is none.
    #[error("there is no JDK in JAVA_HOME and in PATH (name its directory: '{option} JDK')")]
    NoneAtHand {
        /// How to name one.
        option: &'static str,
    },
}

fn listed(homes: &[PathBuf]) -> String {
    let homes: Vec<String> = homes
        .iter()
        .map(|home| home.display().to_string())
        .collect();
    homes.join(", ")
}

impl Jdk {
    /// The oldest that this was tried with.
    pub const OLDEST: u32 = 17;

    /// The JDK in that directory, or the one of that `java`. Links are followed.
    ///
    /// # Errors
    /// If there is none, or one of before Java 9, whose files are elsewhere.
    pub fn at(path: &Path) -> Result<Self, JdkError> {
        let missing = |error| JdkError::Missing {
            path: path.to_owned(),
            error,
        };
        let place = path.canonicalize().map_err(missing)?;
        let home = match place.is_dir() {
            true => place,
            false => home_of(&place).ok_or_else(|| JdkError::NoJdk(path.to_owned()))?,
        };
        let of_java_8 = ["lib/security", "jre/lib/security"];
        if !home.join(SECURITY).exists() {
            let is_old = |place| home.join(place).join("java.security").exists();
            return Err(match of_java_8.into_iter().any(is_old) {
                true => JdkError::TooOld(home),
                false => JdkError::NoJdk(home),
            });
        }
        let release = fs::read_to_string(home.join(RELEASE)).unwrap_or_default();
        Ok(Self::released(home, &release))
    }

    /// The one that was named, else the only one at hand. `option`: how the user of a command names one.
    ///
    /// # Errors
    /// If there is none, or if there are several at hand.
    pub fn named(named: Option<&Path>, option: &'static str) -> Result<Self, JdkError> {
        if let Some(path) = named {
            return Self::at(path);
        }
        let mut found = at_hand(|name| std::env::var_os(name));
        match found.len() {
            0 => Err(JdkError::NoneAtHand { option }),
            1 => Ok(found.remove(0)),
            _ => Err(JdkError::Several {
                homes: found.into_iter().map(|jdk| jdk.home).collect(),
                option,
            }),
        }
    }

    /// One whose file [`RELEASE`] has that text.
    pub fn released(home: PathBuf, release: &str) -> Self {
        Self {
            version: version(release).unwrap_or_default(),
            home,
        }
    }

    /// Its security properties. In Debian's, this is a link to a file below `/etc`.
    pub fn security(&self) -> PathBuf {
        self.home.join(SECURITY)
    }

    /// A path in one of its files, which may begin with `${java.home}`.
    pub fn expanded(&self, path: &str) -> PathBuf {
        PathBuf::from(path.replace("${java.home}", &self.home.to_string_lossy()))
    }

    /// A program of it.
    pub fn program(&self, name: &str) -> PathBuf {
        self.home.join("bin").join(name)
    }

    /// The first number of its version: 17.
    pub fn feature(&self) -> Option<u32> {
        let digits = self.version.split(|letter: char| !letter.is_ascii_digit());
        digits.into_iter().next()?.parse().ok()
    }
}

const SECURITY: &str = "conf/security/java.security";

/// The JDKs that this environment names: by `JAVA_HOME`, and by the `java` in `PATH`. Each once.
pub fn at_hand(environment: impl Fn(&str) -> Option<OsString>) -> Vec<Jdk> {
    let home = environment("JAVA_HOME").map(PathBuf::from);
    let path = environment("PATH").unwrap_or_default();
    let java = std::env::split_paths(&path)
        .map(|directory| directory.join("java"))
        .find(|java| java.is_file());
    let mut seen = BTreeSet::new();
    home.into_iter()
        .chain(java)
        .filter_map(|place| Jdk::at(&place).ok())
        .filter(|jdk| seen.insert(jdk.home.clone()))
        .collect()
}

/// `/usr/lib/jvm/x` of `/usr/lib/jvm/x/bin/java`.
fn home_of(java: &Path) -> Option<PathBuf> {
    let directory = java.parent()?;
    (directory.file_name()? == "bin").then(|| directory.parent().map(Path::to_owned))?
}

/// `JAVA_VERSION="17.0.15"`.
fn version(release: &str) -> Option<String> {
    let line = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    let version = line.trim().trim_matches('"');
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".+-_".contains(letter);
    (!version.is_empty() && version.chars().all(is_plain)).then(|| version.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn jdk(directory: &Path, name: &str, files: &[&str]) -> PathBuf {
        let home = directory.join(name);
        for file in files {
            let file = home.join(file);
            fs::create_dir_all(file.parent().expect("it has one")).expect("it is ours");
            fs::write(file, "JAVA_VERSION=\"17.0.15\"\n").expect("it is ours");
        }
        home
    }

    #[test]
    fn jdks_are_told_from_other_directories() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let directory = directory.path().canonicalize().expect("it is ours");
        let home = jdk(&directory, "17", &[SECURITY, "release", "bin/java"]);
        let expected = Jdk {
            home: home.clone(),
            version: "17.0.15".to_owned(),
        };
        assert_eq!(expected.feature(), Some(17));
        std::os::unix::fs::symlink(home.join("bin/java"), directory.join("java")).expect("ours");
        for place in [&home, &home.join("bin/java"), &directory.join("java")] {
            assert_eq!(Jdk::at(place).expect("it is one"), expected);
        }
        let named = |name: &str| match name {
            "JAVA_HOME" => Some(home.clone().into()),
            "PATH" => Some(directory.clone().into()),
            _ => None,
        };
        assert_eq!(at_hand(named), [expected]);

        let old = jdk(&directory, "8", &["jre/lib/security/java.security"]);
        assert!(matches!(Jdk::at(&old), Err(JdkError::TooOld(_))));
        let other = jdk(&directory, "other", &["bin/java"]);
        assert!(matches!(Jdk::at(&other), Err(JdkError::NoJdk(_))));
        assert!(matches!(
            Jdk::at(&other.join("bin/java")),
            Err(JdkError::NoJdk(_))
        ));
        let none = directory.join("none");
        assert!(matches!(Jdk::at(&none), Err(JdkError::Missing { .. })));
    }
}
