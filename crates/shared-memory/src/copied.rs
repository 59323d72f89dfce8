//! A reader's view: the file is copied before it is looked at, so that nothing in it, nor a change of its size, can do
//! harm.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;

use crate::file::open;
use crate::plain::{beginning, bytes_mut};
use crate::{Beginning, FileError, Format, Plain, Unusable, zeroed};

/// What a file held at one moment, and the file.
pub struct Copied<T> {
    /// What it held.
    pub image: Box<T>,
    file: File,
    path: PathBuf,
}

impl<T: Format> Copied<T> {
    /// Of the file at `path`, which is not changed (and may be only if it was opened `writable`).
    ///
    /// # Errors
    /// Where there is none, it can't be read, or is none by its kind, owner (root may read any), permissions, size or
    /// beginning.
    pub fn of(path: &Path, writable: bool) -> Result<Self, Unusable> {
        let file = open::<T>(path, writable).map_err(Unusable::of(T::WORDS, path))?;
        let mut copied = Self {
            image: zeroed(),
            file,
            path: path.into(),
        };
        copied.renew()?;
        Ok(copied)
    }

    /// Copies it once more.
    ///
    /// # Errors
    /// As [`of`](Self::of).
    pub fn renew(&mut self) -> Result<(), Unusable> {
        let read = self.file.read_exact_at(bytes_mut(&mut *self.image), 0);
        read.map_err(too_short)
            .and_then(|()| beginning::<T, T::Beginning>(&self.image).check())
            .map_err(|error| self.unusable(error))
    }

    /// What the file begins with by now.
    ///
    /// # Errors
    /// Where it can't be read.
    pub fn beginning_now(&self) -> Result<Box<T::Beginning>, Unusable> {
        let mut now = zeroed::<T::Beginning>();
        let read = self.file.read_exact_at(bytes_mut(&mut *now), 0);
        read.map_err(|error| self.unusable(too_short(error)))?;
        Ok(now)
    }

    /// The user whose file it is.
    ///
    /// # Errors
    /// What the system says.
    pub fn owner(&self) -> Result<u32, Unusable> {
        match self.file.metadata() {
            Ok(metadata) => Ok(metadata.uid()),
            Err(error) => Err(self.unusable(FileError::cannot("examine")(error))),
        }
    }

    /// Makes a part of [`image`](Self::image) zero in the file.
    ///
    /// # Errors
    /// What the system says.
    pub fn zero<P: Plain>(&self, part: &P) -> Result<(), Unusable> {
        self.write(part, &vec![0; size_of::<P>()])
    }

    /// Sets a word of [`image`](Self::image) in the file.
    ///
    /// # Errors
    /// What the system says.
    pub fn set(&self, word: &AtomicU64, value: u64) -> Result<(), Unusable> {
        self.write(word, &value.to_ne_bytes())
    }

    fn write<P: Plain>(&self, part: &P, bytes: &[u8]) -> Result<(), Unusable> {
        let image = std::ptr::from_ref(&*self.image).addr();
        let offset = std::ptr::from_ref(part).addr().wrapping_sub(image);
        assert!(
            offset <= size_of::<T>() - bytes.len(),
            "invariant: it is a part of the image"
        );
        let written = self.file.write_all_at(bytes, offset as u64);
        written.map_err(|error| self.unusable(FileError::cannot("reset")(error)))
    }

    fn unusable(&self, reason: FileError) -> Unusable {
        Unusable::of(T::WORDS, &self.path)(reason)
    }
}

/// It was shortened since it was opened; or what the system says.
fn too_short(error: io::Error) -> FileError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => FileError::WrongSize,
        _ => FileError::cannot("read")(error),
    }
}
