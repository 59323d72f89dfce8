//! Private halves in the clear, as CSNDPKB writes them into external tokens and CSNDPKI takes them in.
//!
//! ```text
//! 31 RSA private   11 40 in the clear; 52 bytes of p, q, dp, dq, u, n; 134 n, p, q, dp, dq, u
//! 08 RSA private   28 40 in the clear; 54 bytes of p, q, dp, dq, u; 64 of n; 132 p, q, dp, dq, u, n
//! 20 EC private    10 40 in the clear; 12 bits of p; 36 the number
//! ```
//! RSA's section is the publication's for keys in the clear (CRT format, 4,096 bits).

use std::ptr;

use aws_lc_sys as lc;
use outboard_engine::scalar::ec::Curve;
use zeroize::Zeroizing;

use super::pka::{Public, number_at};
use crate::answer::{Outcome, Refusal};

/// The byte of a section that says that its key is in the clear.
const CLEAR: u8 = 0x40;
/// Where the numbers of RSA's section begin.
const NUMBERS: usize = 132;

/// The longest public exponent.
const MOST_EXPONENT: usize = 8;

/// A private half.
#[derive(Clone)]
pub(crate) enum Clear {
    /// p, q, d mod p - 1, d mod q - 1, the inverse of q.
    Rsa([Zeroizing<Vec<u8>>; 5]),
    Ec(Zeroizing<Vec<u8>>),
}

impl Clear {
    /// How many bytes it has.
    pub(super) fn length(&self) -> usize {
        match self {
            Self::Rsa(numbers) => numbers.iter().map(|number| number.len()).sum(),
            Self::Ec(number) => number.len(),
        }
    }

    /// Writes it into a section's body, with room for all of it, of which the other fields are there. (Offsets are a section's, less its first four bytes.)
    pub(super) fn write(&self, body: &mut Vec<u8>, is_aesc: bool) {
        match self {
            Self::Rsa(numbers) => {
                let (flag, lengths) = if is_aesc { (11, 52) } else { (28, 54) };
                body[flag - 4] = CLEAR;
                for (place, number) in (lengths..).step_by(2).zip(numbers) {
                    let length = (number.len() as u16).to_be_bytes();
                    body[place - 4..place - 2].copy_from_slice(&length);
                }
                if !is_aesc {
                    body.resize(NUMBERS - 4, 0);
                }
                numbers
                    .iter()
                    .for_each(|number| body.extend_from_slice(number));
            }
            Self::Ec(number) => {
                body[10 - 4] = CLEAR;
                body.extend_from_slice(number);
            }
        }
    }

    /// That of a section, if it is in the clear. `end` is where what follows the secret begins.
    pub(super) fn read(section: &[u8], end: usize) -> Option<Self> {
        let rsa = |mut at: usize, lengths: usize| {
            let mut numbers = Vec::with_capacity(5);
            for place in (lengths..).step_by(2).take(5) {
                let length = number_at(section, place)?;
                numbers.push(Zeroizing::new(section.get(at..at + length)?.to_vec()));
                at += length;
            }
            let numbers = numbers.try_into().ok()?;
            (at <= end).then_some(Self::Rsa(numbers))
        };
        match section.first()? {
            0x08 if *section.get(28)? == CLEAR => rsa(NUMBERS, 54),
            0x31 if *section.get(11)? == CLEAR => rsa(134 + number_at(section, 62)?, 52),
            0x20 if *section.get(10)? == CLEAR => {
                let number = section.get(36..end)?;
                Some(Self::Ec(Zeroizing::new(number.to_vec())))
            }
            _ => None,
        }
    }

    /// As a PrivateKeyInfo (RFC 5958). Whether its numbers belong together is not asked here.
    pub(super) fn info(&self, public: &Public) -> Outcome<Zeroizing<Vec<u8>>> {
        match (self, public) {
            (Self::Rsa(numbers), Public::Rsa { n, e, .. }) => {
                let [p, q, dp, dq, u] = numbers;
                // The inverse takes time of the third power of their length: minutes, if a token were full of p and q.
                let most = n.len() / 2 + 1;
                let is_sane = p.len() <= most
                    && q.len() <= most
                    && dp.len() <= p.len()
                    && dq.len() <= q.len()
                    && u.len() <= p.len()
                    && e.len() <= MOST_EXPONENT;
                if !is_sane {
                    return Err(Refusal::KeySize);
                }
                let d = private_exponent(p, q, e).ok_or(Refusal::KeySize)?;
                Ok(rsa_info([n, e, &d, p, q, dp, dq, u]))
            }
            (Self::Ec(number), Public::Ec { curve, point }) => {
                let whole = curve.field_length();
                if number.len() > whole {
                    return Err(Refusal::KeySize);
                }
                let mut padded = Zeroizing::new(vec![0; whole]);
                padded[whole - number.len()..].copy_from_slice(number);
                let half = match point.is_empty() {
                    true => Zeroizing::default(),
                    false => tlv(0xa1, &[&tlv(3, &[&[0], point])]),
                };
                let key = tlv(0x30, &[&integer(&[1]), &tlv(4, &[&padded]), &half]);
                let algorithm = tlv(0x30, &[&tlv(6, &[EC]), &tlv(6, &[name(*curve)])]);
                Ok(private_key_info(&algorithm, &key))
            }
            _ => Err(Refusal::KeyType),
        }
    }
}

/// Names of algorithms and curves (RFC 8017, RFC 5480).
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const EC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];

fn name(curve: Curve) -> &'static [u8] {
    match curve {
        Curve::P256 => &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7],
        Curve::P384 => &[0x2b, 0x81, 4, 0, 0x22],
        Curve::P521 => &[0x2b, 0x81, 4, 0, 0x23],
    }
}

/// The PrivateKeyInfo of an RSA key: n, e, d, p, q, d mod p - 1, d mod q - 1, the inverse of q.
pub(super) fn rsa_info(numbers: [&[u8]; 8]) -> Zeroizing<Vec<u8>> {
    let [n, e, d, p, q, dp, dq, u] = numbers;
    let numbers = [&[0][..], n, e, d, p, q, dp, dq, u].map(integer);
    let key = tlv(0x30, &numbers.each_ref().map(|number| &number[..]));
    let algorithm = tlv(0x30, &[&tlv(6, &[RSA]), &[5, 0]]);
    private_key_info(&algorithm, &key)
}

fn private_key_info(algorithm: &[u8], key: &[u8]) -> Zeroizing<Vec<u8>> {
    tlv(0x30, &[&integer(&[0]), algorithm, &tlv(4, &[key])])
}

/// A value in DER, in room that does not grow: what it left behind would have its secrets.
fn tlv(tag: u8, parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut value = Zeroizing::new(Vec::with_capacity(length + 4));
    value.push(tag);
    match length {
        0..=0x7f => value.push(length as u8),
        0x80..=0xff => value.extend_from_slice(&[0x81, length as u8]),
        _ => value.extend_from_slice(&[0x82, (length >> 8) as u8, length as u8]),
    }
    parts.iter().for_each(|part| value.extend_from_slice(part));
    value
}

fn integer(number: &[u8]) -> Zeroizing<Vec<u8>> {
    let first = number.iter().position(|byte| *byte != 0);
    let number = first.map_or(&[0][..], |first| &number[first..]);
    match number[0] > 0x7f {
        true => tlv(2, &[&[0], number]),
        false => tlv(2, &[number]),
    }
}

/// A number of AWS-LC's, wiped when it is dropped.
struct Number(*mut lc::BIGNUM);

impl Number {
    fn of(bytes: &[u8]) -> Option<Self> {
        // SAFETY: reads as many bytes as there are, and makes a number.
        let number = unsafe { lc::BN_bin2bn(bytes.as_ptr(), bytes.len(), ptr::null_mut()) };
        (!number.is_null()).then_some(Self(number))
    }
}

impl Drop for Number {
    fn drop(&mut self) {
        // SAFETY: made by `of`, and nobody else's.
        unsafe { lc::BN_clear_free(self.0) };
    }
}

/// The private exponent, which a token in CRT format leaves out: the inverse of e for (p - 1)(q - 1).
fn private_exponent(p: &[u8], q: &[u8], e: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let [p, q, e] = [Number::of(p)?, Number::of(q)?, Number::of(e)?];
    let (product, d) = (Number::of(&[])?, Number::of(&[])?);
    // SAFETY: live numbers, a context that is freed below, and room for as many bytes as the number has.
    unsafe {
        let context = lc::BN_CTX_new();
        let is_made = !context.is_null()
            && lc::BN_sub_word(p.0, 1) == 1
            && lc::BN_sub_word(q.0, 1) == 1
            && lc::BN_mul(product.0, p.0, q.0, context) == 1
            && !lc::BN_mod_inverse(d.0, e.0, product.0, context).is_null();
        lc::BN_CTX_free(context);
        if !is_made {
            lc::ERR_clear_error();
            return None;
        }
        let mut bytes = Zeroizing::new(vec![0; lc::BN_num_bytes(d.0) as usize]);
        lc::BN_bn2bin(d.0, bytes.as_mut_ptr());
        Some(bytes)
    }
}
