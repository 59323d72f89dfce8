//! Opening, creating and mapping: everything here makes system calls, and is done while a process
//! starts, before it confines itself.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::plain::{self, Plain};
use crate::{FileError, Unusable, Words, process};

/// A kind of file that is shared.
pub trait Format: Plain {
    /// What it begins with.
    type Beginning: Beginning;
    /// What people call it.
    const WORDS: &'static Words;
}

/// What a file begins with: all of a new one that is not zero, and what tells it from others.
pub trait Beginning: Plain {
    /// Makes a file that begins with this, and is zero else, an empty one.
    fn initialise(&self);

    /// Refuses another kind of file, and another version.
    ///
    /// # Errors
    /// [`FileError::WrongBeginning`], [`FileError::Version`] or [`FileError::Layout`].
    fn check(&self) -> Result<(), FileError>;
}

/// Words by which a file tells what it is: the first by its kind, the second by its version, the others by its sizes.
#[repr(C)]
pub struct Identity<const WORDS: usize>([AtomicU64; WORDS]);

impl<const WORDS: usize> Identity<WORDS> {
    /// Writes them.
    pub fn store(&self, words: [u64; WORDS]) {
        for (word, value) in self.0.iter().zip(words) {
            word.store(value, Relaxed);
        }
    }

    /// Refuses others.
    ///
    /// # Errors
    /// As [`Beginning::check`].
    pub fn check(&self, words: [u64; WORDS]) -> Result<(), FileError> {
        let found = self.0.each_ref().map(|word| word.load(Relaxed));
        match found
            .into_iter()
            .zip(words)
            .enumerate()
            .find(|(_, (found, ours))| found != ours)
        {
            None => Ok(()),
            Some((0, _)) => Err(FileError::WrongBeginning),
            Some((1, (version, ours))) => Err(FileError::Version { version, ours }),
            Some((_, (found, ours))) => Err(FileError::Layout {
                version: words[1],
                found,
                ours,
            }),
        }
    }
}

/// The `T` in the file at `path`, created if there is none, mapped for the life of the process. No file descriptor
/// stays open.
///
/// Only a file of this very user is mapped, and only where we have no more rights than that: who may
/// shorten it would end us with a bus error.
///
/// # Errors
/// Where the file can't be used.
pub fn shared<T: Format>(path: &Path) -> Result<&'static T, Unusable> {
    share(path).map_err(Unusable::of(T::WORDS, path))
}

fn share<T: Format>(path: &Path) -> Result<&'static T, FileError> {
    if process::is_privileged() {
        let reason = "this process runs with more rights than its user has";
        return Err(FileError::cannot("map")(io::Error::new(
            io::ErrorKind::PermissionDenied,
            reason,
        )));
    }
    let file = match open_any(path, true) {
        Err(FileError::Missing) => match make::<T>(path) {
            // Somebody was faster; theirs is as good.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => open_any(path, true)?,
            made => made.map_err(FileError::cannot("create"))?,
        },
        opened => opened?,
    };
    match usable(&file) {
        Err(FileError::Version { version, ours }) if T::WORDS.makes_room && version < ours => {
            replace::<T>(path, &file)?;
            usable(&open_any(path, true)?)
        }
        outcome => outcome,
    }
}

/// The `T` that this file of this user's is.
fn usable<T: Format>(file: &File) -> Result<&'static T, FileError> {
    let user = process::effective_user();
    check_version::<T>(file, |owner| owner == user)?;
    let image: &T = map(Some(file)).map_err(FileError::cannot("map"))?;
    plain::beginning::<T, T::Beginning>(image).check()?;
    Ok(image)
}

/// As [`check`], but a file of another size whose beginning says so is one of another version or build.
fn check_version<T: Format>(file: &File, may_own: impl Fn(u32) -> bool) -> Result<(), FileError> {
    let outcome = check::<T>(file, &may_own);
    let is_private = |metadata: Metadata| may_own(metadata.uid()) && metadata.mode() & 0o077 == 0;
    if !matches!(outcome, Err(FileError::WrongSize)) || !file.metadata().is_ok_and(is_private) {
        return outcome;
    }
    let mut header = plain::zeroed::<T::Beginning>();
    let read = file.read_exact_at(plain::bytes_mut(&mut *header), 0);
    match header.check() {
        Err(version @ (FileError::Version { .. } | FileError::Layout { .. })) if read.is_ok() => {
            Err(version)
        }
        _ => outcome,
    }
}

/// Puts a new, empty `T` in the place of `old`, which whoever has mapped it keeps. Of several processes that want
/// to, one does.
fn replace<T: Format>(path: &Path, old: &File) -> Result<(), FileError> {
    /// Milliseconds: a replacement takes less than one, unless its process has to wait for a processor. Whoever holds the
    /// lock for longer stops no program.
    const PATIENCE: u32 = 250;
    let identity = |metadata: Metadata| (metadata.dev(), metadata.ino());
    let ours = old.metadata().map(identity).ok();
    let is_there = || std::fs::symlink_metadata(path).map(identity).ok() == ours;
    let lock = || {
        // SAFETY: an open descriptor; the lock ends with it.
        match unsafe { libc::flock(old.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    let mut locked = lock();
    for _ in 0..PATIENCE {
        // Somebody else has replaced it meanwhile: there is nothing to lock.
        if locked.is_ok() || !is_there() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
        locked = lock();
    }
    if is_there() {
        locked.map_err(FileError::cannot("lock"))?;
        std::fs::remove_file(path).map_err(FileError::cannot("replace"))?;
    }
    match make::<T>(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(FileError::cannot("create")(error))
        }
        _ => Ok(()),
    }
}

/// Memory that a forked child finds zeroed (`MADV_WIPEONFORK`, Linux 4.14), so that it knows without
/// a system call that it is somebody else. On a kernel that can't, a child counts on under its
/// parent's name.
///
/// # Errors
/// What the system says where it has no memory.
pub fn local<T: Plain>() -> io::Result<&'static T> {
    let local: &T = map(None)?;
    // SAFETY: exactly the pages just mapped, private and anonymous as the advice demands.
    unsafe {
        libc::madvise(
            std::ptr::from_ref(local).cast_mut().cast(),
            size_of::<T>(),
            libc::MADV_WIPEONFORK,
        )
    };
    Ok(local)
}

/// Opens what may be a `T`, to be copied before it is looked at. Root may open anyone's.
///
/// # Errors
/// Where there is none, or it can't be one by its kind, owner, permissions or size.
pub(crate) fn open<T: Format>(path: &Path, writable: bool) -> Result<File, FileError> {
    let file = open_any(path, writable)?;
    let user = process::effective_user();
    check_version::<T>(&file, |owner| owner == user || user == 0)?;
    Ok(file)
}

/// Makes an empty `T` at `path`, complete before anybody can see it.
///
/// # Errors
/// Where there is something of that name, or the system refuses.
pub fn create<T: Format>(path: &Path) -> Result<(), Unusable> {
    make::<T>(path)
        .map(drop)
        .map_err(FileError::cannot("create"))
        .map_err(Unusable::of(T::WORDS, path))
}

/// Opens whatever is there, without following a link or waiting for a pipe's other end.
fn open_any(path: &Path, writable: bool) -> Result<File, FileError> {
    OpenOptions::new()
        .read(true)
        .write(writable)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(|error| match error.raw_os_error() {
            Some(libc::ENOENT) => FileError::Missing,
            Some(libc::ELOOP | libc::EISDIR) => FileError::NotRegular,
            _ => FileError::cannot("open")(error),
        })
}

/// Refuses whatever can't be a `T` by its kind, size, owner or permissions.
fn check<T: Plain>(file: &File, may_own: impl Fn(u32) -> bool) -> Result<(), FileError> {
    let metadata = file.metadata().map_err(FileError::cannot("examine"))?;
    if !metadata.is_file() {
        return Err(FileError::NotRegular);
    }
    // First, so that nobody is told to change what is quite another file (/etc/passwd).
    if metadata.len() != size_of::<T>() as u64 {
        return Err(FileError::WrongSize);
    }
    if !may_own(metadata.uid()) {
        return Err(FileError::Foreign {
            owner: metadata.uid(),
        });
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(FileError::Exposed {
            mode: metadata.mode() & 0o777,
        });
    }
    Ok(())
}

/// A new, empty `T` at `path`, complete before anybody can see it; `AlreadyExists` if there is
/// something of that name.
fn make<T: Format>(path: &Path) -> io::Result<File> {
    let temporary = temporary_beside(path);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(&temporary)?;
    let outcome = fill::<T>(&file).and_then(|()| std::fs::hard_link(&temporary, path));
    // Whatever happened; what can't be removed either is no reason to fail.
    let _ = std::fs::remove_file(&temporary);
    outcome.map(|()| file)
}

/// Makes an empty file a `T`. All of its memory is reserved now: writing to a hole in a full file
/// system would end the program with a bus error.
fn fill<T: Format>(file: &File) -> io::Result<()> {
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?; // whatever the umask
    check_limit(size_of::<T>())?;
    // SAFETY: an open file descriptor; no memory is touched.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, size_of::<T>() as libc::off_t) } {
        0 => {}
        error => return Err(io::Error::from_raw_os_error(error)),
    }
    let mut header = plain::zeroed::<T::Beginning>();
    header.initialise();
    file.write_all_at(plain::bytes_mut(&mut *header), 0)
}

/// Refuses to make a file larger than this process may (`RLIMIT_FSIZE`; sandboxes set it to zero):
/// trying would end it with a signal.
fn check_limit(bytes: usize) -> io::Result<()> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: writes the limit that it is given.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    match limit.rlim_cur < bytes as libc::rlim_t {
        true => Err(io::Error::from_raw_os_error(libc::EFBIG)),
        false => Ok(()),
    }
}

/// A name in the same directory that nobody takes for a user's, and that no other thread takes.
fn temporary_beside(path: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let (process, moment) = (process::id(), process::since_boot());
    let number = NUMBER.fetch_add(1, Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{process}.{moment}.{number}"));
    name.into()
}

/// Maps a file of the size of a `T`, or fresh anonymous memory, until the process ends.
fn map<T: Plain>(file: Option<&File>) -> io::Result<&'static T> {
    let (flags, descriptor) = match file {
        Some(file) => (libc::MAP_SHARED, file.as_raw_fd()),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
    };
    // SAFETY: a new mapping at an address of the kernel's choice overlaps nothing.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            size_of::<T>(),
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            descriptor,
            0,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let address = NonNull::new(address).expect("nothing is mapped at zero unless asked for");
    // SAFETY: mmap gave us these pages, page-aligned, readable and writable; nothing unmaps them. A
    // file is as long as the mapping (checked by the caller), and only its owner could shorten it.
    Ok(unsafe { plain::view(address) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(C)]
    struct Page {
        header: Header,
        rest: [AtomicU64; 509],
    }

    #[repr(C)]
    struct Header(Identity<2>, AtomicU64);

    // SAFETY: `repr(C)` of nothing but `AtomicU64`.
    unsafe impl Plain for Page {}
    // SAFETY: as above.
    unsafe impl Plain for Header {}

    impl Header {
        const IDENTITY: [u64; 2] = [0x5ca1_ab1e, 3];
    }

    impl Beginning for Header {
        fn initialise(&self) {
            self.0.store(Self::IDENTITY);
            self.1.store(7, Relaxed);
        }

        fn check(&self) -> Result<(), FileError> {
            self.0.check(Self::IDENTITY)
        }
    }

    impl Format for Page {
        type Beginning = Header;
        const WORDS: &'static Words = &Words {
            name: "page",
            made: "the test makes one",
            users: "the test",
            makes_room: true,
        };
    }

    fn directory() -> tempfile::TempDir {
        tempfile::tempdir().expect("a temporary directory")
    }

    #[test]
    fn what_one_writes_the_other_reads() {
        let directory = directory();
        let path = directory.path().join("page");
        let ours: &Page = shared(&path).expect("it is made");
        let theirs: &Page = shared(&path).expect("it is there");
        assert_eq!(theirs.header.1.load(Relaxed), 7);
        ours.rest[508].store(9, Relaxed);
        assert_eq!(theirs.rest[508].load(Relaxed), 9);
        let names = std::fs::read_dir(directory.path()).expect("it can be listed");
        assert_eq!(names.count(), 1, "nothing temporary stays");
        let again = create::<Page>(&path).expect_err("there is one");
        assert!(matches!(again.reason, FileError::System { source, .. }
            if source.kind() == io::ErrorKind::AlreadyExists));
    }

    /// As after an upgrade: programs of both versions run.
    #[test]
    fn one_of_an_earlier_version_makes_room() {
        let directory = directory();
        let path = directory.path().join("page");
        let earlier = |version: u64, bytes: usize| {
            let mut file = vec![0; bytes];
            file[..8].copy_from_slice(&Header::IDENTITY[0].to_ne_bytes());
            file[8..16].copy_from_slice(&version.to_ne_bytes());
            std::fs::write(&path, file).expect("a file");
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&path, private).expect("it is ours");
        };
        for bytes in [24, 4096, 8192] {
            earlier(2, bytes);
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| share::<Page>(&path).map(drop).expect("there is a new one"));
                }
            });
            let names = std::fs::read_dir(directory.path()).expect("it can be listed");
            assert_eq!(names.count(), 1, "nothing temporary stays");
        }
        // A later one belongs to programs that know more; nor is another's file touched.
        earlier(4, 8192);
        let refused = share::<Page>(&path)
            .map(drop)
            .expect_err("it is not for us");
        assert!(
            matches!(
                refused,
                FileError::Version {
                    version: 4,
                    ours: 3
                }
            ),
            "{refused:?}"
        );
        earlier(2, 8192);
        let open_to_all = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(&path, open_to_all).expect("it is ours");
        assert!(matches!(share::<Page>(&path), Err(FileError::WrongSize)));
    }

    #[test]
    fn nothing_else_is_opened_or_changed() {
        let directory = directory();
        let path = |name: &str| directory.path().join(name);
        let refused = |name: &str| {
            let mapped = share::<Page>(&path(name)).map(drop);
            let opened = open::<Page>(&path(name), false).map(drop);
            let (mapped, opened) = (mapped.expect_err(name), opened.expect_err(name));
            assert_eq!(mapped.to_string(), opened.to_string());
            mapped
        };
        assert!(matches!(
            open::<Page>(&path("none"), false),
            Err(FileError::Missing)
        ));

        create::<Page>(&path("page")).expect("it is made");
        std::os::unix::fs::symlink(path("page"), path("link")).expect("a link");
        assert!(matches!(refused("link"), FileError::NotRegular));
        std::fs::create_dir(path("directory")).expect("a directory");
        assert!(matches!(
            refused_to_write(&path("directory")),
            FileError::NotRegular
        ));

        std::fs::write(path("short"), [0; 4095]).expect("a file");
        let private = std::fs::Permissions::from_mode(0o600);
        let open_to_all = std::fs::Permissions::from_mode(0o644);
        for mode in [private, open_to_all.clone()] {
            std::fs::set_permissions(path("short"), mode).expect("it is ours");
            assert!(matches!(refused("short"), FileError::WrongSize));
        }

        std::fs::set_permissions(path("page"), open_to_all).expect("it is ours");
        assert!(matches!(
            refused("page"),
            FileError::Exposed { mode: 0o644 }
        ));
    }

    fn refused_to_write(path: &Path) -> FileError {
        open::<Page>(path, true).map(drop).expect_err("no file")
    }

    /// Root can give files away, and reads what others own, but never maps it.
    #[test]
    fn another_users_file_is_read_by_root_and_mapped_by_nobody() {
        if process::effective_user() != 0 {
            return;
        }
        let directory = directory();
        let path = directory.path().join("page");
        create::<Page>(&path).expect("it is made");
        std::os::unix::fs::chown(&path, Some(65_534), None).expect("root may");
        assert!(open::<Page>(&path, true).is_ok());
        assert!(matches!(
            share::<Page>(&path),
            Err(FileError::Foreign { owner: 65_534 })
        ));
    }
}
