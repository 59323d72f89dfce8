//! Signatures of every algorithm: hash, settle the path, sign or verify there.
//!
//! An algorithm says what the engine understands ([`Algorithm`]). A setting it does not understand
//! sends the whole operation, with all that was set, to the program's own libcrypto: whatever worked
//! without Outboard works with it.

use std::ffi::{CStr, CString};
use std::sync::Arc;

use outboard_engine::card::Request;
use outboard_engine::ledger::{self, Reason as Why};
use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_engine::{Operation, Path};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::signature::{Purpose, Signature};
use outboard_provider_abi::{
    Error, KeyManagement, ParamList, ParamMut, ParamRef, Params, ParamsMut, Reason, Result,
};

use crate::outboard::{Outboard, Shared, reason, refuse};
use crate::stock::{self, Signing};

/// A key as signing needs it.
pub(crate) trait SigningKey: KeyManagement<Provider = Outboard> {
    /// What the keys of a library context share.
    fn shared(&self) -> &Shared;
    /// How the ledger calls signing or verifying with it; none where the engine does not hold it.
    fn operation(&self, signing: bool) -> Option<Operation>;
    /// The most bytes that a signature has.
    fn signature_length(&self) -> Result<usize>;
    /// The same key held by the default provider.
    fn stock(&self) -> Result<Arc<stock::Key>>;
}

/// What differs between signature algorithms.
pub(crate) trait Algorithm: Send + 'static {
    /// Its keys.
    type Key: SigningKey;
    /// What a program has set.
    type Settings: Clone + Send;
    /// Whether a message is hashed first; if not, it is signed as it is, in one call.
    const HASHES: bool;
    /// Parameters that can be read.
    const GETTABLE: &'static [Param];
    /// Parameters that can be set.
    const SETTABLE: &'static [Param];

    /// The settings that hold until others are set.
    fn settings(key: &Self::Key) -> Self::Settings;
    /// Takes a parameter; false where the engine does not understand it.
    fn set(settings: &mut Self::Settings, param: &ParamRef<'_>) -> Result<bool>;
    /// Answers a parameter; false to leave it to the default provider.
    fn get(
        settings: &Self::Settings,
        digest: Option<Digest>,
        param: &mut ParamMut<'_>,
    ) -> Result<bool>;
    /// Why the engine would not sign or verify like this; none where it would.
    fn objection(
        key: &Self::Key,
        settings: &Self::Settings,
        digest: Option<Digest>,
        purpose: Purpose,
    ) -> Option<Why>;
    /// Signs a digest, or what stands for it.
    fn sign(
        key: &Self::Key,
        settings: &Self::Settings,
        digest: Option<Digest>,
        data: &[u8],
        output: &mut [u8],
    ) -> Result<usize>;
    /// The same as a request to a card.
    fn request(
        key: &Self::Key,
        settings: &Self::Settings,
        digest: Option<Digest>,
        data: &[u8],
    ) -> Result<Request>;
    /// Whether that is a signature of the digest, or of what stands for it.
    fn verify(
        key: &Self::Key,
        settings: &Self::Settings,
        digest: Option<Digest>,
        data: &[u8],
        signature: &[u8],
    ) -> Result<bool>;
}

/// A signature context.
pub(crate) struct Context<A: Algorithm> {
    key: Option<Arc<A::Key>>,
    task: Option<Task<A>>,
}

/// What a context was last set up for.
struct Task<A: Algorithm> {
    purpose: Purpose,
    settings: A::Settings,
    /// All that was set, to tell the default provider.
    recorded: ParamList,
    understood: bool,
    digest_name: Option<CString>,
    digest: Option<Digest>,
    hasher: Option<Hasher>,
    /// Whether the hasher has taken any of the message.
    begun: bool,
    /// The default provider's context, where it does the whole.
    stock: Option<Signing>,
}

impl<A: Algorithm> Signature for Context<A> {
    type Key = A::Key;
    const GETTABLE: &'static [Param] = A::GETTABLE;
    const SETTABLE: &'static [Param] = A::SETTABLE;

    fn new(_provider: &Outboard) -> Result<Self> {
        Ok(Self {
            key: None,
            task: None,
        })
    }

    fn duplicate(&self) -> Result<Self> {
        let task = self.task.as_ref().map(Task::duplicate).transpose()?;
        Ok(Self {
            key: self.key.clone(),
            task,
        })
    }

    fn init(
        &mut self,
        purpose: Purpose,
        digest: Option<&str>,
        key: Option<Arc<A::Key>>,
        params: Params<'_>,
    ) -> Result<()> {
        if key.is_some() {
            self.key = key;
        }
        let Some(key) = &self.key else {
            return Err(Error::new(Reason::InvalidKey, "no key is set"));
        };
        let mut task = Task::<A>::new(key, purpose, digest.filter(|name| !name.is_empty()))?;
        task.set(key, params)?;
        self.task = Some(task);
        Ok(())
    }

    fn sign(&mut self, data: &[u8], output: Option<&mut [u8]>) -> Result<usize> {
        let (key, task) = self.task()?;
        if task.purpose == Purpose::DigestSign {
            return self.digest_sign(data, output);
        }
        task.sign(key, data, output)
    }

    fn verify(&mut self, signature: &[u8], data: &[u8]) -> Result<bool> {
        let (key, task) = self.task()?;
        if task.purpose == Purpose::DigestVerify {
            return self.digest_verify(signature, data);
        }
        task.verify(key, data, signature)
    }

    fn recover(&mut self, signature: &[u8], output: Option<&mut [u8]>) -> Result<usize> {
        let (key, task) = self.task()?;
        task.whole_stock(key)?.recover(signature, output)
    }

    fn update(&mut self, data: &[u8]) -> Result<()> {
        let (_, task) = self.task()?;
        match (&mut task.hasher, &mut task.stock) {
            (Some(hasher), _) => {
                task.begun = true;
                hasher.update(data).map_err(refuse)
            }
            (None, Some(stock)) => stock.update(data, task.purpose),
            (None, None) => Err(Error::new(Reason::OutOfOrder, "nothing to update")),
        }
    }

    fn finish_sign(&mut self, output: Option<&mut [u8]>) -> Result<usize> {
        let (key, task) = self.task()?;
        if let Some(stock) = &mut task.stock {
            return stock.finish_sign(output);
        }
        let Some(output) = output else {
            return key.signature_length();
        };
        let digest = task.finish()?;
        task.sign(key, &digest, Some(output))
    }

    fn finish_verify(&mut self, signature: &[u8]) -> Result<bool> {
        let (key, task) = self.task()?;
        if let Some(stock) = &mut task.stock {
            return stock.finish_verify(signature);
        }
        let digest = task.finish()?;
        task.verify(key, &digest, signature)
    }

    fn digest_sign(&mut self, data: &[u8], output: Option<&mut [u8]>) -> Result<usize> {
        if !A::HASHES {
            let (key, task) = self.task()?;
            return match &mut task.stock {
                Some(stock) => stock.digest_sign(data, output),
                None => task.sign(key, data, output),
            };
        }
        if output.is_some() {
            self.update(data)?;
        }
        self.finish_sign(output)
    }

    fn digest_verify(&mut self, signature: &[u8], data: &[u8]) -> Result<bool> {
        if !A::HASHES {
            let (key, task) = self.task()?;
            return match &mut task.stock {
                Some(stock) => stock.digest_verify(signature, data),
                None => task.verify(key, data, signature),
            };
        }
        self.update(data)?;
        self.finish_verify(signature)
    }

    fn set(&mut self, params: Params<'_>) -> Result<()> {
        if params.is_empty() {
            return Ok(());
        }
        let (key, task) = self.task()?;
        task.set(key, params)
    }

    fn get(&mut self, mut params: ParamsMut<'_>) -> Result<()> {
        let (key, task) = self.task()?;
        let mut known = task.understood && task.stock.is_none();
        if known {
            known = params.answer(|param| A::get(&task.settings, task.digest, param))?;
        }
        if !known {
            match &mut task.stock {
                Some(stock) => stock.get(params.as_mut_ptr())?,
                None => task
                    .new_stock(key, task.purpose)?
                    .get(params.as_mut_ptr())?,
            }
        }
        Ok(())
    }
}

impl<A: Algorithm> Context<A> {
    fn task(&mut self) -> Result<(&A::Key, &mut Task<A>)> {
        match (&self.key, &mut self.task) {
            (Some(key), Some(task)) => Ok((key, task)),
            _ => Err(Error::from(Reason::OutOfOrder)),
        }
    }
}

impl<A: Algorithm> Task<A> {
    fn new(key: &A::Key, purpose: Purpose, digest: Option<&str>) -> Result<Self> {
        let digest_name = digest
            .map(CString::new)
            .transpose()
            .map_err(|_| Error::new(Reason::InvalidParameter, "a digest's name has no NUL"))?;
        let mut task = Self {
            purpose,
            settings: A::settings(key),
            recorded: ParamList::new(),
            understood: true,
            digest: digest.and_then(Digest::from_name),
            digest_name,
            hasher: None,
            begun: false,
            stock: None,
        };
        let hashes = matches!(purpose, Purpose::DigestSign | Purpose::DigestVerify);
        if hashes && A::HASHES {
            match task.digest {
                Some(digest) => task.hasher = Some(Hasher::new(digest).map_err(refuse)?),
                None => task.take_to_stock(key, Why::Digest)?,
            }
        } else if hashes && task.digest_name.is_some() {
            return Err(Error::new(
                Reason::InvalidParameter,
                "this algorithm takes no digest",
            ));
        }
        if key.operation(task.signs()).is_none() && task.hasher.is_none() && task.stock.is_none() {
            task.take_to_stock(key, Why::Key)?;
        }
        Ok(task)
    }

    fn duplicate(&self) -> Result<Self> {
        Ok(Self {
            purpose: self.purpose,
            settings: self.settings.clone(),
            recorded: self.recorded.clone(),
            understood: self.understood,
            digest_name: self.digest_name.clone(),
            digest: self.digest,
            hasher: self
                .hasher
                .as_ref()
                .map(Hasher::try_clone)
                .transpose()
                .map_err(refuse)?,
            begun: self.begun,
            stock: self.stock.as_ref().map(Signing::duplicate).transpose()?,
        })
    }

    fn signs(&self) -> bool {
        matches!(self.purpose, Purpose::Sign | Purpose::DigestSign)
    }

    fn set(&mut self, key: &A::Key, params: Params<'_>) -> Result<()> {
        if params.is_empty() {
            return Ok(());
        }
        self.recorded.record(params);
        if let Some(stock) = &mut self.stock {
            return stock.set(params.as_ptr());
        }
        for param in params {
            if param.key() == b"digest" && A::HASHES {
                let name = param.text()?;
                let digest = Digest::from_name(name);
                // It has begun with another, which its signature would misname.
                if self.hasher.is_some() && digest != self.digest {
                    return Err(Error::new(
                        Reason::InvalidParameter,
                        format!("the digest was chosen before: {name} cannot take its place"),
                    ));
                }
                self.digest = digest;
                self.digest_name = CString::new(name).ok();
                self.understood &= self.digest.is_some();
            } else {
                self.understood &= A::set(&mut self.settings, &param)?;
            }
        }
        if !self.understood && !self.begun {
            self.take_to_stock(key, Why::Parameter)?;
        }
        Ok(())
    }

    /// The digest of the message.
    fn finish(&mut self) -> Result<outboard_engine::scalar::digest::Value> {
        match &mut self.hasher {
            Some(hasher) => hasher.finish_and_reset().map_err(refuse),
            None => Err(Error::new(Reason::OutOfOrder, "nothing was hashed")),
        }
    }

    /// The path of the operation, settled when it runs.
    fn path(&self, key: &A::Key) -> (Option<Operation>, Path) {
        let operation = key.operation(self.signs());
        let objection = match operation {
            None => Some(Why::Key),
            Some(_) if !self.understood => Some(Why::Parameter),
            Some(operation) if !key.shared().offers(operation) => Some(Why::Profile),
            Some(_) => A::objection(key, &self.settings, self.digest, self.purpose),
        };
        match (operation, objection) {
            (Some(operation), None) => (Some(operation), key.shared().path(operation)),
            (Some(operation), Some(why)) => {
                ledger::fall_back(operation, why);
                (Some(operation), Path::Stock)
            }
            (None, _) => (None, Path::Stock),
        }
    }

    fn sign(&mut self, key: &A::Key, data: &[u8], output: Option<&mut [u8]>) -> Result<usize> {
        if let Some(stock) = &mut self.stock {
            return stock.sign(data, output);
        }
        let Some(output) = output else {
            return key.signature_length();
        };
        let (operation, path) = self.path(key);
        if path != Path::Stock {
            let signed = match (path, operation) {
                (Path::Card, Some(operation)) => self.sign_on_card(operation, key, data, output),
                _ => key
                    .shared()
                    .run(operation, path, || self.sign_natively(key, data, output)),
            };
            match signed {
                // A fault, numbers that do not belong together, or a sandbox: nothing was released, and the
                // default provider may still know a way.
                Err(error)
                    if matches!(error.reason(), Reason::OperationFailed | Reason::Randomness) => {}
                signed => return signed,
            }
        }
        let mut stock = self.new_stock(key, Purpose::Sign)?;
        key.shared()
            .run(operation, Path::Stock, || stock.sign(data, Some(output)))
    }

    /// Owns nothing while the card works: see [`Shared::run_on_card`].
    fn sign_on_card(
        &self,
        operation: Operation,
        key: &A::Key,
        data: &[u8],
        output: &mut [u8],
    ) -> Result<usize> {
        let request = A::request(key, &self.settings, self.digest, data)
            .inspect_err(|error| ledger::fall_back(operation, reason(error)))?;
        let signature = key.shared().run_on_card(request)?;
        let output = output
            .get_mut(..signature.len())
            .ok_or(Reason::BufferTooSmall)?;
        output.copy_from_slice(&signature);
        Ok(signature.len())
    }

    fn sign_natively(&self, key: &A::Key, data: &[u8], output: &mut [u8]) -> Result<usize> {
        if output.len() >= key.signature_length()? {
            return A::sign(key, &self.settings, self.digest, data, output);
        }
        // The signature may be shorter than the longest: OpenSSL takes any room it fits.
        let mut room = [0; MAX_SIGNATURE_LENGTH];
        let written = A::sign(key, &self.settings, self.digest, data, &mut room)?;
        let output = output.get_mut(..written).ok_or(Reason::BufferTooSmall)?;
        output.copy_from_slice(&room[..written]);
        Ok(written)
    }

    fn verify(&mut self, key: &A::Key, data: &[u8], signature: &[u8]) -> Result<bool> {
        if let Some(stock) = &mut self.stock {
            return stock.verify(signature, data);
        }
        let (operation, path) = self.path(key);
        match path {
            Path::Stock => {
                let mut stock = self.new_stock(key, Purpose::Verify)?;
                key.shared()
                    .run(operation, path, || stock.verify(signature, data))
            }
            // Verifying has no lanes.
            _ => key.shared().run(operation, Path::Scalar, || {
                A::verify(key, &self.settings, self.digest, data, signature)
            }),
        }
    }

    /// The default provider's context for the whole.
    fn whole_stock(&mut self, key: &A::Key) -> Result<&mut Signing> {
        if self.stock.is_none() {
            self.take_to_stock(key, Why::Parameter)?;
        }
        self.stock.as_mut().ok_or(Error::from(Reason::Internal))
    }

    /// Leaves the whole to the default provider.
    fn take_to_stock(&mut self, key: &A::Key, why: Why) -> Result<()> {
        if let Some(operation) = key.operation(self.signs()) {
            ledger::fall_back(operation, why);
        }
        self.stock = Some(self.new_stock(key, self.purpose)?);
        self.hasher = None;
        Ok(())
    }

    /// The default provider's context with all that was set.
    fn new_stock(&self, key: &A::Key, purpose: Purpose) -> Result<Signing> {
        let digest = self.digest_name.as_deref();
        let alone = matches!(purpose, Purpose::Sign | Purpose::Verify | Purpose::Recover);
        match digest {
            // A digest that came with the initialisation is a parameter to an operation on its own.
            Some(name) if alone => {
                let named = named(name, &self.recorded);
                Signing::new(key.stock()?, purpose, None, &named)
            }
            _ => Signing::new(key.stock()?, purpose, digest, &self.recorded),
        }
    }
}

/// The longest signature of any algorithm.
const MAX_SIGNATURE_LENGTH: usize = 512;

/// The parameters with the digest's name first.
fn named(digest: &CStr, params: &ParamList) -> ParamList {
    let mut all = ParamList::new().text(c"digest", &digest.to_string_lossy());
    // SAFETY: the list's own array, whole for the call.
    params.with_array(|params| all.record(unsafe { Params::new(params) }));
    all
}
