//! What an operation leaves behind: no secret on the stack below its caller, and none in a vector register.
//! `make lanes-leftovers`, a part of `make test`: in a release build, since that is where the compiler moves
//! and spills as it does for a user.
//!
//! Every operation of the crate is called on a thread with a clean stack. Then the stack and the registers are
//! searched for its secrets, in each form in which they occur ([`Secrets`]).

mod leftovers {
    mod lattices;
    pub(crate) mod probe;
    pub(crate) mod secrets;
}
mod skip;
mod thread;

#[path = "rsa/oracle.rs"]
mod oracle;

use leftovers::probe;
use leftovers::secrets::Secrets;
use outboard_lanes::rsa::{self, Components};
use outboard_lanes::{LANES, ed25519, p256, p384, x25519};
use skip::skip;

/// Fails if `function` leaves a trace of a secret, or if it used more stack than what it cleared.
fn leaves_nothing<A: Copy, R>(
    name: &str,
    secrets: &Secrets,
    function: fn(A) -> R,
    argument: A,
    with: impl Fn(R),
) {
    let left = probe::call(function, argument, with);
    let traces = [
        ("stack", secrets.traces(&left.stack)),
        ("registers", secrets.traces(&left.registers.0)),
    ];
    for (place, traces) in &traces {
        assert!(
            traces.is_empty(),
            "{name} leaves on the {place}: {traces:#?}"
        );
    }
    // Were something used below what is cleared, the deepest bytes would be a frame's.
    let cleared = left.stack.iter().take_while(|byte| **byte == 0).count();
    println!(
        "{name:24}{:7} bytes, {cleared} cleared at the bottom",
        left.stack.len()
    );
    // A function that used next to nothing need not clear it.
    assert!(
        left.stack.len() <= 64 || cleared >= 512,
        "{name} uses more stack than it clears: see wipe::depth"
    );
}

/// The search itself: it finds what a function leaves.
#[test]
fn a_secret_left_behind_is_found() {
    const SECRET: [u8; 32] = *b"a secret of thirty-two bytes, no";
    #[inline(never)]
    fn on_the_stack(digits: [u64; 5]) {
        std::hint::black_box(&digits.map(|digit| digit | 7 << 60));
    }
    #[inline(never)]
    fn in_a_register(word: u64) {
        // SAFETY: changes the register that it declares.
        unsafe { std::arch::asm!("movq xmm9, {}", in(reg) word, out("xmm9") _) };
    }
    let mut secrets = Secrets::default();
    secrets.number("the secret", &SECRET);
    let word = |at: usize| u64::from_be_bytes(SECRET[at..][..8].try_into().expect("8 bytes"));
    let digits = [word(24) & ((1 << 52) - 1), 0, 0, 0, 0];
    let left = probe::call(on_the_stack, digits, |()| ());
    assert_eq!(secrets.traces(&left.stack).len(), 1);
    let left = probe::call(in_a_register, word(3), |()| ());
    assert_eq!(secrets.traces(&left.registers.0).len(), 1);
    assert!(secrets.traces(&left.stack).is_empty());
}

/// A key's numbers and what a private operation makes of them.
fn secrets_of_rsa(secrets: &mut Secrets, key: &oracle::Key, x: &[u8]) {
    let bits = 8 * key.modulus().len();
    // R is 2^(52 N), N digits a prime.
    let r = [&[1][..], &vec![0; 52 * (bits * 5 / 512) / 8]].concat();
    let y = key.private(x);
    secrets.number("y", &y);
    key.with_components(|c| {
        let Components {
            p, q, dp, dq, qinv, ..
        } = c;
        secrets.number("qinv", qinv);
        // Across the lanes, R² is modulo n what R is modulo the primes.
        let n = key.modulus();
        let r_of_n = oracle::product_mod(&r, &r, &n);
        secrets.number("q·R^2 mod n", &oracle::product_mod(q, &r_of_n, &n));
        for (name, prime, exponent) in [("p", p, dp), ("q", q, dq)] {
            let mut add = |what: &str, number: &[u8]| {
                secrets.number(&format!("{what} {name}"), number);
            };
            let one = oracle::remainder(&r, prime);
            let times = |a: &[u8], b: &[u8]| oracle::product_mod(a, b, prime);
            let r2 = times(&one, &one);
            add("", prime);
            add("exponent of", exponent);
            add("R mod", &one);
            add("R^2 mod", &r2);
            add("R^3 mod", &times(&r2, &one));
            add("x mod", &oracle::remainder(x, prime));
            add("x/R mod", &times(x, &oracle::inverse_mod(&one, prime)));
            add("x·R mod", &times(x, &one));
            add("y mod", &oracle::remainder(&y, prime));
            add("y·R mod", &times(&y, &one));
            add("qinv·R mod", &times(qinv, &one));
            // Across the lanes: −1/p's multiple of p, which is 1/2^52 modulo p.
            let radix = [16, 0, 0, 0, 0, 0, 0];
            add("1/2^52 mod", &oracle::inverse_mod(&radix, prime));
            // −1/p mod 2^52 from 1/p mod 2^64.
            let low = prime[prime.len() - 8..].try_into().expect("8 bytes");
            let low = u64::from_be_bytes(low);
            let inverse = (0..6).fold(low, |x, _| {
                x.wrapping_mul(2_u64.wrapping_sub(low.wrapping_mul(x)))
            });
            add("-1/p of", &inverse.wrapping_neg().to_be_bytes()[..]);
        }
    });
}

/// The lanes are not needed for this: it is the same code everywhere.
#[test]
fn loading_rsa_keys_leaves_nothing() {
    for bits in [2048, 3072, 4096] {
        let key = oracle::Key::generate(bits);
        let mut secrets = Secrets::default();
        secrets_of_rsa(&mut secrets, &key, &[0x42; 200]);
        key.with_components(|c| {
            let name = format!("RSA-{bits} key");
            leaves_nothing(&name, &secrets, rsa::PrivateKey::new, &c, |key| {
                assert!(key.is_ok());
            });
        });
    }
}

#[test]
fn rsa_leaves_nothing() {
    if skip() {
        return;
    }
    for bits in [2048, 3072, 4096] {
        let keys = [oracle::Key::generate(bits), oracle::Key::generate(bits)];
        let x = vec![0x42; bits as usize / 8 - 1];
        let mut secrets = Secrets::default();
        for key in &keys {
            secrets_of_rsa(&mut secrets, key, &x);
        }
        let ours = keys
            .each_ref()
            .map(|key| key.with_components(|c| rsa::PrivateKey::new(&c).expect("a good key")));
        let items: [_; LANES] = std::array::from_fn(|lane| (&ours[lane % 2], &x[..]));
        leaves_nothing(
            &format!("RSA-{bits} private"),
            &secrets,
            rsa::private,
            &items[..],
            |results| {
                assert_eq!(results[1].as_ref(), Ok(&keys[1].private(&x)));
            },
        );

        leaves_nothing(
            &format!("RSA-{bits} private wide"),
            &secrets,
            |(key, x)| rsa::wide::private(key, x),
            items[1],
            |result| {
                assert_eq!(result.as_ref(), Ok(&keys[1].private(&x)));
            },
        );

        // The public operation encrypts.
        let y = keys[0].private(&x);
        let mut secrets = Secrets::default();
        secrets.number("y", &y);
        let items: [_; LANES] = std::array::from_fn(|_| (ours[0].public(), &y[..]));
        leaves_nothing(
            &format!("RSA-{bits} public"),
            &secrets,
            rsa::public,
            &items[..],
            |results| {
                assert!(results[0].is_ok());
            },
        );
        leaves_nothing(
            &format!("RSA-{bits} public wide"),
            &secrets,
            |(key, y)| rsa::wide::public(key, y),
            items[0],
            |result| {
                assert!(result.is_ok());
            },
        );
    }
}

macro_rules! curve {
    ($curve:ident, $name:literal) => {
        #[test]
        fn $curve() {
            use $curve::{BYTES, PrivateKey, Signing};
            let scalars: [[u8; BYTES]; 2] =
                [1, 2].map(|start| std::array::from_fn(|i| (start + 37 * i) as u8));
            let mut secrets = Secrets::default();
            for scalar in &scalars {
                secrets.number("d", scalar);
            }
            // The lanes are not needed for this.
            leaves_nothing(
                concat!($name, " private key"),
                &secrets,
                PrivateKey::new,
                &scalars[0],
                |key| {
                    assert!(key.is_ok());
                },
            );
            if skip() {
                return;
            }
            $curve::prepare().expect("lanes");
            $curve::wide::prepare().expect("lanes");
            let keys = scalars
                .each_ref()
                .map(|d| PrivateKey::new(d).expect("below n"));
            let keys: [_; LANES] = std::array::from_fn(|lane| &keys[lane % 2]);
            leaves_nothing(
                concat!($name, " public key"),
                &secrets,
                $curve::public_keys,
                &keys[..],
                |results| {
                    assert!(results.iter().all(Result::is_ok));
                },
            );
            leaves_nothing(
                concat!($name, " public key wide"),
                &secrets,
                $curve::wide::public_key,
                keys[0],
                |result| {
                    assert!(result.is_ok());
                },
            );
            let (digest, entropy) = ([7; 32], [9; 32]);
            let items = keys.map(|key| Signing {
                key,
                digest: &digest,
                entropy: &entropy,
            });
            leaves_nothing(
                concat!("ECDSA ", $name),
                &secrets,
                $curve::sign,
                &items[..],
                |results| {
                    assert!(results.iter().all(Result::is_ok));
                },
            );
            leaves_nothing(
                concat!("ECDSA ", $name, " wide"),
                &secrets,
                $curve::wide::sign,
                &items[0],
                |result| {
                    assert!(result.is_ok());
                },
            );
            let peer = $curve::public_keys(&keys[..1]).remove(0).expect("a key");
            let items = keys.map(|key| (key, &peer));
            for secret in $curve::derive(&items) {
                secrets.number("the shared secret", &secret.expect("a secret")[..]);
            }
            leaves_nothing(
                concat!("ECDH ", $name),
                &secrets,
                $curve::derive,
                &items[..],
                |results| {
                    assert!(results.iter().all(Result::is_ok));
                },
            );
            leaves_nothing(
                concat!("ECDH ", $name, " wide"),
                &secrets,
                |(key, peer)| $curve::wide::derive(key, peer),
                items[0],
                |result| {
                    assert!(result.is_ok());
                },
            );
        }
    };
}

curve!(p256, "P-256");
curve!(p384, "P-384");

#[test]
fn x25519_leaves_nothing() {
    let scalar: [u8; 32] = std::array::from_fn(|i| (64 + 37 * i) as u8 & 0xf8);
    let reversed: Vec<u8> = scalar.iter().rev().copied().collect();
    let mut secrets = Secrets::default();
    secrets.number("the scalar", &reversed);
    // The lanes are not needed for this.
    leaves_nothing(
        "X25519 private key",
        &secrets,
        x25519::PrivateKey::new,
        &scalar,
        drop,
    );
    if skip() {
        return;
    }
    let key = x25519::PrivateKey::new(&scalar);
    let peer = x25519::public_keys(&[&key]).remove(0).expect("a key");
    let keys = [&key; LANES];
    leaves_nothing(
        "X25519 public key",
        &secrets,
        x25519::public_keys,
        &keys[..],
        |results| {
            assert!(results.iter().all(Result::is_ok));
        },
    );
    let items = keys.map(|key| (key, &peer));
    let shared = x25519::derive(&items).remove(0).expect("a secret");
    let reversed: Vec<u8> = shared.iter().rev().copied().collect();
    secrets.number("the shared secret", &reversed);
    leaves_nothing("X25519", &secrets, x25519::derive, &items[..], |results| {
        assert!(results.iter().all(Result::is_ok));
    });
    leaves_nothing(
        "X25519 wide",
        &secrets,
        |(key, peer)| x25519::wide::derive(key, peer),
        (&key, &peer),
        |result| assert!(result.is_ok()),
    );
    assert!(x25519::wide::public_key(&key).is_ok()); // The table is made.
    leaves_nothing(
        "X25519 public key wide",
        &secrets,
        x25519::wide::public_key,
        &key,
        |result| assert!(result.is_ok()),
    );
}

#[test]
fn ed25519_leaves_nothing() {
    if skip() {
        return;
    }
    let seed: [u8; 32] = std::array::from_fn(|i| (1 + 37 * i) as u8);
    let mut expanded = [0; 64];
    // SAFETY: reads as many bytes as are passed, writes 64.
    unsafe { aws_lc_sys::SHA512(seed.as_ptr(), seed.len(), expanded.as_mut_ptr()) };
    let (scalar, prefix) = expanded.split_at_mut(32);
    scalar[0] &= 0xf8;
    scalar[31] = scalar[31] & 0x7f | 0x40;
    scalar.reverse();
    let mut secrets = Secrets::default();
    secrets.bytes("the seed", &seed);
    let reversed: Vec<u8> = seed.iter().rev().copied().collect();
    secrets.bytes("the seed", &reversed);
    secrets.number("the scalar", scalar);
    secrets.number("the prefix", prefix);
    // The tables are made.
    assert!(ed25519::PrivateKey::new(&seed).is_ok());
    assert!(ed25519::wide::private_key(&seed).is_ok());
    // A key is what is returned: where it goes is the caller's to wipe.
    let seeds = [&seed; LANES];
    leaves_nothing(
        "Ed25519 keys",
        &secrets,
        ed25519::PrivateKey::expand,
        &seeds[..],
        |keys| {
            assert!(keys.iter().all(Result::is_ok));
        },
    );
    leaves_nothing(
        "Ed25519 private key",
        &secrets,
        ed25519::PrivateKey::new,
        &seed,
        |key| {
            assert!(key.is_ok());
        },
    );
    leaves_nothing(
        "Ed25519 private key wide",
        &secrets,
        ed25519::wide::private_key,
        &seed,
        |key| assert!(key.is_ok()),
    );
    let key = ed25519::wide::private_key(&seed).expect("lanes");
    leaves_nothing(
        "Ed25519 sign wide",
        &secrets,
        |key| ed25519::wide::sign(key, b"a message"),
        &key,
        |result| assert!(result.is_ok()),
    );
    let items = [(&key, &b"a message"[..]); LANES];
    leaves_nothing(
        "Ed25519 sign",
        &secrets,
        ed25519::sign,
        &items[..],
        |results| {
            assert!(results.iter().all(Result::is_ok));
        },
    );
}
