//! The OpenSSL provider `outboard-observe.so`: stands in for another provider, passes everything on to
//! it, and counts and times what it does.
//!
//! ```text
//! libcrypto ──▶ stand-in ──▶ shims (cipher, digest, mac, …) ──▶ the provider it stands in for
//!                                 └─▶ observation: the record
//! ```
//!
//! Transparency by construction: names, property definitions and parameters are the other
//! provider's own; its context is ours, so whatever is not wrapped (key management, encoders,
//! decoders, stores, randomness) is its own function; keys are never wrapped, so that they mean the
//! same to all. What is wrapped is a context: the other's, and beside it what was counted with it.
//! An algorithm that has a function we don't know passes through unobserved.
//!
//! The default provider is part of libcrypto, so a second one is loaded into a library context of
//! our own, and its tables are taken from there. A digest within an HMAC, a cipher within a
//! generator, is fetched in that context, so that nothing is counted twice.

mod context;
mod inner;
mod key;
mod living;
mod mark;
mod numbered;
mod params;
mod shim;
mod slot;
mod spare;
mod stand_in;

use std::ffi::{c_int, c_void};

use outboard_provider_abi::raw::{CoreHandle, Dispatch};

/// What libcrypto calls when it has loaded the module.
///
/// # Safety
/// Called by libcrypto alone, with what provider-base(7) says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn OSSL_provider_init(
    handle: *const CoreHandle,
    dispatch: *const Dispatch,
    out: *mut *const Dispatch,
    context: *mut *mut c_void,
) -> c_int {
    let outcome = std::panic::catch_unwind(|| {
        // SAFETY: passed on as they came.
        unsafe { stand_in::init(handle, dispatch, out, context) }
    });
    match outcome {
        Ok(Some(())) => 1,
        Ok(None) | Err(_) => 0,
    }
}
