//! RSA keys: taken over from the default provider with all they came with.

use std::ffi::CStr;
use std::sync::Arc;

use once_cell::race::OnceBox;
use outboard_engine::Operation;
use outboard_engine::card;
use outboard_engine::scalar::rsa;
use outboard_provider_abi::params::{END, text, unsigned};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{
    Check, Error, KeyManagement, Kind, ParamList, Params, ParamsMut, Reason, Result, Selection,
    descriptors,
};
use zeroize::Zeroizing;

use crate::outboard::{Outboard, Shared};
use crate::signing::SigningKey;
use crate::stock;

/// The variant of plain RSA keys.
pub(crate) const RSA: u8 = 0;
/// The variant of keys that only sign by PSS.
pub(crate) const RSA_PSS: u8 = 1;

/// The names of a private key's numbers.
const PRIVATE: [&CStr; 6] = [
    c"d",
    c"rsa-factor1",
    c"rsa-factor2",
    c"rsa-exponent1",
    c"rsa-exponent2",
    c"rsa-coefficient1",
];

/// A key's numbers.
const NUMBERS: [Param; 8] = [
    unsigned(c"n"),
    unsigned(c"e"),
    unsigned(c"d"),
    unsigned(c"rsa-factor1"),
    unsigned(c"rsa-factor2"),
    unsigned(c"rsa-exponent1"),
    unsigned(c"rsa-exponent2"),
    unsigned(c"rsa-coefficient1"),
];

/// A key.
pub(crate) struct Key {
    shared: Arc<Shared>,
    variant: u8,
    /// The engine's form of it; an empty key, or one that was made here, has none.
    native: Option<Arc<card::rsa::Key>>,
    /// All that it was imported with.
    params: ParamList,
    stock: OnceBox<Arc<stock::Key>>,
}

impl Key {
    /// The engine's form of it.
    pub(super) fn native(&self) -> Result<&Arc<card::rsa::Key>> {
        self.native.as_ref().ok_or(Error::from(Reason::InvalidKey))
    }

    /// Whether it only signs by PSS.
    pub(super) fn is_pss(&self) -> bool {
        self.variant == RSA_PSS
    }

    fn name(&self) -> &'static CStr {
        if self.is_pss() { c"RSA-PSS" } else { c"RSA" }
    }

    fn of(shared: Arc<Shared>, variant: u8) -> Self {
        Self {
            shared,
            variant,
            native: None,
            params: ParamList::new(),
            stock: OnceBox::new(),
        }
    }
}

impl SigningKey for Key {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn operation(&self, signing: bool) -> Option<Operation> {
        operation(self.native.as_ref()?.bits(), signing)
    }

    fn signature_length(&self) -> Result<usize> {
        match &self.native {
            Some(key) => Ok(key.length()),
            None => Ok(SigningKey::stock(self)?.size()),
        }
    }

    fn stock(&self) -> Result<Arc<stock::Key>> {
        if let Some(key) = self.stock.get() {
            return Ok(Arc::clone(key));
        }
        let all = Selection(Selection::PAIR.0 | Selection::OTHER.0);
        let key = self.params.with_array(|params| {
            stock::Key::import(self.shared.stock()?, self.name(), all, params)
        })?;
        Ok(Arc::clone(
            self.stock.get_or_init(|| Box::new(Arc::new(key))),
        ))
    }
}

impl KeyManagement for Key {
    type Provider = Outboard;
    type Generator = Generator;

    const GETTABLE: &'static [Param] = descriptors!(
        [
            unsigned(c"bits"),
            unsigned(c"security-bits"),
            unsigned(c"max-size"),
            text(c"default-digest"),
            text(c"mandatory-digest"),
        ],
        NUMBERS
    );
    const SETTABLE: &'static [Param] = &[END];
    const GENERATOR_SETTABLE: &'static [Param] = &[
        unsigned(c"bits"),
        unsigned(c"primes"),
        unsigned(c"e"),
        text(c"digest"),
        text(c"properties"),
        text(c"mgf"),
        text(c"mgf1-digest"),
        unsigned(c"saltlen"),
        END,
    ];

    fn operation_name(_kind: Kind) -> &'static CStr {
        c"RSA"
    }

    fn types(selection: Selection) -> &'static [Param] {
        const PAIR: &[Param] = descriptors!(
            NUMBERS,
            [
                text(c"digest"),
                text(c"mgf"),
                text(c"mgf1-digest"),
                unsigned(c"saltlen"),
            ]
        );
        const NOTHING: &[Param] = &[END];
        if selection.touches(Selection::PAIR) {
            PAIR
        } else {
            NOTHING
        }
    }

    fn empty(provider: &Outboard, variant: u8) -> Result<Self> {
        Ok(Self::of(provider.shared(), variant))
    }

    fn import(&self, selection: Selection, params: Params<'_>) -> Result<Option<Self>> {
        // Restrictions of PSS keys, and keys of more than two primes, are the default provider's.
        let foreign = [c"digest", c"mgf1-digest", c"saltlen", c"rsa-factor3"];
        if !selection.touches(Selection::PAIR)
            || foreign.iter().any(|name| params.find(name).is_some())
        {
            return Ok(None);
        }
        let Some(native) = engine_key(&self.shared, params)? else {
            return Ok(None);
        };
        let mut key = Self::of(Arc::clone(&self.shared), self.variant);
        key.params.record(params);
        key.native = Some(native);
        Ok(Some(key))
    }

    fn export(
        &self,
        selection: Selection,
        give: &mut dyn FnMut(*const Param) -> bool,
    ) -> Result<bool> {
        if selection.touches(Selection::PRIVATE) {
            return Ok(self.params.with_array(give));
        }
        let public = self.params.without(|name| PRIVATE.contains(&name));
        Ok(public.with_array(give))
    }

    fn has(&self, selection: Selection) -> bool {
        !selection.touches(Selection::PAIR)
            || match &self.native {
                Some(key) => key.is_private() || !selection.touches(Selection::PRIVATE),
                None => self.stock.get().is_some(),
            }
    }

    fn matches(&self, other: &Self, selection: Selection) -> Result<bool> {
        if !selection.touches(Selection::PAIR) {
            return Ok(true);
        }
        Ok(self.stock()?.matches(&*other.stock()?, selection))
    }

    fn validate(&self, selection: Selection, check: Check) -> Result<bool> {
        self.stock()?.validate(selection, check)
    }

    fn duplicate(&self, selection: Selection) -> Result<Self> {
        let empty = Self::of(Arc::clone(&self.shared), self.variant);
        let mut copy = Ok(None);
        if selection.touches(Selection::PAIR) && self.native.is_some() {
            self.export(selection, &mut |params| {
                // SAFETY: our own array, whole for the call.
                copy = empty.import(selection, unsafe { Params::new(params) });
                copy.is_ok()
            })?;
        }
        Ok(copy?.unwrap_or(empty))
    }

    fn get(&self, mut params: ParamsMut<'_>) -> Result<()> {
        self.stock()?.get(params.as_mut_ptr())
    }

    fn set(&self, _params: Params<'_>) -> Result<Self> {
        self.duplicate(Selection::PAIR)
    }

    fn generator(provider: &Outboard, variant: u8, selection: Selection) -> Result<Generator> {
        let key = Self::of(provider.shared(), variant);
        Ok(Generator {
            key,
            selection,
            params: ParamList::new(),
        })
    }

    fn generator_template(_generator: &mut Generator, _template: &Self) -> Result<()> {
        Ok(())
    }

    fn generator_set(generator: &mut Generator, params: Params<'_>) -> Result<()> {
        generator.params.record(params);
        Ok(())
    }

    fn generate(generator: &mut Generator) -> Result<Self> {
        let empty = &generator.key;
        let made = stock::Key::generate(
            empty.shared.stock()?,
            empty.name(),
            generator.selection,
            &generator.params,
        )?;
        let mut key = Self::of(Arc::clone(&empty.shared), empty.variant);
        let all = Selection(Selection::PAIR.0 | Selection::OTHER.0);
        made.export(all, &mut |params| {
            // SAFETY: the default provider's array, whole for the call.
            let params = unsafe { Params::new(params) };
            key.params.record(params);
            if let Ok(native) = engine_key(&key.shared, params) {
                key.native = native;
            }
            true
        })?;
        key.stock = OnceBox::with_value(Box::new(Arc::new(made)));
        Ok(key)
    }
}

/// A key generation, which the default provider does.
pub(crate) struct Generator {
    key: Key,
    selection: Selection,
    params: ParamList,
}

/// The engine's form of the key, where the profile gives it something to do with one of its size and
/// half.
fn engine_key(shared: &Shared, params: Params<'_>) -> Result<Option<Arc<card::rsa::Key>>> {
    let number = |name: &CStr| -> Result<Option<Zeroizing<Vec<u8>>>> {
        params
            .find(name)
            .map(|param| param.big_endian())
            .transpose()
    };
    let (Some(n), Some(e)) = (number(c"n")?, number(c"e")?) else {
        return Ok(None);
    };
    let private = params.find(c"d").is_some();
    match operation(bits(&n), private) {
        Some(operation) if shared.offers(operation) => {}
        _ => return Ok(None),
    }
    let mut numbers = Vec::with_capacity(PRIVATE.len());
    for name in PRIVATE.iter().filter(|_| private) {
        match number(name)? {
            Some(number) => numbers.push(number),
            None => return Ok(None),
        }
    }
    let private = match &numbers[..] {
        [d, p, q, dp, dq, qinv] => Some(rsa::PrivateNumbers {
            d,
            p,
            q,
            dp,
            dq,
            qinv,
        }),
        _ => None,
    };
    // Numbers that do not fit together are left to whoever holds the key, to say so.
    let key = rsa::Key::new(&rsa::Numbers {
        n: &n,
        e: &e,
        private,
    });
    Ok(key.ok().map(|key| Arc::new(card::rsa::Key::new(key))))
}

/// How the ledger calls signing or verifying with keys of that size; none where the engine does not
/// do that size.
fn operation(bits: usize, signing: bool) -> Option<Operation> {
    match (bits, signing) {
        (2048, true) => Some(Operation::Rsa2048Sign),
        (2048, false) => Some(Operation::Rsa2048Verify),
        (3072, true) => Some(Operation::Rsa3072Sign),
        (3072, false) => Some(Operation::Rsa3072Verify),
        (4096, true) => Some(Operation::Rsa4096Sign),
        (4096, false) => Some(Operation::Rsa4096Verify),
        _ => None,
    }
}

/// The length of a number in bits.
fn bits(number: &[u8]) -> usize {
    match number.iter().position(|&byte| byte != 0) {
        None => 0,
        Some(top) => 8 * (number.len() - top) - number[top].leading_zeros() as usize,
    }
}
