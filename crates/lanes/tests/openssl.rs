//! Every operation against the system's OpenSSL (libcrypto.so.3), the second reference beside AWS-LC: random
//! batches of any number of lanes, edges among them.
//!
//! `LANES_BATCHES` is how many batches of each operation are compared; if it is not set, as many as take a
//! few seconds. Without an OpenSSL 3 the tests say so and pass.

mod random;
mod skip;

#[path = "rsa/oracle.rs"]
mod oracle;

use outboard_lanes::{ed25519, rsa, x25519};
use outboard_libcrypto::{
    Context, Decryptor, Deriver, DigestSigner, DigestVerifier, Encryptor, Key, Library, Params,
    Selection, Verifier,
};
use random::Random;
use skip::skip;

/// OpenSSL with its default provider alone, or `None` where there is nothing to compare or to compare with.
fn openssl() -> Option<Context> {
    if skip() {
        return None;
    }
    let context = Library::open(Library::SYSTEM).and_then(|library| {
        library.ignore_system_configuration()?;
        Context::new(&library)
    });
    context
        .inspect_err(|error| eprintln!("skipped: {error}"))
        .ok()
}

/// How many batches to compare: `LANES_BATCHES`, or the usual number, of which the emulation manages a few.
fn batches(usual: usize) -> usize {
    let usual = if cfg!(feature = "emulation") {
        2
    } else {
        usual
    };
    std::env::var("LANES_BATCHES").map_or(usual, |count| {
        count.parse().expect("LANES_BATCHES is a number of batches")
    })
}

fn key(context: &Context, kind: &str, selection: Selection, mut params: Params) -> Key {
    Key::from_params(context, kind, selection, &mut params).expect("OpenSSL takes the key")
}

/// A number of `N` bytes below 2^(8N − 1) that is not 0: random, or all zeros or ones but for a few bits.
fn number<const N: usize>(random: &mut Random) -> [u8; N] {
    let mut bytes = match random.below(4) {
        0 => [0; N],
        1 => [0xff; N],
        _ => random.bytes(),
    };
    bytes[0] &= 0x7f;
    bytes[N - 1] |= 1;
    bytes[random.below(N)] ^= 2;
    bytes
}

fn rsa(bits: u32, usual: usize) {
    let Some(context) = openssl() else { return };
    let no_padding = || Params::new().text(c"pad-mode", "none");
    let keys: Vec<_> = (0..3)
        .map(|_| {
            let key = oracle::Key::generate(bits);
            let ours = key.with_components(|c| rsa::PrivateKey::new(&c));
            let theirs = Key::from_der(&context, &key.to_der()).expect("a key in PKCS #1's form");
            (
                ours.expect("a key of two equal primes"),
                theirs,
                key.modulus(),
            )
        })
        .collect();
    let mut random = Random::new(u64::from(bits));
    for round in 0..batches(usual) {
        let lanes: Vec<_> = (0..1 + round % 8)
            .map(|_| {
                let (ours, theirs, n) = &keys[random.below(keys.len())];
                let mut x = match random.below(8) {
                    0 => vec![0; n.len()],
                    1 => vec![0xff; n.len()],
                    _ => n.iter().map(|_| random.word() as u8).collect(),
                };
                // Below n, whose highest bit is set.
                x[0] &= 0x7f;
                x[n.len() - 1] ^= random.below(2) as u8;
                (ours, theirs, x)
            })
            .collect();
        let private: Vec<_> = lanes.iter().map(|(ours, _, x)| (*ours, &x[..])).collect();
        let public: Vec<_> = private.iter().map(|(key, x)| (key.public(), *x)).collect();
        let results = rsa::private(&private).into_iter().zip(rsa::public(&public));
        for ((_, theirs, x), (y, power)) in lanes.iter().zip(results) {
            let mut decryptor = Decryptor::new(theirs, &no_padding()).expect("RSA");
            let mut encryptor = Encryptor::new(theirs, &no_padding()).expect("RSA");
            let expected = decryptor.decrypt(x).expect("below n");
            assert_eq!(y.as_ref(), Ok(&*expected), "x^d of {x:02x?}");
            assert_eq!(
                power,
                encryptor
                    .encrypt(x)
                    .map_err(|_| outboard_lanes::Error::InputTooLarge)
            );
        }
    }
}

#[test]
fn rsa_2048() {
    rsa(2048, 200);
}

#[test]
fn rsa_3072() {
    rsa(3072, 40);
}

#[test]
fn rsa_4096() {
    rsa(4096, 20);
}

macro_rules! curve {
    ($curve:ident, $group:literal, $usual:literal) => {
        mod $curve {
            use super::*;
            use outboard_lanes::$curve::{
                BYTES, PrivateKey, PublicKey, Signing, derive, public_keys, sign,
            };

            fn numbers(random: &mut Random) -> Vec<[u8; BYTES]> {
                (0..1 + random.below(8)).map(|_| number(random)).collect()
            }

            /// Keys of ours, and OpenSSL's of their numbers.
            fn keys<'a>(
                context: &Context,
                numbers: &'a [[u8; BYTES]],
            ) -> Vec<(PrivateKey<'a>, PublicKey, Key)> {
                let private: Vec<_> = numbers
                    .iter()
                    .map(|number| PrivateKey::new(number).expect("below 2^(8 BYTES - 1)"))
                    .collect();
                let publics = public_keys(&private.iter().collect::<Vec<_>>());
                let keys = private.into_iter().zip(publics).zip(numbers);
                keys.map(|((private, public), number)| {
                    let public = public.expect("lanes");
                    let params = Params::new()
                        .text(c"group", $group)
                        .bytes(c"pub", &public.to_sec1())
                        .big_endian(c"priv", number);
                    (private, public, key(context, "EC", Selection::Pair, params))
                })
                .collect()
            }

            /// DER of a signature r ‖ s.
            fn der(signature: &[u8]) -> Vec<u8> {
                let integer = |number: &[u8]| {
                    let zeros = number.iter().take_while(|byte| **byte == 0).count();
                    let digits = &number[zeros.min(number.len() - 1)..];
                    let sign = if digits[0] >> 7 == 1 { &[0][..] } else { &[] };
                    [&[2, (sign.len() + digits.len()) as u8], sign, digits].concat()
                };
                let (r, s) = signature.split_at(BYTES);
                let body = [integer(r), integer(s)].concat();
                [&[0x30, body.len() as u8], &body[..]].concat()
            }

            #[test]
            fn public_keys_and_secrets() {
                let Some(context) = openssl() else { return };
                let mut random = Random::new(1);
                for _ in 0..batches($usual) {
                    let numbers = numbers(&mut random);
                    let keys = keys(&context, &numbers);
                    for (_, public, theirs) in &keys {
                        theirs
                            .check()
                            .unwrap_or_else(|error| panic!("{error}: {public:02x?}"));
                    }
                    let peers = keys.iter().rev();
                    let items: Vec<_> = keys
                        .iter()
                        .zip(peers.clone())
                        .map(|(a, b)| (&a.0, &b.1))
                        .collect();
                    let pairs = keys.iter().zip(peers);
                    for (secret, ((_, _, key), (_, _, peer))) in
                        derive(&items).into_iter().zip(pairs)
                    {
                        let mut deriver = Deriver::new(key, &Params::new()).expect("ECDH");
                        deriver.set_peer(peer).expect("a point of the curve");
                        let expected = deriver.derive().expect("a secret");
                        assert_eq!(secret.expect("a secret")[..], expected[..]);
                    }
                }
            }

            #[test]
            fn signatures() {
                let Some(context) = openssl() else { return };
                let mut random = Random::new(2);
                for _ in 0..batches($usual) {
                    let numbers = numbers(&mut random);
                    let keys = keys(&context, &numbers);
                    let digests: Vec<Vec<u8>> = keys
                        .iter()
                        .map(|_| random.bytes::<64>()[..[20, 32, 48, 64][random.below(4)]].to_vec())
                        .collect();
                    let entropy = random.bytes();
                    let items: Vec<_> = keys
                        .iter()
                        .zip(&digests)
                        .map(|((key, _, _), digest)| Signing {
                            key,
                            digest,
                            entropy: &entropy,
                        })
                        .collect();
                    for (signature, (digest, (_, _, key))) in
                        sign(&items).into_iter().zip(digests.iter().zip(&keys))
                    {
                        let mut signature = signature.expect("a signature");
                        let mut verifier = Verifier::new(key, &Params::new()).expect("ECDSA");
                        let mut verify = |signature: &[u8]| {
                            verifier.verify(&der(signature), digest).expect("an answer")
                        };
                        assert!(verify(&signature), "{digest:02x?}: {signature:02x?}");
                        signature[2 * BYTES - 1] ^= 1;
                        assert!(!verify(&signature), "{digest:02x?}: {signature:02x?}");
                    }
                }
            }
        }
    };
}

curve!(p256, "P-256", 100);
curve!(p384, "P-384", 20);

#[test]
fn x25519() {
    let Some(context) = openssl() else { return };
    let mut random = Random::new(3);
    for _ in 0..batches(500) {
        let numbers: Vec<[u8; 32]> = (0..1 + random.below(8))
            .map(|_| number(&mut random))
            .collect();
        let private: Vec<_> = numbers.iter().map(x25519::PrivateKey::new).collect();
        let publics = x25519::public_keys(&private.iter().collect::<Vec<_>>());
        let publics: Vec<_> = publics.into_iter().map(|key| key.expect("lanes")).collect();
        let theirs: Vec<_> = numbers
            .iter()
            .map(|number| {
                let params = Params::new().bytes(c"priv", number);
                key(&context, "X25519", Selection::Pair, params)
            })
            .collect();
        for (public, theirs) in publics.iter().zip(&theirs) {
            assert_eq!(public[..], theirs.bytes(c"pub").expect("a public key")[..]);
        }
        let items: Vec<_> = private.iter().zip(publics.iter().rev()).collect();
        let pairs = theirs.iter().zip(theirs.iter().rev());
        for (secret, (key, peer)) in x25519::derive(&items).into_iter().zip(pairs) {
            let mut deriver = Deriver::new(key, &Params::new()).expect("X25519");
            deriver.set_peer(peer).expect("any number is a key");
            assert_eq!(
                secret.expect("a secret")[..],
                deriver.derive().expect("a secret")[..]
            );
        }
    }
}

#[test]
fn ed25519() {
    let Some(context) = openssl() else { return };
    let mut random = Random::new(4);
    for _ in 0..batches(500) {
        let seeds: Vec<[u8; 32]> = (0..1 + random.below(8))
            .map(|_| number(&mut random))
            .collect();
        let texts: Vec<Vec<u8>> = seeds
            .iter()
            .map(|_| random.bytes::<300>()[..random.below(300)].to_vec())
            .collect();
        let keys = ed25519::PrivateKey::expand(&seeds.iter().collect::<Vec<_>>());
        let keys: Vec<_> = keys.into_iter().map(|key| key.expect("lanes")).collect();
        let items: Vec<_> = keys
            .iter()
            .zip(&texts)
            .map(|(key, text)| (key, &text[..]))
            .collect();
        let mut signatures: Vec<_> = ed25519::sign(&items)
            .into_iter()
            .map(|signature| signature.expect("lanes"))
            .collect();
        let theirs = seeds.iter().map(|seed| {
            let params = Params::new().bytes(c"priv", seed);
            key(&context, "ED25519", Selection::Pair, params)
        });
        let theirs: Vec<_> = theirs.collect();
        for (((key, text), signature), theirs) in items.iter().zip(&signatures).zip(&theirs) {
            assert_eq!(
                key.public_key()[..],
                theirs.bytes(c"pub").expect("a public key")[..]
            );
            let mut signer = DigestSigner::new(theirs, None, &Params::new()).expect("Ed25519");
            assert_eq!(signature[..], signer.sign(text).expect("a signature")[..]);
        }
        // Some right, some with a bit changed.
        for signature in &mut signatures {
            signature[random.below(64)] ^= random.below(2) as u8;
        }
        let claims: Vec<_> = items
            .iter()
            .zip(&signatures)
            .map(|((key, text), signature)| (key.public_key(), *text, signature))
            .collect();
        let verdicts = ed25519::verify(&claims)
            .into_iter()
            .zip(&claims)
            .zip(&theirs);
        for ((verdict, (_, text, signature)), theirs) in verdicts {
            let mut verifier = DigestVerifier::new(theirs, None, &Params::new()).expect("Ed25519");
            let expected = verifier.verify(&signature[..], text).expect("an answer");
            assert_eq!(verdict.is_ok(), expected, "{signature:02x?} of {text:02x?}");
        }
    }
}
