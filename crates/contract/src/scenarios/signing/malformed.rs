//! Signatures that are none.

use super::digests::set_up;
use crate::keys;
use crate::operations::{self, Kind, MESSAGE, begin, context, digest_init, produce};
use crate::transcript::{NULL, Object, Transcript, int, quietly};

/// What is no signature, or not one of this message.
pub(super) fn malformed(t: &'static Transcript, name: &'static str) {
    let kind = Kind::of(name);
    let digest = (kind != Kind::Edwards).then_some(c"SHA256");
    let public = keys::public(t, name);
    let plain = keys::signature(name).to_vec();
    let mut every: Vec<(String, Vec<u8>)> = vec![
        ("right".into(), plain.clone()),
        ("empty".into(), vec![]),
        ("a zero".into(), vec![0]),
        ("zeros".into(), vec![0; plain.len()]),
        ("ones".into(), vec![0xff; plain.len()]),
        ("cut".into(), plain[..plain.len() - 1].to_vec()),
        ("long".into(), [&plain[..], &[0]].concat()),
        ("zero before".into(), [&[0], &plain[..]].concat()),
    ];
    for index in [0, 1, 3, plain.len() / 2, plain.len() - 1] {
        let mut wrong = plain.clone();
        wrong[index] ^= 0x01;
        every.push((format!("bit {index}"), wrong));
    }
    if matches!(kind, Kind::Ec | Kind::Dsa | Kind::Sm2) {
        let r = [0x02, 1, 1];
        for (title, der) in [
            ("two ones", vec![0x30, 6, 2, 1, 1, 2, 1, 1]),
            ("zeros in DER", vec![0x30, 6, 2, 1, 0, 2, 1, 0]),
            ("negative", vec![0x30, 6, 2, 1, 0x80, 2, 1, 1]),
            ("padded", vec![0x30, 8, 2, 2, 0, 1, 2, 2, 0, 1]),
            ("long form of length", vec![0x30, 0x81, 6, 2, 1, 1, 2, 1, 1]),
            (
                "indefinite length",
                vec![0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0],
            ),
            ("one number", [&[0x30, 3], &r[..]].concat()),
            (
                "three numbers",
                [&[0x30, 9], &r[..], &r[..], &r[..]].concat(),
            ),
            ("a set", [&[0x31, 6], &r[..], &r[..]].concat()),
            ("rubbish after", [&[0x30, 6], &r[..], &r[..], &[0]].concat()),
            (
                "too short a sequence",
                [&[0x30, 5], &r[..], &r[..]].concat(),
            ),
            ("an empty number", vec![0x30, 5, 2, 0, 2, 1, 1]),
            (
                "a huge number",
                [
                    &[0x30, 0x81, 0x85, 2, 0x7f],
                    &[0x7f; 0x7f][..],
                    &[2, 2, 1, 1],
                ]
                .concat(),
            ),
        ] {
            every.push((title.into(), der));
        }
    }
    if name == "ed25519" {
        for (title, signature) in edwards(t, &plain) {
            every.push((title, signature));
        }
    }
    let hash = sha256(t, MESSAGE);
    for (title, signature) in &every {
        t.scene(title.clone());
        let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
        int!(
            t,
            EVP_DigestVerify(md, signature, signature.len(), MESSAGE, MESSAGE.len())
        );
        quietly!(t, EVP_MD_CTX_free(md));
        let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", digest, public);
        int!(t, EVP_DigestVerifyUpdate(md, MESSAGE, MESSAGE.len()));
        if kind != Kind::Edwards {
            int!(t, EVP_DigestVerifyFinal(md, signature, signature.len()));
        }
        quietly!(t, EVP_MD_CTX_free(md));
        let operation = context(t, public);
        let operation = begin(t, "EVP_PKEY_verify_init", operation);
        set_up(t, operation, digest, None);
        int!(
            t,
            EVP_PKEY_verify(operation, signature, signature.len(), &hash, hash.len())
        );
        let operation = begin(t, "EVP_PKEY_verify_recover_init", operation);
        produce(
            t,
            "EVP_PKEY_verify_recover",
            operation,
            Some(1024),
            signature,
            !title.starts_with("bit"),
        );
        operations::free(t, operation);
        if kind == Kind::Rsa {
            for padding in [3, 6] {
                let operation = context(t, public);
                let operation = begin(t, "EVP_PKEY_verify_init", operation);
                set_up(t, operation, digest, Some(padding));
                int!(
                    t,
                    EVP_PKEY_verify(operation, signature, signature.len(), &hash, hash.len())
                );
                operations::free(t, operation);
            }
        }
    }
}

fn sha256(t: &Transcript, message: &[u8]) -> Vec<u8> {
    let mut out = vec![0; 32];
    quietly!(
        t,
        EVP_Q_digest(
            t.plain(),
            c"SHA256",
            NULL,
            message,
            message.len(),
            &mut out,
            NULL
        )
    );
    out
}

/// Ed25519: encodings of R, S and A that are not the only ones of their value, and points of low order.
fn edwards(t: &Transcript, plain: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut every = Vec::new();
    // S + L, with L the order of the group.
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut more = plain.to_vec();
    let mut carry = 0;
    for (byte, order) in more[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    every.push(("S and the order".into(), more));
    for (title, point) in LOW_ORDER {
        every.push((format!("R {title}"), [&point[..], &plain[32..]].concat()));
        every.push((format!("R {title}, S 0"), [&point[..], &[0; 32]].concat()));
    }
    // With such points as the public key.
    for (title, point) in LOW_ORDER {
        t.scene(format!("A {title}"));
        let key = Object(quietly!(
            t,
            EVP_PKEY_new_raw_public_key_ex(NULL, c"ED25519", NULL, point, 32)
        ) as *mut _);
        for (other, r) in LOW_ORDER {
            let signature = [&r[..], &[0; 32]].concat();
            for message in [&b""[..], b"1", b"2", b"3"] {
                let (md, _) = digest_init(t, "EVP_DigestVerifyInit_ex", None, key);
                let answer = quietly!(
                    t,
                    EVP_DigestVerify(md, &signature, 64, message, message.len())
                ) as i32;
                t.say(&format!("R {other} {message:?} -> {answer}{}", t.errors()));
                quietly!(t, EVP_MD_CTX_free(md));
            }
        }
    }
    every
}

const fn point(first: u8, last: u8, middle: u8) -> [u8; 32] {
    let mut point = [middle; 32];
    point[0] = first;
    point[31] = last;
    point
}

/// Points of low order, and encodings of them that are not canonical.
const LOW_ORDER: &[(&str, [u8; 32])] = &[
    ("1", point(1, 0, 0)),
    ("1 with sign", point(1, 0x80, 0)),
    ("0", point(0, 0, 0)),
    ("0 with sign", point(0, 0x80, 0)),
    ("-1", point(0xec, 0x7f, 0xff)),
    ("-1 with sign", point(0xec, 0xff, 0xff)),
    ("p", point(0xed, 0x7f, 0xff)),
    ("p with sign", point(0xed, 0xff, 0xff)),
    ("p+1", point(0xee, 0x7f, 0xff)),
    ("p+1 with sign", point(0xee, 0xff, 0xff)),
    ("no point", point(2, 0, 0)),
    (
        "of order 8",
        [
            0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef,
            0x98, 0xf0, 0xd5, 0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88,
            0x6d, 0x53, 0xfc, 0x05,
        ],
    ),
];
