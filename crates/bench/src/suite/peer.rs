//! Others to be measured beside stock and Outboard.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Another library that does the same work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What it is called in results: "openssl-3.5".
    pub name: String,
    /// Its shared library; of Open Liberty [`LIBERTY_FILE`].
    file: PathBuf,
}

/// A peer that is no libcrypto: Intel's eight operations at once.
const CRYPTO_MB: &str = "crypto_mb";

/// Another one: the Java server.
const LIBERTY: &str = "liberty";

/// Providers for Java, each in a jar.
const JARS: [&str; 2] = ["accp", "conscrypt"];

/// What every directory of Open Liberty has.
const LIBERTY_FILE: &str = "bin/tools/ws-server.jar";

impl Peer {
    /// The libcrypto, if it is one.
    pub fn libcrypto(&self) -> Option<&Path> {
        let others = [CRYPTO_MB, LIBERTY, JARS[0], JARS[1]];
        (!others.contains(&self.name.as_str())).then_some(&self.file)
    }

    /// The jar of a provider for Java, if it is that.
    pub fn jar(&self) -> Option<&Path> {
        (JARS.contains(&self.name.as_str())).then_some(&self.file)
    }

    /// Intel's crypto_mb, if it is that.
    pub fn crypto_mb(&self) -> Option<&Path> {
        (self.name == CRYPTO_MB).then_some(&self.file)
    }

    /// The directory of Open Liberty, if it is that.
    pub fn liberty(&self) -> Option<&Path> {
        (self.name == LIBERTY)
            .then(|| self.file.ancestors().nth(LIBERTY_FILE.split('/').count()))?
    }
}

impl FromStr for Peer {
    type Err = String;

    /// `NAME=PATH` of a libcrypto, `crypto_mb=PATH`, `liberty=DIRECTORY`, `accp=JAR`, `conscrypt=JAR`, or the name alone of one that lies in the
    /// target directory of this program (`openssl-3.5`, `openssl-4.0`, `crypto_mb`, `liberty`).
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, file) = match text.split_once('=') {
            Some((CRYPTO_MB, path)) => (CRYPTO_MB, in_directory(path.into())),
            Some((LIBERTY, path)) => (LIBERTY, Path::new(path).join(LIBERTY_FILE)),
            Some((name, path)) => (name, PathBuf::from(path)),
            None if text == CRYPTO_MB => (text, fetched()?),
            None if text == LIBERTY => (text, fetched_liberty()?),
            None if JARS.contains(&text) => {
                return Err(format!("name the jar of {text}: {text}=FILE"));
            }
            None => (text, built(text)?),
        };
        if name.is_empty() || ["stock", "outboard"].contains(&name) {
            return Err(format!("a peer cannot be called '{name}'"));
        }
        if !file.is_file() {
            let what = match name {
                CRYPTO_MB => CRYPTO_MB,
                LIBERTY => "Open Liberty with",
                name if JARS.contains(&name) => "jar",
                _ => "libcrypto",
            };
            return Err(format!("there is no {what} {}", file.display()));
        }
        Ok(Self {
            name: name.to_owned(),
            file,
        })
    }
}

/// The file itself, or the one of the usual name in a directory.
fn in_directory(path: PathBuf) -> PathBuf {
    if path.is_dir() {
        path.join("libcrypto_mb.so")
    } else {
        path
    }
}

/// Where `make crypto-mb` puts it, or where the system's loader finds it.
fn fetched() -> Result<PathBuf, String> {
    let in_target = target().map(|target| target.join("bench/crypto_mb"));
    let system = ["/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"].map(PathBuf::from);
    in_target
        .into_iter()
        .chain(system)
        .map(in_directory)
        .find(|file| file.is_file())
        .ok_or_else(|| {
            "cannot find crypto_mb beside this program or in the system's libraries (fetch it with 'make \
             crypto-mb', or name the directory of libcrypto_mb.so: crypto_mb=PATH)"
                .to_owned()
        })
}

/// Where `make liberty` puts it.
fn fetched_liberty() -> Result<PathBuf, String> {
    target()
        .map(|target| target.join("bench/liberty/wlp").join(LIBERTY_FILE))
        .filter(|file| file.is_file())
        .ok_or_else(|| {
            "cannot find Open Liberty beside this program (fetch it with 'make liberty', or name its directory: \
             liberty=DIRECTORY)"
                .to_owned()
        })
}

/// The library of that version which `make openssl-peers` has built.
fn built(name: &str) -> Result<PathBuf, String> {
    target()
        .and_then(|target| built_in(&target.join("bench"), name))
        .ok_or_else(|| {
            format!(
                "cannot find {name} beside this program (name its library: {name}=PATH; or build OpenSSL 3.5 and \
                 4.0 with 'make openssl-peers')"
            )
        })
}

/// The target directory that this program lies in.
fn target() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let mut directories = program.ancestors();
    let target = directories.find(|directory| directory.join("CACHEDIR.TAG").exists());
    target.map(Path::to_owned)
}

fn built_in(place: &Path, name: &str) -> Option<PathBuf> {
    let mut directories: Vec<PathBuf> = std::fs::read_dir(place)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let directory = path.file_name().unwrap_or_default().to_string_lossy();
            // openssl-3.5 is there as openssl-3.5.5.
            directory
                .strip_prefix(name)
                .is_some_and(|patch| patch.starts_with('.'))
        })
        .collect();
    directories.sort();
    let directory = directories.pop()?.join("lib");
    ["libcrypto.so.3", "libcrypto.so.4"]
        .iter()
        .map(|library| directory.join(library))
        .find(|library| library.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;
    use outboard_programs::Workplace;

    #[test]
    fn peers_are_named_or_found() {
        let workplace = Workplace::new().unwrap();
        let directory = workplace.join("openssl-3.5.5/lib");
        std::fs::create_dir_all(&directory).unwrap();
        let library = directory.join("libcrypto.so.3");
        std::fs::write(&library, "").unwrap();
        let found = built_in(workplace.path(), "openssl-3.5");
        assert_eq!(found.as_deref(), Some(&*library));
        assert_eq!(
            built_in(workplace.path(), "openssl-3"),
            Some(library.clone())
        );
        assert_eq!(built_in(workplace.path(), "openssl-4.0"), None);

        let peer: Peer = format!("mine={}", library.display()).parse().unwrap();
        assert_eq!(
            (peer.name.as_str(), peer.libcrypto()),
            ("mine", Some(&*library))
        );
        assert_eq!(peer.crypto_mb(), None);
    }

    #[test]
    fn crypto_mb_is_named_by_its_file_or_directory() {
        let workplace = Workplace::new().unwrap();
        let library = workplace.join("libcrypto_mb.so");
        std::fs::write(&library, "").unwrap();
        for path in [workplace.path(), &library] {
            let peer: Peer = format!("crypto_mb={}", path.display()).parse().unwrap();
            assert_eq!(peer.crypto_mb(), Some(&*library));
            assert_eq!(peer.libcrypto(), None);
        }
    }

    #[test]
    fn liberty_is_named_by_its_directory() {
        let workplace = Workplace::new().unwrap();
        let tools = workplace.join("bin/tools");
        std::fs::create_dir_all(&tools).unwrap();
        std::fs::write(tools.join("ws-server.jar"), "").unwrap();
        let text = format!("liberty={}", workplace.path().display());
        let peer: Peer = text.parse().unwrap();
        assert_eq!(peer.liberty(), Some(workplace.path()));
        assert_eq!((peer.libcrypto(), peer.crypto_mb()), (None, None));
    }

    #[test]
    fn what_is_no_peer_is_told_with_the_remedy() {
        let reason = |text: &str| text.parse::<Peer>().unwrap_err();
        assert!(reason("openssl-9.9").contains("name its library"));
        assert!(reason("crypto_mb=/nowhere").contains("there is no crypto_mb /nowhere"));
        assert!(reason("liberty=/nowhere").contains("no Open Liberty with /nowhere/"));
        assert!(reason("accp").contains("accp=FILE"));
        assert!(reason("conscrypt=/nowhere").contains("there is no jar /nowhere"));
        assert!(reason("mine=/nowhere").contains("/nowhere"));
        assert!(reason("stock=/etc/passwd").contains("cannot be called"));
    }
}
