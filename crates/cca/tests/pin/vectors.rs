//! Published vectors: X9.24-1, X9.24-3, ISO 9564.

use super::*;

/// ANSI X9.24-1:2009, annex A.4: the key serial numbers and the encrypted PIN blocks (PIN 1234, account 4012345678909).
#[test]
fn pin_blocks_are_those_of_x9_24_1() {
    let card = card();
    let base = card.des("KEYGENKY", &["UKPT"], BASE);
    let out = card.des("OPINENC", &[], KEY);
    let wanted = encrypt(&card, &out, "1234", ISO_0, PAN).expect("a block");
    let rows = include_str!("../x9.24-1.txt")
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
    for row in include_str!("../x9.24-1.txt")
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
            input_pin_encrypting_key_identifier: keys[0].clone(),
            output_pin_encrypting_key_identifier: keys[1].clone(),
            input_pin_profile: profiles[0].into(),
            output_pin_profile: profiles[1].into(),
            input_pan_data: pans[0].into(),
            output_pan_data: pans[1].into(),
            input_pin_block: block.clone(),
            ..Default::default()
        };
        match card.ask(request) {
            Ok(Reply::EncryptedPinTranslate2(reply)) => Ok(reply.output_pin_block),
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
    // Under another key, unseen.
    let other_key = "FFEEDDCCBBAA99887766554433221100";
    let next = card.aes(&["AES", "PINPROT", "ENCRYPT"], other_key);
    let open_next = card.aes(&["AES", "PINPROT", "DECRYPT"], other_key);
    let ask = |rules: &[&str], keys: [&Bytes; 2], profiles: [&str; 2], block: &Bytes| {
        let request = EncryptedPinTranslate2 {
            rule_array: Rules::of(rules),
            input_pin_encrypting_key_identifier: keys[0].clone(),
            output_pin_encrypting_key_identifier: keys[1].clone(),
            input_pin_profile: profiles[0].into(),
            output_pin_profile: profiles[1].into(),
            input_pan_data: pan.into(),
            output_pan_data: pan.into(),
            input_pin_block: block.clone(),
            ..Default::default()
        };
        match card.ask(request)? {
            Reply::EncryptedPinTranslate2(reply) => Ok(reply.output_pin_block),
            _ => unreachable!("another verb's reply"),
        }
    };
    let moved = ask(&["TRANSLAT"], [&open, &next], [iso_4; 2], &in_4).expect("a block");
    assert_ne!(moved, in_4);
    assert_eq!(
        translate([&open_next, &des_out], [iso_4, ISO_0], &moved, [pan, pan]),
        Ok(block.clone())
    );
    assert_eq!(
        ask(&["TRANSLAT"], [&des_in, &seal], [ISO_0, iso_4], &block),
        Err((8, 106)),
        "another format"
    );
    // As CSNBPTR, where no format 4 is.
    let again = ask(&["TRANSLAT"], [&des_in, &des_out], [ISO_0; 2], &block);
    assert_eq!(again, Ok(block.clone()));
    for (rules, codes) in [
        (&["REFORMAT", "DUKPT-IP", "ADUKPTBH"][..], (8, 34)),
        (&["REFORMAT", "DUKPT-BH"], (8, 34)),
        (&["REFORMAT", "ADUKPTOP"], (8, 39)),
        (&["REFORMAT", "PAN-CHG"], (8, 33)),
    ] {
        let answer = ask(rules, [&open, &seal], [iso_4; 2], &in_4);
        assert_eq!(answer, Err(codes), "{rules:?}");
    }
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
        rule_array: Rules::of(&["REFORMAT", "ADUKPTIP"]),
        input_pin_encrypting_key_identifier: base.clone(),
        output_pin_encrypting_key_identifier: out.clone(),
        input_pin_profile: "ISO-4   NONE            123456789012345600000001".into(),
        output_pin_profile: ISO_0.into(),
        input_pan_data: "4111111111111111".into(),
        output_pan_data: "4111111111111111".into(),
        input_pin_block: bytes("1dd48e0fc64d89836fa3b71cf4aa3783"),
        ..Default::default()
    };
    let Ok(Reply::EncryptedPinTranslate2(reply)) = card.ask(request) else {
        panic!("a block")
    };
    assert_eq!(
        Ok(reply.output_pin_block),
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
