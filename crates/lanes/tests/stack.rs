//! How much stack an operation takes: a caller may run it on a thread or a coroutine with little of it.
//!
//! Each operation runs on a thread whose stack was filled with a pattern; what is no longer the pattern was
//! used. `cargo test --release -p outboard-lanes --test stack -- --nocapture` prints it.

mod skip;
mod thread;

use std::process::Command;

use outboard_lanes::{ed25519, ml_dsa, ml_kem, p256, p384, rsa, x25519};
use skip::skip;

#[path = "rsa/oracle.rs"]
mod oracle;

/// What no operation may exceed, in bytes. `docs/lanes.md` promises it.
const PROMISED: usize = 128 * 1024;

/// The stack's size: more than enough.
const SIZE: usize = 4 << 20;

const PATTERN: u64 = 0x5afe_57ac_c0de_5afe;

/// The bytes of stack that `work` uses, those of the thread itself included.
fn used(work: &mut dyn FnMut()) -> usize {
    let mut stack = vec![PATTERN; SIZE / 8];
    thread::run_on(&mut stack, work);
    // It grows downwards.
    let untouched = stack.iter().take_while(|word| **word == PATTERN).count();
    SIZE - 8 * untouched
}

#[test]
fn operations_need_little_stack() {
    if skip() {
        return;
    }
    let nothing = used(&mut || ());
    let mut most = 0;
    let mut report = |name: &str, work: &mut dyn FnMut()| {
        let bytes = used(work) - nothing;
        println!("{name:26} {bytes:7} bytes");
        most = most.max(bytes);
    };

    for bits in [2048, 3072, 4096] {
        let key = oracle::Key::generate(bits);
        let key = key.with_components(|c| rsa::PrivateKey::new(&c).expect("a good key"));
        let x = vec![0x42; bits as usize / 8 - 1];
        report(&format!("RSA-{bits} private"), &mut || {
            assert!(rsa::private(&[(&key, &x[..]); 8])[0].is_ok());
        });
        report(&format!("RSA-{bits} public"), &mut || {
            assert!(rsa::public(&[(key.public(), &x[..]); 8])[0].is_ok());
        });
        report(&format!("RSA-{bits} private wide"), &mut || {
            assert!(rsa::wide::private(&key, &x).is_ok());
        });
        report(&format!("RSA-{bits} public wide"), &mut || {
            assert!(rsa::wide::public(key.public(), &x).is_ok());
        });
    }
    macro_rules! curve {
        ($curve:ident, $name:literal) => {
            report(concat!($name, ", first use"), &mut || {
                $curve::prepare().expect("lanes")
            });
            let number = [1; $curve::BYTES];
            let key = $curve::PrivateKey::new(&number).expect("below n");
            let public = $curve::public_keys(&[&key]).remove(0).expect("a key");
            let (digest, entropy) = ([7; 32], [9; 32]);
            let item = $curve::Signing {
                key: &key,
                digest: &digest,
                entropy: &entropy,
            };
            report(concat!("ECDSA ", $name, " sign"), &mut || {
                assert!($curve::sign(&[item; 8])[0].is_ok());
            });
            report(concat!("ECDH ", $name), &mut || {
                assert!($curve::derive(&[(&key, &public); 8])[0].is_ok());
            });
            report(concat!($name, " public key"), &mut || {
                assert!($curve::public_keys(&[&key; 8])[0].is_ok());
            });
            report(concat!($name, " wide, first use"), &mut || {
                $curve::wide::prepare().expect("lanes")
            });
            report(concat!("ECDSA ", $name, " sign wide"), &mut || {
                assert!($curve::wide::sign(&item).is_ok());
            });
            report(concat!("ECDH ", $name, " wide"), &mut || {
                assert!($curve::wide::derive(&key, &public).is_ok());
            });
            report(concat!($name, " public key wide"), &mut || {
                assert!($curve::wide::public_key(&key).is_ok());
            });
        };
    }
    curve!(p256, "P-256");
    curve!(p384, "P-384");
    let number = [1; 32];
    let key = x25519::PrivateKey::new(&number);
    report("Curve25519, first use", &mut || {
        assert!(x25519::public_keys(&[&key])[0].is_ok());
    });
    let peer = x25519::public_keys(&[&key]).remove(0).expect("a key");
    report("X25519", &mut || {
        assert!(x25519::derive(&[(&key, &peer); 8])[0].is_ok());
    });
    report("X25519 public key", &mut || {
        assert!(x25519::public_keys(&[&key; 8])[0].is_ok());
    });
    report("Curve25519 wide, first use", &mut || {
        assert!(x25519::wide::public_key(&key).is_ok());
    });
    report("X25519 wide", &mut || {
        assert!(x25519::wide::derive(&key, &peer).is_ok());
    });
    report("X25519 public key wide", &mut || {
        assert!(x25519::wide::public_key(&key).is_ok());
    });
    report("Ed25519 key wide", &mut || {
        assert!(ed25519::wide::private_key(&[1; 32]).is_ok());
    });
    report("Ed25519 key", &mut || {
        assert!(ed25519::PrivateKey::expand(&[&[1; 32]; 8])[0].is_ok());
    });
    let key = ed25519::PrivateKey::new(&[1; 32]).expect("lanes");
    let text = [5; 32];
    report("Ed25519 sign", &mut || {
        assert!(ed25519::sign(&[(&key, &text[..]); 8])[0].is_ok());
    });
    report("Ed25519 sign wide", &mut || {
        assert!(ed25519::wide::sign(&key, &text).is_ok());
    });
    let signature = ed25519::sign(&[(&key, &text[..])])
        .remove(0)
        .expect("lanes");
    report("Ed25519 verify", &mut || {
        assert!(ed25519::verify(&[(key.public_key(), &text[..], &signature); 8])[0].is_ok());
    });
    if ml_kem::wide::available() {
        for set in ml_kem::Set::ALL {
            use ml_kem::wide;
            report(&format!("{set:?} keys wide"), &mut || {
                assert!(wide::generate(set, &[1; 32], &[2; 32]).is_ok());
            });
            let keys = wide::generate(set, &[1; 32], &[2; 32]).expect("available");
            let (public, private) = (&keys.encapsulation_key, &keys.decapsulation_key);
            report(&format!("{set:?} encapsulate wide"), &mut || {
                assert!(wide::encapsulate(set, public, &[3; 32]).is_ok());
            });
            let ciphertext = vec![3; set.ciphertext_bytes()];
            report(&format!("{set:?} decapsulate wide"), &mut || {
                assert!(wide::decapsulate(set, private, &ciphertext).is_ok());
            });
            let expanded = keys.expanded.expect("there is memory");
            report(&format!("{set:?} encapsulate again"), &mut || {
                assert!(expanded.encapsulate(&[3; 32]).is_ok());
            });
            report(&format!("{set:?} decapsulate again"), &mut || {
                assert!(expanded.decapsulate(private, &ciphertext).is_ok());
            });
            report(&format!("{set:?} expand"), &mut || {
                assert!(ml_kem::Expanded::new(set, public).is_ok());
            });
        }
    }
    if ml_dsa::wide::available() {
        for set in ml_dsa::Set::ALL {
            use ml_dsa::wide;
            report(&format!("{set:?} keys wide"), &mut || {
                assert!(wide::generate(set, &[1; 32]).is_ok());
            });
            let keys = wide::generate(set, &[1; 32]).expect("available");
            let (public, private, mu) = (&keys.public_key, &keys.private_key, [3; 64]);
            report(&format!("{set:?} sign wide"), &mut || {
                assert!(wide::sign(set, private, &mu, &[2; 32]).is_ok());
            });
            let signature = wide::sign(set, private, &mu, &[2; 32]).expect("a good key");
            report(&format!("{set:?} verify wide"), &mut || {
                assert!(wide::verify(set, public, &mu, &signature).is_ok());
            });
            let expanded = ml_dsa::Expanded::new(set, public).expect("available");
            report(&format!("{set:?} sign again"), &mut || {
                assert!(expanded.sign(private, &mu, &[2; 32]).is_ok());
            });
            report(&format!("{set:?} verify again"), &mut || {
                assert!(expanded.verify(&mu, &signature).is_ok());
            });
            report(&format!("{set:?} expand"), &mut || {
                assert!(ml_dsa::Expanded::new(set, public).is_ok());
            });
        }
    }
    assert!(
        most <= PROMISED,
        "{most} bytes of stack, {PROMISED} are promised"
    );
}

/// No instruction has become a function: each call of it would pass its vectors by the stack, and take ten times as long.
///
/// The standard library's intrinsics are functions, which the compiler inlines where the caller has their target feature. What is not
/// inlined itself into a kernel's outline has not: a closure for `map`, a method without `#[inline(always)]`. All operations are
/// part of this program, and an intrinsic that was not inlined is one of its symbols.
#[test]
fn instructions_are_inlined() {
    let program = std::env::current_exe().expect("a program has a file");
    let listed = Command::new("nm").arg(program).output().expect("nm runs");
    let symbols = String::from_utf8_lossy(&listed.stdout);
    assert!(symbols.contains("outboard_lanes"), "there are no symbols");
    let functions: Vec<_> = symbols
        .lines()
        .filter(|symbol| symbol.contains("_mm512_") || symbol.contains("_mm256_"))
        .collect();
    assert!(functions.is_empty(), "{functions:#?}");
}
