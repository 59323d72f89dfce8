//! What ML-KEM and ML-DSA leave behind.

use super::secrets::Secrets;
use crate::leaves_nothing;
use outboard_lanes::{ml_dsa, ml_kem};

#[test]
fn ml_kem_leaves_nothing() {
    use ml_kem::{Set, wide};
    if !wide::available() && !cfg!(feature = "emulation") {
        return;
    }
    let seed = |factor: usize| -> [u8; 32] { std::array::from_fn(|i| (1 + factor * i) as u8) };
    let (d, z, message) = (seed(37), seed(59), seed(101));
    for set in Set::ALL {
        let keys = wide::generate(set, &d, &z).expect("lanes");
        let (public, private) = (&keys.encapsulation_key, &keys.decapsulation_key);
        let sent = wide::encapsulate(set, public, &message).expect("a key");
        let mut secrets = Secrets::default();
        for (name, bytes) in [("d", &d), ("z", &z), ("the message", &message)] {
            secrets.bytes(name, bytes);
        }
        // The secret polynomials as they are stored. In registers they have 16 bits a coefficient.
        let vector = &private[..private.len() - public.len() - 64];
        secrets.bytes("s", vector);
        let coefficients: Vec<u8> = vector
            .chunks_exact(3)
            .flat_map(|three| {
                [
                    three[0],
                    three[1] & 15,
                    three[1] >> 4 | three[2] << 4,
                    three[2] >> 4,
                ]
            })
            .collect();
        secrets.bytes("s in registers", &coefficients);
        secrets.bytes("the shared secret", &sent.secret);
        leaves_nothing(
            "ML-KEM keys",
            &secrets,
            |(set, d, z)| wide::generate(set, d, z),
            (set, &d, &z),
            |keys| assert!(keys.is_ok()),
        );
        leaves_nothing(
            "ML-KEM encapsulation",
            &secrets,
            |(set, key, message)| wide::encapsulate(set, key, message),
            (set, &public[..], &message),
            |sent| assert!(sent.is_ok()),
        );
        leaves_nothing(
            "ML-KEM decapsulation",
            &secrets,
            |(set, key, ciphertext)| wide::decapsulate(set, key, ciphertext),
            (set, &private[..], &sent.ciphertext[..]),
            |secret| assert!(secret.is_ok()),
        );
        let expanded = keys.expanded.as_ref().expect("there is memory");
        leaves_nothing(
            "ML-KEM encapsulation again",
            &secrets,
            |(key, message): (&ml_kem::Expanded, &[u8; 32])| key.encapsulate(message),
            (expanded, &message),
            |sent| assert!(sent.is_ok()),
        );
        leaves_nothing(
            "ML-KEM decapsulation again",
            &secrets,
            |(public, key, ciphertext): (&ml_kem::Expanded, &[u8], &[u8])| {
                public.decapsulate(key, ciphertext)
            },
            (expanded, &private[..], &sent.ciphertext[..]),
            |secret| assert!(secret.is_ok()),
        );
        // The public key where it lies beside the private one.
        let (start, end) = (vector.len(), private.len() - 64);
        leaves_nothing(
            "ML-KEM expansion",
            &secrets,
            |(set, key)| ml_kem::Expanded::new(set, key),
            (set, &private[start..end]),
            |expanded| assert!(expanded.is_ok()),
        );
    }
}

/// s1, s2 and t0 as they are stored, and their coefficients as they are in registers: what an attacker could use of a key.
fn secrets_of_ml_dsa(secrets: &mut Secrets, set: ml_dsa::Set, key: &[u8]) {
    let (bits, width, rows) = match set {
        ml_dsa::Set::MlDsa44 => (3, 2, 4),
        ml_dsa::Set::MlDsa65 => (4, 4, 6),
        ml_dsa::Set::MlDsa87 => (3, 2, 8),
    };
    secrets.bytes("K", &key[32..64]);
    let (small, low) = key[128..].split_at(key.len() - 128 - 416 * rows);
    secrets.bytes("s1 and s2", small);
    let coefficients = |bytes: &[u8], bits: usize, from: i32| -> Vec<i32> {
        let number = |at: usize| {
            (0..bits).fold(0, |number, bit| {
                let at = at + bit;
                number | i32::from(bytes[at / 8] >> (at % 8) & 1) << bit
            })
        };
        (0..8 * bytes.len())
            .step_by(bits)
            .map(|at| from - number(at))
            .collect()
    };
    let mut add = |name: &str, numbers: &[i32]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        secrets.bytes(name, &bytes);
    };
    let small = coefficients(small, bits, width);
    add("s1 and s2 in registers", &small);
    add("t0 in registers", &coefficients(low, 13, 1 << 12));
}

#[test]
fn ml_dsa_leaves_nothing() {
    use ml_dsa::wide;
    if !wide::available() && !cfg!(feature = "emulation") {
        return;
    }
    let seed: [u8; 32] = std::array::from_fn(|i| (1 + 37 * i) as u8);
    let randomness: [u8; 32] = std::array::from_fn(|i| (1 + 59 * i) as u8);
    let mu: [u8; 64] = std::array::from_fn(|i| (1 + 101 * i) as u8);
    for set in ml_dsa::Set::ALL {
        let keys = wide::generate(set, &seed).expect("lanes");
        let key = &keys.private_key;
        let mut secrets = Secrets::default();
        secrets.bytes("the seed", &seed);
        secrets_of_ml_dsa(&mut secrets, set, key);
        leaves_nothing(
            "ML-DSA keys",
            &secrets,
            |(set, seed)| wide::generate(set, seed),
            (set, &seed),
            |keys| assert!(keys.is_ok()),
        );
        secrets.bytes("the randomness", &randomness);
        // The seed of the masks follows from K and the randomness.
        let mask_seed = shake256(&[&key[32..64], &randomness, &mu]);
        secrets.bytes("the seed of the masks", &mask_seed);
        leaves_nothing(
            "ML-DSA signing",
            &secrets,
            |(set, key, mu, randomness)| wide::sign(set, key, mu, randomness),
            (set, &key[..], &mu, &randomness),
            |signature| assert!(signature.is_ok()),
        );
        let expanded = ml_dsa::Expanded::new(set, &keys.public_key).expect("a key");
        leaves_nothing(
            "ML-DSA signing again",
            &secrets,
            |(public, key, mu, randomness): (&ml_dsa::Expanded, &[u8], &[u8; 64], &[u8; 32])| {
                public.sign(key, mu, randomness)
            },
            (&expanded, &key[..], &mu, &randomness),
            |signature| assert!(signature.is_ok()),
        );
    }
}

/// SHAKE256 by AWS-LC: 64 bytes.
fn shake256(parts: &[&[u8]]) -> [u8; 64] {
    use aws_lc_sys as aws_lc;
    let (message, mut digest) = (parts.concat(), [0; 64]);
    // SAFETY: the context is freed, once; AWS-LC reads and writes as many bytes as there are.
    unsafe {
        let context = aws_lc::EVP_MD_CTX_new();
        aws_lc::EVP_DigestInit_ex(context, aws_lc::EVP_shake256(), std::ptr::null_mut());
        aws_lc::EVP_DigestUpdate(context, message.as_ptr().cast(), message.len());
        aws_lc::EVP_DigestFinalXOF(context, digest.as_mut_ptr(), digest.len());
        aws_lc::EVP_MD_CTX_free(context);
    }
    digest
}
