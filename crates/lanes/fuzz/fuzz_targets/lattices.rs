//! ML-KEM and ML-DSA with keys, ciphertexts and signatures that the fuzzer changes, against AWS-LC.
//!
//! `make lanes-fuzz`. The first byte says which parameter set, then come seeds. The rest are changes: two bytes for the place,
//! one for the bits. So what is decoded is nearly right.
#![no_main]

#[path = "../input.rs"]
mod input;
#[allow(dead_code)] // Tests need more of it.
#[path = "../../tests/ml_dsa/aws_lc.rs"]
mod ml_dsa_by_aws_lc;
#[path = "../../tests/ml_dsa/both.rs"]
mod ml_dsa_both;
#[path = "../../tests/ml_kem/aws_lc.rs"]
mod ml_kem_by_aws_lc;
#[path = "../../tests/ml_kem/both.rs"]
mod ml_kem_both;

use input::Input;
use libfuzzer_sys::fuzz_target;
use outboard_lanes::{Error, ml_dsa, ml_kem};

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data);
    match input.byte() % 6 {
        set @ 0..3 => ml_kem(ml_kem::Set::ALL[usize::from(set)], input),
        set => ml_dsa(ml_dsa::Set::ALL[usize::from(set) - 3], input),
    }
});

/// Changes some bytes; one of the first or last hundred, where the place says so.
fn change(bytes: &mut [u8], input: &mut Input<'_>) {
    for _ in 0..input.byte() % 4 {
        let [low, high, bits] = input.bytes();
        let place = usize::from(u16::from_le_bytes([low, high]));
        let length = bytes.len();
        let place = match high {
            0xff => length - 1 - usize::from(low) % length.min(100),
            _ => place % length,
        };
        bytes[place] ^= bits;
    }
}

fn ml_kem(set: ml_kem::Set, mut input: Input<'_>) {
    use ml_kem::wide;
    use ml_kem_by_aws_lc::{Keys, encapsulate_for};

    let (d, z, message) = (input.bytes(), input.bytes(), input.bytes());
    let ours = wide::generate(set, &d, &z).expect("lanes");
    let theirs = Keys::generate(set, &d, &z);
    assert_eq!(ours.encapsulation_key, theirs.public());
    assert_eq!(*ours.decapsulation_key, theirs.private());

    let mut public = ours.encapsulation_key.clone();
    change(&mut public, &mut input);
    let sent = ml_kem_both::encapsulate(set, &public, &message);
    let expected = encapsulate_for(set, &public, &message);
    match (&sent, expected) {
        (Ok(sent), Some((ciphertext, secret))) => {
            assert_eq!((&sent.ciphertext, &*sent.secret), (&ciphertext, &secret));
        }
        (sent, expected) => assert_eq!(
            (sent.as_ref().err(), expected),
            (Some(&Error::InvalidEncapsulationKey), None)
        ),
    }

    let (mut ciphertext, _) = theirs.encapsulate(&message);
    change(&mut ciphertext, &mut input);
    let received = ml_kem_both::decapsulate(set, &ours.decapsulation_key, &ciphertext);
    assert_eq!(
        *received.expect("a good key"),
        theirs.decapsulate(&ciphertext)
    );
}

fn ml_dsa(set: ml_dsa::Set, mut input: Input<'_>) {
    use ml_dsa::wide;
    use ml_dsa_by_aws_lc::{Key, sign_by};

    let (seed, randomness) = (input.bytes(), input.bytes());
    let mut mu = [0; ml_dsa::MU];
    mu[..32].copy_from_slice(&input.bytes::<32>());
    let ours = wide::generate(set, &seed).expect("lanes");
    let theirs = Key::of_seed(set, &seed);
    assert_eq!(ours.public_key, theirs.public());
    assert_eq!(*ours.private_key, theirs.private());

    let mut signature = sign_by(set, &ours.private_key, &mu, &randomness);
    let made = ml_dsa_both::sign(set, &ours, &mu, &randomness);
    assert_eq!(made.as_ref(), Ok(&signature));

    let mut public = ours.public_key;
    change(&mut signature, &mut input);
    change(&mut public, &mut input);
    change(&mut mu, &mut input);
    let accepted = ml_dsa_both::verify(set, &public, &mu, &signature).is_ok();
    assert_eq!(
        accepted,
        Key::of_public(set, &public).verify(&mu, &signature)
    );
}
