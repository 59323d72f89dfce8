//! Attacks on PINs that the literature knows, by the verbs of a program, and with the access-control points that are on by default
//! unless a test says so. Each must learn nothing.

mod common;

use common::Card;
use outboard_cca::*;

const KEY: &str = "FEDCBA9876543210 0123456789ABCDEF";
const BASE: &str = "0123456789ABCDEF FEDCBA9876543210";
const PAN: &str = "401234567890";
const VALIDATION: &str = "4012345678909FFF";
const ISO_0: &str = "ISO-0   NONE           F";

/// A card whose keys open, seal, make and verify PINs.
struct Bank {
    card: Card,
    inbound: Bytes,
    out: Bytes,
    make: Bytes,
    check: Bytes,
}

impl Bank {
    fn new() -> Self {
        let card = Card::new();
        card.enable(&[AccessPoint::EncryptedPinGenerate]);
        let [inbound, out] = ["IPINENC", "OPINENC"].map(|of| card.des(of, &[], KEY));
        let [make, check] = ["PINGEN", "PINVER"].map(|of| card.des(of, &[], BASE));
        Self {
            card,
            inbound,
            out,
            make,
            check,
        }
    }

    /// What a terminal sends.
    fn block(&self, pin: &str, pan: &str) -> Bytes {
        self.card.enable(&[AccessPoint::ClearPinEncrypt]);
        let request = ClearPinEncrypt {
            pin_encrypting_key_identifier: self.out.clone(),
            clear_pin: format!("{pin:16}").as_str().into(),
            pin_profile: ISO_0.into(),
            pan_data: pan.into(),
            ..Default::default()
        };
        let block = match self.card.ask(request) {
            Ok(Reply::ClearPinEncrypt(reply)) => reply.encrypted_pin_block,
            other => panic!("no block: {other:?}"),
        };
        self.card.administer(AccessPoints {
            enable: Vec::new(),
            disable: vec![AccessPoint::ClearPinEncrypt as u16],
        });
        block
    }

    fn translate(
        &self,
        block: &Bytes,
        rule: &str,
        to: &str,
        pan: &str,
    ) -> Result<Bytes, (u32, u32)> {
        let request = EncryptedPinTranslate {
            input_pin_encrypting_key_identifier: self.inbound.clone(),
            output_pin_encrypting_key_identifier: self.out.clone(),
            input_pin_profile: ISO_0.into(),
            output_pin_profile: format!("{to:8}NONE           F").as_str().into(),
            pan_data_in: pan.into(),
            pan_data_out: pan.into(),
            pin_block_in: block.clone(),
            rule_array: Rules::of(&[rule]),
            sequence_number: 0,
        };
        match self.card.ask(request)? {
            Reply::EncryptedPinTranslate(reply) => Ok(reply.pin_block_out),
            _ => unreachable!("another verb's reply"),
        }
    }

    /// An offset or a PVV.
    fn alternate(
        &self,
        key: &Bytes,
        block: &Bytes,
        method: &str,
        pan: &str,
    ) -> Result<String, (u32, u32)> {
        let data = match method {
            "VISA-PVV" => [&format!("{}1", &pan[1..]), "", ""],
            _ => ["DEFAULT", VALIDATION, ""],
        };
        let request = ClearPinGenerateAlternate {
            pin_encryption_key_identifier: self.inbound.clone(),
            pin_generation_key_identifier: key.clone(),
            pin_profile: ISO_0.into(),
            pan_data: pan.into(),
            encrypted_pin_block: block.clone(),
            rule_array: Rules::of(&[method]),
            pin_check_length: 4,
            data_array: array(data),
        };
        match self.card.ask(request)? {
            Reply::ClearPinGenerateAlternate(reply) => {
                Ok(String::from_utf8(reply.returned_result[..4].to_vec()).expect("digits"))
            }
            _ => unreachable!("another verb's reply"),
        }
    }

    fn verify(&self, block: &Bytes, offset: &str, pan: &str) -> Result<(), (u32, u32)> {
        let request = EncryptedPinVerify {
            pin_encrypting_key_identifier: self.inbound.clone(),
            pin_verifying_key_identifier: self.check.clone(),
            pin_profile: ISO_0.into(),
            pan_data: pan.into(),
            encrypted_pin_block: block.clone(),
            rule_array: Rules::of(&["IBM-PINO"]),
            pin_check_length: 4,
            data_array: array(["DEFAULT", VALIDATION, offset]),
        };
        self.card.ask(request).map(drop)
    }
}

fn array(elements: [&str; 3]) -> Bytes {
    let text: String = elements.map(|element| format!("{element:16}")).concat();
    text.as_str().into()
}

/// Account numbers that differ in the digits that lie over the third and fourth digit of a PIN.
fn others() -> impl Iterator<Item = String> {
    (0..100).map(|first| format!("{first:02}{}", &PAN[2..]))
}

/// Clulow, "On the security of PIN processing devices" (2003): another account number changes the third and fourth digit of the PIN
/// in a block. Whether the block is then refused must not tell what they are, nor what comes out.
#[test]
fn another_account_number_tells_no_digit() {
    let bank = Bank::new();
    for pin in ["1200", "1239", "1298", "125746", "1289"] {
        let block = bank.block(pin, PAN);
        let same = bank
            .translate(&block, "TRANSLAT", "ISO-0", PAN)
            .expect("a block");
        for other in others() {
            let again = bank.translate(&block, "REFORMAT", "ISO-0", &other);
            assert_eq!(again, Ok(same.clone()), "{pin} {other}");
            let in_3 = bank.translate(&block, "REFORMAT", "ISO-3", &other);
            assert!(in_3.is_ok(), "{pin} {other}");
            let pvv = bank
                .alternate(&bank.make, &block, "VISA-PVV", &other)
                .expect("a PVV");
            assert!(
                pvv.bytes().all(|digit| digit.is_ascii_digit()),
                "{pin} {other}"
            );
        }
        assert_eq!(
            bank.translate(&block, "REFORMAT", "ISO-0", &format!("{}1", &PAN[..11])),
            Err((4, 287)),
            "the filling does tell"
        );
    }
}

/// The same by way of format 4, whose reader would see that a digit is none.
#[test]
fn format_4_tells_no_digit_either() {
    let bank = Bank::new();
    let aes = "00112233445566778899AABBCCDDEEFF";
    let open = bank.card.aes(&["AES", "PINPROT", "DECRYPT"], aes);
    let seal = bank.card.aes(&["AES", "PINPROT", "ENCRYPT"], aes);
    let block = bank.block("1299", PAN);
    let iso_4 = "ISO-4   NONE            ";
    for other in others() {
        let whole = format!("{other}9");
        let translate = |keys: [&Bytes; 2], profiles: [&str; 2], block: &Bytes| {
            let request = EncryptedPinTranslate2 {
                rule_array: Rules::of(&["REFORMAT"]),
                input_pin_encrypting_key_identifier: keys[0].clone(),
                output_pin_encrypting_key_identifier: keys[1].clone(),
                input_pin_profile: profiles[0].into(),
                output_pin_profile: profiles[1].into(),
                input_pan_data: whole.as_str().into(),
                output_pan_data: whole.as_str().into(),
                input_pin_block: block.clone(),
                ..Default::default()
            };
            match bank.card.ask(request) {
                Ok(Reply::EncryptedPinTranslate2(reply)) => reply.output_pin_block,
                answer => panic!("{other}: {answer:?}"),
            }
        };
        let in_4 = translate([&bank.inbound, &seal], [ISO_0, iso_4], &block);
        assert_eq!(translate([&open, &bank.out], [iso_4, ISO_0], &in_4), block);
    }
}

/// With the account's own validation data and another account number, the offset that verifies would tell both digits.
#[test]
fn another_account_number_does_not_go_with_the_validation_data() {
    let bank = Bank::new();
    bank.card.enable(&[AccessPoint::AlternateOffset]);
    let block = bank.block("1234", PAN);
    for other in others().filter(|other| other != PAN) {
        assert_eq!(
            bank.verify(&block, "0000", &other),
            Err((8, 103)),
            "{other}"
        );
        let offset = bank.alternate(&bank.make, &block, "IBM-PINO", &other);
        assert_eq!(offset, Err((8, 103)), "{other}");
    }
    assert_eq!(bank.verify(&block, "0000", PAN), Err((4, 19)));
}

/// Who knows one PIN of an account must not clear the count of offsets that were tried with another block of it.
#[test]
fn ones_own_pin_gives_no_more_tries_with_other_offsets() {
    let bank = Bank::new();
    bank.card.enable(&[AccessPoint::AlternateOffset]);
    let own = bank.block("1234", PAN);
    let offset = bank
        .alternate(&bank.make, &own, "IBM-PINO", PAN)
        .expect("an offset");
    bank.card.administer(AccessPoints {
        enable: Vec::new(),
        disable: vec![AccessPoint::AlternateOffset as u16],
    });
    let wanted = bank.block("9876", PAN);
    let mut tries = 0;
    for guess in 0..100 {
        let guess = format!("{guess:04}");
        if bank.verify(&own, &offset, PAN).is_err() {
            break;
        }
        assert_eq!(bank.verify(&wanted, &guess, PAN), Err((4, 19)));
        tries += 1;
    }
    assert_eq!(tries, 10);
}

/// Keys of one's own give no more tries: by many of them, it would show which digits are likely.
#[test]
fn keys_of_ones_own_give_no_more_tries() {
    let mut bank = Bank::new();
    bank.card.enable(&[AccessPoint::AlternateOffset]);
    let block = bank.block("1234", PAN);
    let offset = bank
        .alternate(&bank.make, &block, "IBM-PINO", PAN)
        .expect("an offset");
    assert_eq!(bank.verify(&block, &offset, PAN), Ok(()));
    let [check, own] =
        [BASE, "23456789ABCDEF01 FEDCBA9876543210"].map(|key| bank.card.des("PINVER", &[], key));
    bank.check = own;
    for guess in 0..10 {
        assert_eq!(
            bank.verify(&block, &format!("{guess:04}"), PAN),
            Err((4, 19))
        );
    }
    bank.check = check;
    assert_eq!(bank.verify(&block, &offset, PAN), Err((4, 19)));
}

/// A hexadecimal digit is encrypted to a decimal one that is not equally likely: with DEFAULT, 0 to 5 come twice as often as 6 to 9.
/// So offsets of one PIN under many keys, which any program makes, tell it: that is why CSNBCPA makes none by default.
#[test]
fn offsets_under_many_keys_would_tell_a_pin() {
    let bank = Bank::new();
    let block = bank.block("2963", PAN);
    assert_eq!(
        bank.alternate(&bank.make, &block, "IBM-PINO", PAN),
        Err((8, 90))
    );
    bank.card.enable(&[AccessPoint::AlternateOffset]);
    let mut scores = [[0_u32; 10]; 4];
    for _ in 0..1200 {
        let request = KeyGenerate {
            key_form: Keyword::new("OP"),
            key_length: Keyword::new("DOUBLE"),
            key_type_1: Keyword::new("PINGEN"),
            ..Default::default()
        };
        let Ok(Reply::KeyGenerate(made)) = bank.card.ask(request) else {
            panic!("a key of one's own")
        };
        let key = made.generated_key_identifier_1;
        let offset = bank
            .alternate(&key, &block, "IBM-PINO", PAN)
            .expect("an offset");
        for (scores, offset) in scores.iter_mut().zip(offset.bytes()) {
            for (digit, score) in scores.iter_mut().enumerate() {
                let assigned = (10 + digit - usize::from(offset - b'0')) % 10;
                *score += u32::from(assigned < 6);
            }
        }
    }
    let best = |scores: &[u32; 10]| (0..10).max_by_key(|digit| scores[*digit]);
    let found: Vec<_> = scores.iter().filter_map(best).collect();
    assert_eq!(
        found,
        [2, 9, 6, 3],
        "the attack works where an administrator lets it"
    );
}

/// Blocks of an account's number with another account's PIN would be compared with that account's block.
#[test]
fn no_pin_is_made_for_another_account() {
    let bank = Bank::new();
    for (method, data, codes) in [
        ("IBM-PIN", ["DEFAULT", "5012345678909FFF", ""], (8, 103)),
        ("IBM-PIN", ["DEFAULT", "0123456789012345", ""], (8, 103)),
        ("GBP-PIN", ["DEFAULT", "4112345678909FFF", ""], (8, 103)),
        ("INBK-PIN", ["1123456789061234", "", ""], (8, 110)),
    ] {
        let request = EncryptedPinGenerate {
            pin_generating_key_identifier: bank.make.clone(),
            outbound_pin_encrypting_key_identifier: bank.out.clone(),
            rule_array: Rules::of(&[method]),
            pin_length: 4,
            data_array: array(data),
            pin_profile: ISO_0.into(),
            pan_data: PAN.into(),
            ..Default::default()
        };
        assert_eq!(
            bank.card.ask(request).err(),
            Some(codes),
            "{method} {data:?}"
        );
    }
}
