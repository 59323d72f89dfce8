//! What is done with keys, and without one.
//!
//! ```text
//! Init ──▶ session ◀──take, put_back──▶ Update …, Final, or all in one call ──▶ engine
//! ```

mod cipher;
mod computation;
mod derive;
mod digest;
mod encapsulate;
mod generate;
mod hkdf;
mod mac;
mod messages;
mod rsa;
mod sign;
mod verify;
mod wrap;

pub(crate) use cipher::{Ciphering, Direction};
pub(crate) use computation::{Function, Outstanding, Product};
pub(crate) use digest::Digesting;
pub(crate) use mac::OrCode;
pub(crate) use messages::{Iv, Message, Messages};
pub(crate) use sign::Signing;
pub(crate) use verify::Verifying;

use outboard_engine::scalar::digest::{Digest, Hasher, Value};

use crate::error::Result;

/// The digest of one message.
fn hash(digest: Digest, message: &[u8]) -> Result<Value> {
    let mut hasher = Hasher::new(digest)?;
    hasher.update(message)?;
    Ok(hasher.end()?)
}
