//! Key derivation: the engine derives what TLS asks for, stock does everything else.
//!
//! libssl makes a context, derives once with all parameters, and frees it. That is what the engine does. Its parameters
//! are noted; whatever else is done with the context goes to stock's, which hears them first.

mod hkdf;
mod tls13;
mod tls1_prf;

pub(crate) use hkdf::Hkdf;
pub(crate) use tls1_prf::Tls1Prf;
pub(crate) use tls13::Tls13;

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::sync::Arc;

use outboard_engine::ledger;
use outboard_engine::scalar::hmac::Hash;
use outboard_engine::scalar::wipe;
use outboard_engine::{Operation, Path};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{Kdf, Output, ParamRef, Params, ParamsMut, Result};

use crate::hashes::Algorithm as HashAlgorithm;
use crate::outboard::{Outboard, Shared};
use crate::owed::Owed;
use crate::stock;

/// What differs between key derivations.
pub(crate) trait Algorithm: Send + 'static {
    /// Its name.
    const NAME: &'static CStr;

    /// How the ledger calls it with that hash.
    fn operation(hash: HashAlgorithm) -> Operation;
    /// What is to be derived.
    type Plan<'a>;

    /// Reads the parameters; none where they are not plain: not all that is needed, or anything besides.
    fn plan(params: Params<'_>) -> Option<(HashAlgorithm, Self::Plan<'_>)>;
    /// Fills `output`; none where stock has to say why that cannot be.
    fn derive(plan: &Self::Plan<'_>, hash: Hash, output: &mut [u8]) -> Option<()>;
}

/// The most bytes that the engine derives: more than the longest block of keys of TLS 1.2.
const MOST: usize = 256;

/// A key derivation context.
pub(crate) struct Context<A> {
    shared: Arc<Shared>,
    /// What the engine has derived from.
    owed: Owed,
    /// Stock's context, from when it is first needed.
    stock: Option<stock::Derivation>,
    algorithm: PhantomData<A>,
}

impl<A: Algorithm> Context<A> {
    fn of(shared: Arc<Shared>, stock: Option<stock::Derivation>) -> Self {
        Self {
            shared,
            owed: Owed::NOTHING,
            stock,
            algorithm: PhantomData,
        }
    }

    /// Derives by the engine, for a context that is fresh; none where stock has to.
    fn derive_plain(&mut self, output: &mut Output<'_>, params: Params<'_>) -> Option<()> {
        let length = output.room();
        if self.stock.is_some() || !self.owed.is_empty() || length == 0 || length > MOST {
            return None;
        }
        let (hash, plan) = A::plan(params)?;
        let operation = A::operation(hash);
        if !self.shared.offers(operation) {
            return None;
        }
        let mut room = [0; MOST];
        let room = &mut room[..length];
        let derived = A::derive(&plan, self.shared.hashes().hash(hash), room);
        // Only now: what is derived may lie where a parameter does.
        let put = derived.is_some() && self.owed.note(params) && output.put(room);
        wipe(room);
        put.then(|| ledger::count(operation, Path::Scalar))
    }

    /// Stock's context, which has heard all.
    fn stock(&mut self) -> Result<&mut stock::Derivation> {
        if self.stock.is_none() {
            let mut stock = stock::Derivation::new(&self.shared, A::NAME)?;
            if !self.owed.is_empty() {
                self.owed.tell(|params| stock.set(params));
            }
            return Ok(self.stock.insert(stock));
        }
        self.stock.as_mut().ok_or_else(stock::unreachable)
    }
}

impl<A: Algorithm> Kdf for Context<A> {
    type Provider = Outboard;

    fn new(provider: &Outboard) -> Result<Option<Self>> {
        Ok(Some(Self::of(provider.shared(), None)))
    }

    fn duplicate(&mut self) -> Result<Option<Self>> {
        let stock = self.stock()?.duplicate()?;
        Ok(Some(Self::of(Arc::clone(&self.shared), Some(stock))))
    }

    fn reset(&mut self) {
        self.owed.forget();
        if let Some(stock) = &mut self.stock {
            stock.reset();
        }
    }

    fn derive(&mut self, mut output: Output<'_>, params: Params<'_>) -> Result<c_int> {
        if self.derive_plain(&mut output, params).is_some() {
            return Ok(1);
        }
        Ok(self.stock()?.derive(output, params))
    }

    fn set(&mut self, params: Params<'_>) -> Result<c_int> {
        Ok(self.stock()?.set(params))
    }

    fn get(&mut self, params: ParamsMut<'_>) -> Result<c_int> {
        Ok(self.stock()?.get(params))
    }

    fn settable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.and_then(|context| context.stock().ok());
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.settable_of_kdf(A::NAME, context.as_deref())
        })
    }

    fn gettable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.and_then(|context| context.stock().ok());
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.gettable_of_kdf(A::NAME, context.as_deref())
        })
    }
}

/// How HKDF is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Both,
    Extract,
    Expand,
}

/// A mode as a number or a text.
fn mode(param: &ParamRef<'_>) -> Option<Mode> {
    if let Ok(number) = param.integer() {
        return match number {
            0 => Some(Mode::Both),
            1 => Some(Mode::Extract),
            2 => Some(Mode::Expand),
            _ => None,
        };
    }
    let text = param.text().ok()?;
    let is = |name: &str| text.eq_ignore_ascii_case(name);
    match () {
        () if is("EXTRACT_AND_EXPAND") => Some(Mode::Both),
        () if is("EXTRACT_ONLY") => Some(Mode::Extract),
        () if is("EXPAND_ONLY") => Some(Mode::Expand),
        () => None,
    }
}

/// A value of at least one byte, seen for the first time. (Of several of one name stock takes the first, or all.)
fn once<'a>(place: &mut Option<&'a [u8]>, param: &ParamRef<'a>) -> Option<()> {
    let value = param.octets().ok().filter(|value| !value.is_empty())?;
    place.replace(value).is_none().then_some(())
}

/// A hash by name, seen for the first time.
fn hash_once(place: &mut Option<HashAlgorithm>, param: &ParamRef<'_>) -> Option<()> {
    let hash = HashAlgorithm::from_name(param.text().ok()?)?;
    place.replace(hash).is_none().then_some(())
}

/// Pieces of a value that several parameters make up.
#[derive(Default)]
struct Pieces<'a> {
    pieces: [&'a [u8]; 8],
    count: usize,
}

impl<'a> Pieces<'a> {
    fn push(&mut self, piece: &'a [u8]) -> Option<()> {
        *self.pieces.get_mut(self.count)? = piece;
        self.count += 1;
        Some(())
    }

    fn as_slice(&self) -> &[&'a [u8]] {
        &self.pieces[..self.count]
    }

    fn length(&self) -> usize {
        self.as_slice().iter().map(|piece| piece.len()).sum()
    }
}
