//! Tokens, their PINs and their objects: from outside.

mod common;

use common::{ADMIN, MASTER, NEXT, Place, enter, key, name};
use outboard_vault::{
    Act, Error, Grants, KeyId, KeyType, Login, MOST_FAILURES, NewObject, NewToken, ObjectsKey,
    Outcome, Register, Right, Role, Subject, Token, Vault,
};
use proptest::prelude::*;
use rusqlite::Connection;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// Who uses a token.
const USER: u32 = 33;

fn create(vault: &Vault, text: &str) -> Token {
    let new = NewToken {
        name: name(text),
        label: "Web server",
        pins: Some((b"officer", Some(b"user"))),
    };
    vault.create_token(ADMIN, &new).expect("a token")
}

fn object(text: &str, has_key: bool) -> NewObject {
    NewObject {
        private: has_key,
        attributes: Zeroizing::new(text.as_bytes().to_vec()),
        key: has_key.then(|| ObjectsKey {
            key_type: KeyType::P256,
            private: Zeroizing::new(format!("the private half of {text}").into_bytes()),
        }),
        public: has_key.then(|| text.as_bytes().to_vec()),
    }
}

/// The attributes of all objects, by text.
fn texts(vault: &Vault, token: &Token) -> Vec<String> {
    let (mut texts, mut after) = (Vec::new(), None);
    loop {
        let page = vault.objects(token, after, 64).expect("a page");
        assert!(page.damaged.is_empty());
        for object in page.objects {
            let text = String::from_utf8(object.content.attributes.to_vec());
            texts.push(text.expect("text"));
        }
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    texts.sort();
    texts
}

#[test]
fn a_token_is_what_it_was_after_a_restart_and_a_roll() {
    let place = Place::new();
    let (id, ticket, ids) = {
        let vault = place.create();
        let token = create(&vault, "web");
        assert_eq!((token.slot, &*token.label), (2, "Web server"));
        assert_eq!(create(&vault, "other").slot, 3);
        let id = token.record.id;
        let ticket = vault.log_in(USER, id, Role::User, Some(b"user"));
        let new = [object("key", true), object("certificate", false)];
        let ids = vault.insert_objects(USER, &token, &new);
        (id, ticket.expect("the PIN"), ids.expect("room"))
    };
    let vault = place.open();
    let whole = |vault: &Vault| {
        let token = vault.token(&name("web")).expect("it");
        assert_eq!(texts(vault, &token), ["certificate", "key"]);
        let (owner, object) = vault.find_object(ids[0]).expect("it");
        assert_eq!(owner.record.id, id);
        let key = object.content.key.expect("its key");
        assert_eq!(key.private[..], *b"the private half of key");
        let opener = token.opener(Role::User).expect("a PIN");
        assert!(opener.opens(USER, &*ticket));
        assert!(!opener.opens(USER + 1, &*ticket), "another user");
        let officer = token.opener(Role::Officer).expect("a PIN");
        assert!(!officer.opens(USER, &*ticket), "another role");
        let verified = vault.verify().expect("it is whole");
        assert_eq!(verified.keys, 2);
    };
    whole(&vault);
    let backup = place.0.path().join("backup");
    vault.backup(ADMIN, &backup).expect("room");
    enter(&vault, Register::New, &NEXT);
    vault.prepare(ADMIN, drop).expect("prepared");
    whole(&vault);
    vault.activate(ADMIN).expect("activated");
    whole(&vault);
    vault.finalise(ADMIN).expect("finalised");
    whole(&vault);
    drop(vault);
    Vault::restore(ADMIN, &backup, place.store()).expect("restored");
    whole(&place.open());
}

#[test]
fn keys_and_tokens_are_told_apart() {
    let place = Place::new();
    let vault = place.create();
    let token = create(&vault, "web");
    vault.insert(ADMIN, &key("site")).expect("a key");
    assert_eq!(vault.records().expect("keys").records.len(), 1);
    assert_eq!(vault.names_after("", 9).expect("names"), [name("site")]);
    assert_eq!(vault.status().keys, Some(1));
    assert_eq!(vault.tokens().expect("tokens").0.len(), 1);
    assert!(matches!(
        vault.insert(ADMIN, &key("web")),
        Err(Error::NameTaken { .. })
    ));
    for missing in ["site", "none"] {
        let found = vault.token(&name(missing));
        assert!(matches!(found, Err(Error::NoToken { .. })));
    }
    // What a token has like a key.
    let grants = Grants::from_iter([(Subject::User(USER), Right::Use)]);
    let id = token.record.id;
    vault.set_grants(ADMIN, id, &grants).expect("granted");
    vault.rename(ADMIN, id, &name("net")).expect("renamed");
    let ids = vault.insert_objects(USER, &token, &[object("key", true)]);
    let token = vault.token(id).expect("it");
    assert_eq!(token.record.grants, grants);
    assert_eq!(token.record.name, name("net"));
    assert_eq!(texts(&vault, &token), ["key"]);
    vault.verify().expect("it is whole");
    vault.delete(ADMIN, id).expect("deleted");
    let found = vault.find_object(ids.expect("room")[0]);
    assert!(matches!(found, Err(Error::NoKey { .. })));
    assert_eq!(vault.verify().expect("it is whole").keys, 1);
    let gone = vault.insert_objects(USER, &token, &[object("late", true)]);
    assert!(matches!(gone, Err(Error::NoToken { .. })));
}

#[test]
fn a_pin_is_locked_after_ten_wrong_ones_and_stays_so() {
    let place = Place::new();
    let vault = place.create();
    let id = create(&vault, "web").record.id;
    let log_in = |vault: &Vault, pin: &[u8]| vault.log_in(USER, id, Role::User, Some(pin));
    for left in (1..MOST_FAILURES).rev() {
        match log_in(&vault, b"wrong") {
            Err(Error::WrongPin { left: said, .. }) => assert_eq!(said, left),
            other => panic!("{:?}", other.err()),
        }
        // The right one begins anew.
        if left == MOST_FAILURES - 3 {
            log_in(&vault, b"user").expect("the PIN");
            break;
        }
    }
    let failures = |vault: &Vault| vault.token(id).expect("it").login(Role::User);
    assert_eq!(failures(&vault), Login::Pin { failures: 0 });
    for _ in 0..MOST_FAILURES {
        assert!(matches!(
            log_in(&vault, b"wrong"),
            Err(Error::WrongPin { .. })
        ));
    }
    drop(vault);
    let vault = place.open();
    assert!(matches!(
        log_in(&vault, b"user"),
        Err(Error::LockedPin { .. })
    ));
    let refused = |entry: &outboard_vault::Entry| {
        (entry.act, entry.outcome) == (Act::LogIn, Outcome::Refused)
    };
    let entries = vault.audit().map(|entry| entry.expect("an entry"));
    assert_eq!(entries.filter(refused).count(), 13);
    // The officer has its own PIN, and unlocks the user's.
    vault
        .log_in(USER, id, Role::Officer, Some(b"officer"))
        .expect("the PIN");
    vault
        .init_pin(USER, &vault.token(id).expect("it"), b"new one")
        .expect("a PIN");
    log_in(&vault, b"new one").expect("the PIN");
    vault.verify().expect("it is whole");
}

#[test]
fn a_ticket_ends_with_its_pin() {
    let place = Place::new();
    let vault = place.create();
    let id = create(&vault, "web").record.id;
    let ticket = |pin: &[u8]| vault.log_in(USER, id, Role::User, Some(pin)).expect("PIN");
    let opens = |ticket: &[u8; 32]| {
        let opener = vault.token(id).expect("it").opener(Role::User);
        opener.is_some_and(|opener| opener.opens(USER, ticket))
    };
    let first = ticket(b"user");
    assert_eq!(first, ticket(b"user"), "whoever logs in twice");
    assert!(matches!(
        vault.set_pin(USER, id, Role::User, b"wrong", b"next"),
        Err(Error::WrongPin { .. })
    ));
    assert!(opens(&first));
    let before = vault.token(id).expect("it");
    vault
        .set_pin(USER, id, Role::Officer, b"officer", b"higher")
        .expect("the PIN");
    // A request whose ticket was checked before, and that had to wait.
    let late = vault.init_pin(USER, &before, b"of a stranger");
    assert!(matches!(late, Err(Error::WrongPin { .. })));
    assert!(opens(&first), "another role's PIN");
    vault
        .set_pin(USER, id, Role::User, b"user", b"next")
        .expect("the PIN");
    assert!(!opens(&first));
    let second = ticket(b"next");
    assert!(opens(&second));
    // The same PIN again is another one.
    vault
        .init_pin(USER, &vault.token(id).expect("it"), b"next")
        .expect("a PIN");
    assert!(!opens(&second));
    let third = ticket(b"next");
    let token = vault.token(id).expect("it");
    let kept = vault.insert_objects(USER, &token, &[object("key", true)]);
    let wrong = vault.initialise(USER, id, Some(b"officer"), "Empty");
    assert!(matches!(wrong, Err(Error::WrongPin { .. })));
    assert!(opens(&third));
    vault
        .initialise(USER, id, Some(b"higher"), "Empty")
        .expect("the PIN");
    assert!(!opens(&third));
    let token = vault.token(id).expect("it");
    assert_eq!(
        (&*token.label, token.login(Role::User)),
        ("Empty", Login::Unset)
    );
    assert_eq!(vault.count_objects(id).expect("a count"), 0);
    assert!(vault.find_object(kept.expect("room")[0]).is_err());
    assert!(matches!(
        vault.log_in(USER, id, Role::User, Some(b"next")),
        Err(Error::NoPin { .. })
    ));
    vault.verify().expect("it is whole");
}

#[test]
fn a_token_without_pins_asks_for_none() {
    let place = Place::new();
    let vault = place.create();
    let new = NewToken {
        name: name("web"),
        label: "Web",
        pins: None,
    };
    let id = vault.create_token(ADMIN, &new).expect("a token").record.id;
    let first = vault.log_in(USER, id, Role::User, None).expect("a ticket");
    let opens = |ticket: &[u8; 32]| {
        let opener = vault.token(id).expect("it").opener(Role::User);
        opener.expect("no PIN").opens(USER, ticket)
    };
    assert!(opens(&first) && !opens(&[0; 32]));
    assert!(
        vault
            .init_pin(USER, &vault.token(id).expect("it"), b"user")
            .is_err()
    );
    vault.initialise(USER, id, None, "Web").expect("no PIN");
    assert!(!opens(&first), "an epoch ended");
}

#[test]
fn a_damaged_object_is_named_and_the_others_serve() {
    let place = Place::new();
    let (id, ids) = {
        let vault = place.create();
        let token = create(&vault, "web");
        let new = ["one", "two", "three"].map(|text| object(text, true));
        let ids = vault.insert_objects(USER, &token, &new).expect("room");
        (token.record.id, ids)
    };
    let changed = |statement: &str| {
        let store = Connection::open(place.file()).expect("the store");
        assert_eq!(store.execute(statement, [&ids[0].0[..]]).expect("SQL"), 1);
    };
    let bad = || {
        let vault = place.open();
        let token = vault.token(id).expect("it");
        let page = vault.objects(&token, None, usize::MAX).expect("a page");
        assert_eq!((page.objects.len(), page.damaged.len()), (2, 1));
        let said = page.damaged[0].to_string();
        assert!(
            said.contains("web") && said.contains(&ids[0].to_string()),
            "{said}"
        );
        assert!(matches!(
            vault.find_object(ids[0]),
            Err(Error::DamagedObject { .. })
        ));
        vault.find_object(ids[1]).expect("it is whole");
        assert!(matches!(vault.verify(), Err(Error::DamagedObject { .. })));
        vault
    };
    changed("UPDATE objects SET revision = revision + 1 WHERE id = ?1");
    drop(bad());
    changed("UPDATE objects SET revision = revision - 1 WHERE id = ?1");
    // Another object's content, under this one's id.
    changed(
        "UPDATE objects SET (nonce, sealed) = (SELECT nonce, sealed FROM objects WHERE id <> ?1) WHERE id = ?1",
    );
    let vault = bad();
    let token = vault.token(id).expect("it");
    vault
        .destroy_object(USER, &token, ids[0])
        .expect("destroyed");
    assert_eq!(texts(&vault, &token), ["three", "two"]);
    vault.verify().expect("it is whole");
}

#[test]
fn an_older_state_of_a_token_is_found() {
    let place = Place::new();
    let id = {
        let vault = place.create();
        create(&vault, "web").record.id
    };
    let older: (Vec<u8>, Vec<u8>) = {
        let store = Connection::open(place.file()).expect("the store");
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        store
            .query_row("SELECT nonce, sealed FROM tokens", (), row)
            .expect("a row")
    };
    {
        let vault = place.open();
        vault
            .set_pin(USER, id, Role::User, b"user", b"next")
            .expect("the PIN");
        vault.verify().expect("it is whole");
    }
    {
        let store = Connection::open(place.file()).expect("the store");
        let statement = "UPDATE tokens SET nonce = ?1, sealed = ?2";
        store.execute(statement, (&older.0, &older.1)).expect("SQL");
    }
    let vault = place.open();
    assert!(matches!(vault.verify(), Err(Error::DamagedKey { .. })));
    drop(vault);
    {
        let store = Connection::open(place.file()).expect("the store");
        store.execute("DELETE FROM tokens", ()).expect("SQL");
    }
    let (tokens, damaged) = place.open().tokens().expect("the store");
    assert_eq!((tokens.len(), damaged.len()), (0, 1));
}

/// What is done to one of two tokens.
#[derive(Clone, Debug)]
enum Step {
    Insert(usize, u8),
    Change(usize, usize),
    Destroy(usize, usize),
    Initialise(usize),
    Delete(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let token = 0..2_usize;
    prop_oneof![
        4 => (token.clone(), 1..4_u8).prop_map(|(token, count)| Step::Insert(token, count)),
        2 => (token.clone(), any::<usize>()).prop_map(|(token, at)| Step::Change(token, at)),
        2 => (token.clone(), any::<usize>()).prop_map(|(token, at)| Step::Destroy(token, at)),
        1 => token.clone().prop_map(Step::Initialise),
        1 => token.prop_map(Step::Delete),
        1 => Just(Step::Reopen),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn tokens_are_what_the_steps_made(steps in proptest::collection::vec(step(), 1..24)) {
        let place = Place::in_memory();
        let mut vault = place.create();
        let open = |text: &'static str| NewToken { name: name(text), label: "Token", pins: None };
        let names = ["one", "other"];
        for text in names {
            vault.create_token(ADMIN, &open(text)).expect("a token");
        }
        let mut model: [BTreeMap<KeyId, String>; 2] = Default::default();
        for (number, step) in steps.into_iter().enumerate() {
            let token = |which: usize| vault.token(&name(names[which])).expect("it");
            let nth = |which: usize, at: usize| {
                let objects: &BTreeMap<_, _> = &model[which];
                objects.keys().nth(at % objects.len().max(1)).copied()
            };
            match step {
                Step::Insert(which, count) => {
                    let texts: Vec<_> = (0..count).map(|at| format!("{number} {at}")).collect();
                    let new: Vec<_> = texts.iter().map(|text| object(text, text.len() % 2 == 0)).collect();
                    let ids = vault.insert_objects(USER, &token(which), &new).expect("room");
                    model[which].extend(ids.into_iter().zip(texts));
                }
                Step::Change(which, at) => if let Some(id) = nth(which, at) {
                    let text = format!("changed {number}");
                    let attributes = object(&text, false).attributes;
                    vault.change_object(&token(which), id, attributes).expect("it is there");
                    // Another token has no such object.
                    let other = vault.destroy_object(USER, &token(1 - which), id);
                    assert!(matches!(other, Err(Error::NoObject { .. })));
                    model[which].insert(id, text);
                },
                Step::Destroy(which, at) => if let Some(id) = nth(which, at) {
                    vault.destroy_object(USER, &token(which), id).expect("it is there");
                    model[which].remove(&id);
                },
                Step::Initialise(which) => {
                    let id = token(which).record.id;
                    vault.initialise(USER, id, None, "Again").expect("no PIN");
                    model[which].clear();
                }
                Step::Delete(which) => {
                    vault.delete(ADMIN, token(which).record.id).expect("deleted");
                    vault.create_token(ADMIN, &open(names[which])).expect("a token");
                    model[which].clear();
                }
                Step::Reopen => {
                    drop(vault);
                    vault = place.open();
                }
            }
        }
        for (text, objects) in names.iter().zip(model) {
            let token = vault.token(&name(text)).expect("it");
            let mut texts_of_model: Vec<_> = objects.into_values().collect();
            texts_of_model.sort();
            prop_assert_eq!(texts(&vault, &token), texts_of_model);
        }
        vault.verify().expect("it is whole");
    }
}

#[test]
fn without_the_master_key_there_are_no_tokens() {
    let place = Place::new();
    let vault = place.create();
    let id = create(&vault, "web").record.id;
    vault.lock(ADMIN).expect("locked");
    assert!(matches!(vault.token(id), Err(Error::Locked { .. })));
    assert!(matches!(
        vault.log_in(USER, id, Role::User, Some(b"user")),
        Err(Error::Locked { .. })
    ));
    enter(&vault, Register::Current, &MASTER);
    vault
        .log_in(USER, id, Role::User, Some(b"user"))
        .expect("the PIN");
}
