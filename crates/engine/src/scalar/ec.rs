//! ECDSA and ECDH on the NIST curves (FIPS 186-5, SP 800-56A).

use std::ffi::c_uint;
use std::ptr;

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::owned::Owned;
use super::randomness::drawing;
use super::{big_number, check};
use crate::error::{Error, Result};
use crate::fork;

/// The most bytes that a private key or a shared secret has.
pub const MAX_FIELD_LENGTH: usize = 66;
/// The most bytes that an ECDSA signature has, in DER.
pub const MAX_SIGNATURE_LENGTH: usize = 141;

/// A curve that the engine works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curve {
    /// P-256, secp256r1, prime256v1.
    P256,
    /// P-384, secp384r1.
    P384,
    /// P-521, secp521r1.
    P521,
}

impl Curve {
    /// Every curve.
    pub const ALL: [Self; 3] = [Self::P256, Self::P384, Self::P521];

    /// The curve of one of the names that OpenSSL knows it by.
    pub fn from_name(name: &str) -> Option<Self> {
        const NAMES: &[(Curve, &[&str])] = &[
            (
                Curve::P256,
                &["prime256v1", "P-256", "secp256r1", "1.2.840.10045.3.1.7"],
            ),
            (Curve::P384, &["secp384r1", "P-384", "1.3.132.0.34"]),
            (Curve::P521, &["secp521r1", "P-521", "1.3.132.0.35"]),
        ];
        NAMES
            .iter()
            .find(|(_, names)| names.iter().any(|known| known.eq_ignore_ascii_case(name)))
            .map(|&(curve, _)| curve)
    }

    /// The name that OpenSSL prefers.
    pub const fn name(self) -> &'static std::ffi::CStr {
        match self {
            Self::P256 => c"prime256v1",
            Self::P384 => c"secp384r1",
            Self::P521 => c"secp521r1",
        }
    }

    /// The field's length in bits.
    pub const fn bits(self) -> usize {
        match self {
            Self::P256 => 256,
            Self::P384 => 384,
            Self::P521 => 521,
        }
    }

    /// The field's length in bytes, which is a private key's and a shared secret's.
    pub const fn field_length(self) -> usize {
        self.bits().div_ceil(8)
    }

    /// The strength it is deemed to have, in bits.
    pub const fn security_bits(self) -> usize {
        match self {
            Self::P256 => 128,
            Self::P384 => 192,
            Self::P521 => 256,
        }
    }

    /// The most bytes that a signature has, in DER.
    pub const fn max_signature_length(self) -> usize {
        // Two integers of up to one byte more than the field, each with two bytes of header (the
        // sequence's header takes three where its length needs two).
        let integers = 2 * (self.field_length() + 1 + 2);
        let top_bit_is_spare = matches!(self, Self::P521);
        let integers = if top_bit_is_spare {
            integers - 2
        } else {
            integers
        };
        integers + if integers > 127 { 3 } else { 2 }
    }

    pub(super) fn nid(self) -> i32 {
        match self {
            Self::P256 => lc::NID_X9_62_prime256v1,
            Self::P384 => lc::NID_secp384r1,
            Self::P521 => lc::NID_secp521r1,
        }
    }

    fn group(self) -> *const lc::EC_GROUP {
        // SAFETY: the groups of these curves are static.
        unsafe { lc::EC_GROUP_new_by_curve_name(self.nid()) }
    }
}

/// A point's encoding (SEC 1, 2.3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One byte and the first coordinate.
    Compressed,
    /// One byte and both coordinates.
    Uncompressed,
}

/// A key, public or private.
pub struct Key {
    curve: Curve,
    key: Owned<lc::EC_KEY>,
    private: bool,
}

impl Key {
    /// Makes a key.
    pub fn generate(curve: Curve) -> Result<Self> {
        let key = Self::blank(curve)?;
        let _whole = drawing()?;
        // SAFETY: a live key that nobody else has.
        let answer = unsafe { lc::EC_KEY_generate_key(key.as_ptr()) };
        check(answer, Error::Resource)?;
        Ok(Self {
            curve,
            key,
            private: true,
        })
    }

    /// The key of an encoded point, which is checked to be on the curve.
    pub fn public(curve: Curve, point: &[u8]) -> Result<Self> {
        let key = Self::blank(curve)?;
        Self::set_public(curve, &key, point)?;
        Ok(Self {
            curve,
            key,
            private: false,
        })
    }

    /// The key of a private number, most significant byte first, with its public half where that is
    /// known already.
    pub fn private(curve: Curve, number: &[u8], point: Option<&[u8]>) -> Result<Self> {
        let key = Self::blank(curve)?;
        let number = big_number::from_bytes(number)?;
        // SAFETY: a live key that nobody else has; the number is copied and its range checked.
        let answer = unsafe { lc::EC_KEY_set_private_key(key.as_ptr(), number.as_ptr()) };
        check(answer, Error::InvalidKey)?;
        match point {
            Some(point) => Self::set_public(curve, &key, point)?,
            None => Self::compute_public(curve, &key, &number)?,
        }
        Ok(Self {
            curve,
            key,
            private: true,
        })
    }

    /// The key of both halves, as [`Request::ec_generate`](crate::card::Request::ec_generate) gives
    /// them: the private number, then the encoded point. That they belong together is the caller's word.
    pub fn pair(curve: Curve, halves: &[u8]) -> Result<Self> {
        let (number, point) = halves
            .split_at_checked(curve.field_length())
            .ok_or(Error::InvalidInput)?;
        Self::private(curve, number, Some(point))
    }

    /// A copy of AWS-LC's private key.
    ///
    /// # Safety
    /// `key` is null or live.
    pub(super) unsafe fn copy_of(key: *const lc::EC_KEY) -> Result<Self> {
        if key.is_null() {
            return Err(Error::InvalidKey);
        }
        // SAFETY: live, by the caller's word; the copy is ours.
        unsafe {
            let nid = lc::EC_GROUP_get_curve_name(lc::EC_KEY_get0_group(key));
            let curve = Curve::ALL.into_iter().find(|curve| curve.nid() == nid);
            let curve = curve.ok_or(Error::InvalidKey)?;
            if lc::EC_KEY_get0_private_key(key).is_null() {
                return Err(Error::NoPrivateKey);
            }
            Ok(Self {
                curve,
                key: Owned::new(lc::EC_KEY_dup(key), Error::Resource)?,
                private: true,
            })
        }
    }

    /// The curve.
    pub fn curve(&self) -> Curve {
        self.curve
    }

    /// Whether it can sign and derive.
    pub fn is_private(&self) -> bool {
        self.private
    }

    /// The public half, encoded.
    pub fn point(&self, form: Form) -> Result<Vec<u8>> {
        let form = match form {
            Form::Compressed => lc::point_conversion_form_t::POINT_CONVERSION_COMPRESSED,
            Form::Uncompressed => lc::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED,
        };
        let mut encoded = vec![0; 1 + 2 * self.curve.field_length()];
        // SAFETY: a live group and point; writes at most as many bytes as there are.
        let length = unsafe {
            lc::EC_POINT_point2oct(
                self.curve.group(),
                lc::EC_KEY_get0_public_key(self.key.as_ptr()),
                form,
                encoded.as_mut_ptr(),
                encoded.len(),
                ptr::null_mut(),
            )
        };
        if length == 0 {
            return Err(Error::InvalidKey);
        }
        encoded.truncate(length);
        Ok(encoded)
    }

    /// The private number, most significant byte first, as long as the field.
    pub fn number(&self) -> Result<Zeroizing<Vec<u8>>> {
        if !self.private {
            return Err(Error::NoPrivateKey);
        }
        let mut number = Zeroizing::new(vec![0; self.curve.field_length()]);
        // SAFETY: a live key with a private number.
        unsafe {
            big_number::to_bytes(lc::EC_KEY_get0_private_key(self.key.as_ptr()), &mut number)?;
        }
        Ok(number)
    }

    /// Whether both halves are in range and belong together.
    pub fn check(&self) -> bool {
        // SAFETY: a live key.
        let answer = unsafe { lc::EC_KEY_check_key(self.key.as_ptr()) };
        check(answer, Error::InvalidKey).is_ok()
    }

    /// Signs a digest; `output` holds at least [`Curve::max_signature_length`] bytes.
    pub fn sign(&self, digest: &[u8], output: &mut [u8]) -> Result<usize> {
        if !self.private {
            return Err(Error::NoPrivateKey);
        }
        if output.len() < self.curve.max_signature_length() {
            return Err(Error::InvalidInput);
        }
        let mut written: c_uint = 0;
        let _whole = drawing()?;
        // SAFETY: a live key; `output` has room for the longest signature, as just checked.
        let answer = unsafe {
            lc::ECDSA_sign(
                0,
                digest.as_ptr(),
                digest.len(),
                output.as_mut_ptr(),
                &raw mut written,
                self.key.as_ptr(),
            )
        };
        check(answer, Error::Failed)?;
        Ok(written as usize)
    }

    /// Whether that is a signature of the digest.
    pub fn verify(&self, digest: &[u8], signature: &[u8]) -> bool {
        fork::ready();
        // SAFETY: a live key; reads as many bytes as there are.
        let answer = unsafe {
            lc::ECDSA_verify(
                0,
                digest.as_ptr(),
                digest.len(),
                signature.as_ptr(),
                signature.len(),
                self.key.as_ptr(),
            )
        };
        check(answer, Error::Failed).is_ok()
    }

    /// The shared secret with a peer of the same curve: the first coordinate, as long as the field.
    pub fn derive(&self, peer: &Key, secret: &mut [u8]) -> Result<()> {
        fork::ready();
        if !self.private {
            return Err(Error::NoPrivateKey);
        }
        if peer.curve != self.curve || secret.len() != self.curve.field_length() {
            return Err(Error::InvalidInput);
        }
        // SAFETY: live keys of one curve; writes exactly as many bytes as there are.
        let written = unsafe {
            lc::ECDH_compute_key(
                secret.as_mut_ptr().cast(),
                secret.len(),
                lc::EC_KEY_get0_public_key(peer.key.as_ptr()),
                self.key.as_ptr(),
                None,
            )
        };
        check(
            (usize::try_from(written) == Ok(secret.len())).into(),
            Error::InvalidInput,
        )
    }

    fn blank(curve: Curve) -> Result<Owned<lc::EC_KEY>> {
        fork::ready();
        // SAFETY: makes a new key.
        unsafe { Owned::new(lc::EC_KEY_new_by_curve_name(curve.nid()), Error::Resource) }
    }

    fn blank_point(curve: Curve) -> Result<Owned<lc::EC_POINT>> {
        // SAFETY: makes a new point.
        unsafe { Owned::new(lc::EC_POINT_new(curve.group()), Error::Resource) }
    }

    fn set_public(curve: Curve, key: &Owned<lc::EC_KEY>, encoded: &[u8]) -> Result<()> {
        let point = Self::blank_point(curve)?;
        // SAFETY: live group, point and key; reads as many bytes as there are, checks that the point
        // is on the curve, and copies it.
        let answer = unsafe {
            lc::EC_POINT_oct2point(
                curve.group(),
                point.as_ptr(),
                encoded.as_ptr(),
                encoded.len(),
                ptr::null_mut(),
            )
        };
        check(answer, Error::InvalidKey)?;
        // SAFETY: as above. The point at infinity is refused.
        let answer = unsafe { lc::EC_KEY_set_public_key(key.as_ptr(), point.as_ptr()) };
        check(answer, Error::InvalidKey)
    }

    fn compute_public(
        curve: Curve,
        key: &Owned<lc::EC_KEY>,
        number: &Owned<lc::BIGNUM>,
    ) -> Result<()> {
        let point = Self::blank_point(curve)?;
        // SAFETY: live group, point and number; constant time in the number.
        let answer = unsafe {
            lc::EC_POINT_mul(
                curve.group(),
                point.as_ptr(),
                number.as_ptr(),
                ptr::null(),
                ptr::null(),
                ptr::null_mut(),
            )
        };
        check(answer, Error::Resource)?;
        // SAFETY: live key and point, which is copied.
        let answer = unsafe { lc::EC_KEY_set_public_key(key.as_ptr(), point.as_ptr()) };
        check(answer, Error::InvalidKey)
    }
}
