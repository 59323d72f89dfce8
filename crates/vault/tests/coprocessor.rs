//! The coprocessor's state survives restarts, the master key's roll and backups; nobody reads it in the file.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod common;

use common::{ADMIN, NEXT, Place, enter, open};
use outboard_vault::{Register, StateEntry, Vault};

fn entry(name: &str, value: &[u8]) -> StateEntry {
    (name.to_owned(), value.to_vec().into())
}

fn state(vault: &Vault) -> Vec<StateEntry> {
    let of = vault.coprocessor().unwrap().expect("a coprocessor");
    let mut state = vault.state_entries(&of).unwrap();
    state.sort_by(|one, other| one.0.cmp(&other.0));
    state
}

#[test]
fn the_state_is_there_again_after_a_restart_a_roll_and_a_restore() {
    let place = Place::new();
    let vault = place.create();
    assert!(vault.coprocessor().unwrap().is_none());
    let of = vault.create_coprocessor(ADMIN).unwrap();
    assert!(vault.create_coprocessor(ADMIN).is_err(), "there is one");
    let first = [
        entry("master/current", b"a clear secret"),
        entry("record/des/PAN.LABEL", b"one"),
        entry("failures/00", b"1"),
    ];
    vault.change_state_entries(&of, &first, &[]).unwrap();
    let second = [entry("record/des/PAN.LABEL", b"two")];
    vault
        .change_state_entries(&of, &second, &["failures/00".into()])
        .unwrap();
    let expected = [
        entry("master/current", b"a clear secret"),
        entry("record/des/PAN.LABEL", b"two"),
    ];
    assert_eq!(state(&vault), expected);
    assert!(vault.records().unwrap().records.is_empty(), "it is no key");
    assert!(vault.tokens().unwrap().0.is_empty(), "it is no token");

    let file = std::fs::read(place.file()).unwrap();
    for secret in [&b"a clear secret"[..], b"PAN.LABEL", b"record/"] {
        let is_there = file.windows(secret.len()).any(|bytes| bytes == secret);
        assert!(!is_there, "in the clear: {secret:?}");
    }

    let backup = place.0.path().join("backup");
    vault.backup(ADMIN, &backup).unwrap();
    enter(&vault, Register::New, &NEXT);
    vault.prepare(ADMIN, |_| {}).unwrap();
    vault.activate(ADMIN).unwrap();
    vault.finalise(ADMIN).unwrap();
    assert_eq!(state(&vault), expected);
    vault.verify().unwrap();
    drop(vault);

    let vault = common::reopened(&place.store());
    assert!(vault.coprocessor().is_err(), "the vault is locked");
    enter(&vault, Register::Current, &NEXT);
    assert_eq!(state(&vault), expected);
    drop(vault);

    let restored = place.0.path().join("restored");
    Vault::restore(ADMIN, &backup, &restored).unwrap();
    assert_eq!(state(&open(&restored)), expected);
}

#[test]
fn a_destroyed_coprocessor_leaves_nothing_and_takes_nothing() {
    let place = Place::new();
    let vault = place.create();
    let of = vault.create_coprocessor(ADMIN).unwrap();
    let one = [entry("record/des/A", b"one")];
    vault.change_state_entries(&of, &one, &[]).unwrap();
    vault.delete(ADMIN, of.record.id).unwrap();
    assert!(vault.change_state_entries(&of, &one, &[]).is_err());
    let of = vault.create_coprocessor(ADMIN).unwrap();
    assert!(vault.state_entries(&of).unwrap().is_empty());
}

/// Every byte of an entry's row matters: a changed one is found, and never taken for another value.
#[test]
fn a_changed_entry_is_found() {
    let place = Place::new();
    let vault = place.create();
    let of = vault.create_coprocessor(ADMIN).unwrap();
    let two = [entry("record/des/A", b"one"), entry("record/des/B", b"two")];
    vault.change_state_entries(&of, &two, &[]).unwrap();
    drop(vault);
    let change = |statement: &str| {
        let connection = rusqlite::Connection::open(place.file()).unwrap();
        connection.execute(statement, ()).unwrap();
    };
    // The values change places.
    change(
        "UPDATE objects SET sealed = (SELECT sealed FROM objects other WHERE other.id <> objects.id)",
    );
    let vault = place.open();
    let of = vault.coprocessor().unwrap().unwrap();
    assert!(vault.state_entries(&of).is_err());
    assert!(vault.verify().is_err());
}
