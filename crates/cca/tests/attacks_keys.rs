//! Attacks on keys that the literature knows, by the verbs of a program, and with the access-control points that are on by default
//! unless a test says so. No key may become another, nor leave in the clear.

mod common;

use common::{Card, bytes};
use outboard_cca::*;
use proptest::prelude::*;

const KEK: &str = "0123456789ABCDEF 23456789ABCDEF01";
const KEY: &str = "FEDCBA9876543210 0123456789ABCDEF";
const VIOLATION: (u32, u32) = (8, 39);

fn import(card: &Card, source: &Bytes, kek: &Bytes) -> Result<Bytes, (u32, u32)> {
    let request = KeyImport {
        key_type: Keyword::new("TOKEN"),
        source_key_token: source.clone(),
        importer_key_identifier: kek.clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::KeyImport(key) => Ok(key.target_key_identifier),
        _ => unreachable!("another verb's reply"),
    }
}

fn export(card: &Card, source: &Bytes, kek: &Bytes) -> Result<Bytes, (u32, u32)> {
    let request = KeyExport {
        key_type: Keyword::new("TOKEN"),
        source_key_identifier: source.clone(),
        exporter_key_identifier: kek.clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::KeyExport(key) => Ok(key.target_key_token),
        _ => unreachable!("another verb's reply"),
    }
}

fn block(card: &Card, key: &Bytes, kek: &Bytes, rules: &[&str]) -> Result<Bytes, (u32, u32)> {
    let request = Tr31Export {
        rule_array: Rules::of(rules),
        source_key_identifier: key.clone(),
        wrap_kek_identifier: kek.clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::Tr31Export(reply) => Ok(reply.tr31_key_block),
        _ => unreachable!("another verb's reply"),
    }
}

/// A token with a right token-validation value.
fn checked(mut token: Vec<u8>) -> Bytes {
    let words = token[..60].chunks(4);
    let sum = words.fold(0_u32, |sum, word| {
        sum.wrapping_add(u32::from_be_bytes(word.try_into().expect("four bytes")))
    });
    token[60..].copy_from_slice(&sum.to_be_bytes());
    token.into()
}

/// The control vector of a type.
fn vector(card: &Card, of: &str) -> Bytes {
    let request = ControlVectorGenerate {
        key_type: Keyword::new(of),
        rule_array: Rules::of(&["KEYLN16"]),
    };
    match card.ask(request) {
        Ok(Reply::ControlVectorGenerate(made)) => made.control_vector,
        other => panic!("no control vector: {other:?}"),
    }
}

/// Bond, "Attacks on cryptoprocessor transaction sets" (2001): who adds the difference of two control vectors to a key-encrypting
/// key, as one of its parts, takes a key in as another type. So the original wrapping is off, and the other is not undone so.
#[test]
fn a_key_part_does_not_change_a_type() {
    let card = Card::new();
    let exporter = card.des("EXPORTER", &[], KEK);
    let token = export(&card, &card.des("PINGEN", &[], KEY), &exporter).expect("a token");
    let (from, to) = (vector(&card, "PINGEN"), vector(&card, "CIPHER"));
    let kek = bytes(KEK);
    let changed = kek
        .iter()
        .zip(from.iter().zip(&to[..]))
        .map(|(key, (a, b))| key ^ a ^ b);
    let changed: Vec<u8> = changed.collect();
    let importer = card.des("IMPORTER", &[], &common::hex(&changed));
    let mut cast = token.to_vec();
    cast[32..48].copy_from_slice(&to);
    assert!(import(&card, &checked(cast.clone()), &importer).is_err());
    let own = card.des("IMPORTER", &[], KEK);
    assert!(
        import(&card, &checked(cast.clone()), &own).is_err(),
        "nor by the right key"
    );
    // Called a token of the original wrapping: that is off.
    cast[7] = 0;
    assert_eq!(import(&card, &checked(cast), &own), Err((8, 90)));
}

/// Halves of two tokens are no third one; nor is a half a key of its own, or a key of two equal halves (a Triple DES key that is a
/// single one).
#[test]
fn halves_of_keys_are_not_exchanged() {
    let card = Card::new();
    let exporter = card.des("EXPORTER", &[], KEK);
    let importer = card.des("IMPORTER", &[], KEK);
    let [one, other] =
        [KEY, "23456789ABCDEF01 FEDCBA9876543210"].map(|key| card.des("MAC", &[], key));
    let outside =
        [&one, &other].map(|key| export(&card, key, &exporter).expect("a token").to_vec());
    let mixed = |places: [(usize, usize); 2], tokens: &[Vec<u8>; 2]| {
        let mut token = tokens[0].clone();
        for (to, (of, from)) in [16, 24].into_iter().zip(places) {
            token[to..to + 8].copy_from_slice(&tokens[of][from..from + 8]);
        }
        checked(token)
    };
    let inside = [one.to_vec(), other.to_vec()];
    let all = [(0, 16), (0, 24), (1, 16), (1, 24)];
    for left in all {
        for right in all {
            if [left, right] == [(0, 16), (0, 24)] {
                continue;
            }
            let imported = import(&card, &mixed([left, right], &outside), &importer);
            let is_other = [left, right] == [(1, 16), (1, 24)];
            assert_eq!(imported.is_ok(), is_other, "{left:?} {right:?}");
            let request = KeyTest {
                rule_array: Rules::of(&["KEY-ENC", "GENERATE", "ENC-ZERO"]),
                key_identifier: mixed([left, right], &inside),
                ..Default::default()
            };
            assert_eq!(card.ask(request).err(), Some((8, 29)), "{left:?} {right:?}");
        }
    }
    // A token of two parts, called one of one.
    let data = card.des("DATA", &[], KEY);
    for token in [
        data.to_vec(),
        export(&card, &data, &exporter).expect("a token").to_vec(),
    ] {
        let mut half = token.clone();
        half[59] = 0;
        assert!(import(&card, &checked(half.clone()), &importer).is_err());
        assert!(export(&card, &checked(half), &exporter).is_err());
    }
    let skeleton = card.skeleton("MAC", &["KEYLN16", "KEY-PART"]);
    let part = |rule: &str, key_part: &str, key_identifier: Bytes| {
        let (rule_array, key_part) = (Rules::of(&[rule]), bytes(key_part));
        card.ask(KeyPartImport {
            rule_array,
            key_part,
            key_identifier,
        })
    };
    let Ok(Reply::KeyPartImport(first)) = part("FIRST", KEY, skeleton) else {
        panic!("a part")
    };
    let equal = "FEDCBA9876543210 FEDCBA9876543210";
    let rest: Vec<u8> = bytes(KEY)
        .iter()
        .zip(&bytes(equal)[..])
        .map(|(a, b)| a ^ b)
        .collect();
    let last = part("LAST", &common::hex(&rest), first.key_identifier);
    assert_eq!(last.err(), Some((8, 148)));
}

/// Drawn tokens, which come in if their parities happen to be odd: one in 65,536, and as a key that nobody knows.
#[test]
fn drawn_tokens_are_no_keys() {
    let card = Card::new();
    let importer = card.des("IMPORTER", &[], KEK);
    let token = export(
        &card,
        &card.des("MAC", &[], KEY),
        &card.des("EXPORTER", &[], KEK),
    )
    .expect("a token");
    for number in 0..3000_u64 {
        let mut drawn = token.to_vec();
        drawn[16..24].copy_from_slice(&number.to_be_bytes());
        assert!(
            import(&card, &checked(drawn), &importer).is_err(),
            "{number}"
        );
    }
}

/// One end of a PIN's or a key's way as it is, the other to import: it would be in the same card by CSNBKIM.
#[test]
fn both_ends_do_not_meet_by_an_import() {
    let card = Card::new();
    let importer = card.des("IMPORTER", &[], KEK);
    for types in [
        ["OPINENC", "IPINENC"],
        ["IPINENC", "OPINENC"],
        ["PINGEN", "PINVER"],
        ["EXPORTER", "IMPORTER"],
    ] {
        for form in ["OPOP", "OPIM", "IMIM"] {
            let request = KeyGenerate {
                key_form: Keyword::new(form),
                key_length: Keyword::new("DOUBLE"),
                key_type_1: Keyword::new(types[0]),
                key_type_2: Keyword::new(types[1]),
                kek_key_identifier_1: importer.clone(),
                kek_key_identifier_2: importer.clone(),
                ..Default::default()
            };
            assert_eq!(card.ask(request).err(), Some((8, 57)), "{form} {types:?}");
        }
    }
    let importer = card.aes(&["AES", "IMPORTER"], &KEK.repeat(2));
    for types in [["PINPROT", "PINPROT"], ["EXPORTER", "IMPORTER"]] {
        let request = KeyGenerate2 {
            rule_array: Rules::of(&["AES", "OPIM"]),
            clear_key_bit_length: 256,
            key_type_1: Keyword::new(types[0]),
            key_type_2: Keyword::new(types[1]),
            key_encrypting_key_identifier_2: importer.clone(),
            ..Default::default()
        };
        assert_eq!(card.ask(request).err(), Some((8, 57)), "{types:?}");
    }
}

/// What a control vector forbids and a key block cannot say must not get lost on the way.
#[test]
fn a_key_block_loses_no_prohibition() {
    let card = Card::new();
    let kek = card.des("EXPORTER", &[], KEK);
    let rules = ["VARDRV-B", "ISOMAC3", "GENVER", "EXP-ANY"];
    for forbidden in ["NO-XPORT", "NOT31XPT", "ENH-ONLY"] {
        let key = card.des("MAC", &[forbidden], KEY);
        assert_eq!(
            block(&card, &key, &kek, &rules),
            Err((8, 181)),
            "{forbidden}"
        );
    }
    block(&card, &card.des("MAC", &["ANSIX9.9"], KEY), &kek, &rules).expect("without one");
}

/// A header that is changed, of a block that is right: usage, mode, exportability, version, optional blocks, lengths.
#[test]
fn no_header_is_changed() {
    let card = Card::new();
    card.enable(&[AccessPoint::Tr31Variants]);
    let (exporter, importer) = (
        card.des("EXPORTER", &[], KEK),
        card.des("IMPORTER", &[], KEK),
    );
    let key = card.des("CIPHER", &[], KEY);
    for version in ["VARXOR-A", "VARDRV-B", "VARXOR-C"] {
        let block = block(&card, &key, &exporter, &[version, "DATA", "ENC-ONLY"]).expect("a block");
        let import = |block: Vec<u8>| {
            card.ask(Tr31Import {
                rule_array: Rules::of(&["INTERNAL"]),
                tr31_key_block: block.into(),
                unwrap_kek_identifier: importer.clone(),
                ..Default::default()
            })
        };
        assert!(import(block.to_vec()).is_ok());
        for (place, to) in [
            (0, "A"),
            (0, "B"),
            (0, "C"),
            (0, "D"),
            (1, "9"),
            (4, "8"),
            (5, "M3"),
            (5, "K0"),
            (5, "P0"),
            (5, "V0"),
            (7, "D"),
            (7, "A"),
            (8, "B"),
            (8, "D"),
            (9, "01"),
            (11, "E"),
            (11, "S"),
            (12, "01"),
            (14, "01"),
        ] {
            let mut changed = block.to_vec();
            changed[place..place + to.len()].copy_from_slice(to.as_bytes());
            assert!(
                changed == block.to_vec() || import(changed).is_err(),
                "{version} {place} {to}"
            );
        }
        // An optional block of padding, which is put in.
        let mut longer = [&block[..16], b"PB08ABCD", &block[16..]].concat();
        let length = format!("{:04}", longer.len());
        longer[1..5].copy_from_slice(length.as_bytes());
        longer[13] = b'1';
        assert!(import(longer).is_err(), "{version}");
    }
}

fn build(card: &Card, rules: &[&str], structure: &Bytes, name: &str) -> Result<Bytes, (u32, u32)> {
    let request = PkaKeyTokenBuild {
        rule_array: Rules::of(rules),
        key_value_structure: structure.clone(),
        private_key_name: name.into(),
    };
    match card.ask(request)? {
        Reply::PkaKeyTokenBuild(reply) => Ok(reply.key_token),
        _ => unreachable!("another verb's reply"),
    }
}

fn generate(card: &Card, rule: &str, skeleton: Bytes) -> Bytes {
    let request = PkaKeyGenerate {
        rule_array: Rules::of(&[rule]),
        skeleton_key_identifier: skeleton,
        ..Default::default()
    };
    match card.ask(request) {
        Ok(Reply::PkaKeyGenerate(reply)) => reply.generated_key_identifier,
        other => panic!("no key: {other:?}"),
    }
}

/// A key that is kept inside does not leave when its master key changes; and a record of its name does not take its place.
#[test]
fn a_key_that_is_kept_inside_stays_there() {
    let card = Card::new();
    let p256 = bytes("00 00 0100 0000 0000 0000");
    let label = Bytes::from("SHOP.SIGN");
    let public = generate(
        &card,
        "RETAIN",
        build(&card, &["ECC-PAIR"], &p256, "SHOP.SIGN").expect("a skeleton"),
    );
    let mine = generate(
        &card,
        "MASTER",
        build(&card, &["ECC-PAIR"], &p256, "").expect("a skeleton"),
    );
    card.ask(PkaKeyRecordCreate {
        key_label: label.clone(),
        key_token: mine,
        ..Default::default()
    })
    .expect("a record of that name");
    let is_signed_inside = || {
        let request = DigitalSignatureGenerate {
            rule_array: Rules::of(&["ECDSA"]),
            private_key_identifier: label.clone(),
            hash: [7; 32].into(),
        };
        let Ok(Reply::DigitalSignatureGenerate(made)) = card.ask(request) else {
            return false;
        };
        card.ask(DigitalSignatureVerify {
            rule_array: Rules::of(&["ECDSA"]),
            public_key_identifier: public.clone(),
            hash: [7; 32].into(),
            signature_field: made.signature_field,
        })
        .is_ok()
    };
    assert!(is_signed_inside());
    // Two changes of the master key, with the key re-enciphered between them.
    for _ in 0..2 {
        card.master(&["APKA-MK", "RANDOM"]);
        let change = |register: &str| {
            card.ask(PkaKeyTokenChange {
                rule_array: Rules::of(&[register]),
                key_identifier: label.clone(),
            })
        };
        assert_eq!(change("RTNMK").err(), Some((8, 181)));
        card.master(&["APKA-MK", "SET"]);
        let Ok(Reply::PkaKeyTokenChange(changed)) = change("RTCMK") else {
            panic!("re-enciphered")
        };
        assert_eq!(changed.key_identifier, public, "no private half");
        assert!(is_signed_inside());
    }
}

/// A key under a public one: by a key that is too short, and out again by the verb that decrypts messages.
#[test]
fn keys_under_public_ones_do_not_leave() {
    let card = Card::new();
    let short = [&[4, 0, 0, 128, 0, 3][..], &[0xff; 128], &[1, 0, 1]].concat();
    let short = build(&card, &["RSA-PUBL"], &short.into(), "").expect("a token");
    let make = |public: &Bytes| {
        card.ask(SymmetricKeyGenerate {
            rule_array: Rules::of(&["AES", "PKCSOAEP", "KEYLN16"]),
            rsa_public_key_identifier: public.clone(),
            ..Default::default()
        })
    };
    assert_eq!(make(&short).err(), Some((8, 2149)));
    let rsa = bytes("0800 0000 0003 0000 0000 0000 0000 0000 0000 010001");
    let key = generate(
        &card,
        "MASTER",
        build(&card, &["RSA-CRT", "KM-ONLY"], &rsa, "").expect("a skeleton"),
    );
    let Ok(Reply::SymmetricKeyGenerate(made)) = make(&key) else {
        panic!("a key")
    };
    let request = PkaDecrypt {
        rule_array: Rules::of(&["PKCSOAEP"]),
        enciphered_key: made.rsa_enciphered_key,
        private_key_identifier: key,
        ..Default::default()
    };
    assert_eq!(card.ask(request).err(), Some((8, 90)));
}

/// Lengths that do not fit their fields, and a mask that is held against every label.
#[test]
fn lengths_are_bounded() {
    let card = Card::new();
    for (modulus, exponent) in [
        (0xfff0_u16, 4_u16),
        (0xfff1, 3),
        (0xffff, 0xffff),
        (1025, 3),
        (256, 0xfef0),
    ] {
        let mut structure = [8, 0].to_vec();
        structure.extend_from_slice(&modulus.to_be_bytes());
        structure.extend_from_slice(&exponent.to_be_bytes());
        structure.resize(6 + usize::from(modulus) + usize::from(exponent), 0xff);
        let built = build(&card, &["RSA-PUBL"], &structure.into(), "");
        assert_eq!(built, Err((8, 72)), "{modulus} {exponent}");
    }
    let mut point = bytes("00 00 0100 FFFA").to_vec();
    point.resize(0x1_0000 + 6, 4);
    assert_eq!(build(&card, &["ECC-PUBL"], &point.into(), ""), Err((8, 72)));
    let mask = Bytes::from(vec![b'*'; 65]);
    let lists: [Request; 4] = [
        KeyRecordList {
            key_label: mask.clone(),
        }
        .into(),
        AesKeyRecordList {
            key_label: mask.clone(),
        }
        .into(),
        PkaKeyRecordList {
            key_label: mask.clone(),
            ..Default::default()
        }
        .into(),
        RetainedKeyList {
            key_label_mask: mask,
            ..Default::default()
        }
        .into(),
    ];
    for list in lists {
        assert_eq!(card.ask(list).err(), Some((8, 32)));
    }
}

/// A switch that guards one verb guards its twin.
#[test]
fn switches_guard_twins() {
    let card = Card::new();
    let kek = card.des("EXPORTER", &[], KEK);
    let aes_kek = card.aes(&["AES", "EXPORTER"], &KEK.repeat(2));
    let key = card.des("MAC", &["ANSIX9.9"], KEY);
    let aes = card.aes(&["AES", "MAC", "GENERATE"], KEK);
    let off = |points: &[AccessPoint]| {
        card.administer(AccessPoints {
            enable: AccessPoint::ALL.iter().map(|point| *point as u16).collect(),
            disable: points.iter().map(|point| *point as u16).collect(),
        });
    };
    off(&[AccessPoint::KeyExport]);
    assert_eq!(export(&card, &key, &kek), Err((8, 90)));
    let wrapped = card.ask(SymmetricKeyExport {
        rule_array: Rules::of(&["AESKW"]),
        source_key_identifier: aes.clone(),
        transporter_key_identifier: aes_kek.clone(),
    });
    assert_eq!(wrapped.err(), Some((8, 90)));
    off(&[AccessPoint::Tr31Export]);
    for (key, kek, rules) in [
        (&key, &kek, ["VARDRV-B", "ISOMAC3", "GENVER", "SOURCE-D"]),
        (&aes, &aes_kek, ["VARDRV-D", "CMAC", "GENVER", "SOURCE-A"]),
    ] {
        assert_eq!(block(&card, key, kek, &rules), Err((8, 90)));
    }
    off(&[AccessPoint::PinReformat]);
    let profile = Bytes::from("ISO-0   NONE            ");
    let one = EncryptedPinTranslate {
        input_pin_profile: profile.clone(),
        output_pin_profile: profile.clone(),
        rule_array: Rules::of(&["REFORMAT"]),
        ..Default::default()
    };
    let other = EncryptedPinTranslate2 {
        input_pin_profile: profile.clone(),
        output_pin_profile: profile,
        rule_array: Rules::of(&["REFORMAT"]),
        ..Default::default()
    };
    assert_eq!(card.ask(one).err(), Some((8, 90)));
    assert_eq!(card.ask(other).err(), Some((8, 90)));
    // A key for one end only.
    off(&[]);
    assert_eq!(import(&card, &key, &kek), Err(VIOLATION));
}

thread_local! {
    /// A card, and a token of each sort.
    static TOKENS: (Card, Vec<Bytes>) = {
        let card = Card::new();
        let (exporter, importer) = (card.des("EXPORTER", &[], KEK), card.des("IMPORTER", &[], KEK));
        let p256 = bytes("00 00 0100 0000 0000 0000");
        let mac = card.des("MAC", &["ANSIX9.9"], KEY);
        let pair = generate(&card, "MASTER", build(&card, &["ECC-PAIR"], &p256, "A.NAME").expect("a skeleton"));
        let tokens = vec![
            export(&card, &mac, &exporter).expect("a token"),
            block(&card, &mac, &exporter, &["VARDRV-B", "ISOMAC3", "GENVER"]).expect("a block"),
            card.aes(&["AES", "CIPHER"], KEK),
            card.aes(&["HMAC", "MAC", "GENERATE"], KEK),
            card.des("CIPHER", &[], &[KEY, "23456789ABCDEF01"].concat()),
            card.skeleton("IPINENC", &[]),
            pair, mac, exporter, importer,
        ];
        (card, tokens)
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Tokens that are almost right, in every verb that takes one and at every place of its request: read or refused, never a panic.
    #[test]
    fn changed_tokens_are_read_or_refused(
        which in 0..10_usize, verb in 0..20_usize, cut in proptest::option::of(0..400_usize),
        changes in proptest::collection::vec((0..96_usize, prop_oneof![Just(0_u8), Just(0xff), any::<u8>()]), 0..4),
        repairs in any::<bool>(), more in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        TOKENS.with(|(card, tokens)| {
            let mut token = tokens[which].to_vec();
            for (place, to) in changes {
                let place = place % token.len();
                token[place] = to;
            }
            token.truncate(cut.unwrap_or(token.len()));
            token.extend_from_slice(&more);
            let token = if repairs && token.len() == 64 { checked(token) } else { token.into() };
            let [exporter, importer] = [&tokens[8], &tokens[9]];
            let text = || Bytes::from(vec![b'5'; 64]);
            let profile = || Bytes::from("ISO-0   NONE           F");
            let request: Request = match verb {
                0 => KeyImport { key_type: "TOKEN".into(), source_key_token: token, importer_key_identifier: importer.clone(), ..Default::default() }.into(),
                1 => KeyExport { key_type: "TOKEN".into(), source_key_identifier: token, exporter_key_identifier: exporter.clone(), ..Default::default() }.into(),
                2 => KeyTranslate { input_key_token: token, input_kek_key_identifier: importer.clone(), output_kek_key_identifier: exporter.clone(), ..Default::default() }.into(),
                3 => Tr31Import { rule_array: Rules::of(&["INTERNAL"]), tr31_key_block: token, unwrap_kek_identifier: importer.clone(), ..Default::default() }.into(),
                4 => Tr31Parse { tr31_key_block: token, ..Default::default() }.into(),
                5 => KeyTokenParse { key_token: token }.into(),
                6 => KeyTokenChange { rule_array: Rules::of(&["RTCMK"]), key_identifier: token }.into(),
                7 => KeyTokenChange2 { rule_array: Rules::of(&["RTCMK"]), key_identifier: token }.into(),
                8 => PkaKeyTokenChange { rule_array: Rules::of(&["RTCMK"]), key_identifier: token }.into(),
                9 => KeyTest2 { rule_array: Rules::of(&["AES", "GENERATE"]), key_identifier: token, ..Default::default() }.into(),
                10 => PkaKeyGenerate { rule_array: Rules::of(&["RETAIN"]), skeleton_key_identifier: token, ..Default::default() }.into(),
                11 => PkaPublicKeyExtract { source_key_identifier: token, ..Default::default() }.into(),
                12 => DigitalSignatureGenerate { rule_array: Rules::of(&["ECDSA"]), private_key_identifier: token, hash: text() }.into(),
                13 => KeyGenerate2 { rule_array: Rules::of(&["AES", "OP"]), key_type_1: "TOKEN".into(), generated_key_identifier_1: token, ..Default::default() }.into(),
                14 => KeyGenerate { key_form: "OP".into(), key_type_1: "TOKEN".into(), generated_key_identifier_1: token, ..Default::default() }.into(),
                15 => KeyPartImport2 { rule_array: Rules::of(&["AES", "FIRST"]), clear_key_part: text(), key_identifier: token }.into(),
                16 => MacGenerate { rule_array: Rules::of(&["LAST"]), key_identifier: tokens[7].clone(), chaining_vector: token, text: text() }.into(),
                17 => EncryptedPinVerify { rule_array: Rules::of(&["IBM-PIN"]), pin_profile: profile(), pan_data: token, data_array: text(), ..Default::default() }.into(),
                18 => SymmetricKeyImport2 { rule_array: Rules::of(&["AES", "AESKW"]), enciphered_key: token, transport_key_identifier: tokens[2].clone() }.into(),
                _ => OneWayHash { rule_array: Rules::of(&["SHA-256", "LAST"]), text: text(), chaining_vector: token, hash_length: 32 }.into(),
            };
            let _ = card.ask(request);
        });
    }
}
