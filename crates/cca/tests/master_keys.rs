//! What becomes of tokens when the master key changes.

mod common;

use std::sync::Arc;

use common::Card;
use outboard_cca::*;

/// With odd parities.
const KEY: &str = "FEDCBA9876543210 0123456789ABCDEF";

#[test]
fn tokens_follow_the_master_key_and_die_with_the_second_change() {
    let storage = Arc::new(Memory::default());
    let card = Card::with(Box::new(storage.clone()));
    let token = card.des("MAC", &[], KEY);
    let value = card.check_value(&token);
    card.master(&["SYM-MK", "RANDOM"]);
    let change = |token: &Bytes, rule: &str| {
        let request = KeyTokenChange {
            rule_array: Rules::of(&[rule]),
            key_identifier: token.clone(),
        };
        match card.ask(request) {
            Ok(Reply::KeyTokenChange(reply)) => Ok(reply.key_identifier),
            Ok(_) => unreachable!("another verb's reply"),
            Err(codes) => Err(codes),
        }
    };
    let ahead = change(&token, "RTNMK").expect("a new master key");
    card.master(&["SYM-MK", "SET"]);
    assert_eq!(card.check_value(&ahead), value);
    assert_eq!(card.check_value(&token), value, "by the old master key");
    let current = change(&token, "RTCMK").expect("the old master key");
    card.master(&["SYM-MK", "RANDOM"]);
    card.master(&["SYM-MK", "SET"]);
    assert_eq!(card.check_value(&current), value);
    assert_eq!(change(&token, "RTCMK"), Err((8, 24)), "two master keys ago");
    // What the storage keeps makes the same card again.
    let again = Card(Coprocessor::new(Box::new(storage)).expect("our storage"));
    assert_eq!(again.check_value(&current), value);
}

#[test]
fn a_label_follows_the_master_key_where_it_is() {
    let card = Card::new();
    let token = card.des("MAC", &[], KEY);
    let value = card.check_value(&token);
    let label = Bytes::from("SHOP.MAC.KEY");
    let create = KeyRecordCreate {
        key_label: label.clone(),
    };
    card.ask(create).expect("a new label");
    card.ask(write_of(&label, &token))
        .expect("the caller's label");
    let change = |caller| {
        let request = KeyTokenChange {
            rule_array: Rules::of(&["RTCMK"]),
            key_identifier: label.clone(),
        };
        card.ask_as(caller, request)
    };
    for _ in 0..3 {
        card.master(&["SYM-MK", "RANDOM"]);
        card.master(&["SYM-MK", "SET"]);
        change(Caller::USER).expect("by the old master key");
        assert_eq!(card.check_value(&label), value);
    }
    // Others neither see nor change it.
    let stranger = Caller {
        user: 4711,
        ..Caller::USER
    };
    assert_eq!(change(stranger).err(), Some((8, 30)));
    assert!(card.ask_as(stranger, write_of(&label, &token)).is_err());
}

fn write_of(label: &Bytes, token: &Bytes) -> KeyRecordWrite {
    KeyRecordWrite {
        key_token: token.clone(),
        key_label: label.clone(),
    }
}
