//! Mechanisms that encrypt and decrypt, and wrap and unwrap.

use cryptoki_sys::*;
use outboard_engine::scalar::aes::Block;
use outboard_engine::scalar::des3;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::key_wrap::Padding;

use super::{AES_BYTES, DES3_BYTES, RSA_BITS};

/// What a program asks for; what its parameter leads to is read while the call lasts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CipherMechanism<'a> {
    pub(crate) kind: CK_MECHANISM_TYPE,
    pub(crate) cipher: Cipher<'a>,
}

/// A cipher, with all that its parameter says.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cipher<'a> {
    Ecb,
    Cbc(Block),
    /// CBC with the padding of PKCS #7.
    CbcPadded(Block),
    Des3Ecb,
    Des3Cbc(des3::Block),
    /// CBC with the padding of PKCS #7.
    Des3CbcPadded(des3::Block),
    /// The first block, and how many of its bits are counted.
    Ctr(Block, u32),
    Gcm {
        iv: &'a [u8],
        associated: &'a [u8],
        tag: usize,
    },
    Ccm {
        /// How long the message is.
        length: usize,
        nonce: &'a [u8],
        associated: &'a [u8],
        tag: usize,
    },
    KeyWrap(Padding),
    /// RSA without a padding.
    RsaRaw,
    RsaPkcs1,
    RsaOaep {
        digest: Digest,
        mgf1: Digest,
        label: &'a [u8],
    },
}

impl Cipher<'_> {
    /// Whether keys are wrapped with it: what was wrapped by the other ciphers can be changed unseen.
    pub(crate) fn wraps(&self) -> bool {
        matches!(self, Self::KeyWrap(_) | Self::RsaOaep { .. })
    }
}

const CIPHERS: CK_FLAGS = CKF_ENCRYPT | CKF_DECRYPT;
const MESSAGES: CK_FLAGS = CKF_MESSAGE_ENCRYPT | CKF_MESSAGE_DECRYPT | CKF_MULTI_MESSAGE;
const WRAPS: CK_FLAGS = CKF_WRAP | CKF_UNWRAP;

/// Every one that does nothing else, with the sizes of its keys and what it does.
pub(super) const ALL: [(CK_MECHANISM_TYPE, (CK_ULONG, CK_ULONG), CK_FLAGS); 12] = [
    (CKM_AES_ECB, AES_BYTES, CIPHERS),
    (CKM_AES_CBC, AES_BYTES, CIPHERS),
    (CKM_AES_CBC_PAD, AES_BYTES, CIPHERS),
    (CKM_AES_CTR, AES_BYTES, CIPHERS),
    (CKM_DES3_ECB, DES3_BYTES, CIPHERS),
    (CKM_DES3_CBC, DES3_BYTES, CIPHERS),
    (CKM_DES3_CBC_PAD, DES3_BYTES, CIPHERS),
    (CKM_AES_GCM, AES_BYTES, CIPHERS | MESSAGES),
    (CKM_AES_CCM, AES_BYTES, CIPHERS),
    (CKM_AES_KEY_WRAP, AES_BYTES, CIPHERS | WRAPS),
    (CKM_AES_KEY_WRAP_KWP, AES_BYTES, CIPHERS | WRAPS),
    (CKM_RSA_PKCS_OAEP, RSA_BITS, CIPHERS | WRAPS),
];
