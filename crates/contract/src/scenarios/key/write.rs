//! A key written in every form.

use crate::keys::{self, der};
use crate::params::hex;
use crate::transcript::{Arg, NULL, Object, Transcript, int, object, quietly};

pub(super) fn write(t: &Transcript, key: Object, random: bool) {
    for function in [
        "i2d_PrivateKey",
        "i2d_PUBKEY",
        "i2d_PublicKey",
        "i2d_KeyParams",
    ] {
        let bytes = der(t, function, key);
        let errors = t.errors();
        t.say(&format!("{function} -> {}{errors}", shown(&bytes, random)));
        if !bytes.is_empty() && function == "i2d_PUBKEY" {
            let again = keys::d2i_public(t, NULL, &bytes);
            int!(t, EVP_PKEY_eq(again, key));
        }
        if !bytes.is_empty() && function == "i2d_PrivateKey" {
            let mut at = bytes.as_ptr();
            let again = object!(
                t,
                d2i_AutoPrivateKey_ex(NULL, &raw mut at, bytes.len(), NULL, NULL)
            );
            int!(t, EVP_PKEY_eq(again, key));
        }
    }
    let cipher = quietly!(t, EVP_aes_256_cbc());
    for (function, arguments) in [
        (
            "PEM_write_bio_PrivateKey",
            vec![NULL, NULL, 0.into(), NULL, NULL],
        ),
        (
            "PEM_write_bio_PrivateKey_traditional",
            vec![NULL, NULL, 0.into(), NULL, NULL],
        ),
        (
            "PEM_write_bio_PKCS8PrivateKey",
            vec![Arg::Size(cipher), c"secret".into(), 6.into(), NULL, NULL],
        ),
        ("PEM_write_bio_PUBKEY", vec![]),
        ("PEM_write_bio_Parameters", vec![]),
        (
            "i2d_PKCS8PrivateKey_bio",
            vec![NULL, NULL, 0.into(), NULL, NULL],
        ),
    ] {
        let bio = keys::sink(t);
        let mut all = vec![bio.into(), key.into()];
        let encrypted = function.contains("PKCS8PrivateKey")
            && arguments.len() > 2
            && function.starts_with("PEM");
        all.extend(arguments);
        t.int(function, &all);
        let bytes = keys::written(t, bio);
        t.say(&shown(&bytes, random || encrypted));
        if encrypted && !bytes.is_empty() {
            let bio = keys::memory(t, &bytes);
            let again = object!(
                t,
                PEM_read_bio_PrivateKey_ex(bio, NULL, NULL, c"secret", NULL, NULL)
            );
            int!(t, EVP_PKEY_eq(again, key));
        }
        quietly!(t, BIO_free(bio));
    }
    for structure in [
        c"PrivateKeyInfo",
        c"SubjectPublicKeyInfo",
        c"type-specific",
        c"EncryptedPrivateKeyInfo",
        c"pkcs1",
        c"no such",
    ] {
        for format in [c"DER", c"PEM", c"TEXT", c"no such"] {
            for selection in [0x87, 0x86, 0x84] {
                let encoder = object!(
                    t,
                    OSSL_ENCODER_CTX_new_for_pkey(key, selection, format, structure, NULL)
                );
                int!(t, OSSL_ENCODER_CTX_get_num_encoders(encoder));
                let (mut to, mut length) = (std::ptr::null_mut::<u8>(), 0_usize);
                let answer = t.quiet_int(
                    "OSSL_ENCODER_to_data",
                    &[encoder.into(), (&raw mut to).into(), (&mut length).into()],
                );
                let bytes = if to.is_null() {
                    Vec::new()
                } else {
                    // SAFETY: so many bytes were written there.
                    unsafe { std::slice::from_raw_parts(to, length) }.to_vec()
                };
                let errors = t.errors();
                t.say(&format!("OSSL_ENCODER_to_data {structure:?} {format:?} {selection} -> {answer} {}{errors}", shown(&bytes, random)));
                quietly!(t, OSSL_ENCODER_CTX_free(encoder));
            }
        }
    }
}

/// The bytes, or only that there are some where they are random.
pub(super) fn shown(bytes: &[u8], random: bool) -> String {
    match (bytes.is_empty(), random) {
        (true, _) => "nothing".into(),
        (false, true) => "bytes".into(),
        (false, false) => hex(bytes),
    }
}
