//! OpenSSL's public 3.0 interface, found at run time: nothing is linked.
//!
//! ```text
//! Library ──▶ Context ──▶ Key ──▶ DigestSigner, DigestVerifier, sign, verify, derive, decrypt, …
//! (dlopen)    (library       └──▶ Cipher, Digest
//!              context)
//! ```
//!
//! Two callers with different needs share it. Programs of ours (measurements, the command, tests)
//! use the safe wrappers. The provider lives in another's process: it finds the very libcrypto that
//! loaded it ([`Library::containing`]) and, where it passes a caller's parameters through untouched,
//! uses the table of entry points ([`Functions`]) and the raw pointers that every wrapper gives out.
//!
//! Nothing here prints, panics on what OpenSSL answers, or starts a thread. A library once opened is
//! never closed: OpenSSL registers exit handlers and does not support being unloaded.

mod asymmetric_cipher;
mod cipher;
mod context;
mod derive;
mod digest;
mod encapsulation;
mod error;
mod functions;
mod job;
mod key;
pub mod key_schedule;
mod library;
mod object;
mod operation;
mod param;
mod provider;
mod signature;
mod store;
pub mod sys;

pub use asymmetric_cipher::{Decryptor, Encryptor};
pub use cipher::{Cipher, CipherContext, Direction};
pub use context::Context;
pub use derive::Deriver;
pub use digest::{Digest, DigestContext};
pub use encapsulation::{Decapsulator, Encapsulator};
pub use error::{Error, Reason};
pub use functions::{Encryptions, Functions, Hashes, Providers, Stores};
pub use job::Job;
pub use key::{Key, Selection, Structure};
pub use library::Library;
pub use operation::OperationContext;
pub use param::Params;
pub use provider::Provider;
pub use signature::{DigestSigner, DigestVerifier, Signer, Verifier};
pub use store::is_searched;

/// What every wrapper returns.
pub type Result<T> = std::result::Result<T, Error>;
