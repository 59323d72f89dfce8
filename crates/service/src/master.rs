//! Where the master key comes from, where no person enters it.
//!
//! - A development instance has a file `master.key` beside its store, made at the first start. Whoever reads it can
//!   unwrap every key: the service says so in its status.
//! - systemd hands the system's service credentials (`LoadCredentialEncrypted=`), sealed to the machine's TPM 2.0 where
//!   there is one: every credential whose name begins with `outboard.master` is a master key.
//!
//! Both hold 64 hexadecimal digits a line. The vault knows by its pattern which key belongs into which register.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use outboard_vault::{MASTER_KEY_LENGTH, Pattern, Register, Vault, random_part};
use zeroize::Zeroizing;

/// The file of a development instance.
const FILE: &str = "master.key";
/// What the names of credentials begin with.
const CREDENTIAL: &str = "outboard.master";

pub(crate) type MasterKey = Zeroizing<[u8; MASTER_KEY_LENGTH]>;

/// Where the master key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// People enter it.
    Parts,
    /// systemd's credentials are in that directory.
    Credential(PathBuf),
    /// A file of a development instance.
    File(PathBuf),
}

impl Source {
    /// The source of an instance: a development instance has its store in its own directory.
    pub(crate) fn of(store: &Path, is_development: bool) -> Self {
        let credentials = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
        match credentials {
            Some(directory) if !names(&directory).is_empty() => Self::Credential(directory),
            _ if is_development => Self::File(store.join(FILE)),
            _ => Self::Parts,
        }
    }

    /// Its name in listings.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Parts => "parts",
            Self::Credential(_) => "credential",
            Self::File(_) => "file",
        }
    }

    /// Puts every key that the source has into the register that waits for it; a new vault's first one becomes current.
    ///
    /// # Errors
    /// The source cannot be read.
    pub(crate) fn unlock(&self, vault: &Vault, actor: u32) -> io::Result<()> {
        for key in self.keys()? {
            let pattern = Pattern::of_key(&key);
            let is_new = vault.status().condition == outboard_vault::Condition::Empty;
            let register = match vault.register_of(pattern) {
                Some(register) => register,
                None if is_new => Register::Current,
                None => {
                    tracing::warn!("the master key with pattern {pattern} belongs to no register");
                    continue;
                }
            };
            if let Err(error) = vault.enter_whole(actor, register, &key) {
                tracing::warn!("the master key with pattern {pattern} was not entered: {error}");
            }
        }
        Ok(())
    }

    /// Keeps a key that was entered, where the source is a file: the next start needs it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn keep(&self, key: &MasterKey) -> io::Result<()> {
        let Self::File(path) = self else {
            return Ok(());
        };
        let mut keys = self.keys()?;
        if !keys.contains(key) {
            keys.push(key.clone());
        }
        write(path, &keys)
    }

    /// Forgets the keys that no register has any more.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn tidy(&self, vault: &Vault) -> io::Result<()> {
        let Self::File(path) = self else {
            return Ok(());
        };
        let mut keys = self.keys()?;
        let before = keys.len();
        keys.retain(|key| vault.register_of(Pattern::of_key(key)).is_some());
        match keys.len() == before {
            true => Ok(()),
            false => write(path, &keys),
        }
    }

    fn keys(&self) -> io::Result<Vec<MasterKey>> {
        match self {
            Self::Parts => Ok(Vec::new()),
            Self::Credential(directory) => {
                let mut keys = Vec::new();
                for name in names(directory) {
                    keys.extend(read(&directory.join(name))?);
                }
                Ok(keys)
            }
            Self::File(path) if path.exists() => read(path),
            Self::File(path) => {
                let key = random_part().map_err(|error| io::Error::other(error.to_string()))?;
                write(path, std::slice::from_ref(&key))?;
                Ok(vec![key])
            }
        }
    }
}

/// The names of the credentials, in order.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(CREDENTIAL))
        .collect();
    names.sort();
    names
}

fn read(path: &Path) -> io::Result<Vec<MasterKey>> {
    let wrong = |reason: &str| {
        let problem = format!("{}: {reason}", path.display());
        io::Error::new(io::ErrorKind::InvalidData, problem)
    };
    let text = Zeroizing::new(fs::read(path).map_err(|error| wrong(&error.to_string()))?);
    let lines = text.split(|&byte| byte == b'\n');
    let mut keys = Vec::new();
    for line in lines
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty())
    {
        let mut key = Zeroizing::new([0; MASTER_KEY_LENGTH]);
        if line.len() != 2 * MASTER_KEY_LENGTH {
            return Err(wrong("a line is no master key of 64 hexadecimal digits"));
        }
        for (byte, digits) in key.iter_mut().zip(line.chunks(2)) {
            let value = std::str::from_utf8(digits).ok();
            let value = value.and_then(|digits| u8::from_str_radix(digits, 16).ok());
            *byte = value.ok_or_else(|| wrong("a master key has hexadecimal digits"))?;
        }
        keys.push(key);
    }
    match keys.is_empty() {
        true => Err(wrong("there is no master key in it")),
        false => Ok(keys),
    }
}

/// Replaces the file, whole or not at all.
fn write(path: &Path, keys: &[MasterKey]) -> io::Result<()> {
    use std::fmt::Write as _;
    let mut text = Zeroizing::new(String::with_capacity(keys.len() * 80));
    for key in keys {
        for byte in key.iter() {
            // Writing into a string succeeds.
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    }
    let new = path.with_extension("new");
    let _ = fs::remove_file(&new);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&new, path)?;
    let directory = path.parent().unwrap_or(Path::new("/"));
    fs::File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_as_they_are_written() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        let keys = [Zeroizing::new([7; 32]), Zeroizing::new([0xf0; 32])];
        write(&path, &keys).unwrap();
        assert_eq!(read(&path).unwrap(), keys);
        for wrong in ["", "07", &"0".repeat(63), &"g".repeat(64)] {
            fs::write(&path, wrong).unwrap();
            assert!(read(&path).is_err(), "{wrong}");
        }
    }
}
