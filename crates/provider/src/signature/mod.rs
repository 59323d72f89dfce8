//! Signatures: the engine signs and verifies what is plain, stock does everything else.
//!
//! ```text
//! init ──▶ certain ──digest──▶ engine             stock has not heard of it, and need not
//!    │        └── a setting, a question ──┐
//!    └──────────────────────────────────▶ stock's context stands behind ours: it takes every setting, and its answer
//!                                         is the answer. While all that it took is plain, the engine signs.
//! ```
//!
//! An algorithm says what is plain ([`Algorithm`]). What the engine does not sign, or does not find true, stock judges: so
//! a refusal is stock's own, with its words and its number.

mod algorithm;
mod ecdsa;
mod eddsa;
mod heard;
mod plain;
mod rsa;

pub(crate) use ecdsa::Ecdsa;
pub(crate) use eddsa::Eddsa;
pub(crate) use rsa::{Rsa, asked};

use std::ffi::{CStr, CString, c_int};
use std::sync::Arc;

use outboard_engine::ledger::{self, Reason as Why};
use outboard_engine::scalar::digest::{Digest, Hasher, Value};
use outboard_engine::{Operation, Path};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::signature::{Of, Purpose, Signature};
use outboard_provider_abi::{Error, Input, Output, Params, ParamsMut, Reason, Result};

use crate::key::{Key, Service};
use crate::outboard::{Outboard, Shared, reason, refuse};
use crate::stock::{self, Signing};
use algorithm::{Algorithm, Native};
use heard::Heard;
use plain::Plain;

/// A signature context.
pub(crate) struct Context<A: Algorithm> {
    shared: Arc<Shared>,
    /// Digests are fetched by that query.
    properties: Option<CString>,
    key: Option<Arc<Key<A::Key>>>,
    /// What it was last set up for.
    purpose: Option<Purpose>,
    /// The digest's name at that time.
    digest_name: Option<CString>,
    /// What the engine has to know, while it would do the operation.
    plain: Option<Plain<A>>,
    /// What the engine has hashed.
    hasher: Option<Hasher>,
    /// Whether a signature's size was told, which stock's context remembers in some versions.
    size_told: bool,
    /// Stock's context; none where it is certain what it would have answered so far.
    stock: Option<Signing>,
    /// What stock's context was told since it was begun.
    heard: Heard,
}

/// The longest signature of any algorithm.
const MOST: usize = 512;
/// The longest message that a card gets, which needs a copy. Of a longer one most of the time goes into its digest, which the
/// lanes do not share.
const MOST_QUEUED: usize = 1 << 16;

/// The longest message that is signed without a digest of its own: of a longer one most of the time goes into SHA-512,
/// which OpenSSL's code does faster.
const MOST_HASHED: usize = 1 << 14;

impl<A: Algorithm> Signature for Context<A> {
    type Key = Key<A::Key>;

    fn new(provider: &Outboard, properties: Option<&CStr>) -> Result<Option<Self>> {
        Ok(Some(Self {
            shared: provider.shared(),
            properties: properties
                .filter(|query| !query.is_empty())
                .map(CStr::to_owned),
            key: None,
            purpose: None,
            digest_name: None,
            plain: None,
            hasher: None,
            size_told: false,
            stock: None,
            heard: Heard::default(),
        }))
    }

    fn duplicate(&mut self) -> Result<Option<Self>> {
        Ok(Some(Self {
            shared: Arc::clone(&self.shared),
            properties: self.properties.clone(),
            key: self.key.clone(),
            purpose: self.purpose,
            digest_name: self.digest_name.clone(),
            plain: self.plain.clone(),
            hasher: self
                .hasher
                .as_ref()
                .map(Hasher::try_clone)
                .transpose()
                .map_err(refuse)?,
            size_told: self.size_told,
            stock: self.stock.as_ref().map(Signing::duplicate).transpose()?,
            heard: self.heard.clone(),
        }))
    }

    fn init(
        &mut self,
        purpose: Purpose,
        digest: Option<&CStr>,
        key: Option<Arc<Key<A::Key>>>,
        params: Params<'_>,
    ) -> Result<c_int> {
        let digest = digest.filter(|name| !name.is_empty());
        let native = key.as_ref().and_then(|key| Some((key, key.native()?)));
        let service = key.as_ref().or(self.key.as_ref());
        let service = service.filter(|key| key.service().is_some());
        let plain = native
            .map(|(key, _)| key)
            .or(service)
            .and_then(|key| Plain::begin(key, purpose, digest));
        let certain = self.purpose.is_none()
            && self.stock.is_none()
            && self.properties.is_none()
            && params.is_empty()
            && plain.is_some()
            && digest.is_none_or(is_certain)
            && native.is_some_and(|(key, native)| {
                A::is_certain(key) && A::operation(native, signs(purpose)).is_some()
            });
        let answer = match certain {
            true => 1,
            false => {
                let stocks = key.as_ref().map(|key| key.stock()).transpose()?;
                let stocks = stocks.map(Arc::as_ref);
                self.stock()?.init(purpose, digest, stocks, params)
            }
        };
        self.key = key.or_else(|| self.key.take());
        self.purpose = Some(purpose);
        self.digest_name = digest.map(CStr::to_owned);
        self.hasher = None;
        self.size_told = false;
        self.heard = Heard::default();
        self.plain = plain.filter(|_| answer == 1);
        self.take(params);
        Ok(answer)
    }

    fn sign(&mut self, data: Input<'_>, mut output: Output<'_>) -> Result<c_int> {
        if self.is_for_service(&output) {
            return self.sign_by_service(data, &mut output);
        }
        let purpose = self.purpose;
        if (purpose == Some(Purpose::Sign) || (!A::HASHES && purpose == Some(Purpose::MessageSign)))
            && self.answer(data, &mut output)?
        {
            return Ok(1);
        }
        Ok(self.stock()?.sign(data, output))
    }

    fn verify(&mut self, signature: Input<'_>, data: Input<'_>) -> Result<c_int> {
        let purpose = self.purpose;
        if (purpose == Some(Purpose::Verify)
            || (!A::HASHES && purpose == Some(Purpose::MessageVerify)))
            && let (Some(signature), Some(data)) = (signature.bytes(), data.bytes())
            && self.verify_plain(data, signature)?
        {
            return Ok(1);
        }
        Ok(self.stock()?.verify(signature, data))
    }

    fn recover(&mut self, signature: Input<'_>, output: Output<'_>) -> Result<c_int> {
        Ok(self.stock()?.recover(signature, output))
    }

    fn update(&mut self, purpose: Purpose, data: Input<'_>) -> Result<c_int> {
        if self.hasher.is_none() && self.purpose == Some(purpose) {
            self.hasher = self.new_hasher()?;
        }
        match &mut self.hasher {
            Some(hasher) => {
                if data.length() > 0 {
                    let Some(data) = data.bytes() else {
                        return Ok(0);
                    };
                    hasher.update(data).map_err(refuse)?;
                }
                Ok(1)
            }
            None => Ok(self.stock()?.update(purpose, data)),
        }
    }

    fn finish_sign(&mut self, purpose: Purpose, mut output: Output<'_>) -> Result<c_int> {
        if output.is_query()
            && let Some((key, _)) = self.ours()
        {
            output.tell(A::most(key));
            self.size_told = true;
            if let Some(stock) = &mut self.stock {
                stock.ask_size(purpose);
            }
            return Ok(1);
        }
        if output.is_query() {
            let answer = self.stock()?.finish_sign(purpose, output);
            self.size_told = true;
            return Ok(answer);
        }
        if self.is_for_service(&output) {
            if self.hasher.is_none() {
                self.hasher = self.new_hasher()?;
            }
            let Some(hasher) = &mut self.hasher else {
                return Err(self.unsupported());
            };
            let digest = hasher.finish_and_reset().map_err(refuse)?;
            return self.sign_by_service(Input::of(&digest), &mut output);
        }
        if self.hasher.is_none() {
            self.leave();
            return Ok(self.stock()?.finish_sign(purpose, output));
        }
        let digest = self.finish()?;
        if self.sign_plain(&digest, &mut output)? {
            return Ok(1);
        }
        let mut stock = self.stock_of_digest(Purpose::Sign)?;
        Ok(stock.sign(Input::of(&digest), output))
    }

    fn finish_verify(&mut self, purpose: Purpose, signature: Input<'_>) -> Result<c_int> {
        // An empty signature is none of any message; how that is said differs between versions.
        if self.hasher.is_none() || signature.length() == 0 {
            self.leave();
            return Ok(self.stock()?.finish_verify(purpose, signature));
        }
        let digest = self.finish()?;
        if let Some(signature) = signature.bytes()
            && self.verify_plain(&digest, signature)?
        {
            return Ok(1);
        }
        let mut stock = self.stock_of_digest(Purpose::Verify)?;
        Ok(stock.verify(signature, Input::of(&digest)))
    }

    fn digest_sign(&mut self, data: Input<'_>, mut output: Output<'_>) -> Result<c_int> {
        if self.is_for_service(&output) {
            return match A::HASHES {
                true => Err(self.unsupported()),
                false => self.sign_by_service(data, &mut output),
            };
        }
        if !A::HASHES
            && self.purpose == Some(Purpose::DigestSign)
            && self.answer(data, &mut output)?
        {
            return Ok(1);
        }
        Ok(self.stock()?.digest_sign(data, output))
    }

    fn digest_verify(&mut self, signature: Input<'_>, data: Input<'_>) -> Result<c_int> {
        if !A::HASHES
            && self.purpose == Some(Purpose::DigestVerify)
            && let (Some(signature), Some(data)) = (signature.bytes(), data.bytes())
            && self.verify_plain(data, signature)?
        {
            return Ok(1);
        }
        Ok(self.stock()?.digest_verify(signature, data))
    }

    fn set(&mut self, of: Of, params: Params<'_>) -> Result<c_int> {
        let answer = self.stock()?.set(of, params);
        match (answer, of) {
            (1, Of::Context) => self.take(params),
            (_, of) => {
                if of == Of::Context {
                    self.heard.note(params, true, true);
                }
                self.plain = None;
            }
        }
        Ok(answer)
    }

    fn get(&mut self, of: Of, params: ParamsMut<'_>) -> Result<c_int> {
        Ok(self.stock()?.get(of, params))
    }

    fn settable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.and_then(|context| context.stock().ok());
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.settable_of_signature(A::NAME, context.as_deref())
        })
    }

    fn gettable(context: Option<&mut Self>, provider: &Outboard) -> *const Param {
        let context = context.and_then(|context| context.stock().ok());
        provider.stock().map_or(std::ptr::null(), |stock| {
            stock.gettable_of_signature(A::NAME, context.as_deref())
        })
    }

    fn digest_settable(&mut self) -> *const Param {
        let stock = self.stock().ok();
        stock.map_or(std::ptr::null(), |stock| stock.digest_settable())
    }

    fn digest_gettable(&mut self) -> *const Param {
        let stock = self.stock().ok();
        stock.map_or(std::ptr::null(), |stock| stock.digest_gettable())
    }
}

impl<A: Algorithm> Context<A> {
    /// Notes parameters that stock took.
    fn take(&mut self, params: Params<'_>) {
        if params.is_empty() {
            return;
        }
        self.heard.note(params, false, self.hasher.is_some());
        if A::HASHES && params.find(c"digest").is_some() {
            return self.take_digest(params);
        }
        self.plain = self.plain.take().and_then(|mut plain| {
            let mut params = params;
            let known = params.all(|param| A::take(&mut plain.settings, plain.digest, &param));
            known.then_some(plain)
        });
    }

    /// Notes parameters with a digest among them.
    fn take_digest(&mut self, params: Params<'_>) {
        let named = params.find(c"digest").and_then(|name| name.text().ok());
        let named = named.and_then(Digest::from_name);
        let known = match (&self.hasher, self.purpose) {
            // Stock goes on with the one that it has, whichever is named, unless a size was asked for.
            (Some(_), _) => !self.size_told,
            (None, Some(Purpose::Sign | Purpose::Verify)) => named.is_some(),
            // What becomes of a message's digest differs between versions.
            _ => false,
        };
        if !known {
            (self.hasher, self.plain) = (None, None);
        }
        self.plain = self.plain.take().and_then(|mut plain| {
            let begun = self.hasher.as_ref().map(Hasher::digest);
            plain.digest = begun.or(named);
            let mut others = params.filter(|param| param.key() != b"digest");
            let known = others.all(|param| A::take(&mut plain.settings, plain.digest, &param));
            known.then_some(plain)
        });
    }

    /// The key and what the engine has to know, while it would do the operation.
    fn ours(&self) -> Option<(&Native<A>, &Plain<A>)> {
        Some((self.key.as_ref()?.native()?, self.plain.as_ref()?))
    }

    /// Whether the card service is to sign; a signature's size stock tells.
    fn is_for_service(&self, output: &Output<'_>) -> bool {
        !output.is_query() && self.service().is_some() && self.signs()
    }

    fn service(&self) -> Option<&Service> {
        self.key.as_ref()?.service()
    }

    /// The error of what the card service does not do.
    fn unsupported(&self) -> Error {
        self.service()
            .map_or_else(Error::silent, Service::unsupported)
    }

    /// Signs by the card service. It verifies what it gives out, and has the only key that a fault could give away: it is
    /// not verified again here.
    fn sign_by_service(&self, data: Input<'_>, output: &mut Output<'_>) -> Result<c_int> {
        let (Some(service), Some(plain), Some(data)) = (self.service(), &self.plain, data.bytes())
        else {
            return Err(self.unsupported());
        };
        if A::objection(&plain.settings, plain.digest).is_some() {
            return Err(service.unsupported());
        }
        let operation = A::asked(service, &plain.settings, plain.digest, data)?;
        let signature = service.ask(&self.shared, operation)?;
        match output.put(&signature) {
            true => Ok(1),
            false => Err(service.error(Reason::BufferTooSmall, "no room for the signature")),
        }
    }

    /// A hasher for the engine to sign what it makes; none where stock hashes.
    fn new_hasher(&self) -> Result<Option<Hasher>> {
        if self.service().is_some() && self.purpose == Some(Purpose::DigestSign) {
            let digest = self.plain.as_ref().and_then(|plain| plain.digest);
            let digest = digest.filter(|_| A::HASHES);
            return digest.map(Hasher::new).transpose().map_err(refuse);
        }
        let Some((key, plain)) = self.ours().filter(|_| A::HASHES) else {
            return Ok(None);
        };
        let hashes = matches!(
            self.purpose,
            Some(Purpose::DigestSign | Purpose::DigestVerify)
        );
        let serves = A::operation(key, self.signs()).is_some_and(|operation| {
            self.shared.offers(operation) && A::objection(&plain.settings, plain.digest).is_none()
        });
        match plain.digest.filter(|_| hashes && serves) {
            Some(digest) => Hasher::new(digest).map(Some).map_err(refuse),
            None => Ok(None),
        }
    }

    /// The digest of the message.
    fn finish(&mut self) -> Result<Value> {
        match &mut self.hasher {
            Some(hasher) => hasher.finish_and_reset().map_err(refuse),
            None => Err(Error::from(outboard_provider_abi::Reason::Internal)),
        }
    }

    fn signs(&self) -> bool {
        self.purpose.is_some_and(signs)
    }

    /// Tells the ledger that stock does the whole of an operation that the engine knows, and why.
    fn leave(&self) {
        if let Some((operation, objection)) = self.objection() {
            ledger::fall_back(operation, objection.unwrap_or(Why::Parameter));
        }
    }

    /// The operation, and why the engine would not do it; none where it has nothing of the kind.
    fn objection(&self) -> Option<(Operation, Option<Why>)> {
        let key = self.key.as_ref()?.native()?;
        let operation = A::operation(key, self.signs())?;
        let objection = match &self.plain {
            None => {
                let name = self
                    .digest_name
                    .as_ref()
                    .and_then(|name| name.to_str().ok());
                let unknown = name.is_some_and(|name| Digest::from_name(name).is_none());
                Some(if unknown { Why::Digest } else { Why::Parameter })
            }
            Some(_) if !self.shared.offers(operation) => Some(Why::Profile),
            Some(plain) => A::objection(&plain.settings, plain.digest),
        };
        Some((operation, objection))
    }

    /// The operation and where it runs; the ledger hears why, where the engine does not do it.
    fn path(&self) -> Option<(Operation, Path)> {
        let (operation, objection) = self.objection()?;
        match objection {
            None => Some((operation, self.shared.path(operation))),
            Some(why) => {
                ledger::fall_back(operation, why);
                None
            }
        }
    }

    /// Tells a signature's size, or signs, without stock; false where stock has to.
    fn answer(&self, data: Input<'_>, output: &mut Output<'_>) -> Result<bool> {
        match (output.is_query(), self.ours(), data.bytes()) {
            (true, Some((key, _)), _) => {
                output.tell(A::most(key));
                Ok(true)
            }
            (false, _, Some(data)) => self.sign_plain(data, output),
            _ => Ok(false),
        }
    }

    /// Signs by the engine; false where stock has to.
    fn sign_plain(&self, data: &[u8], output: &mut Output<'_>) -> Result<bool> {
        let Some((operation, path)) = self.path() else {
            return Ok(false);
        };
        let Some((key, plain)) = self.ours() else {
            return Ok(false);
        };
        if output.is_query() || output.room() < A::most(key) {
            return Ok(false);
        }
        if !A::HASHES && data.len() > MOST_HASHED {
            ledger::fall_back(operation, Why::Size);
            return Ok(false);
        }
        let signed = match path {
            path if path.has_lanes() && data.len() <= MOST_QUEUED => {
                self.sign_on_card(operation, data, output)
            }
            _ => self.shared.run(Some(operation), Path::Scalar, || {
                let mut room = [0; MOST];
                let written = A::sign(key, &plain.settings, plain.digest, data, &mut room)?;
                Ok(output.put(&room[..written]))
            }),
        };
        // A fault, numbers that do not belong together, a sandbox, data of a wrong length: nothing was released, and
        // stock may know a way, or says what is wrong.
        Ok(signed.unwrap_or(false))
    }

    /// Owns nothing while the card works: see [`Shared::run_on_card`].
    fn sign_on_card(
        &self,
        operation: Operation,
        data: &[u8],
        output: &mut Output<'_>,
    ) -> Result<bool> {
        let Some((key, plain)) = self.ours() else {
            return Ok(false);
        };
        let request = A::request(key, &plain.settings, plain.digest, data)
            .inspect_err(|error| ledger::fall_back(operation, reason(error)))?;
        let signature = self.shared.run_on_card(request)?;
        Ok(output.put(&signature))
    }

    /// Verifies by the engine; false where stock has to judge.
    fn verify_plain(&self, data: &[u8], signature: &[u8]) -> Result<bool> {
        let Some((operation, _)) = self.path() else {
            return Ok(false);
        };
        let Some((key, plain)) = self.ours() else {
            return Ok(false);
        };
        // Verifying has no lanes.
        let verified = self.shared.run(Some(operation), Path::Scalar, || {
            A::verify(key, &plain.settings, plain.digest, data, signature)
        });
        Ok(verified.unwrap_or(false))
    }

    /// Stock's context, which has heard all.
    fn stock(&mut self) -> Result<&mut Signing> {
        if self.stock.is_none() {
            let properties = self.properties.as_deref();
            let mut stock = Signing::new(&self.shared, A::NAME, properties)?;
            if let Some(purpose) = self.purpose {
                let key = self.key.as_ref().map(|key| key.stock()).transpose()?;
                let digest = self.digest_name.as_deref();
                if stock.init(purpose, digest, key.map(Arc::as_ref), Params::EMPTY) != 1 {
                    return Err(Error::silent());
                }
                if self.size_told {
                    stock.ask_size(purpose);
                }
            }
            return Ok(self.stock.insert(stock));
        }
        self.stock.as_mut().ok_or_else(stock::unreachable)
    }

    /// A context of stock's for what the engine has hashed, with all that was set.
    fn stock_of_digest(&self, purpose: Purpose) -> Result<Signing> {
        let key = self.key.as_ref().map(|key| key.stock()).transpose()?;
        let mut stock = Signing::new(&self.shared, A::NAME, self.properties.as_deref())?;
        if stock.init(purpose, None, key.map(Arc::as_ref), Params::EMPTY) != 1 {
            return Err(Error::silent());
        }
        let digest = self.digest_name.as_deref();
        match self.heard.repeat(digest, &self.shared, &mut stock) {
            true => Ok(stock),
            false => Err(Error::silent()),
        }
    }
}

fn signs(purpose: Purpose) -> bool {
    matches!(
        purpose,
        Purpose::Sign | Purpose::DigestSign | Purpose::MessageSign
    )
}

/// Whether stock is sure to have that digest, and to sign with it.
fn is_certain(digest: &CStr) -> bool {
    let digest = digest.to_str().ok().and_then(Digest::from_name);
    matches!(
        digest,
        Some(Digest::Sha256 | Digest::Sha384 | Digest::Sha512)
    )
}
