//! Stock's keys, and its generating them.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use outboard_provider_abi::keymgmt::List;
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Error, Params, ParamsMut, Receiver, Result, Selection, foreign};

use super::{Held, Implementation, Stock, call};
use crate::outboard::Shared;

type Functions = foreign::KeyManagement;

/// A key of stock's, owned.
pub(crate) struct Key {
    type_: Held<Functions>,
    raw: *mut c_void,
}

// SAFETY: OpenSSL's keys may be used from any thread.
unsafe impl Send for Key {}
// SAFETY: as above.
unsafe impl Sync for Key {}

impl Key {
    /// A key with nothing in it.
    pub(crate) fn empty(shared: &Arc<Shared>, name: &CStr) -> Result<Self> {
        let type_ = Held::of(shared, |stock| stock.keys.find(stock, name))?;
        let raw = call!(type_, new(type_.provider()) or ptr::null_mut());
        Self::own(type_, raw).ok_or(Error::silent())
    }

    /// Null is no key.
    fn own(type_: Held<Functions>, raw: *mut c_void) -> Option<Self> {
        (!raw.is_null()).then_some(Self { type_, raw })
    }

    /// The pointer by which stock knows it.
    pub(super) fn as_ptr(&self) -> *mut c_void {
        self.raw
    }

    pub(crate) fn import(&self, selection: Selection, params: Params<'_>) -> c_int {
        call!(self.type_, import(self.raw, selection.0, params.as_ptr()) or 0)
    }

    pub(crate) fn export(&self, selection: Selection, receiver: Receiver) -> c_int {
        let (callback, argument) = receiver.as_raw();
        call!(self.type_, export(self.raw, selection.0, callback, argument) or 0)
    }

    pub(crate) fn has(&self, selection: Selection) -> c_int {
        call!(self.type_, has(self.raw, selection.0) or 0)
    }

    pub(crate) fn matches(&self, other: Option<&Self>, selection: Selection) -> c_int {
        let other = other.map_or(ptr::null_mut(), Self::as_ptr);
        call!(self.type_, matches(self.raw, other, selection.0) or 0)
    }

    pub(crate) fn validate(&self, selection: Selection, check: c_int) -> c_int {
        call!(self.type_, validate(self.raw, selection.0, check) or 0)
    }

    pub(crate) fn duplicate(&self, selection: Selection) -> Option<Self> {
        let raw = call!(self.type_, dup(self.raw, selection.0) or ptr::null_mut());
        Self::own(self.type_.clone(), raw)
    }

    pub(crate) fn get(&self, mut params: ParamsMut<'_>) -> c_int {
        call!(self.type_, get_params(self.raw, params.as_mut_ptr()) or 0)
    }

    pub(crate) fn set(&self, params: Params<'_>) -> c_int {
        call!(self.type_, set_params(self.raw, params.as_ptr()) or 0)
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        call!(self.type_, free(self.raw) or ());
    }
}

/// Stock's generating a key, owned.
pub(crate) struct Generation {
    type_: Held<Functions>,
    raw: *mut c_void,
}

// SAFETY: OpenSSL's generations may move between threads.
unsafe impl Send for Generation {}

impl Generation {
    /// Begins; none where stock does not.
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        name: &CStr,
        selection: Selection,
        params: Params<'_>,
    ) -> Result<Option<Self>> {
        let type_ = Held::of(shared, |stock| stock.keys.find(stock, name))?;
        let raw = call!(
            type_,
            gen_init(type_.provider(), selection.0, params.as_ptr()) or ptr::null_mut()
        );
        Ok((!raw.is_null()).then_some(Self { type_, raw }))
    }

    pub(crate) fn set_template(&mut self, template: Option<&Key>) -> c_int {
        let template = template.map_or(ptr::null_mut(), Key::as_ptr);
        call!(self.type_, gen_set_template(self.raw, template) or 0)
    }

    pub(crate) fn set(&mut self, params: Params<'_>) -> c_int {
        call!(self.type_, gen_set_params(self.raw, params.as_ptr()) or 0)
    }

    pub(crate) fn get(&mut self, mut params: ParamsMut<'_>) -> c_int {
        call!(self.type_, gen_get_params(self.raw, params.as_mut_ptr()) or 0)
    }

    /// Makes the key.
    pub(crate) fn run(&mut self, progress: Receiver) -> Option<Key> {
        let (callback, argument) = progress.as_raw();
        let raw = call!(
            self.type_,
            generate(self.raw, callback, argument) or ptr::null_mut()
        );
        Key::own(self.type_.clone(), raw)
    }

    fn as_ptr(&self) -> *mut c_void {
        self.raw
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        call!(self.type_, gen_cleanup(self.raw) or ());
    }
}

impl Stock {
    /// What a list of descriptors says of a key type; null where there is none.
    pub(crate) fn describe_key(
        &self,
        name: &CStr,
        list: List,
        generation: Option<&Generation>,
    ) -> *const Param {
        let Some(type_) = self.keys.find(self, name) else {
            return ptr::null();
        };
        let provider = Implementation::provider(type_);
        let generation = generation.map_or(ptr::null_mut(), Generation::as_ptr);
        match list {
            List::Gettable => call!(type_, gettable_params(provider) or ptr::null()),
            List::Settable => call!(type_, settable_params(provider) or ptr::null()),
            List::GeneratorSettable => {
                call!(type_, gen_settable_params(generation, provider) or ptr::null())
            }
            List::GeneratorGettable => {
                call!(type_, gen_gettable_params(generation, provider) or ptr::null())
            }
            List::Import(selection) => {
                call!(type_, import_types_ex(provider, selection.0) or ptr::null())
            }
            List::Export(selection) => {
                call!(type_, export_types_ex(provider, selection.0) or ptr::null())
            }
        }
    }
}
