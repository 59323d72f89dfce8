//! ML-DSA's signatures: hedged, in a context. Answers as OpenSSL 3.5's own, which takes a message in one call. Here it may
//! also come in parts, which are kept until its end: `openssl dgst` and `openssl pkeyutl` of OpenSSL 3.0 know no other way.

use std::ffi::{CStr, c_int};
use std::sync::Arc;

use outboard_engine::dsa::MAX_CONTEXT;
use outboard_provider_abi::params::{END, integer, octets};
use outboard_provider_abi::raw::Param;
use outboard_provider_abi::signature::{Of, Purpose};
use outboard_provider_abi::{
    Error, Input, KeyManagement, Output, Params, ParamsMut, Reason, Result, Selection, Signature,
};

use super::format::algorithm;
use super::lattice::Content;
use super::ml_dsa::Key;
use crate::outboard::{Outboard, refuse};

/// A context of `EVP_DigestSign`, `EVP_PKEY_sign_message_init` and their siblings.
#[derive(Clone, Default)]
pub(super) struct Context {
    key: Option<Arc<Key>>,
    /// FIPS 204's ctx.
    string: Vec<u8>,
    /// What came of the message, where it comes in parts.
    message: Vec<u8>,
}

const STRING: &CStr = c"context-string";
const DETERMINISTIC: &CStr = c"deterministic";
const ENCODING: &CStr = c"message-encoding";
const MU: &CStr = c"mu";
const ENTROPY: &CStr = c"test-entropy";

impl Signature for Context {
    type Key = Key;

    fn new(_: &Outboard, _: Option<&CStr>) -> Result<Option<Self>> {
        Ok(Some(Self::default()))
    }

    fn duplicate(&mut self) -> Result<Option<Self>> {
        Ok(Some(self.clone()))
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
        self.message.clear();
        self.set(Of::Context, params)
    }

    fn sign(&mut self, data: Input<'_>, mut output: Output<'_>) -> Result<c_int> {
        let key = self.key.as_ref().ok_or_else(missing)?;
        let length = key.set().signature_length();
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
        let message = data.bytes().unwrap_or_default();
        let content = key.content().ok_or_else(missing)?;
        let signature = content.sign(message, &self.string).map_err(refuse)?;
        Ok(output.put(&signature).into())
    }

    fn verify(&mut self, signature: Input<'_>, data: Input<'_>) -> Result<c_int> {
        let key = self.key.as_ref().ok_or_else(missing)?;
        let content = key.content().ok_or_else(missing)?;
        let (message, signature) = (data.bytes(), signature.bytes());
        let valid = content.verify(
            message.unwrap_or_default(),
            &self.string,
            signature.unwrap_or_default(),
        );
        Ok(valid.map_err(refuse)?.into())
    }

    fn recover(&mut self, _: Input<'_>, _: Output<'_>) -> Result<c_int> {
        Err(Error::new(
            Reason::Unsupported,
            "an ML-DSA signature does not contain its message",
        ))
    }

    fn update(&mut self, _: Purpose, data: Input<'_>) -> Result<c_int> {
        let bytes = data.bytes().unwrap_or_default();
        let room = self.message.try_reserve(bytes.len());
        room.map_err(|_| Error::new(Reason::Resource, "no memory for the message"))?;
        self.message.extend_from_slice(bytes);
        Ok(1)
    }

    fn finish_sign(&mut self, _: Purpose, output: Output<'_>) -> Result<c_int> {
        let message = std::mem::take(&mut self.message);
        let is_query = output.is_query();
        let answer = self.sign(Input::of(&message), output);
        // Whoever asks for the length asks again.
        if is_query {
            self.message = message;
        }
        answer
    }

    fn finish_verify(&mut self, _: Purpose, signature: Input<'_>) -> Result<c_int> {
        let message = std::mem::take(&mut self.message);
        self.verify(signature, Input::of(&message))
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
            self.string = bytes.to_vec();
        }
        // What OpenSSL 3.5 has besides, AWS-LC does not do: it must not be passed over in silence.
        for (name, usual) in [(DETERMINISTIC, 0), (ENCODING, 1), (MU, 0)] {
            let value = params.find(name).map(|param| param.integer()).transpose()?;
            if value.is_some_and(|value| value != usual) {
                return Err(unsupported(name));
            }
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
                let object = outboard_engine::dsa::Key::object(key.set());
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
            integer(MU),
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
