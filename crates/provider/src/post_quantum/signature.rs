//! ML-DSA's signatures: hedged, in a context. Answers as OpenSSL 3.5's own, which takes a message in one call. Here it may
//! also come in parts, of which only a hash is kept: `openssl dgst` and `openssl pkeyutl` of OpenSSL 3.0 know no other way.

use std::ffi::{CStr, c_int};
use std::sync::Arc;

use outboard_engine::dsa::{self, MAX_CONTEXT, MU, Message};
use outboard_engine::{Operation, Path};
use outboard_provider_abi::params::{END, integer, octets};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::signature::{Of, Purpose};
use outboard_provider_abi::{
    Error, Input, KeyManagement, Output, Params, ParamsMut, Reason, Result, Selection, Signature,
};

use super::format::algorithm;
use super::lattice::Content;
use super::ml_dsa::{Form, Key};
use crate::outboard::{Outboard, refuse};

/// A context of `EVP_DigestSign`, `EVP_PKEY_sign_message_init` and their siblings.
#[derive(Default)]
pub(super) struct Context {
    key: Option<Arc<Key>>,
    /// FIPS 204's ctx.
    string: Vec<u8>,
    /// Whether callers pass FIPS 204's μ instead of the message.
    takes_mu: bool,
    progress: Progress,
}

/// How far a message in parts has come.
#[derive(Default)]
enum Progress {
    /// No part has come.
    #[default]
    Fresh,
    Begun(Message),
    /// It was signed or verified, or that failed: the context wants another init.
    Ended,
}

/// What is signed or verified.
enum Subject<'a> {
    Whole(&'a [u8]),
    Parts(Message),
}

const STRING: &CStr = c"context-string";
const DETERMINISTIC: &CStr = c"deterministic";
const ENCODING: &CStr = c"message-encoding";
const TAKES_MU: &CStr = c"mu";
const ENTROPY: &CStr = c"test-entropy";

impl Signature for Context {
    type Key = Key;

    fn new(_: &Outboard, _: Option<&CStr>) -> Result<Option<Self>> {
        Ok(Some(Self::default()))
    }

    fn duplicate(&mut self) -> Result<Option<Self>> {
        let progress = match &self.progress {
            Progress::Fresh => Progress::Fresh,
            Progress::Begun(message) => Progress::Begun(message.duplicate().map_err(refuse)?),
            Progress::Ended => Progress::Ended,
        };
        Ok(Some(Self {
            key: self.key.clone(),
            string: self.string.clone(),
            takes_mu: self.takes_mu,
            progress,
        }))
    }

    fn init(
        &mut self,
        purpose: Purpose,
        digest: Option<&CStr>,
        key: Option<Arc<Key>>,
        params: Params<'_>,
    ) -> Result<c_int> {
        // CMS of OpenSSL 3.0 names the digest of its own attribute when it verifies. It is not the signature's.
        let named = digest.is_some_and(|digest| !digest.is_empty());
        if named && purpose != Purpose::DigestVerify {
            return Err(Error::new(
                Reason::InvalidParameter,
                "ML-DSA signs messages, not digests: name no digest",
            ));
        }
        let key = key.or_else(|| self.key.take()).ok_or_else(missing)?;
        let needed = match purpose {
            Purpose::DigestSign | Purpose::MessageSign | Purpose::Sign => Selection::PRIVATE,
            _ => Selection::PUBLIC,
        };
        if key.has(needed)? != 1 {
            return Err(missing());
        }
        self.key = Some(key);
        self.takes_mu = false;
        self.progress = Progress::Fresh;
        self.set(Of::Context, params)
    }

    fn sign(&mut self, data: Input<'_>, output: Output<'_>) -> Result<c_int> {
        let data = data.bytes().unwrap_or_default();
        self.sign_subject(output, |context| context.subject(data))
    }

    fn verify(&mut self, signature: Input<'_>, data: Input<'_>) -> Result<c_int> {
        let subject = self.subject(data.bytes().unwrap_or_default())?;
        self.verify_subject(signature, subject)
    }

    fn recover(&mut self, _: Input<'_>, _: Output<'_>) -> Result<c_int> {
        Err(Error::new(
            Reason::Unsupported,
            "an ML-DSA signature does not contain its message",
        ))
    }

    fn update(&mut self, _: Purpose, data: Input<'_>) -> Result<c_int> {
        let mut message = self.take_message()?;
        message
            .update(data.bytes().unwrap_or_default())
            .map_err(refuse)?;
        self.progress = Progress::Begun(message);
        Ok(1)
    }

    fn finish_sign(&mut self, _: Purpose, output: Output<'_>) -> Result<c_int> {
        // Whoever asks for the length asks again, so the message is taken only then.
        self.sign_subject(output, |context| context.take_message().map(Subject::Parts))
    }

    fn finish_verify(&mut self, _: Purpose, signature: Input<'_>) -> Result<c_int> {
        let message = self.take_message()?;
        self.verify_subject(signature, Subject::Parts(message))
    }

    fn digest_sign(&mut self, data: Input<'_>, output: Output<'_>) -> Result<c_int> {
        self.sign(data, output)
    }

    fn digest_verify(&mut self, signature: Input<'_>, data: Input<'_>) -> Result<c_int> {
        self.verify(signature, data)
    }

    fn set(&mut self, _: Of, params: Params<'_>) -> Result<c_int> {
        if let Some(string) = params.find(STRING) {
            let bytes = string.octets()?;
            if bytes.len() > MAX_CONTEXT {
                let detail = format!(
                    "the context has {} bytes, more than {MAX_CONTEXT}",
                    bytes.len()
                );
                return Err(Error::new(Reason::InvalidLength, detail));
            }
            if matches!(self.progress, Progress::Begun(_)) {
                return Err(Error::new(
                    Reason::OutOfOrder,
                    "the context is hashed before the message, which has begun",
                ));
            }
            self.string = bytes.to_vec();
        }
        // What OpenSSL 3.5 has besides, AWS-LC does not do: it must not be passed over in silence.
        let number = |name| params.find(name).map(|param| param.integer()).transpose();
        for (name, usual) in [(DETERMINISTIC, 0), (ENCODING, 1)] {
            if number(name)?.is_some_and(|value| value != usual) {
                return Err(unsupported(name));
            }
        }
        if let Some(takes_mu) = number(TAKES_MU)? {
            self.takes_mu = takes_mu != 0;
        }
        match params.find(ENTROPY) {
            Some(_) => Err(unsupported(ENTROPY)),
            None => Ok(1),
        }
    }

    fn get(&mut self, _: Of, mut params: ParamsMut<'_>) -> Result<c_int> {
        let key = self.key.as_ref();
        params.answer(|param| match (param.key(), key) {
            (b"algorithm-id", Some(key)) => {
                let object = Form::object(key.set());
                param.set_octets(&algorithm(object)).map(|()| true)
            }
            _ => Ok(false),
        })?;
        Ok(1)
    }

    fn settable(_: Option<&mut Self>, _: &Outboard) -> *const Param {
        const LIST: &[Param] = &[
            octets(STRING),
            integer(DETERMINISTIC),
            integer(ENCODING),
            integer(TAKES_MU),
            END,
        ];
        LIST.as_ptr()
    }

    fn gettable(_: Option<&mut Self>, _: &Outboard) -> *const Param {
        const LIST: &[Param] = &[octets(c"algorithm-id"), END];
        LIST.as_ptr()
    }

    fn digest_settable(&mut self) -> *const Param {
        std::ptr::null()
    }

    fn digest_gettable(&mut self) -> *const Param {
        std::ptr::null()
    }
}

impl Context {
    fn content(&self) -> Result<&dsa::Key> {
        let key = self.key.as_ref().ok_or_else(missing)?;
        key.content().ok_or_else(missing)
    }

    /// Where what the key's set calls so should run.
    fn path(&self, of: impl Fn(dsa::Set) -> Operation) -> Result<Path> {
        let key = self.key.as_ref().ok_or_else(missing)?;
        Ok(key.shared().path(of(key.set())))
    }

    /// What came of a message in parts; of none, the beginning of one.
    fn take_message(&mut self) -> Result<Message> {
        if self.takes_mu {
            let detail = "with 'mu', all of it is passed in one call";
            return Err(Error::new(Reason::Unsupported, detail));
        }
        match std::mem::replace(&mut self.progress, Progress::Ended) {
            Progress::Fresh => self.content()?.begin(&self.string).map_err(refuse),
            Progress::Begun(message) => Ok(message),
            Progress::Ended => Err(Error::new(
                Reason::OutOfOrder,
                "the message has ended: begin another one with an init",
            )),
        }
    }

    /// What came in parts, and then `data`; without parts, `data` alone, as often as one likes.
    fn subject<'a>(&mut self, data: &'a [u8]) -> Result<Subject<'a>> {
        if matches!(self.progress, Progress::Fresh) {
            return Ok(Subject::Whole(data));
        }
        let mut message = self.take_message()?;
        message.update(data).map_err(refuse)?;
        Ok(Subject::Parts(message))
    }

    fn sign_subject<'a>(
        &mut self,
        mut output: Output<'_>,
        subject: impl FnOnce(&mut Self) -> Result<Subject<'a>>,
    ) -> Result<c_int> {
        let length = self.content()?.set().signature_length();
        if output.is_query() {
            output.tell(length);
            return Ok(1);
        }
        if output.room() < length {
            let detail = format!(
                "the buffer has room for {} of {length} bytes",
                output.room()
            );
            return Err(Error::new(Reason::BufferTooSmall, detail));
        }
        let subject = subject(self)?;
        let (key, path) = (self.content()?, self.path(dsa::Set::signing)?);
        let signature = match subject {
            Subject::Whole(mu) if self.takes_mu => key.sign_mu(path, mu_of(mu)?),
            Subject::Whole(message) => key.sign(path, message, &self.string),
            Subject::Parts(message) => message.finish().and_then(|mu| key.sign_mu(path, &mu)),
        };
        Ok(output.put(&signature.map_err(refuse)?).into())
    }

    fn verify_subject(&self, signature: Input<'_>, subject: Subject<'_>) -> Result<c_int> {
        let (key, path) = (self.content()?, self.path(dsa::Set::verification)?);
        let signature = signature.bytes().unwrap_or_default();
        let valid = match subject {
            Subject::Whole(mu) if self.takes_mu => key.verify_mu(path, mu_of(mu)?, signature),
            Subject::Whole(message) => key.verify(path, message, &self.string, signature),
            Subject::Parts(message) => message
                .finish()
                .and_then(|mu| key.verify_mu(path, &mu, signature)),
        };
        Ok(valid.map_err(refuse)?.into())
    }
}

fn mu_of(bytes: &[u8]) -> Result<&dsa::Mu> {
    bytes.try_into().map_err(|_| {
        let detail = format!("'mu' has {} bytes, not {MU}", bytes.len());
        Error::new(Reason::InvalidLength, detail)
    })
}

fn missing() -> Error {
    Error::new(
        Reason::InvalidKey,
        "the key lacks the half that this operation needs",
    )
}

fn unsupported(name: &CStr) -> Error {
    let name = name.to_string_lossy();
    let detail =
        format!("Outboard's ML-DSA signs messages, hedged: it does not do what '{name}' asks for");
    Error::new(Reason::Unsupported, detail)
}
