//! CMACs and HMACs of texts in parts, and codes of nothing.

mod common;

use common::{Card, bytes, hex};
use outboard_cca::*;

const AES: &str = "2b7e151628aed2a6abf7158809cf4f3c";
const TDES: &str = "0123456789ABCDEF 23456789ABCDEF01";

/// A kind of code: its rules, the length of its blocks, a key.
struct Kind {
    rules: &'static [&'static str],
    block: usize,
    key: Bytes,
    is_hmac: bool,
}

fn kinds(card: &Card) -> Vec<Kind> {
    let hmac = card.aes(&["HMAC", "MAC", "GENERATE"], &"0b".repeat(20));
    let kind = |rules, block, key: &Bytes, is_hmac| Kind {
        rules,
        block,
        key: key.clone(),
        is_hmac,
    };
    vec![
        kind(
            &["AES"],
            16,
            &card.aes(&["AES", "MAC", "GENERATE"], AES),
            false,
        ),
        kind(&["TDES"], 8, &card.des("MAC", &[], TDES), false),
        kind(&["HMAC", "SHA-1"], 64, &hmac, true),
        kind(&["HMAC", "SHA-256"], 64, &hmac, true),
        kind(&["HMAC", "SHA-512"], 128, &hmac, true),
    ]
}

/// The chaining vector and the code of a part.
fn part(
    card: &Card,
    kind: &Kind,
    segment: &str,
    text: &[u8],
    chaining: &Bytes,
) -> Result<(Bytes, Bytes), (u32, u32)> {
    let rule_array = Rules::of(&[kind.rules, &[segment]].concat());
    let (key_identifier, message_text) = (kind.key.clone(), text.into());
    let chaining_vector = chaining.clone();
    match kind.is_hmac {
        false => match card.ask(MacGenerate2 {
            rule_array,
            key_identifier,
            message_text,
            chaining_vector,
        })? {
            Reply::MacGenerate2(reply) => Ok((reply.chaining_vector, reply.mac_text)),
            _ => unreachable!("another verb's reply"),
        },
        true => match card.ask(HmacGenerate {
            rule_array,
            key_identifier,
            message_text,
            chaining_vector,
        })? {
            Reply::HmacGenerate(reply) => Ok((reply.chaining_vector, reply.mac_text)),
            _ => unreachable!("another verb's reply"),
        },
    }
}

fn verify(
    card: &Card,
    kind: &Kind,
    segment: &str,
    text: &[u8],
    chaining: &Bytes,
    code: &Bytes,
) -> Result<Bytes, (u32, u32)> {
    let rule_array = Rules::of(&[kind.rules, &[segment]].concat());
    let (key_identifier, message_text) = (kind.key.clone(), text.into());
    let (chaining_vector, mac_text) = (chaining.clone(), code.clone());
    let reply = match kind.is_hmac {
        false => card.ask(MacVerify2 {
            rule_array,
            key_identifier,
            message_text,
            chaining_vector,
            mac_text,
        })?,
        true => card.ask(HmacVerify {
            rule_array,
            key_identifier,
            message_text,
            chaining_vector,
            mac_text,
        })?,
    };
    match reply {
        Reply::MacVerify2(reply) => Ok(reply.chaining_vector),
        Reply::HmacVerify(reply) => Ok(reply.chaining_vector),
        _ => unreachable!("another verb's reply"),
    }
}

/// The code of a whole is compared with the standards' elsewhere.
#[test]
fn parts_make_the_code_of_the_whole() {
    let card = Card::new();
    let text: Vec<u8> = (0..1000_u32).map(|number| (number * 7) as u8).collect();
    let none = Bytes::default();
    for kind in &kinds(&card) {
        for length in [0, 5, 2 * kind.block, 1000] {
            let text = &text[..length];
            let (_, whole) = part(&card, kind, "ONLY", text, &none).expect("a code");
            let (one, rest) = text.split_at(length.min(kind.block));
            let (two, three) = rest.split_at(rest.len() / kind.block / 2 * kind.block);
            let one = if one.len() < kind.block { &[][..] } else { one };
            let three = if one.is_empty() { text } else { three };
            let (chaining, code) = part(&card, kind, "FIRST", one, &none).expect("a part");
            assert_eq!((chaining.len(), code.len()), (128, 0));
            let (chaining, _) = part(&card, kind, "MIDDLE", two, &chaining).expect("a part");
            let (last, code) = part(&card, kind, "LAST", three, &chaining).expect("a code");
            assert_eq!(hex(&code), hex(&whole), "{:?} {length}", kind.rules);
            assert_eq!(last, Bytes::from([0; 128]), "nothing is left");

            let first = verify(&card, kind, "FIRST", one, &none, &none).expect("a part");
            let middle = verify(&card, kind, "MIDDLE", two, &first, &none).expect("a part");
            assert!(verify(&card, kind, "LAST", three, &middle, &whole).is_ok());
            let mut wrong = whole.to_vec();
            wrong[0] ^= 1;
            let answer = verify(&card, kind, "LAST", three, &middle, &wrong.into());
            assert_eq!(answer.err(), Some((4, 1)));
        }
        assert_eq!(
            part(&card, kind, "FIRST", &text[..kind.block + 1], &none).err(),
            Some((8, 25)),
            "no whole blocks"
        );
    }
}

/// A chaining vector belongs to its key and its method. It says nothing, and a changed one is none.
#[test]
fn a_state_between_parts_is_no_other_keys() {
    let card = Card::new();
    let kinds = kinds(&card);
    let text = [7; 128];
    let none = Bytes::default();
    for kind in &kinds {
        let (chaining, _) = part(&card, kind, "FIRST", &text, &none).expect("a part");
        for other in kinds.iter().filter(|other| other.rules != kind.rules) {
            let answer = part(&card, other, "LAST", &text, &chaining);
            assert!(
                matches!(answer, Err((8, 159))),
                "{:?} {:?}",
                kind.rules,
                other.rules
            );
        }
        for place in 0..80 {
            let mut changed = chaining.to_vec();
            changed[place] ^= 0x80;
            let is_padding = chaining[place..].iter().all(|byte| *byte == 0);
            let answer = part(&card, kind, "LAST", &text, &changed.into());
            assert!(is_padding || answer.is_err(), "{:?} {place}", kind.rules);
        }
        for chaining in [none.clone(), vec![0; 10].into(), vec![9; 128].into()] {
            assert!(part(&card, kind, "LAST", &text, &chaining).is_err());
        }
    }
    // Another key of the same kind.
    let aes = &kinds[0];
    let (chaining, _) = part(&card, aes, "FIRST", &text, &none).expect("a part");
    let other = Kind {
        key: card.aes(&["AES", "MAC", "GENERATE"], &"77".repeat(16)),
        rules: aes.rules,
        ..*aes
    };
    assert_eq!(
        part(&card, &other, "LAST", &text, &chaining).err(),
        Some((8, 159))
    );
    // The inner chain is not in it: AES-CBC of zeros.
    let state = bytes("7df76b0c1ab899b33e42f047b91b546f");
    assert!(!chaining.windows(16).any(|window| *window == *state));
}

/// The code of an empty text was zeros with every key.
#[test]
fn nothing_has_a_code_of_its_key() {
    let card = Card::new();
    let keys = ["FEDCBA9876543210 0123456789ABCDEF", TDES].map(|key| card.des("MAC", &[], key));
    for rule in ["X9.19OPT", "TDES-MAC", "EMVMACD"] {
        let codes = keys.each_ref().map(|key| {
            let mut chaining_vector = Bytes::default();
            let mut code = Bytes::default();
            for part in ["FIRST", "LAST"] {
                let request = MacGenerate {
                    key_identifier: key.clone(),
                    rule_array: Rules::of(&[rule, part, "MACLEN8"]),
                    chaining_vector,
                    ..Default::default()
                };
                let Ok(Reply::MacGenerate(made)) = card.ask(request) else {
                    panic!("{rule} {part}")
                };
                (chaining_vector, code) = (made.chaining_vector, made.mac);
            }
            code.to_vec()
        });
        assert_ne!(codes[0], codes[1], "{rule}");
        assert_ne!(codes[0], [0; 8], "{rule}");
    }
    let single = card.des("MAC", &[], "FEDCBA9876543210");
    let request = MacVerify {
        key_identifier: single,
        mac: [0; 8].into(),
        rule_array: Rules::of(&["X9.9-1", "MACLEN8"]),
        ..Default::default()
    };
    assert_eq!(card.ask(request).err(), Some((4, 1)));
}
