//! Every digest and padding, of a digest and of a message.

use std::ffi::CStr;

use super::{DIGESTS, exact};
use crate::keys;
use crate::operations::{
    self, Kind, MESSAGE, begin, context, digest_init, digest_length, digest_sign, hashed, produce,
};
use crate::params::{Params, ask};
use crate::transcript::{NULL, Object, Transcript, int, quietly};

/// Each digest, each padding, of a digest and of a message, signed and verified.
pub(super) fn digests(t: &'static Transcript, name: &'static str) {
    let kind = Kind::of(name);
    let paddings: &[Option<i32>] = match kind {
        Kind::Rsa => &[None, Some(1), Some(3), Some(4), Some(5), Some(6), Some(7)],
        Kind::Pss => &[None, Some(1), Some(6)],
        _ => &[None],
    };
    let key = keys::private(t, name);
    let public = keys::public(t, name);
    let digests = DIGESTS.into_iter().map(Some).chain([None]);
    for digest in digests {
        for &padding in paddings {
            let exact = exact(kind, padding);
            let length = digest.map_or(32, |digest| digest_length(t, digest));
            let title = format!("{:?} {padding:?}", digest.unwrap_or(c"none"));
            t.scene(format!("{title} sign"));
            let mut signature = None;
            let hash = hashed(length);
            {
                let operation = context(t, key);
                let operation = begin(t, "EVP_PKEY_sign_init", operation);
                set_up(t, operation, digest, padding);
                for length in [length, length.saturating_sub(1), 0] {
                    produce(t, "EVP_PKEY_sign", operation, None, &hash[..length], exact);
                    let made = produce(
                        t,
                        "EVP_PKEY_sign",
                        operation,
                        Some(1024),
                        &hash[..length],
                        exact,
                    );
                    signature = signature.or(made);
                }
                operations::free(t, operation);
            }
            if let Some(signature) = &signature {
                t.scene(format!("{title} verify"));
                for key in [key, public] {
                    let operation = context(t, key);
                    let operation = begin(t, "EVP_PKEY_verify_init", operation);
                    set_up(t, operation, digest, padding);
                    int!(
                        t,
                        EVP_PKEY_verify(operation, signature, signature.len(), &hash, length)
                    );
                    int!(
                        t,
                        EVP_PKEY_verify(operation, signature, 0_usize, &hash, length)
                    );
                    // What is wrong with a random one differs every time: fixed ones are in "malformed".
                    if exact {
                        int!(
                            t,
                            EVP_PKEY_verify(
                                operation,
                                signature,
                                signature.len() - 1,
                                &hash,
                                length
                            )
                        );
                        int!(
                            t,
                            EVP_PKEY_verify(
                                operation,
                                signature,
                                signature.len(),
                                &hash,
                                length.saturating_sub(1)
                            )
                        );
                        let mut wrong = hash.clone();
                        if let Some(first) = wrong.first_mut() {
                            *first ^= 1;
                        }
                        int!(
                            t,
                            EVP_PKEY_verify(operation, signature, signature.len(), &wrong, length)
                        );
                    }
                    operations::free(t, operation);
                }
                if exact {
                    t.scene(format!("{title} recover"));
                    let operation = context(t, public);
                    let operation = begin(t, "EVP_PKEY_verify_recover_init", operation);
                    set_up(t, operation, digest, padding);
                    produce(
                        t,
                        "EVP_PKEY_verify_recover",
                        operation,
                        None,
                        signature,
                        true,
                    );
                    produce(
                        t,
                        "EVP_PKEY_verify_recover",
                        operation,
                        Some(10),
                        signature,
                        true,
                    );
                    produce(
                        t,
                        "EVP_PKEY_verify_recover",
                        operation,
                        Some(1024),
                        signature,
                        true,
                    );
                    operations::free(t, operation);
                }
            }
            t.scene(format!("{title} message"));
            let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
            if let Some(padding) = padding {
                int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
            }
            digest_sign(t, md, Some(MESSAGE), None, exact);
            let made = digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
            ask(
                t,
                "EVP_PKEY_CTX_get_params",
                operation.into(),
                c"algorithm-id",
                5,
                false,
            );
            quietly!(t, EVP_MD_CTX_free(md));
            if let Some(signature) = made {
                operations::verify_plainly(
                    t,
                    name,
                    digest,
                    padding == Some(6) || kind == Kind::Pss,
                    MESSAGE,
                    &signature,
                );
                let (md, operation) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
                if let Some(padding) = padding {
                    int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
                }
                int!(
                    t,
                    EVP_DigestVerify(md, &signature, signature.len(), MESSAGE, MESSAGE.len())
                );
                quietly!(t, EVP_MD_CTX_free(md));
            }
        }
    }
}

pub(super) fn set_up(
    t: &Transcript,
    operation: Object,
    digest: Option<&CStr>,
    padding: Option<i32>,
) {
    if let Some(padding) = padding {
        int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
    }
    if let Some(digest) = digest {
        let params = Params::new().text("digest", &digest.to_string_lossy());
        int!(t, EVP_PKEY_CTX_set_params(operation, params.arg()));
    }
}

/// PSS: digest, MGF1's digest and salt, set before and after each other.
pub(super) fn pss(t: &'static Transcript, name: &'static str) {
    let key = keys::private(t, name);
    for digest in [c"SHA1", c"SHA256", c"SHA384", c"SHA512", c"SHA3-256"] {
        for mgf1 in [
            None,
            Some(c"SHA1"),
            Some(c"SHA256"),
            Some(c"SHA512"),
            Some(c"no such"),
        ] {
            for salt in [
                None,
                Some(0),
                Some(20),
                Some(32),
                Some(100),
                Some(400),
                Some(-1),
                Some(-2),
                Some(-3),
                Some(-4),
                Some(-5),
            ] {
                t.scene(format!("{digest:?} {mgf1:?} {salt:?}"));
                let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", Some(digest), key);
                int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 6));
                if let Some(mgf1) = mgf1 {
                    int!(t, EVP_PKEY_CTX_set_rsa_mgf1_md_name(operation, mgf1, NULL));
                }
                if let Some(salt) = salt {
                    int!(t, EVP_PKEY_CTX_set_rsa_pss_saltlen(operation, salt));
                }
                let made = digest_sign(t, md, Some(MESSAGE), Some(1024), false);
                for (name, kind) in [
                    (c"saltlen", 4),
                    (c"saltlen", 1),
                    (c"mgf1-digest", 4),
                    (c"pad-mode", 1),
                    (c"algorithm-id", 5),
                ] {
                    ask(
                        t,
                        "EVP_PKEY_CTX_get_params",
                        operation.into(),
                        name,
                        kind,
                        false,
                    );
                }
                quietly!(t, EVP_MD_CTX_free(md));
                if let Some(signature) = made {
                    let (md, operation) =
                        digest_init(t, "EVP_DigestVerifyInit_ex", Some(digest), key);
                    int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 6));
                    if let Some(mgf1) = mgf1 {
                        int!(t, EVP_PKEY_CTX_set_rsa_mgf1_md_name(operation, mgf1, NULL));
                    }
                    if let Some(salt) = salt {
                        int!(t, EVP_PKEY_CTX_set_rsa_pss_saltlen(operation, salt));
                    }
                    int!(
                        t,
                        EVP_DigestVerify(md, &signature, signature.len(), MESSAGE, MESSAGE.len())
                    );
                    quietly!(t, EVP_MD_CTX_free(md));
                }
            }
        }
    }
}
