//! Replacing a file so that every reader sees the old one or the new one, never half of it.
//!
//! What is no regular file (a device, a pipe) is never replaced: it is written to.
//!
//! Knows the file system: modes, owners, extended attributes, links. Knows nothing of what a file contains.

use rustix::fs::XattrFlags;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// Puts `content` in the place of the file at `path`, which keeps its mode, owner and extended
/// attributes (an SELinux label among them). `check` sees the new file under another name first, and
/// may refuse it.
///
/// # Errors
/// Of `check`, or of the file system; in both cases the file is as it was.
pub fn replace<E: From<io::Error>>(
    path: &Path,
    content: &[u8],
    check: impl FnOnce(&Path) -> Result<(), E>,
) -> Result<(), E> {
    let temporary = beside(path, directory_of(path), content)?;
    check(temporary.path())?;
    temporary.persist(path).map_err(|error| error.error)?;
    // The rename itself is durable once the directory is.
    File::open(directory_of(path))?.sync_all()?;
    Ok(())
}

/// Puts `content` at `copy`, as private as the file at `path` from its first byte on; what is there
/// already is replaced.
///
/// # Errors
/// Of the file system; what is at `copy` is then as it was.
pub fn copy_beside(path: &Path, content: &[u8], copy: &Path) -> io::Result<()> {
    let temporary = beside(path, directory_of(copy), content)?;
    temporary.persist(copy).map_err(|error| error.error)?;
    File::open(directory_of(copy))?.sync_all()
}

/// A temporary file with that content and the attributes of the file at `path`.
fn beside(path: &Path, directory: &Path, content: &[u8]) -> io::Result<tempfile::NamedTempFile> {
    let original = File::open(path)?;
    let metadata = original.metadata()?;
    let mut temporary = tempfile::Builder::new()
        .prefix(".outboard-")
        // Not `tempfile_in`: its error names the temporary file, which means nothing to the user.
        .make_in(directory, |path| {
            let mut new = OpenOptions::new();
            new.read(true).write(true).create_new(true).mode(0o600);
            new.open(path)
        })
        .map_err(|error| {
            let place = directory.display();
            io::Error::new(
                error.kind(),
                format!("cannot make a file in {place}: {error}"),
            )
        })?;
    temporary.write_all(content)?;
    copy_attributes(&original, &metadata, temporary.as_file())?;
    temporary.as_file().sync_all()?;
    Ok(temporary)
}

/// Writes a result where its reader wants it: in the place of a regular file, whole or not at all (links
/// to it stay links); to the end of what this process's own output goes to; into a device or a pipe; or
/// into a new file.
///
/// # Errors
/// Of the file system.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() && !is_own_output(&metadata) => {
            replace(&path.canonicalize()?, content, |_| Ok(()))
        }
        Ok(_) => OpenOptions::new()
            .append(true)
            .open(path)?
            .write_all(content),
        // A link that leads nowhere yet: there the file is made, as the shell's > does.
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::write(path, content),
        Err(error) => Err(error),
    }
}

/// Checks for reasons why [`write`] would fail, as far as they can be known before. Changes nothing.
///
/// # Errors
/// Of the file system.
pub fn check(path: &Path) -> io::Result<()> {
    use rustix::fs::{Access, access};
    let (place, rights) = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(metadata) if metadata.is_file() && !is_own_output(&metadata) => {
            let directory = directory_of(&path.canonicalize()?).to_owned();
            (directory, Access::WRITE_OK | Access::EXEC_OK)
        }
        Ok(_) => (path.to_owned(), Access::WRITE_OK),
        // Where a link leads will be seen.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = directory_of(path).to_owned();
            (directory, Access::WRITE_OK | Access::EXEC_OK)
        }
        Err(error) => return Err(error),
    };
    Ok(access(place, rights)?)
}

/// Whether a file is what standard output or standard error goes to: replaced, it would lose what was
/// printed there.
fn is_own_output(file: &Metadata) -> bool {
    let is = |stream: rustix::io::Result<rustix::fs::Stat>| {
        stream.is_ok_and(|stream| (stream.st_dev, stream.st_ino) == (file.dev(), file.ino()))
    };
    is(rustix::fs::fstat(io::stdout())) || is(rustix::fs::fstat(io::stderr()))
}

/// The directory that a file lies in: the current one if its name says none.
fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(directory) if directory.as_os_str().is_empty() => Path::new("."),
        Some(directory) => directory,
        None => Path::new("/"),
    }
}

/// Puts `content` where no file is yet, readable by everyone, whole or not at all.
///
/// # Errors
/// Of the file system; there is then no file.
pub fn create(path: &Path, content: &[u8]) -> io::Result<()> {
    const ALL_READ_OWNER_WRITES: u32 = 0o644;
    let directory = directory_of(path);
    let mut temporary = tempfile::Builder::new()
        .prefix(".outboard-")
        .tempfile_in(directory)?;
    temporary.write_all(content)?;
    temporary
        .as_file()
        .set_permissions(PermissionsExt::from_mode(ALL_READ_OWNER_WRITES))?;
    temporary.as_file().sync_all()?;
    temporary
        .persist_noclobber(path)
        .map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}

fn copy_attributes(original: &File, metadata: &Metadata, copy: &File) -> io::Result<()> {
    let own = copy.metadata()?;
    if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
        std::os::unix::fs::fchown(copy, Some(metadata.uid()), Some(metadata.gid()))?;
    }
    let mut names = vec![0; 64 * 1024]; // the kernel's own limit
    let length = match rustix::fs::flistxattr(original, &mut names[..]) {
        Ok(length) => length,
        Err(rustix::io::Errno::OPNOTSUPP) => 0,
        Err(error) => return Err(error.into()),
    };
    for name in names[..length]
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
    {
        let mut value = vec![0; 64 * 1024];
        let length = rustix::fs::fgetxattr(original, name, &mut value[..])?;
        rustix::fs::fsetxattr(copy, name, &value[..length], XattrFlags::empty())?;
    }
    // Last, because a change of owner may take bits away.
    copy.set_permissions(PermissionsExt::from_mode(metadata.mode() & 0o7777))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn file_with_mode(mode: u32) -> (tempfile::TempDir, PathBuf) {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let file = directory.path().join("openssl.cnf");
        std::fs::write(&file, "old").expect("a file");
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("a mode");
        (directory, file)
    }

    #[test]
    fn the_new_file_keeps_its_mode() {
        let (directory, file) = file_with_mode(0o640);
        replace::<io::Error>(&file, b"new", |_| Ok(())).expect("it can be replaced");
        assert_eq!(std::fs::read(&file).expect("the file"), b"new");
        let mode = std::fs::metadata(&file).expect("the file").mode();
        assert_eq!(mode & 0o7777, 0o640);
        assert_eq!(std::fs::read_dir(directory.path()).expect("it").count(), 1);
    }

    #[test]
    fn a_name_alone_is_a_file_of_the_current_directory() {
        assert_eq!(directory_of(Path::new("c.json")), Path::new("."));
        assert_eq!(directory_of(Path::new("/c.json")), Path::new("/"));
        assert_eq!(directory_of(Path::new("a/c.json")), Path::new("a"));
    }

    #[test]
    fn links_stay_links() {
        let (directory, file) = file_with_mode(0o640);
        let link = directory.path().join("link");
        std::os::unix::fs::symlink(&file, &link).expect("it is ours");
        write(&link, b"new").expect("it can be written");
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).expect("the file"), b"new");
        fs::remove_file(&file).expect("it is ours");
        write(&link, b"newer").expect("it can be written");
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).expect("the file"), b"newer");
    }

    #[test]
    fn a_pipe_is_written_to_and_stays() {
        use std::os::unix::fs::FileTypeExt;
        let directory = tempfile::tempdir().expect("a temporary directory");
        let pipe = directory.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo is installed").success());
        // Both ends are open, so a writer need not wait for a reader.
        let mut reader = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&pipe)
            .expect("it is ours");
        write(&pipe, b"new").expect("it can be written");
        let kind = fs::symlink_metadata(&pipe)
            .expect("it is there")
            .file_type();
        assert!(kind.is_fifo());
        let mut content = [0; 3];
        io::Read::read_exact(&mut reader, &mut content).expect("it was written");
        assert_eq!(&content, b"new");
    }

    #[test]
    fn a_new_file_takes_no_other_s_place() {
        let (directory, file) = file_with_mode(0o600);
        let error = create(&file, b"new").expect_err("there is one");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&file).expect("the file"), b"old");
        let new = directory.path().join("new.conf");
        create(&new, b"new").expect("there is none");
        let mode = std::fs::metadata(&new).expect("the file").mode();
        assert_eq!(mode & 0o7777, 0o644);
        assert_eq!(std::fs::read_dir(directory.path()).expect("it").count(), 2);
    }

    #[test]
    fn a_copy_is_as_private_as_its_original() {
        let (directory, file) = file_with_mode(0o600);
        let copy = directory.path().join("copy");
        for content in ["one", "two"] {
            copy_beside(&file, content.as_bytes(), &copy).expect("it is ours");
            assert_eq!(fs::read_to_string(&copy).expect("it is ours"), content);
            let mode = fs::metadata(&copy).expect("it is ours").mode();
            assert_eq!(mode & 0o7777, 0o600);
        }
        assert_eq!(fs::read(&file).expect("the file"), b"old");
        let nowhere = directory.path().join("none");
        let error = copy_beside(&file, b"", &nowhere.join("copy")).expect_err("there is none");
        let place = nowhere.display();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot make a file in {place}: {}",
                io::Error::from_raw_os_error(libc::ENOENT)
            )
        );
    }

    #[test]
    fn what_is_refused_leaves_no_trace() {
        let (directory, file) = file_with_mode(0o644);
        let refusal = replace(&file, b"new", |candidate| {
            assert_eq!(std::fs::read(candidate)?, b"new");
            Err(io::Error::other("no"))
        });
        assert_eq!(refusal.expect_err("it was refused").to_string(), "no");
        assert_eq!(std::fs::read(&file).expect("the file"), b"old");
        assert_eq!(std::fs::read_dir(directory.path()).expect("it").count(), 1);
    }
}
