//! Keys on elliptic curves: ECDSA and ECDH on the NIST curves.
//!
//! A key on another curve, or with anything about it that the engine does not know (explicit
//! parameters, a cofactor mode, another encoding), is a key of the default provider in our keeping.

mod exchange;
mod key;
mod signature;

pub(crate) use exchange::Exchange;
pub(crate) use key::Key;
pub(crate) use signature::Ecdsa;
