//! RSA and RSA-PSS: keys and signatures.
//!
//! Keys are borrowed, never owned: they are decoded, made, written and asked by the default provider,
//! and come here only when one of them signs or verifies. What the engine would not do with a key is
//! decided then, by declining to import it.

mod key;
mod signature;

pub(crate) use key::{Key, RSA, RSA_PSS};
pub(crate) use signature::Rsa;
