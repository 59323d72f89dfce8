//! Keys in tokens: what is generated, imported, exported, rolled and refused.

mod common;

use common::{Card, bytes};
use outboard_cca::*;
use proptest::prelude::*;

const VIOLATION: (u32, u32) = (8, 39);

fn generate(
    card: &Card,
    form: &str,
    types: [&str; 2],
    keks: [&Bytes; 2],
) -> Result<[Bytes; 2], (u32, u32)> {
    let request = KeyGenerate {
        key_form: Keyword::new(form),
        key_length: Keyword::new("DOUBLE"),
        key_type_1: Keyword::new(types[0]),
        key_type_2: Keyword::new(types[1]),
        kek_key_identifier_1: keks[0].clone(),
        kek_key_identifier_2: keks[1].clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::KeyGenerate(keys) => Ok([
            keys.generated_key_identifier_1,
            keys.generated_key_identifier_2,
        ]),
        _ => unreachable!("another verb's reply"),
    }
}

fn import(card: &Card, key_type: &str, source: &Bytes, kek: &Bytes) -> Result<Bytes, (u32, u32)> {
    let request = KeyImport {
        key_type: Keyword::new(key_type),
        source_key_token: source.clone(),
        importer_key_identifier: kek.clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::KeyImport(key) => Ok(key.target_key_identifier),
        _ => unreachable!("another verb's reply"),
    }
}

fn export(card: &Card, key_type: &str, source: &Bytes, kek: &Bytes) -> Result<Bytes, (u32, u32)> {
    let request = KeyExport {
        key_type: Keyword::new(key_type),
        source_key_identifier: source.clone(),
        exporter_key_identifier: kek.clone(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::KeyExport(key) => Ok(key.target_key_token),
        _ => unreachable!("another verb's reply"),
    }
}

const KEK: &str = "0123456789ABCDEF 23456789ABCDEF01";
/// With odd parities.
const KEY: &str = "FEDCBA9876543210 0123456789ABCDEF";

#[test]
fn a_key_of_parts_has_the_check_value_of_the_key() {
    let card = Card::new();
    let token = card.des("DATA", &[], "0123456789ABCDEF FEDCBA9876543210");
    assert_eq!(
        card.check_value(&token),
        "08D7B4",
        "the published value of this test key"
    );
    let pin = card.des("OPINENC", &[], "0123456789ABCDEF FEDCBA9876543210");
    assert_eq!(card.check_value(&pin), "08D7B4");
    let triple = card.des(
        "DATA",
        &[],
        "0123456789ABCDEF FEDCBA9876543210 89ABCDEF01234567",
    );
    assert_ne!(card.check_value(&triple), "08D7B4");
}

#[test]
fn a_key_travels_from_one_card_to_another_with_its_type() {
    for wraps_by_ecb in [false, true] {
        let (here, there) = (Card::new(), Card::new());
        if wraps_by_ecb {
            here.enable(&[AccessPoint::WrapEcb]);
            there.enable(&[AccessPoint::WrapEcb]);
        }
        let exporter = here.des("EXPORTER", &[], KEK);
        let importer = there.des("IMPORTER", &[], KEK);
        for key_type in [
            "DATA", "MAC", "OPINENC", "IPINENC", "PINGEN", "PINVER", "KEYGENKY",
        ] {
            let key = here.des(key_type, &[], KEY);
            let external = export(&here, key_type, &key, &exporter).expect("exportable");
            let imported = import(&there, key_type, &external, &importer).expect("importable");
            assert_eq!(
                here.check_value(&key),
                there.check_value(&imported),
                "{key_type}"
            );
            let other = if key_type == "MAC" { "DATA" } else { "MAC" };
            assert_eq!(
                import(&there, other, &external, &importer),
                Err(VIOLATION),
                "{key_type} as {other}"
            );
        }
    }
}

/// The published wrapping: each half by the key-encrypting key ⊕ its control vector. Computed with Python's `psec`.
#[test]
fn the_original_wrapping_is_the_published_one() {
    let card = Card::new();
    card.enable(&[AccessPoint::WrapEcb]);
    let exporter = card.des("EXPORTER", &[], KEK);
    let key = card.des("MAC", &[], KEY);
    let external = export(&card, "MAC", &key, &exporter).expect("exportable");
    let script = "import sys; from psec.des import encrypt_tdes_ecb as e; from psec.tools import xor\n\
        k, key, l, r = [bytes.fromhex(a) for a in sys.argv[1:]]\n\
        print((e(xor(k, l*2), key[:8]) + e(xor(k, r*2), key[8:])).hex())";
    let arguments = [KEK, KEY, "00054D0003410000", "00054D0003210000"];
    if let Some(wanted) = common::python(script, &arguments) {
        assert_eq!(common::hex(&external[16..32]).to_lowercase(), wanted.trim());
    }
    assert_eq!(
        common::hex(&external[32..48]),
        "00054D000341000000054D0003210000"
    );
}

#[test]
fn generated_pairs_follow_the_published_table() {
    let card = Card::new();
    let none = Bytes::default();
    let (exporter, importer) = (
        card.des("EXPORTER", &[], KEK),
        card.des("IMPORTER", &[], KEK),
    );
    let [mac, other] = generate(&card, "OPOP", ["MAC", "MACVER"], [&none, &none]).expect("a pair");
    assert_eq!(card.check_value(&mac), card.check_value(&other));
    let [out, external] =
        generate(&card, "OPEX", ["OPINENC", "IPINENC"], [&none, &exporter]).expect("a pair");
    let back = import(&card, "IPINENC", &external, &importer).expect("importable");
    assert_eq!(card.check_value(&out), card.check_value(&back));
    generate(&card, "OPEX", ["PINGEN", "PINVER"], [&none, &exporter]).expect("a pair");
    generate(
        &card,
        "IMEX",
        ["EXPORTER", "IMPORTER"],
        [&importer, &exporter],
    )
    .expect("a pair");
    generate(&card, "EXEX", ["DATA", "DATA"], [&exporter, &exporter]).expect("a pair");
    generate(&card, "IM", ["MAC", ""], [&importer, &none]).expect("one key");
    for (form, types, codes) in [
        ("OPOP", ["OPINENC", "IPINENC"], (8, 57)),
        ("OPOP", ["PINGEN", "PINVER"], (8, 57)),
        ("OPOP", ["EXPORTER", "IMPORTER"], (8, 57)),
        ("OPOP", ["DATA", "MAC"], (8, 57)),
        ("OP", ["IPINENC", ""], (8, 57)),
        ("OP", ["NONE", ""], (8, 57)),
        ("ABCD", ["DATA", ""], (8, 41)),
    ] {
        assert_eq!(
            generate(&card, form, types, [&none, &none]),
            Err(codes),
            "{form} {types:?}"
        );
    }
    let wrong = generate(&card, "OPEX", ["OPINENC", "IPINENC"], [&none, &importer]);
    assert_eq!(
        wrong,
        Err(VIOLATION),
        "an importer where an exporter belongs"
    );
}

#[test]
fn a_key_that_must_not_leave_does_not() {
    let card = Card::new();
    let exporter = card.des("EXPORTER", &[], KEK);
    let key = card.des("MAC", &[], KEY);
    let request = ProhibitExport {
        key_identifier: key.clone(),
    };
    let Ok(Reply::ProhibitExport(prohibited)) = card.ask(request) else {
        panic!("prohibited")
    };
    assert_eq!(
        export(&card, "MAC", &prohibited.key_identifier, &exporter),
        Err((8, 181))
    );
    export(&card, "MAC", &key, &exporter).expect("the token before");
    let stays = card.des("MAC", &["NO-XPORT"], KEY);
    assert_eq!(export(&card, "MAC", &stays, &exporter), Err((8, 181)));
    assert_eq!(
        export(&card, "MAC", &key, &stays),
        Err(VIOLATION),
        "a MAC key is no exporter"
    );
}

/// A token whose words are another's, with a checksum that fits: its key is bound to its own words.
#[test]
fn no_token_takes_the_words_of_another() {
    let card = Card::new();
    let tokens = [
        card.des("DATA", &[], KEY),
        card.des("MAC", &[], KEY),
        card.des("MAC", &["NO-XPORT"], KEY),
        card.des("OPINENC", &[], KEY),
        card.des("IPINENC", &[], KEY),
        card.des("PINGEN", &[], KEY),
        card.des("IMPORTER", &[], KEY),
        card.des("EXPORTER", &[], KEY),
    ];
    for own in &tokens {
        for other in &tokens {
            let mut edited = own.to_vec();
            // Version, control vector and length of the other; the wrapped key is its own.
            edited[4] = other[4];
            edited[32..48].copy_from_slice(&other[32..48]);
            edited[59] = other[59];
            let words = edited[..60]
                .chunks(4)
                .map(|word| u32::from_be_bytes([word[0], word[1], word[2], word[3]]));
            let sum = words.fold(0, u32::wrapping_add).to_be_bytes();
            edited[60..].copy_from_slice(&sum);
            let request = KeyTest {
                rule_array: Rules::of(&["KEY-ENC", "GENERATE", "ENC-ZERO"]),
                key_identifier: edited.into(),
                ..Default::default()
            };
            match own == other {
                true => assert!(card.ask(request).is_ok()),
                false => assert_eq!(card.ask(request).err(), Some((8, 29))),
            }
        }
    }
}

#[test]
fn nothing_works_without_a_master_key_and_nobody_enters_one_but_administrators() {
    let card = Card(Coprocessor::new(Box::new(Memory::default())).expect("an empty storage"));
    let none = Bytes::default();
    assert_eq!(
        generate(&card, "OP", ["DATA", ""], [&none, &none]),
        Err((12, 764))
    );
    let request = MasterKeyProcess {
        rule_array: Rules::of(&["SYM-MK", "RANDOM"]),
        ..Default::default()
    };
    assert_eq!(card.ask(request).err(), Some((8, 90)));
    let part = |rules: &[&str], key: &str| {
        let request = MasterKeyProcess {
            rule_array: Rules::of(rules),
            key_part: bytes(key),
        };
        let answer = card.0.dispatch(Caller::ADMINISTRATOR, &request.into());
        (answer.return_code, answer.reason_code)
    };
    let one = "0123456789ABCDEFFEDCBA98765432101122334455667788";
    let two = "8877665544332211011223344556677800112233AABBCCDD";
    assert_eq!(part(&["SYM-MK", "MIDDLE"], one), (8, 703));
    assert_eq!(part(&["SYM-MK", "FIRST"], one), (0, 0));
    assert_eq!(part(&["SYM-MK", "SET"], ""), (8, 703));
    assert_eq!(part(&["SYM-MK", "LAST"], one), (8, 704), "zeros");
    assert_eq!(part(&["SYM-MK", "LAST"], two), (0, 0));
    assert_eq!(part(&["SYM-MK", "SET"], ""), (0, 0));
    generate(&card, "OP", ["DATA", ""], [&none, &none]).expect("a master key");
}

#[test]
fn records_keep_tokens() {
    let card = Card::new();
    let token = card.des("MAC", &[], KEY);
    let label = Bytes::from("SHOP.MAC.1");
    card.ask(KeyRecordCreate {
        key_label: label.clone(),
    })
    .expect("a record");
    assert_eq!(
        card.ask(KeyRecordCreate {
            key_label: label.clone()
        })
        .err(),
        Some((8, 44))
    );
    card.ask(KeyRecordWrite {
        key_token: token.clone(),
        key_label: label.clone(),
    })
    .expect("a record");
    let padded = Bytes::from(format!("{:64}", "shop.mac.1").as_str());
    assert_eq!(card.check_value(&padded), card.check_value(&token));
    let Ok(Reply::KeyRecordList(list)) = card.ask(KeyRecordList {
        key_label: "SHOP.*".into(),
    }) else {
        panic!("a list")
    };
    assert_eq!(list.key_labels, ["SHOP.MAC.1"]);
    let delete = |rules: &[&str]| KeyRecordDelete {
        rule_array: Rules::of(rules),
        key_identifier: label.clone(),
    };
    card.ask(delete(&["LABEL-DL"])).expect("a record");
    assert_eq!(card.ask(delete(&["LABEL-DL"])).err(), Some((8, 30)));
}

#[test]
fn an_aes_key_has_a_token_that_says_its_use() {
    let card = Card::new();
    let key = "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F";
    let token = card.aes(&["AES", "MAC", "CMAC"], key);
    assert_eq!((token[0], token[4]), (1, 5));
    let request = KeyTest2 {
        rule_array: Rules::of(&["AES", "GENERATE", "CMACZERO"]),
        key_identifier: token.clone(),
        ..Default::default()
    };
    let Ok(Reply::KeyTest2(pattern)) = card.ask(request) else {
        panic!("a pattern")
    };
    assert_eq!(pattern.verification_pattern.len(), 5);
    // Every byte of a token is bound, or read, or the answer is another reason: never a key of another use.
    for place in 0..token.len() {
        for bit in [1, 0x80] {
            let mut changed = token.to_vec();
            changed[place] ^= bit;
            let request = KeyTest2 {
                rule_array: Rules::of(&["AES", "VERIFY", "CMACZERO"]),
                key_identifier: changed.into(),
                verification_pattern: pattern.verification_pattern.clone(),
                ..Default::default()
            };
            let answer = card.ask(request);
            // What the header has beside the pattern is not read.
            let is_unread = matches!(place, 1 | 5..=7 | 18..=29);
            assert_eq!(answer.is_ok(), is_unread, "byte {place}: {answer:?}");
        }
    }
}

#[test]
fn generated_aes_keys_come_in_by_an_importer() {
    let card = Card::new();
    let kek = "000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F";
    let exporter = card.aes(&["AES", "EXPORTER"], kek);
    let skeleton = |rules: &[&str]| {
        let rule_array = Rules::of(&[&["INTERNAL", "AES"], rules].concat());
        match card.ask(KeyTokenBuild2 {
            rule_array,
            ..Default::default()
        }) {
            Ok(Reply::KeyTokenBuild2(reply)) => reply.target_key_token,
            other => panic!("no skeleton: {other:?}"),
        }
    };
    let generate = |form: &str, rules: [&[&str]; 2]| {
        card.ask(KeyGenerate2 {
            rule_array: Rules::of(&["AES", form]),
            key_type_1: Keyword::new("TOKEN"),
            key_type_2: Keyword::new("TOKEN"),
            key_encrypting_key_identifier_2: exporter.clone(),
            generated_key_identifier_1: skeleton(rules[0]),
            generated_key_identifier_2: skeleton(rules[1]),
            ..Default::default()
        })
    };
    let pin: [&[&str]; 2] = [&["PINPROT", "ENCRYPT"], &["PINPROT", "DECRYPT"]];
    let Ok(Reply::KeyGenerate2(made)) = generate("OPEX", pin) else {
        panic!("a pair")
    };
    // The exported half comes in where the importer key is, and as nothing else.
    let importer = card.aes(&["AES", "IMPORTER"], kek);
    let import = |token: &Bytes, importer: &Bytes| {
        let request = SymmetricKeyImport2 {
            rule_array: Rules::of(&["AES", "AESKW"]),
            enciphered_key: token.clone(),
            transport_key_identifier: importer.clone(),
        };
        match card.ask(request) {
            Ok(Reply::SymmetricKeyImport2(reply)) => Ok(reply.target_key_identifier),
            Ok(_) => unreachable!("another verb's reply"),
            Err(codes) => Err(codes),
        }
    };
    let external = &made.generated_key_identifier_2;
    assert_eq!(external[0], 2);
    let back = import(external, &importer).expect("our own token");
    let pattern = |key_identifier: &Bytes| {
        let rule_array = Rules::of(&["AES", "GENERATE", "SHA-256"]);
        match card.ask(KeyTest2 {
            rule_array,
            key_identifier: key_identifier.clone(),
            ..Default::default()
        }) {
            Ok(Reply::KeyTest2(reply)) => reply.verification_pattern,
            other => panic!("no pattern: {other:?}"),
        }
    };
    assert_eq!(pattern(&back), pattern(&made.generated_key_identifier_1));
    assert_eq!(import(external, &exporter), Err(VIOLATION));
    for place in [8, 42, 45, 46, 50, 60, external.len() - 1] {
        let mut changed = external.to_vec();
        changed[place] ^= 0x40;
        assert!(import(&changed.into(), &importer).is_err(), "byte {place}");
    }
    let request = SymmetricKeyExport {
        rule_array: Rules::of(&["AESKW"]),
        source_key_identifier: back,
        transporter_key_identifier: exporter.clone(),
    };
    let Ok(Reply::SymmetricKeyExport(again)) = card.ask(request) else {
        panic!("exportable")
    };
    assert_eq!(again.enciphered_key, *external);
    assert_eq!(
        generate("OPOP", pin).err(),
        Some((8, 57)),
        "both ends in one card"
    );
    assert_eq!(
        generate("OPOP", [&["CIPHER"], &["MAC"]]).err(),
        Some((8, 57))
    );
    generate("OPOP", [&["CIPHER", "ENCRYPT"], &["CIPHER", "DECRYPT"]]).expect("a pair");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever comes as a request or as an answer is read or refused. What is read is carried out or refused.
    #[test]
    fn drawn_bytes_are_read_or_refused(verb in 0..100_u8, bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        thread_local!(static CARD: Card = Card::new());
        let message = [&[verb][..], &bytes].concat();
        let _ = Answer::decode(&bytes);
        if let Ok(request) = Request::decode(&message) {
            let answer = CARD.with(|card| card.0.dispatch(Caller::USER, &request));
            assert!(matches!(answer.return_code, 0 | 4 | 8 | 12), "{}", request.name());
        }
    }

    /// No token but the one that was made yields a key: any change of any bytes is refused.
    #[test]
    fn a_changed_des_token_is_refused(changes in proptest::collection::vec((0..64_usize, 1..=255_u8), 1..4)) {
        thread_local! {
            static CARD: (Card, Vec<Bytes>) = {
                let card = Card::new();
                let keys = ["DATA", "MAC", "IPINENC", "IMPORTER"].map(|of| card.des(of, &[], KEY));
                (card, keys.to_vec())
            };
        }
        CARD.with(|(card, tokens)| {
            for token in tokens {
                let value = card.check_value(token);
                let mut changed = token.to_vec();
                changes.iter().for_each(|(place, bits)| changed[*place] ^= bits);
                if changed == token[..] {
                    continue;
                }
                let request = KeyTest {
                    rule_array: Rules::of(&["KEY-ENC", "GENERATE", "ENC-ZERO"]),
                    key_identifier: changed.clone().into(),
                    ..Default::default()
                };
                if let Ok(Reply::KeyTest(reply)) = card.ask(request) {
                    // The same key and the same words: only bytes that say nothing differ, and the checksum fits.
                    assert_eq!(common::hex(&reply.verification_pattern[..3]), value);
                    assert_eq!(changed[16..59], token[16..59]);
                }
            }
        });
    }

    /// A parser of hostile bytes answers, whatever they are.
    #[test]
    fn drawn_bytes_are_no_token(
        mut token in proptest::collection::vec(any::<u8>(), 0..200),
        kind in prop_oneof![Just(0_u8), Just(1), Just(2), Just(0x1e), Just(0x1f)],
        version in 0..6_u8,
    ) {
        thread_local!(static CARD: Card = Card::new());
        for (place, byte) in [(0, kind), (4, version)] {
            if let Some(found) = token.get_mut(place) {
                *found = byte;
            }
        }
        CARD.with(|card| {
            let key = Bytes::from(token.clone());
            let des = KeyTest { rule_array: Rules::of(&["KEY-ENC", "GENERATE", "ENC-ZERO"]), key_identifier: key.clone(), ..Default::default() };
            assert!(card.ask(des).is_err());
            let aes = KeyTest2 { rule_array: Rules::of(&["AES", "GENERATE"]), key_identifier: key.clone(), ..Default::default() };
            assert!(card.ask(aes).is_err());
            let _ = card.ask(KeyTokenParse { key_token: key });
        });
    }
}

/// A label is its maker's. What an administrator made, everybody uses, and nobody else changes.
#[test]
fn a_users_labels_are_not_there_for_others() {
    let card = Coprocessor::new(Box::new(Memory::default())).unwrap();
    let user = |user| Caller {
        administrator: false,
        user,
    };
    let codes = |caller, request: Request| {
        let answer = card.dispatch(caller, &request);
        (answer.return_code, answer.reason_code)
    };
    let create = |label: &str| {
        Request::from(KeyRecordCreate {
            key_label: label.into(),
        })
    };
    let read = |label: &str| {
        Request::from(KeyRecordRead {
            key_label: label.into(),
        })
    };
    let delete = |label: &str| {
        Request::from(KeyRecordDelete {
            rule_array: Rules(vec!["LABEL-DL".into()]),
            key_identifier: label.into(),
        })
    };
    assert_eq!(codes(user(1), create("OWN")), (0, 0));
    assert_eq!(codes(user(2), read("OWN")), (8, 30));
    assert_eq!(codes(user(2), delete("OWN")), (8, 30));
    assert_eq!(codes(user(2), create("OWN")), (0, 0), "another record");
    assert_eq!(codes(user(2), delete("OWN")), (0, 0));
    assert_eq!(codes(user(1), read("OWN")), (0, 0), "still there");

    assert_eq!(codes(Caller::ADMINISTRATOR, create("SHARED")), (0, 0));
    assert_eq!(codes(user(2), read("SHARED")), (0, 0));
    assert_eq!(codes(user(2), create("SHARED")), (8, 44));
    assert_eq!(codes(user(2), delete("SHARED")), (8, 90));
    assert_eq!(codes(Caller::ADMINISTRATOR, read("OWN")), (8, 30));

    // One user does not fill the card.
    let made = (0..2_000).take_while(|number| {
        let label = format!("LABEL{number}");
        codes(user(3), create(&label)) == (0, 0)
    });
    assert_eq!(made.count(), 1_000);
    assert_eq!(codes(user(1), create("ANOTHER")), (0, 0));
}
