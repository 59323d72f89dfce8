//! Keys of one of a few parameter sets, with a seed: ML-KEM's and ML-DSA's. What they are made of says [`Content`].

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::Arc;

use outboard_engine::lattice::{Form, Key as Halves};
use outboard_engine::scalar::SecretBytes;
use outboard_provider_abi::keymgmt::List;
use outboard_provider_abi::params::{END, integer, octets, text};
use outboard_provider_abi::raw::{PARAM_OCTET_STRING, PARAM_UNMODIFIED, Param};
use outboard_provider_abi::{
    Change, Error, KeyManagement, Params, ParamsMut, Reason, Receiver, Result, Selection,
};

use super::format::Object;
use crate::outboard::{Outboard, Shared, refuse};

/// OpenSSL's names of a key's parts.
pub(super) const PUBLIC: &CStr = c"pub";
pub(super) const PRIVATE: &CStr = c"priv";
const SEED: &CStr = c"seed";
/// The public half as TLS sends it.
pub(super) const ENCODED: &CStr = c"encoded-pub-key";
/// Asked of a generation by libssl 3.0, which names every group.
pub(super) const GROUP: &CStr = c"group";
pub(super) const PROPERTIES: &CStr = c"properties";
/// The digest that a signature must use: an empty text is none.
const DIGEST: &CStr = c"mandatory-digest";

/// What a key is of: ML-KEM or ML-DSA.
pub(crate) trait Content: Form {
    /// Every set, in the order of their variants.
    const SETS: [Self::Set; 3];
    /// What a key of OpenSSL 3.5 is described by beside its size and its parts.
    const KIND: Kind;
    /// What `openssl pkey -text` calls the private half and the public one.
    const LABELS: [&'static str; 2];

    fn numbers(set: Self::Set) -> Numbers;
    /// OpenSSL's names of a set, the first of which it shows.
    fn names(set: Self::Set) -> [&'static str; 2];
    fn object(set: Self::Set) -> Object;

    /// The key of a seed.
    fn make(
        shared: &Shared,
        set: Self::Set,
        seed: SecretBytes,
    ) -> outboard_engine::Result<Halves<Self>>;
    /// Whether `private`, which has a private half, undoes what the other key's public half does.
    fn is_pair(public: &Halves<Self>, private: &Halves<Self>) -> bool;
}

/// For what keys are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Secrets: the public half can be set as TLS sends it.
    Encapsulation,
    /// Signatures, which name no digest.
    Signature,
}

/// What EVP_PKEY_get_bits, EVP_PKEY_get_security_bits and EVP_PKEY_get_size answer.
#[derive(Clone, Copy)]
pub(crate) struct Numbers {
    pub(super) bits: u64,
    pub(super) security_bits: u64,
    /// A ciphertext or a signature, in bytes.
    pub(super) max_size: u64,
}

/// A key of one of the sets; empty until it is generated, imported or set.
pub(crate) struct Key<C: Content> {
    shared: Arc<Shared>,
    set: C::Set,
    key: Option<Arc<Halves<C>>>,
}

/// A key generation.
pub(crate) struct Generator<C: Content> {
    shared: Arc<Shared>,
    set: C::Set,
    selection: Selection,
    seed: Option<SecretBytes>,
}

impl<C: Content> Key<C> {
    /// A key with that content.
    pub(super) fn of(shared: Arc<Shared>, set: C::Set, key: Option<Halves<C>>) -> Self {
        Self {
            shared,
            set,
            key: key.map(Arc::new),
        }
    }

    pub(super) fn set(&self) -> C::Set {
        self.set
    }

    /// What is in it.
    pub(super) fn content(&self) -> Option<&Halves<C>> {
        self.key.as_deref()
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    fn with(&self, key: Halves<C>) -> Change<Self> {
        Change {
            answer: 1,
            key: Some(Self::of(Arc::clone(&self.shared), self.set, Some(key))),
        }
    }
}

/// The key of a seed, an encoded private half, or an encoded public one. What is there must belong together.
pub(super) fn assemble<C: Content>(
    shared: &Shared,
    set: C::Set,
    seed: Option<&[u8]>,
    private: Option<&[u8]>,
    public: Option<&[u8]>,
) -> Result<Option<Halves<C>>> {
    let key = match (seed, private, public) {
        (Some(bytes), ..) => {
            let seed = seed_of::<C>(bytes)?;
            Some(C::make(shared, set, seed).map_err(refuse)?)
        }
        (None, Some(private), _) => Some(Halves::private(set, private).map_err(refuse)?),
        (None, None, Some(public)) => Some(Halves::public(set, public).map_err(refuse)?),
        (None, None, None) => None,
    };
    if let Some(key) = &key {
        let differs = |given: Option<&[u8]>, known: Option<&[u8]>| {
            given.is_some_and(|given| known.is_none_or(|known| !equal(given, known)))
        };
        if differs(private, key.private_bytes()) || differs(public, Some(key.public_bytes())) {
            return Err(Error::new(
                Reason::InvalidKey,
                "the parts of the key do not belong together",
            ));
        }
    }
    Ok(key)
}

/// Whether bytes are equal, in a time that depends on their length alone.
pub(super) fn equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}

fn seed_of<C: Content>(bytes: &[u8]) -> Result<SecretBytes> {
    match bytes.len() == C::SEED {
        true => Ok(bytes.into()),
        false => {
            let detail = format!("the seed has {} bytes, not {}", bytes.len(), C::SEED);
            Err(Error::new(Reason::InvalidLength, detail))
        }
    }
}

/// So many random bytes: the program's own, where a sandbox refuses them to the engine.
pub(super) fn drawn(shared: &Shared, length: usize) -> Result<SecretBytes> {
    let mut bytes = SecretBytes::zeros(length);
    shared.randomise(&mut bytes)?;
    Ok(bytes)
}

/// The bytes of a parameter, if it is there.
pub(super) fn bytes<'a>(params: Params<'a>, name: &CStr) -> Result<Option<&'a [u8]>> {
    let bytes = params.find(name).map(|param| param.octets()).transpose()?;
    Ok(bytes.filter(|bytes| !bytes.is_empty()))
}

/// Refuses a group of another name than the key type's.
pub(super) fn check_group(params: Params<'_>, names: &[&str]) -> Result<()> {
    let Some(group) = params.find(GROUP).map(|param| param.text()).transpose()? else {
        return Ok(());
    };
    match names.iter().any(|name| name.eq_ignore_ascii_case(group)) {
        true => Ok(()),
        false => Err(Error::new(
            Reason::InvalidParameter,
            format!("the group '{group}' is not {}", names[0]),
        )),
    }
}

impl<C: Content> KeyManagement for Key<C> {
    type Provider = Outboard;
    type Generator = Generator<C>;

    const TYPES: &'static [Param] = &[octets(PUBLIC), octets(PRIVATE), octets(SEED), END];

    fn empty(provider: &Outboard, variant: u8) -> Result<Self> {
        Ok(Self::of(
            provider.shared(),
            C::SETS[usize::from(variant)],
            None,
        ))
    }

    fn import(&self, selection: Selection, params: Params<'_>) -> Result<Change<Self>> {
        if self.key.is_some() || !selection.touches(Selection::PAIR) {
            return Err(Error::new(
                Reason::InvalidKey,
                "nothing to import, or a key is there already",
            ));
        }
        let wants_private = selection.touches(Selection::PRIVATE);
        let private = |name| match wants_private {
            true => bytes(params, name),
            false => Ok(None),
        };
        let key = assemble(
            &self.shared,
            self.set,
            private(SEED)?,
            private(PRIVATE)?,
            bytes(params, PUBLIC)?,
        )?;
        let missing = || Error::new(Reason::InvalidKey, "neither half of the key is there");
        Ok(self.with(key.ok_or_else(missing)?))
    }

    fn export(&self, selection: Selection, receiver: Receiver) -> Result<c_int> {
        let Some(key) = self
            .content()
            .filter(|_| selection.touches(Selection::PAIR))
        else {
            return Ok(0);
        };
        let mut parts = vec![(PUBLIC, key.public_bytes())];
        if selection.touches(Selection::PRIVATE) {
            parts.extend(key.seed().map(|seed| (SEED, seed)));
            parts.extend(key.private_bytes().map(|private| (PRIVATE, private)));
        }
        give(&parts, receiver)
    }

    fn has(&self, selection: Selection) -> Result<c_int> {
        let has = match self.content() {
            _ if !selection.touches(Selection::PAIR) => true,
            None => false,
            Some(key) => !selection.touches(Selection::PRIVATE) || key.private_bytes().is_some(),
        };
        Ok(has.into())
    }

    fn matches(&self, other: Option<&Self>, selection: Selection) -> Result<c_int> {
        let Some(other) = other.filter(|other| other.set == self.set) else {
            return Ok(0);
        };
        let public = |key: &Self| key.content().map(|key| key.public_bytes().to_vec());
        let matches = !selection.touches(Selection::PAIR) || public(self) == public(other);
        Ok(matches.into())
    }

    fn validate(&self, selection: Selection, _: c_int) -> Result<c_int> {
        let whole = |key: &Halves<C>| {
            let checked = match key.private_bytes() {
                Some(private) => Halves::private(self.set, private),
                None => Halves::public(self.set, key.public_bytes()),
            };
            checked.is_ok_and(|checked| {
                let pair = key.private_bytes().is_none() || C::is_pair(&checked, key);
                pair && checked.public_bytes() == key.public_bytes()
            })
        };
        if self.has(selection)? != 1 {
            return Ok(0);
        }
        let valid = !selection.touches(Selection::PAIR) || self.content().is_some_and(whole);
        Ok(valid.into())
    }

    fn duplicate(&self, selection: Selection) -> Result<Option<Self>> {
        let part = |key| Some(Self::of(Arc::clone(&self.shared), self.set, key));
        Ok(match &self.key {
            Some(key) if selection.touches(Selection::PRIVATE) => Some(Self {
                shared: Arc::clone(&self.shared),
                set: self.set,
                key: Some(Arc::clone(key)),
            }),
            Some(key) if selection.touches(Selection::PUBLIC) => part(Some(key.to_public())),
            _ => part(None),
        })
    }

    fn get(&self, mut params: ParamsMut<'_>) -> Result<c_int> {
        let (key, numbers) = (self.content(), C::numbers(self.set));
        params.answer(|param| {
            match (param.key(), key) {
                (b"bits", _) => param.set_unsigned(numbers.bits)?,
                (b"security-bits", _) => param.set_unsigned(numbers.security_bits)?,
                (b"max-size", _) => param.set_unsigned(numbers.max_size)?,
                (b"mandatory-digest", _) if C::KIND == Kind::Signature => param.set_text(c"")?,
                (b"encoded-pub-key", _) if C::KIND == Kind::Signature => return Ok(false),
                (b"pub" | b"encoded-pub-key", Some(key)) => param.set_octets(key.public_bytes())?,
                (b"priv", Some(key)) => match key.private_bytes() {
                    Some(private) => param.set_octets(private)?,
                    None => return Ok(false),
                },
                (b"seed", Some(key)) => match key.seed() {
                    Some(seed) => param.set_octets(seed)?,
                    None => return Ok(false),
                },
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(1)
    }

    fn set(&self, params: Params<'_>) -> Result<Change<Self>> {
        let settable = C::KIND == Kind::Encapsulation;
        // An empty one is too short, and not a missing one.
        let public = params.find(ENCODED).filter(|_| settable);
        let Some(public) = public.map(|param| param.octets()).transpose()? else {
            return Ok(Change {
                answer: 1,
                key: None,
            });
        };
        if self.key.is_some() {
            return Err(unchangeable());
        }
        let key = Halves::public(self.set, public).map_err(refuse)?;
        Ok(self.with(key))
    }

    fn generator(
        provider: &Outboard,
        variant: u8,
        selection: Selection,
        params: Params<'_>,
    ) -> Result<Option<Generator<C>>> {
        let mut generator = Generator {
            shared: provider.shared(),
            set: C::SETS[usize::from(variant)],
            selection,
            seed: None,
        };
        Self::generator_set(&mut generator, params)?;
        Ok(Some(generator))
    }

    fn generator_template(
        generator: &mut Generator<C>,
        template: Option<Arc<Self>>,
    ) -> Result<c_int> {
        let fits = template.is_some_and(|template| template.set == generator.set);
        Ok(fits.into())
    }

    fn generator_set(generator: &mut Generator<C>, params: Params<'_>) -> Result<c_int> {
        if C::KIND == Kind::Encapsulation {
            check_group(params, &C::names(generator.set))?;
        }
        if let Some(bytes) = bytes(params, SEED)? {
            generator.seed = Some(seed_of::<C>(bytes)?);
        }
        Ok(1)
    }

    fn generator_get(_: &mut Generator<C>, _: ParamsMut<'_>) -> Result<c_int> {
        Ok(1)
    }

    fn generate(generator: &mut Generator<C>, _: Receiver) -> Result<Option<Self>> {
        let (shared, set) = (Arc::clone(&generator.shared), generator.set);
        let seed = generator.seed.take();
        let key = match generator.selection.touches(Selection::PAIR) {
            true => {
                let seed = seed.map_or_else(|| drawn(&shared, C::SEED), Ok)?;
                Some(C::make(&shared, set, seed).map_err(refuse)?)
            }
            false => None,
        };
        Ok(Some(Self::of(shared, set, key)))
    }

    fn describe(_: &Outboard, _: u8, list: List, _: Option<&mut Generator<C>>) -> *const Param {
        const OF_ALL: [Param; 6] = [
            integer(c"bits"),
            integer(c"security-bits"),
            integer(c"max-size"),
            octets(PUBLIC),
            octets(PRIVATE),
            octets(SEED),
        ];
        const fn gettable(last: Param) -> [Param; 8] {
            let [a, b, c, d, e, f] = OF_ALL;
            [a, b, c, d, e, f, last, END]
        }
        const GETTABLE: [&[Param]; 2] = [&gettable(octets(ENCODED)), &gettable(text(DIGEST))];
        const SETTABLE: [&[Param]; 2] = [&[octets(ENCODED), END], &[END]];
        const GENERATOR: [&[Param]; 2] = [
            &[text(PROPERTIES), text(GROUP), octets(SEED), END],
            &[text(PROPERTIES), octets(SEED), END],
        ];
        let kind = C::KIND as usize;
        match list {
            List::Gettable => GETTABLE[kind].as_ptr(),
            List::Settable => SETTABLE[kind].as_ptr(),
            List::GeneratorSettable => GENERATOR[kind].as_ptr(),
            List::GeneratorGettable => ptr::null(),
            List::Import(_) | List::Export(_) => Self::TYPES.as_ptr(),
        }
    }
}

/// A key that has a half keeps it, as OpenSSL's own keys of these types do.
pub(super) fn unchangeable() -> Error {
    Error::new(
        Reason::InvalidKey,
        "the key has a public half already, which cannot be changed",
    )
}

/// Gives an exported key. Names are constants, since libcrypto may keep pointers to them (`OSSL_PARAM_dup`).
pub(super) fn give(parts: &[(&'static CStr, &[u8])], receiver: Receiver) -> Result<c_int> {
    let (Some(callback), argument) = receiver.as_raw() else {
        return Ok(0);
    };
    let param = |&(name, bytes): &(&'static CStr, &[u8])| Param {
        key: name.as_ptr(),
        data_type: PARAM_OCTET_STRING,
        data: bytes.as_ptr().cast_mut().cast(),
        data_size: bytes.len(),
        return_size: PARAM_UNMODIFIED,
    };
    let params: Vec<Param> = parts.iter().map(param).chain([END]).collect();
    // SAFETY: libcrypto's own callback and its argument, and an array that lives as long as the call, which only reads it.
    Ok(unsafe { callback(params.as_ptr(), argument) })
}
