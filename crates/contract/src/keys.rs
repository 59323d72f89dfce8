//! Fixed keys of every type, and how scenarios come by them.

use crate::transcript::{Arg, NULL, Object, Transcript, quietly};

/// A key pair in a file.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) pem: &'static str,
    /// A signature of `operations::MESSAGE`, with SHA-256 where the type has a choice; empty where it does not sign.
    signature: &'static [u8],
}

macro_rules! keys {
    ($($name:literal)*) => {
        &[$(Key {
            name: $name,
            pem: include_str!(concat!("../keys/", $name, ".pem")),
            signature: include_bytes!(concat!("../keys/", $name, ".sig")),
        }),*]
    };
}

/// All of them; test keys, of no use to anybody.
pub(crate) const ALL: &[Key] = keys! {
    "rsa512" "rsa1024" "rsa2048" "rsa3072" "rsa4096" "rsa2048-three-primes"
    "pss2048" "pss2048-sha256" "pss2048-sha384"
    "ec-P-192" "ec-P-224" "ec-P-256" "ec-P-384" "ec-P-521"
    "ec-secp256k1" "ec-brainpoolP256r1" "ec-sect283r1"
    "ec-P-256-explicit" "ec-P-256-compressed" "ec-P-384-compressed"
    "sm2" "x25519" "x448" "ed25519" "ed448" "dsa2048" "dh2048"
};

/// The text of a key's file.
pub(crate) fn pem(name: &str) -> &'static str {
    let key = ALL.iter().find(|key| key.name == name);
    key.map(|key| key.pem).unwrap_or_default()
}

/// A key's fixed signature.
pub(crate) fn signature(name: &str) -> &'static [u8] {
    let key = ALL.iter().find(|key| key.name == name);
    key.map(|key| key.signature).unwrap_or_default()
}

/// The pair, as a program has it that reads the file.
pub(crate) fn private(t: &Transcript, name: &str) -> Object {
    private_in(t, NULL, name)
}

/// The pair in a library context.
pub(crate) fn private_in(t: &Transcript, context: Arg<'_>, name: &str) -> Object {
    let pem = pem(name);
    let bio = memory(t, pem.as_bytes());
    let key = quietly!(
        t,
        PEM_read_bio_PrivateKey_ex(bio, NULL, NULL, NULL, context, NULL)
    );
    quietly!(t, BIO_free(bio));
    Object(key as *mut _)
}

/// The public half, as a program has it that reads it from DER.
pub(crate) fn public(t: &Transcript, name: &str) -> Object {
    public_in(t, NULL, name)
}

/// The public half in a library context.
pub(crate) fn public_in(t: &Transcript, context: Arg<'_>, name: &str) -> Object {
    let pair = private_in(t, t.plain().into(), name);
    let key = d2i_public(t, context, &der(t, "i2d_PUBKEY", pair));
    quietly!(t, EVP_PKEY_free(pair));
    key
}

/// A public key from its DER.
pub(crate) fn d2i_public(t: &Transcript, context: Arg<'_>, der: &[u8]) -> Object {
    let mut at = der.as_ptr();
    let key = quietly!(
        t,
        d2i_PUBKEY_ex(NULL, &raw mut at, der.len(), context, NULL)
    );
    Object(key as *mut _)
}

/// What an `i2d` function makes of an object; empty where it refuses.
pub(crate) fn der(t: &Transcript, i2d: &'static str, object: Object) -> Vec<u8> {
    let length = t.quietly(i2d, &[object.into(), NULL]) as i32;
    let mut out = vec![0; usize::try_from(length).unwrap_or(0)];
    let mut to = out.as_mut_ptr();
    if !out.is_empty() {
        t.quietly(i2d, &[object.into(), (&raw mut to).into()]);
    }
    out
}

/// A BIO that reads those bytes.
pub(crate) fn memory(t: &Transcript, bytes: &[u8]) -> Object {
    Object(quietly!(t, BIO_new_mem_buf(bytes, bytes.len())) as *mut _)
}

/// A BIO to write to.
pub(crate) fn sink(t: &Transcript) -> Object {
    let method = quietly!(t, BIO_s_mem());
    Object(quietly!(t, BIO_new(method)) as *mut _)
}

/// What was written to a BIO.
pub(crate) fn written(t: &Transcript, bio: Object) -> Vec<u8> {
    let mut out = vec![0; 1 << 16];
    let length = quietly!(t, BIO_read(bio, &mut out, out.len())) as i32;
    out.truncate(usize::try_from(length).unwrap_or(0));
    out
}
