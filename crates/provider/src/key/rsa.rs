//! RSA keys. Stock makes them, and its form of them tells all.

use std::ffi::CStr;
use std::sync::Arc;

use outboard_engine::Operation;
use outboard_engine::card;
use outboard_engine::scalar::rsa;
use outboard_provider_abi::{Params, Selection};
use zeroize::Zeroizing;

use super::KeyType;
use crate::outboard::Shared;

/// The variant of plain RSA keys.
pub(crate) const RSA: u8 = 0;
/// The variant of keys that only sign by PSS.
pub(crate) const RSA_PSS: u8 = 1;

/// RSA's keys.
pub(crate) struct Rsa;

/// The names of a private key's numbers.
const PRIVATE: [&CStr; 6] = [
    c"d",
    c"rsa-factor1",
    c"rsa-factor2",
    c"rsa-exponent1",
    c"rsa-exponent2",
    c"rsa-coefficient1",
];

/// What restricts a PSS key, or makes it one of more than two primes: stock's business.
const FOREIGN: [&CStr; 4] = [c"digest", c"mgf1-digest", c"saltlen", c"rsa-factor3"];

impl KeyType for Rsa {
    type Native = Arc<card::rsa::Key>;
    type Wish = ();
    const NAMES: &'static [&'static CStr] = &[c"RSA", c"RSA-PSS"];

    fn read(shared: &Shared, selection: Selection, params: Params<'_>) -> Option<Self::Native> {
        let foreign = FOREIGN.iter().any(|name| params.find(name).is_some());
        if foreign || !selection.touches(Selection::PAIR) {
            return None;
        }
        let number = |name: &CStr| params.find(name)?.big_endian().ok();
        let (n, e) = (number(c"n")?, number(c"e")?);
        let private = selection.touches(Selection::PRIVATE) && params.find(c"d").is_some();
        if !shared.offers(operation(bits(&n), private)?) {
            return None;
        }
        let numbers: Vec<Zeroizing<Vec<u8>>> = match private {
            true => PRIVATE
                .iter()
                .map(|name| number(name))
                .collect::<Option<_>>()?,
            false => Vec::new(),
        };
        let private = match &numbers[..] {
            [d, p, q, dp, dq, qinv] => Some(rsa::PrivateNumbers {
                d,
                p,
                q,
                dp,
                dq,
                qinv,
            }),
            _ => None,
        };
        let (n, e) = (&n, &e);
        let key = rsa::Key::new(&rsa::Numbers { n, e, private }).ok()?;
        Some(Arc::new(card::rsa::Key::new(key)))
    }
}

/// How the ledger calls signing or verifying with keys of that size; none where the engine does not
/// do that size.
pub(crate) fn operation(bits: usize, signing: bool) -> Option<Operation> {
    match (bits, signing) {
        (2048, true) => Some(Operation::Rsa2048Sign),
        (2048, false) => Some(Operation::Rsa2048Verify),
        (3072, true) => Some(Operation::Rsa3072Sign),
        (3072, false) => Some(Operation::Rsa3072Verify),
        (4096, true) => Some(Operation::Rsa4096Sign),
        (4096, false) => Some(Operation::Rsa4096Verify),
        _ => None,
    }
}

/// The length of a number in bits.
fn bits(number: &[u8]) -> usize {
    match number.iter().position(|&byte| byte != 0) {
        None => 0,
        Some(top) => 8 * (number.len() - top) - number[top].leading_zeros() as usize,
    }
}
