//! Keys as files and stores have them: PKCS #8 (RFC 5958) and SubjectPublicKeyInfo (RFC 5280, 4.1), in DER.

use std::mem::MaybeUninit;
use std::ptr;

use aws_lc_sys as lc;
use zeroize::Zeroizing;

use super::ec::{self, Curve};
use super::owned::Owned;
use super::randomness::drawing;
use super::{check, ed25519, rsa};
use crate::error::{Error, Result};
use crate::fork;

/// What a key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// RSA, of that many bits.
    Rsa(usize),
    /// A key on a NIST curve.
    Ec(Curve),
    /// Ed25519.
    Ed25519,
}

/// The private half, ready to compute with.
pub enum Private {
    /// RSA's.
    Rsa(rsa::Key),
    /// That of a NIST curve.
    Ec(ec::Key),
    /// Ed25519's.
    Ed25519(ed25519::Private),
}

/// Both halves of a key, with what stores and files hold of them.
pub struct Pair {
    /// What it is.
    pub kind: Kind,
    /// The private half.
    pub private: Private,
    /// The private half as a PrivateKeyInfo in DER.
    pub info: Zeroizing<Vec<u8>>,
    /// The public half as a SubjectPublicKeyInfo in DER.
    pub public: Vec<u8>,
}

impl Pair {
    /// Makes a key.
    ///
    /// # Errors
    /// [`Error::InvalidInput`]: not of 2048 to 4096 bits. [`Error::Randomness`].
    pub fn generate(kind: Kind) -> Result<Self> {
        Self::of(make(kind)?)
    }

    /// Reads a PrivateKeyInfo that ends where `info` ends. That both halves belong together is checked.
    ///
    /// # Errors
    /// [`Error::InvalidKey`]: it is none, or of a kind that the engine does not know.
    pub fn from_info(info: &[u8]) -> Result<Self> {
        fork::ready();
        let mut input = MaybeUninit::uninit();
        // SAFETY: a reader of as many bytes as there are.
        let (key, left) = unsafe {
            lc::CBS_init(input.as_mut_ptr(), info.as_ptr(), info.len());
            let key = Owned::new(
                lc::EVP_parse_private_key(input.as_mut_ptr()),
                Error::InvalidKey,
            )?;
            (key, lc::CBS_len(input.as_ptr()))
        };
        match left {
            0 => Self::of(key),
            _ => Err(Error::InvalidKey),
        }
    }

    fn of(key: Owned<lc::EVP_PKEY>) -> Result<Self> {
        let info = written(key.as_ptr(), lc::EVP_marshal_private_key)?;
        let public = written(key.as_ptr(), lc::EVP_marshal_public_key)?;
        let (kind, private) = halves(&key)?;
        Ok(Self {
            kind,
            private,
            info,
            public: public.to_vec(),
        })
    }
}

/// A new key.
fn make(kind: Kind) -> Result<Owned<lc::EVP_PKEY>> {
    let parameters = match kind {
        Kind::Rsa(2048..=4096) => lc::EVP_PKEY_RSA,
        Kind::Rsa(_) => return Err(Error::InvalidInput),
        Kind::Ec(_) => lc::EVP_PKEY_EC,
        Kind::Ed25519 => lc::EVP_PKEY_ED25519,
    };
    let _whole = drawing()?;
    // SAFETY: a new context of a known kind, and a key that it makes.
    unsafe {
        let context = Owned::new(
            lc::EVP_PKEY_CTX_new_id(parameters, ptr::null_mut()),
            Error::Resource,
        )?;
        check(lc::EVP_PKEY_keygen_init(context.as_ptr()), Error::Failed)?;
        let set = match kind {
            Kind::Rsa(bits) => lc::EVP_PKEY_CTX_set_rsa_keygen_bits(context.as_ptr(), bits as i32),
            Kind::Ec(curve) => {
                lc::EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context.as_ptr(), curve.nid())
            }
            Kind::Ed25519 => 1,
        };
        check(set, Error::InvalidInput)?;
        let mut key = ptr::null_mut();
        let answer = lc::EVP_PKEY_keygen(context.as_ptr(), &raw mut key);
        check(answer, Error::Failed)?;
        Owned::new(key, Error::Failed)
    }
}

/// What it is, and its private half.
fn halves(key: &Owned<lc::EVP_PKEY>) -> Result<(Kind, Private)> {
    // SAFETY: a live key; what it lends lives as long as the key, and is copied.
    unsafe {
        match lc::EVP_PKEY_id(key.as_ptr()) {
            lc::EVP_PKEY_RSA => {
                let rsa = lc::EVP_PKEY_get0_RSA(key.as_ptr());
                let key = rsa::Key::copy_of(rsa)?;
                Ok((Kind::Rsa(key.bits()), Private::Rsa(key)))
            }
            lc::EVP_PKEY_EC => {
                let key = ec::Key::copy_of(lc::EVP_PKEY_get0_EC_KEY(key.as_ptr()))?;
                Ok((Kind::Ec(key.curve()), Private::Ec(key)))
            }
            lc::EVP_PKEY_ED25519 => {
                let mut seed = Zeroizing::new([0; ed25519::LENGTH]);
                let mut length = seed.len();
                let answer = lc::EVP_PKEY_get_raw_private_key(
                    key.as_ptr(),
                    seed.as_mut_ptr(),
                    &raw mut length,
                );
                check(answer, Error::InvalidKey)?;
                let private = ed25519::Private::from_seed(&seed);
                Ok((Kind::Ed25519, Private::Ed25519(private)))
            }
            _ => Err(Error::InvalidKey),
        }
    }
}

type Marshal = unsafe extern "C" fn(*mut lc::CBB, *const lc::EVP_PKEY) -> i32;

/// What AWS-LC writes of a key.
fn written(key: *const lc::EVP_PKEY, marshal: Marshal) -> Result<Zeroizing<Vec<u8>>> {
    /// Enough for an RSA key of 4096 bits, so that no copy of a secret stays where a growing buffer was.
    const MOST: usize = 8 * 1024;
    let mut room = Zeroizing::new(vec![0; MOST]);
    let mut output = MaybeUninit::uninit();
    // SAFETY: a live key; a writer into as much room as there is, which AWS-LC does not keep.
    unsafe {
        check(
            lc::CBB_init_fixed(output.as_mut_ptr(), room.as_mut_ptr(), room.len()),
            Error::Resource,
        )?;
        let output = output.as_mut_ptr();
        let mut length = 0;
        let finished = marshal(output, key) == 1
            && lc::CBB_finish(output, ptr::null_mut(), &raw mut length) == 1;
        if !finished {
            lc::CBB_cleanup(output);
            check(0, Error::InvalidKey)?;
        }
        Ok(Zeroizing::new(room[..length].to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::digest::Digest;

    const KINDS: [Kind; 5] = [
        Kind::Rsa(2048),
        Kind::Ec(Curve::P256),
        Kind::Ec(Curve::P384),
        Kind::Ec(Curve::P521),
        Kind::Ed25519,
    ];

    /// Signs by the private half; verifies by the public one.
    fn is_whole(pair: &Pair) -> bool {
        let value = [7; 32];
        match &pair.private {
            Private::Rsa(key) => {
                let mut signature = vec![0; key.length()];
                key.sign(rsa::Scheme::Pkcs1, Digest::Sha256, &value, &mut signature)
                    .is_ok()
                    && key.verify(rsa::Scheme::Pkcs1, Digest::Sha256, &value, &signature)
            }
            Private::Ec(key) => {
                let mut signature = [0; ec::MAX_SIGNATURE_LENGTH];
                let length = key.sign(&value, &mut signature).unwrap_or(0);
                key.verify(&value, &signature[..length])
            }
            Private::Ed25519(key) => {
                let mut signature = [0; ed25519::SIGNATURE_LENGTH];
                key.sign(&value, &mut signature).is_ok()
                    && ed25519::verify(key.public(), &value, &signature)
            }
        }
    }

    #[test]
    fn what_is_made_is_read_again() {
        for kind in KINDS {
            let made = Pair::generate(kind).unwrap();
            let read = Pair::from_info(&made.info).unwrap();
            assert!(made.kind == kind && read.kind == kind, "{kind:?}");
            assert!(is_whole(&made) && is_whole(&read), "{kind:?}");
            assert!(made.info == read.info && made.public == read.public);
        }
        assert!(matches!(
            Pair::generate(Kind::Rsa(1024)),
            Err(Error::InvalidInput)
        ));
    }

    #[test]
    fn what_is_damaged_is_refused_or_the_same() {
        for kind in KINDS {
            let made = Pair::generate(kind).unwrap();
            for length in 0..made.info.len() {
                assert!(Pair::from_info(&made.info[..length]).is_err());
            }
            let mut longer = made.info.to_vec();
            longer.push(0);
            assert!(Pair::from_info(&longer).is_err());
        }
    }
}
