//! Reads mechanisms and their parameters.

pub(super) mod cipher;

use cryptoki_sys::*;
use outboard_engine::scalar::aes::BLOCK;
use outboard_engine::scalar::des3;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::ml_dsa::MAX_CONTEXT;
use outboard_engine::scalar::rsa::{SaltLength, Scheme};

use super::arguments::bytes;
use crate::error::Result;
use crate::mechanism::{Code, HASHINGS, Hkdf, Mechanism, Salt, Sign, SignScheme, What, digest};

/// What a program asks for.
///
/// # Safety
/// `mechanism` is null, or leads to one whose parameter is as long as it says and what the standard says it is.
///
/// # Errors
/// `CKR_MECHANISM_INVALID`, `CKR_MECHANISM_PARAM_INVALID`.
pub(super) unsafe fn read(mechanism: *const CK_MECHANISM) -> Result<Mechanism> {
    // SAFETY: by the caller's word.
    let raw = unsafe { mechanism.as_ref() }.ok_or(CKR_ARGUMENTS_BAD)?;
    let kind = raw.mechanism;
    let none = |what| match raw.ulParameterLen {
        0 => Ok(what),
        _ => Err(CKR_MECHANISM_PARAM_INVALID),
    };
    let sign = |scheme, hash| What::Sign(Sign { scheme, hash });
    let what = match kind {
        CKM_RSA_PKCS_KEY_PAIR_GEN => none(What::RsaKeyPair)?,
        CKM_EC_KEY_PAIR_GEN => none(What::EcKeyPair)?,
        CKM_EC_EDWARDS_KEY_PAIR_GEN => none(What::EdwardsKeyPair)?,
        CKM_EC_MONTGOMERY_KEY_PAIR_GEN => none(What::MontgomeryKeyPair)?,
        CKM_ML_KEM_KEY_PAIR_GEN => none(What::LatticeKeyPair(CKK_ML_KEM))?,
        CKM_ML_DSA_KEY_PAIR_GEN => none(What::LatticeKeyPair(CKK_ML_DSA))?,
        CKM_ML_KEM => none(What::Kem)?,
        // SAFETY: by the caller's word.
        CKM_ML_DSA => sign(unsafe { ml_dsa(raw)? }, None),
        CKM_GENERIC_SECRET_KEY_GEN => none(What::SecretKey(CKK_GENERIC_SECRET))?,
        CKM_AES_KEY_GEN => none(What::SecretKey(CKK_AES))?,
        CKM_DES2_KEY_GEN => none(What::SecretKey(CKK_DES2))?,
        CKM_DES3_KEY_GEN => none(What::SecretKey(CKK_DES3))?,
        CKM_HKDF_KEY_GEN => none(What::SecretKey(CKK_HKDF))?,
        CKM_DES3_CMAC => none(What::Code(Code::Des3Cmac, des3::BLOCK))?,
        // SAFETY: by the caller's word.
        CKM_DES3_CMAC_GENERAL => What::Code(Code::Des3Cmac, unsafe { general(raw, des3::BLOCK)? }),
        CKM_AES_CMAC => none(What::Code(Code::Cmac, BLOCK))?,
        // SAFETY: by the caller's word.
        CKM_AES_CMAC_GENERAL => What::Code(Code::Cmac, unsafe { general(raw, BLOCK)? }),
        // SAFETY: by the caller's word.
        CKM_AES_GMAC => unsafe { cipher::gmac(raw)? },
        CKM_RSA_PKCS => none(sign(SignScheme::Pkcs1, None))?,
        CKM_RSA_X_509 => none(sign(SignScheme::Raw, None))?,
        CKM_ECDSA => none(sign(SignScheme::Ecdsa, None))?,
        // SAFETY: by the caller's word.
        CKM_EDDSA => sign(unsafe { eddsa(raw)? }, None),
        // SAFETY: by the caller's word.
        CKM_RSA_PKCS_PSS => sign(unsafe { pss(raw, None)? }, None),
        // SAFETY: by the caller's word.
        CKM_HKDF_DERIVE => What::Hkdf(unsafe { hkdf(raw)? }),
        // SAFETY: by the caller's word.
        CKM_HKDF_DATA => What::HkdfData(unsafe { hkdf(raw)? }),
        // SAFETY: by the caller's word.
        CKM_ECDH1_DERIVE => What::Agree(unsafe { peer(raw)? }),
        _ => match (digest(kind), HASHINGS.iter().find(|one| one.signs(kind))) {
            (Some(digest), _) => none(What::Digest(digest))?,
            (None, Some(one)) => {
                let hash = Some(one.digest);
                let hmac = |length| What::Code(Code::Hmac(one.digest, one.hmac_key), length);
                match kind {
                    kind if kind == one.pkcs1 => none(sign(SignScheme::Pkcs1, hash))?,
                    kind if kind == one.ecdsa => none(sign(SignScheme::Ecdsa, hash))?,
                    kind if kind == one.hmac => none(hmac(one.digest.length()))?,
                    // SAFETY: by the caller's word.
                    kind if kind == one.hmac_general => unsafe {
                        hmac(general(raw, one.digest.length())?)
                    },
                    // SAFETY: by the caller's word.
                    _ => sign(unsafe { pss(raw, hash)? }, hash),
                }
            }
            (None, None) => return Err(CKR_MECHANISM_INVALID.into()),
        },
    };
    Ok(Mechanism { kind, what })
}

/// A structure that a parameter leads to.
///
/// # Safety
/// As [`read`].
unsafe fn parameter<T: Copy>(raw: &CK_MECHANISM) -> Result<T> {
    if raw.pParameter.is_null() || raw.ulParameterLen != size_of::<T>() as CK_ULONG {
        return Err(CKR_MECHANISM_PARAM_INVALID.into());
    }
    // SAFETY: that long, and a `T`, by the caller's word.
    Ok(unsafe { raw.pParameter.cast::<T>().read_unaligned() })
}

/// The scheme of PSS, where the module hashes by `hash`.
///
/// # Safety
/// As [`read`].
unsafe fn pss(raw: &CK_MECHANISM, hash: Option<Digest>) -> Result<SignScheme> {
    // SAFETY: by the caller's word.
    let given: CK_RSA_PKCS_PSS_PARAMS = unsafe { parameter(raw)? };
    let invalid = CKR_MECHANISM_PARAM_INVALID;
    let signed = HASHINGS.iter().find(|one| one.mechanism == given.hashAlg);
    let signed = signed.ok_or(invalid)?.digest;
    let mgf1 = mask(given.mgf)?;
    if hash.is_some_and(|hash| hash != signed) {
        return Err(invalid.into());
    }
    let salt = u16::try_from(given.sLen).map_err(|_| invalid)?;
    let salt = SaltLength::Bytes(salt.into());
    Ok(SignScheme::Pss(signed, Scheme::Pss { mgf1, salt }))
}

/// # Safety
/// As [`read`].
unsafe fn hkdf(raw: &CK_MECHANISM) -> Result<Hkdf> {
    // SAFETY: by the caller's word.
    let given: CK_HKDF_PARAMS = unsafe { parameter(raw)? };
    let invalid = CKR_MECHANISM_PARAM_INVALID;
    let is = |flag| match flag {
        CK_FALSE => Ok(false),
        CK_TRUE => Ok(true),
        _ => Err(invalid),
    };
    let extract = match (is(given.bExtract)?, given.ulSaltType) {
        (false, _) => None,
        (true, CKF_HKDF_SALT_NULL) => Some(Salt::Data(Vec::new())),
        (true, CKF_HKDF_SALT_DATA) => {
            // SAFETY: by the caller's word.
            let salt = unsafe { given_bytes(given.pSalt, given.ulSaltLen)? };
            Some(Salt::Data(salt.to_vec()))
        }
        (true, CKF_HKDF_SALT_KEY) => Some(Salt::Key(given.hSaltKey)),
        _ => return Err(invalid.into()),
    };
    let expand = match is(given.bExpand)? {
        false => None,
        // SAFETY: by the caller's word.
        true => Some(unsafe { given_bytes(given.pInfo, given.ulInfoLen)? }.to_vec()),
    };
    if extract.is_none() && expand.is_none() {
        return Err(invalid.into());
    }
    Ok(Hkdf {
        digest: digest(given.prfHashMechanism).ok_or(invalid)?,
        extract,
        expand,
    })
}

/// Bytes that a parameter leads to.
///
/// # Safety
/// As [`bytes`].
unsafe fn given_bytes<'a>(from: *const CK_BYTE, length: CK_ULONG) -> Result<&'a [u8]> {
    // SAFETY: by the caller's word.
    unsafe { bytes(from, length) }.map_err(|_| CKR_MECHANISM_PARAM_INVALID.into())
}

/// How many bytes of a code count, which has so many at most.
///
/// # Safety
/// As [`read`].
unsafe fn general(raw: &CK_MECHANISM, most: usize) -> Result<usize> {
    // SAFETY: by the caller's word.
    let given: CK_MAC_GENERAL_PARAMS = unsafe { parameter(raw)? };
    let given = usize::try_from(given).ok();
    let given = given.filter(|given| (1..=most).contains(given));
    given.ok_or(CKR_MECHANISM_PARAM_INVALID.into())
}

/// The digest of a mask generation function.
fn mask(function: CK_RSA_PKCS_MGF_TYPE) -> Result<Digest> {
    let found = HASHINGS.iter().find(|one| one.mask == function);
    Ok(found.ok_or(CKR_MECHANISM_PARAM_INVALID)?.digest)
}

/// Ed25519 without a context; nothing else.
///
/// # Safety
/// As [`read`].
unsafe fn eddsa(raw: &CK_MECHANISM) -> Result<SignScheme> {
    if raw.ulParameterLen == 0 {
        return Ok(SignScheme::Eddsa);
    }
    // SAFETY: by the caller's word.
    let given: CK_EDDSA_PARAMS = unsafe { parameter(raw)? };
    match (given.phFlag, given.ulContextDataLen) {
        (CK_FALSE, 0) => Ok(SignScheme::Eddsa),
        _ => Err(CKR_MECHANISM_PARAM_INVALID.into()),
    }
}

/// ML-DSA, in a context. Signatures are hedged; the engine makes no deterministic ones.
///
/// # Safety
/// As [`read`].
unsafe fn ml_dsa(raw: &CK_MECHANISM) -> Result<SignScheme> {
    if raw.ulParameterLen == 0 {
        return Ok(SignScheme::MlDsa(Vec::new()));
    }
    let invalid = CKR_MECHANISM_PARAM_INVALID;
    // SAFETY: by the caller's word.
    let given: CK_SIGN_ADDITIONAL_CONTEXT = unsafe { parameter(raw)? };
    if !matches!(given.hedgeVariant, CKH_HEDGE_PREFERRED | CKH_HEDGE_REQUIRED) {
        return Err(invalid.into());
    }
    // SAFETY: by the caller's word.
    let context = unsafe { given_bytes(given.pContext, given.ulContextLen)? };
    match context.len() <= MAX_CONTEXT {
        true => Ok(SignScheme::MlDsa(context.to_vec())),
        false => Err(invalid.into()),
    }
}

/// The public half of ECDH without a key derivation of its own.
///
/// # Safety
/// As [`read`].
unsafe fn peer(raw: &CK_MECHANISM) -> Result<Vec<u8>> {
    // SAFETY: by the caller's word.
    let given: CK_ECDH1_DERIVE_PARAMS = unsafe { parameter(raw)? };
    if given.kdf != CKD_NULL || given.ulSharedDataLen != 0 {
        return Err(CKR_MECHANISM_PARAM_INVALID.into());
    }
    // SAFETY: by the caller's word.
    let peer = unsafe { bytes(given.pPublicData, given.ulPublicDataLen) };
    // No public half is longer.
    match peer {
        Ok(peer @ [_, ..]) if peer.len() <= 256 => Ok(peer.to_vec()),
        _ => Err(CKR_MECHANISM_PARAM_INVALID.into()),
    }
}
