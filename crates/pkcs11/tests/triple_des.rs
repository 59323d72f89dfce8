//! Triple DES: NIST's examples, and ciphertexts of OpenSSL's.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::raw::{P256, Raw, Work, bare, mechanism, number, pointer};
use cryptoki_sys::*;
use outboard_engine::scalar::des3::{has_odd_parity, set_odd_parity};

use Work::{Decrypt, Encrypt, Sign};

const IV: [u8; 8] = *b"a vector";

/// A key of that many bytes.
fn key_of(length: usize) -> Vec<u8> {
    let mut key: Vec<u8> = (0..length as u8)
        .map(|byte| byte.wrapping_mul(37))
        .collect();
    set_odd_parity(&mut key);
    key
}

/// What OpenSSL makes of a message.
fn openssl(cipher: &str, key: &[u8], words: &[&str], message: &[u8]) -> Vec<u8> {
    let hex = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("{byte:02x}")).collect() };
    let mut child = Command::new("openssl")
        .args(["enc", cipher, "-K", &hex(key)])
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(message).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    output.stdout
}

#[test]
fn ciphertexts_are_those_of_openssl() {
    let raw = Raw::new();
    let iv: String = IV.iter().map(|byte| format!("{byte:02x}")).collect();
    for (key_type, length, cipher) in [
        (CKK_DES2, 16, ["-des-ede", "-des-ede-cbc"]),
        (CKK_DES3, 24, ["-des-ede3-ecb", "-des-ede3-cbc"]),
    ] {
        let value = key_of(length);
        let key = raw.secret(key_type, &value).unwrap();
        // Its first three bytes say which key it is.
        let zeros = openssl(cipher[0], &value, &["-nopad"], &[0; 8]);
        let check = raw.attribute(key, CKA_CHECK_VALUE).unwrap();
        assert_eq!(check, zeros[..3]);
        for count in [0, 1, 7, 8, 9, 16, 63, 64] {
            let message: Vec<u8> = (0..count).collect();
            let cbc = ["-iv", &iv];
            let padded = openssl(cipher[1], &value, &cbc, &message);
            let by = mechanism(CKM_DES3_CBC_PAD, &IV);
            let both = |by: &CK_MECHANISM, message: &[u8], sealed: &[u8]| {
                for part in [1, 5, 8, 20] {
                    let here = raw.in_parts(Encrypt, by, key, message, part);
                    assert_eq!(here.as_deref(), Ok(sealed), "{count} {part}");
                    let here = raw.in_parts(Decrypt, by, key, sealed, part);
                    assert_eq!(here.as_deref(), Ok(message), "{count} {part}");
                }
                let here = raw.once(Encrypt, by, key, message);
                assert_eq!(here.as_deref(), Ok(sealed), "{count}");
                let here = raw.once(Decrypt, by, key, sealed);
                assert_eq!(here.as_deref(), Ok(message), "{count}");
            };
            both(&by, &message, &padded);
            let blocks = [
                (mechanism(CKM_DES3_CBC, &IV), cipher[1], &cbc[..]),
                (bare(CKM_DES3_ECB), cipher[0], &[]),
            ];
            for (by, cipher, words) in blocks {
                if count % 8 != 0 {
                    let refused = raw.once(Encrypt, &by, key, &message);
                    assert_eq!(refused, Err(CKR_DATA_LEN_RANGE));
                    continue;
                }
                let words = [words, &["-nopad"]].concat();
                both(&by, &message, &openssl(cipher, &value, &words, &message));
            }
        }
        // A padding that is none.
        let by = mechanism(CKM_DES3_CBC_PAD, &IV);
        let opened = raw.once(Decrypt, &by, key, &[7; 16]);
        assert_eq!(opened, Err(CKR_ENCRYPTED_DATA_INVALID));
        let opened = raw.once(Decrypt, &by, key, &[7; 15]);
        assert_eq!(opened, Err(CKR_ENCRYPTED_DATA_LEN_RANGE));
    }
}

/// SP 800-38B, appendix D.4 of its first edition.
#[test]
fn codes_are_those_of_sp_800_38b() {
    let raw = Raw::new();
    let key = [
        0x8aa8_3bf8_cbda_1062_u64,
        0x0bc1_bf19_fbb6_cd58,
        0xbc31_3d4a_371c_a8b5,
    ];
    let key = key.map(u64::to_be_bytes).concat();
    let key = raw.secret(CKK_DES3, &key).unwrap();
    let message = 0x6bc1_bee2_2e40_9f96_u64.to_be_bytes();
    let code = 0x8e8f_2931_3628_3797_u64.to_be_bytes();
    let whole = bare(CKM_DES3_CMAC);
    assert_eq!(raw.once(Sign, &whole, key, &message).unwrap(), code);
    assert_eq!(raw.verify(&whole, key, &message, &code), Ok(()));
    let half: CK_MAC_GENERAL_PARAMS = 4;
    let half = mechanism(CKM_DES3_CMAC_GENERAL, &half);
    assert_eq!(raw.once(Sign, &half, key, &message).unwrap(), code[..4]);
    let too_long: CK_MAC_GENERAL_PARAMS = 9;
    let too_long = mechanism(CKM_DES3_CMAC_GENERAL, &too_long);
    let refused = raw.once(Sign, &too_long, key, &message);
    assert_eq!(refused, Err(CKR_MECHANISM_PARAM_INVALID));
    // A key of AES has mechanisms of its own.
    let aes = raw.secret(CKK_AES, &[7; 16]).unwrap();
    let refused = raw.begin(Sign, &whole, aes);
    assert_eq!(refused, Err(CKR_KEY_TYPE_INCONSISTENT));
    let refused = raw.begin(Encrypt, &bare(CKM_DES3_ECB), aes);
    assert_eq!(refused, Err(CKR_KEY_TYPE_INCONSISTENT));
}

#[test]
fn keys_have_their_length_and_parity() {
    let raw = Raw::new();
    let shown: [(_, &[u8]); 2] = [(CKA_SENSITIVE, &[CK_FALSE]), (CKA_EXTRACTABLE, &[CK_TRUE])];
    for (kind, key_type, length) in [
        (CKM_DES2_KEY_GEN, CKK_DES2, 16),
        (CKM_DES3_KEY_GEN, CKK_DES3, 24),
    ] {
        let key = raw.generate(&bare(kind), &shown).unwrap();
        let value = raw.attribute(key, CKA_VALUE).unwrap();
        assert_eq!(value.len(), length);
        assert!(has_odd_parity(&value));
        let mut wrong = value.clone();
        wrong[3] ^= 1;
        let refused = raw.secret(key_type, &wrong);
        assert_eq!(refused, Err(CKR_ATTRIBUTE_VALUE_INVALID));
        let refused = raw.secret(key_type, &value[..length - 8]);
        assert_eq!(refused, Err(CKR_ATTRIBUTE_VALUE_INVALID));
        // What is derived has it, too, and needs no length.
        let base = raw.secret(CKK_GENERIC_SECRET, &[7; 32]).unwrap();
        let parameters = CK_HKDF_PARAMS {
            bExtract: CK_FALSE,
            bExpand: CK_TRUE,
            prfHashMechanism: CKM_SHA256,
            ulSaltType: CKF_HKDF_SALT_NULL,
            pSalt: pointer(&[]),
            ulSaltLen: 0,
            hSaltKey: 0,
            pInfo: pointer(P256),
            ulInfoLen: P256.len() as CK_ULONG,
        };
        let key_type = number(key_type);
        let values = [&shown[..], &[(CKA_KEY_TYPE, &key_type)]].concat();
        let by = mechanism(CKM_HKDF_DERIVE, &parameters);
        let derived = raw.derive(&by, base, &values).unwrap();
        let value = raw.attribute(derived, CKA_VALUE).unwrap();
        assert_eq!(value.len(), length);
        assert!(has_odd_parity(&value));
    }
}
