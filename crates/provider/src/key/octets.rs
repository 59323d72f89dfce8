//! Keys that are 32 bytes and 32 bytes: X25519 and Ed25519 (RFC 8410).

use std::ffi::CStr;
use std::marker::PhantomData;
use std::sync::Arc;

use once_cell::race::OnceBox;
use outboard_engine::card::{self, Request};
use outboard_engine::scalar::{ed25519, x25519};
use outboard_engine::{Operation, Path, scalar};
use outboard_provider_abi::{ParamList, ParamMut, Params, ParamsMut, Reason, Result, Selection};
use zeroize::Zeroizing;

use super::KeyType;
use crate::outboard::{Shared, refuse};

/// The length of either half, in bytes.
pub(crate) const LENGTH: usize = 32;

type Half = [u8; LENGTH];

/// What differs between the two.
pub(crate) trait Octets: Send + Sync + 'static {
    /// The key type's name.
    const NAMES: &'static [&'static CStr];
    /// The key's size as OpenSSL tells it, in bits.
    const BITS: u64;
    /// The most bytes that an operation puts out.
    const OUTPUT_LENGTH: u64;
    /// How the ledger calls making a key.
    const KEYGEN: Operation;
    /// Whether the public half is a peer's to be set (`encoded-pub-key`).
    const EXCHANGES: bool;
    /// What a private key is made into for cards, once.
    type Prepared: Send + Sync;

    /// A fresh private half.
    fn generate() -> scalar::Result<Zeroizing<Half>>;
    /// Making a pair, the private half first, as a request to a card; none where no card does it.
    fn generation() -> Option<Request>;
    /// The public half.
    fn public_of(private: &Half) -> Half;
}

/// X25519's keys.
pub(crate) struct X25519;

impl Octets for X25519 {
    const NAMES: &'static [&'static CStr] = &[c"X25519"];
    const BITS: u64 = 253;
    const OUTPUT_LENGTH: u64 = 32;
    const KEYGEN: Operation = Operation::X25519Keygen;
    const EXCHANGES: bool = true;
    type Prepared = ();

    fn generate() -> scalar::Result<Zeroizing<Half>> {
        x25519::generate()
    }

    fn generation() -> Option<Request> {
        Some(Request::x25519_generate())
    }

    fn public_of(private: &Half) -> Half {
        x25519::public_of(private)
    }
}

/// Ed25519's keys.
pub(crate) struct Ed25519;

impl Octets for Ed25519 {
    const NAMES: &'static [&'static CStr] = &[c"ED25519"];
    const BITS: u64 = 256;
    const OUTPUT_LENGTH: u64 = 64;
    const KEYGEN: Operation = Operation::Ed25519Keygen;
    const EXCHANGES: bool = false;
    type Prepared = Arc<card::ed25519::Key>;

    fn generate() -> scalar::Result<Zeroizing<Half>> {
        let mut seed = Zeroizing::new([0; LENGTH]);
        scalar::randomise(&mut seed[..])?;
        Ok(seed)
    }

    fn generation() -> Option<Request> {
        None
    }

    fn public_of(private: &Half) -> Half {
        *ed25519::Private::from_seed(private).public()
    }
}

/// The engine's form of a key: no half, one or both.
pub(crate) struct Native<A: Octets> {
    private: Option<Zeroizing<Half>>,
    public: Option<Half>,
    prepared: OnceBox<A::Prepared>,
    algorithm: PhantomData<A>,
}

impl<A: Octets> Native<A> {
    fn of(private: Option<Zeroizing<Half>>, public: Option<Half>) -> Self {
        Self {
            private,
            public,
            prepared: OnceBox::new(),
            algorithm: PhantomData,
        }
    }

    /// The private half.
    pub(crate) fn private(&self) -> Option<&Half> {
        self.private.as_deref()
    }

    /// The public half.
    pub(crate) fn public(&self) -> Option<&Half> {
        self.public.as_ref()
    }

    /// What it was made into for cards; `prepare` makes it of its halves.
    pub(crate) fn prepared(
        &self,
        prepare: impl FnOnce(&Half, &Half) -> A::Prepared,
    ) -> Option<&A::Prepared> {
        let (private, public) = (self.private()?, self.public()?);
        let prepare = || Box::new(prepare(private, public));
        Some(self.prepared.get_or_init(prepare))
    }
}

impl<A: Octets> KeyType for A {
    type Native = Native<A>;
    type Wish = ();
    const NAMES: &'static [&'static CStr] = A::NAMES;

    /// None where the halves do not belong together: signing with another's public half would give the private one
    /// away. What stock does with such a key is its own business.
    fn read(_: &Shared, selection: Selection, params: Params<'_>) -> Option<Native<A>> {
        let half = |name: &CStr, wanted: Selection| -> Option<Option<Zeroizing<Half>>> {
            let Some(param) = params.find(name).filter(|_| selection.touches(wanted)) else {
                return Some(None);
            };
            let bytes = param.octets().ok()?;
            let mut half = Zeroizing::new([0; LENGTH]);
            if bytes.len() != LENGTH {
                return None;
            }
            half.copy_from_slice(bytes);
            Some(Some(half))
        };
        let private = half(c"priv", Selection::PRIVATE)?;
        let public = half(c"pub", Selection::PAIR)?.map(|half| *half);
        let computed = private.as_ref().map(|private| A::public_of(private));
        match (public, computed) {
            (None, None) => None,
            (Some(given), Some(computed)) if given != computed => None,
            (given, computed) => Some(Native::of(private, given.or(computed))),
        }
    }

    fn is_plain(selection: Selection, params: Params<'_>) -> bool {
        let mut params = params;
        selection.0 & Selection::PAIR.0 != Selection::PRIVATE.0
            && params.all(|param| matches!(param.key(), b"pub" | b"priv"))
    }

    fn params(native: &Native<A>) -> Result<(Selection, ParamList)> {
        let mut params = ParamList::new();
        if let Some(public) = &native.public {
            params = params.octets(c"pub", public);
        }
        if let Some(private) = &native.private {
            params = params.octets(c"priv", &private[..]);
        }
        let selection = match (&native.private, &native.public) {
            (Some(_), _) => Selection::PAIR,
            (None, Some(_)) => Selection::PUBLIC,
            (None, None) => Selection(0),
        };
        Ok((selection, params))
    }

    fn has(native: &Native<A>, selection: Selection) -> bool {
        (!selection.touches(Selection::PUBLIC) || native.public.is_some())
            && (!selection.touches(Selection::PRIVATE) || native.private.is_some())
    }

    fn is_valid(native: &Native<A>, selection: Selection) -> bool {
        let pair = selection.touches(Selection::PRIVATE);
        Self::has(native, selection)
            && (!pair
                || native
                    .private()
                    .is_some_and(|private| Some(&A::public_of(private)) == native.public()))
    }

    fn part(native: &Native<A>, selection: Selection) -> Option<Native<A>> {
        match selection.0 & Selection::PAIR.0 {
            0x00 => Some(Native::of(None, None)),
            0x02 => Some(Native::of(None, native.public)),
            0x03 => Some(Native::of(native.private.clone(), native.public)),
            _ => None,
        }
    }

    fn answer(shared: &Shared, native: &Native<A>, params: &mut ParamsMut<'_>) -> Result<bool> {
        params.answer(|param: &mut ParamMut<'_>| {
            match (param.key(), native.public()) {
                (b"bits", _) => param.set_unsigned(A::BITS)?,
                (b"security-bits", _) => param.set_unsigned(128)?,
                (b"max-size", _) => param.set_unsigned(A::OUTPUT_LENGTH)?,
                (b"security-category", _) if shared.libcrypto_is_at_least(4, 0) => {
                    param.set_unsigned(0)?;
                }
                (b"encoded-pub-key", Some(public)) if A::EXCHANGES => param.set_octets(public)?,
                _ => return Ok(false),
            }
            Ok(true)
        })
    }

    fn with(native: &Native<A>, params: Params<'_>) -> Option<Native<A>> {
        let public = params.find(c"encoded-pub-key")?;
        if params.count() != 1 || !A::EXCHANGES || native.private.is_some() {
            return None;
        }
        let public = public.octets().ok()?.try_into().ok()?;
        Some(Native::of(None, Some(public)))
    }

    fn wish(_: &mut (), _: Selection, params: Params<'_>) -> bool {
        let mut params = params;
        params.all(|param| match param.key() {
            b"group" => param
                .text()
                .is_ok_and(|name| name.as_bytes().eq_ignore_ascii_case(A::NAMES[0].to_bytes())),
            _ => false,
        })
    }

    fn generate(shared: &Shared, _: &()) -> Option<Result<Native<A>>> {
        let request = A::generation().filter(|_| shared.path(A::KEYGEN).has_lanes());
        Some(match request {
            Some(request) => generate_on_card(shared, request),
            None => shared.run(Some(A::KEYGEN), Path::Scalar, || {
                let private = A::generate().map_err(refuse)?;
                let public = A::public_of(&private);
                Ok(Native::of(Some(private), Some(public)))
            }),
        })
    }
}

/// Owns nothing while the card works: see [`Shared::run_on_card`].
fn generate_on_card<A: Octets>(shared: &Shared, request: Request) -> Result<Native<A>> {
    let pair = shared.run_on_card(request)?;
    match pair.split_at_checked(LENGTH) {
        Some((private, public)) if public.len() == LENGTH => {
            let mut halves = (Zeroizing::new([0; LENGTH]), [0; LENGTH]);
            halves.0.copy_from_slice(private);
            halves.1.copy_from_slice(public);
            Ok(Native::of(Some(halves.0), Some(halves.1)))
        }
        _ => Err(Reason::Internal.into()),
    }
}
