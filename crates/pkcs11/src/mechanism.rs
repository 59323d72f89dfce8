//! Mechanisms: what the module can do, and what a program asks for.

mod cipher;
mod names;

pub(crate) use cipher::{Cipher, CipherMechanism};
pub(crate) use names::name;

use cryptoki_sys::*;
use outboard_engine::scalar::digest::Digest;
use outboard_engine::scalar::rsa::Scheme;

/// What a program asks for, with all that its parameter says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mechanism {
    pub(crate) kind: CK_MECHANISM_TYPE,
    pub(crate) what: What,
}

/// What a mechanism does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Digest(Digest),
    Sign(Sign),
    /// A code of a message, and how many of its bytes count.
    Code(Code, usize),
    /// The secret shared with that public half.
    Agree(Vec<u8>),
    Hkdf(Hkdf),
    /// The same, as data.
    HkdfData(Hkdf),
    RsaKeyPair,
    EcKeyPair,
    EdwardsKeyPair,
    MontgomeryKeyPair,
    /// Keys of that type, ML-KEM's or ML-DSA's.
    LatticeKeyPair(CK_KEY_TYPE),
    /// A secret that is encapsulated.
    Kem,
    /// A secret key of that type.
    SecretKey(CK_KEY_TYPE),
}

/// How a signature is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    pub(crate) scheme: SignScheme,
    /// The digest that the module computes; none where the program gives what is signed.
    pub(crate) hash: Option<Digest>,
}

/// What a signature is made of its input by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignScheme {
    /// RSA with PKCS #1 v1.5: of that digest, or of whatever the program gives.
    Pkcs1,
    /// RSA without a padding.
    Raw,
    /// RSA with PSS, of that digest.
    Pss(Digest, Scheme),
    Ecdsa,
    Eddsa,
    /// In that context.
    MlDsa(Vec<u8>),
}

/// HKDF (RFC 5869): what is done of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hkdf {
    pub(crate) digest: Digest,
    /// Whether the secret is extracted, and with what.
    pub(crate) extract: Option<Salt>,
    /// Whether it is expanded, and with what.
    pub(crate) expand: Option<Vec<u8>>,
}

/// The salt of HKDF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Salt {
    Data(Vec<u8>),
    Key(CK_OBJECT_HANDLE),
}

/// How a code is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// By that digest, with keys of that type.
    Hmac(Digest, CK_KEY_TYPE),
    Cmac,
    /// CMAC with Triple DES.
    Des3Cmac,
    /// With that initialisation vector.
    Gmac(Vec<u8>),
}

/// A digest, and the mechanisms that it is part of.
pub(crate) struct Hashing {
    pub(crate) digest: Digest,
    pub(crate) mechanism: CK_MECHANISM_TYPE,
    pub(crate) mask: CK_RSA_PKCS_MGF_TYPE,
    pub(crate) pkcs1: CK_MECHANISM_TYPE,
    pub(crate) pss: CK_MECHANISM_TYPE,
    pub(crate) ecdsa: CK_MECHANISM_TYPE,
    pub(crate) hmac: CK_MECHANISM_TYPE,
    pub(crate) hmac_general: CK_MECHANISM_TYPE,
    pub(crate) hmac_key: CK_KEY_TYPE,
}

impl Hashing {
    /// Whether a mechanism signs with this digest.
    pub(crate) fn signs(&self, mechanism: CK_MECHANISM_TYPE) -> bool {
        let all = [
            self.pkcs1,
            self.pss,
            self.ecdsa,
            self.hmac,
            self.hmac_general,
        ];
        all.contains(&mechanism)
    }
}

macro_rules! hashing {
    (
        $digest:ident, $mechanism:ident, $mask:ident, $pkcs1:ident, $pss:ident, $ecdsa:ident,
        $hmac:ident, $hmac_general:ident, $hmac_key:ident
    ) => {
        Hashing {
            digest: Digest::$digest,
            mechanism: $mechanism,
            mask: $mask,
            pkcs1: $pkcs1,
            pss: $pss,
            ecdsa: $ecdsa,
            hmac: $hmac,
            hmac_general: $hmac_general,
            hmac_key: $hmac_key,
        }
    };
}

#[rustfmt::skip]
pub(crate) const HASHINGS: [Hashing; 5] = [
    hashing!(
        Sha1, CKM_SHA_1, CKG_MGF1_SHA1, CKM_SHA1_RSA_PKCS, CKM_SHA1_RSA_PKCS_PSS, CKM_ECDSA_SHA1,
        CKM_SHA_1_HMAC, CKM_SHA_1_HMAC_GENERAL, CKK_SHA_1_HMAC
    ),
    hashing!(
        Sha224, CKM_SHA224, CKG_MGF1_SHA224, CKM_SHA224_RSA_PKCS, CKM_SHA224_RSA_PKCS_PSS, CKM_ECDSA_SHA224,
        CKM_SHA224_HMAC, CKM_SHA224_HMAC_GENERAL, CKK_SHA224_HMAC
    ),
    hashing!(
        Sha256, CKM_SHA256, CKG_MGF1_SHA256, CKM_SHA256_RSA_PKCS, CKM_SHA256_RSA_PKCS_PSS, CKM_ECDSA_SHA256,
        CKM_SHA256_HMAC, CKM_SHA256_HMAC_GENERAL, CKK_SHA256_HMAC
    ),
    hashing!(
        Sha384, CKM_SHA384, CKG_MGF1_SHA384, CKM_SHA384_RSA_PKCS, CKM_SHA384_RSA_PKCS_PSS, CKM_ECDSA_SHA384,
        CKM_SHA384_HMAC, CKM_SHA384_HMAC_GENERAL, CKK_SHA384_HMAC
    ),
    hashing!(
        Sha512, CKM_SHA512, CKG_MGF1_SHA512, CKM_SHA512_RSA_PKCS, CKM_SHA512_RSA_PKCS_PSS, CKM_ECDSA_SHA512,
        CKM_SHA512_HMAC, CKM_SHA512_HMAC_GENERAL, CKK_SHA512_HMAC
    ),
];

/// Digests that sign nothing here.
const DIGESTS: [(CK_MECHANISM_TYPE, Digest); 4] = [
    (CKM_SHA512_256, Digest::Sha512_256),
    (CKM_SHA3_256, Digest::Sha3_256),
    (CKM_SHA3_384, Digest::Sha3_384),
    (CKM_SHA3_512, Digest::Sha3_512),
];

/// The digest of a mechanism that does nothing else.
pub(crate) fn digest(mechanism: CK_MECHANISM_TYPE) -> Option<Digest> {
    let signing = HASHINGS.iter().map(|one| (one.mechanism, one.digest));
    let mut all = signing.chain(DIGESTS);
    all.find(|(known, _)| *known == mechanism)
        .map(|(_, digest)| digest)
}

const RSA_BITS: (CK_ULONG, CK_ULONG) = (512, 4096);
const EC_BITS: (CK_ULONG, CK_ULONG) = (256, 521);
const AES_BYTES: (CK_ULONG, CK_ULONG) = (16, 32);
/// Of public halves.
const KEM_BYTES: (CK_ULONG, CK_ULONG) = (800, 1568);
const DSA_BYTES: (CK_ULONG, CK_ULONG) = (1312, 2592);
const DES3_BYTES: (CK_ULONG, CK_ULONG) = (16, 24);
const SECRET_BYTES: (CK_ULONG, CK_ULONG) = (1, 4096);
const SIGNS: CK_FLAGS = CKF_SIGN | CKF_VERIFY;
const ON_CURVES: CK_FLAGS = CKF_EC_F_P | CKF_EC_NAMEDCURVE | CKF_EC_UNCOMPRESS;
const EDWARDS: CK_FLAGS = CKF_EC_NAMEDCURVE;

/// Every mechanism, with what `C_GetMechanismInfo` tells.
pub(crate) fn all() -> impl Iterator<Item = (CK_MECHANISM_TYPE, CK_MECHANISM_INFO)> {
    let info = |(kind, (least, most), flags)| {
        let info = CK_MECHANISM_INFO {
            ulMinKeySize: least,
            ulMaxKeySize: most,
            flags,
        };
        (kind, info)
    };
    let single = [
        (
            CKM_RSA_PKCS_KEY_PAIR_GEN,
            (2048, 4096),
            CKF_GENERATE_KEY_PAIR,
        ),
        (CKM_RSA_PKCS, RSA_BITS, SIGNS | CKF_ENCRYPT | CKF_DECRYPT),
        (CKM_RSA_X_509, RSA_BITS, SIGNS | CKF_ENCRYPT | CKF_DECRYPT),
        (CKM_RSA_PKCS_PSS, RSA_BITS, SIGNS),
        (
            CKM_EC_KEY_PAIR_GEN,
            EC_BITS,
            CKF_GENERATE_KEY_PAIR | ON_CURVES,
        ),
        (CKM_ECDSA, EC_BITS, SIGNS | ON_CURVES),
        (CKM_ECDH1_DERIVE, EC_BITS, CKF_DERIVE | ON_CURVES),
        (
            CKM_EC_EDWARDS_KEY_PAIR_GEN,
            (255, 255),
            CKF_GENERATE_KEY_PAIR | EDWARDS,
        ),
        (CKM_EDDSA, (255, 255), SIGNS | EDWARDS),
        (
            CKM_EC_MONTGOMERY_KEY_PAIR_GEN,
            (255, 255),
            CKF_GENERATE_KEY_PAIR | EDWARDS,
        ),
        (CKM_ML_KEM_KEY_PAIR_GEN, KEM_BYTES, CKF_GENERATE_KEY_PAIR),
        (CKM_ML_KEM, KEM_BYTES, CKF_ENCAPSULATE | CKF_DECAPSULATE),
        (CKM_ML_DSA_KEY_PAIR_GEN, DSA_BYTES, CKF_GENERATE_KEY_PAIR),
        (CKM_ML_DSA, DSA_BYTES, SIGNS),
        (CKM_GENERIC_SECRET_KEY_GEN, SECRET_BYTES, CKF_GENERATE),
        (CKM_AES_KEY_GEN, AES_BYTES, CKF_GENERATE),
        (CKM_DES2_KEY_GEN, (16, 16), CKF_GENERATE),
        (CKM_DES3_KEY_GEN, (24, 24), CKF_GENERATE),
        (CKM_DES3_CMAC, DES3_BYTES, SIGNS),
        (CKM_DES3_CMAC_GENERAL, DES3_BYTES, SIGNS),
        (CKM_HKDF_KEY_GEN, SECRET_BYTES, CKF_GENERATE),
        (CKM_HKDF_DERIVE, SECRET_BYTES, CKF_DERIVE),
        (CKM_HKDF_DATA, SECRET_BYTES, CKF_DERIVE),
        (CKM_AES_CMAC, AES_BYTES, SIGNS),
        (CKM_AES_CMAC_GENERAL, AES_BYTES, SIGNS),
        (CKM_AES_GMAC, AES_BYTES, SIGNS),
    ];
    let hashing = HASHINGS.iter().flat_map(|one| {
        [
            (one.mechanism, (0, 0), CKF_DIGEST),
            (one.pkcs1, RSA_BITS, SIGNS),
            (one.pss, RSA_BITS, SIGNS),
            (one.ecdsa, EC_BITS, SIGNS | ON_CURVES),
            (one.hmac, SECRET_BYTES, SIGNS),
            (one.hmac_general, SECRET_BYTES, SIGNS),
        ]
    });
    let digests = DIGESTS.map(|(kind, _)| (kind, (0, 0), CKF_DIGEST));
    let signing = single.into_iter().chain(hashing);
    signing.chain(digests).chain(cipher::ALL).map(info)
}
