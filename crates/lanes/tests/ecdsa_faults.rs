//! One bit flipped in one lane of any intermediate: nothing wrong is released: `make lanes-fault`. Each check is
//! needed for that.
#![cfg(feature = "fault")]

mod faults;
mod weierstrass;

use faults::{Aim, each_check_is_needed, release_nothing_wrong};
use outboard_lanes::LANES;
use outboard_lanes::fault::{Check, Trace};
use std::ops::Range;
use weierstrass::Random;

/// The base point's table is shared: each lane that picks a disturbed entry is withheld.
const OTHERS: usize = LANES - 1;

/// Where the tally guards that the right multiples of a point are added: `odd` is where the scalar is recoded, `sum`
/// where its digits are looked up. An index is the low bits of what was shifted.
fn of_the_tally(trace: &Trace, odd: Range<u64>, sum: &str, index: u32) -> [Aim; 2] {
    let lookups = trace.kernel(sum, 0);
    [
        Aim::at(Check::Tally, odd),
        Aim::among(Check::Tally, &trace.shifts, lookups).bits(0..index),
    ]
}

macro_rules! curve {
    ($curve:ident, $reference:ident) => {
        mod $curve {
            use super::*;
            use outboard_lanes::$curve::*;
            use weierstrass::$reference as REFERENCE;

            fn scalars() -> Vec<[u8; BYTES]> {
                let mut random = Random(7);
                prepare().expect("the emulation");
                let mut scalar = || REFERENCE.random_scalar(&mut random).try_into();
                (0..8).map(|_| scalar().expect("as long as n")).collect()
            }

            fn keys(scalars: &[[u8; BYTES]]) -> Vec<PrivateKey<'_>> {
                let key = |k| PrivateKey::new(k).expect("a key");
                scalars.iter().map(key).collect()
            }

            #[test]
            fn signatures() {
                let scalars = scalars();
                let keys = keys(&scalars);
                let digest = [0x5a; BYTES];
                let publics: Vec<_> = scalars.iter().map(|k| REFERENCE.public_key(k)).collect();
                let items: Vec<_> = keys
                    .iter()
                    .map(|key| Signing {
                        key,
                        digest: &digest,
                        entropy: &[3; 32],
                    })
                    .collect();
                let operation = || sign(&items);
                let right = |lane: usize, signature: &Signature| {
                    REFERENCE.verifies(&publics[lane], &digest, signature)
                };
                let name = stringify!($curve);
                release_nothing_wrong(name, faults::faults(300), OTHERS, operation, right);

                each_check_is_needed(operation, right, |trace: &Trace| {
                    let (sign, sum) = (trace.kernel("Sign", 0), trace.kernel("MultiplyBase", 0));
                    let inverses = trace.kernel("InvertTwo", 0);
                    let checks = trace.check(Check::Tally);
                    let mut aims = vec![
                        Aim::at(Check::OnCurve, sum.clone()),
                        Aim::at(Check::Equation, inverses.clone()),
                        Aim::at(Check::X, inverses.end..checks),
                        Aim::at(Check::Equation, inverses.end..checks),
                    ];
                    aims.extend(of_the_tally(
                        trace,
                        sign.start..sum.start,
                        "MultiplyBase",
                        6,
                    ));
                    aims
                });
            }

            #[test]
            fn keys_of_the_public() {
                let scalars = scalars();
                let keys = keys(&scalars);
                let keys: Vec<_> = keys.iter().collect();
                let publics: Vec<_> = scalars.iter().map(|k| REFERENCE.public_key(k)).collect();
                let operation = || public_keys(&keys);
                let right = |lane: usize, key: &PublicKey| key.to_sec1()[..] == publics[lane];
                let name = concat!(stringify!($curve), " public key");
                release_nothing_wrong(name, faults::faults(300), OTHERS, operation, right);

                each_check_is_needed(operation, right, |trace: &Trace| {
                    let start = trace.kernel("PublicKeys", 0).start;
                    let sum = trace.kernel("MultiplyBase", 0);
                    let inverse = trace.kernel("Invert", 0);
                    let after = inverse.end..trace.check(Check::Tally);
                    // The inversion's last mask is the sign of what it gives.
                    let mut masks = trace.masks.iter().filter(|step| inverse.contains(step));
                    let sign = *masks.next_back().expect("masks");
                    let mut aims = vec![
                        Aim::at(Check::OnCurve, sum.clone()),
                        Aim::at(Check::SignOfY, sign..sign + 1),
                        Aim::at(Check::X, after.clone()),
                        Aim::at(Check::Y, after),
                    ];
                    aims.extend(of_the_tally(trace, start..sum.start, "MultiplyBase", 6));
                    aims
                });
            }

            #[test]
            fn shared_secrets() {
                let scalars = scalars();
                let keys = keys(&scalars);
                let publics: Vec<_> = scalars
                    .iter()
                    .rev()
                    .map(|k| REFERENCE.public_key(k))
                    .collect();
                let peers: Vec<_> = publics
                    .iter()
                    .map(|point| PublicKey::from_sec1(point).expect("a point"))
                    .collect();
                let items: Vec<_> = keys.iter().zip(&peers).collect();
                let expected: Vec<_> = scalars
                    .iter()
                    .zip(&publics)
                    .map(|(k, point)| REFERENCE.shared_secret(k, point).expect("on the curve"))
                    .collect();
                let operation = || derive(&items);
                let right = |lane: usize, secret: &SharedSecret| secret[..] == expected[lane];
                let name = concat!(stringify!($curve), " secret");
                release_nothing_wrong(name, faults::faults(300), 0, operation, right);

                each_check_is_needed(operation, right, |trace: &Trace| {
                    let start = trace.kernel("Derive", 0).start;
                    let sum = trace.kernel("Multiply", 0);
                    // The first one is of the multiples.
                    let inverse = trace.kernel("Invert", 1);
                    let mut aims = vec![
                        Aim::at(Check::OnCurve, sum.clone()),
                        Aim::at(Check::X, inverse.end..trace.check(Check::Tally)),
                    ];
                    aims.extend(of_the_tally(trace, start..sum.start, "Multiply", 4));
                    aims
                });
            }

            /// One signature across the lanes.
            #[test]
            fn wide_signature() {
                wide::prepare().expect("the emulation");
                let scalar = scalars()[0];
                let key = PrivateKey::new(&scalar).expect("a key");
                let digest = [0x5a; BYTES];
                let public = REFERENCE.public_key(&scalar);
                let item = Signing {
                    key: &key,
                    digest: &digest,
                    entropy: &[3; 32],
                };
                let operation = || vec![wide::sign(&item)];
                let right =
                    |_, signature: &Signature| REFERENCE.verifies(&public, &digest, signature);
                let name = concat!(stringify!($curve), " wide");
                release_nothing_wrong(name, faults::faults(300), 1, operation, right);

                each_check_is_needed(operation, right, |trace: &Trace| {
                    let (sign, sum) = (trace.kernel("Sign", 0), trace.kernel("MultiplyBase", 0));
                    let after = sum.end..trace.check(Check::Tally);
                    let mut aims = vec![
                        Aim::at(Check::OnCurve, sum.clone()),
                        Aim::at(Check::X, after.clone()),
                        Aim::at(Check::Equation, after),
                    ];
                    let recoding = sign.start..sum.start;
                    aims.extend(of_the_tally(trace, recoding, "MultiplyBase", 4));
                    aims
                });
            }

            /// One public key across the lanes.
            #[test]
            fn wide_key_of_the_public() {
                wide::prepare().expect("the emulation");
                let scalar = scalars()[0];
                let key = PrivateKey::new(&scalar).expect("a key");
                let public = REFERENCE.public_key(&scalar);
                let operation = || vec![wide::public_key(&key)];
                let right = |_, key: &PublicKey| key.to_sec1()[..] == public;
                let name = concat!(stringify!($curve), " public key wide");
                release_nothing_wrong(name, faults::faults(300), 1, operation, right);

                each_check_is_needed(operation, right, |trace: &Trace| {
                    let start = trace.kernel("PublicKey", 0).start;
                    let sum = trace.kernel("MultiplyBase", 0);
                    let after = sum.end..trace.check(Check::Tally);
                    // The first mask tells whether the scalar was negated.
                    let mut masks = trace.masks.iter().filter(|step| after.contains(step));
                    let negated = *masks.next().expect("masks");
                    let mut aims = vec![
                        Aim::at(Check::OnCurve, sum.clone()),
                        Aim::at(Check::SignOfY, negated..negated + 1),
                        Aim::at(Check::X, after.clone()),
                        Aim::at(Check::Y, after),
                    ];
                    aims.extend(of_the_tally(trace, start..sum.start, "MultiplyBase", 4));
                    aims
                });
            }

            /// One shared secret across the lanes.
            #[test]
            fn wide_shared_secret() {
                let scalars = scalars();
                let key = PrivateKey::new(&scalars[0]).expect("a key");
                let point = REFERENCE.public_key(&scalars[1]);
                let peer = PublicKey::from_sec1(&point).expect("a point");
                let expected = REFERENCE
                    .shared_secret(&scalars[0], &point)
                    .expect("on the curve");
                let operation = || vec![wide::derive(&key, &peer)];
                let right = |_, secret: &SharedSecret| secret[..] == expected;
                let name = concat!(stringify!($curve), " secret wide");
                release_nothing_wrong(name, faults::faults(300), 1, operation, right);

                each_check_is_needed(operation, right, |trace: &Trace| {
                    let sum = trace.kernel("Multiply", 0);
                    // The recoded scalar is what comes last before. Later, a lane whose digit is disturbed does not
                    // fit the others, and the point is not on the curve.
                    let recoding = sum.start - BYTES as u64 / 8..sum.start;
                    vec![
                        Aim::at(Check::OnCurve, sum.clone()),
                        Aim::at(Check::X, sum.end..trace.check(Check::Tally)),
                        Aim::at(Check::Tally, recoding),
                    ]
                });
            }

            /// A fault in the base point's tables would last.
            #[test]
            fn tables() {
                prepare().expect("the emulation");
                wide::prepare().expect("the emulation");
                let right = |_, same: &bool| *same;
                let aims = |trace: &Trace| vec![Aim::at(Check::Table, trace.kernel("Build", 0))];
                each_check_is_needed(|| vec![rebuild()], right, aims);
                each_check_is_needed(|| vec![wide::rebuild()], right, aims);
            }
        }
    };
}

curve!(p256, P256);
curve!(p384, P384);
