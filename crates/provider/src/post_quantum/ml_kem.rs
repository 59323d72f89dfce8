//! ML-KEM's keys: ML-KEM-512, ML-KEM-768, ML-KEM-1024.

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::Arc;

use outboard_engine::kem::{self, SECRET, SEED, Seed, Set};
use outboard_provider_abi::keymgmt::List;
use outboard_provider_abi::params::{END, integer, octets, text};
use outboard_provider_abi::raw::{PARAM_OCTET_STRING, PARAM_UNMODIFIED, Param};
use outboard_provider_abi::{
    Change, Error, KeyManagement, Params, ParamsMut, Reason, Receiver, Result, Selection,
};

use super::context::{Encapsulating, Randomness, Secret};
use crate::outboard::{Outboard, Shared, refuse};

/// OpenSSL's names of a key's parts.
pub(super) const PUBLIC: &CStr = c"pub";
pub(super) const PRIVATE: &CStr = c"priv";
const SEED_NAME: &CStr = c"seed";
/// The public half as TLS sends it.
pub(super) const ENCODED: &CStr = c"encoded-pub-key";
/// Asked of a generation by libssl 3.0, which names every group.
pub(super) const GROUP: &CStr = c"group";
pub(super) const PROPERTIES: &CStr = c"properties";

/// A key of one of the sets; empty until it is generated, imported or set.
pub(crate) struct Key {
    shared: Arc<Shared>,
    set: Set,
    key: Option<Arc<kem::Key>>,
}

/// A key generation.
pub(crate) struct Generator {
    shared: Arc<Shared>,
    set: Set,
    selection: Selection,
    seed: Option<Box<Seed>>,
}

impl Key {
    /// A key with that content.
    pub(super) fn of(shared: Arc<Shared>, set: Set, key: Option<kem::Key>) -> Self {
        Self {
            shared,
            set,
            key: key.map(Arc::new),
        }
    }

    pub(super) fn set(&self) -> Set {
        self.set
    }

    /// What is in it.
    pub(super) fn content(&self) -> Option<&kem::Key> {
        self.key.as_deref()
    }

    fn with(&self, key: kem::Key) -> Change<Self> {
        Change {
            answer: 1,
            key: Some(Self::of(Arc::clone(&self.shared), self.set, Some(key))),
        }
    }
}

/// The security of a set in bits, as OpenSSL 3.5 tells it.
pub(super) const fn security_bits(set: Set) -> u64 {
    match set {
        Set::MlKem512 => 128,
        Set::MlKem768 => 192,
        Set::MlKem1024 => 256,
    }
}

const fn bits(set: Set) -> u64 {
    match set {
        Set::MlKem512 => 512,
        Set::MlKem768 => 768,
        Set::MlKem1024 => 1024,
    }
}

/// The key of a seed, an encoded private half, or an encoded public one. What is there must belong together.
pub(super) fn assemble(
    shared: &Shared,
    set: Set,
    seed: Option<&[u8]>,
    private: Option<&[u8]>,
    public: Option<&[u8]>,
) -> Result<Option<kem::Key>> {
    let key = match (seed, private, public) {
        (Some(seed), ..) => Some(from_seed(shared, set, seed)?),
        (None, Some(private), _) => Some(kem::Key::private(set, private).map_err(refuse)?),
        (None, None, Some(public)) => Some(kem::Key::public(set, public).map_err(refuse)?),
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
fn equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}

fn from_seed(shared: &Shared, set: Set, bytes: &[u8]) -> Result<kem::Key> {
    kem::seeded(set, shared.path(set.keygen()), seed(bytes)?).map_err(refuse)
}

fn seed(bytes: &[u8]) -> Result<Box<Seed>> {
    let mut seed = Box::new(Seed::new([0; SEED]));
    if bytes.len() != SEED {
        let detail = format!("the seed has {} bytes, not {SEED}", bytes.len());
        return Err(Error::new(Reason::InvalidLength, detail));
    }
    seed.copy_from_slice(bytes);
    Ok(seed)
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

const fn names(set: Set) -> &'static [&'static str] {
    match set {
        Set::MlKem512 => &["ML-KEM-512", "MLKEM512"],
        Set::MlKem768 => &["ML-KEM-768", "MLKEM768"],
        Set::MlKem1024 => &["ML-KEM-1024", "MLKEM1024"],
    }
}

impl KeyManagement for Key {
    type Provider = Outboard;
    type Generator = Generator;

    const TYPES: &'static [Param] = &[octets(PUBLIC), octets(PRIVATE), octets(SEED_NAME), END];

    fn empty(provider: &Outboard, variant: u8) -> Result<Self> {
        Ok(Self::of(
            provider.shared(),
            Set::ALL[usize::from(variant)],
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
            private(SEED_NAME)?,
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
            parts.extend(key.seed().map(|seed| (SEED_NAME, &seed[..])));
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
        let whole = |key: &kem::Key| {
            let (path, set) = (outboard_engine::Path::Scalar, self.set);
            let checked = match key.private_bytes() {
                Some(private) => kem::Key::private(set, private),
                None => key.to_public(),
            };
            let Ok(checked) = checked else {
                return false;
            };
            // What one half encapsulates, the other one opens.
            let pair = key.private_bytes().is_none()
                || checked.encapsulate(path).is_ok_and(|(ciphertext, secret)| {
                    let opened = key.decapsulate(path, &ciphertext);
                    opened.is_ok_and(|opened| equal(&opened, &secret))
                });
            pair && checked.public_bytes() == key.public_bytes()
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
            Some(key) if selection.touches(Selection::PUBLIC) => {
                part(Some(key.to_public().map_err(refuse)?))
            }
            _ => part(None),
        })
    }

    fn get(&self, mut params: ParamsMut<'_>) -> Result<c_int> {
        let key = self.content();
        params.answer(|param| {
            match (param.key(), key) {
                (b"bits", _) => param.set_unsigned(bits(self.set))?,
                (b"security-bits", _) => param.set_unsigned(security_bits(self.set))?,
                (b"max-size", _) => param.set_unsigned(self.set.ciphertext_length() as u64)?,
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
        let Some(public) = bytes(params, ENCODED)? else {
            return Ok(Change {
                answer: 1,
                key: None,
            });
        };
        if self.key.is_some() {
            return Err(unchangeable());
        }
        let key = kem::Key::public(self.set, public).map_err(refuse)?;
        Ok(self.with(key))
    }

    fn generator(
        provider: &Outboard,
        variant: u8,
        selection: Selection,
        params: Params<'_>,
    ) -> Result<Option<Generator>> {
        let mut generator = Generator {
            shared: provider.shared(),
            set: Set::ALL[usize::from(variant)],
            selection,
            seed: None,
        };
        Self::generator_set(&mut generator, params)?;
        Ok(Some(generator))
    }

    fn generator_template(generator: &mut Generator, template: Option<Arc<Self>>) -> Result<c_int> {
        let fits = template.is_some_and(|template| template.set == generator.set);
        Ok(fits.into())
    }

    fn generator_set(generator: &mut Generator, params: Params<'_>) -> Result<c_int> {
        check_group(params, names(generator.set))?;
        if let Some(bytes) = bytes(params, SEED_NAME)? {
            generator.seed = Some(seed(bytes)?);
        }
        Ok(1)
    }

    fn generator_get(_: &mut Generator, _: ParamsMut<'_>) -> Result<c_int> {
        Ok(1)
    }

    fn generate(generator: &mut Generator, _: Receiver) -> Result<Option<Self>> {
        let (shared, set) = (Arc::clone(&generator.shared), generator.set);
        let path = shared.path(set.keygen());
        let key = match generator.seed.take() {
            _ if !generator.selection.touches(Selection::PAIR) => None,
            Some(seed) => Some(kem::seeded(set, path, seed).map_err(refuse)?),
            None => Some(kem::generate(set, path).map_err(refuse)?),
        };
        Ok(Some(Self::of(shared, set, key)))
    }

    fn describe(_: &Outboard, _: u8, list: List, _: Option<&mut Generator>) -> *const Param {
        const GETTABLE: &[Param] = &[
            integer(c"bits"),
            integer(c"security-bits"),
            integer(c"max-size"),
            octets(PUBLIC),
            octets(PRIVATE),
            octets(SEED_NAME),
            octets(ENCODED),
            END,
        ];
        const SETTABLE: &[Param] = &[octets(ENCODED), END];
        const GENERATOR: &[Param] = &[text(PROPERTIES), text(GROUP), octets(SEED_NAME), END];
        match list {
            List::Gettable => GETTABLE.as_ptr(),
            List::Settable => SETTABLE.as_ptr(),
            List::GeneratorSettable => GENERATOR.as_ptr(),
            List::GeneratorGettable => ptr::null(),
            List::Import(_) | List::Export(_) => Self::TYPES.as_ptr(),
        }
    }
}

impl Encapsulating for Key {
    const TAKES_RANDOMNESS: bool = true;

    fn lengths(&self) -> (usize, usize) {
        (self.set.ciphertext_length(), SECRET)
    }

    fn encapsulate(&self, randomness: Option<&Randomness>) -> Result<(Vec<u8>, Secret)> {
        let path = self.shared.path(self.set.encapsulation());
        let key = self.content().ok_or(Reason::InvalidKey)?;
        match randomness {
            Some(randomness) => key.encapsulate_by(path, randomness),
            None => key.encapsulate(path),
        }
        .map_err(refuse)
    }

    fn decapsulate(&self, ciphertext: &[u8]) -> Result<Secret> {
        let path = self.shared.path(self.set.decapsulation());
        let key = self.content().ok_or(Reason::InvalidKey)?;
        key.decapsulate(path, ciphertext).map_err(refuse)
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
