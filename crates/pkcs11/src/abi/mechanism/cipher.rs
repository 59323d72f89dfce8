//! Reads mechanisms that encrypt and decrypt.

use cryptoki_sys::*;
use outboard_engine::scalar::aes::{BLOCK, Block};
use outboard_engine::scalar::key_wrap::Padding;
use outboard_engine::scalar::{aes_ccm, aes_gcm};

use super::{digest, given_bytes, mask, parameter};
use crate::error::{Error, Result};
use crate::mechanism::{Cipher, CipherMechanism, Code, What};

/// What a program asks for.
///
/// # Safety
/// As [`read`](super::read), and nobody changes what the parameter leads to for as long as `'a`.
///
/// # Errors
/// `CKR_MECHANISM_INVALID`, `CKR_MECHANISM_PARAM_INVALID`.
pub(in crate::abi) unsafe fn read<'a>(
    mechanism: *const CK_MECHANISM,
) -> Result<CipherMechanism<'a>> {
    // SAFETY: by the caller's word.
    let raw = unsafe { mechanism.as_ref() }.ok_or(CKR_ARGUMENTS_BAD)?;
    let kind = raw.mechanism;
    let none = |cipher| match raw.ulParameterLen {
        0 => Ok(cipher),
        _ => Err(Error::from(CKR_MECHANISM_PARAM_INVALID)),
    };
    let cipher = match kind {
        CKM_AES_ECB => none(Cipher::Ecb)?,
        CKM_AES_KEY_WRAP => none(Cipher::KeyWrap(Padding::None))?,
        CKM_AES_KEY_WRAP_KWP => none(Cipher::KeyWrap(Padding::Zeros))?,
        CKM_RSA_X_509 => none(Cipher::RsaRaw)?,
        CKM_RSA_PKCS => none(Cipher::RsaPkcs1)?,
        // SAFETY: by the caller's word.
        CKM_AES_CBC => Cipher::Cbc(unsafe { parameter(raw)? }),
        // SAFETY: by the caller's word.
        CKM_AES_CBC_PAD => Cipher::CbcPadded(unsafe { parameter(raw)? }),
        CKM_DES3_ECB => none(Cipher::Des3Ecb)?,
        // SAFETY: by the caller's word.
        CKM_DES3_CBC => Cipher::Des3Cbc(unsafe { parameter(raw)? }),
        // SAFETY: by the caller's word.
        CKM_DES3_CBC_PAD => Cipher::Des3CbcPadded(unsafe { parameter(raw)? }),
        // SAFETY: by the caller's word.
        CKM_AES_CTR => unsafe { ctr(raw)? },
        // SAFETY: by the caller's word.
        CKM_AES_GCM => unsafe { gcm(raw)? },
        // SAFETY: by the caller's word.
        CKM_AES_CCM => unsafe { ccm(raw)? },
        // SAFETY: by the caller's word.
        CKM_RSA_PKCS_OAEP => unsafe { oaep(raw)? },
        _ => return Err(CKR_MECHANISM_INVALID.into()),
    };
    Ok(CipherMechanism { kind, cipher })
}

const _: () = assert!(size_of::<Block>() == BLOCK);

/// # Safety
/// As [`read`].
unsafe fn ctr<'a>(raw: &CK_MECHANISM) -> Result<Cipher<'a>> {
    // SAFETY: by the caller's word.
    let given: CK_AES_CTR_PARAMS = unsafe { parameter(raw)? };
    match given.ulCounterBits {
        bits @ 1..=128 => Ok(Cipher::Ctr(given.cb, bits as u32)),
        _ => Err(CKR_MECHANISM_PARAM_INVALID.into()),
    }
}

/// # Safety
/// As [`read`].
unsafe fn gcm<'a>(raw: &CK_MECHANISM) -> Result<Cipher<'a>> {
    // SAFETY: by the caller's word.
    let given: CK_GCM_PARAMS = unsafe { parameter(raw)? };
    // `ulIvBits` is a mistake of the standard's, which says the same as `ulIvLen`.
    // SAFETY: by the caller's word.
    let (iv, associated) = unsafe {
        (
            given_bytes(given.pIv, given.ulIvLen)?,
            given_bytes(given.pAAD, given.ulAADLen)?,
        )
    };
    let fits = (1..=aes_gcm::MAX_IV_LENGTH).contains(&iv.len());
    let tag = tag_length(given.ulTagBits).filter(|_| fits);
    Ok(Cipher::Gcm {
        iv,
        associated,
        tag: tag.ok_or(CKR_MECHANISM_PARAM_INVALID)?,
    })
}

/// GMAC: a message that is only authenticated.
///
/// # Safety
/// As [`read`].
pub(super) unsafe fn gmac(raw: &CK_MECHANISM) -> Result<What> {
    // SAFETY: by the caller's word.
    match unsafe { gcm(raw)? } {
        Cipher::Gcm {
            iv,
            associated: [],
            tag,
        } => Ok(What::Code(Code::Gmac(iv.to_vec()), tag)),
        _ => Err(CKR_MECHANISM_PARAM_INVALID.into()),
    }
}

/// The bytes of a tag of GCM with so many bits (SP 800-38D, 5.2.1.2).
pub(in crate::abi) fn tag_length(bits: CK_ULONG) -> Option<usize> {
    match bits {
        32 | 64 | 96 | 104 | 112 | 120 | 128 => Some(bits as usize / 8),
        _ => None,
    }
}

/// # Safety
/// As [`read`].
unsafe fn ccm<'a>(raw: &CK_MECHANISM) -> Result<Cipher<'a>> {
    // SAFETY: by the caller's word.
    let given: CK_CCM_PARAMS = unsafe { parameter(raw)? };
    // SAFETY: by the caller's word.
    let (nonce, associated) = unsafe {
        (
            given_bytes(given.pNonce, given.ulNonceLen)?,
            given_bytes(given.pAAD, given.ulAADLen)?,
        )
    };
    let (length, tag) = (given.ulDataLen as usize, given.ulMACLen as usize);
    match aes_ccm::fits(length, nonce.len(), tag) && associated.len() <= aes_ccm::MOST {
        true => Ok(Cipher::Ccm {
            length,
            nonce,
            associated,
            tag,
        }),
        false => Err(CKR_MECHANISM_PARAM_INVALID.into()),
    }
}

/// # Safety
/// As [`read`].
unsafe fn oaep<'a>(raw: &CK_MECHANISM) -> Result<Cipher<'a>> {
    // SAFETY: by the caller's word.
    let given: CK_RSA_PKCS_OAEP_PARAMS = unsafe { parameter(raw)? };
    if given.source != CKZ_DATA_SPECIFIED && given.ulSourceDataLen != 0 {
        return Err(CKR_MECHANISM_PARAM_INVALID.into());
    }
    Ok(Cipher::RsaOaep {
        digest: digest(given.hashAlg).ok_or(CKR_MECHANISM_PARAM_INVALID)?,
        mgf1: mask(given.mgf)?,
        // SAFETY: by the caller's word.
        label: unsafe { given_bytes(given.pSourceData.cast(), given.ulSourceDataLen)? },
    })
}
