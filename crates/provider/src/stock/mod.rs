//! Stock: what the program would have without us, and what ours stand before.
//!
//! For each algorithm that we offer, the program's own library context is asked what it would fetch if we were
//! not there. That implementation's contexts and keys stand behind ours: they take every setting and answer every
//! question, and do every operation that the engine does not.
//!
//! ```text
//! libcrypto ──▶ our table ──▶ our context ──▶ engine              the operation itself, where all is plain
//!                                   └──────▶ stock's functions     everything else, and what the engine refuses
//! ```
//!
//! Our tables offer what the default provider's offer in this version of OpenSSL, function by function.

mod encoding;
mod encryption;
mod exchange;
mod implementation;
mod kdf;
mod key;
mod own;
mod signing;

pub(crate) use encoding::Encoding;
pub(crate) use encryption::{Encryption, Settings};
pub(crate) use exchange::Exchange;
pub(crate) use implementation::{Implementation, Source};
pub(crate) use kdf::Derivation;
pub(crate) use key::{Generation, Key};
pub(crate) use signing::Signing;

use std::ffi::{CStr, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use once_cell::race::OnceBox;
use outboard_libcrypto::{Providers, sys};
use outboard_provider_abi::raw::{Algorithm, Param};
use outboard_provider_abi::{Core, Error, Reason, Receiver, Result, foreign};

use crate::outboard::Shared;
use own::Own;

/// The property of all that is ours.
pub(crate) const OURS: &CStr = c"outboard.module=yes";
/// A query for what is not.
const NOT_OURS: &CStr = c"outboard.module!=yes";

/// Stock of one library context.
pub(crate) struct Stock {
    core: Core,
    providers: Providers,
    /// A default provider of our own, where the program has none.
    own: OnceBox<Option<&'static Own>>,
    pub(crate) kdfs: Sources<foreign::Kdf>,
    pub(crate) keys: Sources<foreign::KeyManagement>,
    pub(crate) exchanges: Sources<foreign::KeyExchange>,
    pub(crate) signatures: Sources<foreign::Signature>,
    pub(crate) encryptions: Sources<foreign::AsymmetricCipher>,
}

/// The algorithms of one kind that we may stand before.
pub(crate) struct Sources<F>(Vec<Source<F>>);

impl<F: foreign::Functions> Sources<F> {
    fn of(names: &[&'static CStr]) -> Self {
        Self(names.iter().map(|name| Source::of(name)).collect())
    }

    /// Stock's implementation of that algorithm.
    pub(crate) fn find(&self, stock: &Stock, name: &CStr) -> Option<&Implementation<F>> {
        let source = self.0.iter().find(|source| source.name() == name)?;
        source.implementation(stock)
    }
}

impl Stock {
    /// Of the library context that loaded us; none where that libcrypto cannot be reached.
    pub(crate) fn reach(core: &Core) -> Option<Self> {
        Some(Self {
            core: *core,
            providers: Providers::containing(core.address()?).ok()?,
            own: OnceBox::new(),
            kdfs: Sources::of(&[c"TLS13-KDF", c"TLS1-PRF", c"HKDF"]),
            keys: Sources::of(&[c"RSA", c"RSA-PSS", c"EC", c"X25519", c"ED25519"]),
            exchanges: Sources::of(&[c"ECDH", c"X25519"]),
            signatures: Sources::of(&[c"RSA", c"ECDSA", c"ED25519"]),
            encryptions: Sources::of(&[c"RSA"]),
        })
    }

    /// An algorithm as the default provider offers it: its names, and the table that ours has the shape of.
    pub(crate) fn algorithm<F: foreign::Functions>(&self, name: &CStr) -> Option<Algorithm> {
        let name = name.to_str().ok()?;
        self.with_default(|provider| {
            // SAFETY: the algorithms of a live provider, ended by a null name.
            unsafe {
                let list = self.query(provider, F::OPERATION);
                foreign::algorithm(list, name).copied()
            }
        })?
    }

    /// Gives each capability of that name until the receiver answers false.
    pub(crate) fn capabilities(&self, name: &CStr, give: &mut dyn FnMut(*const Param) -> bool) {
        self.with_default(|provider| {
            Receiver::with(give, |receiver| {
                let (Some(callback), argument) = receiver.as_raw() else {
                    return;
                };
                // SAFETY: a live provider, a terminated name, and what calls `give`. Both callbacks' types are
                // OSSL_CALLBACK's.
                unsafe {
                    let callback = std::mem::transmute::<
                        outboard_provider_abi::raw::Callback,
                        sys::ParamsCallback,
                    >(callback);
                    (self.providers.OSSL_PROVIDER_get_capabilities)(
                        provider,
                        name.as_ptr(),
                        callback,
                        argument,
                    );
                }
            });
        });
    }

    /// A provider's algorithms of an operation.
    ///
    /// # Safety
    /// A live provider.
    unsafe fn query(
        &self,
        provider: *const sys::OSSL_PROVIDER,
        operation: c_int,
    ) -> *const Algorithm {
        let mut no_cache = 0;
        // SAFETY: by the caller's word; the type is OSSL_ALGORITHM's.
        unsafe {
            (self.providers.OSSL_PROVIDER_query_operation)(provider, operation, &raw mut no_cache)
                .cast()
        }
    }

    /// Runs `body` with the default provider of the program's library context, or with one of our own where the
    /// program has none.
    fn with_default<R>(&self, mut body: impl FnMut(*const sys::OSSL_PROVIDER) -> R) -> Option<R> {
        let mut result = None;
        self.each_provider(&mut |provider| {
            // SAFETY: a live provider, whose name is terminated.
            let name = unsafe {
                CStr::from_ptr((self.providers.OSSL_PROVIDER_get0_name)(
                    provider.cast_const(),
                ))
            };
            if name != c"default" {
                return true;
            }
            result = Some(body(provider));
            false
        });
        result.or_else(|| Some(body(self.own()?.provider())))
    }

    /// Calls `visit` with each provider that is active in the program's library context until it answers false. No
    /// lock of libcrypto's is held meanwhile.
    fn each_provider(&self, mut visit: &mut dyn FnMut(*mut sys::OSSL_PROVIDER) -> bool) {
        unsafe extern "C" fn pass_on(
            provider: *mut sys::OSSL_PROVIDER,
            visit: *mut c_void,
        ) -> c_int {
            // SAFETY: the pointer below, to what outlives the call.
            let visit =
                unsafe { &mut *visit.cast::<&mut dyn FnMut(*mut sys::OSSL_PROVIDER) -> bool>() };
            catch_unwind(AssertUnwindSafe(|| visit(provider)))
                .is_ok_and(|on| on)
                .into()
        }
        // SAFETY: the context that loaded us, and a callback with its argument.
        unsafe {
            (self.providers.OSSL_PROVIDER_do_all)(
                self.core.library_context().cast(),
                pass_on,
                (&raw mut visit).cast(),
            );
        }
    }

    /// Runs `body`, and takes the errors away that it leaves in the queue.
    pub(crate) fn in_silence<R>(&self, body: impl FnOnce() -> R) -> R {
        // SAFETY: takes nothing.
        unsafe { (self.providers.ERR_set_mark)() };
        let result = body();
        // SAFETY: takes nothing.
        unsafe { (self.providers.ERR_pop_to_mark)() };
        result
    }

    fn own(&self) -> Option<&'static Own> {
        let find = || Own::of(self.core.address()?);
        *self.own.get_or_init(|| Box::new(find()))
    }
}

/// The error of a context that has no stock behind it.
pub(crate) fn unreachable() -> Error {
    Error::new(
        Reason::Unsupported,
        "the program's own implementation cannot be reached",
    )
}

/// Stock's implementation of an algorithm, held for a context or a key.
pub(crate) struct Held<F: foreign::Functions> {
    /// Of what `shared` keeps.
    implementation: *const Implementation<F>,
    shared: Arc<Shared>,
}

// SAFETY: implementations may be called from any thread, and so is what holds one.
unsafe impl<F: foreign::Functions> Send for Held<F> {}
// SAFETY: as above.
unsafe impl<F: foreign::Functions> Sync for Held<F> {}

impl<F: foreign::Functions> Held<F> {
    /// Holds what `find` finds.
    pub(crate) fn of(
        shared: &Arc<Shared>,
        find: impl FnOnce(&Stock) -> Option<&Implementation<F>>,
    ) -> Result<Self> {
        let implementation = shared.stock().and_then(find).ok_or_else(unreachable)?;
        Ok(Self {
            implementation,
            shared: Arc::clone(shared),
        })
    }
}

impl<F: foreign::Functions> Clone for Held<F> {
    fn clone(&self) -> Self {
        Self {
            implementation: self.implementation,
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<F: foreign::Functions> std::ops::Deref for Held<F> {
    type Target = Implementation<F>;

    fn deref(&self) -> &Implementation<F> {
        // SAFETY: `shared` keeps it, and never changes it.
        unsafe { &*self.implementation }
    }
}

/// Calls one of stock's functions; answers `otherwise` where it has none such.
macro_rules! call {
    ($held:expr, $name:ident($($argument:expr),* $(,)?) or $otherwise:expr) => {
        match $held.functions().$name {
            // SAFETY: contexts and keys are stock's own and alive, by one thread at a time; everything else is as
            // libcrypto passed it, or made here after the same rules.
            Some(function) => unsafe { function($($argument),*) },
            None => $otherwise,
        }
    };
}
use call;

/// What can be set on contexts of an algorithm, and read of them: on one, or on any.
macro_rules! describes {
    ($sources:ident of $context:ty: $settable:ident, $gettable:ident) => {
        impl Stock {
            pub(crate) fn $settable(&self, name: &CStr, context: Option<&$context>) -> *const Param {
                let Some(algorithm) = self.$sources.find(self, name) else {
                    return ptr::null();
                };
                let context = context.map_or(ptr::null_mut(), |context| context.raw);
                call!(algorithm, settable_ctx_params(context, algorithm.provider()) or ptr::null())
            }

            pub(crate) fn $gettable(&self, name: &CStr, context: Option<&$context>) -> *const Param {
                let Some(algorithm) = self.$sources.find(self, name) else {
                    return ptr::null();
                };
                let context = context.map_or(ptr::null_mut(), |context| context.raw);
                call!(algorithm, gettable_ctx_params(context, algorithm.provider()) or ptr::null())
            }
        }
    };
}
use describes;
