//! One algorithm as stock implements it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use once_cell::race::OnceBox;
use outboard_libcrypto::{Providers, sys};
use outboard_provider_abi::foreign;

use super::{NOT_OURS, Stock};

/// An algorithm, and stock's implementation once it was asked for.
pub(crate) struct Source<F> {
    name: &'static CStr,
    found: OnceBox<Option<Implementation<F>>>,
}

/// Stock's implementation of an algorithm.
pub(crate) struct Implementation<F> {
    functions: F,
    /// The context of the provider that it belongs to.
    provider: *mut c_void,
    owner: *const sys::OSSL_PROVIDER,
    /// libcrypto's object of it, which keeps the provider alive.
    method: *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
}

// SAFETY: a provider's functions and context may be used from any thread.
unsafe impl<F: Send> Send for Implementation<F> {}
// SAFETY: as above.
unsafe impl<F: Sync> Sync for Implementation<F> {}

/// How libcrypto finds algorithms of one kind.
struct Kind {
    fetch:
        unsafe extern "C" fn(*mut sys::OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut c_void,
    provider: unsafe extern "C" fn(*const c_void) -> *const sys::OSSL_PROVIDER,
    free: unsafe extern "C" fn(*mut c_void),
}

impl Kind {
    fn of(operation: c_int, providers: &Providers) -> Option<Self> {
        Some(match operation {
            4 => Self {
                fetch: providers.EVP_KDF_fetch,
                provider: providers.EVP_KDF_get0_provider,
                free: providers.EVP_KDF_free,
            },
            10 => Self {
                fetch: providers.EVP_KEYMGMT_fetch,
                provider: providers.EVP_KEYMGMT_get0_provider,
                free: providers.EVP_KEYMGMT_free,
            },
            11 => Self {
                fetch: providers.EVP_KEYEXCH_fetch,
                provider: providers.EVP_KEYEXCH_get0_provider,
                free: providers.EVP_KEYEXCH_free,
            },
            12 => Self {
                fetch: providers.EVP_SIGNATURE_fetch,
                provider: providers.EVP_SIGNATURE_get0_provider,
                free: providers.EVP_SIGNATURE_free,
            },
            13 => Self {
                fetch: providers.EVP_ASYM_CIPHER_fetch,
                provider: providers.EVP_ASYM_CIPHER_get0_provider,
                free: providers.EVP_ASYM_CIPHER_free,
            },
            _ => return None,
        })
    }
}

impl<F: foreign::Functions> Source<F> {
    pub(super) fn of(name: &'static CStr) -> Self {
        Self {
            name,
            found: OnceBox::new(),
        }
    }

    pub(super) fn name(&self) -> &'static CStr {
        self.name
    }

    /// Stock's implementation; none where there is none to be had.
    pub(super) fn implementation(&self, stock: &Stock) -> Option<&Implementation<F>> {
        self.found
            .get_or_init(|| Box::new(self.find(stock)))
            .as_ref()
    }

    fn find(&self, stock: &Stock) -> Option<Implementation<F>> {
        let program = stock.core.library_context().cast();
        // What is missed is found elsewhere: no error stays.
        let found = stock.in_silence(|| self.fetch(stock, program, NOT_OURS.as_ptr()));
        found.or_else(|| self.fetch(stock, stock.own()?.context(), ptr::null()))
    }

    fn fetch(
        &self,
        stock: &Stock,
        context: *mut sys::OSSL_LIB_CTX,
        query: *const c_char,
    ) -> Option<Implementation<F>> {
        let kind = Kind::of(F::OPERATION, &stock.providers)?;
        // SAFETY: a live context and terminated texts; the provider lives as long as the method, and its
        // tables as long as it.
        unsafe {
            let method = (kind.fetch)(context, self.name.as_ptr(), query);
            if method.is_null() {
                return None;
            }
            let provider = (kind.provider)(method);
            let list = stock.query(provider, F::OPERATION);
            let name = self.name.to_str().ok()?;
            let ours = ptr::eq(provider.cast(), stock.core.handle());
            let Some(algorithm) = foreign::algorithm(list, name).filter(|_| !ours) else {
                (kind.free)(method);
                return None;
            };
            Some(Implementation {
                functions: F::read(algorithm.implementation),
                provider: (stock.providers.OSSL_PROVIDER_get0_provider_ctx)(provider),
                owner: provider,
                method,
                free: kind.free,
            })
        }
    }
}

impl<F> Implementation<F> {
    /// Its functions.
    pub(super) fn functions(&self) -> &F {
        &self.functions
    }

    /// Its provider.
    pub(super) fn owner(&self) -> *const sys::OSSL_PROVIDER {
        self.owner
    }

    /// The context of its provider.
    pub(super) fn provider(&self) -> *mut c_void {
        self.provider
    }
}

impl<F> Drop for Implementation<F> {
    fn drop(&mut self) {
        // SAFETY: fetched here, and freed once.
        unsafe { (self.free)(self.method) };
    }
}
