//! A temporary directory that is gone afterwards, whatever happens.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::{Error, cleanup};

/// A temporary directory for keys, configurations and files.
///
/// Others may enter it but not list it: servers that drop their privileges read what they serve
/// from here; keys in it have mode 0600.
#[derive(Debug)]
pub struct Workplace {
    path: PathBuf,
    /// Locked while it is used: a number of a process says nothing where containers share the directory.
    _lock: fs::File,
}

impl Workplace {
    /// Makes one below the system's temporary directory (`TMPDIR`, else `/tmp`).
    ///
    /// # Errors
    /// [`Error::File`] if the directory cannot be made.
    pub fn new() -> Result<Self, Error> {
        Self::below(&std::env::temp_dir())
    }

    /// Makes one in memory (`/dev/shm`) if there `bytes` fit twice, else like [`Workplace::new`]:
    /// so that a disk is not what is measured.
    ///
    /// # Errors
    /// [`Error::File`] if the directory cannot be made.
    pub fn in_memory(bytes: u64) -> Result<Self, Error> {
        let shared_memory = Path::new("/dev/shm");
        if memory_available() >= bytes * 2 && free_space(shared_memory) >= bytes * 2 {
            Self::below(shared_memory)
        } else {
            Self::new()
        }
    }

    fn below(parent: &Path) -> Result<Self, Error> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        sweep(parent);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}.{number}", std::process::id()));
            match fs::DirBuilder::new().mode(0o711).create(&path) {
                Ok(()) => match lock(&path) {
                    // Somebody who sweeps came before us.
                    Err(error)
                        if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::WouldBlock) => {}
                    Err(error) => return Err(Error::file("lock", &path)(error)),
                    Ok(_lock) => {
                        cleanup::register_directory(&path);
                        return Ok(Self { path, _lock });
                    }
                },
                // Left by a process of the same number that was killed outright.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::file("make", &path)(error)),
            }
        }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name in the directory.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file that everybody may read.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<PathBuf, Error> {
        self.write_with_mode(name, contents.as_ref(), 0o644)
    }

    /// Writes a file that only its owner may read.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write_secret(&self, name: &str, contents: impl AsRef<[u8]>) -> Result<PathBuf, Error> {
        self.write_with_mode(name, contents.as_ref(), 0o600)
    }

    fn write_with_mode(&self, name: &str, contents: &[u8], mode: u32) -> Result<PathBuf, Error> {
        let path = self.join(name);
        // The mode is there from the first byte on; again afterwards, for a umask, or an older file.
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .open(&path)
            .and_then(|mut file| {
                file.set_permissions(fs::Permissions::from_mode(mode))?;
                file.write_all(contents)
            })
            .map_err(Error::file("write", &path))?;
        Ok(path)
    }

    /// Writes `bytes` of incompressible content.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn write_noise(&self, name: &str, bytes: u64) -> Result<PathBuf, Error> {
        let path = self.join(name);
        let failed = Error::file("write", &path);
        let mut file = fs::File::create(&path).map_err(&failed)?;
        let block = noise(1 << 20);
        let mut left = bytes;
        while left > 0 {
            let length = left.min(block.len() as u64);
            file.write_all(&block[..length as usize]).map_err(&failed)?;
            left -= length;
        }
        Ok(path)
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // What cannot be removed now (a file made by another user in mid-write) has no remedy here.
        let _ = fs::remove_dir_all(&self.path);
        cleanup::forget_directory(&self.path);
    }
}

/// Begins the names of workplaces; the process's number and one of its own follow.
const PREFIX: &str = "outboard-bench.";

/// Removes what processes that were killed outright have left: it can be gibibytes of memory.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| {
            name.strip_prefix(PREFIX)?
                .split('.')
                .next()?
                .parse::<u32>()
                .ok()
        });
        let path = entry.path();
        if owner.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
            && let Ok(_lock) = lock(&path)
        {
            // Another user's stays; so does what somebody else sweeps at the same time.
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// Locks a directory that nobody uses, and that is still there.
fn lock(path: &Path) -> io::Result<fs::File> {
    let directory = fs::File::open(path)?;
    directory.try_lock()?;
    fs::metadata(path)?;
    Ok(directory)
}

/// A port that nobody listens on: below those that the kernel gives to clients, of which a load has
/// thousands, and never the same one twice.
///
/// # Errors
/// [`Error::Port`] if there is none.
pub fn free_port() -> Result<u16, Error> {
    const FIRST: u32 = 10_240;
    const PORTS: u32 = 20_480;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let start = std::process::id().wrapping_mul(101);
    let mut refused = None;
    for _ in 0..PORTS {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = (FIRST + start.wrapping_add(next) % PORTS) as u16;
        match bind(port) {
            Ok(()) => return Ok(port),
            Err(error) => refused = Some(error),
        }
    }
    Err(Error::Port(
        refused.unwrap_or_else(|| ErrorKind::AddrInUse.into()),
    ))
}

/// Binds a socket to a port of 127.0.0.1 and closes it. It never listens: a child that is forked
/// meanwhile holds it until it becomes a program, and would look like a server.
fn bind(port: u16) -> io::Result<()> {
    let checked = |answer: i32| match answer {
        -1 => Err(io::Error::last_os_error()),
        answer => Ok(answer),
    };
    let address = libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(Ipv4Addr::LOCALHOST).to_be(),
        },
        sin_zero: [0; 8],
    };
    let reuse: i32 = 1;
    // SAFETY: plain values, each as long as it is said to be; the descriptor is new and ours.
    unsafe {
        let socket = checked(libc::socket(
            libc::AF_INET,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC,
            0,
        ))?;
        let socket = OwnedFd::from_raw_fd(socket);
        checked(libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_REUSEADDR,
            (&raw const reuse).cast(),
            size_of_val(&reuse) as libc::socklen_t,
        ))?;
        checked(libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of_val(&address) as libc::socklen_t,
        ))?;
    }
    Ok(())
}

/// Looks random to a compressor; the same on every run (xorshift64, Marsaglia 2003).
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// Memory that can be had without swapping, in bytes; 0 if unknown.
fn memory_available() -> u64 {
    fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text
                .lines()
                .find(|line| line.starts_with("MemAvailable:"))?;
            line.split_whitespace().nth(1)?.parse::<u64>().ok()
        })
        .map_or(0, |kibibytes| kibibytes * 1024)
}

/// Free space for us in the file system of `directory`, in bytes; 0 if unknown.
fn free_space(directory: &Path) -> u64 {
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = std::ffi::CString::new(directory.as_os_str().as_bytes()) else {
        return 0;
    };
    // SAFETY: `statvfs` is plain integers, for which all zeros is a value; the path ends in NUL and
    // the pointer is to a live, writable structure.
    unsafe {
        let mut space: libc::statvfs = std::mem::zeroed();
        if libc::statvfs(path.as_ptr(), &mut space) == 0 {
            space.f_bavail * space.f_frsize
        } else {
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_gone_afterwards() {
        let workplace = Workplace::new().unwrap();
        let path = workplace.path().to_owned();
        workplace.write_secret("key", "secret").unwrap();
        let noise = workplace.write_noise("noise", 3_000_000).unwrap();
        assert_eq!(noise.metadata().unwrap().len(), 3_000_000);
        drop(workplace);
        assert!(!path.exists());
    }

    #[test]
    fn what_the_dead_have_left_is_removed() {
        let workplace = Workplace::new().unwrap();
        // Above the largest number that a process can have.
        let dead = workplace.join(format!("{PREFIX}4194305.0"));
        let living = workplace.join(format!("{PREFIX}{}.9", std::process::id()));
        // In a container, whose processes are not seen.
        let elsewhere = workplace.join(format!("{PREFIX}4194305.1"));
        for directory in [&dead, &living, &elsewhere] {
            fs::create_dir_all(directory.join("files")).unwrap();
        }
        let lock = lock(&elsewhere).unwrap();
        sweep(workplace.path());
        assert!(!dead.exists());
        assert!(living.exists() && elsewhere.exists());
        drop(lock);
        sweep(workplace.path());
        assert!(!elsewhere.exists());
    }
}
