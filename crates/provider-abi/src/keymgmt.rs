//! Key management: what an implementation says, and the C functions made of it.
//!
//! A key is an immutable value behind an [`Arc`]. What libcrypto holds is a slot for one: importing
//! or setting a parameter puts a new value there, and an operation that began with the old one
//! keeps it. So no operation ever sees a key change under it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use crate::boundary::boundary;
use crate::context::Context;
use crate::core::Core;
use crate::error::Result;
use crate::params::{Params, ParamsMut};
use crate::provider::{Kind, Provider, State};
use crate::raw::{Callback, Dispatch, Param, keymgmt};
use crate::replaceable::Replaceable;

/// Which parts of a key are meant (`OSSL_KEYMGMT_SELECT_…`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection(pub c_int);

impl Selection {
    /// The private key.
    pub const PRIVATE: Selection = Selection(0x01);
    /// The public key.
    pub const PUBLIC: Selection = Selection(0x02);
    /// Both.
    pub const PAIR: Selection = Selection(0x03);
    /// Domain parameters, such as the curve.
    pub const DOMAIN: Selection = Selection(0x04);
    /// Other parameters, such as RSA-PSS restrictions.
    pub const OTHER: Selection = Selection(0x80);

    /// Whether any of those parts is meant.
    pub fn touches(self, parts: Selection) -> bool {
        self.0 & parts.0 != 0
    }
}

/// How thoroughly a key shall be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// Everything.
    Full,
    /// What costs little.
    Quick,
}

/// A key of one type (OpenSSL's provider-keymgmt(7)).
pub trait KeyManagement: Sized + Send + Sync + 'static {
    /// The provider it belongs to.
    type Provider: Provider;
    /// A key generation under way.
    type Generator: Send + 'static;

    /// Parameters that can be read from a key.
    const GETTABLE: &'static [Param];
    /// Parameters that can be set on a key.
    const SETTABLE: &'static [Param];
    /// Parameters of key generation.
    const GENERATOR_SETTABLE: &'static [Param];

    /// The algorithm that keys of this type are used with.
    fn operation_name(kind: Kind) -> &'static CStr;
    /// What import and export deal in.
    fn types(selection: Selection) -> &'static [Param];

    /// A key with nothing in it, of that variant of the type.
    fn empty(provider: &Self::Provider, variant: u8) -> Result<Self>;
    /// The key that the parameters describe, of the same variant as this empty one, or none to
    /// decline it, so that libcrypto leaves it to the provider it came from.
    fn import(&self, selection: Selection, params: Params<'_>) -> Result<Option<Self>>;
    /// Gives the parameters that describe the key; what the receiver answers.
    fn export(
        &self,
        selection: Selection,
        give: &mut dyn FnMut(*const Param) -> bool,
    ) -> Result<bool>;
    /// Whether all those parts are there.
    fn has(&self, selection: Selection) -> bool;
    /// Whether both keys agree in those parts.
    fn matches(&self, other: &Self, selection: Selection) -> Result<bool>;
    /// Whether those parts are valid.
    fn validate(&self, selection: Selection, check: Check) -> Result<bool>;
    /// A key with only those parts of this one.
    fn duplicate(&self, selection: Selection) -> Result<Self>;
    /// Answers parameters.
    fn get(&self, params: ParamsMut<'_>) -> Result<()>;
    /// The key with those parameters set.
    fn set(&self, params: Params<'_>) -> Result<Self>;

    /// Begins a key generation.
    fn generator(
        provider: &Self::Provider,
        variant: u8,
        selection: Selection,
    ) -> Result<Self::Generator>;
    /// Takes domain parameters from that key.
    fn generator_template(generator: &mut Self::Generator, template: &Self) -> Result<()>;
    /// Takes parameters.
    fn generator_set(generator: &mut Self::Generator, params: Params<'_>) -> Result<()>;
    /// Makes the key.
    fn generate(generator: &mut Self::Generator) -> Result<Self>;
}

/// The dispatch table of a key type. Types that differ in little more than their name, such as RSA
/// and RSA-PSS, are variants of one, so that their keys go into the same operations.
pub const fn table<K: KeyManagement, const VARIANT: u8>() -> &'static [Dispatch] {
    const {
        &[
            entry!(
                keymgmt::NEW,
                new::<K, VARIANT> as unsafe extern "C" fn(_) -> _
            ),
            entry!(keymgmt::FREE, free::<K> as unsafe extern "C" fn(_)),
            entry!(
                keymgmt::GEN_INIT,
                generator_init::<K, VARIANT> as unsafe extern "C" fn(_, _, _) -> _
            ),
            entry!(
                keymgmt::GEN_SET_TEMPLATE,
                generator_template::<K> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                keymgmt::GEN_SET_PARAMS,
                generator_set::<K> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                keymgmt::GEN_SETTABLE_PARAMS,
                generator_settable::<K> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                keymgmt::GEN,
                generate::<K> as unsafe extern "C" fn(_, _, _) -> _
            ),
            entry!(
                keymgmt::GEN_CLEANUP,
                generator_free::<K> as unsafe extern "C" fn(_)
            ),
            entry!(
                keymgmt::GET_PARAMS,
                get::<K> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                keymgmt::GETTABLE_PARAMS,
                gettable::<K> as unsafe extern "C" fn(_) -> _
            ),
            entry!(
                keymgmt::SET_PARAMS,
                set::<K> as unsafe extern "C" fn(_, _) -> _
            ),
            entry!(
                keymgmt::SETTABLE_PARAMS,
                settable::<K> as unsafe extern "C" fn(_) -> _
            ),
            entry!(
                keymgmt::QUERY_OPERATION_NAME,
                operation_name::<K> as unsafe extern "C" fn(_) -> _
            ),
            entry!(keymgmt::HAS, has::<K> as unsafe extern "C" fn(_, _) -> _),
            entry!(
                keymgmt::VALIDATE,
                validate::<K> as unsafe extern "C" fn(_, _, _) -> _
            ),
            entry!(
                keymgmt::MATCH,
                matches::<K> as unsafe extern "C" fn(_, _, _) -> _
            ),
            entry!(
                keymgmt::IMPORT,
                import::<K> as unsafe extern "C" fn(_, _, _) -> _
            ),
            entry!(
                keymgmt::IMPORT_TYPES,
                types::<K> as unsafe extern "C" fn(_) -> _
            ),
            entry!(
                keymgmt::EXPORT,
                export::<K> as unsafe extern "C" fn(_, _, _, _) -> _
            ),
            entry!(
                keymgmt::EXPORT_TYPES,
                types::<K> as unsafe extern "C" fn(_) -> _
            ),
            entry!(
                keymgmt::DUP,
                duplicate::<K> as unsafe extern "C" fn(_, _) -> _
            ),
            Dispatch::END,
        ]
    }
}

/// What libcrypto holds: a slot for a key.
struct Slot<K: KeyManagement> {
    core: Core,
    /// The provider's state, which libcrypto keeps for as long as any of its keys.
    state: *const State<K::Provider>,
    key: Replaceable<K>,
}

impl<K: KeyManagement> Slot<K> {
    fn give(state: &State<K::Provider>, make: impl FnOnce() -> Result<K>) -> *mut c_void {
        boundary(state.core, ptr::null_mut(), || {
            let key = Replaceable::new(make()?);
            let slot = Self {
                core: state.core,
                state,
                key,
            };
            Ok(Box::into_raw(Box::new(slot)).cast())
        })
    }

    /// Runs `body` on the slot; `otherwise` where libcrypto passes none, as it does for a key whose
    /// type alone is known.
    ///
    /// # Safety
    /// `slot` is null, or from [`Slot::give`] for the same `K` and not freed.
    unsafe fn with<R>(
        slot: *const c_void,
        otherwise: R,
        body: impl FnOnce(&Self) -> Result<R>,
    ) -> R {
        // SAFETY: by the caller's word.
        match unsafe { slot.cast::<Self>().as_ref() } {
            Some(slot) => boundary(slot.core, otherwise, || body(slot)),
            None => otherwise,
        }
    }

    fn key(&self) -> Arc<K> {
        self.key.share()
    }

    fn put(&self, key: K) {
        self.key.replace(key);
    }
}

/// The key in a slot that libcrypto passes to an operation; none where it passes none.
///
/// # Safety
/// `slot` is null, or from this module's `new`, `generate` or `duplicate` for the same `K` and alive.
pub(crate) unsafe fn key_of<K: KeyManagement>(slot: *const c_void) -> Option<Arc<K>> {
    // SAFETY: by the caller's word.
    unsafe { slot.cast::<Slot<K>>().as_ref() }.map(Slot::key)
}

/// A key generation, with what it takes to make a slot of its result.
struct Generation<K: KeyManagement> {
    state: *const State<K::Provider>,
    generator: K::Generator,
}

// SAFETY of every function below: libcrypto calls with the types and lifetimes of
// provider-keymgmt(7): slots made here and not yet freed; generations used by one thread at a time;
// arrays of parameters that end with a null key.

unsafe extern "C" fn new<K: KeyManagement, const VARIANT: u8>(
    provider: *mut c_void,
) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<K::Provider>::of(provider) };
    Slot::<K>::give(state, || K::empty(&state.provider, VARIANT))
}

unsafe extern "C" fn free<K: KeyManagement>(slot: *mut c_void) {
    if !slot.is_null() {
        // SAFETY: made by `Box::into_raw` in `Slot::give`; never used again.
        let slot = unsafe { Box::from_raw(slot.cast::<Slot<K>>()) };
        boundary(slot.core, (), || {
            drop(slot);
            Ok(())
        });
    }
}

unsafe extern "C" fn generator_init<K: KeyManagement, const VARIANT: u8>(
    provider: *mut c_void,
    selection: c_int,
    params: *const Param,
) -> *mut c_void {
    // SAFETY: the pointer that `OSSL_provider_init` gave out.
    let state = unsafe { State::<K::Provider>::of(provider) };
    // SAFETY: see above.
    let params = unsafe { Params::new(params) };
    Context::make(state.core, || {
        let mut generator = K::generator(&state.provider, VARIANT, Selection(selection))?;
        K::generator_set(&mut generator, params)?;
        Ok(Generation::<K> { state, generator })
    })
}

unsafe extern "C" fn generator_template<K: KeyManagement>(
    generation: *mut c_void,
    template: *mut c_void,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<Generation<K>>::with(generation, 0, |generation| {
            let Some(template) = key_of::<K>(template) else {
                return Ok(0);
            };
            K::generator_template(&mut generation.generator, &template)?;
            Ok(1)
        })
    }
}

unsafe extern "C" fn generator_set<K: KeyManagement>(
    generation: *mut c_void,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<Generation<K>>::with(generation, 0, |generation| {
            K::generator_set(&mut generation.generator, Params::new(params)).map(|()| 1)
        })
    }
}

unsafe extern "C" fn generator_settable<K: KeyManagement>(
    _generation: *mut c_void,
    _provider: *mut c_void,
) -> *const Param {
    K::GENERATOR_SETTABLE.as_ptr()
}

unsafe extern "C" fn generate<K: KeyManagement>(
    generation: *mut c_void,
    _progress: Option<Callback>,
    _argument: *mut c_void,
) -> *mut c_void {
    // SAFETY: see above; the provider outlives its generations.
    unsafe {
        Context::<Generation<K>>::with(generation, ptr::null_mut(), |generation| {
            Ok(Slot::<K>::give(&*generation.state, || {
                K::generate(&mut generation.generator)
            }))
        })
    }
}

unsafe extern "C" fn generator_free<K: KeyManagement>(generation: *mut c_void) {
    // SAFETY: see above.
    unsafe { Context::<Generation<K>>::free(generation) };
}

unsafe extern "C" fn get<K: KeyManagement>(slot: *mut c_void, params: *mut Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Slot::<K>::with(slot, 0, |slot| {
            slot.key().get(ParamsMut::new(params)).map(|()| 1)
        })
    }
}

unsafe extern "C" fn gettable<K: KeyManagement>(_provider: *mut c_void) -> *const Param {
    K::GETTABLE.as_ptr()
}

unsafe extern "C" fn set<K: KeyManagement>(slot: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Slot::<K>::with(slot, 0, |slot| {
            let params = Params::new(params);
            if !params.is_empty() {
                slot.put(slot.key().set(params)?);
            }
            Ok(1)
        })
    }
}

unsafe extern "C" fn settable<K: KeyManagement>(_provider: *mut c_void) -> *const Param {
    K::SETTABLE.as_ptr()
}

unsafe extern "C" fn operation_name<K: KeyManagement>(operation_id: c_int) -> *const c_char {
    let kinds = [
        Kind::Signature,
        Kind::KeyExchange,
        Kind::Cipher,
        Kind::KeyManagement,
    ];
    let kind = kinds
        .into_iter()
        .find(|kind| kind.operation_id() == operation_id);
    K::operation_name(kind.unwrap_or(Kind::KeyManagement)).as_ptr()
}

unsafe extern "C" fn has<K: KeyManagement>(slot: *const c_void, selection: c_int) -> c_int {
    // SAFETY: see above.
    unsafe {
        Slot::<K>::with(slot, 0, |slot| {
            Ok(slot.key().has(Selection(selection)).into())
        })
    }
}

unsafe extern "C" fn validate<K: KeyManagement>(
    slot: *const c_void,
    selection: c_int,
    check: c_int,
) -> c_int {
    let check = if check == 1 {
        Check::Quick
    } else {
        Check::Full
    };
    // SAFETY: see above.
    unsafe {
        Slot::<K>::with(slot, 0, |slot| {
            Ok(slot.key().validate(Selection(selection), check)?.into())
        })
    }
}

unsafe extern "C" fn matches<K: KeyManagement>(
    one: *const c_void,
    other: *const c_void,
    selection: c_int,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Slot::<K>::with(one, 0, |one| {
            let Some(other) = key_of::<K>(other) else {
                return Ok(0);
            };
            Ok(one.key().matches(&other, Selection(selection))?.into())
        })
    }
}

unsafe extern "C" fn import<K: KeyManagement>(
    slot: *mut c_void,
    selection: c_int,
    params: *const Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Slot::<K>::with(slot, 0, |slot| {
            match slot
                .key()
                .import(Selection(selection), Params::new(params))?
            {
                Some(key) => {
                    slot.put(key);
                    Ok(1)
                }
                None => Ok(0),
            }
        })
    }
}

unsafe extern "C" fn types<K: KeyManagement>(selection: c_int) -> *const Param {
    K::types(Selection(selection)).as_ptr()
}

unsafe extern "C" fn export<K: KeyManagement>(
    slot: *mut c_void,
    selection: c_int,
    callback: Option<Callback>,
    argument: *mut c_void,
) -> c_int {
    let Some(callback) = callback else { return 0 };
    // SAFETY: see above; the callback's argument is libcrypto's own.
    unsafe {
        Slot::<K>::with(slot, 0, |slot| {
            let given = slot.key().export(Selection(selection), &mut |params| {
                callback(params, argument) == 1
            })?;
            Ok(given.into())
        })
    }
}

unsafe extern "C" fn duplicate<K: KeyManagement>(
    slot: *const c_void,
    selection: c_int,
) -> *mut c_void {
    // SAFETY: see above; the provider outlives its keys.
    unsafe {
        Slot::<K>::with(slot, ptr::null_mut(), |slot| {
            Ok(Slot::<K>::give(&*slot.state, || {
                slot.key().duplicate(Selection(selection))
            }))
        })
    }
}
