//! ECDSA on P-256 and P-384, against AWS-LC.

mod skip;
mod weierstrass;

use skip::skip;
use weierstrass::{Random, alone, batches};

macro_rules! curve {
    ($curve:ident, $reference:ident) => {
        mod $curve {
            use super::*;
            use outboard_lanes::$curve::{
                BYTES, PrivateKey, Signature, Signing, public_keys, sign, wide,
            };
            use weierstrass::$reference as REFERENCE;

            /// One signature to make.
            struct Case {
                scalar: [u8; BYTES],
                digest: Vec<u8>,
                entropy: [u8; 32],
            }

            impl Case {
                fn new(scalar: Vec<u8>, digest: Vec<u8>, entropy: [u8; 32]) -> Case {
                    Case {
                        scalar: scalar.try_into().expect("as long as n"),
                        digest,
                        entropy,
                    }
                }

                fn random(random: &mut Random) -> Case {
                    let scalar = REFERENCE.random_scalar(random);
                    let length = [0, 1, 20, 28, 32, 48, 64, 100][random.below(8)];
                    let digest = match random.below(6) {
                        0 => vec![0; length],
                        1 => vec![0xff; length],
                        _ => random.bytes(length),
                    };
                    let entropy = random.bytes(32).try_into().expect("32 bytes");
                    Case::new(scalar, digest, entropy)
                }
            }

            /// Every signature is also made across the lanes, and has to come out the same.
            fn sign_all(cases: &[Case]) -> Vec<Signature> {
                let keys: Vec<_> = cases
                    .iter()
                    .map(|case| PrivateKey::new(&case.scalar).expect("a key"))
                    .collect();
                let items: Vec<_> = cases
                    .iter()
                    .zip(&keys)
                    .map(|(case, key)| Signing {
                        key,
                        digest: &case.digest,
                        entropy: &case.entropy,
                    })
                    .collect();
                let signatures: Vec<_> = sign(&items)
                    .into_iter()
                    .map(|s| s.expect("a signature"))
                    .collect();
                for (item, signature) in items.iter().zip(&signatures).take(alone()) {
                    assert_eq!(wide::sign(item), Ok(*signature));
                }
                signatures
            }

            fn check(cases: &[Case]) {
                for (lane, (case, signature)) in cases.iter().zip(sign_all(cases)).enumerate() {
                    let public = REFERENCE.public_key(&case.scalar);
                    assert!(
                        REFERENCE.verifies(&public, &case.digest, &signature),
                        "lane {lane}, key {:02x?}, digest {:02x?}",
                        case.scalar,
                        case.digest
                    );
                    let mut other = signature;
                    other[2 * BYTES - 1] ^= 1;
                    assert!(!REFERENCE.verifies(&public, &case.digest, &other));
                }
            }

            #[test]
            fn aws_lc_verifies() {
                if skip() {
                    return;
                }
                let mut random = Random(4);
                let mut cases: Vec<Case> = REFERENCE
                    .edge_scalars()
                    .into_iter()
                    .map(|scalar| {
                        let Case {
                            digest, entropy, ..
                        } = Case::random(&mut random);
                        Case::new(scalar, digest, entropy)
                    })
                    .collect();
                if cfg!(any(debug_assertions, feature = "emulation")) {
                    cases.truncate(80);
                }
                for batch in cases.chunks(8) {
                    check(batch);
                }
                for _ in 0..batches() {
                    let count = 1 + random.below(8);
                    let cases: Vec<_> = (0..count).map(|_| Case::random(&mut random)).collect();
                    check(&cases);
                }
            }

            /// The construction that `nonce.rs` promises: k = SHA-512(entropy ‖ d ‖ z) mod n.
            #[test]
            fn nonces_are_as_documented() {
                if skip() {
                    return;
                }
                let mut random = Random(5);
                let cases: Vec<_> = (0..8).map(|_| Case::random(&mut random)).collect();
                for (case, signature) in cases.iter().zip(sign_all(&cases)) {
                    let mut message = case.entropy.to_vec();
                    message.extend(case.scalar);
                    let used = case.digest.len().min(BYTES);
                    message.resize(message.len() + BYTES - used, 0);
                    message.extend(&case.digest[..used]);
                    let mut hash = [0; 64];
                    // SAFETY: the output has the 64 bytes of SHA-512.
                    unsafe {
                        aws_lc_sys::SHA512(message.as_ptr(), message.len(), hash.as_mut_ptr());
                    }
                    let k = REFERENCE.reduce(&hash)[..].try_into();
                    let k = k.expect("as long as n");
                    let x = public_keys(&[&PrivateKey::new(&k).expect("not 0")])[0]
                        .expect("a point")
                        .to_sec1();
                    assert_eq!(REFERENCE.reduce(&x[1..=BYTES]), signature[..BYTES]);
                }
            }

            /// The same inputs give the same signature in any lane beside any neighbours, and any
            /// other input gives another.
            #[test]
            fn lanes_do_not_meet() {
                if skip() {
                    return;
                }
                let mut random = Random(6);
                let cases: Vec<_> = (0..19).map(|_| Case::random(&mut random)).collect();
                let alone: Vec<_> = cases.chunks(1).map(|case| sign_all(case)[0]).collect();
                for count in 0..=cases.len() {
                    assert_eq!(sign_all(&cases[..count]), alone[..count]);
                    assert_eq!(
                        sign_all(&cases[cases.len() - count..]),
                        alone[cases.len() - count..]
                    );
                }
                let [first, ..] = &cases[..] else {
                    unreachable!("there are 19")
                };
                let mut entropy = first.entropy;
                entropy[31] ^= 1;
                let other = Case::new(first.scalar.to_vec(), first.digest.clone(), entropy);
                assert_ne!(sign_all(&[other])[0][..BYTES], alone[0][..BYTES]);
            }
        }
    };
}

curve!(p256, P256);
curve!(p384, P384);
