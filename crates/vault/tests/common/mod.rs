//! What the tests share.

// Each test program uses a part of it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use outboard_vault::{Grants, KeyType, Name, NewKey, Policy, Register, Right, Subject, Vault};

/// Who acts.
pub(crate) const ADMIN: u32 = 1000;
/// A master key.
pub(crate) const MASTER: [u8; 32] = [7; 32];
/// Another one.
pub(crate) const NEXT: [u8; 32] = [8; 32];

/// A directory for a store, removed when dropped.
pub(crate) struct Place(pub(crate) tempfile::TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    /// In memory, where there is room for that: for tests that write thousands of stores.
    pub(crate) fn in_memory() -> Self {
        match tempfile::tempdir_in("/dev/shm") {
            Ok(directory) => Self(directory),
            Err(_) => Self::new(),
        }
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.0.path().join("store")
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.store().join("vault.db")
    }

    /// A new store with a master key.
    pub(crate) fn create(&self) -> Vault {
        let vault = Vault::create(self.store(), ADMIN).expect("a new store");
        enter(&vault, Register::Current, &MASTER);
        vault
    }

    /// The store, with its master key.
    pub(crate) fn open(&self) -> Vault {
        open(&self.store())
    }
}

/// The store without its master key.
pub(crate) fn reopened(store: &Path) -> Vault {
    // A process that another test starts has this one's locks for a moment, until it runs its program.
    let since = std::time::Instant::now();
    loop {
        match Vault::open(store) {
            Err(outboard_vault::Error::InUse { .. }) if since.elapsed().as_secs() < 10 => {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            opened => break opened.expect("the store"),
        }
    }
}

pub(crate) fn open(store: &Path) -> Vault {
    let vault = reopened(store);
    enter(&vault, Register::Current, &MASTER);
    vault
}

pub(crate) fn enter(vault: &Vault, register: Register, key: &[u8; 32]) {
    vault
        .enter_whole(ADMIN, register, key)
        .expect("the master key");
}

pub(crate) fn name(text: &str) -> Name {
    text.parse().expect("a name")
}

/// The private half of the key with that name, as far as the vault knows.
pub(crate) fn private(name: &str) -> Vec<u8> {
    format!("the private half of {name}, ")
        .repeat(8)
        .into_bytes()
}

pub(crate) fn key(text: &str) -> NewKey {
    NewKey {
        name: name(text),
        key_type: KeyType::P256,
        public: format!("the public half of {text}").into_bytes(),
        private: private(text).into(),
        exportable: false,
        policy: Policy::default(),
        grants: Grants::from_iter([(Subject::User(33), Right::Use)]),
    }
}
