//! Each operation twice: with a key's bytes, and with the key expanded before. Both must answer the same.

use outboard_lanes::Error;
use outboard_lanes::ml_kem::{Encapsulation, Expanded, Secret, Set, wide};

pub(crate) fn encapsulate(
    set: Set,
    key: &[u8],
    message: &[u8; 32],
) -> Result<Encapsulation, Error> {
    let one = wide::encapsulate(set, key, message);
    let other = Expanded::new(set, key).and_then(|key| key.encapsulate(message));
    let parts = |made: &Result<Encapsulation, Error>| {
        let made = made.as_ref().map_err(|error| *error);
        made.map(|made| (made.ciphertext.clone(), made.secret.to_vec()))
    };
    assert_eq!(parts(&one), parts(&other));
    one
}

pub(crate) fn decapsulate(set: Set, key: &[u8], ciphertext: &[u8]) -> Result<Secret, Error> {
    let one = wide::decapsulate(set, key, ciphertext);
    let public = set.encapsulation_key_bytes();
    // The public key is in the private one. (One whose numbers are not below q is none to encapsulate for.)
    if let Some(end) = key.len().checked_sub(64)
        && let Some(start) = end.checked_sub(public)
        && let Ok(expanded) = Expanded::new(set, &key[start..end])
    {
        assert_eq!(expanded.decapsulate(key, ciphertext), one);
    }
    one
}
