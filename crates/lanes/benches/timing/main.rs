//! Does time depend on secrets? `make bench-lanes-timing`.
//!
//! After dudect (Reparaz, Balasch, Verbauwhede 2017): each operation runs with a secret of one of two classes, drawn
//! at random before each run: a fixed extreme one, and random ones. Welch's t-test compares the two classes'
//! times, of all measurements and of those below each of dudect's 100 percentiles, for interrupts make a few
//! runs long whatever the class. |t| beyond 4.5 is suspicious, beyond 10 a leak; what is constant time stays
//! below 4.5 however long it runs (`MEASUREMENTS=`, default 2000 a class, for RSA an eighth of it;
//! `ONLY=` a part of a name).
//!
//! Both classes are prepared by the same steps in the same memory: secrets are made anew for each run, by the
//! same allocations. The first row is the control: both classes are random, so what it shows is the machine's.
//!
//! This is evidence, not proof: the proof is that no branch and no address depends on a secret, which
//! `make lanes-secrets` checks of the source.

use outboard_lanes::{ed25519, p256, p384, rsa, x25519};
use std::hint::black_box;

#[path = "../lanes/aws_lc.rs"]
#[allow(dead_code)]
mod aws_lc;

/// Runs an operation so many times (of which this benchmark has no use).
type Run = Box<dyn FnMut(usize)>;

/// An operation with its secret, to be timed once.
type Timed = Box<dyn FnMut()>;

fn main() {
    if !outboard_lanes::available() {
        println!("{}", outboard_lanes::Error::Unavailable);
        return;
    }
    let wanted = std::env::var("MEASUREMENTS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(2000);
    println!("Welch's t, fixed against random secrets, {wanted} measurements of each:");
    let mut random = Random(0x0123_4567_89ab_cdef);

    let bytes = |class: usize, random: &mut Random| random.or_fixed(class, [0; 32]);
    report("control: Ed25519 sign", wanted, &mut random, |_, random| {
        let key = ed25519::PrivateKey::new(&bytes(1, random)).expect("available");
        Box::new(move || {
            black_box(ed25519::sign(black_box(&[(&key, &[5; 32][..]); 8])));
        })
    });

    for wide in [false, true] {
        rsa_private::<256, 128>(wide, wanted / 8, &mut random);
        rsa_private::<384, 192>(wide, wanted / 8, &mut random);
        rsa_private::<512, 256>(wide, wanted / 8, &mut random);
    }

    // Curves: scalars of 1 (as far as the format allows) against random ones.
    macro_rules! weierstrass {
        ($curve:ident, $name:literal, $bytes:literal) => {{
            let scalar = |class: usize, random: &mut Random| {
                let mut one = [0; $bytes];
                one[$bytes - 1] = 1;
                let mut bytes = random.or_fixed(class, one);
                bytes[0] = 0;
                bytes
            };
            // Making a key is measured with its use: it only looks at the number.
            fn key(scalar: &[u8; $bytes]) -> $curve::PrivateKey<'_> {
                $curve::PrivateKey::new(scalar).expect("below n")
            }
            let peer = $curve::public_keys(&[&key(&scalar(1, &mut random))])
                .remove(0)
                .expect("a key");
            report(
                concat!("ECDSA ", $name, " sign"),
                wanted,
                &mut random,
                |class, random| {
                    let (scalar, digest) = (scalar(class, random), [7; $bytes]);
                    let entropy = random.array();
                    Box::new(move || {
                        let item = $curve::Signing {
                            key: &key(&scalar),
                            digest: &digest,
                            entropy: &entropy,
                        };
                        black_box($curve::sign(black_box(&[item; 8])));
                    })
                },
            );
            report(
                concat!("ECDH ", $name),
                wanted,
                &mut random,
                |class, random| {
                    let scalar = scalar(class, random);
                    Box::new(move || {
                        let key = key(&scalar);
                        black_box($curve::derive(black_box(&[(&key, &peer); 8])));
                    })
                },
            );
            report(
                concat!($name, " public key"),
                wanted,
                &mut random,
                |class, random| {
                    let scalar = scalar(class, random);
                    Box::new(move || {
                        let key = key(&scalar);
                        black_box($curve::public_keys(black_box(&[&key; 8])));
                    })
                },
            );
            report(
                concat!("ECDSA ", $name, " sign wide"),
                wanted,
                &mut random,
                |class, random| {
                    let (scalar, digest) = (scalar(class, random), [7; $bytes]);
                    let entropy = random.array();
                    Box::new(move || {
                        black_box($curve::wide::sign(black_box(&$curve::Signing {
                            key: &key(&scalar),
                            digest: &digest,
                            entropy: &entropy,
                        })))
                        .expect("a signature");
                    })
                },
            );
            report(
                concat!("ECDH ", $name, " wide"),
                wanted,
                &mut random,
                |class, random| {
                    let scalar = scalar(class, random);
                    Box::new(move || {
                        let key = key(&scalar);
                        black_box($curve::wide::derive(black_box(&key), &peer)).expect("a secret");
                    })
                },
            );
            report(
                concat!($name, " public key wide"),
                wanted,
                &mut random,
                |class, random| {
                    let scalar = scalar(class, random);
                    Box::new(move || {
                        let key = key(&scalar);
                        black_box($curve::wide::public_key(black_box(&key))).expect("a key");
                    })
                },
            );
        }};
    }
    weierstrass!(p256, "P-256", 32);
    weierstrass!(p384, "P-384", 48);

    let peer = x25519::public_keys(&[&x25519::PrivateKey::new(&[9; 32])])
        .remove(0)
        .expect("a key");
    report("X25519", wanted, &mut random, |class, random| {
        let bytes = bytes(class, random);
        Box::new(move || {
            let key = x25519::PrivateKey::new(&bytes);
            black_box(x25519::derive(black_box(&[(&key, &peer); 8])));
        })
    });
    report("X25519 public key", wanted, &mut random, |class, random| {
        let bytes = bytes(class, random);
        Box::new(move || {
            let key = x25519::PrivateKey::new(&bytes);
            black_box(x25519::public_keys(black_box(&[&key; 8])));
        })
    });
    report("Ed25519 sign", wanted, &mut random, |class, random| {
        let key = ed25519::PrivateKey::new(&bytes(class, random)).expect("available");
        Box::new(move || {
            black_box(ed25519::sign(black_box(&[(&key, &[5; 32][..]); 8])));
        })
    });
    report("X25519 wide", wanted, &mut random, |class, random| {
        let bytes = bytes(class, random);
        Box::new(move || {
            let key = x25519::PrivateKey::new(&bytes);
            let _ = black_box(x25519::wide::derive(black_box(&key), &peer));
        })
    });
    let name = "X25519 public key wide";
    report(name, wanted, &mut random, |class, random| {
        let bytes = bytes(class, random);
        Box::new(move || {
            let key = x25519::PrivateKey::new(&bytes);
            let _ = black_box(x25519::wide::public_key(black_box(&key)));
        })
    });
    report("Ed25519 sign wide", wanted, &mut random, |class, random| {
        let key = ed25519::PrivateKey::new(&bytes(class, random)).expect("available");
        Box::new(move || {
            let _ = black_box(ed25519::wide::sign(black_box(&key), &[5; 32]));
        })
    });
}

/// RSA with a modulus and primes of so many bytes: the input is the secret that an attacker chooses, the key's
/// exponents are its own. Fixed: x = 1, for which every intermediate power is 1, and exponents of 1.
///
/// `wide`: one operation across the lanes, with the first of the keys.
fn rsa_private<const MODULUS: usize, const PRIME: usize>(
    wide: bool,
    wanted: usize,
    random: &mut Random,
) {
    let bits = 8 * MODULUS;
    let private = if wide { "private wide" } else { "private" };
    let names = [b'x', b'd'].map(|what| format!("RSA-{bits} {private}, {}", char::from(what)));
    let run = move |keys: &[rsa::PrivateKey; 8], x: &[u8]| {
        if wide {
            drop(black_box(rsa::wide::private(&keys[0], black_box(x))));
        } else {
            let items = keys.each_ref().map(|key| (key, x));
            black_box(rsa::private(black_box(&items)));
        }
    };
    if !names.iter().any(|name| is_asked_for(name)) {
        return;
    }
    let theirs = aws_lc::RsaKey::eight(bits as u32);
    report(&names[0], wanted, random, |class, random| {
        let mut one = [0; MODULUS];
        one[MODULUS - 1] = 1;
        let mut x = random.or_fixed(class, one);
        x[0] = 0;
        let keys = theirs.each_ref().map(|key| {
            key.with_components(|c| rsa::PrivateKey::new(&c))
                .expect("a good key")
        });
        Box::new(move || run(&keys, &x))
    });
    // With exponents that are not the key's own the check refuses the results, in both classes.
    report(&names[1], wanted, random, |class, random| {
        let keys = theirs.each_ref().map(|key| {
            let mut one = [0; PRIME];
            one[PRIME - 1] = 1;
            let [mut dp, mut dq] = [(); 2].map(|()| random.or_fixed(class, one));
            (dp[0], dq[0]) = (0, 0);
            let (dp, dq) = (&dp, &dq);
            key.with_components(|c| rsa::PrivateKey::new(&rsa::Components { dp, dq, ..c }))
                .expect("numbers in range")
        });
        let mut x = [0x42; MODULUS];
        x[0] = 0;
        Box::new(move || run(&keys, &x))
    });
}

/// Whether `ONLY=` is a part of the name.
fn is_asked_for(name: &str) -> bool {
    name.contains(&std::env::var("ONLY").unwrap_or_default())
}

/// Measures both classes and prints the largest t-value. `prepare` makes a run with a secret of the class given;
/// both classes draw, so that what happens before the clock starts is the same.
fn report(
    name: &str,
    wanted: usize,
    random: &mut Random,
    mut prepare: impl FnMut(usize, &mut Random) -> Timed,
) {
    if !is_asked_for(name) {
        return;
    }
    let mut measured: Vec<(usize, f64)> = Vec::with_capacity(2 * wanted);
    while measured.len() < 2 * wanted {
        let class = (random.next() >> 40) as usize & 1;
        let mut run = prepare(class, random);
        let start = cycles();
        run();
        measured.push((class, (cycles() - start) as f64));
    }
    let mut times: Vec<f64> = measured.iter().map(|(_, time)| *time).collect();
    times.sort_by(f64::total_cmp);
    // Quantiles of both classes together: a crop that looked at the class would make a difference itself.
    let shares = (1..=100).map(|i| 1.0 - 0.5_f64.powf(f64::from(i) / 10.0));
    let cropped = shares.chain([1.0]).map(|share| {
        let limit = times[((times.len() - 1) as f64 * share) as usize];
        let of = |wanted: usize| -> Vec<f64> {
            let class = measured.iter().filter(|(class, _)| *class == wanted);
            class
                .map(|(_, time)| *time)
                .filter(|time| *time <= limit)
                .collect()
        };
        (
            share,
            welch(&of(0), &of(1)),
            mean(&of(0)) / mean(&of(1)) - 1.0,
        )
    });
    let cropped: Vec<_> = cropped.filter(|(_, t, _)| t.is_finite()).collect();
    let worst = |a: &&(f64, f64, f64), b: &&(f64, f64, f64)| a.1.abs().total_cmp(&b.1.abs());
    let Some((share, t, difference)) = cropped.iter().max_by(worst) else {
        println!("{name:22} too few measurements");
        return;
    };
    let all = cropped.last().map_or(f64::NAN, |(_, t, _)| *t);
    let verdict = match t.abs() {
        ..4.5 => "",
        ..10.0 => "   SUSPICIOUS: run it longer",
        _ => "   A LEAK",
    };
    println!(
        "{name:22} t = {all:6.2} (all), at worst {t:6.2} (of the quickest {:.1} %), where the means differ by {:+.3} %{verdict}",
        100.0 * share,
        100.0 * difference,
    );
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

/// Welch's t for two samples.
fn welch(a: &[f64], b: &[f64]) -> f64 {
    let moments = |x: &[f64]| {
        let n = x.len() as f64;
        let mean = mean(x);
        (
            mean,
            x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0) / n,
        )
    };
    let ((mean_a, variance_a), (mean_b, variance_b)) = (moments(a), moments(b));
    (mean_a - mean_b) / (variance_a + variance_b).sqrt()
}

/// The processor's time-stamp counter, read when all before it is done: what the preparation still had under way
/// would be counted, such as loads that wait for single bytes to be stored.
fn cycles() -> u64 {
    use core::arch::x86_64::{_mm_lfence, _mm_mfence, _rdtsc};
    // SAFETY: every x86-64 has them.
    unsafe {
        _mm_mfence();
        _mm_lfence();
        _rdtsc()
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545f4914f6cdd1d)
    }

    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.fill_with(|| (self.next() >> 56) as u8);
    }

    fn array(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.fill(&mut bytes);
        bytes
    }

    /// A secret of class 0, the `fixed` one, or of class 1, a random one: made by the same instructions.
    fn or_fixed<const N: usize>(&mut self, class: usize, fixed: [u8; N]) -> [u8; N] {
        let mask = black_box((class as u8).wrapping_neg());
        fixed.map(|byte| byte ^ (byte ^ (self.next() >> 56) as u8) & mask)
    }
}
