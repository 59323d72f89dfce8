//! A page for secrets: in no dump, never on a disk, wiped when dropped.
//!
//! Where the kernel has `memfd_secret` (5.14, on by default from 6.5), the page is in no address space but ours, not even in
//! the kernel's. Elsewhere it is locked, left out of dumps, and empty in a forked child.

use std::io;
use std::ptr::{self, NonNull};

use zeroize::Zeroize;

/// How well a page is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// `memfd_secret`: not even the kernel maps it.
    Secret,
    /// Locked and left out of dumps.
    Locked,
    /// Left out of dumps, but it could not be locked (the error's number): raise RLIMIT_MEMLOCK.
    Unlocked(i32),
}

/// A page for secrets, zeros at first.
pub struct Page {
    start: NonNull<u8>,
    protection: Protection,
}

/// How many bytes a [`Page`] has.
pub const LENGTH: usize = 4096;

impl Page {
    /// A page of zeros.
    ///
    /// # Errors
    /// There is no memory. A page that cannot be locked is no error: see [`Page::protection`].
    pub fn new() -> io::Result<Self> {
        match Self::secret() {
            Some(page) => Ok(page),
            None => Self::locked(),
        }
    }

    /// How well it is kept.
    pub fn protection(&self) -> Protection {
        self.protection
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8; LENGTH] {
        // SAFETY: mapped readable for LENGTH bytes until dropped; any bytes are valid.
        unsafe { self.start.cast().as_ref() }
    }

    /// Its bytes, to write.
    pub fn bytes_mut(&mut self) -> &mut [u8; LENGTH] {
        // SAFETY: mapped writable for LENGTH bytes until dropped, and borrowed exclusively.
        unsafe { self.start.cast().as_mut() }
    }

    fn secret() -> Option<Self> {
        // SAFETY: takes flags alone and makes a descriptor. (0 or -1 where the kernel lacks it.)
        let made = unsafe { libc::syscall(libc::SYS_memfd_secret, libc::O_CLOEXEC) };
        let file = i32::try_from(made).ok().filter(|&file| file > 0)?;
        // SAFETY: a descriptor of ours.
        let sized = unsafe { libc::ftruncate(file, LENGTH as libc::off_t) } == 0;
        let start = match sized {
            true => map(libc::MAP_SHARED, file),
            false => Err(io::Error::last_os_error()),
        };
        // SAFETY: a descriptor of ours, used by nobody else; the mapping outlives it.
        unsafe { libc::close(file) };
        let page = Self {
            start: start.ok()?,
            protection: Protection::Secret,
        };
        // A child must not share it. A dump leaves such pages out by itself.
        page.advise(libc::MADV_DONTFORK);
        Some(page)
    }

    fn locked() -> io::Result<Self> {
        let start = map(libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1)?;
        let mut page = Self {
            start,
            protection: Protection::Locked,
        };
        page.advise(libc::MADV_DONTDUMP);
        page.advise(libc::MADV_WIPEONFORK);
        // SAFETY: the page is mapped.
        if unsafe { libc::mlock(start.as_ptr().cast(), LENGTH) } != 0 {
            let number = io::Error::last_os_error().raw_os_error().unwrap_or(0);
            page.protection = Protection::Unlocked(number);
        }
        Ok(page)
    }

    fn advise(&self, advice: i32) {
        // SAFETY: the page is mapped; none of these advices loses what this process has there.
        unsafe { libc::madvise(self.start.as_ptr().cast(), LENGTH, advice) };
    }
}

fn map(flags: i32, file: i32) -> io::Result<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, where the kernel likes it.
    let start = unsafe { libc::mmap(ptr::null_mut(), LENGTH, access, flags, file, 0) };
    match start == libc::MAP_FAILED {
        true => Err(io::Error::last_os_error()),
        false => NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error),
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        self.bytes_mut().zeroize();
        // SAFETY: mapped by us, and used by nobody any more. (What is unmapped is unlocked.)
        unsafe { libc::munmap(self.start.as_ptr().cast(), LENGTH) };
    }
}

// SAFETY: memory of the whole process.
unsafe impl Send for Page {}
// SAFETY: written only through an exclusive borrow.
unsafe impl Sync for Page {}

#[cfg(test)]
mod tests {
    use super::*;

    /// The flags of the mapping that holds the page, as the kernel tells them.
    fn flags(page: &Page) -> String {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("our own mappings");
        let start = page.start.as_ptr() as usize;
        let mut inside = false;
        for line in maps.lines() {
            let range = line
                .split(' ')
                .next()
                .and_then(|range| range.split_once('-'));
            if let Some((from, to)) = range
                && let Ok(from) = usize::from_str_radix(from, 16)
                && let Ok(to) = usize::from_str_radix(to, 16)
            {
                inside = (from..to).contains(&start);
            } else if inside && let Some(flags) = line.strip_prefix("VmFlags:") {
                return flags.to_owned();
            }
        }
        panic!("the page is mapped");
    }

    #[test]
    fn a_page_keeps_what_is_written() {
        for mut page in [Some(Page::locked().expect("memory")), Page::secret()]
            .into_iter()
            .flatten()
        {
            assert_eq!(*page.bytes(), [0; LENGTH]);
            page.bytes_mut()[LENGTH - 1] = 0xa5;
            assert_eq!(page.bytes()[LENGTH - 1], 0xa5);
        }
    }

    #[test]
    fn a_locked_page_is_left_out_of_dumps() {
        let page = Page::locked().expect("memory");
        assert!(flags(&page).contains(" dd"), "no dump: {}", flags(&page));
        assert!(
            flags(&page).contains(" wf"),
            "wiped on fork: {}",
            flags(&page)
        );
        if page.protection() == Protection::Locked {
            assert!(flags(&page).contains(" lo"), "locked: {}", flags(&page));
        }
    }

    #[test]
    fn a_secret_page_cannot_be_read_from_outside() {
        let Some(mut page) = Page::secret() else {
            return; // Before Linux 6.5, or switched off.
        };
        page.bytes_mut()[..6].copy_from_slice(b"secret");
        assert!(flags(&page).contains(" dc"), "not copied: {}", flags(&page));
        let mut seen = [0_u8; 6];
        let local = libc::iovec {
            iov_base: seen.as_mut_ptr().cast(),
            iov_len: seen.len(),
        };
        let remote = libc::iovec {
            iov_base: page.start.as_ptr().cast(),
            iov_len: seen.len(),
        };
        // SAFETY: writes at most as many bytes as `seen` has; the kernel checks the rest.
        let read = unsafe { libc::process_vm_readv(libc::getpid(), &local, 1, &remote, 1, 0) };
        assert_eq!((read, seen), (-1, [0; 6]));
    }
}
