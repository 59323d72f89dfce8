//! Public keys: made, used, kept inside, and only for what their tokens say.

mod common;

use common::{Card, bytes, hex};
use outboard_cca::*;
use proptest::prelude::*;

fn skeleton(card: &Card, rules: &[&str], structure: &str, name: &str) -> Bytes {
    let request = PkaKeyTokenBuild {
        rule_array: Rules::of(rules),
        key_value_structure: bytes(structure),
        private_key_name: name.into(),
    };
    match card.ask(request) {
        Ok(Reply::PkaKeyTokenBuild(reply)) => reply.key_token,
        other => panic!("no skeleton {rules:?}: {other:?}"),
    }
}

fn generate(card: &Card, rule: &str, skeleton: &Bytes) -> Result<Bytes, (u32, u32)> {
    let request = PkaKeyGenerate {
        rule_array: Rules::of(&[rule]),
        skeleton_key_identifier: skeleton.clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::PkaKeyGenerate(reply) => Ok(reply.generated_key_identifier),
        _ => unreachable!("another verb's reply"),
    }
}

fn public(card: &Card, key: &Bytes) -> Bytes {
    match card.ask(PkaPublicKeyExtract {
        source_key_identifier: key.clone(),
        ..Default::default()
    }) {
        Ok(Reply::PkaPublicKeyExtract(reply)) => reply.target_public_key_token,
        other => panic!("no public half: {other:?}"),
    }
}

fn sign(card: &Card, key: &Bytes, rules: &[&str], hash: &[u8]) -> Result<Bytes, (u32, u32)> {
    let request = DigitalSignatureGenerate {
        rule_array: Rules::of(rules),
        private_key_identifier: key.clone(),
        hash: hash.into(),
    };
    match card.ask(request)? {
        Reply::DigitalSignatureGenerate(reply) => Ok(reply.signature_field),
        _ => unreachable!("another verb's reply"),
    }
}

fn verify(
    card: &Card,
    key: &Bytes,
    rules: &[&str],
    hash: &[u8],
    signature: &Bytes,
) -> Result<(), (u32, u32)> {
    let request = DigitalSignatureVerify {
        rule_array: Rules::of(rules),
        public_key_identifier: key.clone(),
        hash: hash.into(),
        signature_field: signature.clone(),
    };
    card.ask(request).map(drop)
}

/// 2048 bits, e = 65537; P-256.
const RSA: &str = "0800 0000 0003 0000 0000 0000 0000 0000 0000 010001";
const P256: &str = "00 00 0100 0000 0000 0000";

/// The longest token that the publication knows has 3,500 bytes, and programs have room for that.
#[test]
fn the_longest_private_token_fits_the_published_room() {
    let card = Card::new();
    let structure = RSA.replacen("0800", "1000", 1);
    let name = "N".repeat(64);
    let skeletons =
        ["RSA-CRT", "RSA-AESC"].map(|rule| skeleton(&card, &[rule, "KEY-MGMT"], &structure, &name));
    for skeleton in skeletons {
        let key = generate(&card, "MASTER", &skeleton).expect("a key");
        assert!((2048..=3500).contains(&key.len()), "{}", key.len());
        let digest_info = bytes(
            "3031300d060960864801650304020105000420 11223344556677889900112233445566778899001122334455667788990011aa",
        );
        let signature = sign(&card, &key, &["PKCS-1.1"], &digest_info).expect("a signature");
        let half = public(&card, &key);
        assert_eq!(
            verify(&card, &half, &["PKCS-1.1"], &digest_info, &signature),
            Ok(())
        );
    }
}

#[test]
fn an_rsa_key_signs_and_decrypts_for_those_who_may() {
    let card = Card::new();
    let key = generate(
        &card,
        "MASTER",
        &skeleton(&card, &["RSA-CRT", "KEY-MGMT"], RSA, ""),
    )
    .expect("a key");
    assert_eq!(key[0], 0x1f);
    let half = public(&card, &key);
    assert_eq!((half[0], half[8]), (0x1e, 0x04));
    // What openCryptoki reads of a token: the modulus is the end of the private section, and in the public one.
    let section = usize::from(u16::from_be_bytes([key[10], key[11]]));
    assert_eq!(
        key[8 + section - 256..8 + section],
        half[8 + 12 + 3..8 + 12 + 3 + 256]
    );
    let digest_info = bytes(
        "3031300d060960864801650304020105000420 11223344556677889900112233445566778899001122334455667788990011aa",
    );
    let signature = sign(&card, &key, &["PKCS-1.1"], &digest_info).expect("a signature");
    assert_eq!(
        verify(&card, &half, &["PKCS-1.1"], &digest_info, &signature),
        Ok(())
    );
    let mut wrong = signature.to_vec();
    wrong[100] ^= 1;
    assert_eq!(
        verify(&card, &half, &["PKCS-1.1"], &digest_info, &wrong.into()),
        Err((4, 429))
    );
    let hash = [&[0, 0, 0, 32][..], &digest_info[19..]].concat();
    let pss = sign(&card, &key, &["PKCS-PSS", "SHA-256"], &hash).expect("a signature");
    assert_eq!(
        verify(&card, &half, &["PKCS-PSS", "SHA-256"], &hash, &pss),
        Ok(())
    );
    let script = "import sys; from cryptography.hazmat.primitives.asymmetric import rsa, padding, utils\n\
        from cryptography.hazmat.primitives import hashes\n\
        n, one, two, digest = [bytes.fromhex(a) for a in sys.argv[1:]]\n\
        key = rsa.RSAPublicNumbers(65537, int.from_bytes(n, 'big')).public_key()\n\
        h = utils.Prehashed(hashes.SHA256())\n\
        key.verify(one, digest, padding.PKCS1v15(), h)\n\
        key.verify(two, digest, padding.PSS(padding.MGF1(hashes.SHA256()), 32), h)\n\
        print('verified')";
    let arguments = [&half[8 + 12 + 3..], &signature, &pss, &digest_info[19..]].map(hex);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    if let Some(answer) = common::python(script, &arguments) {
        assert_eq!(answer.trim(), "verified");
    }
    card.enable(&[AccessPoint::PkaDecrypt]);
    for rules in [&["PKCS-1.2"][..], &["PKCSOAEP"], &["PKCSOAEP", "SHA-256"]] {
        let request = PkaEncrypt {
            rule_array: Rules::of(rules),
            key_value: "a message".into(),
            public_key_identifier: half.clone(),
            ..Default::default()
        };
        let Ok(Reply::PkaEncrypt(encrypted)) = card.ask(request) else {
            panic!("{rules:?}")
        };
        let decrypt = |ciphertext: Bytes| {
            card.ask(PkaDecrypt {
                rule_array: Rules::of(rules),
                enciphered_key: ciphertext,
                private_key_identifier: key.clone(),
                ..Default::default()
            })
        };
        let Ok(Reply::PkaDecrypt(message)) = decrypt(encrypted.enciphered_key.clone()) else {
            panic!("{rules:?}")
        };
        assert_eq!(*message.key_value, *b"a message");
        let mut changed = encrypted.enciphered_key.to_vec();
        changed[200] ^= 1;
        match decrypt(changed.into()) {
            // PKCS #1 v1.5: another message, and no error to learn from.
            Ok(Reply::PkaDecrypt(other)) => {
                assert!(rules[0] == "PKCS-1.2" && *other.key_value != *b"a message")
            }
            Err(codes) => assert_eq!((rules[0], codes), ("PKCSOAEP", (8, 66))),
            Ok(_) => unreachable!("another verb's reply"),
        }
    }
    let signs = generate(
        &card,
        "MASTER",
        &skeleton(&card, &["RSA-CRT", "SIG-ONLY"], RSA, ""),
    )
    .expect("a key");
    let request = PkaDecrypt {
        rule_array: Rules::of(&["PKCS-1.2"]),
        enciphered_key: vec![1; 256].into(),
        private_key_identifier: signs.clone(),
        ..Default::default()
    };
    assert_eq!(
        card.ask(request).err(),
        Some((8, 39)),
        "a key that signs only"
    );
    // The use is bound to the key.
    let mut changed = signs.to_vec();
    changed[8 + 50] = 0x80;
    assert_eq!(
        sign(&card, &changed.into(), &["PKCS-1.1"], &digest_info),
        Err((8, 29))
    );
    let small = skeleton(&card, &["RSA-CRT"], &RSA.replacen("0800", "0400", 1), "");
    assert_eq!(generate(&card, "MASTER", &small), Err((8, 11000)));
}

#[test]
fn keys_on_curves_and_keys_that_are_kept_inside() {
    let card = Card::new();
    let key = generate(&card, "MASTER", &skeleton(&card, &["ECC-PAIR"], P256, "")).expect("a key");
    let half = public(&card, &key);
    let hash = [7; 32];
    let signature = sign(&card, &key, &["ECDSA"], &hash).expect("a signature");
    assert_eq!(signature.len(), 64);
    assert_eq!(verify(&card, &half, &["ECDSA"], &hash, &signature), Ok(()));
    assert_eq!(
        verify(&card, &half, &["ECDSA"], &[8; 32], &signature),
        Err((4, 429))
    );
    // Kept inside: a label, and no token but the public one.
    let named = skeleton(&card, &["ECC-PAIR"], P256, "SHOP.SIGN");
    let outside = generate(&card, "RETAIN", &named).expect("a key");
    assert_eq!(outside[0], 0x1e);
    let label = Bytes::from("SHOP.SIGN");
    let signature = sign(&card, &label, &["ECDSA"], &hash).expect("a signature");
    assert_eq!(
        verify(&card, &outside, &["ECDSA"], &hash, &signature),
        Ok(())
    );
    assert_eq!(generate(&card, "RETAIN", &named), Err((8, 44)));
    let read = card.ask(PkaKeyRecordRead {
        key_label: label.clone(),
        ..Default::default()
    });
    assert_eq!(read.err(), Some((8, 30)), "no verb reads its token");
    let Ok(Reply::RetainedKeyList(list)) = card.ask(RetainedKeyList {
        key_label_mask: "*".into(),
        ..Default::default()
    }) else {
        panic!("a list")
    };
    assert_eq!(
        (list.retained_keys_count, &*list.key_labels),
        (1, &["SHOP.SIGN".to_owned()][..])
    );
    card.ask(RetainedKeyDelete {
        key_label: label.clone(),
        ..Default::default()
    })
    .expect("deleted");
    assert_eq!(sign(&card, &label, &["ECDSA"], &hash), Err((8, 30)));
    // A token follows its master key.
    card.master(&["APKA-MK", "RANDOM"]);
    card.master(&["APKA-MK", "SET"]);
    let request = PkaKeyTokenChange {
        rule_array: Rules::of(&["RTCMK"]),
        key_identifier: key.clone(),
    };
    let Ok(Reply::PkaKeyTokenChange(changed)) = card.ask(request) else {
        panic!("a token")
    };
    card.master(&["APKA-MK", "RANDOM"]);
    card.master(&["APKA-MK", "SET"]);
    sign(&card, &changed.key_identifier, &["ECDSA"], &hash).expect("by the old master key");
    assert_eq!(sign(&card, &key, &["ECDSA"], &hash), Err((8, 24)));
}

#[test]
fn symmetric_keys_travel_under_public_ones() {
    let card = Card::new();
    let key = generate(
        &card,
        "MASTER",
        &skeleton(&card, &["RSA-CRT", "KM-ONLY"], RSA, ""),
    )
    .expect("a key");
    let half = public(&card, &key);
    assert_eq!(
        sign(&card, &key, &["PKCS-1.1"], &[1; 32]),
        Err((8, 39)),
        "a key that decrypts only"
    );
    let request = SymmetricKeyGenerate {
        rule_array: Rules::of(&["DES", "PKCSOAEP", "KEYLN16"]),
        rsa_public_key_identifier: half.clone(),
        ..Default::default()
    };
    let Ok(Reply::SymmetricKeyGenerate(made)) = card.ask(request) else {
        panic!("a key")
    };
    let request = SymmetricKeyImport {
        rule_array: Rules::of(&["DES", "PKCSOAEP"]),
        rsa_enciphered_key: made.rsa_enciphered_key.clone(),
        rsa_private_key_identifier: key,
        ..Default::default()
    };
    let Ok(Reply::SymmetricKeyImport(imported)) = card.ask(request) else {
        panic!("a key")
    };
    assert_eq!(
        card.check_value(&made.local_enciphered_key_identifier),
        card.check_value(&imported.target_key_identifier)
    );
    let export = |source: &Bytes| {
        card.ask(SymmetricKeyExport {
            rule_array: Rules::of(&["DES", "PKCSOAEP"]),
            source_key_identifier: source.clone(),
            transporter_key_identifier: half.clone(),
        })
    };
    assert_eq!(
        export(&imported.target_key_identifier).err(),
        Some((8, 90)),
        "off by default"
    );
    card.enable(&[AccessPoint::SymmetricKeyExport]);
    export(&imported.target_key_identifier).expect("a DATA key");
    let pin = card.des("PINGEN", &[], "FEDCBA98765432100123456789ABCDEF");
    assert_eq!(export(&pin).err(), Some((8, 31)), "no other");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn drawn_bytes_are_no_private_key(mut token in proptest::collection::vec(any::<u8>(), 8..200), sections in any::<bool>()) {
        thread_local!(static CARD: Card = Card::new());
        token[0] = 0x1e | (token[1] & 1);
        let length = (token.len() as u16).to_be_bytes();
        token[2..4].copy_from_slice(&length);
        if sections && token.len() > 24 {
            let rest = token.len() - 8;
            token[8] = [0x04, 0x08, 0x20, 0x21][usize::from(token[9] & 3)];
            token[10..12].copy_from_slice(&(rest as u16).to_be_bytes());
        }
        CARD.with(|card| {
            let token = Bytes::from(token);
            assert!(sign(card, &token, &["PKCS-1.1"], &[1; 32]).is_err());
            let _ = verify(card, &token, &["ECDSA"], &[1; 32], &vec![1; 64].into());
            let _ = card.ask(PkaPublicKeyExtract { source_key_identifier: token, ..Default::default() });
        });
    }
}
