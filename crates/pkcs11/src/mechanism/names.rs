//! What the standard calls mechanisms: a token's policy names them so.

use cryptoki_sys::*;

macro_rules! names {
    ($($name:ident)*) => {
        /// All of them, by number.
        const NAMES: &[(CK_MECHANISM_TYPE, &str)] = &[$(($name, stringify!($name)),)*];
    };
}

names! {
    CKM_RSA_PKCS_KEY_PAIR_GEN CKM_RSA_PKCS CKM_RSA_X_509 CKM_RSA_PKCS_PSS CKM_RSA_PKCS_OAEP
    CKM_EC_KEY_PAIR_GEN CKM_ECDSA CKM_ECDH1_DERIVE CKM_EC_EDWARDS_KEY_PAIR_GEN CKM_EDDSA CKM_EC_MONTGOMERY_KEY_PAIR_GEN
    CKM_SHA1_RSA_PKCS CKM_SHA224_RSA_PKCS CKM_SHA256_RSA_PKCS CKM_SHA384_RSA_PKCS CKM_SHA512_RSA_PKCS
    CKM_SHA1_RSA_PKCS_PSS CKM_SHA224_RSA_PKCS_PSS CKM_SHA256_RSA_PKCS_PSS CKM_SHA384_RSA_PKCS_PSS CKM_SHA512_RSA_PKCS_PSS
    CKM_ECDSA_SHA1 CKM_ECDSA_SHA224 CKM_ECDSA_SHA256 CKM_ECDSA_SHA384 CKM_ECDSA_SHA512
    CKM_SHA_1 CKM_SHA224 CKM_SHA256 CKM_SHA384 CKM_SHA512 CKM_SHA512_256 CKM_SHA3_256 CKM_SHA3_384 CKM_SHA3_512
    CKM_SHA_1_HMAC CKM_SHA224_HMAC CKM_SHA256_HMAC CKM_SHA384_HMAC CKM_SHA512_HMAC
    CKM_SHA_1_HMAC_GENERAL CKM_SHA224_HMAC_GENERAL CKM_SHA256_HMAC_GENERAL CKM_SHA384_HMAC_GENERAL CKM_SHA512_HMAC_GENERAL
    CKM_GENERIC_SECRET_KEY_GEN CKM_HKDF_DERIVE CKM_AES_KEY_GEN
    CKM_AES_ECB CKM_AES_CBC CKM_AES_CBC_PAD CKM_AES_CTR CKM_AES_GCM CKM_AES_CCM
    CKM_AES_CMAC CKM_AES_CMAC_GENERAL CKM_AES_GMAC CKM_AES_KEY_WRAP CKM_AES_KEY_WRAP_PAD CKM_AES_KEY_WRAP_KWP CKM_AES_KEY_WRAP_PKCS7
    CKM_DES2_KEY_GEN CKM_DES3_KEY_GEN CKM_DES3_ECB CKM_DES3_CBC CKM_DES3_CBC_PAD CKM_DES3_CMAC CKM_DES3_CMAC_GENERAL
    CKM_HKDF_KEY_GEN CKM_HKDF_DATA
    CKM_ML_KEM_KEY_PAIR_GEN CKM_ML_KEM CKM_ML_DSA_KEY_PAIR_GEN CKM_ML_DSA
}

/// The name of a mechanism that the module has.
pub(crate) fn name(mechanism: CK_MECHANISM_TYPE) -> Option<&'static str> {
    let found = NAMES.iter().find(|(known, _)| *known == mechanism);
    found.map(|&(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_has_a_name() {
        for (mechanism, _) in super::super::all() {
            assert!(name(mechanism).is_some(), "{mechanism:#x}");
        }
        assert_eq!(name(CKM_ECDSA), Some("CKM_ECDSA"));
    }
}
