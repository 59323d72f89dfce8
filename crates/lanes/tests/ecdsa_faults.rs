//! One bit flipped in one lane of any intermediate: nothing wrong is released: `make lanes-fault`.
#![cfg(feature = "fault")]

mod weierstrass;

use outboard_lanes::fault::{Fault, count, inject};
use weierstrass::Random;

/// How many faults are tried on each operation: `LANES_FAULTS`.
fn faults() -> u64 {
    std::env::var("LANES_FAULTS")
        .map_or(300, |text| text.parse().expect("LANES_FAULTS is a number"))
}

/// Runs `operation` with one fault after the other. A lane with a fault may answer with an error
/// or with what `right` accepts; the others with an error or with what they do without a fault.
fn disturb<R: PartialEq + core::fmt::Debug, E: core::fmt::Debug + PartialEq>(
    operation: impl Fn() -> Vec<Result<R, E>>,
    right: impl Fn(usize, &R) -> bool,
) {
    let (undisturbed, steps) = count(&operation);
    assert_eq!(undisturbed.len(), 8);
    let mut random = Random(9);
    let (mut withheld, mut harmless) = (0, 0);
    for i in 0..faults() {
        let fault = Fault {
            // Spread over the whole operation, somewhere in each part.
            step: (i * steps + random.next() % steps) / faults(),
            lane: random.below(8),
            bit: random.below(64) as u32,
        };
        let disturbed = inject(fault, &operation);
        for (lane, (result, expected)) in disturbed.iter().zip(&undisturbed).enumerate() {
            if lane != fault.lane {
                // The base point's table is shared: who picks a disturbed entry is told so.
                assert!(
                    result == expected || result.is_err(),
                    "{fault:?} reached lane {lane}: {result:02x?}"
                );
            } else if let Ok(result) = result {
                assert!(right(lane, result), "{fault:?}: {result:02x?} is wrong");
                harmless += 1;
            } else {
                withheld += 1;
            }
        }
    }
    eprintln!(
        "{steps} steps, {} faults: {withheld} withheld, {harmless} harmless",
        faults()
    );
    assert!(
        withheld > faults() / 4,
        "the hook does not reach the operation"
    );
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
                disturb(
                    || sign(&items),
                    |lane, signature| REFERENCE.verifies(&publics[lane], &digest, signature),
                );
            }

            #[test]
            fn keys_of_the_public() {
                let scalars = scalars();
                let keys = keys(&scalars);
                let keys: Vec<_> = keys.iter().collect();
                let publics: Vec<_> = scalars.iter().map(|k| REFERENCE.public_key(k)).collect();
                disturb(
                    || public_keys(&keys),
                    |lane, key| key.to_sec1()[..] == publics[lane],
                );
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
                disturb(
                    || derive(&items),
                    |lane, secret| secret[..] == expected[lane],
                );
            }
        }
    };
}

curve!(p256, P256);
curve!(p384, P384);
