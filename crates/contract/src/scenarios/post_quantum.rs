//! ML-KEM, the groups that join it with a curve, and ML-DSA: made, used, copied, read from damaged files, given up halfway.
//!
//! The system's OpenSSL may have none of these, with and without Outboard: then each call is refused, and the scenario says
//! little. Under Valgrind, Outboard has them there.

use std::ffi::CStr;

use super::Scenario;
use crate::keys;
use crate::operations::{self, MESSAGE};
use crate::transcript::{Arg, NULL, Object, Transcript, int, object, quietly};

const ENCAPSULATING: [&CStr; 6] = [
    c"ML-KEM-512",
    c"ML-KEM-768",
    c"ML-KEM-1024",
    c"X25519MLKEM768",
    c"SecP256r1MLKEM768",
    c"SecP384r1MLKEM1024",
];
const SIGNING: [&CStr; 3] = [c"ML-DSA-44", c"ML-DSA-65", c"ML-DSA-87"];

pub(super) fn scenarios() -> Vec<Scenario> {
    let name = |name: &CStr| format!("post-quantum/{}", name.to_string_lossy());
    let encapsulating = ENCAPSULATING
        .iter()
        .map(|&kind| Scenario::new(name(kind), move |t| encapsulates(t, kind)));
    let signing = SIGNING
        .iter()
        .map(|&kind| Scenario::new(name(kind), move |t| signs(t, kind)));
    encapsulating.chain(signing).collect()
}

/// A new key; and a generation that is given up.
fn generated(t: &Transcript, kind: &'static CStr) -> Object {
    t.scene("generate");
    for finish in [false, true] {
        let context = object!(t, EVP_PKEY_CTX_new_from_name(NULL, kind, NULL));
        if context.is_null() || int!(t, EVP_PKEY_keygen_init(context)) <= 0 {
            operations::free(t, context);
            return Object::NONE;
        }
        let mut key = Object::NONE;
        if finish {
            int!(t, EVP_PKEY_generate(context, &mut key));
        }
        operations::free(t, context);
        if finish {
            return key;
        }
    }
    Object::NONE
}

fn encapsulates(t: &Transcript, kind: &'static CStr) {
    let key = generated(t, kind);
    if key.is_null() {
        return;
    }
    t.scene("encapsulate");
    let (mut ciphertext, mut secret) = (vec![0; 4096], vec![0; 128]);
    let (mut length, mut short) = (ciphertext.len(), secret.len());
    let context = object!(t, EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL));
    int!(
        t,
        EVP_PKEY_encapsulate(
            context,
            &mut ciphertext,
            &mut length,
            &mut secret,
            &mut short
        )
    );
    int!(t, EVP_PKEY_encapsulate_init(context, NULL));
    int!(
        t,
        EVP_PKEY_encapsulate(context, NULL, &mut length, NULL, &mut short)
    );
    t.say(&format!("{length} {short}"));
    let answer = int!(
        t,
        EVP_PKEY_encapsulate(
            context,
            &mut ciphertext,
            &mut length,
            &mut secret,
            &mut short
        )
    );
    let copy = object!(t, EVP_PKEY_CTX_dup(context));
    operations::free(t, context);
    operations::free(t, copy);

    t.scene("decapsulate");
    let context = object!(t, EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL));
    int!(t, EVP_PKEY_decapsulate_init(context, NULL));
    let mut opened = vec![0; 128];
    for given in [0, 1, length.saturating_sub(1), length + 1, length] {
        let mut room = opened.len();
        let answer = int!(
            t,
            EVP_PKEY_decapsulate(context, &mut opened, &mut room, &ciphertext, given)
        );
        t.say(&format!("{answer} {}", answer > 0 && opened == secret));
    }
    // A ciphertext that nobody made; of a hybrid, the half of the curve may then be none.
    ciphertext[length / 2] ^= 1;
    let mut room = opened.len();
    t.quietly(
        "EVP_PKEY_decapsulate",
        &[
            context.into(),
            Arg::from(&mut opened),
            Arg::from(&mut room),
            Arg::from(&ciphertext),
            length.into(),
        ],
    );
    t.say(&format!("{answer} {}", opened == secret));
    t.clear();
    operations::free(t, context);
    copies_and_files(t, key);
}

fn signs(t: &Transcript, kind: &'static CStr) {
    let key = generated(t, kind);
    if key.is_null() {
        return;
    }
    let mut signature = vec![0; 8192];
    t.scene("sign");
    let digest = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    int!(
        t,
        EVP_DigestSignInit_ex(digest, NULL, NULL, NULL, NULL, key, NULL)
    );
    let mut length = 0_usize;
    int!(
        t,
        EVP_DigestSign(digest, NULL, &mut length, MESSAGE, MESSAGE.len())
    );
    t.say(&format!("{length}"));
    let mut room = length - 1;
    int!(
        t,
        EVP_DigestSign(digest, &mut signature, &mut room, MESSAGE, MESSAGE.len())
    );
    let copy = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
    int!(t, EVP_MD_CTX_copy_ex(copy, digest));
    for context in [digest, copy] {
        let mut room = signature.len();
        int!(
            t,
            EVP_DigestSign(context, &mut signature, &mut room, MESSAGE, MESSAGE.len())
        );
        quietly!(t, EVP_MD_CTX_free(context));
    }
    // In parts, which not every OpenSSL takes: what it answers is not compared. One is given up.
    for finish in [false, true] {
        let digest = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
        quietly!(
            t,
            EVP_DigestSignInit_ex(digest, NULL, NULL, NULL, NULL, key, NULL)
        );
        quietly!(t, EVP_DigestUpdate(digest, MESSAGE, MESSAGE.len()));
        let mut room = signature.len();
        if finish {
            let mut parts = vec![0; signature.len()];
            quietly!(t, EVP_DigestSignFinal(digest, &mut parts, &mut room));
        }
        quietly!(t, EVP_MD_CTX_free(digest));
    }
    t.clear();

    t.scene("verify");
    for given in [0, 1, length - 1, length + 1, length, length] {
        let digest = Object(quietly!(t, EVP_MD_CTX_new()) as *mut _);
        quietly!(
            t,
            EVP_DigestVerifyInit_ex(digest, NULL, NULL, NULL, NULL, key, NULL)
        );
        let answer = t.quiet_int(
            "EVP_DigestVerify",
            &[
                digest.into(),
                Arg::from(&signature),
                given.into(),
                MESSAGE.into(),
                MESSAGE.len().into(),
            ],
        );
        t.say(&format!("{}", answer == 1));
        t.clear();
        quietly!(t, EVP_MD_CTX_free(digest));
        // The last one is changed.
        signature[length / 2] ^= u8::from(given == length);
    }
    copies_and_files(t, key);
}

/// Copies outlive the key; files are cut, and changed in each of their first bytes.
fn copies_and_files(t: &Transcript, key: Object) {
    t.scene("copies and files");
    let copy = object!(t, EVP_PKEY_dup(key));
    int!(t, EVP_PKEY_eq(key, copy));
    let (public, private) = (
        keys::der(t, "i2d_PUBKEY", key),
        keys::der(t, "i2d_PrivateKey", key),
    );
    quietly!(t, EVP_PKEY_free(key));
    t.clear();
    let read = keys::d2i_public(t, NULL, &public);
    t.say(&format!("{} {}", public.is_empty(), read.is_null()));
    quietly!(t, EVP_PKEY_free(read));
    let mut refused = 0;
    // Hybrid keys have no file.
    for file in [&public, &private]
        .into_iter()
        .filter(|file| !file.is_empty())
    {
        let cut = [0, 1, 4, 9, file.len() / 2, file.len() - 1].map(|end| file[..end].to_vec());
        let changed = (0..file.len().min(40)).map(|at| {
            let mut file = file.clone();
            file[at] ^= 0x41;
            file
        });
        for damaged in cut.into_iter().chain(changed) {
            let read = keys::d2i_public(t, NULL, &damaged);
            refused += u32::from(read.is_null());
            quietly!(t, EVP_PKEY_free(read));
            let mut at = damaged.as_ptr();
            let length = damaged.len();
            let read = quietly!(
                t,
                d2i_AutoPrivateKey_ex(NULL, &raw mut at, length, NULL, NULL)
            );
            refused += u32::from(read == 0);
            quietly!(t, EVP_PKEY_free(Object(read as *mut _)));
            t.clear();
        }
    }
    t.say(&format!("some were refused: {}", refused > 40));
    quietly!(t, EVP_PKEY_free(copy));
}
