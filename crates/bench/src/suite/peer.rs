//! Others to be measured beside stock and Outboard.

use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Another libcrypto.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What it is called in results: "openssl-3.5".
    pub name: String,
    /// Its shared library.
    pub libcrypto: PathBuf,
}

impl FromStr for Peer {
    type Err = String;

    /// `NAME=PATH`, or the name alone of one that the tests have built (`openssl-3.5`,
    /// `openssl-4.0`).
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, libcrypto) = match text.split_once('=') {
            Some((name, path)) => (name, PathBuf::from(path)),
            None if text == "crypto_mb" => {
                return Err(
                    "crypto_mb has no libcrypto to call: 'make bench-lanes' compares the \
                            lanes with it"
                        .into(),
                );
            }
            None => (text, built(text)?),
        };
        if name.is_empty() || ["stock", "outboard"].contains(&name) {
            return Err(format!("a peer cannot be called '{name}'"));
        }
        if !libcrypto.is_file() {
            return Err(format!("there is no libcrypto {}", libcrypto.display()));
        }
        Ok(Self {
            name: name.to_owned(),
            libcrypto,
        })
    }
}

/// The library of that version which the tests have built into the target directory that this
/// program lies in.
fn built(name: &str) -> Result<PathBuf, String> {
    let program = std::env::current_exe().unwrap_or_default();
    let target = program
        .ancestors()
        .find(|directory| directory.join("CACHEDIR.TAG").exists());
    target
        .and_then(|target| built_in(target, name))
        .ok_or_else(|| {
            format!(
                "there is no {name} beside this program: name its library ({name}=PATH), or build \
                 OpenSSL 3.5 and 4.0 with 'cargo test -p outboard-openssl-versions'"
            )
        })
}

fn built_in(target: &Path, name: &str) -> Option<PathBuf> {
    let mut directories: Vec<PathBuf> = std::fs::read_dir(target)
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
        assert_eq!((peer.name.as_str(), &peer.libcrypto), ("mine", &library));
    }

    #[test]
    fn what_is_no_peer_is_told_with_the_remedy() {
        let reason = |text: &str| text.parse::<Peer>().unwrap_err();
        assert!(reason("openssl-9.9").contains("name its library"));
        assert!(reason("crypto_mb").contains("make bench-lanes"));
        assert!(reason("mine=/nowhere").contains("/nowhere"));
        assert!(reason("stock=/etc/passwd").contains("cannot be called"));
    }
}
