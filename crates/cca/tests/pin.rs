//! PINs: published vectors, and attacks that must fail.

mod common;

use std::sync::Arc;

use common::{Card, bytes, hex};
use outboard_cca::*;
use proptest::prelude::*;

const KEY: &str = "FEDCBA9876543210 0123456789ABCDEF";
const BASE: &str = "0123456789ABCDEF FEDCBA9876543210";
/// The twelve digits before the check digit of 4012345678909.
const PAN: &str = "401234567890";
const ISO_0: &str = "ISO-0   NONE           F";

fn derived(profile: &str, serial: &str) -> Bytes {
    format!("{profile}{serial:24}").as_str().into()
}

fn encrypt(
    card: &Card,
    key: &Bytes,
    pin: &str,
    profile: &str,
    pan: &str,
) -> Result<Bytes, (u32, u32)> {
    let request = ClearPinEncrypt {
        pin_encrypting_key_identifier: key.clone(),
        clear_pin: format!("{pin:16}").as_str().into(),
        pin_profile: profile.into(),
        pan_data: pan.into(),
        ..Default::default()
    };
    match card.ask(request)? {
        Reply::ClearPinEncrypt(reply) => Ok(reply.encrypted_pin_block),
        _ => unreachable!("another verb's reply"),
    }
}

struct Translation<'a> {
    keys: [&'a Bytes; 2],
    profiles: [Bytes; 2],
    pans: [&'a str; 2],
    block: &'a Bytes,
    rules: &'a [&'a str],
}

fn translate(card: &Card, of: Translation<'_>) -> Result<Bytes, (u32, u32)> {
    let request = EncryptedPinTranslate {
        input_pin_encrypting_key_identifier: of.keys[0].clone(),
        output_pin_encrypting_key_identifier: of.keys[1].clone(),
        input_pin_profile: of.profiles[0].clone(),
        output_pin_profile: of.profiles[1].clone(),
        pan_data_in: of.pans[0].into(),
        pan_data_out: of.pans[1].into(),
        pin_block_in: of.block.clone(),
        rule_array: Rules::of(of.rules),
        sequence_number: 0,
    };
    match card.ask(request)? {
        Reply::EncryptedPinTranslate(reply) => Ok(reply.pin_block_out),
        _ => unreachable!("another verb's reply"),
    }
}

/// A card on which both ends of a key are there, as only a test has them.
fn card() -> Card {
    let card = Card::new();
    card.enable(&[AccessPoint::ClearPinEncrypt, AccessPoint::ClearPinGenerate]);
    card
}

/// ANSI X9.24-1:2009, annex A.4: the key serial numbers and the encrypted PIN blocks (PIN 1234, account 4012345678909).
#[test]
fn pin_blocks_are_those_of_x9_24_1() {
    let card = card();
    let base = card.des("KEYGENKY", &["UKPT"], BASE);
    let out = card.des("OPINENC", &[], KEY);
    let wanted = encrypt(&card, &out, "1234", ISO_0, PAN).expect("a block");
    let rows = include_str!("x9.24-1.txt")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for row in rows {
        let [serial, block, _] = row.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        let profile = derived(ISO_0, &format!("FFFF9876543210{serial}"));
        for how in ["REFORMAT", "TRANSLAT"] {
            let translation = Translation {
                keys: [&base, &out],
                profiles: [profile.clone(), ISO_0.into()],
                pans: [PAN, PAN],
                block: &bytes(block),
                rules: &[how, "DUKPT-IP"],
            };
            assert_eq!(
                translate(&card, translation),
                Ok(wanted.clone()),
                "{serial} {how}"
            );
        }
        count += 1;
    }
    assert_eq!(count, 38);
}

/// The MACs of the same keys, by X9.19: of 1234567890 four times, and five of 4012345678909D987.
#[test]
fn macs_are_those_of_x9_24_1() {
    let card = card();
    let base = card.des("KEYGENKY", &["UKPT"], BASE);
    let skeleton = card.skeleton("MAC", &["KEYLN16"]);
    let mac = |serial: &str, rules: &[&str], text: &str| {
        let request = UniqueKeyDerive {
            rule_array: Rules::of(&[&["K2MAC"], rules].concat()),
            base_derivation_key_identifier: base.clone(),
            derivation_data: bytes(&format!("FFFF9876543210{serial}")),
            generated_key_identifier2: skeleton.clone(),
            ..Default::default()
        };
        let Ok(Reply::UniqueKeyDerive(keys)) = card.ask(request) else {
            panic!("a key")
        };
        let request = MacGenerate {
            key_identifier: keys.generated_key_identifier2,
            text: text.into(),
            rule_array: Rules::of(&["X9.19OPT", "MACLEN8"]),
            ..Default::default()
        };
        let Ok(Reply::MacGenerate(mac)) = card.ask(request) else {
            panic!("a MAC")
        };
        hex(&mac.mac)
    };
    for row in include_str!("x9.24-1.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let [serial, _, code] = row.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{row}")
        };
        assert_eq!(
            mac(serial, &[], &"1234567890".repeat(4))[..8],
            *code,
            "{serial}"
        );
    }
    for (serial, request, answer) in [
        ("E00001", "9CCC78173FC4FB64", "20364223C1FF00FA"),
        ("E00002", "F608A9BCA6FFC311", "D1FCA6BEF05D24D2"),
        ("E00003", "20B59A4FEAC937E3", "BAD4CC9CC2AE326C"),
        ("E00004", "C7BFA6CC44161828", "1EB08AEECE6FF0C2"),
        ("E00005", "0202B96339022058", "5CBE3E81D1D2A0FB"),
    ] {
        assert_eq!(
            mac(serial, &["REQUEST"], "4012345678909D987"),
            request,
            "{serial}"
        );
        assert_eq!(
            mac(serial, &["RESPONSE"], "4012345678909D987"),
            answer,
            "{serial}"
        );
    }
}

/// ISO 9564-1's example of format 4 (annex C), and AES DUKPT on its way in.
#[test]
fn format_4_is_translated() {
    let card = card();
    let pan = "432198765432109870";
    let aes = "00112233445566778899AABBCCDDEEFF";
    let open = card.aes(&["AES", "PINPROT", "DECRYPT"], aes);
    let seal = card.aes(&["AES", "PINPROT", "ENCRYPT"], aes);
    let des_in = card.des("IPINENC", &[], KEY);
    let des_out = card.des("OPINENC", &[], KEY);
    let twelve = &pan[pan.len() - 13..pan.len() - 1];
    let block = encrypt(&card, &des_out, "1234", ISO_0, twelve).expect("a block");
    let iso_4 = "ISO-4   NONE            ";
    let translate = |keys: [&Bytes; 2], profiles: [&str; 2], block: &Bytes, pans: [&str; 2]| {
        let request = EncryptedPinTranslate2 {
            rule_array: Rules::of(&["REFORMAT"]),
            input_pin_key_identifier: keys[0].clone(),
            output_pin_key_identifier: keys[1].clone(),
            input_pin_profile: profiles[0].into(),
            output_pin_profile: profiles[1].into(),
            pan_data_in: pans[0].into(),
            pan_data_out: pans[1].into(),
            pin_block_in: block.clone(),
            ..Default::default()
        };
        match card.ask(request) {
            Ok(Reply::EncryptedPinTranslate2(reply)) => Ok(reply.pin_block_out),
            Ok(_) => unreachable!("another verb's reply"),
            Err(codes) => Err(codes),
        }
    };
    let in_4 = translate([&des_in, &seal], [ISO_0, iso_4], &block, [pan, pan]).expect("format 4");
    assert_eq!(in_4.len(), 16);
    assert_eq!(
        translate([&open, &des_out], [iso_4, ISO_0], &in_4, [pan, pan]),
        Ok(block.clone())
    );
    let other = "432198765432109888";
    assert_eq!(
        translate([&des_in, &seal], [ISO_0, iso_4], &block, [pan, other]),
        Err((8, 110))
    );
    // The same twelve digits of another institution's account.
    let other_bank = "532198765432109870";
    assert_eq!(
        translate([&des_in, &seal], [ISO_0, iso_4], &block, [pan, other_bank]),
        Err((8, 110))
    );
    assert_eq!(
        translate([&open, &des_out], [iso_4, ISO_0], &in_4, [other, other]),
        Err((4, 287))
    );
    assert_eq!(
        translate([&seal, &des_out], [iso_4, ISO_0], &in_4, [pan, pan]),
        Err((8, 39)),
        "a key that seals"
    );
}

/// X9.24-3:2017: the PIN block of the standard's example (PIN 1234, account 4111111111111111) opens with AES DUKPT; and the
/// derived keys, as tokens.
#[test]
fn aes_dukpt_is_that_of_x9_24_3() {
    let card = card();
    let base = card.aes(
        &["AES", "DKYGENKY", "DUKPT"],
        "FEDCBA9876543210F1F1F1F1F1F1F1F1",
    );
    let out = card.des("OPINENC", &[], KEY);
    let request = EncryptedPinTranslate2 {
        rule_array: Rules::of(&["REFORMAT"]),
        input_pin_key_identifier: base.clone(),
        output_pin_key_identifier: out.clone(),
        input_pin_profile: "ISO-4   NONE            ".into(),
        output_pin_profile: ISO_0.into(),
        pan_data_in: "4111111111111111".into(),
        pan_data_out: "4111111111111111".into(),
        pin_block_in: bytes("1dd48e0fc64d89836fa3b71cf4aa3783"),
        input_ksn: bytes("123456789012345600000001"),
        ..Default::default()
    };
    let Ok(Reply::EncryptedPinTranslate2(reply)) = card.ask(request) else {
        panic!("a block")
    };
    assert_eq!(
        Ok(reply.pin_block_out),
        encrypt(&card, &out, "1234", ISO_0, "111111111111")
    );
    let skeleton = |rules: &[&str]| {
        let rule_array = Rules::of(&[&["INTERNAL", "AES"], rules].concat());
        match card.ask(KeyTokenBuild2 {
            rule_array,
            clear_key_bit_length: 128,
            ..Default::default()
        }) {
            Ok(Reply::KeyTokenBuild2(reply)) => reply.target_key_token,
            other => panic!("no skeleton: {other:?}"),
        }
    };
    let derive = |mac: &[&str]| {
        let request = UniqueKeyDerive {
            rule_array: Rules::of(&["ADUKPT", "K2MAC"]),
            base_derivation_key_identifier: base.clone(),
            derivation_data: bytes("123456789012345600000001"),
            generated_key_identifier2: skeleton(mac),
            ..Default::default()
        };
        match card.ask(request) {
            Ok(Reply::UniqueKeyDerive(reply)) => reply.generated_key_identifier2,
            other => panic!("no key: {other:?}"),
        }
    };
    for (rules, wanted) in [
        (&["MAC", "GENONLY"][..], "A2DC23DE6FDE0824A2BC321E08E4B8B7"),
        (&["MAC", "VERIFY"], "DBB463945B286C07CD3AD82EE96FD9C9"),
        (&["MAC", "GENERATE"], "85675439D18D7F1158BD8E3EAA3D502B"),
    ] {
        let check = |key_identifier: Bytes| {
            let rule_array = Rules::of(&["AES", "GENERATE", "CMACZERO"]);
            match card.ask(KeyTest2 {
                rule_array,
                key_identifier,
                ..Default::default()
            }) {
                Ok(Reply::KeyTest2(reply)) => reply.verification_pattern,
                other => panic!("no pattern: {other:?}"),
            }
        };
        assert_eq!(
            check(derive(rules)),
            check(card.aes(&["AES", "MAC", "GENERATE"], wanted)),
            "{rules:?}"
        );
    }
}

fn array(elements: [&str; 3]) -> Bytes {
    elements
        .map(|element| format!("{element:16}"))
        .concat()
        .as_str()
        .into()
}

struct Verification<'a> {
    keys: [&'a Bytes; 2],
    block: &'a Bytes,
    method: &'a str,
    check: u32,
    data: [&'a str; 3],
}

fn verify(card: &Card, of: Verification<'_>) -> Result<(), (u32, u32)> {
    let request = EncryptedPinVerify {
        pin_encrypting_key_identifier: of.keys[0].clone(),
        pin_verifying_key_identifier: of.keys[1].clone(),
        pin_profile: ISO_0.into(),
        pan_data: PAN.into(),
        encrypted_pin_block: of.block.clone(),
        rule_array: Rules::of(&[of.method]),
        pin_check_length: of.check,
        data_array: array(of.data),
    };
    card.ask(request).map(drop)
}

const VALIDATION: &str = "4012345678909FFF";

fn clear(
    card: &Card,
    key: &Bytes,
    method: &str,
    lengths: [u32; 2],
    data: [&str; 3],
) -> Result<String, (u32, u32)> {
    let request = ClearPinGenerate {
        pin_generating_key_identifier: key.clone(),
        rule_array: Rules::of(&[method]),
        pin_length: lengths[0],
        pin_check_length: lengths[1],
        data_array: array(data),
    };
    match card.ask(request)? {
        Reply::ClearPinGenerate(reply) => Ok(String::from_utf8_lossy(&reply.returned_result)
            .trim()
            .to_owned()),
        _ => unreachable!("another verb's reply"),
    }
}

/// Each method: the PIN that is made is verified, and no other.
#[test]
fn pins_are_made_and_verified_by_all_methods() {
    let card = card();
    let out = card.des("OPINENC", &[], KEY);
    let inbound = card.des("IPINENC", &[], KEY);
    let make = card.des("PINGEN", &[], BASE);
    let check = card.des("PINVER", &[], BASE);
    let parameter = "012345678901";
    for (method, lengths, made, verified) in [
        (
            "IBM-PIN",
            [6, 0],
            ["DEFAULT", VALIDATION, ""],
            ["DEFAULT", VALIDATION, ""],
        ),
        (
            "GBP-PIN",
            [4, 0],
            ["0123456789012345", VALIDATION, ""],
            ["DEFAULT", VALIDATION, "0000"],
        ),
        (
            "INBK-PIN",
            [4, 0],
            ["0123456789061234", "", ""],
            ["0123456789061234", "", ""],
        ),
    ] {
        let pin = clear(&card, &make, method, lengths, made).expect("a PIN");
        let block = encrypt(&card, &out, &pin, ISO_0, PAN).expect("a block");
        let verified = |block: &Bytes| {
            verify(
                &card,
                Verification {
                    keys: [&inbound, &check],
                    block,
                    method,
                    check: lengths[0].max(4),
                    data: verified,
                },
            )
        };
        assert_eq!(verified(&block), Ok(()), "{method} {pin}");
        let wrong = format!(
            "{:0width$}",
            (pin.parse::<u32>().expect("digits") + 1) % 10_u32.pow(pin.len() as u32),
            width = pin.len()
        );
        let block = encrypt(&card, &out, &wrong, ISO_0, PAN).expect("a block");
        assert_eq!(verified(&block), Err((4, 19)), "{method} {wrong}");
        // The same, encrypted from the beginning.
        let request = EncryptedPinGenerate {
            pin_generating_key_identifier: make.clone(),
            outbound_pin_encrypting_key_identifier: out.clone(),
            rule_array: Rules::of(&[method]),
            pin_length: lengths[0],
            data_array: array(made),
            pin_profile: ISO_0.into(),
            pan_data: PAN.into(),
            ..Default::default()
        };
        let Ok(Reply::EncryptedPinGenerate(made)) = card.ask(request) else {
            panic!("{method}")
        };
        assert_eq!(verified(&made.encrypted_pin_block), Ok(()), "{method}");
    }
    // Offsets and values of a PIN that the customer chose.
    card.enable(&[AccessPoint::AlternateOffset]);
    for (method, check_length, data) in [
        ("IBM-PINO", 5, ["DEFAULT", VALIDATION, ""]),
        ("IBM-PINO", 4, ["DEFAULT", VALIDATION, ""]),
        ("VISA-PVV", 4, [parameter, "", ""]),
    ] {
        let chosen = encrypt(&card, &out, "84265", ISO_0, PAN).expect("a block");
        let request = ClearPinGenerateAlternate {
            pin_encryption_key_identifier: inbound.clone(),
            pin_generation_key_identifier: make.clone(),
            pin_profile: ISO_0.into(),
            pan_data: PAN.into(),
            encrypted_pin_block: chosen.clone(),
            rule_array: Rules::of(&[method]),
            pin_check_length: check_length,
            data_array: array(data),
        };
        let Ok(Reply::ClearPinGenerateAlternate(alternate)) = card.ask(request) else {
            panic!("{method}")
        };
        let alternate = String::from_utf8_lossy(&alternate.returned_result)
            .trim()
            .to_owned();
        assert_eq!(alternate.len(), check_length as usize);
        let data = match method {
            "VISA-PVV" => [parameter, &alternate, ""],
            _ => ["DEFAULT", VALIDATION, &alternate],
        };
        let verified = |block: &Bytes| {
            verify(
                &card,
                Verification {
                    keys: [&inbound, &check],
                    block,
                    method,
                    check: check_length,
                    data,
                },
            )
        };
        assert_eq!(verified(&chosen), Ok(()), "{method}");
        let other = encrypt(&card, &out, "84365", ISO_0, PAN).expect("a block");
        assert_eq!(verified(&other), Err((4, 19)), "{method}");
    }
}

/// Bond and Zieliński, "Decimalisation table attacks for PIN cracking" (2003): with tables of one's own, 15 questions find a
/// PIN. Here every question of the attack is refused, and refusals do not depend on the PIN.
#[test]
fn the_decimalization_table_attack_fails() {
    let card = card();
    let out = card.des("OPINENC", &[], KEY);
    let inbound = card.des("IPINENC", &[], KEY);
    let check = card.des("PINVER", &[], BASE);
    let mut answers = std::collections::BTreeSet::new();
    for pin in ["0000", "1234", "7777"] {
        let block = encrypt(&card, &out, pin, ISO_0, PAN).expect("a block");
        let ask = |table: &str, offset: &str| {
            let data = [table, VALIDATION, offset];
            verify(
                &card,
                Verification {
                    keys: [&inbound, &check],
                    block: &block,
                    method: "IBM-PINO",
                    check: 4,
                    data,
                },
            )
        };
        for digit in 0..10_usize {
            // The attack's tables: zero everywhere, but one where the digit is.
            let table: String = (0..16)
                .map(|place| if place % 10 == digit { '1' } else { '0' })
                .collect();
            answers.insert(ask(&table, "0000"));
            // Its second form: the right table with one digit changed, and an offset that corrects it.
            let changed: String = (0..16)
                .map(|place| {
                    char::from(b'0' + ((place % 10 + usize::from(place == digit)) % 10) as u8)
                })
                .collect();
            answers.insert(ask(&changed, "0001"));
        }
    }
    assert_eq!(answers.into_iter().collect::<Vec<_>>(), [Err((8, 102))]);
    // Not even an administrator stores such a table.
    let request = DecimalizationTables {
        store: vec![("EVIL".into(), "0000000000000001".into())],
        delete: Vec::new(),
    };
    assert_eq!(
        card.0
            .dispatch(Caller::ADMINISTRATOR, &request.into())
            .reason_code,
        102
    );
    let request = DecimalizationTables {
        store: vec![("MINE".into(), "9876543210987654".into())],
        delete: Vec::new(),
    };
    assert_eq!(card.ask(request).err(), Some((8, 90)), "a user stores none");
}

/// Guessing: by offsets, by account numbers, by validation data. After so many wrong PINs the right one is wrong, too.
#[test]
fn wrong_pins_are_counted_for_each_key_and_account() {
    let storage = Arc::new(Memory::default());
    let card = Card::with(Box::new(storage.clone()));
    card.enable(&[AccessPoint::ClearPinEncrypt, AccessPoint::ClearPinGenerate]);
    let out = card.des("OPINENC", &[], KEY);
    let inbound = card.des("IPINENC", &[], KEY);
    let check = card.des("PINVER", &[], BASE);
    let make = card.des("PINGEN", &[], BASE);
    let right = clear(&card, &make, "IBM-PIN", [4, 0], ["DEFAULT", VALIDATION, ""]).expect("a PIN");
    let right = encrypt(&card, &out, &right, ISO_0, PAN).expect("a block");
    let ask = |card: &Card, offset: &str, method: &str| {
        let data = ["DEFAULT", VALIDATION, offset];
        verify(
            card,
            Verification {
                keys: [&inbound, &check],
                block: &right,
                method,
                check: 4,
                data,
            },
        )
    };
    // A right one begins anew with what it is compared with.
    let wrong = encrypt(&card, &out, "0000", ISO_0, PAN).expect("a block");
    for _ in 0..3 {
        for _ in 1..10 {
            let verification = Verification {
                keys: [&inbound, &check],
                block: &wrong,
                method: "IBM-PIN",
                check: 4,
                data: ["DEFAULT", VALIDATION, ""],
            };
            assert_eq!(verify(&card, verification), Err((4, 19)));
        }
        assert_eq!(ask(&card, "", "IBM-PIN"), Ok(()));
    }
    // With other offsets, it does not: by them, another block's PIN would be found.
    for wrong in 1..10 {
        assert_eq!(ask(&card, &format!("{wrong:04}"), "IBM-PINO"), Err((4, 19)));
        assert_eq!(ask(&card, "", "IBM-PIN"), Ok(()), "{wrong}");
    }
    for wrong in 10..=10 {
        assert_eq!(ask(&card, &format!("{wrong:04}"), "IBM-PINO"), Err((4, 19)));
    }
    assert_eq!(
        ask(&card, "0000", "IBM-PINO"),
        Err((4, 19)),
        "blocked, and not to be told from wrong"
    );
    assert_eq!(
        ask(&card, "", "IBM-PIN"),
        Err((4, 19)),
        "by another method, too"
    );
    // A restart, or another token of the same key, forgets nothing.
    let card = Card(Coprocessor::new(Box::new(storage)).expect("our storage"));
    assert_eq!(ask(&card, "", "IBM-PIN"), Err((4, 19)));
    let check = card.des("PINVER", &["NO-XPORT"], BASE);
    let data = ["DEFAULT", VALIDATION, ""];
    let again = verify(
        &card,
        Verification {
            keys: [&inbound, &check],
            block: &right,
            method: "IBM-PIN",
            check: 4,
            data,
        },
    );
    assert_eq!(again, Err((4, 19)));
    let Reply::PinFailures(failures) = card.administer(PinFailures {
        limit: 0,
        forget: true,
    }) else {
        panic!("a count")
    };
    assert_eq!(
        (failures.limit, failures.accounts, failures.blocked),
        (10, 0, 0)
    );
    assert_eq!(ask(&card, "", "IBM-PIN"), Ok(()));
    // Validation data of another account are refused: they would compare this PIN with another's.
    let data = ["DEFAULT", "5012345600009FFF", ""];
    let foreign = verify(
        &card,
        Verification {
            keys: [&inbound, &check],
            block: &right,
            method: "IBM-PIN",
            check: 4,
            data,
        },
    );
    assert_eq!(foreign, Err((8, 103)));
    let data = ["112345678901", "0000", ""];
    let foreign = verify(
        &card,
        Verification {
            keys: [&inbound, &check],
            block: &right,
            method: "VISA-PVV",
            check: 4,
            data,
        },
    );
    assert_eq!(foreign, Err((8, 110)));
}

/// Tries at the same time get no more than their number, and the store has all of them.
#[test]
fn tries_at_the_same_time_are_counted() {
    let storage = Arc::new(Memory::default());
    let card = Card::with(Box::new(storage.clone()));
    card.enable(&[AccessPoint::ClearPinEncrypt]);
    let block =
        encrypt(&card, &card.des("OPINENC", &[], KEY), "1234", ISO_0, PAN).expect("a block");
    let inbound = card.des("IPINENC", &[], KEY);
    let check = card.des("PINVER", &[], BASE);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (card, inbound, check, block) = (&card, &inbound, &check, &block);
            scope.spawn(move || {
                for number in 0..10 {
                    let offset = format!("{:04}", 1000 * thread + number);
                    let data = ["DEFAULT", VALIDATION, &offset];
                    let keys = [inbound, check];
                    let answer = verify(
                        card,
                        Verification {
                            keys,
                            block,
                            method: "IBM-PINO",
                            check: 4,
                            data,
                        },
                    );
                    assert_eq!(answer, Err((4, 19)));
                }
            });
        }
    });
    let entries = storage.load().expect("memory");
    let counts: Vec<_> = entries
        .iter()
        .filter(|(name, _)| name.starts_with("failures/"))
        // Ten offsets, each with its count.
        .map(|(_, counts)| counts.chunks(20).map(|part| part[19]).collect::<Vec<_>>())
        .collect();
    assert_eq!(counts, [[1; 10], [1; 10], [1; 10]]);
}

/// A block that is bound to no account is neither verified nor compared: its thief would try it against an account of one's
/// own, and clear the count between the tries.
#[test]
fn blocks_without_an_account_are_not_verified() {
    let card = card();
    let out = card.des("OPINENC", &[], KEY);
    let inbound = card.des("IPINENC", &[], KEY);
    let iso_1 = "ISO-1   NONE            ";
    let block = encrypt(&card, &out, "1234", iso_1, PAN).expect("a block");
    let verify = EncryptedPinVerify {
        pin_encrypting_key_identifier: inbound.clone(),
        pin_verifying_key_identifier: card.des("PINVER", &[], BASE),
        pin_profile: iso_1.into(),
        pan_data: PAN.into(),
        encrypted_pin_block: block.clone(),
        rule_array: Rules::of(&["IBM-PIN"]),
        pin_check_length: 4,
        data_array: array(["DEFAULT", VALIDATION, ""]),
    };
    assert_eq!(card.ask(verify.clone()).err(), Some((8, 106)));
    let alternate = ClearPinGenerateAlternate {
        pin_encryption_key_identifier: inbound,
        pin_generation_key_identifier: card.des("PINGEN", &[], BASE),
        pin_profile: iso_1.into(),
        pan_data: PAN.into(),
        encrypted_pin_block: block,
        rule_array: Rules::of(&["VISA-PVV"]),
        pin_check_length: 4,
        data_array: array(["012345678901", "", ""]),
    };
    assert_eq!(card.ask(alternate).err(), Some((8, 106)));
    card.enable(&[AccessPoint::UnboundPinBlocks]);
    assert_eq!(
        card.ask(verify).err(),
        Some((4, 19)),
        "an administrator wants it so"
    );
}

/// However an encrypted block is wrong, the answer is one.
#[test]
fn one_answer_for_all_that_is_wrong_with_a_block() {
    let card = card();
    let inbound = card.des("IPINENC", &[], KEY);
    let check = card.des("PINVER", &[], BASE);
    card.administer(PinFailures {
        limit: 1_000_000,
        forget: false,
    });
    let mut answers = std::collections::BTreeSet::new();
    let mut seed = 1_u64;
    for _ in 0..500 {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let block = Bytes::from(seed.to_be_bytes());
        let data = ["DEFAULT", VALIDATION, ""];
        answers.insert(verify(
            &card,
            Verification {
                keys: [&inbound, &check],
                block: &block,
                method: "IBM-PIN",
                check: 4,
                data,
            },
        ));
    }
    assert_eq!(answers.into_iter().collect::<Vec<_>>(), [Err((4, 19))]);
}

#[test]
fn clear_pins_neither_leave_nor_come_in_unless_an_administrator_says_so() {
    let card = Card::new();
    let make = card.des("PINGEN", &[], BASE);
    let out = card.des("OPINENC", &[], KEY);
    let made = clear(&card, &make, "IBM-PIN", [4, 0], ["DEFAULT", VALIDATION, ""]);
    assert_eq!(made, Err((8, 90)));
    assert_eq!(encrypt(&card, &out, "1234", ISO_0, PAN), Err((8, 90)));
    assert_eq!(
        encrypt(&card, &out, "1234", "3624    NONE           F", PAN),
        Err((8, 90))
    );
}

/// VISA's published example, and that a value is verified.
#[test]
fn card_values_are_the_published_ones() {
    let card = Card::new();
    let key = card.des("MAC", &[], BASE);
    let generate = |key: &Bytes, rules: &[&str]| {
        let request = CvvGenerate {
            rule_array: Rules::of(rules),
            pan_data: "4123456789012345".into(),
            expiration_date: "8701".into(),
            service_code: "101".into(),
            cvv_key_a_identifier: key.clone(),
            ..Default::default()
        };
        match card.ask(request) {
            Ok(Reply::CvvGenerate(reply)) => {
                Ok(String::from_utf8_lossy(&reply.cvv_value).trim().to_owned())
            }
            Ok(_) => unreachable!("another verb's reply"),
            Err(codes) => Err(codes),
        }
    };
    assert_eq!(generate(&key, &["PAN-16", "CVV-3"]), Ok("561".to_owned()));
    let verify = |value: &str| {
        card.ask(CvvVerify {
            rule_array: Rules::of(&["PAN-16", "CVV-3"]),
            pan_data: "4123456789012345".into(),
            expiration_date: "8701".into(),
            service_code: "101".into(),
            cvv_key_a_identifier: key.clone(),
            cvv_value: value.into(),
            ..Default::default()
        })
    };
    assert!(verify("561  ").is_ok());
    assert_eq!(verify("562  ").err(), Some((4, 1)));
    let pin = card.des("PINGEN", &[], BASE);
    assert_eq!(
        generate(&pin, &["PAN-16"]),
        Err((8, 39)),
        "a PIN key makes no card value"
    );
    let x99 = card.des("MAC", &["ANSIX9.9"], BASE);
    assert_eq!(
        generate(&x99, &["PAN-16"]),
        Err((8, 39)),
        "nor does a MAC key that is for MACs alone"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// Every pair of formats, any PIN, any accounts: what is allowed gives the PIN back, all else is refused.
    #[test]
    fn translations_are_allowed_or_refused(
        from in 0..12_usize, to in 0..12_usize, pin in "[0-9]{4,6}", pan in "[0-9]{12}", other in "[0-9]{12}", changes in any::<bool>(),
    ) {
        const FORMATS: [&str; 12] = [
            "ISO-0", "ISO-1", "ISO-2", "ISO-3", "ISO-4", "VISA-2", "VISA-3", "VISA-4", "ECI-2", "ECI-3", "3621", "3624",
        ];
        thread_local! {
            static CARD: (Card, [Bytes; 2]) = {
                let card = card();
                card.enable(&[AccessPoint::NonIsoPinBlocks]);
                let keys = [card.des("IPINENC", &[], KEY), card.des("OPINENC", &[], KEY)];
                (card, keys)
            };
        }
        CARD.with(|(card, keys)| {
            let profile = |format: &str| format!("{format:8}NONE    {:>8}", "F");
            let [from, to] = [FORMATS[from], FORMATS[to]];
            let new = if changes { &other } else { &pan };
            let Ok(block) = encrypt(card, &keys[1], &pin, &profile(from), &pan) else {
                // Not a PIN of this format, or a format that has no block of eight bytes.
                assert!(["ISO-4", "VISA-2", "ECI-2", "ECI-3"].contains(&from));
                return;
            };
            let answer = translate(card, Translation {
                keys: [&keys[0], &keys[1]],
                profiles: [profile(from).as_str().into(), profile(to).as_str().into()],
                pans: [&pan, new],
                block: &block,
                rules: &["REFORMAT"],
            });
            let is_bound = |format: &str| ["ISO-0", "ISO-3", "ISO-4", "VISA-4"].contains(&format);
            let is_iso = |format: &str| format.starts_with("ISO");
            let is_pair = match (from, to) {
                ("ISO-0" | "ISO-3", "ISO-0" | "ISO-3") | ("ISO-1", "ISO-0" | "ISO-1" | "ISO-3") => true,
                _ => from == to && !is_iso(from),
            };
            let keeps_account = !is_bound(from) || *new == pan;
            assert_eq!(answer.is_ok(), is_pair && keeps_account, "{from} to {to}: {answer:?}");
            if let Ok(translated) = answer
                && to == "ISO-0"
            {
                assert_eq!(Ok(translated), encrypt(card, &keys[1], &pin, &profile(to), new));
            }
        });
    }
}
