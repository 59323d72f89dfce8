//! Keys that are 32 bytes and 32 bytes: X25519 and Ed25519 (RFC 8410).

use std::ffi::CStr;
use std::sync::Arc;

use once_cell::race::OnceBox;
use outboard_engine::card::Request;
use outboard_engine::{Operation, Path, scalar};
use outboard_provider_abi::params::{END, octets, text, unsigned};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{
    Check, Error, KeyManagement, Kind, ParamList, Params, ParamsMut, Reason, Result, Selection,
};
use zeroize::Zeroizing;

use crate::outboard::{Outboard, Shared, refuse};
use crate::stock;

/// The length of either half, in bytes.
pub(crate) const LENGTH: usize = 32;

/// What differs between the two.
pub(crate) trait OctetAlgorithm: Send + Sync + 'static {
    /// The name of the key type and of what keys of it are used for.
    const NAME: &'static CStr;
    /// The key's size as OpenSSL tells it, in bits.
    const BITS: u64;
    /// The most bytes that an operation puts out.
    const OUTPUT_LENGTH: u64;
    /// How the ledger calls making a key.
    const KEYGEN: Operation;
    /// Whether the public half can be set as a peer's (`encoded-pub-key`).
    const EXCHANGES: bool;
    /// What import and export deal in, and what can be read and set.
    const GETTABLE: &'static [Param];
    /// What can be set.
    const SETTABLE: &'static [Param];

    /// What a private key is made into for cards, once.
    type Prepared: Send + Sync;

    /// A fresh private half.
    fn generate() -> scalar::Result<Zeroizing<[u8; LENGTH]>>;
    /// Making a pair, the private half first, as a request to a card; none where no card does it.
    fn generation() -> Option<Request> {
        None
    }
    /// The public half.
    fn public_of(private: &[u8; LENGTH]) -> [u8; LENGTH];
}

/// A key.
pub(crate) struct OctetKey<A: OctetAlgorithm> {
    shared: Arc<Shared>,
    private: Option<Zeroizing<[u8; LENGTH]>>,
    public: Option<[u8; LENGTH]>,
    stock: OnceBox<Arc<stock::Key>>,
    prepared: OnceBox<A::Prepared>,
}

/// A key generation under way.
pub(crate) struct Generator {
    shared: Arc<Shared>,
    selection: Selection,
    params: ParamList,
    /// Whether the engine knows all that was asked.
    plain: bool,
}

impl<A: OctetAlgorithm> OctetKey<A> {
    /// What the keys of a library context share.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The private half.
    pub(crate) fn private(&self) -> Result<&[u8; LENGTH]> {
        self.private
            .as_deref()
            .ok_or_else(|| Error::new(Reason::InvalidKey, "not a private key"))
    }

    /// The public half.
    pub(crate) fn public(&self) -> Result<&[u8; LENGTH]> {
        self.public
            .as_ref()
            .ok_or_else(|| Error::new(Reason::InvalidKey, "the key is empty"))
    }

    /// What it was made into for cards; `prepare` makes it of its halves.
    pub(crate) fn prepared(
        &self,
        prepare: impl FnOnce(&[u8; LENGTH], &[u8; LENGTH]) -> A::Prepared,
    ) -> Result<&A::Prepared> {
        let (private, public) = (self.private()?, self.public()?);
        Ok(self
            .prepared
            .get_or_init(|| Box::new(prepare(private, public))))
    }

    /// The same key held by the default provider.
    pub(crate) fn stock(&self) -> Result<Arc<stock::Key>> {
        if let Some(key) = self.stock.get() {
            return Ok(Arc::clone(key));
        }
        let key = self.params(Selection::PAIR).with_array(|params| {
            stock::Key::import(self.shared.stock()?, A::NAME, Selection::PAIR, params)
        })?;
        Ok(Arc::clone(
            self.stock.get_or_init(|| Box::new(Arc::new(key))),
        ))
    }

    fn of(
        shared: Arc<Shared>,
        private: Option<Zeroizing<[u8; LENGTH]>>,
        public: Option<[u8; LENGTH]>,
    ) -> Self {
        let public = public.or_else(|| private.as_ref().map(|private| A::public_of(private)));
        Self {
            shared,
            private,
            public,
            stock: OnceBox::new(),
            prepared: OnceBox::new(),
        }
    }

    /// Owns nothing while the card works: see [`Shared::run_on_card`].
    fn generate_on_card(shared: &Arc<Shared>, request: Request) -> Result<Self> {
        let pair = shared.run_on_card(request)?;
        match pair.split_at_checked(LENGTH) {
            Some((private, public)) if public.len() == LENGTH => {
                let mut halves = (Zeroizing::new([0; LENGTH]), [0; LENGTH]);
                halves.0.copy_from_slice(private);
                halves.1.copy_from_slice(public);
                Ok(Self::of(Arc::clone(shared), Some(halves.0), Some(halves.1)))
            }
            _ => Err(Error::from(Reason::Internal)),
        }
    }

    fn params(&self, selection: Selection) -> ParamList {
        let mut params = ParamList::new();
        if let (true, Some(public)) = (selection.touches(Selection::PAIR), &self.public) {
            params = params.octets(c"pub", public);
        }
        if let (true, Some(private)) = (selection.touches(Selection::PRIVATE), &self.private) {
            params = params.octets(c"priv", &private[..]);
        }
        params
    }

    /// The key that the parameters describe; none where its halves do not belong together: signing
    /// with another's public half would give the private one away.
    fn read(shared: Arc<Shared>, selection: Selection, params: Params<'_>) -> Result<Option<Self>> {
        let half = |name: &CStr, wanted: Selection| -> Result<Option<Zeroizing<[u8; LENGTH]>>> {
            let Some(param) = params.find(name).filter(|_| selection.touches(wanted)) else {
                return Ok(None);
            };
            let bytes = param.octets()?;
            if bytes.len() != LENGTH {
                return Err(Error::new(Reason::InvalidKey, "a half has 32 bytes"));
            }
            let mut half = Zeroizing::new([0; LENGTH]);
            half.copy_from_slice(bytes);
            Ok(Some(half))
        };
        let private = half(c"priv", Selection::PRIVATE)?;
        // With either half selected, as OpenSSL's own do: its hybrids of ML-KEM bring public keys in by
        // asking for the private half.
        let public = half(c"pub", Selection::PAIR)?.map(|half| *half);
        if private.is_none() && public.is_none() {
            return Err(Error::new(Reason::InvalidKey, "neither half is given"));
        }
        let key = Self::of(shared, private, None);
        Ok(match (public, key.public) {
            (Some(given), Some(computed)) if given != computed => None,
            _ => Some(Self {
                public: public.or(key.public),
                ..key
            }),
        })
    }
}

impl<A: OctetAlgorithm> KeyManagement for OctetKey<A> {
    type Provider = Outboard;
    type Generator = Generator;

    const GETTABLE: &'static [Param] = A::GETTABLE;
    const SETTABLE: &'static [Param] = A::SETTABLE;
    const GENERATOR_SETTABLE: &'static [Param] = &[
        text(c"group"),
        text(c"properties"),
        octets(c"dhkem-ikm"),
        END,
    ];

    fn operation_name(_kind: Kind) -> &'static CStr {
        A::NAME
    }

    fn types(selection: Selection) -> &'static [Param] {
        const BOTH: &[Param] = &[octets(c"pub"), octets(c"priv"), END];
        const NEITHER: &[Param] = &[END];
        if selection.touches(Selection::PAIR) {
            BOTH
        } else {
            NEITHER
        }
    }

    fn empty(provider: &Outboard, _variant: u8) -> Result<Self> {
        Ok(Self::of(provider.shared(), None, None))
    }

    fn import(&self, selection: Selection, params: Params<'_>) -> Result<Option<Self>> {
        Self::read(Arc::clone(&self.shared), selection, params)
    }

    fn export(
        &self,
        selection: Selection,
        give: &mut dyn FnMut(*const Param) -> bool,
    ) -> Result<bool> {
        Ok(self.params(selection).with_array(give))
    }

    fn has(&self, selection: Selection) -> bool {
        (!selection.touches(Selection::PUBLIC) || self.public.is_some())
            && (!selection.touches(Selection::PRIVATE) || self.private.is_some())
    }

    fn matches(&self, other: &Self, selection: Selection) -> Result<bool> {
        if !selection.touches(Selection::PAIR) {
            return Ok(true);
        }
        Ok(match (&self.public, &other.public) {
            (Some(one), Some(two)) => one == two,
            _ => false,
        })
    }

    fn validate(&self, selection: Selection, _check: Check) -> Result<bool> {
        if !self.has(selection) {
            return Ok(false);
        }
        let pair = selection.0 & Selection::PAIR.0 == Selection::PAIR.0;
        Ok(match (&self.private, &self.public) {
            (Some(private), Some(public)) if pair => A::public_of(private) == *public,
            _ => true,
        })
    }

    fn duplicate(&self, selection: Selection) -> Result<Self> {
        let private = self
            .private
            .clone()
            .filter(|_| selection.touches(Selection::PRIVATE));
        let public = self.public.filter(|_| selection.touches(Selection::PUBLIC));
        Ok(Self::of(Arc::clone(&self.shared), private, public))
    }

    fn get(&self, mut params: ParamsMut<'_>) -> Result<()> {
        params
            .answer(|param| {
                match param.key() {
                    b"bits" => param.set_unsigned(A::BITS)?,
                    b"security-bits" => param.set_unsigned(128)?,
                    b"max-size" => param.set_unsigned(A::OUTPUT_LENGTH)?,
                    // An algorithm that signs the message itself: no digest goes with it.
                    b"mandatory-digest" if !A::EXCHANGES => param.set_text(c"")?,
                    b"pub" if self.public.is_some() => param.set_octets(self.public()?)?,
                    b"encoded-pub-key" if A::EXCHANGES && self.public.is_some() => {
                        param.set_octets(self.public()?)?;
                    }
                    b"priv" if self.private.is_some() => param.set_octets(self.private()?)?,
                    _ => return Ok(false),
                }
                Ok(true)
            })
            .map(|_| ())
    }

    fn set(&self, params: Params<'_>) -> Result<Self> {
        let encoded = params.find(c"encoded-pub-key").filter(|_| A::EXCHANGES);
        let Some(encoded) = encoded else {
            return self.duplicate(Selection::PAIR);
        };
        let public = encoded.octets()?.try_into();
        let public = public.map_err(|_| Error::new(Reason::InvalidKey, "a half has 32 bytes"))?;
        Ok(Self::of(Arc::clone(&self.shared), None, Some(public)))
    }

    fn generator(provider: &Outboard, _variant: u8, selection: Selection) -> Result<Generator> {
        Ok(Generator {
            shared: provider.shared(),
            selection,
            params: ParamList::new(),
            plain: true,
        })
    }

    fn generator_template(_generator: &mut Generator, _template: &Self) -> Result<()> {
        Ok(())
    }

    fn generator_set(generator: &mut Generator, params: Params<'_>) -> Result<()> {
        generator.params.record(params);
        for param in params {
            match param.key() {
                b"group" => {
                    let name = A::NAME.to_bytes();
                    if !param.text()?.as_bytes().eq_ignore_ascii_case(name) {
                        return Err(Error::new(Reason::InvalidParameter, "another group"));
                    }
                }
                b"properties" => {}
                _ => generator.plain = false,
            }
        }
        Ok(())
    }

    fn generate(generator: &mut Generator) -> Result<Self> {
        let shared = &generator.shared;
        if !generator.selection.touches(Selection::PAIR) {
            return Ok(Self::of(Arc::clone(shared), None, None));
        }
        if generator.plain {
            let request = A::generation().filter(|_| shared.path(A::KEYGEN) == Path::Card);
            let made = match request {
                Some(request) => Self::generate_on_card(shared, request),
                None => shared.run(Some(A::KEYGEN), Path::Scalar, || {
                    let private = A::generate().map_err(refuse)?;
                    Ok(Self::of(Arc::clone(shared), Some(private), None))
                }),
            };
            match made {
                Err(error) if error.reason() == Reason::Randomness => {}
                made => return made,
            }
        }
        let key =
            stock::Key::generate(shared.stock()?, A::NAME, Selection::PAIR, &generator.params)?;
        let mut made = Ok(None);
        key.export(Selection::PAIR, &mut |params| {
            // SAFETY: the default provider's array, whole for the call.
            let params = unsafe { Params::new(params) };
            made = Self::read(Arc::clone(shared), Selection::PAIR, params);
            made.is_ok()
        })?;
        made?.ok_or(Error::from(Reason::OperationFailed))
    }
}

/// Descriptors that both have.
pub(crate) const COMMON: [Param; 5] = [
    unsigned(c"bits"),
    unsigned(c"security-bits"),
    unsigned(c"max-size"),
    octets(c"pub"),
    octets(c"priv"),
];
