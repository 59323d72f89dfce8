//! Data: encrypted, authenticated and hashed by keys that may do it, and by no others.

mod common;

use common::{Card, bytes, hex};
use outboard_cca::*;

const KEY: &str = "0123456789ABCDEF FEDCBA9876543210";
const VIOLATION: (u32, u32) = (8, 39);

fn encipher(
    card: &Card,
    key: &Bytes,
    text: &[u8],
    rules: &[&str],
    chaining: &Bytes,
) -> Result<Enciphered, (u32, u32)> {
    let request = Encipher {
        key_identifier: key.clone(),
        plaintext: text.into(),
        initialization_vector: [1; 8].into(),
        rule_array: Rules::of(rules),
        chaining_vector: chaining.clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::Encipher(reply) => Ok(reply),
        _ => unreachable!("another verb's reply"),
    }
}

fn decipher(card: &Card, key: &Bytes, text: &Bytes, rules: &[&str]) -> Result<Bytes, (u32, u32)> {
    let request = Decipher {
        key_identifier: key.clone(),
        ciphertext: text.clone(),
        initialization_vector: [1; 8].into(),
        rule_array: Rules::of(rules),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::Decipher(reply) => Ok(reply.plaintext),
        _ => unreachable!("another verb's reply"),
    }
}

#[test]
fn des_text_goes_both_ways_in_one_call_and_in_several() {
    let card = Card::new();
    let none = Bytes::default();
    for key in [
        "0123456789ABCDEF",
        KEY,
        "0123456789ABCDEF FEDCBA9876543210 89ABCDEF01234567",
    ] {
        let key = card.des("DATA", &[], key);
        let whole = encipher(&card, &key, &[7; 40], &["CBC"], &none).expect("text");
        let first = encipher(&card, &key, &[7; 16], &["CBC", "INITIAL"], &none).expect("text");
        let rest = encipher(
            &card,
            &key,
            &[7; 24],
            &["CBC", "CONTINUE"],
            &first.chaining_vector,
        )
        .expect("text");
        assert_eq!(
            [&*first.ciphertext, &*rest.ciphertext].concat(),
            *whole.ciphertext
        );
        assert_eq!(
            *decipher(&card, &key, &whole.ciphertext, &["CBC"]).expect("text"),
            [7; 40]
        );
        for length in [1, 7, 8, 9] {
            let padded = encipher(&card, &key, &vec![3; length], &["X9.23"], &none).expect("text");
            assert_eq!(padded.ciphertext.len(), (length / 8 + 1) * 8);
            assert_eq!(
                *decipher(&card, &key, &padded.ciphertext, &["X9.23"]).expect("text"),
                vec![3; length]
            );
        }
        assert_eq!(
            encipher(&card, &key, &[7; 9], &["CBC"], &none).err(),
            Some((8, 25))
        );
        assert_eq!(
            encipher(&card, &key, &[7; 8], &["CBC", "X9.23"], &none).err(),
            Some((8, 34))
        );
        assert_eq!(
            encipher(&card, &key, &[7; 8], &["ECB"], &none).err(),
            Some((8, 33))
        );
    }
}

/// NIST SP 800-38A, F.2.5 (CBC-AES256); RFC 4231, test case 2; RFC 4493, example 2.
#[test]
fn aes_and_hmac_are_those_of_the_standards() {
    let card = Card::new();
    card.enable(&[AccessPoint::ClearKeyImport]);
    let key = bytes("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
    let request = MultipleClearKeyImport {
        rule_array: Rules::of(&["AES"]),
        clear_key: key,
    };
    let Ok(Reply::MultipleClearKeyImport(key)) = card.ask(request) else {
        panic!("a key")
    };
    let key = key.target_key_identifier;
    assert_eq!((key.len(), key[4]), (64, 4));
    let request = SymmetricEncipher {
        rule_array: Rules::of(&["AES", "CBC", "KEYIDENT", "INITIAL"]),
        key_identifier: key.clone(),
        initialization_vector: bytes("000102030405060708090a0b0c0d0e0f"),
        cleartext: bytes("6bc1bee22e409f96e93d7e117393172a"),
        ..Default::default()
    };
    let Ok(Reply::SymmetricEncipher(reply)) = card.ask(request) else {
        panic!("text")
    };
    assert_eq!(hex(&reply.ciphertext), "F58C4C04D6E5F1BA779EABFB5F7BFBD6");
    for length in [0, 1, 15, 16, 17] {
        let rule_array = Rules::of(&["AES", "PKCS-PAD"]);
        let request = SymmetricEncipher {
            rule_array: rule_array.clone(),
            key_identifier: key.clone(),
            cleartext: vec![9; length].into(),
            ..Default::default()
        };
        let Ok(Reply::SymmetricEncipher(reply)) = card.ask(request) else {
            panic!("text")
        };
        let request = SymmetricDecipher {
            rule_array,
            key_identifier: key.clone(),
            ciphertext: reply.ciphertext,
            ..Default::default()
        };
        let Ok(Reply::SymmetricDecipher(reply)) = card.ask(request) else {
            panic!("text")
        };
        assert_eq!(*reply.cleartext, vec![9; length]);
    }
    let mac = card.aes(&["AES", "MAC", "CMAC"], "2b7e151628aed2a6abf7158809cf4f3c");
    let request = MacGenerate2 {
        rule_array: Rules::of(&["AES", "CMAC", "ONLY"]),
        key_identifier: mac.clone(),
        message_text: bytes("6bc1bee22e409f96e93d7e117393172a"),
        ..Default::default()
    };
    let Ok(Reply::MacGenerate2(code)) = card.ask(request) else {
        panic!("a MAC")
    };
    assert_eq!(hex(&code.mac_text), "070A16B46B4D4144F79BDD9DD04A287C");
    // "Jefe" has fewer bits than a key of a card may have: the longer key of test case 3.
    let hmac = card.aes(&["HMAC", "MAC", "GENERATE"], &"aa".repeat(20));
    let generate = HmacGenerate {
        rule_array: Rules::of(&["HMAC", "SHA-256", "ONLY"]),
        key_identifier: hmac.clone(),
        message_text: vec![0xdd; 50].into(),
        ..Default::default()
    };
    let Ok(Reply::HmacGenerate(code)) = card.ask(generate) else {
        panic!("a MAC")
    };
    assert_eq!(hex(&code.mac_text[..8]), "773EA91E36800E46");
    let verify = |mac_text: &[u8]| {
        card.ask(HmacVerify {
            rule_array: Rules::of(&["HMAC", "SHA-256"]),
            key_identifier: hmac.clone(),
            message_text: vec![0xdd; 50].into(),
            mac_text: mac_text.into(),
            ..Default::default()
        })
    };
    assert!(verify(&code.mac_text).is_ok() && verify(&code.mac_text[..16]).is_ok());
    assert_eq!(verify(&[0; 32]).err(), Some((4, 1)));
    assert_eq!(
        verify(&code.mac_text[..3]).err(),
        Some((8, 72)),
        "too short to mean anything"
    );
}

#[test]
fn macs_are_made_in_parts_and_verified() {
    let card = Card::new();
    let (make, check) = (card.des("MAC", &[], KEY), card.des("MACVER", &[], KEY));
    let generate = |text: &[u8], rules: &[&str], chaining: &Bytes| {
        let request = MacGenerate {
            key_identifier: make.clone(),
            text: text.into(),
            rule_array: Rules::of(rules),
            chaining_vector: chaining.clone(),
        };
        match card.ask(request) {
            Ok(Reply::MacGenerate(mac)) => mac,
            other => panic!("{rules:?}: {other:?}"),
        }
    };
    let none = Bytes::default();
    let text = b"Now is the time for all ";
    let whole = generate(text, &["X9.19OPT", "MACLEN8"], &none);
    assert_eq!(hex(&whole.mac), "A1C72E74EA3FA9B6", "ISO 9797-1, annex A");
    assert_eq!(
        *generate(text, &["X9.19OPT", "HEX-9"], &none).mac,
        *b"A1C7 2E74"
    );
    let first = generate(&text[..5], &["X9.19OPT", "FIRST"], &none);
    let middle = generate(
        &text[5..17],
        &["X9.19OPT", "MIDDLE"],
        &first.chaining_vector,
    );
    let last = generate(
        &text[17..],
        &["X9.19OPT", "LAST", "MACLEN8"],
        &middle.chaining_vector,
    );
    assert_eq!(last.mac, whole.mac);
    // The chain between the parts is hidden: it is no MAC of the text up to there.
    let block = generate(&text[..8], &["X9.19OPT", "FIRST"], &none);
    let single = card.des("DATA", &[], &KEY[..16]);
    let chain = {
        let request = Encipher {
            key_identifier: single,
            plaintext: text[..8].into(),
            ..Default::default()
        };
        match card.ask(request) {
            Ok(Reply::Encipher(reply)) => reply.ciphertext,
            other => panic!("{other:?}"),
        }
    };
    assert_ne!(block.chaining_vector[..8], chain[..]);
    let verify = |key: &Bytes, mac: &[u8]| {
        card.ask(MacVerify {
            key_identifier: key.clone(),
            text: text[..].into(),
            rule_array: Rules::of(&["X9.19OPT", "MACLEN8"]),
            mac: mac.into(),
            ..Default::default()
        })
    };
    assert!(verify(&check, &whole.mac).is_ok() && verify(&make, &whole.mac).is_ok());
    assert_eq!(verify(&check, &[0; 8]).err(), Some((4, 1)));
}

/// Every type of key in every verb: only those that may.
#[test]
fn a_key_does_what_its_type_says_and_nothing_else() {
    let card = Card::new();
    let text = [5; 16];
    let types = [
        "DATA", "CIPHER", "ENCIPHER", "DECIPHER", "MAC", "MACVER", "IPINENC", "OPINENC", "PINGEN",
        "PINVER", "EXPORTER", "IMPORTER", "IKEYXLAT", "OKEYXLAT", "KEYGENKY",
    ];
    for key_type in types {
        let key = card.des(key_type, &[], KEY);
        let expect = |allowed: &[&str], answer: Result<(), (u32, u32)>, verb: &str| match allowed
            .contains(&key_type)
        {
            true => assert!(!matches!(answer, Err(VIOLATION)), "{key_type} in {verb}"),
            false => assert_eq!(answer, Err(VIOLATION), "{key_type} in {verb}"),
        };
        let none = Bytes::default();
        let encrypted = encipher(&card, &key, &text, &["CBC"], &none).map(drop);
        expect(&["DATA", "CIPHER", "ENCIPHER"], encrypted, "CSNBENC");
        let decrypted = decipher(&card, &key, &text[..].into(), &["CBC"]).map(drop);
        expect(&["DATA", "CIPHER", "DECIPHER"], decrypted, "CSNBDEC");
        let request = MacGenerate {
            key_identifier: key.clone(),
            text: text[..].into(),
            ..Default::default()
        };
        expect(&["DATA", "MAC"], card.ask(request).map(drop), "CSNBMGN");
        let request = MacVerify {
            key_identifier: key.clone(),
            text: text[..].into(),
            mac: [0; 4].into(),
            ..Default::default()
        };
        expect(
            &["DATA", "MAC", "MACVER"],
            card.ask(request).map(drop),
            "CSNBMVR",
        );
        let profile = Bytes::from("ISO-0   NONE           F");
        let pin = |input: &Bytes, output: &Bytes| {
            card.ask(EncryptedPinTranslate {
                input_pin_encrypting_key_identifier: input.clone(),
                output_pin_encrypting_key_identifier: output.clone(),
                input_pin_profile: profile.clone(),
                output_pin_profile: profile.clone(),
                pan_data_in: "123456789012".into(),
                pan_data_out: "123456789012".into(),
                pin_block_in: [1; 8].into(),
                rule_array: Rules::of(&["REFORMAT"]),
                ..Default::default()
            })
            .map(drop)
        };
        let (inbound, outbound) = (card.des("IPINENC", &[], KEY), card.des("OPINENC", &[], KEY));
        expect(&["IPINENC"], pin(&key, &outbound), "CSNBPTR, input");
        expect(&["OPINENC"], pin(&inbound, &key), "CSNBPTR, output");
        let request = KeyExport {
            key_type: Keyword::new("TOKEN"),
            source_key_identifier: inbound.clone(),
            exporter_key_identifier: key.clone(),
            ..Default::default()
        };
        expect(&["EXPORTER"], card.ask(request).map(drop), "CSNBKEX");
    }
}

#[test]
fn hashes_and_random_numbers() {
    let card = Card::new();
    let request = OneWayHash {
        rule_array: Rules::of(&["SHA-256", "ONLY"]),
        text: "abc".into(),
        ..Default::default()
    };
    let Ok(Reply::OneWayHash(hash)) = card.ask(request) else {
        panic!("a hash")
    };
    assert_eq!(hex(&hash.hash[..4]), "BA7816BF");
    let part = |rules: &[&str], text: &[u8], chaining_vector: Bytes| {
        let request = OneWayHash {
            rule_array: Rules::of(rules),
            text: text.into(),
            chaining_vector,
            ..Default::default()
        };
        match card.ask(request) {
            Ok(Reply::OneWayHash(reply)) => Ok(reply),
            Ok(_) => unreachable!("another verb's reply"),
            Err(codes) => Err(codes),
        }
    };
    let first = part(&["SHA-512", "FIRST"], &[7; 256], Bytes::default()).expect("blocks");
    let last = part(&["SHA-512", "LAST"], b"the rest", first.chaining_vector).expect("a hash");
    let whole = part(
        &["SHA-512"],
        &[&[7; 256][..], b"the rest"].concat(),
        Bytes::default(),
    )
    .expect("a hash");
    assert_eq!(last.hash, whole.hash);
    assert_eq!(
        part(&["SHA-512", "FIRST"], &[7; 64], Bytes::default()).err(),
        Some((8, 25))
    );
    assert_eq!(
        part(&["SHA-512", "LAST"], &[7; 64], Bytes::default()).err(),
        Some((8, 159))
    );
    let random = |form: &str| match card.ask(RandomNumberGenerate {
        form: Keyword::new(form),
    }) {
        Ok(Reply::RandomNumberGenerate(reply)) => reply.random_number,
        other => panic!("{other:?}"),
    };
    assert_ne!(random("RANDOM"), random("RANDOM"));
    for _ in 0..50 {
        assert!(random("ODD").iter().all(|byte| byte.count_ones() % 2 == 1));
        assert!(random("EVEN").iter().all(|byte| byte.count_ones() % 2 == 0));
    }
    let long = |random_number_length| {
        card.ask(RandomNumberGenerateLong {
            rule_array: Rules::of(&["RANDOM"]),
            random_number_length,
        })
        .map(drop)
    };
    assert_eq!(
        (long(8192), long(8193), long(0)),
        (Ok(()), Err((8, 72)), Err((8, 72)))
    );
    card.ask(RandomNumberTests {
        rule_array: Rules::of(&["KAT"]),
    })
    .expect("known answers");
    let status = card.ask(CryptoFacilityQuery {
        rule_array: Rules::of(&["STATAES"]),
        ..Default::default()
    });
    let Ok(Reply::CryptoFacilityQuery(status)) = status else {
        panic!("a status")
    };
    let words: Vec<_> = status
        .rule_array
        .0
        .iter()
        .map(|word| word.text().to_owned())
        .collect();
    assert_eq!(
        words,
        ["1", "2", "1"],
        "no new master key, one current, no old one"
    );
}
