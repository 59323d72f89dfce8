//! EC keys.

use std::ffi::CStr;
use std::sync::Arc;

use once_cell::race::OnceBox;
use outboard_engine::card::Request;
use outboard_engine::scalar::ec::{self, Curve, Form};
use outboard_engine::{Operation, Path};
use outboard_provider_abi::params::{END, integer, octets, text, unsigned};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::{
    Check, Error, KeyManagement, Kind, ParamList, ParamMut, Params, ParamsMut, Reason, Result,
    Selection, descriptors,
};

use crate::outboard::{Outboard, Shared, refuse};
use crate::signing::SigningKey;
use crate::stock;

const NAME: &CStr = c"EC";
const ALL: Selection = Selection(Selection::PAIR.0 | Selection::DOMAIN.0 | Selection::OTHER.0);

/// What says which curve it is, by name or explicitly.
const DOMAIN: [Param; 11] = [
    text(c"group"),
    text(c"encoding"),
    text(c"point-format"),
    text(c"field-type"),
    unsigned(c"p"),
    unsigned(c"a"),
    unsigned(c"b"),
    octets(c"generator"),
    unsigned(c"order"),
    unsigned(c"cofactor"),
    octets(c"seed"),
];

/// A key.
pub(crate) struct Key {
    shared: Arc<Shared>,
    content: Content,
    stock: OnceBox<Arc<stock::Key>>,
}

/// What a key holds.
enum Content {
    Nothing,
    Curve(Curve),
    Native(Arc<ec::Key>),
    /// Something that only the default provider understands; it is in the key's `stock`.
    Foreign,
}

impl Content {
    fn native(key: ec::Key) -> Self {
        Self::Native(Arc::new(key))
    }
}

impl Key {
    /// The engine's form of it, where there is one.
    pub(super) fn native(&self) -> Option<&Arc<ec::Key>> {
        match &self.content {
            Content::Native(key) => Some(key),
            _ => None,
        }
    }

    fn of(shared: Arc<Shared>, content: Content) -> Self {
        Self {
            shared,
            content,
            stock: OnceBox::new(),
        }
    }

    fn foreign(shared: Arc<Shared>, key: stock::Key) -> Self {
        let stock = OnceBox::with_value(Box::new(Arc::new(key)));
        Self {
            shared,
            content: Content::Foreign,
            stock,
        }
    }

    fn like(&self, content: Content) -> Self {
        Self::of(Arc::clone(&self.shared), content)
    }

    fn curve(&self) -> Option<Curve> {
        match &self.content {
            Content::Curve(curve) => Some(*curve),
            Content::Native(key) => Some(key.curve()),
            _ => None,
        }
    }

    /// The parameters of a key that is ours.
    fn params(&self, selection: Selection) -> Result<ParamList> {
        let mut params = ParamList::new();
        if let Some(curve) = self.curve() {
            params = params.text(c"group", &curve.name().to_string_lossy());
        }
        if let Content::Native(key) = &self.content {
            if selection.touches(Selection::PAIR) {
                params = params.octets(c"pub", &key.point(Form::Uncompressed).map_err(refuse)?);
            }
            if selection.touches(Selection::PRIVATE) && key.is_private() {
                params = params.big_endian(c"priv", &key.number().map_err(refuse)?);
            }
        }
        Ok(params)
    }

    fn read(&self, selection: Selection, params: Params<'_>) -> Result<Content> {
        let curve = match params.find(c"group") {
            Some(group) => Curve::from_name(group.text()?),
            None => None,
        };
        let Some(curve) = curve.filter(|_| is_plain(params)) else {
            return Ok(Content::Foreign);
        };
        let wanted = |name, part| params.find(name).filter(|_| selection.touches(part));
        // With either half selected, as OpenSSL's own: its hybrids of ML-KEM bring public keys in by asking
        // for the private half.
        let point = match wanted(c"pub", Selection::PAIR) {
            Some(param) => Some(param.octets()?),
            None => None,
        };
        let key = match (wanted(c"priv", Selection::PRIVATE), point) {
            (Some(number), point) => ec::Key::private(curve, &number.big_endian()?, point),
            (None, Some(point)) => ec::Key::public(curve, point),
            (None, None) => return Ok(Content::Curve(curve)),
        };
        // What the engine refuses, such as a point off the curve, the default provider shall judge.
        Ok(key.map_or(Content::Foreign, Content::native))
    }

    fn answer(&self, curve: Curve, param: &mut ParamMut<'_>) -> Result<bool> {
        let key = self.native();
        match (param.key(), key) {
            (b"group", _) => param.set_text(curve.name())?,
            (b"bits", _) => param.set_unsigned(curve.bits() as u64)?,
            (b"security-bits", _) => param.set_unsigned(curve.security_bits() as u64)?,
            (b"max-size", _) => param.set_unsigned(curve.max_signature_length() as u64)?,
            (b"default-digest", _) => param.set_text(c"SHA256")?,
            (b"encoding", _) => param.set_text(c"named_curve")?,
            (b"point-format", _) => param.set_text(c"uncompressed")?,
            (b"decoded-from-explicit" | b"use-cofactor-flag", _) => param.set_unsigned(0)?,
            (b"pub" | b"encoded-pub-key", Some(key)) => {
                param.set_octets(&key.point(Form::Uncompressed).map_err(refuse)?)?;
            }
            (b"qx", Some(key)) => {
                let point = key.point(Form::Uncompressed).map_err(refuse)?;
                param.set_big_endian(&point[1..=curve.field_length()])?;
            }
            (b"qy", Some(key)) => {
                let point = key.point(Form::Uncompressed).map_err(refuse)?;
                param.set_big_endian(&point[1 + curve.field_length()..])?;
            }
            (b"priv", Some(key)) if key.is_private() => {
                param.set_big_endian(&key.number().map_err(refuse)?)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl SigningKey for Key {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn operation(&self, signing: bool) -> Option<Operation> {
        Some(match (self.native()?.curve(), signing) {
            (Curve::P256, true) => Operation::P256Sign,
            (Curve::P256, false) => Operation::P256Verify,
            (Curve::P384, true) => Operation::P384Sign,
            (Curve::P384, false) => Operation::P384Verify,
            (Curve::P521, true) => Operation::P521Sign,
            (Curve::P521, false) => Operation::P521Verify,
        })
    }

    fn signature_length(&self) -> Result<usize> {
        match self.curve() {
            Some(curve) => Ok(curve.max_signature_length()),
            None => Ok(SigningKey::stock(self)?.size()),
        }
    }

    fn stock(&self) -> Result<Arc<stock::Key>> {
        if let Some(key) = self.stock.get() {
            return Ok(Arc::clone(key));
        }
        let key = self
            .params(ALL)?
            .with_array(|params| stock::Key::import(self.shared.stock()?, NAME, ALL, params))?;
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
        ],
        DOMAIN,
        [
            integer(c"decoded-from-explicit"),
            integer(c"use-cofactor-flag"),
            octets(c"pub"),
            octets(c"encoded-pub-key"),
            unsigned(c"qx"),
            unsigned(c"qy"),
            unsigned(c"priv"),
        ]
    );
    const SETTABLE: &'static [Param] = &[
        integer(c"use-cofactor-flag"),
        octets(c"encoded-pub-key"),
        text(c"encoding"),
        text(c"point-format"),
        octets(c"seed"),
        integer(c"include-public"),
        text(c"group-check"),
        END,
    ];
    const GENERATOR_SETTABLE: &'static [Param] = descriptors!(
        DOMAIN,
        [integer(c"use-cofactor-flag"), octets(c"dhkem-ikm")]
    );

    fn operation_name(kind: Kind) -> &'static CStr {
        match kind {
            Kind::KeyExchange => c"ECDH",
            Kind::Signature => c"ECDSA",
            _ => NAME,
        }
    }

    fn types(selection: Selection) -> &'static [Param] {
        const TYPES: &[Param] = descriptors!(
            DOMAIN,
            [
                octets(c"pub"),
                unsigned(c"priv"),
                integer(c"use-cofactor-flag"),
                integer(c"include-public"),
            ]
        );
        const NOTHING: &[Param] = &[END];
        if selection.touches(ALL) {
            TYPES
        } else {
            NOTHING
        }
    }

    fn empty(provider: &Outboard, _variant: u8) -> Result<Self> {
        Ok(Self::of(provider.shared(), Content::Nothing))
    }

    fn import(&self, selection: Selection, params: Params<'_>) -> Result<Option<Self>> {
        Ok(Some(match self.read(selection, params)? {
            Content::Foreign => {
                let stock = self.shared.stock()?;
                let key = stock::Key::import(stock, NAME, selection, params.as_ptr())?;
                Self::foreign(Arc::clone(&self.shared), key)
            }
            content => self.like(content),
        }))
    }

    fn export(
        &self,
        selection: Selection,
        give: &mut dyn FnMut(*const Param) -> bool,
    ) -> Result<bool> {
        match self.content {
            Content::Nothing => Ok(false),
            Content::Foreign => self.stock()?.export(selection, give),
            _ => Ok(self.params(selection)?.with_array(give)),
        }
    }

    fn has(&self, selection: Selection) -> bool {
        match &self.content {
            Content::Nothing => selection.0 & !Selection::OTHER.0 == 0,
            Content::Curve(_) => !selection.touches(Selection::PAIR),
            Content::Native(key) => key.is_private() || !selection.touches(Selection::PRIVATE),
            Content::Foreign => self.stock().is_ok_and(|key| key.has(selection)),
        }
    }

    fn matches(&self, other: &Self, selection: Selection) -> Result<bool> {
        match (&self.content, &other.content) {
            (Content::Nothing, _) | (_, Content::Nothing) => Ok(false),
            (Content::Native(one), Content::Native(two)) => Ok(one.curve() == two.curve()
                && (!selection.touches(Selection::PAIR)
                    || one.point(Form::Compressed).map_err(refuse)?
                        == two.point(Form::Compressed).map_err(refuse)?)),
            _ => Ok(self.stock()?.matches(&*other.stock()?, selection)),
        }
    }

    fn validate(&self, selection: Selection, check: Check) -> Result<bool> {
        match &self.content {
            Content::Nothing => Ok(false),
            Content::Curve(_) => Ok(!selection.touches(Selection::PAIR)),
            // That a point is on its curve was checked when it was taken; the curves have a prime
            // order, so that is all there is to check (SP 800-56A, 5.6.2.3.3 and 5.6.2.3.4).
            Content::Native(key) => {
                Ok(self.has(selection) && (!selection.touches(Selection::PRIVATE) || key.check()))
            }
            Content::Foreign => self.stock()?.validate(selection, check),
        }
    }

    fn duplicate(&self, selection: Selection) -> Result<Self> {
        if matches!(self.content, Content::Nothing) {
            return Ok(self.like(Content::Nothing));
        }
        let mut copy = Ok(None);
        self.export(selection, &mut |params| {
            // SAFETY: an array that is whole for the call.
            copy = self.import(selection, unsafe { Params::new(params) });
            copy.is_ok()
        })?;
        copy?.ok_or(Error::from(Reason::OperationFailed))
    }

    fn get(&self, mut params: ParamsMut<'_>) -> Result<()> {
        if let Some(curve) = self.curve()
            && params.answer(|param| self.answer(curve, param))?
        {
            return Ok(());
        }
        if matches!(self.content, Content::Nothing) {
            return Ok(());
        }
        self.stock()?.get(params.as_mut_ptr())
    }

    fn set(&self, params: Params<'_>) -> Result<Self> {
        if let (Some(curve), Some(point)) = (self.curve(), params.find(c"encoded-pub-key"))
            && params.count() == 1
        {
            let key = ec::Key::public(curve, point.octets()?).map_err(refuse)?;
            return Ok(self.like(Content::native(key)));
        }
        let key = self.stock()?.with(params.as_ptr())?;
        Ok(Self::foreign(Arc::clone(&self.shared), key))
    }

    fn generator(provider: &Outboard, _variant: u8, selection: Selection) -> Result<Generator> {
        Ok(Generator {
            shared: provider.shared(),
            selection,
            params: ParamList::new(),
        })
    }

    fn generator_template(generator: &mut Generator, template: &Self) -> Result<()> {
        template.export(Selection::DOMAIN, &mut |params| {
            // SAFETY: an array that is whole for the call.
            generator.params.record(unsafe { Params::new(params) });
            true
        })?;
        Ok(())
    }

    fn generator_set(generator: &mut Generator, params: Params<'_>) -> Result<()> {
        generator.params.record(params);
        Ok(())
    }

    fn generate(generator: &mut Generator) -> Result<Self> {
        let shared = &generator.shared;
        let curve = generator.params.with_array(|params| {
            // SAFETY: our own array, whole for the call.
            let params = unsafe { Params::new(params) };
            let group = params.find(c"group").and_then(|group| group.text().ok());
            group
                .and_then(Curve::from_name)
                .filter(|_| is_plain(params))
        });
        match curve {
            Some(curve) if !generator.selection.touches(Selection::PAIR) => {
                Ok(Self::of(Arc::clone(shared), Content::Curve(curve)))
            }
            Some(curve) => {
                let made = match shared.path(keygen(curve)) {
                    Path::Card => generate_on_card(shared, curve),
                    _ => shared.run(Some(keygen(curve)), Path::Scalar, || {
                        ec::Key::generate(curve).map_err(refuse)
                    }),
                };
                match made {
                    Err(error) if error.reason() == Reason::Randomness => {
                        generate_foreign(generator)
                    }
                    made => Ok(Self::of(Arc::clone(shared), Content::native(made?))),
                }
            }
            None => generate_foreign(generator),
        }
    }
}

/// A key generation under way.
pub(crate) struct Generator {
    shared: Arc<Shared>,
    selection: Selection,
    params: ParamList,
}

/// Owns nothing while the card works: see [`Shared::run_on_card`].
fn generate_on_card(shared: &Shared, curve: Curve) -> Result<ec::Key> {
    let pair = shared.run_on_card(Request::ec_generate(curve))?;
    let halves = pair.split_at_checked(curve.field_length());
    let (number, point) = halves.ok_or(Error::from(Reason::Internal))?;
    ec::Key::private(curve, number, Some(point)).map_err(refuse)
}

/// A key that the default provider makes.
fn generate_foreign(generator: &Generator) -> Result<Key> {
    let (shared, params) = (&generator.shared, &generator.params);
    let key = stock::Key::generate(shared.stock()?, NAME, generator.selection, params)?;
    Ok(Key::foreign(Arc::clone(shared), key))
}

/// How the ledger calls making a key.
fn keygen(curve: Curve) -> Operation {
    match curve {
        Curve::P256 => Operation::P256Keygen,
        Curve::P384 => Operation::P384Keygen,
        Curve::P521 => Operation::P521Keygen,
    }
}

/// Whether nothing about the key asks for more than its curve's name tells.
fn is_plain(params: Params<'_>) -> bool {
    params.into_iter().all(|param| match param.key() {
        b"encoding" => param.text().is_ok_and(|encoding| encoding == "named_curve"),
        b"point-format" => param.text().is_ok_and(|form| form == "uncompressed"),
        b"group-check" => param.text().is_ok_and(|check| check == "default"),
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
