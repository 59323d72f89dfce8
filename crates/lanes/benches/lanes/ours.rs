//! This crate.

use crate::Run;
use crate::aws_lc::{RsaKey, dsa_set, kem_set};
use outboard_lanes::{ed25519, ml_dsa, ml_kem, p256, p384, rsa, x25519};
use std::hint::black_box;

/// Every operation, and its `vpmadd52` for eight at once, as `make lanes-count` counts them. What is `wide` is spread
/// across the lanes, one after the other.
pub(crate) const OPERATIONS: &[(&str, u64)] = &[
    ("RSA-2048 private", 3_449_093),
    ("RSA-3072 private", 11_020_172),
    ("RSA-4096 private", 25_784_634),
    ("RSA-2048 public", 90_316),
    ("RSA-2048 private wide", 4_157_416),
    ("RSA-3072 private wide", 14_714_680),
    ("RSA-4096 private wide", 32_352_856),
    ("RSA-2048 public wide", 115_344),
    ("RSA-3072 public wide", 276_624),
    ("RSA-4096 public wide", 460_944),
    ("ECDSA P-256 sign", 33_878),
    ("ECDSA P-384 sign", 113_886),
    ("ECDH P-256", 202_688),
    ("ECDH P-384", 682_700),
    ("P-256 public key", 31_212),
    ("P-384 public key", 107_722),
    ("ECDSA P-256 sign wide", 87_336),
    ("ECDSA P-384 sign wide", 225_856),
    ("ECDH P-256 wide", 460_832),
    ("ECDH P-384 wide", 1_595_344),
    ("P-256 public key wide", 76_456),
    ("P-384 public key wide", 198_208),
    ("X25519", 121_299),
    ("X25519 public key", 43_729),
    ("Ed25519 sign", 45_087),
    ("Ed25519 verify", 156_369),
    ("X25519 wide", 235_088),
    ("X25519 public key wide", 41_344),
    ("Ed25519 sign wide", 51_088),
    ("Ed25519 key wide", 44_688),
    // No bound: their arithmetic has no vpmadd52, but for the packing of bytes.
    ("ML-KEM-512 key wide", 0),
    ("ML-KEM-512 encapsulate wide", 0),
    ("ML-KEM-512 decapsulate wide", 0),
    ("ML-KEM-512 encapsulate again wide", 0),
    ("ML-KEM-512 decapsulate again wide", 0),
    ("ML-KEM-768 key wide", 0),
    ("ML-KEM-768 encapsulate wide", 0),
    ("ML-KEM-768 decapsulate wide", 0),
    ("ML-KEM-768 encapsulate again wide", 0),
    ("ML-KEM-768 decapsulate again wide", 0),
    ("ML-KEM-1024 key wide", 0),
    ("ML-KEM-1024 encapsulate wide", 0),
    ("ML-KEM-1024 decapsulate wide", 0),
    ("ML-KEM-1024 encapsulate again wide", 0),
    ("ML-KEM-1024 decapsulate again wide", 0),
    ("ML-DSA-44 key wide", 0),
    ("ML-DSA-44 sign wide", 0),
    ("ML-DSA-44 verify wide", 0),
    ("ML-DSA-44 sign again wide", 0),
    ("ML-DSA-44 verify again wide", 0),
    ("ML-DSA-65 key wide", 0),
    ("ML-DSA-65 sign wide", 0),
    ("ML-DSA-65 verify wide", 0),
    ("ML-DSA-65 sign again wide", 0),
    ("ML-DSA-65 verify again wide", 0),
    ("ML-DSA-87 key wide", 0),
    ("ML-DSA-87 sign wide", 0),
    ("ML-DSA-87 verify wide", 0),
    ("ML-DSA-87 sign again wide", 0),
    ("ML-DSA-87 verify again wide", 0),
];

/// Private keys' numbers of 32 and of 48 bytes.
static NUMBERS_32: [[u8; 32]; 8] = numbers();
static NUMBERS_48: [[u8; 48]; 8] = numbers();

const fn numbers<const BYTES: usize>() -> [[u8; BYTES]; 8] {
    let mut numbers = [[0; BYTES]; 8];
    let mut i = 0;
    while i < 8 {
        numbers[i] = [i as u8 + 1; BYTES];
        i += 1;
    }
    numbers
}

/// The operation in lanes, each lane with a key of its own; or, if it is "wide", so many one after the other, each
/// across all lanes.
pub(crate) fn run(operation: &str) -> Run {
    match operation {
        "RSA-2048 private" => rsa_private(2048),
        "RSA-3072 private" => rsa_private(3072),
        "RSA-4096 private" => rsa_private(4096),
        "RSA-2048 public" => rsa_public(2048),
        "RSA-2048 private wide" => rsa_private_wide(2048),
        "RSA-3072 private wide" => rsa_private_wide(3072),
        "RSA-4096 private wide" => rsa_private_wide(4096),
        "RSA-2048 public wide" => rsa_public_wide(2048),
        "RSA-3072 public wide" => rsa_public_wide(3072),
        "RSA-4096 public wide" => rsa_public_wide(4096),
        "ECDSA P-256 sign" => {
            let keys = NUMBERS_32
                .each_ref()
                .map(|number| p256::PrivateKey::new(number).expect("below n"));
            Box::new(move |filled| {
                let item = |key| p256::Signing {
                    key,
                    digest: &[7; 32],
                    entropy: &[9; 32],
                };
                let items: Vec<_> = keys[..filled].iter().map(item).collect();
                black_box(p256::sign(black_box(&items)));
            })
        }
        "ECDSA P-384 sign" => {
            let keys = NUMBERS_48
                .each_ref()
                .map(|number| p384::PrivateKey::new(number).expect("below n"));
            Box::new(move |filled| {
                let item = |key| p384::Signing {
                    key,
                    digest: &[7; 48],
                    entropy: &[9; 32],
                };
                let items: Vec<_> = keys[..filled].iter().map(item).collect();
                black_box(p384::sign(black_box(&items)));
            })
        }
        "ECDH P-256" => {
            let keys = NUMBERS_32
                .each_ref()
                .map(|number| p256::PrivateKey::new(number).expect("below n"));
            let peers = keys
                .each_ref()
                .map(|key| p256::public_keys(&[key]).remove(0).expect("available"));
            Box::new(move |filled| {
                let items: Vec<_> = keys[..filled].iter().zip(peers.iter().rev()).collect();
                black_box(p256::derive(black_box(&items)));
            })
        }
        "ECDH P-384" => {
            let keys = NUMBERS_48
                .each_ref()
                .map(|number| p384::PrivateKey::new(number).expect("below n"));
            let peers = keys
                .each_ref()
                .map(|key| p384::public_keys(&[key]).remove(0).expect("available"));
            Box::new(move |filled| {
                let items: Vec<_> = keys[..filled].iter().zip(peers.iter().rev()).collect();
                black_box(p384::derive(black_box(&items)));
            })
        }
        "P-256 public key" => {
            let keys = NUMBERS_32
                .each_ref()
                .map(|number| p256::PrivateKey::new(number).expect("below n"));
            Box::new(move |filled| {
                let items: Vec<_> = keys[..filled].iter().collect();
                black_box(p256::public_keys(black_box(&items)));
            })
        }
        "P-384 public key" => {
            let keys = NUMBERS_48
                .each_ref()
                .map(|number| p384::PrivateKey::new(number).expect("below n"));
            Box::new(move |filled| {
                let items: Vec<_> = keys[..filled].iter().collect();
                black_box(p384::public_keys(black_box(&items)));
            })
        }
        "ECDSA P-256 sign wide" => Box::new(|times| {
            let key = p256::PrivateKey::new(&NUMBERS_32[0]).expect("below n");
            for _ in 0..times {
                black_box(p256::wide::sign(black_box(&p256::Signing {
                    key: &key,
                    digest: &[7; 32],
                    entropy: &[9; 32],
                })))
                .expect("a signature");
            }
        }),
        "ECDSA P-384 sign wide" => Box::new(|times| {
            let key = p384::PrivateKey::new(&NUMBERS_48[0]).expect("below n");
            for _ in 0..times {
                black_box(p384::wide::sign(black_box(&p384::Signing {
                    key: &key,
                    digest: &[7; 48],
                    entropy: &[9; 32],
                })))
                .expect("a signature");
            }
        }),
        "ECDH P-256 wide" => {
            let keys = [0, 1].map(|i| p256::PrivateKey::new(&NUMBERS_32[i]).expect("below n"));
            let peer = p256::wide::public_key(&keys[1]).expect("available");
            Box::new(move |times| {
                for _ in 0..times {
                    black_box(p256::wide::derive(black_box(&keys[0]), &peer)).expect("a secret");
                }
            })
        }
        "ECDH P-384 wide" => {
            let keys = [0, 1].map(|i| p384::PrivateKey::new(&NUMBERS_48[i]).expect("below n"));
            let peer = p384::wide::public_key(&keys[1]).expect("available");
            Box::new(move |times| {
                for _ in 0..times {
                    black_box(p384::wide::derive(black_box(&keys[0]), &peer)).expect("a secret");
                }
            })
        }
        "P-256 public key wide" => Box::new(|times| {
            let key = p256::PrivateKey::new(&NUMBERS_32[0]).expect("below n");
            for _ in 0..times {
                black_box(p256::wide::public_key(black_box(&key))).expect("a key");
            }
        }),
        "P-384 public key wide" => Box::new(|times| {
            let key = p384::PrivateKey::new(&NUMBERS_48[0]).expect("below n");
            for _ in 0..times {
                black_box(p384::wide::public_key(black_box(&key))).expect("a key");
            }
        }),
        "X25519" => {
            let keys = NUMBERS_32.each_ref().map(x25519::PrivateKey::new);
            let peers = keys
                .each_ref()
                .map(|key| x25519::public_keys(&[key]).remove(0).expect("available"));
            Box::new(move |filled| {
                let items: Vec<_> = keys[..filled].iter().zip(peers.iter().rev()).collect();
                black_box(x25519::derive(black_box(&items)));
            })
        }
        "X25519 public key" => {
            let keys = NUMBERS_32.each_ref().map(x25519::PrivateKey::new);
            Box::new(move |filled| {
                let items: Vec<_> = keys[..filled].iter().collect();
                black_box(x25519::public_keys(black_box(&items)));
            })
        }
        "Ed25519 sign" => {
            let keys = [1, 2, 3, 4, 5, 6, 7, 8]
                .map(|i| ed25519::PrivateKey::new(&[i; 32]).expect("available"));
            Box::new(move |filled| {
                let items: Vec<_> = keys[..filled]
                    .iter()
                    .map(|key| (key, &[5; 32][..]))
                    .collect();
                black_box(ed25519::sign(black_box(&items)));
            })
        }
        "Ed25519 verify" => {
            let keys = [1, 2, 3, 4, 5, 6, 7, 8]
                .map(|i| ed25519::PrivateKey::new(&[i; 32]).expect("available"));
            let signatures = keys.each_ref().map(|key| {
                ed25519::sign(&[(key, &[5; 32][..])])
                    .remove(0)
                    .expect("available")
            });
            Box::new(move |filled| {
                let claims: Vec<_> = keys[..filled]
                    .iter()
                    .zip(&signatures)
                    .map(|(key, signature)| (key.public_key(), &[5; 32][..], signature))
                    .collect();
                black_box(ed25519::verify(black_box(&claims)));
            })
        }
        "X25519 wide" => {
            let key = x25519::PrivateKey::new(&NUMBERS_32[0]);
            let peer = x25519::wide::public_key(&key).expect("available");
            each(move || x25519::wide::derive(black_box(&key), &peer).is_ok())
        }
        "X25519 public key wide" => {
            let key = x25519::PrivateKey::new(&NUMBERS_32[0]);
            each(move || x25519::wide::public_key(black_box(&key)).is_ok())
        }
        "Ed25519 sign wide" => {
            let key = ed25519::wide::private_key(&[1; 32]).expect("available");
            each(move || ed25519::wide::sign(black_box(&key), &[5; 32]).is_ok())
        }
        "Ed25519 key wide" => each(|| ed25519::wide::private_key(black_box(&[1; 32])).is_ok()),
        _ => post_quantum(operation),
    }
}

/// ML-KEM and ML-DSA, with the same seeds as AWS-LC.
fn post_quantum(operation: &str) -> Run {
    let operation = operation.strip_suffix(" wide").unwrap_or(operation);
    if let Some((set, what)) = kem_set(operation) {
        let keys = ml_kem::wide::generate(set, &[1; 32], &[2; 32]).expect("available");
        let sent =
            ml_kem::wide::encapsulate(set, &keys.encapsulation_key, &[3; 32]).expect("a good key");
        return match what {
            "key" => {
                each(move || ml_kem::wide::generate(set, black_box(&[1; 32]), &[2; 32]).is_ok())
            }
            "encapsulate" => each(move || {
                ml_kem::wide::encapsulate(set, black_box(&keys.encapsulation_key), &[3; 32]).is_ok()
            }),
            "encapsulate again" => {
                let expanded = keys.expanded.expect("there is memory");
                each(move || black_box(&expanded).encapsulate(&[3; 32]).is_ok())
            }
            "decapsulate again" => each(move || {
                let key = black_box(&keys.decapsulation_key);
                let expanded = keys.expanded.as_ref().expect("there is memory");
                expanded.decapsulate(key, &sent.ciphertext).is_ok()
            }),
            _ => each(move || {
                let key = black_box(&keys.decapsulation_key);
                ml_kem::wide::decapsulate(set, key, &sent.ciphertext).is_ok()
            }),
        };
    }
    let (set, what) =
        dsa_set(operation).unwrap_or_else(|| unreachable!("OPERATIONS has no {operation}"));
    let keys = ml_dsa::wide::generate(set, &[1; 32]).expect("available");
    let mu = [5; 64];
    let signature = ml_dsa::wide::sign(set, &keys.private_key, &mu, &[7; 32]).expect("a good key");
    let expanded = ml_dsa::Expanded::new(set, &keys.public_key).expect("available");
    let mut round = 0_u64;
    // How often it starts anew depends on the randomness.
    let mut randomness = move || {
        round += 1;
        let mut randomness = [7; 32];
        randomness[..8].copy_from_slice(&round.to_le_bytes());
        randomness
    };
    match what {
        "key" => each(move || ml_dsa::wide::generate(set, black_box(&[1; 32])).is_ok()),
        "sign" => each(move || {
            let key = black_box(&keys.private_key);
            ml_dsa::wide::sign(set, key, &mu, &randomness()).is_ok()
        }),
        "sign again" => each(move || {
            let key = black_box(&keys.private_key);
            expanded.sign(key, &mu, &randomness()).is_ok()
        }),
        "verify again" => each(move || black_box(&expanded).verify(&mu, &signature).is_ok()),
        _ => each(move || {
            ml_dsa::wide::verify(set, black_box(&keys.public_key), &mu, &signature).is_ok()
        }),
    }
}

/// One after the other.
fn each(mut one: impl FnMut() -> bool + 'static) -> Run {
    Box::new(move |times| {
        for _ in 0..times {
            assert!(one());
        }
    })
}

fn rsa_private(bits: u32) -> Run {
    let keys = RsaKey::eight(bits)
        .map(|key| key.with_components(|c| rsa::PrivateKey::new(&c).expect("a good key")));
    let x = vec![0x42; bits as usize / 8 - 1];
    Box::new(move |filled| {
        let items: Vec<_> = keys[..filled].iter().map(|key| (key, &x[..])).collect();
        black_box(rsa::private(black_box(&items)));
    })
}

fn rsa_private_wide(bits: u32) -> Run {
    let keys = RsaKey::eight(bits)
        .map(|key| key.with_components(|c| rsa::PrivateKey::new(&c).expect("a good key")));
    let x = vec![0x42; bits as usize / 8 - 1];
    Box::new(move |times| {
        for key in &keys[..times] {
            black_box(rsa::wide::private(key, black_box(&x)).expect("a result"));
        }
    })
}

fn rsa_public_wide(bits: u32) -> Run {
    let keys = RsaKey::eight(bits)
        .map(|key| key.with_components(|c| rsa::PublicKey::new(c.n, c.e).expect("a good key")));
    let x = vec![0x42; bits as usize / 8 - 1];
    Box::new(move |times| {
        for key in &keys[..times] {
            black_box(rsa::wide::public(key, black_box(&x)).expect("a result"));
        }
    })
}

fn rsa_public(bits: u32) -> Run {
    let keys = RsaKey::eight(bits)
        .map(|key| key.with_components(|c| rsa::PublicKey::new(c.n, c.e).expect("a good key")));
    let x = vec![0x42; bits as usize / 8 - 1];
    Box::new(move |filled| {
        let items: Vec<_> = keys[..filled].iter().map(|key| (key, &x[..])).collect();
        black_box(rsa::public(black_box(&items)));
    })
}
