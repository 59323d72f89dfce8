//! Misuses.

use outboard_cca::*;
use proptest::prelude::*;

use crate::common::Card;
use crate::nodes::*;

#[test]
fn what_is_wrong_with_a_share_is_refused() {
    let [source, target, other] = nodes(["CSS", "CSR", "CSQ"]);
    let obtained = |index| obtain(&source, "CSS", "SYM-MK", index, &target.certificate).unwrap();
    let good = obtained(1);
    let install =
        |share: &Sealed| install(&target.card, "CSR", "SYM-MK", share, &source.certificate);

    // Another index, a changed byte anywhere, a key of another share, another receiver, another master key.
    assert_eq!(
        install(&Sealed {
            index: 2,
            ..good.clone()
        }),
        Err((8, 1030))
    );
    let length = good.information.len();
    for place in [0, 1, 3, 5, 11, 12, 27, 30, 36, 60, 100, length - 1] {
        let mut information = good.information.clone();
        information[place] ^= 1;
        let changed = Sealed {
            information,
            ..good.clone()
        };
        let refused = install(&changed);
        assert!(
            matches!(refused, Err((8, 1030 | 1040))),
            "{place}: {refused:?}"
        );
    }
    for length in [0, 35, 36, 37, length - 8, length - 1] {
        let information = good.information[..length].into();
        let cut = Sealed {
            information,
            ..good.clone()
        };
        assert!(matches!(install(&cut), Err((8, 1030 | 1040))), "{length}");
    }
    for key in [Bytes::default(), obtained(2).key, vec![1; 256].into()] {
        assert_eq!(
            install(&Sealed {
                key,
                ..good.clone()
            }),
            Err((8, 1040))
        );
    }
    let elsewhere = obtain(&source, "CSS", "SYM-MK", 1, &other.certificate).unwrap();
    assert_eq!(install(&elsewhere), Err((8, 1040)));
    let wrong_kind = self::install(&target.card, "CSR", "AES-MK", &good, &source.certificate);
    assert_eq!(wrong_kind, Err((8, 1030)));
    // Signed by another card than the certificate says.
    let forged = self::install(&target.card, "CSR", "SYM-MK", &good, &other.certificate);
    assert_eq!(forged, Err((8, 1030)));

    // Twice; of another set; of another source.
    assert_eq!(install(&good), Ok(()));
    assert_eq!(install(&good), Err((8, 1037)), "twice");
    let foreign = obtain(&other, "CSQ", "SYM-MK", 2, &target.certificate).unwrap();
    let mixed = self::install(&target.card, "CSR", "SYM-MK", &foreign, &other.certificate);
    assert_eq!(mixed, Err((8, 1037)));
    let old = [obtained(1), obtained(2), obtained(3)];
    assert_eq!(control(&source.card, "SET-MOFN", "0305"), Ok(()));
    let new = [obtained(1), obtained(2), obtained(3)];
    assert_eq!(install(&new[1]), Err((8, 1037)), "of a newer set");
    assert_eq!(install(&old[1]), Ok(()), "the set that was begun");
    // Those that came are forgotten with the new register.
    target.card.master(&["SYM-MK", "CLEAR"]);
    assert_eq!(install(&new[0]), Ok(()));
    target.card.master(&["SYM-MK", "CLEAR"]);
    for share in &old {
        assert_eq!(install(share), Err((8, 1037)), "an older set");
    }
    assert_eq!(install(&new[0]), Ok(()));
    assert_eq!(install(&new[1]), Ok(()));
    // The register must be empty.
    target.card.master(&["SYM-MK", "RANDOM"]);
    assert_eq!(install(&new[2]), Err((8, 703)));
    target.card.master(&["SYM-MK", "CLEAR"]);
    for (share, expected) in new.iter().zip([Ok(()), Ok(()), WHOLE]) {
        assert_eq!(install(share), expected);
    }
    assert_eq!(install(&new[0]), Err((8, 703)), "the register is full");

    // Another number of shares.
    target.card.master(&["SYM-MK", "CLEAR"]);
    assert_eq!(control(&target.card, "SET-MOFN", "0205"), Ok(()));
    assert_eq!(install(&new[0]), Err((8, 1037)));
    // What the source enters meanwhile changes nothing.
    source.card.master(&["SYM-MK", "RANDOM"]);
    source.card.master(&["SYM-MK", "CLEAR"]);
    assert_eq!(control(&target.card, "SET-MOFN", "0305"), Ok(()));
    assert_eq!(install(&new[0]), Ok(()));
    assert_eq!(install(&obtained(2)), Ok(()), "of the same set");
    target.card.master(&["SYM-MK", "CLEAR"]);
    // A new master key has a new set.
    assert_eq!(control(&target.card, "SET-MOFN", "0305"), Ok(()));
    assert_eq!(install(&new[0]), Ok(()));
    source.card.master(&["SYM-MK", "RANDOM"]);
    source.card.master(&["SYM-MK", "SET"]);
    assert_eq!(install(&obtained(2)), Err((8, 1037)));
}

#[test]
fn who_may_not_and_keys_that_are_not_for_it_are_refused() {
    let [source, target] = nodes(["CSS", "CSR"]);
    let obtain_with = |name: &str, receiver: &Bytes| obtain(&source, name, "SYM-MK", 1, receiver);
    let refused = |name: &str, receiver: &Bytes| obtain_with(name, receiver).err();
    let receiver = &target.certificate;
    let share = obtain_with("CSS", receiver).unwrap();

    for index in [0, 6, 15, 16, 256, 257] {
        let share = obtain(&source, "CSS", "SYM-MK", index, receiver);
        assert_eq!(share.err(), Some((8, 1030)), "{index}");
    }
    // Names of keys.
    assert_eq!(refused("NONE", receiver), Some((8, 1026)));
    let plain = generate(&source.card, Caller::ADMINISTRATOR, "PLAIN", &["RETAIN"]);
    assert_eq!(plain.map(|token| token[0]), Ok(0x1e));
    assert_eq!(refused("PLAIN", receiver), Some((8, 1031)));
    // Certificates: by another key, changed, none.
    let mine = certify(&source.card, "CSS", &cloning_key(&source.card, "MINE"));
    assert_eq!(refused("CSS", &mine), Some((8, 1035)));
    let mut changed = receiver.clone();
    changed[40] ^= 1;
    assert_eq!(refused("CSS", &changed), Some((8, 1035)));
    for place in [0, 2, 4, 6, receiver.len() - 257, receiver.len() - 256 - 70] {
        let mut changed = receiver.clone();
        changed[place] ^= 1;
        assert!(
            matches!(refused("CSS", &changed), Some((8, 49 | 1035))),
            "{place}"
        );
    }
    assert_eq!(refused("CSS", &Bytes::default()), Some((8, 49)));
    let request = |certifier: &str| MasterKeyDistribution {
        certifying_key_name: certifier.into(),
        ..self::request("CSR", "SYM-MK", &share, &source.certificate)
    };
    assert_eq!(admin(&target.card, request("OTHER")).err(), Some((8, 1034)));

    // Users, and points that are off.
    let user = target.card.ask(request("CERTIFIER"));
    assert_eq!(user.err(), Some((8, 90)));
    for rules in [
        vec!["OBTAIN", "INSTALL"],
        vec![],
        vec!["OBTAIN", "SYM-MK", "AES-MK"],
    ] {
        let request = MasterKeyDistribution {
            rule_array: Rules::of(&rules),
            ..Default::default()
        };
        assert!(admin(&target.card, request).is_err(), "{rules:?}");
    }
    let disable = vec![
        AccessPoint::CloneInstall as u16,
        AccessPoint::CloneObtain as u16,
    ];
    for card in [&source.card, &target.card] {
        card.administer(AccessPoints {
            enable: Vec::new(),
            disable: disable.clone(),
        });
    }
    assert_eq!(
        admin(&target.card, request("CERTIFIER")).err(),
        Some((8, 90))
    );
    assert_eq!(refused("CSS", receiver), Some((8, 90)));
}

#[test]
fn a_key_for_cloning_does_nothing_else() {
    let card = Card::new();
    card.enable(&[AccessPoint::PkaDecrypt]);
    let user = generate(&card, Caller::USER, "MINE", &["RETAIN", "CLONE"]);
    assert_eq!(user.err(), Some((8, 90)));
    let outside = generate(&card, Caller::ADMINISTRATOR, "OUT", &["MASTER", "CLONE"]);
    assert_eq!(outside.err(), Some((8, 34)));
    let token = cloning_key(&card, "SA");
    // Users see its label, as those of all keys that administrators make.
    assert_eq!(sign(&card, Caller::USER, "SA", &[1; 32]), Err((8, 90)));
    assert!(sign(&card, Caller::ADMINISTRATOR, "SA", &[1; 32]).is_ok());
    let encrypted = match card.ask(PkaEncrypt {
        rule_array: Rules::of(&["PKCSOAEP", "SHA-256"]),
        key_value: "a share's key".into(),
        public_key_identifier: token.clone(),
        ..Default::default()
    }) {
        Ok(Reply::PkaEncrypt(reply)) => reply.enciphered_key,
        other => panic!("{other:?}"),
    };
    for caller in [Caller::USER, Caller::ADMINISTRATOR] {
        let decrypted = card.ask_as(
            caller,
            PkaDecrypt {
                rule_array: Rules::of(&["PKCSOAEP", "SHA-256"]),
                enciphered_key: encrypted.clone(),
                private_key_identifier: "SA".into(),
                ..Default::default()
            },
        );
        assert_eq!(decrypted.err(), Some((8, 39)));
    }
    // No skeleton asks for such a key by itself.
    let mut skeleton = skeleton(&card, "");
    skeleton[8 + 50] = 0x40;
    let request = PkaKeyGenerate {
        rule_array: Rules::of(&["MASTER"]),
        skeleton_key_identifier: skeleton,
        ..Default::default()
    };
    assert_eq!(admin(&card, request).err(), Some((8, 49)));
    // Its certificate stands in its token, and does not disturb.
    let extracted = card.ask(PkaPublicKeyExtract {
        source_key_identifier: token,
        ..Default::default()
    });
    assert!(extracted.is_ok());
}

#[test]
fn keys_are_registered_as_their_hash_says() {
    let card = Card::new();
    let token = cloning_key(&card, "SA");
    let (unsigned, signature) = certificate(&card, "SA", &token);
    let signed: Bytes = [&unsigned[..], &signature].concat().into();
    let hash = hash(&card, &unsigned);
    let rules = ["SHA-256", "CLONE"];

    assert_eq!(register(&card, "KEY", &[], signed.clone()), Err((8, 1033)));
    assert_eq!(
        register_hash(&card, "SA", &rules, hash.clone()),
        Err((8, 1025))
    );
    assert_eq!(
        register_hash(&card, "KEY", &["SHA-1"], hash.clone()),
        Err((8, 33))
    );
    assert_eq!(
        register_hash(&card, "KEY", &rules, hash[..20].into()),
        Err((8, 72))
    );
    let user = card.ask(PkaPublicKeyHashRegister {
        rule_array: Rules::of(&rules),
        public_key_name: "KEY".into(),
        hash_data: hash.clone(),
    });
    assert_eq!(user.err(), Some((8, 90)));
    assert_eq!(
        register_hash(&card, "KEY", &["SHA-256"], hash.clone()),
        Ok(())
    );
    // The token's own certificate has another signer's label, and so another hash.
    let own = certify(&card, "SA", &token);
    let mut other = own.clone();
    other[30] ^= 1;
    assert_eq!(register(&card, "KEY", &[], other), Err((8, 1039)));
    assert_eq!(
        register(&card, "KEY", &["CLONE"], signed.clone()),
        Err((8, 1038))
    );
    // The hash that waits is deleted first.
    let again = register_hash(&card, "KEY", &rules, hash.clone());
    assert_eq!(again, Err((8, 1025)));
    assert_eq!(delete(&card, "KEY"), Ok(()));
    assert_eq!(register_hash(&card, "KEY", &rules, hash.clone()), Ok(()));
    assert_eq!(register(&card, "KEY", &["CLONE"], signed.clone()), Ok(()));
    assert_eq!(register(&card, "KEY", &["CLONE"], signed), Err((8, 1025)));
    assert_eq!(register_hash(&card, "KEY", &rules, hash), Err((8, 1025)));
    // Administrators delete it, as a key that is kept inside.
    let by_a_user = RetainedKeyDelete {
        key_label: "KEY".into(),
        ..Default::default()
    };
    assert_eq!(card.ask(by_a_user).err(), Some((8, 30)));
    assert_eq!(delete(&card, "KEY"), Ok(()));
    assert_eq!(delete(&card, "KEY"), Err((8, 30)));
}

#[test]
fn a_name_is_of_one_thing_and_administrators_see_them_all() {
    let card = Card::new();
    let listed = |caller| {
        let request = RetainedKeyList {
            key_label_mask: "*".into(),
            ..Default::default()
        };
        match card.ask_as(caller, request) {
            Ok(Reply::RetainedKeyList(reply)) => reply.key_labels,
            other => panic!("no list: {other:?}"),
        }
    };
    let first = hash(&card, b"a certificate");
    assert_eq!(register_hash(&card, "X", &["SHA-256"], first), Ok(()));
    // Another administrator's hash does not take its place, nor does a key.
    let other = hash(&card, b"another one");
    let again = register_hash(&card, "X", &["SHA-256", "CLONE"], other);
    assert_eq!(again, Err((8, 1025)));
    let kept = generate(&card, Caller::ADMINISTRATOR, "X", &["RETAIN"]);
    assert!(kept.is_err(), "{kept:?}");
    assert_eq!(listed(Caller::ADMINISTRATOR), ["X"]);
    assert!(listed(Caller::USER).is_empty());
    // A user's names are the user's own.
    assert!(generate(&card, Caller::USER, "X", &["RETAIN"]).is_ok());
    assert_eq!(delete(&card, "X"), Ok(()));
    assert!(listed(Caller::ADMINISTRATOR).is_empty());
    assert!(delete(&card, "X").is_err());
    assert_eq!(listed(Caller::USER), ["X"]);
}

#[test]
fn the_number_of_shares_and_the_identifier_are_set_as_published() {
    let card = Card::new();
    card.enable(&[AccessPoint::CloneObtain]);
    for wrong in ["0105", "0605", "0316", "0000", "0a05", "0 05"] {
        assert_eq!(control(&card, "SET-MOFN", wrong), Err((8, 1030)), "{wrong}");
    }
    for wrong in ["", "035", "03055"] {
        assert!(control(&card, "SET-MOFN", wrong).is_err(), "{wrong}");
    }
    for good in ["0202", "1515", "0205"] {
        assert_eq!(control(&card, "SET-MOFN", good), Ok(()), "{good}");
    }
    assert_eq!(control(&card, "SET-EID", "SHORT"), Err((8, 72)));
    assert_eq!(control(&card, "SET-EID", "NODE 1          "), Ok(()));
    assert_eq!(control(&card, "SET-EID", "NODE 1          "), Ok(()));
    assert_eq!(
        control(&card, "SET-EID", "NODE 2          "),
        Err((8, 1027))
    );
    let user = card.ask(CryptoFacilityControl {
        rule_array: Rules::of(&["SET-MOFN"]),
        verb_data: "0305".into(),
    });
    assert_eq!(user.err(), Some((8, 90)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Certificates are read from callers: whatever they are, there is an answer.
    #[test]
    fn drawn_certificates_are_answered(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        first in prop_oneof![Just(0x40), Just(0x1e), any::<u8>()],
    ) {
        let card = Card::without_master_keys();
        let certificate = [&[first, 0], &((bytes.len() + 4) as u16).to_be_bytes()[..], &bytes].concat();
        prop_assert!(register(&card, "KEY", &[], certificate.into()).is_err());
    }
}
