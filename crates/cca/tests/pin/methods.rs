//! PINs are made and verified by each method.

use super::*;

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
