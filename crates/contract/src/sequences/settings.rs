//! Parameters that a sequence sets and reads.

use super::input::Input;
use crate::params::{INTEGER, Params, TEXT, UNSIGNED};
use crate::transcript::Transcript;

const DIGESTS: [&str; 10] = [
    "SHA256", "SHA256", "SHA384", "SHA512", "SHA1", "SHA224", "MD5", "SHA3-256", "no such", "",
];

/// A few parameters in one array; says which.
pub(super) fn draw(t: &Transcript, input: &mut Input<'_>) -> Params {
    let mut params = Params::new();
    let count = 1 + usize::from(input.once_in(3)) + usize::from(input.once_in(4));
    for _ in 0..count {
        params = one(input, params);
    }
    t.say(&params.shown());
    params
}

fn one(input: &mut Input<'_>, params: Params) -> Params {
    match input.below(24) {
        0..=3 => params.int("pad-mode", input.one(&[1, 6, 6, 3, 4, 5, 7, 0])),
        4 => params.text(
            "pad-mode",
            input.one(&["pkcs1", "pss", "pss", "none", "x931", "no such"]),
        ),
        5..=7 => params.text("digest", input.one(&DIGESTS)),
        8 => params.text("mgf1-digest", input.one(&DIGESTS)),
        9 | 10 => params.int("saltlen", input.one(&[-1, -2, -3, -4, -5, 0, 20, 32, 300])),
        11 => params.text(
            "saltlen",
            input.one(&["digest", "max", "auto", "auto-digestmax", "32", "x"]),
        ),
        12 => params.text(
            "properties",
            input.one(&["", "provider=default", "?fips=yes", "fips=yes"]),
        ),
        13 => params.uint("nonce-type", input.one(&[0, 1, 2])),
        14 => params.text(
            "instance",
            input.one(&["Ed25519", "Ed25519ph", "Ed25519ctx", "Ed448", "no such"]),
        ),
        15 => params.octets(
            "context-string",
            input.one(&[&b"context"[..], b"", &[7; 300]]),
        ),
        16 => params.int("ecdh-cofactor-mode", input.one(&[-1, 0, 1, 2])),
        17 => params.text("kdf-type", input.one(&["X963KDF", "", "no such"])),
        18 => params.text("kdf-digest", input.one(&DIGESTS)),
        19 => params.size("kdf-outlen", input.one(&[0, 20, 40, 1000])),
        20 => params.octets("kdf-ukm", b"more"),
        21 => params.size("digest-size", input.one(&[0, 20, 32])),
        22 => params.uint("pad", input.one(&[0, 1])),
        _ => match input.below(4) {
            0 => params.int("digest", 4),
            1 => params.octets("pad-mode", b"pss"),
            2 => params.octets("distid", b"name"),
            _ => params.int("no such", 4),
        },
    }
}

/// Parameters that can be asked for, with their types. Not `algorithm-id`: OpenSSL 3.0's copy of a context reads it from the
/// original, which may be gone.
pub(super) const QUESTIONS: [(&std::ffi::CStr, u32); 13] = [
    (c"pad-mode", INTEGER),
    (c"pad-mode", TEXT),
    (c"digest", TEXT),
    (c"mgf1-digest", TEXT),
    (c"saltlen", INTEGER),
    (c"saltlen", TEXT),
    (c"nonce-type", UNSIGNED),
    (c"digest-size", UNSIGNED),
    (c"ecdh-cofactor-mode", INTEGER),
    (c"kdf-type", TEXT),
    (c"kdf-digest", TEXT),
    (c"kdf-outlen", UNSIGNED),
    (c"no such", TEXT),
];
