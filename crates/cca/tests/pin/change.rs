//! CSNBPCU: messages that change the PIN of a chip card.

use super::*;

const MAC_MASTER: &str = "0123456789ABCDEF FEDCBA9876543210";
const PIN_MASTER: &str = "23456789ABCDEF01 DCBA98765432FE10";
/// The number of a card of the account `PAN` and its sequence number, as EMV's option A has them, and the transaction counter.
const CARD: &str = "0401234567890901";
const COUNTER: &str = "001C";

struct Change<'a> {
    keys: [&'a Bytes; 2],
    pins: [&'a Bytes; 2],
    blocks: [&'a Bytes; 2],
    rules: &'a [&'a str],
    data: &'a str,
}

/// The verb is off in a new card.
fn card() -> Card {
    let card = super::card();
    card.enable(&[AccessPoint::PinChange]);
    card
}

fn change(card: &Card, of: Change<'_>) -> Result<Bytes, (u32, u32)> {
    change_of(card, of, [PAN, PAN], [ISO_0, ISO_0])
}

fn change_of(
    card: &Card,
    of: Change<'_>,
    pans: [&str; 2],
    profiles: [&str; 2],
) -> Result<Bytes, (u32, u32)> {
    let request = PinChangeUnblock {
        rule_array: Rules::of(of.rules),
        authentication_issuer_master_key_identifier: of.keys[0].clone(),
        encryption_issuer_master_key_identifier: of.keys[1].clone(),
        key_generation_data: bytes(of.data),
        new_reference_pin_key_identifier: of.pins[0].clone(),
        new_reference_pin_block: of.blocks[0].clone(),
        new_reference_pin_profile: profiles[0].into(),
        new_reference_pin_pan_data: pans[0].into(),
        current_reference_pin_key_identifier: of.pins[1].clone(),
        current_reference_pin_block: of.blocks[1].clone(),
        current_reference_pin_profile: profiles[1].into(),
        current_reference_pin_pan_data: pans[1].into(),
        output_pin_profile: Bytes::default(),
    };
    match card.ask(request)? {
        Reply::PinChangeUnblock(reply) => Ok(reply.output_pin_message),
        _ => unreachable!("another verb's reply"),
    }
}

/// The messages that PyPI's pyemv makes.
#[test]
fn messages_are_those_of_another_implementation() {
    let card = card();
    let code = card.des("DKYGENKY", &["DKYL0", "DMAC"], MAC_MASTER);
    let seal = card.des("DKYGENKY", &["DKYL0", "DMPIN"], PIN_MASTER);
    let (open, encrypting) = (card.des("IPINENC", &[], KEY), card.des("OPINENC", &[], KEY));
    let script = "import sys\n\
        from pyemv import kd, sm, tools\n\
        mac, pin = (bytes.fromhex(a.replace(' ', '')) for a in sys.argv[1:3])\n\
        data, atc, how, new, current = sys.argv[3:8]\n\
        data, atc = bytes.fromhex(data), bytes.fromhex(atc)\n\
        both = data + bytes(b ^ 0xff for b in data)\n\
        own = tools.adjust_key_parity(tools.encrypt_tdes_ecb(pin, both))\n\
        code = tools.encrypt_tdes_ecb(mac, both)\n\
        key = (kd.derive_visa_sm_sk(own, atc) if how == '0' else\n\
            kd.derive_emv2000_tree_sk(own, atc, 16 if how == '2' else 8, int(how)))\n\
        block = sm.format_vis_pin_block(code, new, current or None)\n\
        print(sm.encrypt_command_data(key, block, sm.EncryptionType.VISA).hex().upper())";
    for (new, current) in [("1234", ""), ("123456789012", "0000"), ("98765", "123456")] {
        for (how, keyword) in [("0", "TDES-XOR"), ("2", "TDESEMV2"), ("4", "TDESEMV4")] {
            let block = |pin: &str| match pin {
                "" => Bytes::default(),
                pin => encrypt(&card, &encrypting, pin, ISO_0, PAN).expect("a block"),
            };
            let method = if current.is_empty() {
                "VISAPCU1"
            } else {
                "VISAPCU2"
            };
            let message = change(
                &card,
                Change {
                    keys: [&code, &seal],
                    pins: [&open, &open],
                    blocks: [&block(new), &block(current)],
                    rules: &[keyword, method],
                    data: &format!("{CARD}{COUNTER}"),
                },
            );
            let arguments = [MAC_MASTER, PIN_MASTER, CARD, COUNTER, how, new, current];
            let message = hex(&message.expect("a message"));
            if let Some(theirs) = common::python(script, &arguments) {
                assert_eq!(theirs.trim(), message, "{keyword} {new} {current}");
            }
        }
    }
}

#[test]
fn keys_and_data_of_another_kind_are_refused() {
    let card = card();
    let code = card.des("DKYGENKY", &["DMAC"], MAC_MASTER);
    let seal = card.des("DKYGENKY", &["DMPIN"], PIN_MASTER);
    let (open, encrypting) = (card.des("IPINENC", &[], KEY), card.des("OPINENC", &[], KEY));
    let block = encrypt(&card, &encrypting, "1234", ISO_0, PAN).expect("a block");
    let data = format!("{CARD}{COUNTER}");
    let ask = |keys, pin: &Bytes, block: &Bytes, rules: &[&str], data: &str| {
        let of = Change {
            keys,
            pins: [pin, pin],
            blocks: [block, block],
            rules,
            data,
        };
        change(&card, of)
    };
    let rules = &["VISAPCU1"][..];
    let right = ask([&code, &seal], &open, &block, rules, &data).expect("a message");
    assert_eq!(right.len(), 16);
    // 18 bytes: two blocks of card data. 26 and 34: the tree's initial value, too.
    let long = format!("{CARD}{CARD}{COUNTER}");
    assert_ne!(ask([&code, &seal], &open, &block, rules, &long), Ok(right));
    let tree = &["VISAPCU1", "TDESEMV4"][..];
    let without = ask([&code, &seal], &open, &block, tree, &data).expect("a message");
    let zeros = format!("{data}{}", "00".repeat(16));
    assert_eq!(
        ask([&code, &seal], &open, &block, tree, &zeros),
        Ok(without.clone())
    );
    let other = format!("{data}{}", "11".repeat(16));
    assert_ne!(
        ask([&code, &seal], &open, &block, tree, &other),
        Ok(without)
    );
    assert_eq!(
        ask([&code, &seal], &open, &block, rules, &zeros),
        Err((8, 72))
    );
    assert_eq!(
        ask([&code, &seal], &open, &block, rules, &data[2..]),
        Err((8, 72))
    );
    // Each key for its end.
    for keys in [
        [&seal, &code],
        [&code, &code],
        [&seal, &seal],
        [&code, &open],
    ] {
        assert_eq!(ask(keys, &open, &block, rules, &data), Err((8, 39)));
    }
    assert_eq!(
        ask([&code, &seal], &encrypting, &block, rules, &data),
        Err((8, 39)),
        "a key that seals PINs"
    );
    // A block of another account, or none: one error.
    let mut wrong = block.to_vec();
    wrong[0] ^= 1;
    assert_eq!(
        ask([&code, &seal], &open, &wrong.into(), rules, &data),
        Err((4, 287))
    );
    assert_eq!(
        ask([&code, &seal], &open, &block, &["AMEXPCU1"], &data),
        Err((8, 33))
    );
    card.administer(AccessPoints {
        enable: Vec::new(),
        disable: vec![AccessPoint::PinChange as u16],
    });
    assert_eq!(
        ask([&code, &seal], &open, &block, rules, &data),
        Err((8, 90))
    );
}

/// What a key derives is in its token, and stays there.
#[test]
fn what_a_key_derives_does_not_change() {
    let card = card();
    let key = card.des("DKYGENKY", &["DMPIN"], PIN_MASTER);
    // The master key's pattern, the wrapped key, the control vector.
    for place in 8..56 {
        let mut changed = key.to_vec();
        changed[place] ^= 2;
        let sum = changed[..60].chunks(4).fold(0_u32, |sum, word| {
            sum.wrapping_add(u32::from_be_bytes(word.try_into().expect("four bytes")))
        });
        changed[60..].copy_from_slice(&sum.to_be_bytes());
        let request = KeyTest {
            rule_array: Rules::of(&["KEY-ENC", "GENERATE", "ENC-ZERO"]),
            key_identifier: changed.into(),
            ..Default::default()
        };
        assert!(card.ask(request).is_err(), "{place}");
    }
    let other = card.des("DKYGENKY", &["DMAC"], PIN_MASTER);
    assert_ne!(key[32..48], other[32..48]);
}

/// With the account numbers of both blocks free, two blocks' PINs were added in a hundred ways each, and equal messages told all digits of a
/// stranger's PIN. With one account number and free card data, the messages of all accounts were comparable, too.
#[test]
fn messages_compare_no_accounts() {
    let card = card();
    let code = card.des("DKYGENKY", &["DKYL0", "DMAC"], MAC_MASTER);
    let seal = card.des("DKYGENKY", &["DKYL0", "DMPIN"], PIN_MASTER);
    let (open, encrypting) = (card.des("IPINENC", &[], KEY), card.des("OPINENC", &[], KEY));
    let own_pan = "574332659250";
    let victim = encrypt(&card, &encrypting, "7305", ISO_0, PAN).expect("a block");
    let own = encrypt(&card, &encrypting, "6228", ISO_0, own_pan).expect("a block");
    let ask =
        |method: &str, blocks: [&Bytes; 2], data: &str, pans: [&str; 2], profiles: [&str; 2]| {
            let of = Change {
                keys: [&code, &seal],
                pins: [&open, &open],
                blocks,
                rules: &[method],
                data,
            };
            change_of(&card, of, pans, profiles)
        };
    let data = format!("{CARD}{COUNTER}");
    let free = ["00".repeat(10), "00".repeat(18), data.clone()];
    let mut learned = Vec::new();
    let mut keep = |made: Result<Bytes, _>| match made {
        Ok(message) => learned.push(message),
        Err(codes) => assert_eq!(codes, (8, 110)),
    };
    for digits in 0..100 {
        let shifted = format!("{digits:02}{}", &own_pan[2..]);
        for data in &free {
            for (pans, blocks) in [
                ([PAN, &shifted], [&victim, &own]),
                ([&shifted, PAN], [&own, &victim]),
                ([own_pan, &shifted], [&own, &own]),
            ] {
                keep(ask("VISAPCU2", blocks, data, pans, [ISO_0; 2]));
            }
            keep(ask("VISAPCU1", [&own; 2], data, [&shifted; 2], [ISO_0; 2]));
        }
    }
    // The twelve digits elsewhere in the card's data.
    for data in [format!("{PAN}1234{COUNTER}"), format!("0012{PAN}{COUNTER}")] {
        keep(ask("VISAPCU1", [&victim; 2], &data, [PAN; 2], [ISO_0; 2]));
    }
    assert!(learned.is_empty(), "{} messages", learned.len());
    assert!(ask("VISAPCU2", [&victim; 2], &data, [PAN; 2], [ISO_0; 2]).is_ok());
    // What is bound to no account is compared with none.
    let loose = "ISO-1   NONE            ";
    let block = encrypt(&card, &encrypting, "6228", loose, PAN).expect("a block");
    for (blocks, profiles) in [
        ([&block, &victim], [loose, ISO_0]),
        ([&victim, &block], [ISO_0, loose]),
    ] {
        let made = ask("VISAPCU2", blocks, &data, [PAN; 2], profiles);
        assert_eq!(made, Err((8, 106)), "{profiles:?}");
    }
    // In a new card, nobody asks.
    assert!(!AccessPoint::PinChange.is_on_by_default());
}
