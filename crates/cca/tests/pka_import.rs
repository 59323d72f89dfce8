//! Private keys that come in the clear (CSNDPKB, CSNDPKI), and the keys that the card keeps opened.

mod common;

use common::{Card, bytes, hex};
use outboard_cca::*;

fn build(card: &Card, rules: &[&str], structure: &[u8]) -> Result<Bytes, (u32, u32)> {
    match card.ask(PkaKeyTokenBuild {
        rule_array: Rules::of(rules),
        key_value_structure: structure.into(),
        private_key_name: Bytes::default(),
    })? {
        Reply::PkaKeyTokenBuild(reply) => Ok(reply.key_token),
        _ => unreachable!("another verb's reply"),
    }
}

fn import(card: &Card, rules: &[&str], token: &Bytes) -> Result<Bytes, (u32, u32)> {
    match card.ask(PkaKeyImport {
        rule_array: Rules::of(rules),
        source_key_token: token.clone(),
        importer_key_identifier: [0; 64].into(),
    })? {
        Reply::PkaKeyImport(reply) => Ok(reply.target_key_identifier),
        _ => unreachable!("another verb's reply"),
    }
}

fn sign(card: &Card, key: &Bytes, rules: &[&str], hash: &[u8]) -> Result<Bytes, (u32, u32)> {
    match card.ask(DigitalSignatureGenerate {
        rule_array: Rules::of(rules),
        private_key_identifier: key.clone(),
        hash: hash.into(),
    })? {
        Reply::DigitalSignatureGenerate(reply) => Ok(reply.signature_field),
        _ => unreachable!("another verb's reply"),
    }
}

fn is_verified(card: &Card, key: &Bytes, rules: &[&str], hash: &[u8], signature: &Bytes) -> bool {
    card.ask(DigitalSignatureVerify {
        rule_array: Rules::of(rules),
        public_key_identifier: key.clone(),
        hash: hash.into(),
        signature_field: signature.clone(),
    })
    .is_ok()
}

/// An RSA key of 2,048 bits, which OpenSSL made: n, e, p, q, dp, dq, u.
fn rsa() -> [Bytes; 7] {
    let text = include_str!("rsa-2048.txt");
    let numbers: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(bytes)
        .collect();
    numbers.try_into().expect("seven numbers")
}

/// The key value structure of an RSA key with all its numbers.
fn structure(numbers: &[Bytes; 7]) -> Vec<u8> {
    let [n, e, secret @ ..] = numbers;
    let mut structure = vec![8, 0];
    for length in [n.len(), e.len(), 0] {
        structure.extend_from_slice(&(length as u16).to_be_bytes());
    }
    for number in secret {
        structure.extend_from_slice(&(number.len() as u16).to_be_bytes());
    }
    numbers
        .iter()
        .for_each(|number| structure.extend_from_slice(number));
    structure
}

#[test]
fn an_rsa_key_comes_in_and_is_bound_to_its_use() {
    let card = Card::new();
    let numbers = rsa();
    let clear = build(&card, &["RSA-CRT", "KEY-MGMT"], &structure(&numbers)).expect("a token");
    // As published: external, in the clear, the numbers from 132 on.
    assert_eq!((clear[0], clear[8], clear[8 + 28]), (0x1e, 0x08, 0x40));
    assert_eq!(clear[8 + 132..8 + 132 + 128], numbers[2][..]);
    // In the clear it is no key of the card.
    let digest = [5; 51];
    assert_eq!(sign(&card, &clear, &["PKCS-1.1"], &digest), Err((8, 182)));
    let key = import(&card, &["RSA"], &clear).expect("a key");
    assert_eq!(key[0], 0x1f);
    for secret in &numbers[2..] {
        let part = &secret[..32];
        assert!(
            !key.windows(32).any(|window| window == part),
            "in the clear"
        );
    }
    let public = build(&card, &["RSA-PUBL"], &{
        let [n, e, ..] = &numbers;
        [&[8, 0, 1, 0, 0, 3][..], n, e].concat()
    });
    let public = public.expect("a token");
    let signature = sign(&card, &key, &["PKCS-1.1"], &digest).expect("a signature");
    assert!(is_verified(
        &card,
        &public,
        &["PKCS-1.1"],
        &digest,
        &signature
    ));

    // A key that decrypts does not sign.
    let clear = build(&card, &["RSA-CRT", "KM-ONLY"], &structure(&numbers)).expect("a token");
    let decrypts = import(&card, &[], &clear).expect("a key");
    assert_eq!(sign(&card, &decrypts, &["PKCS-1.1"], &digest), Err((8, 39)));
    // A use that was changed in the token is not that of the key.
    let mut changed = decrypts.to_vec();
    changed[8 + 50] = 0x80;
    assert_eq!(
        sign(&card, &changed.into(), &["PKCS-1.1"], &digest),
        Err((8, 29))
    );
    assert_eq!(import(&card, &["ECC"], &clear), Err((8, 34)));
    card.administer(AccessPoints {
        enable: Vec::new(),
        disable: vec![AccessPoint::PkaKeyImport as u16],
    });
    assert_eq!(import(&card, &["RSA"], &clear), Err((8, 90)));
}

/// RSA-AESC: the same key under APKA-MK, in a section of its own.
#[test]
fn an_rsa_key_is_under_the_other_master_key_too() {
    let card = Card::new();
    let numbers = rsa();
    let clear = build(&card, &["RSA-AESC", "KEY-MGMT"], &structure(&numbers)).expect("a token");
    assert_eq!((clear[8], clear[8 + 11]), (0x31, 0x40));
    let key = import(&card, &[], &clear).expect("a key");
    // What openCryptoki reads of it: the modulus.
    assert_eq!((key[8], key[8 + 62], key[8 + 63]), (0x31, 1, 0));
    assert_eq!(key[8 + 134..8 + 134 + 256], numbers[0][..]);
    let digest = [5; 51];
    let signature = sign(&card, &key, &["PKCS-1.1"], &digest).expect("a signature");
    assert!(is_verified(&card, &key, &["PKCS-1.1"], &digest, &signature));
    // A section of the other kind, of the same key: it does not open.
    let other = build(&card, &["RSA-CRT", "KEY-MGMT"], &structure(&numbers)).expect("a token");
    let other = import(&card, &[], &other).expect("a key");
    let (secret, other_secret) = (&key[8 + 134 + 256..], &other[8 + 124..]);
    let length = usize::from(u16::from_be_bytes([key[10], key[11]])) - 134 - 256;
    let mut mixed = other.to_vec();
    mixed[8 + 124..8 + 124 + length].copy_from_slice(&secret[..length]);
    mixed[8 + 76..8 + 84].copy_from_slice(&key[8 + 116..8 + 124]);
    assert!(sign(&card, &mixed.into(), &["PKCS-1.1"], &digest).is_err());
    assert_ne!(secret[..length], other_secret[..length]);
    // It follows APKA-MK.
    card.master(&["ASYM-MK", "RANDOM"]);
    card.master(&["ASYM-MK", "SET"]);
    card.master(&["ASYM-MK", "CLR-OLD"]);
    assert!(sign(&card, &key, &["PKCS-1.1"], &digest).is_ok());
    card.master(&["APKA-MK", "RANDOM"]);
    card.master(&["APKA-MK", "SET"]);
    let request = PkaKeyTokenChange {
        rule_array: Rules::of(&["RTCMK"]),
        key_identifier: key.clone(),
    };
    let Ok(Reply::PkaKeyTokenChange(changed)) = card.ask(request) else {
        panic!("not changed")
    };
    card.master(&["APKA-MK", "CLR-OLD"]);
    assert_eq!(sign(&card, &key, &["PKCS-1.1"], &digest), Err((8, 24)));
    assert_eq!(
        sign(&card, &changed.key_identifier, &["PKCS-1.1"], &digest),
        Ok(signature)
    );
}

/// Numbers that do not belong together, or are missing, are no key.
#[test]
fn no_key_comes_of_wrong_numbers() {
    let card = Card::new();
    for wrong in 0..7 {
        let mut numbers = rsa();
        numbers[wrong][1] ^= 4;
        let token = build(&card, &["RSA-CRT"], &structure(&numbers)).expect("a token");
        assert!(import(&card, &["RSA"], &token).is_err(), "{wrong}");
    }
    let numbers = rsa();
    let whole = structure(&numbers);
    assert!(build(&card, &["RSA-CRT"], &whole[..whole.len() - 1]).is_err());
    let token = build(&card, &["RSA-CRT"], &whole).expect("a token");
    // Each byte of the header and of the lengths, changed: refused, or another name for the same key.
    for place in 0..8 + 132 {
        let mut changed = token.to_vec();
        changed[place] ^= 0x41;
        if let Ok(key) = import(&card, &[], &changed.into()) {
            assert_eq!(key[0], 0x1f, "{place}");
        }
    }
    // A skeleton has no key, a token of the card none in the clear, a public one none at all.
    let skeleton = build(
        &card,
        &["RSA-CRT"],
        &bytes("0800 0000 0003 0000 0000 0000 0000 0000 0000 010001"),
    );
    assert_eq!(
        import(&card, &[], &skeleton.expect("a token")),
        Err((8, 49))
    );
    let own = import(&card, &[], &token).expect("a key");
    assert_eq!(import(&card, &[], &own), Err((8, 49)));
    let mut pretended = own.to_vec();
    pretended[8 + 28] = 0x40;
    assert!(import(&card, &[], &pretended.into()).is_err());
}

/// Numbers that are longer than the modulus lets them be are not computed with: a token of the longest p and q took minutes, and kept
/// everybody's verbs waiting.
#[test]
fn numbers_that_are_too_long_are_refused() {
    let card = Card::new();
    for wrong in 1..7 {
        let mut numbers = rsa();
        // Zeros before it: the same number, so only its length is wrong.
        let zeros = vec![0; if wrong == 1 { 6 } else { 2 }];
        numbers[wrong] = [&zeros[..], &numbers[wrong]].concat().into();
        let token = build(&card, &["RSA-CRT"], &structure(&numbers)).expect("a token");
        assert_eq!(import(&card, &["RSA"], &token), Err((8, 11000)), "{wrong}");
    }
    assert!(Description::of("CSNDPKI").expect("a verb").takes_long());
}

/// The example of RFC 6979, A.2.5, and of P-384 and P-521: a number and its point.
#[test]
fn keys_on_curves_come_in() {
    let card = Card::new();
    let d = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721";
    let point = "04 60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6\
                 7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299";
    let structure = bytes(&format!("0000 0100 0020 0041 {d} {point}"));
    let clear = build(&card, &["ECC-PAIR", "SIG-ONLY"], &structure).expect("a token");
    let key = import(&card, &["ECC"], &clear).expect("a key");
    let d = bytes(d);
    assert!(!key.windows(32).any(|window| *window == *d), "in the clear");
    let public = build(
        &card,
        &["ECC-PUBL"],
        &bytes(&format!("0000 0100 0041 {point}")),
    );
    let public = public.expect("a token");
    let signature = sign(&card, &key, &["ECDSA"], &[9; 32]).expect("a signature");
    assert!(is_verified(
        &card,
        &public,
        &["ECDSA"],
        &[9; 32],
        &signature
    ));
    // Of another point, of no number below the order, of a number that is too long.
    let mut other = structure.to_vec();
    other[20] ^= 1;
    let token = build(&card, &["ECC-PAIR"], &other).expect("a token");
    assert!(import(&card, &["ECC"], &token).is_err());
    let zero = bytes(&format!("0000 0100 0020 0000 {}", "00".repeat(32)));
    let token = build(&card, &["ECC-PAIR"], &zero).expect("a token");
    assert!(import(&card, &["ECC"], &token).is_err());
    // Brainpool's curves are of type 1; P-192 is too small.
    for (other, codes) in [
        ("0100 0100 0000 0000", (8, 6015)),
        ("0000 00C0 0000 0000", (8, 6017)),
    ] {
        assert_eq!(build(&card, &["ECC-PAIR"], &bytes(other)), Err(codes));
    }
    let long = bytes(&format!("0000 0100 0021 0000 {}", "01".repeat(33)));
    let token = build(&card, &["ECC-PAIR"], &long).expect("a token");
    assert!(import(&card, &["ECC"], &token).is_err());
}

/// A key that was used is found again, and only by its own token under a master key that the card has.
#[test]
fn an_opened_key_is_no_other_tokens() {
    let card = Card::new();
    let clear = build(&card, &["RSA-CRT", "SIG-ONLY"], &structure(&rsa())).expect("a token");
    let key = import(&card, &[], &clear).expect("a key");
    let signed = |key: &Bytes| sign(&card, key, &["PKCS-1.1"], &[5; 51]);
    let signature = signed(&key).expect("a signature");
    assert_eq!(signed(&key), Ok(signature.clone()), "found again");
    // Each byte of what is bound, or wrapped.
    for place in [0, 8, 8 + 50, 8 + 77, 8 + 124, 8 + 700, key.len() - 1] {
        let mut changed = key.to_vec();
        changed[place] ^= 0xc0;
        assert_ne!(signed(&changed.into()), Ok(signature.clone()), "{place}");
    }
    // The old master key still opens it. Once that is gone, nothing does.
    card.master(&["ASYM-MK", "RANDOM"]);
    card.master(&["ASYM-MK", "SET"]);
    assert_eq!(signed(&key), Ok(signature));
    card.master(&["ASYM-MK", "CLR-OLD"]);
    assert_eq!(signed(&key), Err((8, 24)));
    assert_eq!(hex(&key[..1]), "1F");
}
