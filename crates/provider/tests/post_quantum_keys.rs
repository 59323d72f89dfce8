//! Post-quantum keys in hands that are not careful: copies, parts of keys, forks, jobs with little stack, damaged bytes.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::process::Command;
use std::rc::Rc;
use std::sync::{Barrier, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;

use outboard_libcrypto::{
    Context, Decapsulator, DigestSigner, DigestVerifier, Encapsulator, Job, Key, Library, Params,
    Result, Selection, Structure,
};
use outboard_measure::{Offer, Sides};
use outboard_programs::{child, sandbox};

const KEMS: [&str; 6] = [
    "ML-KEM-512",
    "ML-KEM-768",
    "ML-KEM-1024",
    "X25519MLKEM768",
    "SecP256r1MLKEM768",
    "SecP384r1MLKEM1024",
];
const SIGNATURES: [&str; 3] = ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"];

/// Tests whose children compute without an `exec` run alone: another test's thread may hold a lock of libcrypto's when they fork.
static TURNS: RwLock<()> = RwLock::new(());

/// The contexts, for a test beside others.
fn beside() -> (RwLockReadGuard<'static, ()>, Sides) {
    let turn = TURNS.read().unwrap_or_else(PoisonError::into_inner);
    (turn, common::post_quantum().0)
}

/// The contexts, for a test that forks.
fn alone() -> (RwLockWriteGuard<'static, ()>, Sides) {
    let turn = TURNS.write().unwrap_or_else(PoisonError::into_inner);
    (turn, common::post_quantum().0)
}

fn generate(context: &Context, kind: &str) -> Key {
    Key::generate(context, kind, &Params::new()).unwrap()
}

fn encapsulate(key: &Key) -> Result<(Vec<u8>, Vec<u8>)> {
    let (ciphertext, secret) = Encapsulator::new(key, &Params::new())?.encapsulate()?;
    Ok((ciphertext, secret.to_vec()))
}

fn decapsulate(key: &Key, ciphertext: &[u8]) -> Result<Vec<u8>> {
    let secret = Decapsulator::new(key, &Params::new())?.decapsulate(ciphertext)?;
    Ok(secret.to_vec())
}

fn sign(key: &Key) -> Result<Vec<u8>> {
    DigestSigner::new(key, None, &Params::new())?.sign(b"message")
}

fn verify(key: &Key, signature: &[u8]) -> bool {
    let verifier = DigestVerifier::new(key, None, &Params::new());
    verifier
        .and_then(|mut verifier| verifier.verify(signature, b"message"))
        .unwrap_or(false)
}

#[test]
fn a_copy_outlives_its_original() {
    let (_turn, ours) = beside();
    for kind in KEMS {
        let key = generate(&ours.outboard, kind);
        let (ciphertext, secret) = encapsulate(&key).unwrap();
        let copy = key.duplicate().unwrap();
        assert!(copy.equals(&key));
        drop(key);
        assert_eq!(decapsulate(&copy, &ciphertext).unwrap(), secret, "{kind}");
    }
    for kind in SIGNATURES {
        let key = generate(&ours.outboard, kind);
        let copy = key.duplicate().unwrap();
        let signature = sign(&key).unwrap();
        drop(key);
        assert!(verify(&copy, &signature) && verify(&copy, &sign(&copy).unwrap()));
        assert!(!verify(&copy, &[]), "{kind}");
    }
}

/// Threads that load the provider at the same time, each in a context of its own, in a process that had no Outboard before. OpenSSL 3.0
/// keeps the names of objects without a lock.
#[test]
fn threads_load_it_at_the_same_time() {
    const CHILD: &str = "OUTBOARD_TEST_LOADS";
    if std::env::var_os(CHILD).is_some() {
        let library = Library::open(Library::SYSTEM).unwrap();
        let start = Barrier::new(8);
        return thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    Sides::new(&library, &common::module(), &Offer::PostQuantum).unwrap();
                });
            }
        });
    }
    for round in 0..100 {
        let mut alone = Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "threads_load_it_at_the_same_time"]);
        let ended = alone.env(CHILD, "1").output().unwrap();
        assert!(ended.status.success(), "{round}: {ended:?}");
    }
}

/// Each part of a key alone and with the others; a public selection takes no private half.
#[test]
fn parts_make_the_same_key_or_none() {
    let (_turn, ours) = beside();
    let context = &ours.outboard;
    for kind in KEMS[..3].iter().chain(&SIGNATURES) {
        let [one, other] = [generate(context, kind), generate(context, kind)];
        let parts = [c"seed", c"priv", c"pub"];
        let of = |key: &Key| parts.map(|part| key.bytes(part).unwrap().to_vec());
        let (mine, others) = (of(&one), of(&other));
        for chosen in 0..27 {
            // Of each part: none, this key's, the other one's.
            let digits = [chosen % 3, chosen / 3 % 3, chosen / 9];
            for selection in [Selection::Pair, Selection::Public, Selection::Parameters] {
                let mut params = Params::new();
                for (index, digit) in digits.into_iter().enumerate() {
                    params = match digit {
                        0 => params,
                        1 => params.bytes(parts[index], &mine[index]),
                        _ => params.bytes(parts[index], &others[index]),
                    };
                }
                let what = format!("{kind} {digits:?} {selection:?}");
                let made = Key::from_params(context, kind, selection, &mut params);
                let counted = match selection {
                    Selection::Pair => &digits[..],
                    Selection::Public => &digits[2..],
                    Selection::Parameters => &[],
                };
                let given: Vec<_> = counted.iter().filter(|digit| **digit > 0).collect();
                let fits = !given.is_empty() && given.iter().all(|digit| *digit == given[0]);
                assert_eq!(made.is_ok(), fits, "{what}");
                let Ok(made) = made else {
                    continue;
                };
                let expected = if *given[0] == 1 { &mine } else { &others };
                assert_eq!(made.bytes(c"pub").unwrap().to_vec(), expected[2], "{what}");
                let has_private = selection == Selection::Pair && digits[..2] != [0, 0];
                assert_eq!(made.bytes(c"priv").is_ok(), has_private, "{what}");
                assert_eq!(made.to_der(Structure::Pkcs8).is_ok(), has_private, "{what}");
            }
        }
        for part in 0..3 {
            for length in [1, mine[part].len() - 1] {
                let short = &mine[part][..length];
                let mut params = Params::new().bytes(parts[part], short);
                assert!(Key::from_params(context, kind, Selection::Pair, &mut params).is_err());
            }
        }
    }
}

/// Damage anywhere in a file is an error or another key. It is never a crash.
#[test]
fn damaged_files_are_errors() {
    let (_turn, ours) = beside();
    let context = &ours.outboard;
    for kind in KEMS[..3].iter().chain(&SIGNATURES) {
        let key = generate(context, kind);
        let private = key.to_der(Structure::Pkcs8).unwrap();
        let public = key.to_der(Structure::PublicKeyInfo).unwrap();
        for at in (0..80).chain((80..private.len()).step_by(97)) {
            let mut changed = private.to_vec();
            changed[at] ^= 0x81;
            // The version may be another, as in OpenSSL 3.5; all else is bound together.
            if let Ok(read) = Key::from_der(context, &changed) {
                assert!(read.equals(&key), "{kind} {at}");
            }
            assert!(
                Key::from_der(context, &private[..at]).is_err(),
                "{kind} {at}"
            );
        }
        for at in (0..public.len()).step_by(7) {
            assert!(Key::public_from_der(context, &public[..at]).is_err());
        }
    }
}

/// Nothing may follow the key but attributes and a public half.
#[test]
fn garbage_behind_a_key_is_refused() {
    let (_turn, ours) = beside();
    for kind in KEMS[..3].iter().chain(&SIGNATURES) {
        let key = generate(&ours.outboard, kind);
        let private = key.to_der(Structure::Pkcs8).unwrap();
        let mut longer = [&private[..], &[0xde, 0xad, 0xbe, 0xef]].concat();
        assert_eq!(longer[..2], [0x30, 0x82], "{kind}");
        let length = u16::from_be_bytes([longer[2], longer[3]]) + 4;
        longer[2..4].copy_from_slice(&length.to_be_bytes());
        assert!(Key::from_der(&ours.outboard, &longer).is_err(), "{kind}");
    }
}

/// Whoever names a cipher, be it an empty name, does not get the key in plain text.
#[test]
fn an_empty_cipher_is_none_that_encrypts() {
    let (_turn, ours) = beside();
    let f = ours.outboard.library().functions();
    for kind in KEMS[..3].iter().chain(&SIGNATURES) {
        let key = generate(&ours.outboard, kind);
        // SAFETY: a live key, terminated names, and an encoder that is freed once.
        let answer = unsafe {
            let (pem, info) = (c"PEM".as_ptr(), c"PrivateKeyInfo".as_ptr());
            let all = Selection::Pair.code();
            let none = std::ptr::null();
            let encoder = (f.OSSL_ENCODER_CTX_new_for_pkey)(key.as_ptr(), all, pem, info, none);
            let answer = (f.OSSL_ENCODER_CTX_set_cipher)(encoder, c"".as_ptr(), none);
            (f.OSSL_ENCODER_CTX_free)(encoder);
            answer
        };
        assert_eq!(answer, 0, "{kind}");
    }
}

/// An empty share is too short, and not a missing one.
#[test]
fn an_empty_share_is_refused() {
    let (_turn, ours) = beside();
    let f = ours.outboard.library().functions();
    for kind in KEMS {
        let key = generate(&ours.outboard, kind);
        // SAFETY: a live key; no byte is read.
        let answer =
            unsafe { (f.EVP_PKEY_set1_encoded_public_key)(key.as_ptr(), c"".as_ptr().cast(), 0) };
        assert_eq!(answer, 0, "{kind}");
    }
}

/// A caller that gives no place for the secret's length has room for it.
#[test]
fn a_secret_may_come_without_its_length() {
    let (_turn, ours) = beside();
    let f = ours.outboard.library().functions();
    for kind in KEMS {
        let key = generate(&ours.outboard, kind);
        let (ciphertext, secret) = encapsulate(&key).unwrap();
        let opened = Decapsulator::new(&key, &Params::new()).unwrap();
        let mut room = vec![0; secret.len()];
        // SAFETY: a live context, room for the secret, and a live slice.
        let answer = unsafe {
            (f.EVP_PKEY_decapsulate)(
                opened.as_ptr(),
                room.as_mut_ptr(),
                std::ptr::null_mut(),
                ciphertext.as_ptr(),
                ciphertext.len(),
            )
        };
        assert_eq!((answer, room), (1, secret), "{kind}");
    }
}

/// A message in parts whose last part comes in the call that ends it.
#[test]
fn a_last_part_ends_the_parts_before_it() {
    let (_turn, ours) = beside();
    let key = generate(&ours.outboard, SIGNATURES[0]);
    let mut signer = DigestSigner::new(&key, None, &Params::new()).unwrap();
    signer.update(b"mess").unwrap();
    let signature = signer.sign(b"age").unwrap();
    assert!(verify(&key, &signature));
    // The message has ended: there is no second, empty one.
    assert!(signer.sign(b"").is_err());
    assert!(signer.update(b"more").is_err());

    let mut verifier = DigestVerifier::new(&key, None, &Params::new()).unwrap();
    verifier.update(b"another ").unwrap();
    assert!(!verifier.verify(&signature, b"message").unwrap_or(false));
}

/// What one message was, the next one is not: an init forgets that the last one came as FIPS 204's mu.
#[test]
fn an_init_forgets_mu() {
    let (_turn, ours) = beside();
    let key = generate(&ours.outboard, SIGNATURES[0]);
    let mut signer = DigestSigner::new(&key, None, &Params::new().int(c"mu", 1)).unwrap();
    let message = [7; 64];
    let of_mu = signer.sign(&message).unwrap();
    let f = ours.outboard.library().functions();
    // SAFETY: a live context, which keeps its key.
    let answer = unsafe {
        let (none, nothing) = (std::ptr::null_mut(), std::ptr::null());
        (f.EVP_DigestSignInit_ex)(
            signer.as_ptr(),
            std::ptr::null_mut(),
            nothing,
            std::ptr::null_mut(),
            nothing,
            none,
            std::ptr::null(),
        )
    };
    assert_eq!(answer, 1);
    let of_message = signer.sign(&message).unwrap();
    let verifies = |signature: &[u8]| {
        let mut verifier = DigestVerifier::new(&key, None, &Params::new()).unwrap();
        verifier.verify(signature, &message).unwrap_or(false)
    };
    assert!(verifies(&of_message) && !verifies(&of_mu));
}

/// Where a sandbox refuses randomness to the engine, the program's own libcrypto draws, as it does for other keys.
#[test]
fn a_sandbox_without_randomness_stops_no_exchange() {
    let (_turn, ours) = alone();
    for kind in KEMS {
        let key = generate(&ours.outboard, kind);
        assert!(
            child::ends_well(|| {
                // Of a kernel whose age it cannot tell, libcrypto asks the device.
                for call in [libc::SYS_getrandom, libc::SYS_uname, libc::SYS_shmget] {
                    sandbox::refuse(call).unwrap();
                }
                let new = generate(&ours.outboard, kind);
                [key, new].iter().all(|key| {
                    let (ciphertext, secret) = encapsulate(key).unwrap();
                    decapsulate(key, &ciphertext).unwrap() == secret
                })
            }),
            "{kind}"
        );
    }
}

/// A child has the key, and randomness of its own.
#[test]
fn a_fork_between_making_a_key_and_using_it() {
    let (_turn, ours) = alone();
    for kind in KEMS {
        let key = generate(&ours.outboard, kind);
        let (ciphertext, secret) = encapsulate(&key).unwrap();
        let opens = || decapsulate(&key, &ciphertext).is_ok_and(|opened| opened == secret);
        assert!(child::ends_well(opens), "{kind}");
        let shared = common_bytes();
        assert!(child::ends_well(|| {
            let (ciphertext, _) = encapsulate(&key).unwrap();
            // SAFETY: room for 64 bytes, which parent and child share.
            unsafe { std::ptr::copy_nonoverlapping(ciphertext.as_ptr(), shared, 64) };
            true
        }));
        let (mine, _) = encapsulate(&key).unwrap();
        // SAFETY: as above; the child has ended.
        let childs = unsafe { std::slice::from_raw_parts(shared, 64) };
        assert_ne!(childs, &mine[..64], "{kind}");
        assert!(opens(), "{kind}");
    }
    for kind in SIGNATURES {
        let key = generate(&ours.outboard, kind);
        assert!(
            child::ends_well(|| verify(&key, &sign(&key).unwrap())),
            "{kind}"
        );
        assert!(verify(&key, &sign(&key).unwrap()), "{kind}");
    }
}

fn common_bytes() -> *mut u8 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
    // SAFETY: new memory, wherever there is room.
    let memory = unsafe { libc::mmap(std::ptr::null_mut(), 4096, access, kind, -1, 0) };
    assert_ne!(memory, libc::MAP_FAILED);
    memory.cast()
}

/// A job of OpenSSL's has 32 KiB of stack without a guard page; AWS-LC's ML-DSA takes 128.
#[test]
fn jobs_have_little_stack_and_may_pause_in_between() {
    let (_turn, ours) = beside();
    let library = ours.outboard.library().clone();
    let context = Rc::new(ours.outboard.clone());
    let mut jobs = Vec::new();
    for kind in KEMS.into_iter().chain(SIGNATURES) {
        let (context, inner) = (Rc::clone(&context), library.clone());
        let job = Job::start(&library, move || {
            let key = generate(&context, kind);
            Job::pause(&inner);
            if SIGNATURES.contains(&kind) {
                let signature = sign(&key).unwrap();
                Job::pause(&inner);
                return verify(&key, &signature);
            }
            let (ciphertext, secret) = encapsulate(&key).unwrap();
            Job::pause(&inner);
            decapsulate(&key, &ciphertext).unwrap() == secret
        });
        jobs.push((kind, job.unwrap()));
    }
    while jobs.iter().any(|(_, job)| job.result().is_none()) {
        for (_, job) in jobs.iter_mut().filter(|(_, job)| job.result().is_none()) {
            job.resume().unwrap();
        }
    }
    for (kind, job) in &jobs {
        assert_eq!(job.result(), Some(true), "{kind}");
    }
}
