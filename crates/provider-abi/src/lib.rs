//! A safe, typed shell around OpenSSL 3.0's provider interface.
//!
//! An implementation says what an algorithm is by a trait ([`Cipher`], [`KeyManagement`],
//! [`Signature`], [`KeyExchange`], [`Kem`], [`AsymmetricCipher`]); each module makes the C functions of it once, generically. The shell
//! checks bounds and types, stops panics, and carries errors to OpenSSL's error queue. It knows nothing of
//! what any algorithm does.
//!
//! Another provider's tables are read by [`foreign`], and [`offer`] makes tables that offer what they do.
//!
//! ```text
//! libcrypto ──▶ extern "C" fn (cipher, keymgmt, signature, keyexch) ──▶ trait ──▶ provider
//!                      └─ boundary: panic or error ──▶ error queue (core)
//! ```

/// One entry of a dispatch table. The function's type is its id's by the table's reading beside it.
macro_rules! entry {
    ($id:expr, $function:expr) => {{
        let function = $function;
        $crate::raw::Dispatch {
            function_id: $id,
            // SAFETY: a function pointer stays one; libcrypto casts it back by its id.
            function: Some(unsafe {
                std::mem::transmute::<*const (), unsafe extern "C" fn()>(function as *const ())
            }),
        }
    }};
}

mod arguments;
pub mod asymmetric_cipher;
mod boundary;
pub mod cipher;
mod context;
mod core;
pub mod decoder;
pub mod encoder;
mod error;
pub mod foreign;
pub mod kdf;
pub mod kem;
pub mod keyexch;
pub mod keymgmt;
mod object;
pub mod offer;
pub mod params;
mod provider;
pub mod raw;
mod replaceable;
pub mod signature;
pub mod store;

pub use arguments::{Input, Output, Receiver};
pub use asymmetric_cipher::AsymmetricCipher;
pub use cipher::{Cipher, Direction};
pub use core::Core;
pub use decoder::Decoder;
pub use encoder::Encoder;
pub use error::{Error, Reason, Result};
pub use kdf::Kdf;
pub use kem::Kem;
pub use keyexch::KeyExchange;
pub use keymgmt::{Change, KeyManagement, Selection};
pub use object::Data;
pub use outboard_guest as guest;
pub use params::{ParamList, ParamMut, ParamRef, Params, ParamsMut};
pub use provider::{Kind, Provider, init};
pub use signature::Signature;
pub use store::Store;
