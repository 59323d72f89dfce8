//! The secret of an RSA key in a token: its private numbers alone, for the token has the others in the clear.
//!
//! ```text
//! 02; then d, p, q, d mod p - 1, d mod q - 1, the inverse of q: each with its length before it, in two bytes
//! ```
//! So a token of RSA-4096 has less than the 3,500 bytes that the publication allows. A whole PrivateKeyInfo (RFC 5958), which begins with 30,
//! is what tokens of earlier versions have, and those of keys on curves.

use zeroize::Zeroizing;

use super::clear::rsa_info;
use super::der::element;
use super::pka::{Public, number_at};
use crate::answer::{Outcome, Refusal};

const COMPACT: u8 = 0x02;
/// How many numbers there are.
const NUMBERS: usize = 6;

/// What is wrapped in a token for a PrivateKeyInfo that AWS-LC wrote.
pub(super) fn compact(info: &[u8], public: &Public) -> Outcome<Zeroizing<Vec<u8>>> {
    match public {
        Public::Rsa { .. } => numbers(info).ok_or(Refusal::Resource),
        Public::Ec { .. } => Ok(Zeroizing::new(info.to_vec())),
    }
}

fn numbers(mut info: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    // In room that does not grow: what it left behind would have the key.
    let mut secret = Zeroizing::new(Vec::with_capacity(info.len()));
    let mut outer = element(&mut info, 0x30)?;
    element(&mut outer, 0x02)?;
    element(&mut outer, 0x30)?;
    let mut key = element(&mut outer, 0x04)?;
    let mut numbers = element(&mut key, 0x30)?;
    // The version, n and e.
    for _ in 0..3 {
        element(&mut numbers, 0x02)?;
    }
    secret.push(COMPACT);
    for _ in 0..NUMBERS {
        let number = element(&mut numbers, 0x02)?;
        let number = number.strip_prefix(&[0]).unwrap_or(number);
        secret.extend_from_slice(&(number.len() as u16).to_be_bytes());
        secret.extend_from_slice(number);
    }
    Some(secret)
}

/// The PrivateKeyInfo of what was wrapped, of whatever version.
pub(super) fn expand(secret: Zeroizing<Vec<u8>>, public: &Public) -> Outcome<Zeroizing<Vec<u8>>> {
    match (secret.first(), public) {
        (Some(&COMPACT), Public::Rsa { n, e, .. }) => {
            let info = || {
                let mut at = 1;
                let mut numbers = [&[][..]; NUMBERS];
                for number in &mut numbers {
                    let length = number_at(&secret, at)?;
                    *number = secret.get(at + 2..at + 2 + length)?;
                    at += 2 + length;
                }
                let [d, p, q, dp, dq, u] = numbers;
                (at == secret.len()).then(|| rsa_info([n, e, d, p, q, dp, dq, u]))
            };
            info().ok_or(Refusal::TokenVersion)
        }
        _ => Ok(secret),
    }
}

#[cfg(test)]
mod tests {
    use outboard_engine::scalar::ec::Curve;
    use outboard_engine::scalar::pair::{Kind, Pair};

    use super::*;

    #[test]
    fn a_key_comes_back_and_is_shorter_meanwhile() {
        let pair = Pair::generate(Kind::Rsa(2048)).unwrap();
        let public = Public::of_pair(&pair).unwrap();
        let secret = compact(&pair.info, &public).unwrap();
        assert!(secret.len() < 256 + 5 * 128 + 16);
        let info = expand(secret.clone(), &public).unwrap();
        assert_eq!(*info, *pair.info);
        assert!(Pair::from_info(&info).is_ok());
        // One of an earlier version is itself.
        let older = expand(pair.info.clone(), &public).unwrap();
        assert_eq!(*older, *pair.info);
        for length in [1, 2, 3, 100, secret.len() - 1] {
            let cut = Zeroizing::new(secret[..length].to_vec());
            assert_eq!(expand(cut, &public), Err(Refusal::TokenVersion), "{length}");
        }
    }

    #[test]
    fn a_key_on_a_curve_stays_as_it_is() {
        let pair = Pair::generate(Kind::Ec(Curve::P256)).unwrap();
        let public = Public::of_pair(&pair).unwrap();
        let secret = compact(&pair.info, &public).unwrap();
        assert_eq!(*secret, *pair.info);
        assert_eq!(*expand(secret, &public).unwrap(), *pair.info);
    }
}
