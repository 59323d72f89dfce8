//! The verbs of a CCA coprocessor in software: key tokens, control vectors, master keys, and the rules that bind them.
//!
//! ```text
//! Request ──▶ Coprocessor::dispatch ──▶ verb/      one file for each group of verbs: keywords, checks, then
//!                    │                     ├─▶ token/       keys in and out of tokens; a key comes out only for a use
//!                    │                     └─▶ algorithm/   PIN blocks and methods, DUKPT, MACs, CVV: what is computed
//!                    ├─▶ extension/  verbs of the user's own, as WebAssembly modules
//!                    └─▶ card/  master keys, key storage, access-control points, tables, limits ──▶ Storage
//! ```
//!
//! The crate knows nothing of sockets, files, C or terminals. Its caller owns the [`Coprocessor`], keeps what the coprocessor
//! gives it to keep ([`Storage`]), and says who asks ([`Caller`]).
//!
//! # What this is not
//! This is no tamper-proof hardware, and no authority has certified it. Who can read the memory of its process, or what its
//! [`Storage`] keeps, has every key. It is for development, tests and migration.

mod algorithm;
mod answer;
mod card;
mod extension;
mod request;
mod token;
mod value;
mod verb;

pub use answer::{Answer, Refusal};
pub use card::access::AccessPoint;
pub use card::storage::{Entry, Memory, Storage, StorageError, Written};
pub use card::{Caller, Coprocessor};
pub use request::*;
pub use value::{Bytes, Keyword, Rules, from_hex};

/// Bytes that are no request or no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the message is malformed (update the program that sends it, or the service)")]
pub struct Malformed;

/// A message in room that does not grow: what it left behind would have its secrets.
fn encoded(message: &impl serde::Serialize) -> Result<Vec<u8>, Malformed> {
    let size = postcard::experimental::serialized_size(message).map_err(|_| Malformed)?;
    postcard::to_extend(message, Vec::with_capacity(size)).map_err(|_| Malformed)
}

/// What was read, if nothing is left.
fn whole<T>(read: postcard::Result<(T, &[u8])>) -> Result<T, Malformed> {
    match read {
        Ok((value, [])) => Ok(value),
        _ => Err(Malformed),
    }
}
