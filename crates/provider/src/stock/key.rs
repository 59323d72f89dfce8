//! A key held by the default provider.

use std::ffi::CStr;
use std::ptr;

use outboard_libcrypto::{Context, Functions, sys};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Check, Error, ParamList, Params, Result, Selection};

use super::{Receiver, Stock, check, pass_on};

/// A key held by the default provider, owned.
pub(crate) struct Key {
    context: Context,
    raw: *mut sys::EVP_PKEY,
}

// SAFETY: OpenSSL's keys lock what they change behind a const pointer.
unsafe impl Send for Key {}
// SAFETY: as above.
unsafe impl Sync for Key {}

impl Key {
    /// The key of that type which the parameters describe.
    pub(crate) fn import(
        stock: &Stock,
        kind: &CStr,
        selection: Selection,
        params: *const Param,
    ) -> Result<Self> {
        let f = stock.functions();
        // SAFETY: a live context and names; the parameters are whole for the call.
        unsafe {
            let operation = Maker::new(stock, kind)?;
            check((f.EVP_PKEY_fromdata_init)(operation.raw))?;
            let mut raw = ptr::null_mut();
            // The parameters are not written to, whatever the prototype says.
            check((f.EVP_PKEY_fromdata)(
                operation.raw,
                &raw mut raw,
                selection.0,
                params.cast_mut().cast(),
            ))?;
            Self::own(stock.context.clone(), raw)
        }
    }

    /// Makes a key, or with [`Selection::DOMAIN`] alone only its parameters.
    pub(crate) fn generate(
        stock: &Stock,
        kind: &CStr,
        selection: Selection,
        params: &ParamList,
    ) -> Result<Self> {
        let f = stock.functions();
        // SAFETY: a live context and names; the parameters are whole for the call.
        unsafe {
            let operation = Maker::new(stock, kind)?;
            check(if selection.touches(Selection::PAIR) {
                (f.EVP_PKEY_keygen_init)(operation.raw)
            } else {
                (f.EVP_PKEY_paramgen_init)(operation.raw)
            })?;
            if !params.is_empty() {
                check(params.with_array(|params| {
                    (f.EVP_PKEY_CTX_set_params)(operation.raw, params.cast())
                }))?;
            }
            let mut raw = ptr::null_mut();
            check((f.EVP_PKEY_generate)(operation.raw, &raw mut raw))?;
            Self::own(stock.context.clone(), raw)
        }
    }

    /// Gives the parameters that describe the key; what the receiver answers.
    pub(crate) fn export(
        &self,
        selection: Selection,
        give: &mut dyn FnMut(*const Param) -> bool,
    ) -> Result<bool> {
        let mut answer = None;
        let mut receive = |params: *const Param| *answer.insert(give(params));
        let mut receiver: Receiver<'_> = &mut receive;
        // The callback sees the default provider's own copy, which is wiped; EVP_PKEY_todata would make
        // another that is not.
        // SAFETY: a live key; the receiver lives for the call.
        let exported = unsafe {
            (self.functions().EVP_PKEY_export)(
                self.raw,
                selection.0,
                pass_on,
                (&raw mut receiver).cast(),
            )
        };
        match answer {
            Some(given) => Ok(given),
            None => check(exported).map(|()| true),
        }
    }

    /// Whether all those parts are there.
    pub(crate) fn has(&self, selection: Selection) -> bool {
        let wanted = selection.0 & (Selection::PAIR.0 | Selection::DOMAIN.0);
        // No half comes without the group, nor the private one without the public.
        let asked = if selection.touches(Selection::PRIVATE) {
            Selection::PAIR.0
        } else {
            wanted
        };
        let mut found = Selection(0);
        let given = self.export(Selection(asked | Selection::DOMAIN.0), &mut |params| {
            // SAFETY: the default provider's array, whole for the call.
            for param in unsafe { Params::new(params) } {
                found.0 |= match param.key() {
                    b"priv" | b"d" => Selection::PRIVATE.0,
                    b"pub" | b"n" => Selection::PUBLIC.0,
                    b"group" | b"p" => Selection::DOMAIN.0,
                    _ => 0,
                };
            }
            true
        });
        given.is_ok() && found.0 & wanted == wanted
    }

    /// The most bytes that an operation with it puts out.
    pub(crate) fn size(&self) -> usize {
        // SAFETY: a live key.
        let size = unsafe { (self.functions().EVP_PKEY_get_size)(self.raw) };
        usize::try_from(size).unwrap_or(0)
    }

    /// Answers parameters.
    pub(crate) fn get(&self, params: *mut Param) -> Result<()> {
        // SAFETY: a live key; the caller's array.
        check(unsafe { (self.functions().EVP_PKEY_get_params)(self.raw, params.cast()) })
    }

    /// A key with those parameters set.
    pub(crate) fn with(&self, params: *const Param) -> Result<Self> {
        let f = self.functions();
        // SAFETY: a live key and a copy that only we have; the parameters are not written to.
        unsafe {
            let copy = Self::own(self.context.clone(), (f.EVP_PKEY_dup)(self.raw))?;
            check((f.EVP_PKEY_set_params)(copy.raw, params.cast_mut().cast()))?;
            Ok(copy)
        }
    }

    /// Whether both keys agree, in their parameters alone or in their public halves too.
    pub(crate) fn matches(&self, other: &Self, selection: Selection) -> bool {
        let f = self.functions();
        // SAFETY: live keys.
        unsafe {
            if selection.touches(Selection::PAIR) {
                (f.EVP_PKEY_eq)(self.raw, other.raw) == 1
            } else {
                (f.EVP_PKEY_parameters_eq)(self.raw, other.raw) == 1
            }
        }
    }

    /// Whether those parts are valid.
    pub(crate) fn validate(&self, selection: Selection, how: Check) -> Result<bool> {
        let f = self.functions();
        let quick = how == Check::Quick;
        // SAFETY: a live key and operation.
        unsafe {
            let operation = Operation::new(self)?;
            let raw = operation.raw;
            let pair = selection.0 & Selection::PAIR.0;
            Ok(1 == match (pair, quick) {
                (pair, _) if pair == Selection::PAIR.0 => (f.EVP_PKEY_pairwise_check)(raw),
                (pair, _) if pair == Selection::PRIVATE.0 => (f.EVP_PKEY_private_check)(raw),
                (pair, true) if pair == Selection::PUBLIC.0 => (f.EVP_PKEY_public_check_quick)(raw),
                (pair, false) if pair == Selection::PUBLIC.0 => (f.EVP_PKEY_public_check)(raw),
                (_, true) => (f.EVP_PKEY_param_check_quick)(raw),
                (_, false) => (f.EVP_PKEY_param_check)(raw),
            })
        }
    }

    pub(super) fn as_ptr(&self) -> *mut sys::EVP_PKEY {
        self.raw
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn functions(&self) -> &Functions {
        self.context.library().functions()
    }

    /// # Safety
    /// `raw` is null or a live key of the context's library that nobody else frees.
    unsafe fn own(context: Context, raw: *mut sys::EVP_PKEY) -> Result<Self> {
        if raw.is_null() {
            Err(Error::in_queue())
        } else {
            Ok(Self { context, raw })
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: ours, and dropped once.
        unsafe { (self.functions().EVP_PKEY_free)(self.raw) };
    }
}

/// An operation with a key, owned.
pub(super) struct Operation<'a> {
    key: &'a Key,
    pub(super) raw: *mut sys::EVP_PKEY_CTX,
}

impl<'a> Operation<'a> {
    pub(super) fn new(key: &'a Key) -> Result<Self> {
        // SAFETY: a live context and key, to which the operation keeps a reference of its own.
        let raw = unsafe {
            (key.functions().EVP_PKEY_CTX_new_from_pkey)(key.context.as_ptr(), key.raw, ptr::null())
        };
        if raw.is_null() {
            Err(Error::in_queue())
        } else {
            Ok(Self { key, raw })
        }
    }

    /// Gives the operation up to the caller, who frees it.
    pub(super) fn into_raw(self) -> *mut sys::EVP_PKEY_CTX {
        let raw = self.raw;
        std::mem::forget(self);
        raw
    }
}

impl Drop for Operation<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and dropped once.
        unsafe { (self.key.functions().EVP_PKEY_CTX_free)(self.raw) };
    }
}

/// An operation that makes keys of a type, owned.
struct Maker<'a> {
    stock: &'a Stock,
    raw: *mut sys::EVP_PKEY_CTX,
}

impl<'a> Maker<'a> {
    fn new(stock: &'a Stock, kind: &CStr) -> Result<Self> {
        // SAFETY: a live context and a terminated name.
        let raw = unsafe {
            (stock.functions().EVP_PKEY_CTX_new_from_name)(
                stock.context.as_ptr(),
                kind.as_ptr(),
                ptr::null(),
            )
        };
        if raw.is_null() {
            Err(Error::in_queue())
        } else {
            Ok(Self { stock, raw })
        }
    }
}

impl Drop for Maker<'_> {
    fn drop(&mut self) {
        // SAFETY: ours, and dropped once.
        unsafe { (self.stock.functions().EVP_PKEY_CTX_free)(self.raw) };
    }
}
