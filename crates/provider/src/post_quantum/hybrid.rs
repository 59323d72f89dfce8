//! The keys of TLS 1.3's hybrid groups: ML-KEM and a curve, side by side (draft-ietf-tls-ecdhe-mlkem).
//!
//! ```text
//! X25519MLKEM768      share: ek ‖ X25519    answer: ciphertext ‖ X25519    secret: ML-KEM ‖ X25519
//! SecP256r1MLKEM768   share: P-256 ‖ ek     answer: P-256 ‖ ciphertext     secret: P-256 ‖ ML-KEM
//! SecP384r1MLKEM1024  share: P-384 ‖ ek     answer: P-384 ‖ ciphertext     secret: P-384 ‖ ML-KEM
//! ```

use std::ffi::{CStr, c_int};
use std::ptr;
use std::sync::Arc;

use outboard_engine::kem::{self, SECRET, Set};
use outboard_engine::scalar::ec::Curve;
use outboard_provider_abi::keymgmt::List;
use outboard_provider_abi::params::{END, integer, octets, text};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{
    Change, Error, KeyManagement, Params, ParamsMut, Reason, Receiver, Result, Selection,
};
use zeroize::Zeroizing;

use super::classical::{self, Exchange};
use super::context::{Encapsulating, Randomness, Secret};
use super::lattice::{
    Content, ENCODED, GROUP, PRIVATE, PROPERTIES, PUBLIC, bytes, check_group, drawn, give,
    unchangeable,
};
use super::ml_kem;
use crate::outboard::{Outboard, Shared, refuse};

/// A group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    X25519MlKem768,
    SecP256r1MlKem768,
    SecP384r1MlKem1024,
}

impl Group {
    /// Every group, in the order of their variants.
    pub(super) const ALL: [Group; 3] = [
        Group::X25519MlKem768,
        Group::SecP256r1MlKem768,
        Group::SecP384r1MlKem1024,
    ];

    /// Its name, of the key type and of the group.
    pub(super) const fn name(self) -> &'static CStr {
        match self {
            Self::X25519MlKem768 => c"X25519MLKEM768",
            Self::SecP256r1MlKem768 => c"SecP256r1MLKEM768",
            Self::SecP384r1MlKem1024 => c"SecP384r1MLKEM1024",
        }
    }

    /// Its number in TLS (IANA's registry of supported groups).
    pub(super) const fn id(self) -> u32 {
        match self {
            Self::X25519MlKem768 => 0x11ec,
            Self::SecP256r1MlKem768 => 0x11eb,
            Self::SecP384r1MlKem1024 => 0x11ed,
        }
    }

    /// The parameter set of its ML-KEM half.
    pub(super) const fn set(self) -> Set {
        match self {
            Self::X25519MlKem768 | Self::SecP256r1MlKem768 => Set::MlKem768,
            Self::SecP384r1MlKem1024 => Set::MlKem1024,
        }
    }

    const fn exchange(self) -> Exchange {
        match self {
            Self::X25519MlKem768 => Exchange::X25519,
            Self::SecP256r1MlKem768 => Exchange::Ecdh(Curve::P256),
            Self::SecP384r1MlKem1024 => Exchange::Ecdh(Curve::P384),
        }
    }

    /// Whether ML-KEM's half comes first, in shares and in secrets.
    const fn begins_with_ml_kem(self) -> bool {
        matches!(self, Self::X25519MlKem768)
    }

    fn public_length(self) -> usize {
        self.set().public_length() + self.exchange().public_length()
    }

    fn ciphertext_length(self) -> usize {
        self.set().ciphertext_length() + self.exchange().public_length()
    }

    fn secret_length(self) -> usize {
        SECRET + self.exchange().secret_length()
    }

    /// Both halves in the group's order.
    fn join(self, ml_kem: &[u8], classical: &[u8]) -> Zeroizing<Vec<u8>> {
        let mut joined = Zeroizing::new(Vec::with_capacity(ml_kem.len() + classical.len()));
        let halves = match self.begins_with_ml_kem() {
            true => [ml_kem, classical],
            false => [classical, ml_kem],
        };
        for half in halves {
            joined.extend_from_slice(half);
        }
        joined
    }

    /// The halves of joined bytes, ML-KEM's first, of which the classical one has that length.
    fn split(self, joined: &[u8], classical: usize) -> Option<(&[u8], &[u8])> {
        match self.begins_with_ml_kem() {
            true => joined.split_at_checked(joined.len().checked_sub(classical)?),
            false => {
                let (classical, ml_kem) = joined.split_at_checked(classical)?;
                Some((ml_kem, classical))
            }
        }
    }
}

/// A key: empty, public, or private.
pub(crate) struct Key {
    shared: Arc<Shared>,
    group: Group,
    halves: Option<Halves>,
}

#[derive(Clone)]
struct Halves {
    ml_kem: Arc<kem::Key>,
    classical: classical::Key,
}

/// A key generation.
pub(crate) struct Generator {
    shared: Arc<Shared>,
    group: Group,
    selection: Selection,
}

impl Halves {
    fn public_bytes(&self, group: Group) -> Result<Vec<u8>> {
        let classical = self.classical.public_bytes()?;
        Ok(group.join(self.ml_kem.public_bytes(), &classical).to_vec())
    }

    fn private_bytes(&self, group: Group) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let classical = self.classical.private_bytes()?;
        let both = self.ml_kem.private_bytes().zip(classical);
        Ok(both.map(|(ml_kem, classical)| group.join(ml_kem, &classical)))
    }

    fn is_private(&self) -> bool {
        self.ml_kem.private_bytes().is_some()
    }

    fn to_public(&self) -> Result<Self> {
        Ok(Self {
            ml_kem: Arc::new(self.ml_kem.to_public()),
            classical: self.classical.to_public()?,
        })
    }
}

impl Key {
    fn of(&self, halves: Option<Halves>) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            group: self.group,
            halves,
        }
    }

    fn change(&self, halves: Halves) -> Change<Self> {
        Change {
            answer: 1,
            key: Some(self.of(Some(halves))),
        }
    }

    fn public(&self, joined: &[u8]) -> Result<Halves> {
        let group = self.group;
        if joined.len() != group.public_length() {
            let detail = format!(
                "a key share of {} has {} bytes, not {}",
                group.name().to_string_lossy(),
                group.public_length(),
                joined.len()
            );
            return Err(Error::new(Reason::InvalidLength, detail));
        }
        let halves = group.split(joined, group.exchange().public_length());
        let (ml_kem, classical) = halves.ok_or(Reason::Internal)?;
        Ok(Halves {
            ml_kem: Arc::new(kem::Key::public(group.set(), ml_kem).map_err(refuse)?),
            classical: group.exchange().public(classical)?,
        })
    }

    fn pair(&self, private: &[u8], public: &[u8]) -> Result<Halves> {
        let (group, exchange) = (self.group, self.group.exchange());
        let known = self.public(public)?;
        let halves = group.split(private, exchange.secret_length());
        let (ml_kem, classical) = halves.ok_or(Reason::InvalidKey)?;
        let ml_kem = kem::Key::private(group.set(), ml_kem).map_err(refuse)?;
        if ml_kem.public_bytes() != known.ml_kem.public_bytes() {
            return Err(Reason::InvalidKey.into());
        }
        let classical = exchange.pair(classical, &known.classical.public_bytes()?)?;
        Ok(Halves {
            ml_kem: Arc::new(ml_kem),
            classical,
        })
    }

    fn halves(&self) -> Result<&Halves> {
        Ok(self.halves.as_ref().ok_or(Reason::InvalidKey)?)
    }
}

impl KeyManagement for Key {
    type Provider = Outboard;
    type Generator = Generator;

    const TYPES: &'static [Param] = &[octets(PUBLIC), octets(PRIVATE), END];

    fn empty(provider: &Outboard, variant: u8) -> Result<Self> {
        Ok(Self {
            shared: provider.shared(),
            group: Group::ALL[usize::from(variant)],
            halves: None,
        })
    }

    fn import(&self, selection: Selection, params: Params<'_>) -> Result<Change<Self>> {
        if self.halves.is_some() || !selection.touches(Selection::PAIR) {
            return Err(unchangeable());
        }
        let public = bytes(params, PUBLIC)?.ok_or(Reason::InvalidKey)?;
        let private = bytes(params, PRIVATE)?.filter(|_| selection.touches(Selection::PRIVATE));
        let halves = match private {
            Some(private) => self.pair(private, public)?,
            None => self.public(public)?,
        };
        Ok(self.change(halves))
    }

    fn export(&self, selection: Selection, receiver: Receiver) -> Result<c_int> {
        let halves = self.halves.as_ref();
        let Some(halves) = halves.filter(|_| selection.touches(Selection::PAIR)) else {
            return Ok(0);
        };
        let public = halves.public_bytes(self.group)?;
        let private = match selection.touches(Selection::PRIVATE) {
            true => halves.private_bytes(self.group)?,
            false => None,
        };
        let mut parts = vec![(PUBLIC, &public[..])];
        parts.extend(private.as_ref().map(|private| (PRIVATE, &private[..])));
        give(&parts, receiver)
    }

    fn has(&self, selection: Selection) -> Result<c_int> {
        let has = match &self.halves {
            _ if !selection.touches(Selection::PAIR) => true,
            None => false,
            Some(halves) => !selection.touches(Selection::PRIVATE) || halves.is_private(),
        };
        Ok(has.into())
    }

    fn matches(&self, other: Option<&Self>, selection: Selection) -> Result<c_int> {
        let Some(other) = other.filter(|other| other.group == self.group) else {
            return Ok(0);
        };
        let public = |key: &Self| -> Result<Option<Vec<u8>>> {
            let halves = key.halves.as_ref();
            halves
                .map(|halves| halves.public_bytes(key.group))
                .transpose()
        };
        let matches = !selection.touches(Selection::PAIR) || public(self)? == public(other)?;
        Ok(matches.into())
    }

    fn validate(&self, selection: Selection, _: c_int) -> Result<c_int> {
        // Nothing comes in unchecked.
        self.has(selection)
    }

    fn duplicate(&self, selection: Selection) -> Result<Option<Self>> {
        Ok(Some(match &self.halves {
            Some(halves) if selection.touches(Selection::PRIVATE) => self.of(Some(halves.clone())),
            Some(halves) if selection.touches(Selection::PUBLIC) => {
                self.of(Some(halves.to_public()?))
            }
            _ => self.of(None),
        }))
    }

    fn get(&self, mut params: ParamsMut<'_>) -> Result<c_int> {
        let (group, halves) = (self.group, self.halves.as_ref());
        params.answer(|param| {
            match (param.key(), halves) {
                (b"bits", _) => param.set_unsigned(ml_kem::Form::numbers(group.set()).bits)?,
                (b"security-bits", _) => {
                    let numbers = ml_kem::Form::numbers(group.set());
                    param.set_unsigned(numbers.security_bits)?
                }
                (b"max-size", _) => param.set_unsigned(group.ciphertext_length() as u64)?,
                (b"pub" | b"encoded-pub-key", Some(halves)) => {
                    param.set_octets(&halves.public_bytes(group)?)?;
                }
                (b"priv", Some(halves)) => match halves.private_bytes(group)? {
                    Some(private) => param.set_octets(&private)?,
                    None => return Ok(false),
                },
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(1)
    }

    fn set(&self, params: Params<'_>) -> Result<Change<Self>> {
        // An empty one is too short, and not a missing one.
        let public = params.find(ENCODED).map(|param| param.octets());
        match public.transpose()? {
            None => Ok(Change {
                answer: 1,
                key: None,
            }),
            Some(_) if self.halves.is_some() => Err(unchangeable()),
            Some(public) => Ok(self.change(self.public(public)?)),
        }
    }

    fn generator(
        provider: &Outboard,
        variant: u8,
        selection: Selection,
        params: Params<'_>,
    ) -> Result<Option<Generator>> {
        let mut generator = Generator {
            shared: provider.shared(),
            group: Group::ALL[usize::from(variant)],
            selection,
        };
        Self::generator_set(&mut generator, params)?;
        Ok(Some(generator))
    }

    fn generator_template(generator: &mut Generator, template: Option<Arc<Self>>) -> Result<c_int> {
        let fits = template.is_some_and(|template| template.group == generator.group);
        Ok(fits.into())
    }

    fn generator_set(generator: &mut Generator, params: Params<'_>) -> Result<c_int> {
        let name = generator.group.name().to_string_lossy();
        check_group(params, &[&name])?;
        Ok(1)
    }

    fn generator_get(_: &mut Generator, _: ParamsMut<'_>) -> Result<c_int> {
        Ok(1)
    }

    /// A pair, or for domain parameters alone an empty key, into which libssl puts a peer's share.
    fn generate(generator: &mut Generator, _: Receiver) -> Result<Option<Self>> {
        let (shared, group) = (Arc::clone(&generator.shared), generator.group);
        let halves = match generator.selection.touches(Selection::PAIR) {
            true => {
                let (set, seed) = (group.set(), drawn(&shared, kem::SEED)?);
                let key = kem::seeded(set, shared.path(set.keygen()), seed).map_err(refuse)?;
                Some(Halves {
                    ml_kem: Arc::new(key),
                    classical: group.exchange().generate(&shared)?,
                })
            }
            false => None,
        };
        Ok(Some(Self {
            shared,
            group,
            halves,
        }))
    }

    fn describe(_: &Outboard, _: u8, list: List, _: Option<&mut Generator>) -> *const Param {
        const GETTABLE: &[Param] = &[
            integer(c"bits"),
            integer(c"security-bits"),
            integer(c"max-size"),
            octets(PUBLIC),
            octets(PRIVATE),
            octets(ENCODED),
            END,
        ];
        const SETTABLE: &[Param] = &[octets(ENCODED), END];
        const GENERATOR: &[Param] = &[text(PROPERTIES), text(GROUP), END];
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
    const TAKES_RANDOMNESS: bool = false;

    fn lengths(&self) -> (usize, usize) {
        (self.group.ciphertext_length(), self.group.secret_length())
    }

    /// Encapsulates for ML-KEM's half, and makes a key of the curve that shares a secret with the other half.
    fn encapsulate(&self, _: Option<&Randomness>) -> Result<(Vec<u8>, Secret)> {
        let (group, halves, shared) = (self.group, self.halves()?, &self.shared);
        let own = group.exchange().generate(shared)?;
        let classical = own.derive(shared, &halves.classical)?;
        let path = shared.path(group.set().encapsulation());
        let (ciphertext, secret) = ml_kem::encapsulate(shared, &halves.ml_kem, path)?;
        let answer = group.join(&ciphertext, &own.public_bytes()?).to_vec();
        Ok((answer, group.join(&secret, &classical)))
    }

    fn decapsulate(&self, answer: &[u8]) -> Result<Secret> {
        let (group, halves, shared) = (self.group, self.halves()?, &self.shared);
        let parts = group.split(answer, group.exchange().public_length());
        let (ciphertext, peer) = parts.ok_or(Reason::InvalidLength)?;
        let peer = group.exchange().public(peer)?;
        let classical = halves.classical.derive(shared, &peer)?;
        let path = shared.path(group.set().decapsulation());
        let secret = halves
            .ml_kem
            .decapsulate(path, ciphertext)
            .map_err(refuse)?;
        Ok(group.join(&secret, &classical))
    }
}
