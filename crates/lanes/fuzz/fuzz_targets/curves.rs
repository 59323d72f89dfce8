//! Batches of curve operations whose keys, inputs and number of lanes the fuzzer chooses, against AWS-LC.
//!
//! `make lanes-fuzz`. The first byte says which operation, the second how many lanes are filled; then each lane
//! takes what it needs. What the fuzzer does not give is 0.
#![no_main]

#[path = "../input.rs"]
mod input;
#[path = "../../tests/weierstrass/mod.rs"]
mod weierstrass;

use aws_lc_sys as aws;
use input::Input;
use libfuzzer_sys::fuzz_target;
use outboard_lanes::{Error, LANES, ed25519, x25519};

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    let operation = input.byte();
    let filled = 1 + usize::from(input.byte()) % LANES;
    match operation % 8 {
        0 => p256::signatures(&mut input, filled),
        1 => p384::signatures(&mut input, filled),
        2 | 3 => p256::secrets(&mut input, filled),
        4 | 5 => p384::secrets(&mut input, filled),
        6 => x25519_secrets(&mut input, filled),
        _ => ed25519_signatures(&mut input, filled),
    }
});

macro_rules! curve {
    ($curve:ident, $reference:ident) => {
        mod $curve {
            use super::*;
            use outboard_lanes::$curve::*;
            use weierstrass::$reference as REFERENCE;

            /// A key, if the number is one: ours and AWS-LC agree on that.
            fn key(number: &[u8; BYTES]) -> Option<PrivateKey<'_>> {
                let key = PrivateKey::new(number).ok();
                assert_eq!(key.is_some(), REFERENCE.is_scalar(number));
                key
            }

            pub(super) fn signatures(input: &mut Input<'_>, filled: usize) {
                let numbers: Vec<[u8; BYTES]> = (0..filled).map(|_| input.bytes()).collect();
                let digest = &input.bytes::<64>()[..usize::from(input.byte()) % 65];
                let entropy = input.bytes();
                let keys: Vec<_> = numbers.iter().filter_map(|n| Some((n, key(n)?))).collect();
                let item = |key| Signing {
                    key,
                    digest,
                    entropy: &entropy,
                };
                let items: Vec<_> = keys.iter().map(|(_, key)| item(key)).collect();
                for (signature, (number, _)) in sign(&items).into_iter().zip(&keys) {
                    let public = REFERENCE.public_key(&number[..]);
                    assert!(REFERENCE.verifies(&public, digest, &signature.expect("a signature")));
                }
            }

            /// Secrets, and public keys.
            pub(super) fn secrets(input: &mut Input<'_>, filled: usize) {
                let mut lanes = Vec::new();
                for _ in 0..filled {
                    let (number, other) = (input.bytes::<BYTES>(), input.bytes::<BYTES>());
                    if key(&number).is_none() || key(&other).is_none() {
                        continue;
                    }
                    // A point of the curve, or with a byte changed one that is not.
                    let mut peer = REFERENCE.public_key(&other);
                    peer[1 + usize::from(input.byte()) % (2 * BYTES)] ^= input.byte();
                    if let Ok(public) = PublicKey::from_sec1(&peer) {
                        lanes.push((number, public));
                    }
                }
                let keys: Vec<_> = lanes.iter().filter_map(|(number, _)| key(number)).collect();
                let items: Vec<_> = keys
                    .iter()
                    .zip(lanes.iter().map(|(_, peer)| peer))
                    .collect();
                let keys: Vec<_> = keys.iter().collect();
                let results = derive(&items).into_iter().zip(public_keys(&keys));
                for ((secret, public), (number, peer)) in results.zip(&lanes) {
                    let expected = REFERENCE.shared_secret(number, &peer.to_sec1());
                    let secret = secret.map(|secret| secret.to_vec());
                    assert_eq!(secret, expected.ok_or(Error::InvalidPublicKey));
                    let public = public.expect("a public key").to_sec1();
                    assert_eq!(public[..], REFERENCE.public_key(number)[..]);
                }
            }
        }
    };
}

curve!(p256, P256);
curve!(p384, P384);

fn x25519_secrets(input: &mut Input<'_>, filled: usize) {
    let numbers: Vec<[[u8; 32]; 2]> = (0..filled)
        .map(|_| [input.bytes(), input.bytes()])
        .collect();
    let keys: Vec<_> = numbers
        .iter()
        .map(|[key, _]| x25519::PrivateKey::new(key))
        .collect();
    let items: Vec<_> = keys
        .iter()
        .zip(&numbers)
        .map(|(key, [_, peer])| (key, peer))
        .collect();
    let publics = x25519::public_keys(&keys.iter().collect::<Vec<_>>());
    let results = x25519::derive(&items).into_iter().zip(publics);
    for ((secret, public), [key, peer]) in results.zip(&numbers) {
        let (mut expected, mut expected_public) = ([0; 32], [0; 32]);
        // SAFETY: all are of 32 bytes.
        let shares = unsafe {
            aws::X25519_public_from_private(expected_public.as_mut_ptr(), key.as_ptr());
            aws::X25519(expected.as_mut_ptr(), key.as_ptr(), peer.as_ptr()) == 1
        };
        let secret = secret.map(|secret| secret[..].try_into().expect("32 bytes"));
        assert_eq!(
            secret,
            if shares {
                Ok(expected)
            } else {
                Err(Error::LowOrderPoint)
            }
        );
        assert_eq!(public, Ok(expected_public));
    }
}

/// Signatures, and the verification of changed ones.
fn ed25519_signatures(input: &mut Input<'_>, filled: usize) {
    let seeds: Vec<[u8; 32]> = (0..filled).map(|_| input.bytes()).collect();
    let changes: Vec<[u8; 3]> = (0..filled).map(|_| input.bytes()).collect();
    let text = input.0;
    let keys = ed25519::PrivateKey::expand(&seeds.iter().collect::<Vec<_>>());
    let keys: Vec<_> = keys.into_iter().map(|key| key.expect("lanes")).collect();
    let items: Vec<_> = keys.iter().map(|key| (key, text)).collect();
    let mut signed = Vec::new();
    for ((seed, key), signature) in seeds.iter().zip(&keys).zip(ed25519::sign(&items)) {
        let (mut private, mut public, mut expected) = ([0; 64], [0; 32], [0; 64]);
        // SAFETY: the lengths are the library's fixed ones; the text has the length given.
        unsafe {
            aws::ED25519_keypair_from_seed(
                public.as_mut_ptr(),
                private.as_mut_ptr(),
                seed.as_ptr(),
            );
            aws::ED25519_sign(
                expected.as_mut_ptr(),
                text.as_ptr(),
                text.len(),
                private.as_ptr(),
            );
        }
        assert_eq!((*key.public_key(), signature), (public, Ok(expected)));
        signed.push((public, expected));
    }
    for ((public, signature), [at, change, of_key]) in signed.iter_mut().zip(changes) {
        signature[usize::from(at) % 64] ^= change;
        public[usize::from(at) % 32] ^= of_key;
    }
    let claims: Vec<_> = signed
        .iter()
        .map(|(public, signature)| (public, text, signature))
        .collect();
    for (verdict, (public, text, signature)) in ed25519::verify(&claims).into_iter().zip(&claims) {
        // SAFETY: as above.
        let right = unsafe {
            aws::ED25519_verify(
                text.as_ptr(),
                text.len(),
                signature.as_ptr(),
                public.as_ptr(),
            ) == 1
        };
        assert_eq!(verdict.is_ok(), right);
    }
}
