//! Which processes have mapped a file as memory.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::ptr;

/// The identity of a mapped file: its device and its inode, as in `/proc/PID/maps`. On btrfs and overlayfs, this device
/// differs from the device in the file's metadata.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mapped {
    device: String,
    inode: String,
}

impl Mapped {
    /// Maps a page of the file for a moment, to read its identity. None if the file cannot be mapped.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let file = OpenOptions::new()
            .read(true)
            // The same flags as for records: follow no link of another user, and do not wait for a pipe's other end.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path)
            .ok()?;
        let page = Page::of(&file)?;
        let beginning = format!("{:x}-", page.0.addr());
        let maps = maps("self");
        let line = maps.lines().find(|line| line.starts_with(&beginning))?;
        let (_, found) = Self::told(line)?;
        Some(found)
    }

    /// Whether a process has mapped the file as shared memory. Processes that count in the file do so.
    pub(crate) fn is_shared_by(&self, pid: u32) -> bool {
        self.is_shared_in(&maps(&pid.to_string()))
    }

    fn is_shared_in(&self, maps: &str) -> bool {
        let mut told = maps.lines().filter_map(Self::told);
        told.any(|(rights, file)| rights.ends_with('s') && file == *self)
    }

    /// The rights and the file of a line: `7f0c40000000-7f0c40001000 rw-s 00000000 00:1b 1042  /dev/shm/record`.
    fn told(line: &str) -> Option<(&str, Self)> {
        let mut columns = line.split_ascii_whitespace().skip(1);
        let (rights, _offset) = (columns.next()?, columns.next()?);
        let (device, inode) = (columns.next()?.into(), columns.next()?.into());
        Some((rights, Self { device, inode }))
    }
}

fn maps(process: &str) -> String {
    let maps = std::fs::read(format!("/proc/{process}/maps")).unwrap_or_default();
    String::from_utf8_lossy(&maps).into_owned()
}

/// A mapped page of a file. Nothing reads it.
struct Page(*mut libc::c_void);

/// However large a page is, a mapping has at least one.
const LENGTH: usize = 1;

impl Page {
    fn of(file: &File) -> Option<Self> {
        // SAFETY: a new mapping, at an address of the system's choice; it is never read.
        let address = unsafe {
            libc::mmap(
                ptr::null_mut(),
                LENGTH,
                libc::PROT_READ,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        (address != libc::MAP_FAILED).then_some(Self(address))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours, and no reference into it exists.
        unsafe { libc::munmap(self.0, LENGTH) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_told_by_its_device_too() {
        let line = |rights, device, inode| {
            format!("7f0c40000000-7f0c40001000 {rights} 00000000 {device} {inode}   /a path\n")
        };
        let file = Mapped {
            device: "00:1b".into(),
            inode: "1042".into(),
        };
        let others = line("rw-s", "fe:00", "1042") + &line("rw-s", "00:1b", "1043");
        let others = others + &line("rw-p", "00:1b", "1042") + "nonsense\n";
        assert!(!file.is_shared_in(&others));
        assert!(file.is_shared_in(&(others + &line("r--s", "00:1b", "1042"))));
    }

    #[test]
    fn what_is_mapped_is_found_wherever_it_lies() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        // Another file system, where there is one.
        let in_memory = tempfile::NamedTempFile::new_in("/dev/shm");
        for file in in_memory.iter().chain([&file]) {
            let mapped = Mapped::of(file.path()).expect("it can be mapped");
            assert!(!mapped.is_shared_in(&maps("self")), "only for a moment");
            let _page = Page::of(file.as_file()).expect("it can be mapped");
            assert!(mapped.is_shared_in(&maps("self")));
        }
        let link = file.path().with_extension("link");
        std::os::unix::fs::symlink(file.path(), &link).expect("beside it");
        let through_a_link = Mapped::of(&link);
        std::fs::remove_file(&link).expect("it is ours");
        assert_eq!(through_a_link, None);
        assert_eq!(Mapped::of(Path::new("/proc")), None);
        assert_eq!(Mapped::of(Path::new("/nowhere")), None);
    }
}
