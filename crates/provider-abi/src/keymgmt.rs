//! Key management: what an implementation says, and the C functions made of it.
//!
//! A key is an immutable value behind an [`Arc`]. What libcrypto holds is a slot for one: importing
//! or setting a parameter puts a new value there, and an operation that began with the old one
//! keeps it. So no operation ever sees a key change under it.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

use crate::arguments::Receiver;
use crate::boundary::{boundary, release};
use crate::context::Context;
use crate::core::Core;
use crate::error::Result;
use crate::offer::{Offer, ours};
use crate::params::{Params, ParamsMut};
use crate::provider::{Provider, State};
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
    /// All of a key.
    pub const ALL: Selection = Selection(0x87);

    /// Whether any of those parts is meant.
    pub fn touches(self, parts: Selection) -> bool {
        self.0 & parts.0 != 0
    }
}

/// What became of a key that was to change: what libcrypto gets to hear, and the key that takes its place.
pub struct Change<K> {
    /// The answer.
    pub answer: c_int,
    /// The new key; none leaves the old one.
    pub key: Option<K>,
}

/// A key of one type (OpenSSL's provider-keymgmt(7)). What the functions answer, libcrypto gets; an error
/// answers 0.
pub trait KeyManagement: Sized + Send + Sync + 'static {
    /// The provider it belongs to.
    type Provider: Provider;
    /// A key generation under way.
    type Generator: Send + 'static;

    /// A key with nothing in it, of that variant of the type.
    fn empty(provider: &Self::Provider, variant: u8) -> Result<Self>;
    /// The key with what the parameters describe.
    fn import(&self, selection: Selection, params: Params<'_>) -> Result<Change<Self>>;
    /// Gives the parameters that describe the key.
    fn export(&self, selection: Selection, receiver: Receiver) -> Result<c_int>;
    /// Whether all those parts are there.
    fn has(&self, selection: Selection) -> Result<c_int>;
    /// Whether both keys agree in those parts.
    fn matches(&self, other: Option<&Self>, selection: Selection) -> Result<c_int>;
    /// Whether those parts are valid.
    fn validate(&self, selection: Selection, check: c_int) -> Result<c_int>;
    /// A key with only those parts of this one; none answers null.
    fn duplicate(&self, selection: Selection) -> Result<Option<Self>>;
    /// Answers parameters.
    fn get(&self, params: ParamsMut<'_>) -> Result<c_int>;
    /// The key with those parameters set.
    fn set(&self, params: Params<'_>) -> Result<Change<Self>>;

    /// Begins a key generation; none answers null.
    fn generator(
        provider: &Self::Provider,
        variant: u8,
        selection: Selection,
        params: Params<'_>,
    ) -> Result<Option<Self::Generator>>;
    /// Takes domain parameters from that key.
    fn generator_template(
        generator: &mut Self::Generator,
        template: Option<Arc<Self>>,
    ) -> Result<c_int>;
    /// Takes parameters.
    fn generator_set(generator: &mut Self::Generator, params: Params<'_>) -> Result<c_int>;
    /// Answers parameters.
    fn generator_get(generator: &mut Self::Generator, params: ParamsMut<'_>) -> Result<c_int>;
    /// Makes the key, and tells of its progress; none answers null.
    fn generate(generator: &mut Self::Generator, progress: Receiver) -> Result<Option<Self>>;

    /// What import and export deal in, ended by [`END`](crate::params::END): for a type of which no other provider has an
    /// implementation ([`own`]).
    const TYPES: &'static [Param] = &[crate::params::END];

    /// What a list of descriptors says of a variant of the type.
    fn describe(
        provider: &Self::Provider,
        variant: u8,
        list: List,
        generator: Option<&mut Self::Generator>,
    ) -> *const Param;
}

/// A list of descriptors of a key type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// What can be read from a key.
    Gettable,
    /// What can be set on a key.
    Settable,
    /// What can be set on a key generation.
    GeneratorSettable,
    /// What can be read from one.
    GeneratorGettable,
    /// What import deals in.
    Import(Selection),
    /// What export deals in.
    Export(Selection),
}

/// What libcrypto cannot do without.
pub const NEEDED: &[i32] = &[keymgmt::FREE, keymgmt::NEW, keymgmt::HAS];

/// What becomes of another provider's function in a table of ours. Types that differ in little more than their
/// name, such as RSA and RSA-PSS, are variants of one, so that their keys go into the same operations.
pub fn offer<K: KeyManagement, const VARIANT: u8>(id: i32) -> Offer {
    match id {
        keymgmt::NEW => ours!(new::<K, VARIANT> as unsafe extern "C" fn(_) -> _),
        keymgmt::FREE => ours!(free::<K> as unsafe extern "C" fn(_)),
        keymgmt::GEN_INIT => {
            ours!(generator_init::<K, VARIANT> as unsafe extern "C" fn(_, _, _) -> _)
        }
        keymgmt::GEN_SET_TEMPLATE => {
            ours!(generator_template::<K> as unsafe extern "C" fn(_, _) -> _)
        }
        keymgmt::GEN_SET_PARAMS => ours!(generator_set::<K> as unsafe extern "C" fn(_, _) -> _),
        keymgmt::GEN_GET_PARAMS => ours!(generator_get::<K> as unsafe extern "C" fn(_, _) -> _),
        keymgmt::GEN_SETTABLE_PARAMS => {
            ours!(generator_settable::<K, VARIANT> as unsafe extern "C" fn(_, _) -> _)
        }
        keymgmt::GEN_GETTABLE_PARAMS => {
            ours!(generator_gettable::<K, VARIANT> as unsafe extern "C" fn(_, _) -> _)
        }
        keymgmt::GEN => ours!(generate::<K> as unsafe extern "C" fn(_, _, _) -> _),
        keymgmt::GEN_CLEANUP => ours!(generator_free::<K> as unsafe extern "C" fn(_)),
        // Loads what a decoder of the same provider gave out.
        keymgmt::LOAD => ours!(load as unsafe extern "C" fn(_, _) -> _),
        // Takes over an object of libcrypto's own, which it does not pass to others.
        keymgmt::NEW_EX => Offer::Omitted,
        keymgmt::GET_PARAMS => ours!(get::<K> as unsafe extern "C" fn(_, _) -> _),
        keymgmt::GETTABLE_PARAMS => ours!(gettable::<K, VARIANT> as unsafe extern "C" fn(_) -> _),
        keymgmt::SET_PARAMS => ours!(set::<K> as unsafe extern "C" fn(_, _) -> _),
        keymgmt::SETTABLE_PARAMS => ours!(settable::<K, VARIANT> as unsafe extern "C" fn(_) -> _),
        keymgmt::HAS => ours!(has::<K> as unsafe extern "C" fn(_, _) -> _),
        keymgmt::VALIDATE => ours!(validate::<K> as unsafe extern "C" fn(_, _, _) -> _),
        keymgmt::MATCH => ours!(matches::<K> as unsafe extern "C" fn(_, _, _) -> _),
        keymgmt::IMPORT => ours!(import::<K> as unsafe extern "C" fn(_, _, _) -> _),
        keymgmt::EXPORT => ours!(export::<K> as unsafe extern "C" fn(_, _, _, _) -> _),
        keymgmt::IMPORT_TYPES_EX => {
            ours!(import_types::<K, VARIANT> as unsafe extern "C" fn(_, _) -> _)
        }
        keymgmt::EXPORT_TYPES_EX => {
            ours!(export_types::<K, VARIANT> as unsafe extern "C" fn(_, _) -> _)
        }
        keymgmt::DUP => ours!(duplicate::<K> as unsafe extern "C" fn(_, _) -> _),
        keymgmt::QUERY_OPERATION_NAME | keymgmt::IMPORT_TYPES | keymgmt::EXPORT_TYPES => {
            Offer::Theirs
        }
        _ => Offer::Unknown,
    }
}

/// The functions of a variant of a type that no other provider has.
pub fn own<K: KeyManagement, const VARIANT: u8>() -> Box<[Dispatch]> {
    const IDS: &[i32] = &[
        keymgmt::NEW,
        keymgmt::FREE,
        keymgmt::GEN_INIT,
        keymgmt::GEN_SET_TEMPLATE,
        keymgmt::GEN_SET_PARAMS,
        keymgmt::GEN_SETTABLE_PARAMS,
        keymgmt::GEN,
        keymgmt::GEN_CLEANUP,
        keymgmt::LOAD,
        keymgmt::GET_PARAMS,
        keymgmt::GETTABLE_PARAMS,
        keymgmt::SET_PARAMS,
        keymgmt::SETTABLE_PARAMS,
        keymgmt::HAS,
        keymgmt::VALIDATE,
        keymgmt::MATCH,
        keymgmt::IMPORT,
        keymgmt::IMPORT_TYPES,
        keymgmt::EXPORT,
        keymgmt::EXPORT_TYPES,
        keymgmt::DUP,
    ];
    crate::offer::own(IDS, |id| match id {
        keymgmt::IMPORT_TYPES | keymgmt::EXPORT_TYPES => {
            ours!(types::<K> as unsafe extern "C" fn(_) -> _)
        }
        id => offer::<K, VARIANT>(id),
    })
}

/// What libcrypto holds: a slot for a key.
struct Slot<K: KeyManagement> {
    core: Core,
    /// The provider's state, which libcrypto keeps for as long as any of its keys.
    state: *const State<K::Provider>,
    key: Replaceable<K>,
}

impl<K: KeyManagement> Slot<K> {
    fn give(state: &State<K::Provider>, make: impl FnOnce() -> Result<Option<K>>) -> *mut c_void {
        boundary(&state.core, ptr::null_mut(), || {
            let Some(key) = make()? else {
                return Ok(ptr::null_mut());
            };
            let slot = Self {
                core: state.core,
                state,
                key: Replaceable::new(key),
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
            Some(slot) => boundary(&slot.core, otherwise, || body(slot)),
            None => otherwise,
        }
    }

    fn key(&self) -> Arc<K> {
        self.key.share()
    }

    fn change(&self, change: Change<K>) -> c_int {
        if let Some(key) = change.key {
            self.key.replace(key);
        }
        change.answer
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
    Slot::<K>::give(state, || K::empty(&state.provider, VARIANT).map(Some))
}

/// A slot with the key that the parameters describe; null where there is none.
pub(crate) fn imported<K: KeyManagement>(
    state: &State<K::Provider>,
    selection: Selection,
    params: Params<'_>,
) -> *mut c_void {
    Slot::<K>::give(state, || {
        let change = K::empty(&state.provider, 0)?.import(selection, params)?;
        Ok(change.key.filter(|_| change.answer == 1))
    })
}

/// A slot with that key; null where there is no memory for one.
pub(crate) fn slot<K: KeyManagement>(state: &State<K::Provider>, key: K) -> *mut c_void {
    Slot::<K>::give(state, || Ok(Some(key)))
}

/// Takes a slot out of a reference to it, which a decoder of ours gave out.
unsafe extern "C" fn load(reference: *mut c_void, size: usize) -> *mut c_void {
    if reference.is_null() || size != size_of::<*mut c_void>() {
        return ptr::null_mut();
    }
    // SAFETY: libcrypto passes references to the provider of the decoder alone, and to the key management of the type
    // that came with them: a pointer to a slot for the same `K`, which the decoder frees unless it finds null.
    unsafe { ptr::replace(reference.cast::<*mut c_void>(), ptr::null_mut()) }
}

/// # Safety
/// `slot` is null, or as for [`key_of`], and not used again.
pub(crate) unsafe extern "C" fn free<K: KeyManagement>(slot: *mut c_void) {
    if !slot.is_null() {
        // SAFETY: made by `Box::into_raw` in `Slot::give`; never used again.
        let slot = unsafe { Box::from_raw(slot.cast::<Slot<K>>()) };
        release(slot.core, || drop(slot));
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
        let generator = K::generator(&state.provider, VARIANT, Selection(selection), params)?;
        Ok(generator.map(|generator| Generation::<K> { state, generator }))
    })
}

unsafe extern "C" fn generator_template<K: KeyManagement>(
    generation: *mut c_void,
    template: *mut c_void,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<Generation<K>>::with(generation, 0, |generation| {
            K::generator_template(&mut generation.generator, key_of::<K>(template))
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
            K::generator_set(&mut generation.generator, Params::new(params))
        })
    }
}

unsafe extern "C" fn generator_get<K: KeyManagement>(
    generation: *mut c_void,
    params: *mut Param,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Context::<Generation<K>>::with(generation, 0, |generation| {
            K::generator_get(&mut generation.generator, ParamsMut::new(params))
        })
    }
}

unsafe extern "C" fn generate<K: KeyManagement>(
    generation: *mut c_void,
    progress: Option<Callback>,
    argument: *mut c_void,
) -> *mut c_void {
    // SAFETY: see above; the provider outlives its generations.
    unsafe {
        Context::<Generation<K>>::with(generation, ptr::null_mut(), |generation| {
            Ok(Slot::<K>::give(&*generation.state, || {
                K::generate(&mut generation.generator, Receiver::new(progress, argument))
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
    unsafe { Slot::<K>::with(slot, 0, |slot| slot.key().get(ParamsMut::new(params))) }
}

unsafe extern "C" fn set<K: KeyManagement>(slot: *mut c_void, params: *const Param) -> c_int {
    // SAFETY: see above.
    unsafe {
        Slot::<K>::with(slot, 0, |slot| {
            Ok(slot.change(slot.key().set(Params::new(params))?))
        })
    }
}

unsafe extern "C" fn has<K: KeyManagement>(slot: *const c_void, selection: c_int) -> c_int {
    // SAFETY: see above.
    unsafe { Slot::<K>::with(slot, 0, |slot| slot.key().has(Selection(selection))) }
}

unsafe extern "C" fn validate<K: KeyManagement>(
    slot: *const c_void,
    selection: c_int,
    check: c_int,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Slot::<K>::with(slot, 0, |slot| {
            slot.key().validate(Selection(selection), check)
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
            one.key()
                .matches(key_of::<K>(other).as_deref(), Selection(selection))
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
            let change = slot
                .key()
                .import(Selection(selection), Params::new(params))?;
            Ok(slot.change(change))
        })
    }
}

unsafe extern "C" fn export<K: KeyManagement>(
    slot: *mut c_void,
    selection: c_int,
    callback: Option<Callback>,
    argument: *mut c_void,
) -> c_int {
    // SAFETY: see above.
    unsafe {
        Slot::<K>::with(slot, 0, |slot| {
            slot.key()
                .export(Selection(selection), Receiver::new(callback, argument))
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

/// # Safety
/// `provider` is the pointer that `OSSL_provider_init` gave out.
unsafe fn describe<K: KeyManagement, const VARIANT: u8>(
    provider: *mut c_void,
    list: List,
    generation: *mut c_void,
) -> *const Param {
    // SAFETY: see above.
    unsafe {
        let state = State::<K::Provider>::of(provider);
        Context::<Generation<K>>::describe(generation, state.core, |generation| {
            let generator = generation.map(|generation| &mut generation.generator);
            K::describe(&state.provider, VARIANT, list, generator)
        })
    }
}

unsafe extern "C" fn gettable<K: KeyManagement, const VARIANT: u8>(
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: see above.
    unsafe { describe::<K, VARIANT>(provider, List::Gettable, ptr::null_mut()) }
}

unsafe extern "C" fn settable<K: KeyManagement, const VARIANT: u8>(
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: see above.
    unsafe { describe::<K, VARIANT>(provider, List::Settable, ptr::null_mut()) }
}

unsafe extern "C" fn generator_settable<K: KeyManagement, const VARIANT: u8>(
    generation: *mut c_void,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: see above.
    unsafe { describe::<K, VARIANT>(provider, List::GeneratorSettable, generation) }
}

unsafe extern "C" fn generator_gettable<K: KeyManagement, const VARIANT: u8>(
    generation: *mut c_void,
    provider: *mut c_void,
) -> *const Param {
    // SAFETY: see above.
    unsafe { describe::<K, VARIANT>(provider, List::GeneratorGettable, generation) }
}

unsafe extern "C" fn types<K: KeyManagement>(_selection: c_int) -> *const Param {
    K::TYPES.as_ptr()
}

unsafe extern "C" fn import_types<K: KeyManagement, const VARIANT: u8>(
    provider: *mut c_void,
    selection: c_int,
) -> *const Param {
    let list = List::Import(Selection(selection));
    // SAFETY: see above.
    unsafe { describe::<K, VARIANT>(provider, list, ptr::null_mut()) }
}

unsafe extern "C" fn export_types<K: KeyManagement, const VARIANT: u8>(
    provider: *mut c_void,
    selection: c_int,
) -> *const Param {
    let list = List::Export(Selection(selection));
    // SAFETY: see above.
    unsafe { describe::<K, VARIANT>(provider, list, ptr::null_mut()) }
}
