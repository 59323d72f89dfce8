//! The files whose code a process runs, from `/proc/PID/maps`, opened without trust in the process.

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, fstatfs, openat, openat2};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// A file with executable code in a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// Its name, as the kernel prints it.
    pub path: PathBuf,
    /// Device and inode as the kernel prints them: they tell files apart.
    pub identity: (String, u64),
    /// The name in `/proc/PID/map_files`.
    range: String,
}

/// The files with executable code in a process, each once.
///
/// # Errors
/// If the process does not run, or this user may not examine it.
pub fn code(pid: u32) -> io::Result<Vec<Mapped>> {
    let maps = fs::read(format!("/proc/{pid}/maps"))?;
    Ok(parse(&String::from_utf8_lossy(&maps)))
}

fn parse(maps: &str) -> Vec<Mapped> {
    let mut seen = BTreeSet::new();
    let line = |line: &str| {
        let (columns, path) = line.split_at_checked(line.find('/')?)?;
        let columns: Vec<&str> = columns.split_whitespace().collect();
        let [range, permissions, _, device, inode] = columns[..] else {
            return None;
        };
        permissions.contains('x').then(|| Mapped {
            path: PathBuf::from(path),
            identity: (device.to_owned(), inode.parse().unwrap_or(0)),
            range: range.to_owned(),
        })
    };
    maps.lines()
        .filter_map(line)
        .filter(|mapped| seen.insert(mapped.identity.clone()))
        .collect()
}

impl Mapped {
    /// Opens the file that process `pid` has mapped, also inside a container, and also after somebody replaced it if this
    /// user is root.
    ///
    /// # Errors
    /// If this user may not open it, if another file has its name now, or if it is not a regular file of a file system
    /// that the kernel itself implements. (The program behind a FUSE file system could make its reader wait for ever.)
    pub fn open(&self, pid: u32) -> io::Result<File> {
        let by_range = format!("/proc/{pid}/map_files/{}", self.range);
        // O_PATH touches no device and waits for no pipe.
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        match openat(CWD, by_range, flags, Mode::empty()) {
            Ok(place) => readable(place),
            Err(_) => self.open_by_name(pid),
        }
    }

    /// The same for a user who may not use `/proc/PID/map_files`.
    fn open_by_name(&self, pid: u32) -> io::Result<File> {
        let place = openat2(
            File::open(format!("/proc/{pid}/root"))?,
            &self.path,
            OFlags::PATH | OFlags::CLOEXEC,
            Mode::empty(),
            ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS,
        )?;
        if fstat(&place)?.st_ino != self.identity.1 {
            return Err(io::Error::other("another file has its name now"));
        }
        readable(place)
    }
}

/// The file of that name, under the same conditions as [`Mapped::open`].
///
/// # Errors
/// As [`Mapped::open`].
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    readable(openat(CWD, path, flags, Mode::empty())?)
}

fn readable(place: rustix::fd::OwnedFd) -> io::Result<File> {
    const FUSE: i64 = 0x6573_5546; // FUSE_SUPER_MAGIC
    let is_regular = rustix::fs::FileType::from_raw_mode(fstat(&place)?.st_mode).is_file();
    if !is_regular || fstatfs(&place)?.f_type as i64 == FUSE {
        return Err(io::Error::other("it is not a regular file of this system"));
    }
    File::open(format!("/proc/self/fd/{}", place.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_listed_once_for_each_file() {
        let maps = "\
55d0-55d1 r--p 00000000 fe:01 123 /usr/sbin/sshd
55d1-55d2 r-xp 00001000 fe:01 123 /usr/sbin/sshd
7f00-7f01 r-xp 00000000 fe:01 124 /opt/with space/x.so (deleted)
7f01-7f02 r-xp 00002000 fe:01 124 /opt/with space/x.so (deleted)
7f03-7f04 rwxp 00000000 00:00 0
";
        let code = parse(maps);
        assert_eq!(code.len(), 2, "{code:?}");
        assert_eq!(code[1].path, Path::new("/opt/with space/x.so (deleted)"));
        assert_eq!(code[1].identity, ("fe:01".to_owned(), 124));
    }

    #[test]
    fn the_files_of_this_process_are_opened() {
        let own = std::process::id();
        let program = std::env::current_exe().expect("a process knows its file");
        let code = code(own).expect("it is ours");
        let mapped = code.iter().find(|mapped| mapped.path == program);
        let mapped = mapped.expect("its code is mapped");
        assert!(mapped.open(own).is_ok() && mapped.open_by_name(own).is_ok());
        let replaced = Mapped {
            identity: (String::new(), 1),
            ..mapped.clone()
        };
        assert!(replaced.open_by_name(own).is_err());
        for name in ["/dev/zero", "/proc", "/nowhere"] {
            assert!(open(Path::new(name)).is_err(), "{name}");
        }
    }
}
