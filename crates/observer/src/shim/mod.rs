//! The functions that stand in for a provider's, by kind of algorithm. Each passes on what it gets,
//! the context unwrapped, and counts what the provider did.
//!
//! Types are those of `openssl/core_dispatch.h`; a function exists for every id of OpenSSL 3.0 to 4.0.

mod asymmetric_cipher;
mod begin;
mod cipher;
mod digest;
mod kdf;
mod kem;
mod keyexch;
mod keymgmt;
mod mac;
mod rand;
mod signature;

use std::ffi::c_int;

use outboard_observation::Operation;

use crate::slot::Function;

/// What is wrapped. The rest (encoders, decoders, stores) passes as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Digest,
    Cipher,
    Mac,
    Kdf,
    /// Only passed on.
    Random,
    KeyManagement,
    KeyExchange,
    Signature,
    AsymmetricCipher,
    Kem,
}

/// What becomes of a provider's function.
pub(crate) enum Shim {
    /// It is called by one of ours.
    Wrapped(Function),
    /// It is no matter of ours: it takes no context.
    Kept,
    /// We don't know it.
    Unknown,
}

impl Kind {
    pub(crate) const ALL: [Self; 10] = [
        Self::Digest,
        Self::Cipher,
        Self::Mac,
        Self::Kdf,
        Self::Random,
        Self::KeyManagement,
        Self::KeyExchange,
        Self::Signature,
        Self::AsymmetricCipher,
        Self::Kem,
    ];

    /// `OSSL_OP_…`.
    pub(crate) fn id(self) -> c_int {
        match self {
            Self::Digest => 1,
            Self::Cipher => 2,
            Self::Mac => 3,
            Self::Kdf => 4,
            Self::Random => 5,
            Self::KeyManagement => 10,
            Self::KeyExchange => 11,
            Self::Signature => 12,
            Self::AsymmetricCipher => 13,
            Self::Kem => 14,
        }
    }

    /// By `OSSL_OP_…`.
    pub(crate) fn of_operation(id: c_int) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.id() == id)
    }

    /// What a context does before anybody says more.
    pub(crate) fn operation(self, algorithm: &str) -> Operation {
        /// Signatures that are MACs by their nature (EVP_SIGNATURE-HMAC(7)).
        const MACS: &[&str] = &["HMAC", "CMAC", "SIPHASH", "POLY1305"];
        match self {
            Self::Digest => Operation::Digest,
            Self::Cipher => Operation::Seal,
            Self::Mac => Operation::Mac,
            Self::Kdf => Operation::Kdf,
            Self::KeyManagement | Self::Random => Operation::Generate,
            Self::KeyExchange if KDFS.iter().any(|kdf| algorithm.eq_ignore_ascii_case(kdf)) => {
                Operation::Kdf
            }
            Self::KeyExchange => Operation::Derive,
            Self::Signature if MACS.iter().any(|mac| algorithm.eq_ignore_ascii_case(mac)) => {
                Operation::Mac
            }
            Self::Signature => Operation::Sign,
            Self::AsymmetricCipher => Operation::KeyEncrypt,
            Self::Kem => Operation::Encapsulate,
        }
    }

    /// What becomes of the function of that id, for the algorithm of that slot.
    pub(crate) fn shim(self, id: c_int, slot: usize) -> Shim {
        match self {
            Self::Digest => digest::shim(id, slot),
            Self::Cipher => cipher::shim(id, slot),
            Self::Mac => mac::shim(id, slot),
            Self::Kdf => kdf::shim(id, slot),
            Self::Random => rand::shim(id, slot),
            Self::KeyManagement => keymgmt::shim(id, slot),
            Self::KeyExchange => keyexch::shim(id, slot),
            Self::Signature => signature::shim(id, slot),
            Self::AsymmetricCipher => asymmetric_cipher::shim(id, slot),
            Self::Kem => kem::shim(id, slot),
        }
    }

    /// The ids of the functions that list parameters, which libcrypto also calls without a context:
    /// `gettable_ctx_params` and `settable_ctx_params`.
    pub(crate) fn lists(self) -> (c_int, c_int) {
        match self {
            Self::Digest => (13, 12),
            Self::Cipher => (13, 14),
            Self::Mac => (11, 12),
            Self::Kdf => (7, 8),
            Self::KeyManagement | Self::Random => (0, 0),
            Self::KeyExchange => (10, 8),
            Self::Signature => (19, 21),
            Self::AsymmetricCipher | Self::Kem => (9, 11),
        }
    }
}

/// Key derivations that are also offered as key exchanges (EVP_KDF-HKDF(7)).
const KDFS: &[&str] = &["HKDF", "TLS1-PRF", "SCRYPT"];

/// A function as tables hold it.
macro_rules! erased {
    ($function:expr) => {
        $crate::shim::Shim::Wrapped({
            let function = $function;
            // SAFETY: a function pointer stays one; libcrypto casts it back by its id.
            unsafe {
                std::mem::transmute::<*const (), $crate::slot::Function>(function as *const ())
            }
        })
    };
}
use erased;

/// The provider's own function of that id, as the type it has.
macro_rules! inner {
    ($slot:expr, $id:expr, fn($($type:ty),* $(,)?) $(-> $result:ty)?) => {
        // SAFETY: the function of that id has that type (core_dispatch.h).
        unsafe {
            std::mem::transmute::<
                $crate::slot::Function,
                unsafe extern "C" fn($($type),*) $(-> $result)?,
            >($slot.function($id))
        }
    };
}
use inner;

/// A function that passes everything on and counts nothing.
macro_rules! forward {
    ($(#[$doc:meta])* $id:literal $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?) => {
        $(#[$doc])*
        unsafe extern "C" fn $name(
            context: $crate::slot::Pointer, $($argument: $type),*
        ) $(-> $result)? {
            // SAFETY: libcrypto passes a context that it got from us.
            let context = unsafe { $crate::context::Context::of(context) };
            let inner = $crate::shim::inner!(
                context.slot, $id, fn($crate::slot::Pointer, $($type),*) $(-> $result)?
            );
            // SAFETY: everything as it came, for the context that the provider made.
            unsafe { inner(context.inner, $($argument),*) }
        }
    };
}
use forward;

/// A function that passes everything on; `$after` gets the context, the answer and the ticks it took.
macro_rules! timed {
    (
        $(#[$doc:meta])*
        $id:literal $name:ident($($argument:ident: $type:ty),*) -> $result:ty,
        |$context:ident, $answer:pat_param, $ticks:pat_param| $after:expr
    ) => {
        $(#[$doc])*
        unsafe extern "C" fn $name(
            context: $crate::slot::Pointer, $($argument: $type),*
        ) -> $result {
            // SAFETY: libcrypto passes a context that it got from us.
            let $context = unsafe { $crate::context::Context::of(context) };
            let inner = $crate::shim::inner!(
                $context.slot, $id, fn($crate::slot::Pointer, $($type),*) -> $result
            );
            let start = $context.slot.now();
            // SAFETY: everything as it came, for the context that the provider made.
            let answer = unsafe { inner($context.inner, $($argument),*) };
            let $ticks = $context.slot.since(start);
            let $answer = answer;
            $after;
            answer
        }
    };
}
use timed;
