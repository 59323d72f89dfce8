//! Does a branch or an address depend on a secret? `make lanes-secrets`.
//!
//! Each operation runs on the emulation under Valgrind, which follows the secrets ([`outboard_valgrind`]). What an
//! operation may tell passes [`told`](crate::vector::told).
//!
//! This covers what the source says, all scalar code included, in the compiler's translation for the emulation.
//! That the translation for the processor's lanes is as good is what `make bench-lanes-timing` is for.
//!
//! Without Valgrind the tests run and show nothing.

use outboard_valgrind::{complaints, hide};

use crate::{ed25519, ml_dsa, ml_kem, p256, p384, rsa, x25519};

fn rsa_of(bits: usize) {
    let mut key = None;
    assert_eq!(complaints(|| key = Some(load_key_of(bits))), 0);
    let key = key.expect("loaded");
    let x = vec![0x42; bits / 8 - 1];
    key.secrets().for_each(hide);
    key.exponents().into_iter().for_each(hide);
    hide(&x[..]);
    assert_eq!(complaints(|| rsa::private(&[(&key, &x[..]); 2])), 0);
    assert_eq!(complaints(|| rsa::wide::private(&key, &x)), 0);
    assert_eq!(complaints(|| rsa::wide::public(key.public(), &x)), 0);
}

/// Loads a key whose numbers, the public ones apart, are secret. They do not belong to each other, which the check
/// refuses: what it does in secret is the same.
fn load_key_of(bits: usize) -> rsa::PrivateKey {
    // Odd numbers of the right length will do: nothing here needs primes.
    let (mut p, mut q) = (vec![0xff; bits / 16], vec![0xff; bits / 16]);
    p[bits / 16 - 1] = 0x95;
    q[bits / 16 - 1] = 0x3b;
    let mut n = vec![0; bits / 8];
    for (i, p) in p.iter().rev().enumerate() {
        let mut carry = 0;
        for (j, q) in q.iter().rev().chain(core::iter::repeat(&0)).enumerate() {
            let Some(place) = (bits / 8 - 1).checked_sub(i + j) else {
                break;
            };
            let sum = u32::from(*p) * u32::from(*q) + u32::from(n[place]) + carry;
            n[place] = sum as u8;
            carry = sum >> 8;
        }
    }
    let components = rsa::Components {
        n: &n,
        e: &[1, 0, 1],
        p: &p,
        q: &q,
        dp: &core::hint::black_box([0x5a; 60]),
        dq: &core::hint::black_box([0xa5; 60]),
        qinv: &core::hint::black_box([3; 60]),
    };
    let rsa::Components {
        p, q, dp, dq, qinv, ..
    } = components;
    [p, q, dp, dq, qinv].into_iter().for_each(hide);
    rsa::PrivateKey::new(&components).expect("numbers in range")
}

#[test]
fn rsa_2048() {
    rsa_of(2048);
}

#[test]
fn rsa_3072() {
    rsa_of(3072);
}

#[test]
fn rsa_4096() {
    rsa_of(4096);
}

macro_rules! curve {
    ($curve:ident) => {
        #[test]
        fn $curve() {
            let number = core::hint::black_box([1; $curve::BYTES]);
            let key = $curve::PrivateKey::new(&number).expect("below n");
            let public = $curve::public_keys(&[&key]).remove(0).expect("a key");
            hide(&number);
            assert_eq!(complaints(|| $curve::PrivateKey::new(&number).is_ok()), 0);
            assert_eq!(complaints(|| $curve::public_keys(&[&key; 2])), 0);
            assert_eq!(complaints(|| $curve::derive(&[(&key, &public); 2])), 0);
            let (digest, entropy) = ([7; 32], [9; 32]);
            hide(&entropy);
            let item = $curve::Signing {
                key: &key,
                digest: &digest,
                entropy: &entropy,
            };
            assert_eq!(complaints(|| $curve::sign(&[item; 2])), 0);
            $curve::wide::prepare().expect("a table");
            assert_eq!(complaints(|| $curve::wide::sign(&item)), 0);
            assert_eq!(complaints(|| $curve::wide::public_key(&key)), 0);
            assert_eq!(complaints(|| $curve::wide::derive(&key, &public)), 0);
        }
    };
}

curve!(p256);
curve!(p384);

#[test]
fn x25519() {
    let number = core::hint::black_box([5; 32]);
    let key = x25519::PrivateKey::new(&number);
    let peer = x25519::public_keys(&[&key]).remove(0).expect("a key");
    hide(&number);
    assert_eq!(complaints(|| x25519::public_keys(&[&key; 2])), 0);
    assert_eq!(complaints(|| x25519::derive(&[(&key, &peer); 2])), 0);
    assert_eq!(complaints(|| x25519::wide::derive(&key, &peer)), 0);
    assert_eq!(complaints(|| x25519::wide::public_key(&key)), 0);
}

#[test]
fn ed25519() {
    let seed = [5; 32];
    hide(&seed);
    assert_eq!(complaints(|| ed25519::PrivateKey::expand(&[&seed; 2])), 0);
    assert_eq!(complaints(|| ed25519::wide::private_key(&seed)), 0);
    let key = ed25519::PrivateKey::new(&[5; 32]).expect("lanes");
    key.secrets().into_iter().for_each(hide);
    assert_eq!(complaints(|| ed25519::sign(&[(&key, &[5; 300][..]); 2])), 0);
    assert_eq!(complaints(|| ed25519::wide::sign(&key, &[5; 300])), 0);
}

/// The matrix's seed is public, though it follows from a secret: key generation tells it.
#[test]
fn ml_kem() {
    use ml_kem::wide;
    for set in ml_kem::Set::ALL {
        let (d, z, message) = ([5; 32], [6; 32], [7; 32]);
        let keys = wide::generate(set, &d, &z).expect("lanes");
        let sent = wide::encapsulate(set, &keys.encapsulation_key, &message).expect("a key");
        let [d, z, message] = core::hint::black_box([d, z, message]);
        [&d, &z, &message].into_iter().for_each(hide);
        assert_eq!(complaints(|| wide::generate(set, &d, &z)), 0);
        let key = &keys.encapsulation_key;
        assert_eq!(complaints(|| wide::encapsulate(set, key, &message)), 0);
        let expanded = ml_kem::Expanded::new(set, key).expect("a key");
        assert_eq!(complaints(|| expanded.encapsulate(&message)), 0);
        // s and z: between them are the public key and its hash.
        let key = &keys.decapsulation_key;
        hide(&key[..key.len() - keys.encapsulation_key.len() - 64]);
        hide(&key[key.len() - 32..]);
        assert_eq!(
            complaints(|| wide::decapsulate(set, key, &sent.ciphertext)),
            0
        );
        let other = vec![0x5a; sent.ciphertext.len()];
        assert_eq!(complaints(|| wide::decapsulate(set, key, &other)), 0);
        for ciphertext in [&sent.ciphertext, &other] {
            assert_eq!(complaints(|| expanded.decapsulate(key, ciphertext)), 0);
        }
    }
}

/// What may be told is in the header of `ml_dsa.rs`: the seed of the matrix, which candidates are refused, whether an attempt is
/// rejected, and challenges.
#[test]
fn ml_dsa() {
    use ml_dsa::wide;
    for set in ml_dsa::Set::ALL {
        let keys = wide::generate(set, &[5; 32]).expect("lanes");
        let mu = [7; 64];
        // Two signatures, with about nine attempts: most are rejected.
        for first in [0, 1] {
            let [seed, randomness] = core::hint::black_box([[5; 32], [first; 32]]);
            [&seed, &randomness].into_iter().for_each(hide);
            if first == 0 {
                assert_eq!(complaints(|| wide::generate(set, &seed)), 0);
            }
            // ρ and the hash of the public key are public.
            let key = keys.private_key.clone();
            hide(&key[32..64]);
            hide(&key[128..]);
            let signed = || wide::sign(set, &key, &mu, &randomness).is_ok();
            assert_eq!(complaints(signed), 0);
            let expanded = ml_dsa::Expanded::new(set, &keys.public_key).expect("a key");
            let signed = || expanded.sign(&key, &mu, &randomness).is_ok();
            assert_eq!(complaints(signed), 0);
        }
    }
}
