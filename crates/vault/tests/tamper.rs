//! Bytes that change in the store: each damaged key is named, every other one serves, and no key is ever another.
//!
//! `VAULT_TAMPER=all` changes every bit; otherwise one bit of some bytes.

mod common;

use std::fs;
use std::path::Path;

use common::{ADMIN, MASTER, Place, enter, key, name, open, private};
use outboard_vault::{
    Error, KeyType, NewObject, NewToken, Object, ObjectsKey, Record, Register, Vault,
};

const KEYS: [&str; 4] = ["one", "two", "three", "four"];
const PAGE: usize = 4096;

/// What the change of one bit does.
#[derive(Default)]
struct Tally {
    changes: usize,
    damaged: [usize; KEYS.len() + 1],
}

#[test]
fn no_changed_bit_changes_a_key_or_hides_one() {
    let place = Place::in_memory();
    let records: Vec<Record> = {
        let vault = place.create();
        let insert = |text: &&str| vault.insert(ADMIN, &key(text)).expect("a key");
        let records = KEYS.iter().map(insert).collect();
        vault.verify().expect("a good log");
        records
    };
    let content = fs::read(place.file()).expect("the store");
    let all = std::env::var_os("VAULT_TAMPER").is_some();
    let halves = [0, 1].map(|half| {
        let (content, records) = (content.clone(), records.clone());
        std::thread::spawn(move || tamper(&content, &records, all, half))
    });
    let mut tally = Tally::default();
    for half in halves {
        let half = half.join().expect("no failed assertion");
        tally.changes += half.changes;
        tally
            .damaged
            .iter_mut()
            .zip(half.damaged)
            .for_each(|(sum, count)| *sum += count);
    }
    println!(
        "{} bytes, {} bits changed; keys damaged: none {}, one {}, more {:?}",
        content.len(),
        tally.changes,
        tally.damaged[0],
        tally.damaged[1],
        &tally.damaged[2..]
    );
    assert!(tally.damaged[1] > 100, "private halves were changed");
}

fn tamper(content: &[u8], records: &[Record], all: bool, half: usize) -> Tally {
    let place = Place::in_memory();
    let vault = place.create();
    drop(vault);
    let mut tally = Tally::default();
    for at in (half..content.len()).step_by(2) {
        let near = &content[at.saturating_sub(4)..content.len().min(at + 4)];
        let zeros = near.iter().all(|&byte| byte == 0);
        if !all && at % if zeros { 211 } else { 11 } > 1 {
            continue;
        }
        for bit in 0..8 {
            if !all && bit != at % 8 {
                continue;
            }
            let mut changed = content.to_vec();
            changed[at] ^= 1 << bit;
            fs::write(place.file(), changed).expect("it is ours");
            tally.changes += 1;
            match look(&place.store(), records) {
                None => panic!("page {}, byte {}: refused", at / PAGE + 1, at % PAGE),
                Some(damaged) => {
                    // The first page has no key. In another one, only the list of what the page has may cost two or more.
                    assert!(
                        at >= PAGE || damaged == 0,
                        "byte {at}, bit {bit}: {damaged}"
                    );
                    assert!(
                        damaged < 2 || at % PAGE < 64,
                        "page {}, byte {}, bit {bit}: {damaged} keys",
                        at / PAGE + 1,
                        at % PAGE
                    );
                    tally.damaged[damaged] += 1;
                }
            }
        }
    }
    tally
}

/// How many keys are damaged; `None`: the store was refused, by name.
fn look(store: &Path, records: &[Record]) -> Option<usize> {
    let vault = match Vault::open(store) {
        Ok(vault) => vault,
        Err(error) => {
            assert!(error.to_string().contains("vault.db"), "{error}");
            println!("{error}");
            return None;
        }
    };
    vault
        .enter_whole(ADMIN, Register::Current, &MASTER)
        .expect("the master key");
    let mut damaged = 0;
    for record in records {
        let text = record.name.as_str();
        let by_id = vault.unwrap(record.id);
        let by_name = vault.unwrap(&record.name);
        let mut whole = true;
        for result in [by_id, by_name] {
            match result {
                Ok(found) => {
                    assert_eq!(found.record, *record);
                    assert_eq!(found.private[..], private(text));
                }
                Err(Error::DamagedKey { key, .. }) => {
                    let id = record.id.to_string();
                    assert!(key.contains(&id) || key.contains(text), "{key} is {text}");
                    whole = false;
                }
                Err(error) => panic!("{text}: {error:?}"),
            }
        }
        damaged += usize::from(!whole);
    }
    let listing = vault.records().expect("a listing");
    for found in &listing.records {
        assert!(records.contains(found), "{found:?}");
    }
    assert!(listing.records.len() + listing.damaged.len() >= records.len());
    Some(damaged)
}

/// The same for a token: its objects are what they were, or are named; at most one is damaged by a bit outside of what the file
/// needs for all of them.
#[test]
fn no_changed_bit_changes_an_object() {
    let place = Place::in_memory();
    let vault = place.create();
    let new = NewToken {
        name: name("web"),
        label: "Web",
        pins: None,
    };
    let token = vault.create_token(ADMIN, &new).expect("a token");
    let object = |text: &&str| NewObject {
        private: true,
        attributes: Vec::from(*text).into(),
        key: Some(ObjectsKey {
            key_type: KeyType::P256,
            private: private(text).into(),
        }),
        public: None,
    };
    let objects: Vec<_> = KEYS.iter().map(object).collect();
    let ids = vault.insert_objects(ADMIN, &token, &objects).expect("room");
    drop(vault);
    let content = fs::read(place.file()).expect("the store");
    let step = match std::env::var_os("VAULT_TAMPER") {
        Some(_) => 1,
        None => 23,
    };
    let is_whole = |found: &Object| {
        let at = ids
            .iter()
            .position(|id| *id == found.id)
            .expect("it is one");
        let key = found.content.key.as_ref().expect("its key");
        assert_eq!(found.content.attributes[..], *KEYS[at].as_bytes());
        assert_eq!(key.private[..], private(KEYS[at]));
    };
    let (mut whole, mut one) = (0, 0);
    // A page begins with where its rows are.
    let chosen = |at: &usize| at.is_multiple_of(step) || at % PAGE < 24;
    for at in (0..content.len()).filter(chosen) {
        let mut changed = content.clone();
        changed[at] ^= 1 << (at % 8);
        fs::write(place.file(), changed).expect("it is ours");
        let vault = place.open();
        let token = match vault.token(token.record.id) {
            Ok(token) => token,
            // Its row, or its state.
            Err(Error::DamagedKey { .. }) => continue,
            Err(error) => panic!("byte {at}: {error}"),
        };
        let page = vault.objects(&token, None, usize::MAX).expect("a page");
        page.objects.iter().for_each(is_whole);
        let mut found = 0;
        for id in &ids {
            match vault.find_object(*id) {
                Ok((_, object)) => {
                    is_whole(&object);
                    found += 1;
                }
                Err(
                    Error::DamagedObject { .. } | Error::NoKey { .. } | Error::DamagedStore { .. },
                ) => {}
                Err(error) => panic!("byte {at}: {error}"),
            }
        }
        let is_named = page.objects.len() == ids.len() || !page.damaged.is_empty();
        assert!(is_named, "page {}, byte {}", at / PAGE + 1, at % PAGE);
        match found {
            4 => whole += 1,
            3 => one += 1,
            _ => assert!(
                at % PAGE < 64,
                "page {}, byte {}: {found}",
                at / PAGE + 1,
                at % PAGE
            ),
        }
    }
    println!(
        "{} bytes; objects damaged: none {whole}, one {one}",
        content.len()
    );
    assert!(one > 20, "objects were changed");
}

/// A store as the earlier versions of Outboard's schema had it: its keys are there, and can have certificates; there can be tokens.
#[test]
fn an_older_store_is_migrated() {
    let second = "DROP TABLE tokens; DROP TABLE objects; PRAGMA user_version = 2";
    let first = format!("{second}; DROP TABLE certificates; PRAGMA user_version = 1");
    for older in [second, &first] {
        let place = Place::in_memory();
        let vault = place.create();
        let id = vault.insert(ADMIN, &key("one")).expect("a key").id;
        drop(vault);
        execute(&place, older);
        let vault = place.open();
        assert_eq!(vault.unwrap(id).expect("it").private[..], private("one"));
        vault.set_certificates(ADMIN, id, b"a chain").expect("one");
        let token = NewToken {
            name: name("web"),
            label: "Web",
            pins: None,
        };
        vault.create_token(ADMIN, &token).expect("a token");
        drop(vault);
        let vault = place.open();
        let found = vault.record(id).expect("it");
        assert_eq!(found.certificates, b"a chain");
        vault.token(&name("web")).expect("it");
    }
}

/// The change of each attribute by who has the file, with SQLite's own means.
#[test]
fn an_edited_row_is_found_and_named() {
    for edit in [
        "UPDATE keys SET grants = (SELECT grants FROM keys WHERE name = 'two') WHERE name = 'one'",
        "UPDATE keys SET name = 'other' WHERE name = 'one'",
        "UPDATE keys SET exportable = 1 WHERE name = 'one'",
        "UPDATE keys SET created = created + 1 WHERE name = 'one'",
        "UPDATE keys SET revision = revision + 1 WHERE name = 'one'",
        "UPDATE keys SET type = 'p384' WHERE name = 'one'",
        "UPDATE keys SET public = (SELECT public FROM keys WHERE name = 'two') WHERE name = 'one'",
        "UPDATE keys SET policy = (SELECT policy FROM keys WHERE name = 'two') WHERE name = 'one'",
        "UPDATE wrappings SET sealed = (SELECT sealed FROM wrappings WHERE key <> (SELECT id FROM keys WHERE name = 'one'))",
        "DELETE FROM wrappings WHERE key = (SELECT id FROM keys WHERE name = 'one')",
        "DELETE FROM keys WHERE name = 'one'",
        "UPDATE certificates SET chain = x'3000'",
        "DELETE FROM certificates",
    ] {
        let place = Place::in_memory();
        let vault = place.create();
        let one = vault.insert(ADMIN, &key("one")).expect("a key");
        let one = vault
            .set_certificates(ADMIN, one.id, b"a chain")
            .expect("one");
        let mut second = key("two");
        second.grants.grant(
            outboard_vault::Subject::User(1),
            outboard_vault::Right::Administer,
        );
        second.policy.rate = Some(7);
        let two = vault.insert(ADMIN, &second).expect("a key");
        drop(vault);
        execute(&place, edit);
        let vault = place.open();
        let error = vault.unwrap(one.id).map(drop).expect_err(edit);
        assert!(
            matches!(&error, Error::DamagedKey { key, .. } if key.contains(&one.id.to_string())),
            "{edit}: {error}"
        );
        let listing = vault.records().expect("a listing");
        assert_eq!(
            (listing.records, listing.damaged.len()),
            (vec![two.clone()], 1),
            "{edit}"
        );
        assert!(vault.verify().is_err(), "{edit}");
        assert_eq!(vault.material(two.id).expect("it")[..], private("two"));
        vault
            .delete(ADMIN, one.id)
            .expect("damaged keys can be deleted");
        vault.verify().expect("a good log");
    }
}

/// A key's row from an older copy is authentic, but not what the log tells of.
#[test]
fn an_older_row_is_found() {
    let place = Place::in_memory();
    let vault = place.create();
    let id = vault.insert(ADMIN, &key("site")).expect("a key").id;
    let older = place.0.path().join("older");
    vault.backup(ADMIN, &older).expect("a backup");
    vault
        .set_grants(ADMIN, id, &Default::default())
        .expect("revoked");
    drop(vault);
    execute(
        &place,
        &format!(
            "ATTACH '{}' AS older; DELETE FROM keys; DELETE FROM wrappings; \
        INSERT INTO keys SELECT * FROM older.keys; INSERT INTO wrappings SELECT * FROM older.wrappings",
            older.display()
        ),
    );
    let vault = place.open();
    assert!(matches!(vault.verify(), Err(Error::DamagedKey { .. })));
}

#[test]
fn a_changed_log_is_found_and_its_first_bad_entry_named() {
    let bad = |edit: &str| {
        let place = Place::in_memory();
        let vault = place.create();
        for text in KEYS {
            vault.insert(ADMIN, &key(text)).expect("a key");
        }
        drop(vault);
        execute(&place, edit);
        let vault = place.open();
        match vault.verify() {
            Err(Error::DamagedLog { entry, .. }) => entry,
            other => panic!("{edit}: {other:?}"),
        }
    };
    // Entries 1 and 2 make the store and its master key, 3 to 6 are the keys'.
    assert_eq!(bad("UPDATE audit SET uid = 0 WHERE number = 4"), 4);
    assert_eq!(bad("UPDATE audit SET time = time + 1 WHERE number = 2"), 2);
    assert_eq!(bad("UPDATE audit SET act = 'nothing' WHERE number = 5"), 5);
    assert_eq!(
        bad("UPDATE audit SET hash = zeroblob(32) WHERE number = 3"),
        3
    );
    assert_eq!(bad("DELETE FROM audit WHERE number = 4"), 4);
    assert_eq!(bad("DELETE FROM audit WHERE number >= 5"), 5);
    assert_eq!(bad("UPDATE audit SET number = 9 WHERE number = 6"), 6);
    bad(
        "INSERT INTO audit SELECT 7, time, uid, act, key, name, detail, outcome, hash FROM audit WHERE number = 6",
    );
}

/// The whole log of an older copy, with its end: keys are newer than it.
#[test]
fn an_older_log_is_found() {
    let place = Place::in_memory();
    let vault = place.create();
    vault.insert(ADMIN, &key("one")).expect("a key");
    let older = place.0.path().join("older");
    vault.backup(ADMIN, &older).expect("a backup");
    vault.insert(ADMIN, &key("two")).expect("a key");
    drop(vault);
    execute(
        &place,
        &format!(
            "ATTACH '{}' AS older; DELETE FROM audit; INSERT INTO audit SELECT * FROM older.audit; \
        DELETE FROM state; INSERT INTO state SELECT * FROM older.state; \
        DELETE FROM state_copy; INSERT INTO state_copy SELECT * FROM older.state_copy",
            older.display()
        ),
    );
    let vault = open(&place.store());
    assert!(matches!(vault.verify(), Err(Error::DamagedLog { .. })));
    drop(vault);
    let vault = Vault::open(place.store()).expect("the store");
    enter(&vault, Register::Current, &MASTER);
    assert!(
        matches!(vault.verify(), Err(Error::DamagedLog { .. })),
        "found again"
    );
}

fn execute(place: &Place, edit: &str) {
    let connection = rusqlite::Connection::open(place.file()).expect("the file");
    connection.execute_batch(edit).expect(edit);
}
