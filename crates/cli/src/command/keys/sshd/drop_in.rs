//! The file that tells sshd to ask the service, and which public halves name its host keys.
//!
//! Debian's openssh-server makes each default host key whose private file is missing, at each upgrade, and overwrites the
//! public half beside it; Fedora's does so at each start. So sshd reads copies of the public halves, which have names of
//! our own.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

pub(in crate::command::keys) use outboard_inspect::host_keys::DROP_IN;
use outboard_inspect::host_keys::PREFIX;

/// How the file begins where it is ours.
const MARK: &str = "# Written by 'outboard keys adopt'";
/// Above the lines HostKey.
const ABOUT: &str = "# The service has the private keys of the lines 'HostKey …/outboard_NAME'; NAME's public half is in \
                     …/outboard_NAME.pub.";

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::command::keys) struct DropIn {
    /// All lines but those of host keys.
    others: Vec<String>,
    pub(in crate::command::keys) host_keys: Vec<PathBuf>,
}

impl DropIn {
    /// One with these lines.
    pub(in crate::command::keys) fn new(lines: &[String]) -> Self {
        let first = format!("{MARK}; 'outboard keys adopt --revert' removes it.");
        Self {
            others: [&[first], lines].concat(),
            host_keys: Vec::new(),
        }
    }

    /// The system's, if it is ours.
    pub(in crate::command::keys) fn of_system() -> Option<Self> {
        Self::read(&fs::read_to_string(DROP_IN).ok()?)
    }

    fn read(text: &str) -> Option<Self> {
        let mut read = text.starts_with(MARK).then(|| Self {
            others: Vec::new(),
            host_keys: Vec::new(),
        })?;
        for line in text.lines() {
            match line.strip_prefix("HostKey ") {
                Some(file) => read.host_keys.push(file.trim().into()),
                None => read.others.push(line.to_owned()),
            }
        }
        Some(read)
    }

    pub(in crate::command::keys) fn text(&self) -> String {
        let mut lines = self.others.clone();
        lines.retain(|line| line != ABOUT);
        if !self.host_keys.is_empty() {
            lines.push(ABOUT.to_owned());
        }
        let host_keys = self.host_keys.iter();
        lines.extend(host_keys.map(|file| format!("HostKey {}", file.display())));
        lines.join("\n") + "\n"
    }

    /// Whether it names a copy.
    pub(in crate::command::keys) fn has_copies(&self) -> bool {
        self.host_keys.iter().any(|name| is_copy(name))
    }
}

/// The name by which sshd knows a host key that the service has. No private key is there: the public half is beside it.
/// (sshd complains of a private key that everybody may read if a line HostKey names the public half itself.)
pub(in crate::command::keys) fn copy_of(file: &Path) -> PathBuf {
    let mut name = PREFIX.to_owned();
    name += &file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(name)
}

/// Whether that is the name of a copy.
pub(in crate::command::keys) fn is_copy(name: &Path) -> bool {
    let name = name.file_name().unwrap_or_default();
    name.to_string_lossy().starts_with(PREFIX)
}

/// Whether a configuration has room for that name without quotes.
pub(in crate::command::keys) fn is_plain(name: &OsStr) -> bool {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    name.to_str().is_some_and(|name| name.chars().all(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let mut drop_in = DropIn::new(&["HostKeyAgent /run/outboard/agent.sock".to_owned()]);
        let old = "# Written by 'outboard keys adopt'; 'outboard keys adopt --revert' removes it.\n\
                   HostKeyAgent /run/outboard/agent.sock\n";
        assert_eq!(drop_in.text(), old);
        let original = Path::new("/etc/ssh/ssh_host_rsa_key");
        let copy = copy_of(original);
        assert_eq!(copy, Path::new("/etc/ssh/outboard_ssh_host_rsa_key"));
        assert!(is_copy(&copy) && !is_copy(original) && !drop_in.has_copies());
        drop_in.host_keys = vec![copy.clone()];
        assert!(drop_in.has_copies());
        let text = drop_in.text();
        assert!(text.ends_with("\nHostKey /etc/ssh/outboard_ssh_host_rsa_key\n"));
        let read = DropIn::read(&text).unwrap();
        assert_eq!((read.text(), read.host_keys), (text, vec![copy]));
        assert_eq!(DropIn::read("# mine\nHostKey /a\n"), None);
    }
}
