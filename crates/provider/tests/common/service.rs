//! A card service for tests: it computes with the system's OpenSSL, in the test's own process. It decrypts with the engine.

use std::num::NonZeroU16;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};

use outboard_client::stand_in::{Reply, Service};
use outboard_engine::scalar::digest::Digest as EngineDigest;
use outboard_engine::scalar::pair::{Pair, Private};
use outboard_engine::scalar::rsa::{self, Versions};
use outboard_libcrypto::{
    Context, Deriver, DigestSigner, Key, Library, Params, Result, Selection, Signer, Structure,
};
use outboard_wire::{Digest, Encryption, KeyId, Operation, Reference, Request, Salt, Status};

/// A key of the service.
pub(crate) struct Held {
    pub(crate) id: KeyId,
    pub(crate) name: &'static str,
    pub(crate) key: Key,
}

impl Held {
    /// Takes a key over from a PEM file's contents.
    pub(crate) fn adopt(context: &Context, name: &'static str, pem: &[u8]) -> Self {
        let mut id = [0; 16];
        id[..name.len()].copy_from_slice(name.as_bytes());
        Self {
            id: KeyId(id),
            name,
            key: Key::from_pem(context, pem, None).expect("a private key"),
        }
    }

    /// What stands in the key's file from now on.
    pub(crate) fn reference(&self) -> String {
        self.referred().to_pem().expect("a short name")
    }

    fn referred(&self) -> Reference {
        let public = self.key.to_der(Structure::PublicKeyInfo);
        Reference {
            id: self.id,
            name: self.name.into(),
            public: public.expect("it has a public half").to_vec(),
        }
    }
}

/// A context of the system's OpenSSL with the default provider alone. It is never freed: threads that drew random numbers
/// in it may end later (OSSL_LIB_CTX(3)).
pub(crate) fn stock() -> Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    let make = || {
        let library = Library::open(Library::SYSTEM).expect("the system has an OpenSSL");
        let context = Context::new(&library).expect("a context");
        std::mem::forget(context.load_provider("default").expect("it is built in"));
        context
    };
    CONTEXT.get_or_init(make).clone()
}

/// A service with those keys. Everybody may use them; it counts.
pub(crate) fn serve(directory: &Path, keys: Arc<Vec<Held>>) -> (Service, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let service = Service::start(directory, move |_, request| {
        count.fetch_add(1, SeqCst);
        answer(&keys, request)
    });
    (service.expect("sockets can be made"), asked)
}

pub(crate) fn answer(keys: &[Held], request: &Request<'_>) -> Reply {
    let wanted = |held: &&Held| match request.operation {
        Operation::Find { name } => held.name == name,
        _ => held.id == request.key,
    };
    let Some(held) = keys.iter().find(wanted) else {
        return Reply::Say(Status::NoKey, b"there is no such key".to_vec());
    };
    if let Operation::Find { .. } = request.operation {
        let der = held.referred().to_der();
        return Reply::Say(Status::Done, der.expect("a short name"));
    }
    let result = match request.operation {
        Operation::Decrypt {
            encryption,
            ciphertext,
        } => decrypt(&held.key, encryption, ciphertext).map_err(|error| error.to_string()),
        operation => compute(&held.key, &operation).map_err(|error| error.to_string()),
    };
    match result {
        Ok(result) => Reply::Say(Status::Done, result),
        Err(sentence) => Reply::Say(Status::Failed, sentence.into_bytes()),
    }
}

fn compute(key: &Key, operation: &Operation<'_>) -> Result<Vec<u8>> {
    match *operation {
        Operation::Describe | Operation::Find { .. } | Operation::List { .. } => Ok(Vec::new()),
        Operation::Pkcs1 { digest, value } => {
            let params = Params::new().text(c"pad-mode", "pkcs1");
            let params = match digest {
                Some(digest) => params.text(c"digest", name(digest)),
                None => params,
            };
            Signer::new(key, &params)?.sign(value)
        }
        Operation::Pss {
            digest,
            mgf1,
            salt,
            value,
        } => {
            let salt = match salt {
                Salt::Digest => "digest".to_owned(),
                Salt::Bytes(bytes) => bytes.to_string(),
            };
            let params = Params::new()
                .text(c"digest", name(digest))
                .text(c"pad-mode", "pss")
                .text(c"mgf1-digest", name(mgf1))
                .text(c"saltlen", &salt);
            Signer::new(key, &params)?.sign(value)
        }
        Operation::Ecdsa { value, .. } => Signer::new(key, &Params::new())?.sign(value),
        Operation::Ecdh { point } => {
            let mut params = Params::new()
                .text(c"group", &key.text(c"group")?)
                .bytes(c"pub", point);
            let peer = Key::from_params(key.context(), "EC", Selection::Public, &mut params)?;
            let mut deriver = Deriver::new(key, &Params::new())?;
            deriver.set_peer(&peer)?;
            Ok(deriver.derive()?.to_vec())
        }
        Operation::Ed25519 { message } => {
            DigestSigner::new(key, None, &Params::new())?.sign(message)
        }
        Operation::Decrypt { .. } => unreachable!("the engine decrypts"),
        Operation::Verb { .. } => unreachable!("no provider asks for a verb"),
    }
}

/// As the service does it.
fn decrypt(
    key: &Key,
    encryption: Encryption<'_>,
    ciphertext: &[u8],
) -> std::result::Result<Vec<u8>, outboard_engine::Error> {
    let pkcs8 = key.to_der(Structure::Pkcs8).expect("a private key");
    let Private::Rsa(key) = Pair::from_info(&pkcs8)?.private else {
        return Err(outboard_engine::Error::InvalidKey);
    };
    let ciphertext = key.ciphertext(ciphertext)?;
    let mut block = vec![0; key.length()];
    key.power(&ciphertext, &mut block)?;
    let rejection = key.rejection(&ciphertext)?;
    let message = match encryption {
        Encryption::Pkcs1 => rejection.message(&block),
        Encryption::Premaster {
            offered,
            negotiated,
        } => {
            let negotiated = negotiated.map(NonZeroU16::get);
            let versions = Versions {
                offered,
                negotiated,
            };
            return Ok(rejection.premaster(&block, versions).to_vec());
        }
        Encryption::Oaep {
            digest,
            mgf1,
            label,
        } => {
            let [digest, mgf1] = [digest, mgf1].map(|digest| EngineDigest::from_name(name(digest)));
            let (digest, mgf1) = digest.zip(mgf1).expect("the engine has them");
            rsa::oaep(&block, digest, mgf1, label)?
        }
    };
    let mut answer = Vec::new();
    outboard_wire::message::encode(&message.room, message.length as u16, &mut answer);
    Ok(answer)
}

fn name(digest: Digest) -> &'static str {
    match digest {
        Digest::Md5Sha1 => "MD5-SHA1",
        Digest::Sha1 => "SHA1",
        Digest::Sha224 => "SHA224",
        Digest::Sha256 => "SHA256",
        Digest::Sha384 => "SHA384",
        Digest::Sha512 => "SHA512",
    }
}
