//! EC keys: those on the NIST curves have a form of the engine's.

use std::sync::Arc;

use outboard_engine::card::Request;
use outboard_engine::scalar::ec::{self, Curve, Form};
use outboard_engine::{Operation, Path};
use outboard_provider_abi::{ParamList, ParamMut, Params, ParamsMut, Reason, Result, Selection};

use super::KeyType;
use crate::outboard::{Shared, refuse};

/// EC's keys.
pub(crate) struct Ec;

/// The engine's form of a key.
#[derive(Clone)]
pub(crate) enum Native {
    /// A curve alone.
    Curve(Curve),
    /// A key on it.
    Key(Arc<ec::Key>),
    /// A key that has a private number alone, for its owner: the engine's form has a public half nevertheless.
    Private(Arc<ec::Key>),
}

impl Native {
    /// The key; none of a curve alone.
    pub(crate) fn key(&self) -> Option<&Arc<ec::Key>> {
        match self {
            Self::Curve(_) => None,
            Self::Key(key) | Self::Private(key) => Some(key),
        }
    }

    /// The key, where it has a public half: OpenSSL verifies with no other, nor takes one for a peer's.
    pub(crate) fn public(&self) -> Option<&Arc<ec::Key>> {
        match self {
            Self::Key(key) => Some(key),
            Self::Curve(_) | Self::Private(_) => None,
        }
    }

    fn of(key: ec::Key) -> Self {
        Self::Key(Arc::new(key))
    }

    /// Its curve.
    pub(crate) fn curve(&self) -> Curve {
        match self {
            Self::Curve(curve) => *curve,
            Self::Key(key) | Self::Private(key) => key.curve(),
        }
    }

    fn is_private(&self) -> bool {
        self.key().is_some_and(|key| key.is_private())
    }
}

impl KeyType for Ec {
    type Native = Native;
    type Wish = Option<Curve>;
    const NAMES: &'static [&'static std::ffi::CStr] = &[c"EC"];

    fn read(_: &Shared, selection: Selection, params: Params<'_>) -> Option<Native> {
        let curve = Curve::from_name(params.find(c"group")?.text().ok()?)?;
        let point = match params
            .find(c"pub")
            .filter(|_| selection.touches(Selection::PAIR))
        {
            Some(point) => Some(point.octets().ok()?),
            None => None,
        };
        let private = selection.touches(Selection::PRIVATE);
        match (params.find(c"priv").filter(|_| private), point) {
            (Some(number), point) => {
                let number = number.big_endian().ok()?;
                let key = ec::Key::private(curve, &number, point).ok()?;
                Some(match point {
                    Some(_) => Native::of(key),
                    None => Native::Private(Arc::new(key)),
                })
            }
            (None, Some(point)) => ec::Key::public(curve, point).ok().map(Native::of),
            (None, None) => Some(Native::Curve(curve)),
        }
    }

    /// A named curve, a public half that is not compressed where there is a private one, and nothing else about it.
    fn is_plain(selection: Selection, params: Params<'_>) -> bool {
        let whole = match params.find(c"pub") {
            Some(point) => point.octets().is_ok_and(|point| point.first() == Some(&4)),
            None => params.find(c"priv").is_none(),
        };
        let wanted = selection.touches(Selection::DOMAIN)
            && (selection.touches(Selection::PUBLIC) || !selection.touches(Selection::PRIVATE));
        let mut params = params;
        whole
            && wanted
            && params.all(|param| match param.key() {
                b"encoding" => param.text().is_ok_and(|encoding| encoding == "named_curve"),
                b"point-format" => param.text().is_ok_and(|form| form == "uncompressed"),
                b"use-cofactor-flag" | b"decoded-from-explicit" => {
                    param.integer().is_ok_and(|flag| flag == 0)
                }
                b"include-public" => param.integer().is_ok_and(|flag| flag == 1),
                // What a named curve brings along; its name was recognised.
                b"group" | b"pub" | b"priv" | b"field-type" | b"p" | b"a" | b"b" | b"generator"
                | b"order" | b"cofactor" | b"seed" => true,
                _ => false,
            })
    }

    fn params(native: &Native) -> Result<(Selection, ParamList)> {
        let mut params = ParamList::new().text(c"group", &native.curve().name().to_string_lossy());
        let mut selection = Selection::DOMAIN.0 | Selection::OTHER.0;
        if let Some(key) = native.key() {
            let point = key.point(Form::Uncompressed).map_err(refuse)?;
            params = params.octets(c"pub", &point);
            selection |= Selection::PUBLIC.0;
            if key.is_private() {
                params = params.big_endian(c"priv", &key.number().map_err(refuse)?);
                selection |= Selection::PRIVATE.0;
            }
        }
        Ok((Selection(selection), params))
    }

    fn has(native: &Native, selection: Selection) -> bool {
        (!selection.touches(Selection::PUBLIC) || native.key().is_some())
            && (!selection.touches(Selection::PRIVATE) || native.is_private())
    }

    /// That a point is on its curve was checked when it was taken; the curves have a prime order, so that is all there
    /// is to check (SP 800-56A, 5.6.2.3.3 and 5.6.2.3.4).
    fn is_valid(native: &Native, selection: Selection) -> bool {
        let pair = selection.touches(Selection::PRIVATE);
        Self::has(native, selection) && (!pair || native.key().is_some_and(|key| key.check()))
    }

    fn part(native: &Native, selection: Selection) -> Option<Native> {
        if !selection.touches(Selection::DOMAIN) {
            return None;
        }
        match (selection.0 & Selection::PAIR.0, native) {
            (0, native) => Some(Native::Curve(native.curve())),
            (0x03, native) => Some(native.clone()),
            (0x02, native) if !native.is_private() => Some(native.clone()),
            _ => None,
        }
    }

    fn answer(shared: &Shared, native: &Native, params: &mut ParamsMut<'_>) -> Result<bool> {
        let curve = native.curve();
        params.answer(|param: &mut ParamMut<'_>| {
            match (param.key(), native.key()) {
                (b"bits", _) => param.set_unsigned(curve.bits() as u64)?,
                (b"security-bits", _) => param.set_unsigned(curve.security_bits() as u64)?,
                (b"max-size", _) => param.set_unsigned(curve.max_signature_length() as u64)?,
                (b"security-category", _) if shared.libcrypto_is_at_least(4, 0) => {
                    param.set_unsigned(0)?;
                }
                (b"group", _) => param.set_text(curve.name())?,
                (b"encoded-pub-key", Some(key)) => {
                    param.set_octets(&key.point(Form::Uncompressed).map_err(refuse)?)?;
                }
                _ => return Ok(false),
            }
            Ok(true)
        })
    }

    /// A peer's public half, as TLS sets it.
    fn with(native: &Native, params: Params<'_>) -> Option<Native> {
        let point = params.find(c"encoded-pub-key")?;
        if params.count() != 1 || native.is_private() {
            return None;
        }
        let point = point.octets().ok()?;
        if point.first() != Some(&4) {
            return None;
        }
        ec::Key::public(native.curve(), point).ok().map(Native::of)
    }

    fn wish(wish: &mut Option<Curve>, _: Selection, params: Params<'_>) -> bool {
        let mut params = params;
        params.all(|param| match param.key() {
            b"group" => {
                *wish = param.text().ok().and_then(Curve::from_name);
                wish.is_some()
            }
            b"encoding" => param.text().is_ok_and(|encoding| encoding == "named_curve"),
            b"point-format" => param.text().is_ok_and(|form| form == "uncompressed"),
            b"use-cofactor-flag" => param.integer().is_ok_and(|flag| flag == 0),
            _ => false,
        })
    }

    fn template(wish: &mut Option<Curve>, template: &Native) -> bool {
        *wish = Some(template.curve());
        true
    }

    fn generate(shared: &Shared, wish: &Option<Curve>) -> Option<Result<Native>> {
        let curve = (*wish)?;
        let operation = keygen(curve);
        let made = match shared.path(operation) {
            path if path.has_lanes() => generate_on_card(shared, curve),
            _ => shared.run(Some(operation), Path::Scalar, || {
                ec::Key::generate(curve).map_err(refuse)
            }),
        };
        Some(made.map(Native::of))
    }
}

/// Owns nothing while the card works: see [`Shared::run_on_card`].
fn generate_on_card(shared: &Shared, curve: Curve) -> Result<ec::Key> {
    let pair = shared.run_on_card(Request::ec_generate(curve))?;
    let halves = pair.split_at_checked(curve.field_length());
    let (number, point) = halves.ok_or(Reason::Internal)?;
    ec::Key::private(curve, number, Some(point)).map_err(refuse)
}

/// How the ledger calls making a key.
fn keygen(curve: Curve) -> Operation {
    match curve {
        Curve::P256 => Operation::P256Keygen,
        Curve::P384 => Operation::P384Keygen,
        Curve::P521 => Operation::P521Keygen,
    }
}
