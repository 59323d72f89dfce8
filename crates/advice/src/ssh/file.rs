//! The drop-in's file: written, restored, removed.

use outboard_file_replacement::{create, replace};
use outboard_installation as installation;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::installed::Side;
use crate::Error;

/// Before most names that distributions use (Red Hat's begin with 50), because the first value holds.
const NAME: &str = "10-outboard.conf";

/// How every drop-in of ours begins.
pub(super) const MARK: &str = "# Written by 'outboard advise ssh'";

/// `/etc/ssh/sshd_config.d/10-outboard.conf`.
pub(super) struct DropInFile {
    pub(super) path: PathBuf,
}

impl DropInFile {
    /// One side's, below `directory` (`/etc/ssh`).
    pub(super) fn new(side: Side, directory: &Path) -> Self {
        let path = directory.join(format!("{}.d", side.file())).join(NAME);
        Self { path }
    }

    /// Where drop-ins lie.
    pub(super) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// Whether it is there with this very text.
    pub(super) fn holds(&self, text: &str) -> bool {
        fs::read(&self.path).is_ok_and(|present| present == text.as_bytes())
    }

    /// Why it must not be touched, if so.
    pub(super) fn foreign(&self) -> Option<String> {
        let present = fs::read(&self.path).ok()?;
        (!present.starts_with(MARK.as_bytes())).then(|| {
            format!(
                "{} was not written by 'outboard advise ssh' (rename it first)",
                self.path.display()
            )
        })
    }

    /// Why it could not be written, before anything is measured.
    pub(super) fn check_writable(&self) -> Result<(), Error> {
        let directory = self.directory();
        let existing = match directory.exists() {
            true => directory,
            false => self.above(),
        };
        rustix::fs::access(existing, rustix::fs::Access::WRITE_OK)
            .map_err(|error| failed("write to", existing, error.into()))
    }

    /// Writes it. What was there is answered, for [`DropInFile::restore`].
    pub(super) fn write(&self, text: &str) -> Result<Option<Vec<u8>>, Error> {
        let unwritten = |error| failed("write", &self.path, error);
        let directory = self.directory();
        if !directory.exists() {
            self.make_directory()
                .map_err(|error| failed("make", directory, error))?;
        }
        match fs::read(&self.path) {
            Ok(previous) => {
                replace::<io::Error>(&self.path, text.as_bytes(), |_| Ok(())).map_err(unwritten)?;
                Ok(Some(previous))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create(&self.path, text.as_bytes()).map_err(unwritten)?;
                Ok(None)
            }
            Err(error) => Err(unwritten(error)),
        }
    }

    /// Makes it as it was before [`DropInFile::write`].
    pub(super) fn restore(&self, previous: Option<Vec<u8>>) -> Result<(), Error> {
        let restored = match previous {
            Some(previous) => replace::<io::Error>(&self.path, &previous, |_| Ok(())),
            None => fs::remove_file(&self.path),
        };
        restored.map_err(|error| failed("restore", &self.path, error))
    }

    /// Takes it away, and answers what it said, if there was one.
    ///
    /// # Errors
    /// If a file of that name is not ours, or cannot be removed.
    pub(super) fn remove(&self) -> Result<Option<String>, Error> {
        if let Some(foreign) = self.foreign() {
            return Err(foreign.into());
        }
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        match fs::remove_file(&self.path) {
            Ok(()) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("remove", &self.path, error)),
        }
    }

    /// Makes the directory so that every user's ssh can enter it, whatever the umask.
    fn make_directory(&self) -> io::Result<()> {
        let directory = self.directory();
        fs::create_dir(directory)?;
        fs::set_permissions(directory, Permissions::from_mode(0o755))?;
        File::open(self.above())?.sync_all()
    }

    /// The directory above the drop-ins' own: `/etc/ssh`.
    fn above(&self) -> &Path {
        self.directory().parent().unwrap_or(Path::new("/"))
    }
}

/// In words, with the remedy.
pub(super) fn failed(doing: &str, path: &Path, error: io::Error) -> Error {
    let remedy = installation::remedy();
    format!("cannot {doing} {}: {error}{remedy}", path.display()).into()
}
