//! What the card tells of itself, as programs of others ask it (openCryptoki), and AES keys as they make them.

mod common;

use common::{Card, hex};
use outboard_cca::*;

fn query(card: &Card, what: &str) -> (Vec<String>, Bytes) {
    let request = CryptoFacilityQuery {
        rule_array: Rules::of(&[what]),
        verb_data: Bytes::default(),
    };
    match card.ask(request) {
        Ok(Reply::CryptoFacilityQuery(reply)) => {
            let words = reply.rule_array.0.iter().map(|word| word.text().to_owned());
            (words.collect(), reply.verb_data)
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn patterns_of_master_keys_are_where_the_publication_has_them() {
    let card = Card::new();
    card.master(&["AES-MK", "RANDOM"]);
    let (_, ours) = query(&card, "STATMKVP");
    let (words, data) = query(&card, "STATICSB");
    assert!(words.is_empty());
    // Kind, register (new, current, old), the place of the block.
    for (kind, register, place, number) in [
        (0, 1, 132, "000C0F07"),
        (0, 0, 144, "000C0F06"),
        (1, 1, 180, "000C0F0B"),
        (1, 0, 192, "000C0F0A"),
        (3, 1, 216, "000C0F0E"),
        (3, 0, 228, "000C0F0D"),
    ] {
        let pattern = &ours[8 * (3 * kind + register)..][..8];
        assert_eq!(hex(&data[place..place + 4]), number);
        assert_eq!(data[place + 4..place + 12], *pattern, "{number}");
    }
    let (words, _) = query(&card, "STATCRD2");
    assert_eq!(
        (words.len(), &words[0][..], &words[14][..]),
        (15, "1", "OUTBOARD")
    );
    assert_eq!(query(&card, "DOM-NUMS").1, Bytes::from([0, 0, 0, 1]));
    assert_eq!(query(&card, "DOM-USAG").1, Bytes::from([0; 4]));
    // The fourth word of STATCCA is a version.
    let (words, _) = query(&card, "STATCCA");
    assert!(words[3].starts_with("8."), "{words:?}");
    for request in [
        Request::from(ResourceAllocate {
            rule_array: Rules::of(&["DEVICE"]),
            resource_name: "CRP01".into(),
        }),
        Request::from(ResourceDeallocate {
            rule_array: Rules::of(&["DEVICE"]),
            resource_name: "CRP01".into(),
        }),
    ] {
        assert!(card.ask(request).is_ok());
    }
}

/// CSNBKGN makes AES DATA keys, of the length that it is asked for or that a skeleton says.
#[test]
fn aes_data_keys_are_made_by_the_older_verb() {
    let card = Card::new();
    let generate = |form: &str, of: &str, length: &str, target: &Bytes| {
        let request = KeyGenerate {
            key_form: form.into(),
            key_length: length.into(),
            key_type_1: of.into(),
            generated_key_identifier_1: target.clone(),
            ..Default::default()
        };
        match card.ask(request)? {
            Reply::KeyGenerate(reply) => Ok(reply.generated_key_identifier_1),
            _ => unreachable!("another verb's reply"),
        }
    };
    let none = Bytes::default();
    let skeleton = |length: &str| {
        let request = KeyTokenBuild {
            key_type: "DATA".into(),
            rule_array: Rules::of(&["INTERNAL", "AES", "NO-KEY", length]),
            ..Default::default()
        };
        match card.ask(request) {
            Ok(Reply::KeyTokenBuild(reply)) => reply.key_token,
            other => panic!("{other:?}"),
        }
    };
    for (length, bits) in [("KEYLN16", 128), ("KEYLN24", 192), ("KEYLN32", 256)] {
        let key = generate("OP", "AESDATA", length, &none).expect("a key");
        assert_eq!(u16::from_be_bytes([key[56], key[57]]), bits);
        let key = generate("OP", "AESTOKEN", "", &skeleton(length)).expect("a key");
        assert_eq!(u16::from_be_bytes([key[56], key[57]]), bits);
        let request = SymmetricEncipher {
            rule_array: Rules::of(&["AES", "ECB"]),
            key_identifier: key,
            cleartext: [7; 16].into(),
            ..Default::default()
        };
        assert!(card.ask(request).is_ok());
    }
    assert_eq!(generate("OP", "AESTOKEN", "", &none), Err((8, 43)));
    assert_eq!(generate("OPOP", "AESDATA", "KEYLN16", &none), Err((8, 41)));
}
