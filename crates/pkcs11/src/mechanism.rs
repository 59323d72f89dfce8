//! Mechanisms: what the module can do, and what a program asks for.

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
    /// The secret shared with that public half.
    Agree(Vec<u8>),
    RsaKeyPair,
    EcKeyPair,
    EdwardsKeyPair,
    MontgomeryKeyPair,
    SecretKey,
}

/// How a signature is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    pub(crate) scheme: SignScheme,
    /// The digest that the module computes; none where the program gives what is signed.
    pub(crate) hash: Option<Digest>,
}

/// What a signature is made of its input by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignScheme {
    /// RSA with PKCS #1 v1.5: of that digest, or of whatever the program gives.
    Pkcs1,
    /// RSA without a padding.
    Raw,
    /// RSA with PSS, of that digest.
    Pss(Digest, Scheme),
    Ecdsa,
    Eddsa,
}

/// A digest, and the mechanisms that it is part of.
pub(crate) struct Hashing {
    pub(crate) digest: Digest,
    pub(crate) mechanism: CK_MECHANISM_TYPE,
    pub(crate) mask: CK_RSA_PKCS_MGF_TYPE,
    pub(crate) pkcs1: CK_MECHANISM_TYPE,
    pub(crate) pss: CK_MECHANISM_TYPE,
    pub(crate) ecdsa: CK_MECHANISM_TYPE,
}

impl Hashing {
    /// Whether a mechanism signs with this digest.
    pub(crate) fn signs(&self, mechanism: CK_MECHANISM_TYPE) -> bool {
        [self.pkcs1, self.pss, self.ecdsa].contains(&mechanism)
    }
}

macro_rules! hashing {
    ($digest:ident, $mechanism:ident, $mask:ident, $pkcs1:ident, $pss:ident, $ecdsa:ident) => {
        Hashing {
            digest: Digest::$digest,
            mechanism: $mechanism,
            mask: $mask,
            pkcs1: $pkcs1,
            pss: $pss,
            ecdsa: $ecdsa,
        }
    };
}

#[rustfmt::skip]
pub(crate) const HASHINGS: [Hashing; 5] = [
    hashing!(Sha1, CKM_SHA_1, CKG_MGF1_SHA1, CKM_SHA1_RSA_PKCS, CKM_SHA1_RSA_PKCS_PSS, CKM_ECDSA_SHA1),
    hashing!(Sha224, CKM_SHA224, CKG_MGF1_SHA224, CKM_SHA224_RSA_PKCS, CKM_SHA224_RSA_PKCS_PSS, CKM_ECDSA_SHA224),
    hashing!(Sha256, CKM_SHA256, CKG_MGF1_SHA256, CKM_SHA256_RSA_PKCS, CKM_SHA256_RSA_PKCS_PSS, CKM_ECDSA_SHA256),
    hashing!(Sha384, CKM_SHA384, CKG_MGF1_SHA384, CKM_SHA384_RSA_PKCS, CKM_SHA384_RSA_PKCS_PSS, CKM_ECDSA_SHA384),
    hashing!(Sha512, CKM_SHA512, CKG_MGF1_SHA512, CKM_SHA512_RSA_PKCS, CKM_SHA512_RSA_PKCS_PSS, CKM_ECDSA_SHA512),
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
        (CKM_RSA_PKCS, RSA_BITS, SIGNS),
        (CKM_RSA_X_509, RSA_BITS, CKF_SIGN),
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
        (CKM_GENERIC_SECRET_KEY_GEN, (1, 4096), CKF_GENERATE),
    ];
    let hashing = HASHINGS.iter().flat_map(|one| {
        [
            (one.mechanism, (0, 0), CKF_DIGEST),
            (one.pkcs1, RSA_BITS, SIGNS),
            (one.pss, RSA_BITS, SIGNS),
            (one.ecdsa, EC_BITS, SIGNS | ON_CURVES),
        ]
    });
    let digests = DIGESTS.map(|(kind, _)| (kind, (0, 0), CKF_DIGEST));
    single.into_iter().chain(hashing).chain(digests).map(info)
}
