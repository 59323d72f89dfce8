//! AWS-LC, one operation at a time by its lowest public interface.

use crate::Run;
use aws_lc_sys::*;
use std::hint::black_box;
use std::ptr::null_mut;

#[allow(dead_code)] // The tests need more of it.
#[path = "../../tests/ml_dsa/aws_lc.rs"]
mod ml_dsa;
#[allow(dead_code)] // The tests need more of it.
#[path = "../../tests/ml_kem/aws_lc.rs"]
mod ml_kem;
#[path = "../../tests/rsa/oracle.rs"]
mod oracle;

/// Keys for the contenders that cannot make their own.
pub(crate) struct RsaKey;

impl RsaKey {
    /// Eight keys, two of them different: making them takes longer than measuring.
    pub(crate) fn eight(bits: u32) -> [oracle::Key; 8] {
        std::array::from_fn(|_| {
            static DER: std::sync::Mutex<Vec<(u32, Vec<u8>)>> = std::sync::Mutex::new(Vec::new());
            let mut made = DER.lock().expect("no panic while held");
            let key = made
                .iter()
                .position(|(size, _)| *size == bits)
                .unwrap_or_else(|| {
                    made.push((bits, oracle::Key::generate(bits).to_der()));
                    made.len() - 1
                });
            oracle::Key::from_der(&made[key].1)
        })
    }
}

/// The operation, so many times.
pub(crate) fn run(operation: &str) -> Option<Run> {
    // The operation is the same.
    let operation = operation.strip_suffix(" wide").unwrap_or(operation);
    Some(match operation {
        "RSA-2048 private" => rsa_private(2048),
        "RSA-3072 private" => rsa_private(3072),
        "RSA-4096 private" => rsa_private(4096),
        "RSA-2048 public" => rsa_public(2048),
        "RSA-3072 public" => rsa_public(3072),
        "RSA-4096 public" => rsa_public(4096),
        "ECDSA P-256 sign" => ecdsa(NID_X9_62_prime256v1, 32),
        "ECDSA P-384 sign" => ecdsa(NID_secp384r1, 48),
        "ECDH P-256" => ecdh(NID_X9_62_prime256v1, 32),
        "ECDH P-384" => ecdh(NID_secp384r1, 48),
        "P-256 public key" => public_key(NID_X9_62_prime256v1),
        "P-384 public key" => public_key(NID_secp384r1),
        "X25519" => {
            let (mut out, mut public) = ([0; 32], [0; 32]);
            // SAFETY: all are of 32 bytes.
            unsafe { X25519_public_from_private(public.as_mut_ptr(), [7; 32].as_ptr()) };
            Box::new(move |times| {
                for _ in 0..times {
                    // SAFETY: all are of 32 bytes.
                    let ok = unsafe { X25519(out.as_mut_ptr(), [9; 32].as_ptr(), public.as_ptr()) };
                    assert_eq!(ok, 1);
                }
            })
        }
        "X25519 public key" => {
            let mut out = [0; 32];
            Box::new(move |times| {
                for _ in 0..times {
                    // SAFETY: both are of 32 bytes.
                    unsafe { X25519_public_from_private(out.as_mut_ptr(), [9; 32].as_ptr()) };
                }
            })
        }
        "Ed25519 key" => {
            let (mut public, mut private) = ([0; 32], [0; 64]);
            Box::new(move |times| {
                for _ in 0..times {
                    // SAFETY: the sizes are Ed25519's.
                    unsafe {
                        ED25519_keypair_from_seed(
                            public.as_mut_ptr(),
                            private.as_mut_ptr(),
                            [9; 32].as_ptr(),
                        );
                    }
                }
            })
        }
        "Ed25519 sign" | "Ed25519 verify" => {
            let verify = operation.ends_with("verify");
            let (mut public, mut private, mut signature) = ([0; 32], [0; 64], [0; 64]);
            let message = [5; 32];
            // SAFETY: the sizes are Ed25519's.
            unsafe {
                ED25519_keypair(public.as_mut_ptr(), private.as_mut_ptr());
                ED25519_sign(
                    signature.as_mut_ptr(),
                    message.as_ptr(),
                    32,
                    private.as_ptr(),
                );
            }
            Box::new(move |times| {
                for _ in 0..times {
                    // SAFETY: as above.
                    let ok = unsafe {
                        let message = message.as_ptr();
                        if verify {
                            ED25519_verify(message, 32, signature.as_ptr(), public.as_ptr())
                        } else {
                            ED25519_sign(signature.as_mut_ptr(), message, 32, private.as_ptr())
                        }
                    };
                    assert_eq!(ok, 1);
                }
            })
        }
        _ => return post_quantum(operation),
    })
}

/// ML-KEM and ML-DSA. A verifier's key is read for each signature, and so is the lanes', but for "again".
fn post_quantum(operation: &str) -> Option<Run> {
    if let Some((set, what)) = kem_set(operation) {
        let keys = ml_kem::Keys::generate(set, &[1; 32], &[2; 32]);
        let (ciphertext, _) = keys.encapsulate(&[3; 32]);
        return Some(match what {
            "key" => each(move || drop(ml_kem::Keys::generate(set, black_box(&[1; 32]), &[2; 32]))),
            "encapsulate" | "encapsulate again" => {
                each(move || drop(keys.encapsulate(black_box(&[3; 32]))))
            }
            _ => each(move || drop(keys.decapsulate(black_box(&ciphertext)))),
        });
    }
    let (set, what) = dsa_set(operation)?;
    let key = ml_dsa::Key::of_seed(set, &[1; 32]);
    let mu = [5; 64];
    let signature = key.sign(&mu);
    Some(match what {
        "key" => each(move || drop(ml_dsa::Key::of_seed(set, black_box(&[1; 32])))),
        "sign" | "sign again" => each(move || drop(key.sign(black_box(&mu)))),
        _ => each(move || assert!(key.verify(black_box(&mu), &signature))),
    })
}

fn each(mut one: impl FnMut() + 'static) -> Run {
    Box::new(move |times| (0..times).for_each(|_| one()))
}

/// "ML-KEM-768 key": of which set, and what.
pub(crate) fn kem_set(operation: &str) -> Option<(outboard_lanes::ml_kem::Set, &str)> {
    let (set, what) = operation.strip_prefix("ML-KEM-")?.split_once(' ')?;
    let set = match set {
        "512" => outboard_lanes::ml_kem::Set::MlKem512,
        "768" => outboard_lanes::ml_kem::Set::MlKem768,
        _ => outboard_lanes::ml_kem::Set::MlKem1024,
    };
    Some((set, what))
}

/// The same of ML-DSA.
pub(crate) fn dsa_set(operation: &str) -> Option<(outboard_lanes::ml_dsa::Set, &str)> {
    let (set, what) = operation.strip_prefix("ML-DSA-")?.split_once(' ')?;
    let set = match set {
        "44" => outboard_lanes::ml_dsa::Set::MlDsa44,
        "65" => outboard_lanes::ml_dsa::Set::MlDsa65,
        _ => outboard_lanes::ml_dsa::Set::MlDsa87,
    };
    Some((set, what))
}

fn rsa_private(bits: u32) -> Run {
    let [key, ..] = RsaKey::eight(bits);
    let x = vec![0x42; bits as usize / 8];
    Box::new(move |times| {
        for _ in 0..times {
            key.private(&x);
        }
    })
}

fn rsa_public(bits: u32) -> Run {
    let [key, ..] = RsaKey::eight(bits);
    let x = vec![0x42; bits as usize / 8];
    Box::new(move |times| {
        for _ in 0..times {
            key.encrypt(&x);
        }
    })
}

/// A fresh key on a curve, kept for the life of the process.
fn key(curve: i32) -> *mut EC_KEY {
    // SAFETY: makes a key.
    unsafe {
        let key = EC_KEY_new_by_curve_name(curve);
        assert_eq!(EC_KEY_generate_key(key), 1);
        key
    }
}

fn ecdsa(curve: i32, digest: usize) -> Run {
    let (key, digest) = (key(curve), vec![7; digest]);
    let mut out = [0; 128];
    Box::new(move |times| {
        for _ in 0..times {
            let mut written = 0;
            // SAFETY: 128 bytes hold a signature of either curve.
            let ok = unsafe {
                ECDSA_sign(
                    0,
                    digest.as_ptr(),
                    digest.len(),
                    out.as_mut_ptr(),
                    &mut written,
                    key,
                )
            };
            assert_eq!(ok, 1);
        }
    })
}

fn ecdh(curve: i32, bytes: usize) -> Run {
    let (key, peer) = (key(curve), key(curve));
    let mut out = [0_u8; 64];
    Box::new(move |times| {
        for _ in 0..times {
            // SAFETY: live keys of one curve; `out` is longer than what is passed.
            let written = unsafe {
                let point = EC_KEY_get0_public_key(peer);
                ECDH_compute_key(out.as_mut_ptr().cast(), bytes, point, key, None)
            };
            assert_eq!(written, bytes as i32);
        }
    })
}

fn public_key(curve: i32) -> Run {
    let key = key(curve);
    // SAFETY: a live key; its group and scalar live as long; the point is kept.
    let (group, scalar, point) = unsafe {
        let group = EC_KEY_get0_group(key);
        (group, EC_KEY_get0_private_key(key), EC_POINT_new(group))
    };
    Box::new(move |times| {
        for _ in 0..times {
            let (mut out, nothing) = ([0; 100], null_mut());
            // SAFETY: all are live; an uncompressed point of either curve fits.
            unsafe {
                let ok = EC_POINT_mul(
                    group,
                    point,
                    scalar,
                    nothing,
                    nothing.cast(),
                    nothing.cast(),
                );
                assert_eq!(ok, 1);
                let form = point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED;
                let nothing = null_mut();
                assert_ne!(
                    EC_POINT_point2oct(group, point, form, out.as_mut_ptr(), 100, nothing),
                    0
                );
            }
        }
    })
}
