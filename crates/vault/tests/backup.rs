//! Backup while serving, restoration, full disks, read-only stores, many keys.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use common::{ADMIN, MASTER, Place, enter, key, name, private};
use outboard_vault::{Act, Error, Register, Vault};

#[test]
fn a_backup_is_restored_in_the_place_of_another_store() {
    let place = Place::new();
    let backup = place.0.path().join("backup");
    let vault = place.create();
    let id = vault.insert(ADMIN, &key("site")).expect("a key").id;
    vault.backup(ADMIN, &backup).expect("a backup");
    let again = vault.backup(ADMIN, &backup);
    assert!(matches!(again, Err(Error::Exists { .. })));
    let mode = fs::metadata(&backup).expect("it").permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    vault.delete(ADMIN, id).expect("deleted");

    let restore = || Vault::restore(ADMIN, &backup, place.store());
    assert!(matches!(restore(), Err(Error::InUse { .. })));
    drop(vault);
    let restored = restore().expect("the backup");
    let replaced = restored.replaced.expect("the store that was there");
    assert_eq!(restored.keys, 1);
    let vault = place.open();
    assert_eq!(vault.material(id).expect("it")[..], private("site"));
    vault.verify().expect("a good log");
    let acts = vault.audit().map(|entry| entry.expect("an entry").act);
    assert!(acts.into_iter().any(|act| act == Act::RestoreStore));
    drop(vault);

    // What was replaced is whole, and comes back the same way.
    let restored = Vault::restore(ADMIN, &replaced, place.store()).expect("the old store");
    assert_eq!(restored.keys, 0);
    let elsewhere = place.0.path().join("elsewhere");
    Vault::restore(ADMIN, &backup, &elsewhere).expect("a new directory");
    let vault = Vault::open(&elsewhere).expect("the store");
    enter(&vault, Register::Current, &MASTER);
    assert_eq!(vault.material(id).expect("it")[..], private("site"));
}

#[test]
fn what_is_no_backup_is_not_restored() {
    let place = Place::new();
    let vault = place.create();
    vault.insert(ADMIN, &key("site")).expect("a key");
    let backup = place.0.path().join("backup");
    vault.backup(ADMIN, &backup).expect("a backup");
    drop(vault);
    let restore = || Vault::restore(ADMIN, &backup, place.store()).map(drop);
    let mut content = fs::read(&backup).expect("it");
    content.truncate(content.len() / 2);
    fs::write(&backup, &content).expect("it is ours");
    assert!(matches!(restore(), Err(Error::DamagedStore { .. })));
    fs::write(&backup, b"something else").expect("it is ours");
    assert!(matches!(restore(), Err(Error::DamagedStore { .. })));
    fs::remove_file(&backup).expect("it is ours");
    assert!(matches!(restore(), Err(Error::Missing { .. })));
    let vault = place.open();
    assert!(vault.record(&name("site")).is_ok(), "as it was");
}

#[test]
fn ten_thousand_keys_are_opened_without_unwrapping_one() {
    let place = Place::new();
    let vault = place.create();
    let keys: Vec<_> = (0..10_000).map(|at| key(&format!("key-{at}"))).collect();
    vault.insert_all(ADMIN, &keys).expect("keys");
    drop(vault);
    let start = std::time::Instant::now();
    let vault = place.open();
    let opened = start.elapsed();
    let status = vault.status();
    assert_eq!((status.keys, status.unwrapped), (Some(10_000), 0));
    let id = vault.record(&name("key-9999")).expect("it").id;
    assert_eq!(vault.material(id).expect("it")[..], private("key-9999"));
    assert_eq!(vault.status().unwrapped, 2, "only what is asked for");
    let start = std::time::Instant::now();
    assert_eq!(vault.records().expect("all").records.len(), 10_000);
    println!("opened in {opened:?}, listed in {:?}", start.elapsed());
}
