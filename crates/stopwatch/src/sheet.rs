//! What is added up, in a file that the measured program and the measuring one map.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Phase;

/// For each phase: ticks and calls.
#[repr(C)]
#[derive(Debug)]
pub struct Sheet {
    entries: [Entry; Phase::ALL.len()],
}

#[repr(C)]
#[derive(Debug)]
struct Entry {
    ticks: AtomicU64,
    calls: AtomicU64,
}

/// What was counted in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Time in it.
    pub ticks: u64,
    /// Calls of functions.
    pub calls: u64,
}

impl Sheet {
    /// Makes an empty sheet.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create(path: &Path) -> io::Result<&'static Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)?;
        file.set_len(size_of::<Self>() as u64)?;
        Self::map(&file)
    }

    /// Finds one.
    ///
    /// # Errors
    /// If the file cannot be opened, or is no sheet.
    pub fn open(path: &Path) -> io::Result<&'static Self> {
        let file = File::options().read(true).write(true).open(path)?;
        if file.metadata()?.len() != size_of::<Self>() as u64 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Self::map(&file)
    }

    fn map(file: &File) -> io::Result<&'static Self> {
        // SAFETY: a new mapping, which is never given back; the file is as long as a sheet.
        let place = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Self>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        if place == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: mapped, large enough and aligned to a page; a sheet is atomic numbers, which may be anything.
        Ok(unsafe { &*place.cast::<Self>() })
    }

    /// Adds time, and calls.
    pub fn add(&self, phase: Phase, ticks: u64, calls: u64) {
        let entry = &self.entries[phase as usize];
        entry.ticks.fetch_add(ticks, Ordering::Relaxed);
        entry.calls.fetch_add(calls, Ordering::Relaxed);
    }

    /// What has been counted so far, in the order of [`Phase::ALL`].
    pub fn read(&self) -> [Counted; Phase::ALL.len()] {
        Phase::ALL.map(|phase| {
            let entry = &self.entries[phase as usize];
            Counted {
                ticks: entry.ticks.load(Ordering::Relaxed),
                calls: entry.calls.load(Ordering::Relaxed),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_views_are_of_one_sheet() {
        let path = std::env::temp_dir().join(format!("stopwatch-{}", std::process::id()));
        let written = Sheet::create(&path).expect("a sheet");
        let read = Sheet::open(&path).expect("the same sheet");
        std::fs::remove_file(&path).expect("it is there");
        written.add(Phase::Signature, 7, 1);
        written.add(Phase::Signature, 3, 1);
        let counted = read.read();
        let of = |phase: Phase| counted[phase as usize];
        let expected = Counted {
            ticks: 10,
            calls: 2,
        };
        assert_eq!(of(Phase::Signature), expected);
        assert_eq!(of(Phase::Libssl), Counted::default());
    }

    #[test]
    fn what_is_no_sheet_is_an_error() {
        let path = std::env::temp_dir().join(format!("no-stopwatch-{}", std::process::id()));
        std::fs::write(&path, "short").expect("written");
        let error = Sheet::open(&path).expect_err("no sheet");
        std::fs::remove_file(&path).expect("it is there");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
