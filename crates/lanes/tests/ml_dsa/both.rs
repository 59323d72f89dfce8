//! Each operation twice: with a key's bytes, and with the public key expanded before. Both must answer the same.

use outboard_lanes::Error;
use outboard_lanes::ml_dsa::{BYTES, Expanded, KeyPair, MU, Set, wide};

pub(crate) fn sign(
    set: Set,
    keys: &KeyPair,
    mu: &[u8; MU],
    randomness: &[u8; BYTES],
) -> Result<Vec<u8>, Error> {
    let one = wide::sign(set, &keys.private_key, mu, randomness);
    let expanded = Expanded::new(set, &keys.public_key).expect("its length is right");
    assert!(expanded.sign(&keys.private_key, mu, randomness) == one);
    one
}

pub(crate) fn verify(set: Set, key: &[u8], mu: &[u8; MU], signature: &[u8]) -> Result<(), Error> {
    let one = wide::verify(set, key, mu, signature);
    let other = Expanded::new(set, key).and_then(|key| key.verify(mu, signature));
    assert_eq!(one, other);
    one
}
