//! ECDSA, ECDH and making keys on P-256 and P-384.

use std::sync::Arc;

use outboard_lanes::{Error as LanesError, p256, p384};
use zeroize::Zeroizing;

use super::request::Output;
use crate::error::Result;
use crate::scalar::ec::{Curve, Form, Key};
use crate::scalar::randomise;

/// A signature of a digest, in DER.
pub(super) struct Sign {
    pub(super) key: Arc<Key>,
    pub(super) digest: Vec<u8>,
}

/// The secret shared with a peer of the same curve.
pub(super) struct Derive {
    pub(super) key: Arc<Key>,
    pub(super) peer: Arc<Key>,
}

/// A key: the private number, then the public point, uncompressed.
pub(super) struct Generate {
    pub(super) curve: Curve,
}

impl Sign {
    pub(super) fn alone(&self) -> Result<Output> {
        let mut output = Zeroizing::new(vec![0; self.key.curve().max_signature_length()]);
        let written = self.key.sign(&self.digest, &mut output)?;
        output.truncate(written);
        Ok(output)
    }

    pub(super) fn across_lanes(&self) -> Option<Output> {
        /// The lanes' work on one curve.
        macro_rules! on {
            ($curve:ident) => {{
                let number = self.key.number().ok()?;
                let key = $curve::PrivateKey::new(number[..].try_into().ok()?).ok()?;
                let mut entropy = Zeroizing::new([0_u8; 32]);
                randomise(&mut entropy[..]).ok()?;
                let signature = $curve::wide::sign(&$curve::Signing {
                    key: &key,
                    digest: &self.digest,
                    entropy: &entropy,
                });
                Some(der(&signature.ok()?))
            }};
        }
        match self.key.curve() {
            Curve::P256 => on!(p256),
            Curve::P384 => on!(p384),
            Curve::P521 => None,
        }
    }

    pub(super) fn in_lanes(batch: &[&Self]) -> Vec<Option<Output>> {
        /// The lanes' work on one curve.
        macro_rules! on {
            ($curve:ident) => {{
                let numbers: Vec<_> = batch.iter().map(|sign| sign.key.number().ok()).collect();
                let mut entropies = Zeroizing::new(vec![[0_u8; 32]; batch.len()]);
                let parts = batch.iter().zip(&numbers).zip(entropies.iter_mut());
                let items = parts.map(|((sign, number), entropy)| {
                    let key =
                        $curve::PrivateKey::new(number.as_ref()?[..].try_into().ok()?).ok()?;
                    randomise(entropy).ok()?;
                    Some((key, &*entropy, &sign.digest[..]))
                });
                each(items.collect(), |items| {
                    let items: Vec<_> = items
                        .iter()
                        .map(|(key, entropy, digest)| $curve::Signing {
                            key,
                            digest,
                            entropy,
                        })
                        .collect();
                    let signatures = $curve::sign(&items).into_iter();
                    signatures.map(|one| one.map(|one| der(&one))).collect()
                })
            }};
        }
        match curve_of(batch.first().map(|sign| &sign.key)) {
            Some(Curve::P256) => on!(p256),
            Some(Curve::P384) => on!(p384),
            _ => nothing(batch.len()),
        }
    }
}

impl Derive {
    pub(super) fn alone(&self) -> Result<Output> {
        let mut secret = Zeroizing::new(vec![0; self.key.curve().field_length()]);
        self.key.derive(&self.peer, &mut secret)?;
        Ok(secret)
    }

    pub(super) fn across_lanes(&self) -> Option<Output> {
        /// The lanes' work on one curve.
        macro_rules! on {
            ($curve:ident) => {{
                let number = self.key.number().ok()?;
                let key = $curve::PrivateKey::new(number[..].try_into().ok()?).ok()?;
                let peer = self.peer.point(Form::Uncompressed).ok()?;
                let peer = $curve::PublicKey::from_sec1(&peer).ok()?;
                $curve::wide::derive(&key, &peer).ok()
            }};
        }
        match self.key.curve() {
            Curve::P256 => on!(p256),
            Curve::P384 => on!(p384),
            Curve::P521 => None,
        }
    }

    pub(super) fn in_lanes(batch: &[&Self]) -> Vec<Option<Output>> {
        /// The lanes' work on one curve.
        macro_rules! on {
            ($curve:ident) => {{
                let numbers: Vec<_> = batch
                    .iter()
                    .map(|derive| derive.key.number().ok())
                    .collect();
                let items = batch.iter().zip(&numbers).map(|(derive, number)| {
                    let key =
                        $curve::PrivateKey::new(number.as_ref()?[..].try_into().ok()?).ok()?;
                    let peer = derive.peer.point(Form::Uncompressed).ok()?;
                    Some((key, $curve::PublicKey::from_sec1(&peer).ok()?))
                });
                each(items.collect(), |items| {
                    let items: Vec<_> = items.iter().map(|(key, peer)| (key, peer)).collect();
                    $curve::derive(&items)
                })
            }};
        }
        match curve_of(batch.first().map(|derive| &derive.key)) {
            Some(Curve::P256) => on!(p256),
            Some(Curve::P384) => on!(p384),
            _ => nothing(batch.len()),
        }
    }
}

impl Generate {
    pub(super) fn alone(&self) -> Result<Output> {
        let key = Key::generate(self.curve)?;
        Ok(pair(&key.number()?, &key.point(Form::Uncompressed)?))
    }

    pub(super) fn across_lanes(&self) -> Option<Output> {
        /// The lanes' work on one curve.
        macro_rules! on {
            ($curve:ident) => {{
                let mut number = Zeroizing::new([0_u8; $curve::BYTES]);
                randomise(&mut number[..]).ok()?;
                let key = $curve::PrivateKey::new(&number).ok()?;
                let point = $curve::wide::public_key(&key).ok()?;
                Some(pair(&number[..], &point.to_sec1()))
            }};
        }
        match self.curve {
            Curve::P256 => on!(p256),
            Curve::P384 => on!(p384),
            Curve::P521 => None,
        }
    }

    pub(super) fn in_lanes(batch: &[&Self]) -> Vec<Option<Output>> {
        /// The lanes' work on one curve.
        macro_rules! on {
            ($curve:ident) => {{
                let mut numbers = Zeroizing::new(vec![[0_u8; $curve::BYTES]; batch.len()]);
                let items = numbers.iter_mut().map(|number| {
                    randomise(number).ok()?;
                    // Not below the order with a chance of 2⁻³² at most: the other path then.
                    Some(($curve::PrivateKey::new(number).ok()?, &*number))
                });
                each(items.collect(), |items| {
                    let keys: Vec<_> = items.iter().map(|(key, _)| key).collect();
                    let points = $curve::public_keys(&keys).into_iter();
                    let numbers = items.iter().map(|(_, number)| number);
                    points
                        .zip(numbers)
                        .map(|(point, number)| {
                            point.map(|point| pair(&number[..], &point.to_sec1()))
                        })
                        .collect()
                })
            }};
        }
        match batch.first().map(|generate| generate.curve) {
            Some(Curve::P256) => on!(p256),
            Some(Curve::P384) => on!(p384),
            _ => nothing(batch.len()),
        }
    }
}

fn curve_of(key: Option<&Arc<Key>>) -> Option<Curve> {
    key.map(|key| key.curve())
}

fn nothing(count: usize) -> Vec<Option<Output>> {
    (0..count).map(|_| None).collect()
}

/// Runs `lanes` on the items that there are; the others, and those that failed, have no result.
fn each<T>(
    items: Vec<Option<T>>,
    lanes: impl FnOnce(&[T]) -> Vec<std::result::Result<Output, LanesError>>,
) -> Vec<Option<Output>> {
    let present: Vec<bool> = items.iter().map(Option::is_some).collect();
    let items: Vec<T> = items.into_iter().flatten().collect();
    let mut results = lanes(&items).into_iter();
    let result = |present: bool| present.then(|| results.next()).flatten()?.ok();
    present.into_iter().map(result).collect()
}

fn pair(private: &[u8], public: &[u8]) -> Output {
    let mut both = Zeroizing::new(Vec::with_capacity(private.len() + public.len()));
    both.extend_from_slice(private);
    both.extend_from_slice(public);
    both
}

/// A signature's r and s, of equal length, as a SEQUENCE of two INTEGERs (RFC 3279, 2.2.3).
fn der(signature: &[u8]) -> Output {
    let (r, s) = signature.split_at(signature.len() / 2);
    let mut der = vec![0x30, 0];
    for number in [r, s] {
        let zeros = number.iter().take_while(|byte| **byte == 0).count();
        let number = &number[zeros.min(number.len() - 1)..];
        let sign = usize::from(number[0] >> 7);
        der.extend([2, (sign + number.len()) as u8]);
        der.extend(std::iter::repeat_n(0, sign));
        der.extend_from_slice(number);
    }
    // P-384's longest has 102 bytes behind the header: one byte tells the length.
    der[1] = (der.len() - 2) as u8;
    Zeroizing::new(der)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_encoded_shortly_and_positive() {
        let mut signature = [0; 64];
        signature[31] = 0x80;
        signature[62] = 1;
        let expected = [0x30, 8, 2, 2, 0, 0x80, 2, 2, 1, 0];
        assert_eq!(der(&signature)[..], expected);
        assert_eq!(der(&[0; 64])[..], [0x30, 6, 2, 1, 0, 2, 1, 0]);
        assert_eq!(der(&[0xff; 96])[..6], [0x30, 102, 2, 49, 0, 0xff]);
    }
}
