//! Batches of RSA operations whose keys, inputs and number of lanes the fuzzer chooses, against AWS-LC.
//!
//! `make lanes-fuzz`. The first byte says how many lanes are filled, then 257 bytes for each lane: which key, and
//! the input. What the fuzzer does not give is 0. The keys are always the same, so that a finding can be repeated.
#![no_main]

#[path = "../../tests/rsa/oracle.rs"]
mod oracle;

use libfuzzer_sys::fuzz_target;
use oracle::Key;
use outboard_lanes::rsa::{self, PrivateKey};
use outboard_lanes::{Error, LANES};

/// `openssl genrsa -traditional 2048`, in DER.
const KEYS: [&[u8]; 3] = [
    include_bytes!("../keys/0.der"),
    include_bytes!("../keys/1.der"),
    include_bytes!("../keys/2.der"),
];

thread_local! {
    static PARSED: [(Key, PrivateKey); 3] = KEYS.map(|der| {
        let key = Key::from_der(der);
        let ours = key.with_components(|components| PrivateKey::new(&components));
        (key, ours.expect("a key of two equal primes"))
    });
}

fuzz_target!(|data: &[u8]| PARSED.with(|keys| {
    let Some((&filled, data)) = data.split_first() else {
        return;
    };
    let mut lanes = Vec::new();
    for lane in 0..1 + usize::from(filled) % LANES {
        let part: Vec<u8> = data.iter().skip(257 * lane).take(257).copied().collect();
        let (key, input) = part.split_first().unwrap_or((&0, &[]));
        lanes.push((&keys[usize::from(*key) % keys.len()], input.to_vec()));
    }
    let private: Vec<_> = lanes.iter().map(|((_, ours), x)| (ours, &x[..])).collect();
    let public: Vec<_> = private.iter().map(|(key, x)| (key.public(), *x)).collect();
    let results = rsa::private(&private).into_iter().zip(rsa::public(&public));
    for (((theirs, _), x), results) in lanes.iter().zip(results) {
        let n = theirs.modulus();
        let padded = [vec![0; n.len() - x.len()], x.clone()].concat();
        if padded < n {
            assert_eq!(results, (Ok(theirs.private(x)), Ok(theirs.public(&padded))));
        } else {
            assert_eq!(
                results,
                (Err(Error::InputTooLarge), Err(Error::InputTooLarge))
            );
        }
    }
}));
