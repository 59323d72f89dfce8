//! Where a card's state is kept: names and values. The values are secrets.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use zeroize::Zeroizing;

/// A name and its value.
pub type Entry = (String, Zeroizing<Vec<u8>>);

/// The storage failed. The text says what, why and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StorageError(pub String);

/// A change that is being written.
#[must_use = "it is not durable until it is waited for"]
pub struct Written<'a>(Box<dyn FnOnce() -> Result<(), StorageError> + 'a>);

impl<'a> Written<'a> {
    /// One that is written when that function returns.
    pub fn new(wait: impl FnOnce() -> Result<(), StorageError> + 'a) -> Self {
        Self(Box::new(wait))
    }

    /// Waits until it is durable.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn wait(self) -> Result<(), StorageError> {
        (self.0)()
    }
}

/// Keeps a card's state. The caller of the crate implements it: encrypted, on a disk, as it likes.
///
/// Names have up to 100 printable characters of ASCII. Values have up to 128 KiB, most of them up to some hundred bytes, and are to be encrypted: master
/// keys are among them. A change must be durable when the function returns, because the card then answers.
pub trait Storage: Send + Sync {
    /// All entries.
    ///
    /// # Errors
    /// They cannot be read.
    fn load(&self) -> Result<Vec<Entry>, StorageError>;

    /// Writes some entries, in place of older ones of their names, and removes others: all of that or nothing.
    ///
    /// # Errors
    /// It cannot be written. Nothing is changed.
    fn change(&self, put: &[Entry], remove: &[String]) -> Result<(), StorageError>;

    /// Begins a change, as [`Storage::change`] has it. Changes are written in the order in which they begin, so a caller may hold a lock
    /// until this returns, and wait for the disk without it.
    fn begin(&self, put: &[Entry], remove: &[String]) -> Written<'_> {
        let written = self.change(put, remove);
        Written::new(move || written)
    }

    /// Writes one entry.
    ///
    /// # Errors
    /// As [`Storage::change`].
    fn put(&self, name: &str, value: &[u8]) -> Result<(), StorageError> {
        self.change(&[(name.to_owned(), Zeroizing::new(value.to_vec()))], &[])
    }
}

/// A storage in memory, for tests.
#[derive(Default)]
pub struct Memory(Mutex<BTreeMap<String, Zeroizing<Vec<u8>>>>);

impl Storage for Memory {
    fn load(&self) -> Result<Vec<Entry>, StorageError> {
        let entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(entries
            .iter()
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect())
    }

    fn change(&self, put: &[Entry], remove: &[String]) -> Result<(), StorageError> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in remove {
            entries.remove(name);
        }
        entries.extend(put.iter().cloned());
        Ok(())
    }
}

/// A storage that others share.
impl<S: Storage> Storage for std::sync::Arc<S> {
    fn load(&self) -> Result<Vec<Entry>, StorageError> {
        (**self).load()
    }

    fn change(&self, put: &[Entry], remove: &[String]) -> Result<(), StorageError> {
        (**self).change(put, remove)
    }

    fn begin(&self, put: &[Entry], remove: &[String]) -> Written<'_> {
        (**self).begin(put, remove)
    }
}
