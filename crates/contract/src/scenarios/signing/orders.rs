//! Every order of calls.

use super::digests::set_up;
use super::exact;
use crate::keys;
use crate::operations::{
    self, Kind, MESSAGE, begin, context, digest_init, digest_sign, hashed, produce,
};
use crate::params::ask;
use crate::transcript::{NULL, Object, Transcript, int, quietly};

/// Calls in orders that the manual allows, and in others.
pub(super) fn orders(t: &'static Transcript, name: &'static str) {
    let kind = Kind::of(name);
    let exact = exact(kind, None);
    let digest = (kind != Kind::Edwards).then_some(c"SHA256");
    let key = keys::private(t, name);
    let public = keys::public(t, name);
    let hash = hashed(32);

    t.scene("without a beginning");
    let operation = context(t, key);
    produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
    int!(
        t,
        EVP_PKEY_verify(operation, &hash, 32_usize, &hash, 32_usize)
    );
    produce(
        t,
        "EVP_PKEY_verify_recover",
        operation,
        Some(1024),
        &hash,
        exact,
    );
    int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 6));
    operations::free(t, operation);

    t.scene("begun twice");
    let operation = context(t, key);
    for begin_with in [
        "EVP_PKEY_sign_init",
        "EVP_PKEY_verify_init",
        "EVP_PKEY_sign_init",
        "EVP_PKEY_sign_init",
    ] {
        t.int(begin_with, &[operation.into()]);
        produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
        produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
        int!(
            t,
            EVP_PKEY_verify(operation, &hash, 32_usize, &hash, 32_usize)
        );
    }
    operations::free(t, operation);

    t.scene("settings are gone after another beginning");
    let operation = context(t, key);
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    set_up(t, operation, Some(c"SHA384"), Some(6));
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
    for (name, kind) in [
        (c"digest", 4),
        (c"pad-mode", 1),
        (c"saltlen", 4),
        (c"mgf1-digest", 4),
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
    operations::free(t, operation);

    t.scene("room");
    let operation = context(t, key);
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    for room in [
        None,
        Some(0),
        Some(1),
        Some(16),
        Some(63),
        Some(64),
        Some(70),
        Some(127),
        Some(128),
        Some(255),
        Some(256),
        Some(512),
    ] {
        // ECDSA's lengths vary, and so does which of them fits.
        if !exact && room.is_some_and(|room| (40..256).contains(&room)) {
            continue;
        }
        produce(t, "EVP_PKEY_sign", operation, room, &hash, exact);
    }
    operations::free(t, operation);

    t.scene("with half a key");
    let operation = context(t, public);
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    produce(t, "EVP_PKEY_sign", operation, None, &hash, exact);
    produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
    operations::free(t, operation);
    let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, public);
    digest_sign(t, md, Some(MESSAGE), None, exact);
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("a copy in the middle");
    let operation = context(t, key);
    let operation = begin(t, "EVP_PKEY_sign_init", operation);
    set_up(t, operation, digest.map(|_| c"SHA384"), None);
    let copy = Object(quietly!(t, EVP_PKEY_CTX_dup(operation)) as *mut _);
    t.say(&format!("{}{}", copy.is_null(), t.errors()));
    operations::free(t, operation);
    if !copy.is_null() {
        produce(t, "EVP_PKEY_sign", copy, Some(1024), &hashed(48), exact);
        ask(
            t,
            "EVP_PKEY_CTX_get_params",
            copy.into(),
            c"digest",
            4,
            false,
        );
        operations::free(t, copy);
    }

    // Ed25519 has no parts: OpenSSL 3.0 crashes where they are ended.
    let parts = kind != Kind::Edwards;
    t.scene("of a message, in parts");
    let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    for _ in 0..3 {
        int!(t, EVP_DigestSignUpdate(md, MESSAGE, MESSAGE.len()));
    }
    let end = |md, room| parts.then(|| digest_sign(t, md, None, room, exact));
    end(md, None);
    let copy = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    int!(t, EVP_MD_CTX_copy_ex(copy, md));
    // After the beginning of the message.
    for padding in [6, 1] {
        int!(t, EVP_PKEY_CTX_set_rsa_padding(operation, padding));
    }
    set_up(t, operation, Some(c"SHA384"), None);
    end(md, Some(3));
    end(md, Some(1024));
    end(md, Some(1024));
    int!(t, EVP_DigestSignUpdate(md, MESSAGE, MESSAGE.len()));
    end(md, Some(1024));
    end(copy, Some(1024));
    int!(t, EVP_DigestSignUpdate(copy, MESSAGE, 0_usize));
    quietly!(t, EVP_MD_CTX_free(md));
    quietly!(t, EVP_MD_CTX_free(copy));

    t.scene("a message at once, twice");
    let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    for _ in 0..2 {
        let made = digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
        if let Some(signature) = made {
            let twice = [MESSAGE, MESSAGE].concat();
            operations::verify_plainly(t, name, digest, kind == Kind::Pss, MESSAGE, &signature);
            operations::verify_plainly(t, name, digest, kind == Kind::Pss, &twice, &signature);
        }
    }
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("a size, then parts, then at once");
    let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    digest_sign(t, md, Some(MESSAGE), None, exact);
    digest_sign(t, md, Some(MESSAGE), Some(10), exact);
    int!(t, EVP_DigestSignUpdate(md, MESSAGE, 4_usize));
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    end(md, Some(1024));
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("begun again with nothing new");
    let (md, _) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    int!(t, EVP_DigestSignUpdate(md, MESSAGE, 4_usize));
    int!(
        t,
        EVP_DigestSignInit_ex(md, NULL, NULL, NULL, NULL, NULL, NULL)
    );
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    int!(
        t,
        EVP_DigestSignInit_ex(md, NULL, c"SHA384", NULL, NULL, NULL, NULL)
    );
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    int!(
        t,
        EVP_DigestVerifyInit_ex(md, NULL, NULL, NULL, NULL, NULL, NULL)
    );
    digest_sign(t, md, Some(MESSAGE), Some(1024), exact);
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("a message verified, in parts and at once");
    let plain = keys::signature(name);
    let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
    int!(t, EVP_DigestVerifyUpdate(md, MESSAGE, 3_usize));
    int!(
        t,
        EVP_DigestVerifyUpdate(md, &MESSAGE[3..], MESSAGE.len() - 3)
    );
    let copy = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    int!(t, EVP_MD_CTX_copy_ex(copy, md));
    for md in [md, copy] {
        if parts {
            int!(t, EVP_DigestVerifyFinal(md, plain, plain.len()));
            int!(t, EVP_DigestVerifyFinal(md, plain, plain.len()));
        }
        int!(t, EVP_DigestVerifyUpdate(md, MESSAGE, 3_usize));
        int!(
            t,
            EVP_DigestVerify(md, plain, plain.len(), MESSAGE, MESSAGE.len())
        );
    }
    quietly!(t, EVP_MD_CTX_free(md));
    quietly!(t, EVP_MD_CTX_free(copy));
    let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
    for _ in 0..2 {
        int!(
            t,
            EVP_DigestVerify(md, plain, plain.len(), MESSAGE, MESSAGE.len())
        );
        int!(
            t,
            EVP_DigestVerify(md, plain, plain.len() - 1, MESSAGE, MESSAGE.len())
        );
        if exact {
            int!(
                t,
                EVP_DigestVerify(md, plain, plain.len(), MESSAGE, 3_usize)
            );
        }
    }
    quietly!(t, EVP_MD_CTX_free(md));

    t.scene("one-shot flags");
    let (md, operation) = digest_init(t, "EVP_DigestSignInit_ex", digest, key);
    quietly!(t, EVP_MD_CTX_set_flags(md, 1));
    digest_sign(t, md, Some(&[]), Some(1024), exact);
    quietly!(t, EVP_MD_CTX_free(md));
    let _ = operation;
    // With the older interface.
    t.scene("EVP_SignFinal");
    let md = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    let sha = Object(quietly!(t, EVP_sha256()) as *mut _);
    int!(t, EVP_DigestInit_ex(md, sha, NULL));
    int!(t, EVP_DigestUpdate(md, MESSAGE, MESSAGE.len()));
    let mut buffer = vec![0; 1024];
    let mut length = 0_i32;
    int!(t, EVP_SignFinal(md, &mut buffer, &mut length, key));
    if exact {
        t.say(&format!(
            "length {length} {}",
            crate::params::hex(&buffer[..length.max(0) as usize])
        ));
    }
    let md = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    int!(t, EVP_DigestInit_ex(md, sha, NULL));
    int!(t, EVP_DigestUpdate(md, MESSAGE, MESSAGE.len()));
    int!(t, EVP_VerifyFinal(md, &buffer, length as usize, public));
    if exact {
        int!(t, EVP_VerifyFinal(md, &buffer, length - 1, public));
    }

    t.scene("what a message's operation allows");
    for first in ["EVP_PKEY_sign_message_init", "EVP_PKEY_verify_message_init"] {
        for algorithm in [
            c"RSA-SHA256",
            c"ECDSA-SHA256",
            c"ED25519",
            c"ED25519ph",
            c"RSA",
            c"ECDSA",
            c"ED448",
        ] {
            let fetched = Object(quietly!(t, EVP_SIGNATURE_fetch(NULL, algorithm, NULL)) as *mut _);
            t.clear();
            let operation = context(t, key);
            if t.int(first, &[operation.into(), fetched.into(), NULL]) <= 0 {
                operations::free(t, operation);
                continue;
            }
            if first.contains("sign") {
                produce(t, "EVP_PKEY_sign", operation, None, MESSAGE, exact);
                produce(t, "EVP_PKEY_sign", operation, Some(1024), MESSAGE, exact);
                int!(
                    t,
                    EVP_PKEY_sign_message_update(operation, MESSAGE, MESSAGE.len())
                );
                produce(t, "EVP_PKEY_sign", operation, Some(1024), MESSAGE, exact);
            } else {
                int!(
                    t,
                    EVP_PKEY_verify(operation, plain, plain.len(), MESSAGE, MESSAGE.len())
                );
                int!(
                    t,
                    EVP_PKEY_verify_message_update(operation, MESSAGE, MESSAGE.len())
                );
                int!(t, EVP_PKEY_verify_message_final(operation));
            }
            operations::free(t, operation);
            let operation = context(t, key);
            if int!(t, EVP_PKEY_sign_init_ex2(operation, fetched, NULL)) <= 0 {
                operations::free(t, operation);
                continue;
            }
            produce(t, "EVP_PKEY_sign", operation, Some(1024), &hash, exact);
            operations::free(t, operation);
        }
    }
}
