//! What libssl calls, by phase: all that it imports and that takes longer than a look at a field.

use outboard_stopwatch::Phase::{
    KeySchedule, KeyShare, Network, Random, Records, Signature, Tickets, Transcript,
};

use crate::call::{in_phase, stand_in};

stand_in! {
    |behind, arguments| in_phase(KeyShare, behind, arguments) =>
        EVP_PKEY_CTX_new_from_name EVP_PKEY_CTX_new_from_pkey EVP_PKEY_CTX_set_group_name EVP_PKEY_CTX_free
        EVP_PKEY_keygen_init EVP_PKEY_keygen EVP_PKEY_paramgen_init EVP_PKEY_paramgen EVP_PKEY_fromdata
        EVP_PKEY_new EVP_PKEY_copy_parameters EVP_PKEY_free
        EVP_PKEY_set1_encoded_public_key EVP_PKEY_get1_encoded_public_key
        EVP_PKEY_derive_init EVP_PKEY_derive_set_peer EVP_PKEY_derive
        EVP_PKEY_encapsulate_init EVP_PKEY_encapsulate EVP_PKEY_decapsulate_init EVP_PKEY_decapsulate
        EVP_PKEY_decrypt_init EVP_PKEY_decrypt EVP_KEYMGMT_fetch EVP_KEYEXCH_fetch;
    |behind, arguments| in_phase(Signature, behind, arguments) =>
        EVP_DigestSignInit_ex EVP_DigestSign EVP_DigestSignUpdate EVP_DigestSignFinal
        EVP_DigestVerifyInit_ex EVP_DigestVerify EVP_DigestVerifyUpdate EVP_DigestVerifyFinal
        EVP_PKEY_CTX_set_rsa_padding EVP_PKEY_CTX_set_rsa_pss_saltlen X509_verify_cert;
    |behind, arguments| in_phase(KeySchedule, behind, arguments) =>
        EVP_KDF_fetch EVP_KDF_CTX_new EVP_KDF_derive EVP_KDF_CTX_free EVP_KDF_free EVP_Q_mac
        EVP_PKEY_new_raw_private_key_ex EVP_PKEY_new_mac_key;
    |behind, arguments| in_phase(Transcript, behind, arguments) =>
        EVP_MD_fetch EVP_MD_CTX_new EVP_MD_CTX_copy EVP_MD_CTX_copy_ex EVP_MD_CTX_ctrl EVP_MD_CTX_free
        EVP_Digest EVP_DigestInit EVP_DigestInit_ex EVP_DigestUpdate EVP_DigestFinal EVP_DigestFinal_ex;
    |behind, arguments| in_phase(Tickets, behind, arguments) =>
        EVP_MAC_fetch EVP_MAC_CTX_new EVP_MAC_init EVP_MAC_update EVP_MAC_final EVP_MAC_CTX_free EVP_MAC_free
        EVP_EncryptInit_ex EVP_EncryptUpdate EVP_EncryptFinal EVP_DecryptInit_ex EVP_DecryptUpdate EVP_DecryptFinal
        HMAC_CTX_new HMAC_Init_ex HMAC_Update HMAC_Final HMAC_CTX_free ASN1_item_i2d ASN1_item_d2i;
    |behind, arguments| in_phase(Records, behind, arguments) =>
        EVP_CIPHER_fetch EVP_CIPHER_CTX_new EVP_CIPHER_CTX_reset EVP_CIPHER_CTX_free EVP_CIPHER_CTX_ctrl
        EVP_CIPHER_CTX_set_params EVP_CIPHER_CTX_get_params EVP_CipherInit_ex EVP_CipherUpdate EVP_CipherFinal_ex
        EVP_Cipher;
    |behind, arguments| in_phase(Random, behind, arguments) => RAND_bytes_ex RAND_priv_bytes_ex RAND_bytes;
    |behind, arguments| in_phase(Network, behind, arguments) =>
        read write recv send recvmsg sendmsg readv writev;
}
