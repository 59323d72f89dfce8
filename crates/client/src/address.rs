//! Where a service is found.
//!
//! A service has two addresses: a socket in its directory, and an abstract name (unix(7)). A process that went into a
//! chroot after it had loaded its keys, as HAProxy does, no longer sees the directory. It still sees abstract names, as
//! long as it is in the same network namespace. Everybody may bind an abstract name, so the process asks the kernel which
//! user listens there: the user must be the owner of the directory, as it was before the chroot, or root (systemd listens
//! for services that it starts on demand).

use std::ffi::OsStr;
use std::io;
use std::mem::{offset_of, zeroed};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use outboard_wire::{SERVICE_SOCKET, abstract_name};

/// Bytes that an address has room for.
const ROOM: usize = size_of::<libc::sockaddr_un>() - offset_of!(libc::sockaddr_un, sun_path);

/// The addresses of one service.
pub(crate) struct Address {
    path: PathBuf,
    /// In the abstract name space, and who has to listen there.
    hidden: Option<(Vec<u8>, libc::uid_t)>,
}

/// An address as the kernel takes it.
pub(crate) struct Raw {
    pub(crate) address: libc::sockaddr_un,
    pub(crate) length: libc::socklen_t,
}

impl Address {
    /// Of the service of a directory, which is looked at now.
    pub(crate) fn of(directory: &Path) -> Self {
        let owner = std::fs::metadata(directory).ok().map(|found| found.uid());
        Self {
            path: directory.join(SERVICE_SOCKET),
            hidden: abstract_name(directory).zip(owner),
        }
    }

    /// The socket's file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The socket's file, for the kernel.
    pub(crate) fn visible(&self) -> io::Result<Raw> {
        visible(&self.path)
    }

    /// The abstract name, and who has to listen there.
    pub(crate) fn hidden(&self) -> Option<(Raw, libc::uid_t)> {
        let (name, owner) = self.hidden.as_ref()?;
        Some((hidden(name).ok()?, *owner))
    }
}

/// A socket's file, for the kernel.
pub(crate) fn visible(path: &Path) -> io::Result<Raw> {
    raw(path.as_os_str(), false)
}

/// An abstract name, for the kernel.
pub(crate) fn hidden(name: &[u8]) -> io::Result<Raw> {
    raw(OsStr::from_bytes(name), true)
}

/// A path ends with a zero byte, an abstract name begins with one.
fn raw(name: &OsStr, hidden: bool) -> io::Result<Raw> {
    let name = name.as_bytes();
    if name.len() >= ROOM || name.contains(&0) {
        return Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG));
    }
    // SAFETY: numbers, for which zeros are a value.
    let mut address: libc::sockaddr_un = unsafe { zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let begin = usize::from(hidden);
    for (place, &byte) in address.sun_path[begin..].iter_mut().zip(name) {
        *place = byte as libc::c_char;
    }
    let length = offset_of!(libc::sockaddr_un, sun_path) + name.len() + 1;
    Ok(Raw {
        address,
        length: length as libc::socklen_t,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_refused() {
        assert!(raw(OsStr::new(&"x".repeat(ROOM)), false).is_err());
        let most = raw(OsStr::new(&"x".repeat(ROOM - 1)), true).unwrap();
        assert_eq!(most.length as usize, size_of::<libc::sockaddr_un>());
    }
}
