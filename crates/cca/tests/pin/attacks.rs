//! Attacks that learn nothing, and counts that hold.

use super::*;

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
    assert_eq!(ask(&card, "0010", "IBM-PINO"), Err((4, 19)));
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
        .map(|(_, counts)| counts.as_chunks::<20>().0.to_vec())
        .map(|counts| counts.iter().map(|part| part[19]).collect::<Vec<_>>())
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
