//! The functions that stand in for a provider's, by kind of algorithm. Each passes on what it gets,
//! the context unwrapped, and counts what the provider did.
//!
//! Types are those of `openssl/core_dispatch.h`; a function exists for every id of OpenSSL 3.0 to 4.0.

mod asymmetric_cipher;
mod begin;
mod cipher;
mod decoder;
mod digest;
mod kdf;
mod kem;
mod keyexch;
mod keymgmt;
mod mac;
mod passing;
mod rand;
mod signature;

use std::ffi::c_int;

use outboard_observation::Operation;

use crate::slot::Function;
use crate::within::{CurrentJob, Pausing};

/// What is wrapped. The rest (encoders, stores) passes as it is.
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
    /// Only passed on.
    Decoder,
}

/// What becomes of a provider's function.
pub(crate) enum Shim {
    /// It is called by one of ours.
    Wrapped(Function),
    /// It is called by one of ours for each slot.
    BySlot(fn(usize) -> Function),
    /// It is called by one of ours for each such function; none if there are too many.
    ByFunction(fn(Function, CurrentJob) -> Option<Function>),
    /// It is no matter of ours: it takes no context.
    Kept,
    /// We don't know it.
    Unknown,
}

impl Kind {
    /// By `OSSL_OP_…`.
    pub(crate) fn of_operation(id: c_int) -> Option<Self> {
        Some(match id {
            1 => Self::Digest,
            2 => Self::Cipher,
            3 => Self::Mac,
            4 => Self::Kdf,
            5 => Self::Random,
            10 => Self::KeyManagement,
            11 => Self::KeyExchange,
            12 => Self::Signature,
            13 => Self::AsymmetricCipher,
            14 => Self::Kem,
            21 => Self::Decoder,
            _ => return None,
        })
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
            Self::KeyManagement | Self::Random | Self::Decoder => Operation::Generate,
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

    /// Whether an algorithm may use others within, and whether it may be left meanwhile.
    pub(crate) fn uses_others(self, algorithm: &str) -> Option<Pausing> {
        /// Modes of ciphers that use none; SIV uses a MAC.
        const SIMPLE: &[&str] = &["-GCM", "-CCM", "-CBC", "-CTR", "-ECB", "-Poly1305"];
        match self {
            Self::Digest => None,
            Self::Cipher if SIMPLE.iter().any(|mode| algorithm.ends_with(mode)) => None,
            Self::Cipher | Self::Mac | Self::Kdf | Self::Random | Self::Decoder => {
                Some(Pausing::Never)
            }
            Self::KeyManagement
            | Self::KeyExchange
            | Self::Signature
            | Self::AsymmetricCipher
            | Self::Kem => Some(Pausing::Possible),
        }
    }

    /// What becomes of the function of that id.
    pub(crate) fn shim(self, id: c_int) -> Shim {
        match self {
            Self::Digest => digest::shim(id),
            Self::Cipher => cipher::shim(id),
            Self::Mac => mac::shim(id),
            Self::Kdf => kdf::shim(id),
            Self::Random => rand::shim(id),
            Self::KeyManagement => keymgmt::shim(id),
            Self::KeyExchange => keyexch::shim(id),
            Self::Signature => signature::shim(id),
            Self::AsymmetricCipher => asymmetric_cipher::shim(id),
            Self::Kem => kem::shim(id),
            Self::Decoder => decoder::shim(id),
        }
    }
}

/// Key derivations that are also offered as key exchanges (EVP_KDF-HKDF(7)).
const KDFS: &[&str] = &["HKDF", "TLS1-PRF", "SCRYPT"];

/// A function as tables hold it.
macro_rules! erase {
    ($function:expr) => {{
        let function = $function;
        // SAFETY: a function pointer stays one; libcrypto casts it back by its id.
        unsafe { std::mem::transmute::<*const (), $crate::slot::Function>(function as *const ()) }
    }};
}
use erase;

/// A shim that is the same for all.
macro_rules! erased {
    ($function:expr) => {
        $crate::shim::Shim::Wrapped($crate::shim::erase!($function))
    };
}
use erased;

/// The provider's own function of that id, as the type it has.
macro_rules! inner {
    ($slot:expr, $id:expr, fn($($type:ty),* $(,)?) $(-> $result:ty)?) => {
        // SAFETY: only functions that are there are wrapped; that of that id has that type
        // (core_dispatch.h).
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
            let held = unsafe { $crate::context::Held::of(context) };
            let inner = $crate::shim::inner!(
                held.slot(), $id, fn($crate::slot::Pointer, $($type),*) $(-> $result)?
            );
            // SAFETY: everything as it came, for the context that the provider made.
            held.within(|| unsafe { inner(held.own(), $($argument),*) })
        }
    };
}
use forward;

/// A function that passes everything on; `$after` gets the context, the answer and the ticks it took.
/// `alone`: one in which the provider begins to use no other algorithm.
macro_rules! timed {
    (alone $($rest:tt)*) => {
        $crate::shim::timed!(@ alone $($rest)*);
    };
    (
        @ $within:ident $(#[$doc:meta])*
        $id:literal $name:ident($($argument:ident: $type:ty),*) -> $result:ty,
        |$context:ident, $answer:pat_param, $ticks:pat_param| $after:expr
    ) => {
        $(#[$doc])*
        unsafe extern "C" fn $name(
            context: $crate::slot::Pointer, $($argument: $type),*
        ) -> $result {
            /// Apart, for what is not counted comes by more often.
            #[inline(never)]
            unsafe fn counted(
                $context: &$crate::context::Context, $($argument: $type),*
            ) -> $result {
                let inner = $crate::shim::inner!(
                    $context.slot(), $id, fn($crate::slot::Pointer, $($type),*) -> $result
                );
                let clock = $context.clock();
                let start = clock.now();
                let answer = $context.$within(|| {
                    // SAFETY: everything as it came, for the context that the provider made.
                    unsafe { inner($context.inner(), $($argument),*) }
                });
                let $ticks = clock.now().wrapping_sub(start);
                let $answer = answer;
                $after;
                answer
            }

            // SAFETY: libcrypto passes a context that it got from us.
            match unsafe { $crate::context::Held::of(context) } {
                // SAFETY: everything as it came.
                $crate::context::Held::Counted(context) => unsafe {
                    counted(context, $($argument),*)
                },
                $crate::context::Held::Within(slot, own) => {
                    let inner = $crate::shim::inner!(
                        slot, $id, fn($crate::slot::Pointer, $($type),*) -> $result
                    );
                    slot.$within(|| {
                        // SAFETY: everything as it came, for the context that the provider made.
                        unsafe { inner(own, $($argument),*) }
                    })
                }
            }
        }
    };
    ($($rest:tt)*) => {
        $crate::shim::timed!(@ within $($rest)*);
    };
}
use timed;
