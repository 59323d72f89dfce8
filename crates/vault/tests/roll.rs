//! The roll of the master key: from outside, with restarts between its steps.

mod common;

use common::{ADMIN, MASTER, NEXT, Place, enter, key, name, private};
use outboard_vault::{Condition, Error, Grants, Phase, Register, Right, Subject, Vault};

/// More than two batches.
const KEYS: usize = 150;

fn filled(place: &Place) -> Vault {
    let vault = place.create();
    let keys: Vec<_> = (0..KEYS).map(|at| key(&format!("key-{at}"))).collect();
    vault.insert_all(ADMIN, &keys).expect("keys");
    vault
}

/// That every key serves.
fn all_serve(vault: &Vault, keys: usize) {
    let listing = vault.records().expect("all");
    assert!(listing.damaged.is_empty(), "{:?}", listing.damaged);
    assert_eq!(listing.records.len(), keys);
    for record in listing.records {
        let material = vault.material(record.id).expect("it");
        let first = private(record.name.as_str());
        assert_eq!(material[..], first, "{}", record.name);
    }
    vault.verify().expect("a good log");
}

/// The store after a restart, with both keys where there are two.
fn restarted(place: &Place, vault: Vault) -> Vault {
    drop(vault);
    let vault = common::reopened(&place.store());
    let status = vault.status();
    for key in [MASTER, NEXT] {
        let pattern = outboard_vault::Pattern::of_key(&key);
        if status.current.pattern == Some(pattern) {
            enter(&vault, Register::Current, &key);
        }
    }
    for key in [MASTER, NEXT] {
        let pattern = outboard_vault::Pattern::of_key(&key);
        match vault.register_of(pattern) {
            Some(Register::Current) | None => {}
            Some(register) => enter(&vault, register, &key),
        }
    }
    vault
}

#[test]
fn keys_serve_in_every_phase_and_over_restarts() {
    for restart in [false, true] {
        let place = Place::new();
        let again = |vault| match restart {
            true => restarted(&place, vault),
            false => vault,
        };
        let vault = filled(&place);
        enter(&vault, Register::New, &NEXT);
        let vault = again(vault);
        assert_eq!(vault.status().phase, Phase::Idle);
        vault.insert(ADMIN, &key("a")).expect("a key");
        let mut calls = Vec::new();
        let prepared = vault.prepare(ADMIN, |progress| {
            // Serving goes on: this would wait forever for a lock that is held.
            let one = vault.material(vault.record(&name("key-7")).expect("it").id);
            assert_eq!(one.expect("it")[..], private("key-7"));
            calls.push(progress.done);
        });
        assert_eq!(prepared.expect("a roll").keys, KEYS as u64 + 1);
        assert_eq!(calls, [64, 128, 151]);

        let vault = again(vault);
        assert_eq!(vault.status().phase, Phase::Prepared);
        vault.insert(ADMIN, &key("b")).expect("a key");
        let grants = Grants::from_iter([(Subject::Group(1), Right::Use)]);
        vault
            .set_grants(ADMIN, &name("key-3"), &grants)
            .expect("grants");
        vault.delete(ADMIN, &name("a")).expect("deleted");
        all_serve(&vault, KEYS + 1);
        vault.activate(ADMIN).expect("prepared");

        let vault = again(vault);
        let status = vault.status();
        assert_eq!(
            (status.phase, status.condition),
            (Phase::Activated, Condition::Open)
        );
        assert_ne!(status.current.pattern, status.old.pattern);
        vault.insert(ADMIN, &key("c")).expect("a key");
        all_serve(&vault, KEYS + 2);
        assert_eq!(vault.record(&name("key-3")).expect("it").grants, grants);
        vault.finalise(ADMIN).expect("activated");

        let vault = again(vault);
        let status = vault.status();
        assert_eq!((status.phase, status.old.pattern), (Phase::Idle, None));
        all_serve(&vault, KEYS + 2);
        drop(vault);
        let vault = common::reopened(&place.store());
        let old = vault.enter_whole(ADMIN, Register::Current, &MASTER);
        assert!(matches!(old, Err(Error::WrongMasterKey { .. })));
    }
}

#[test]
fn a_roll_is_undone_in_every_phase() {
    for steps in 0..=3 {
        let place = Place::new();
        let mut vault = filled(&place);
        enter(&vault, Register::New, &NEXT);
        if steps >= 1 {
            vault.prepare(ADMIN, drop).expect("a roll");
        }
        if steps >= 2 {
            vault.activate(ADMIN).expect("prepared");
            vault.insert(ADMIN, &key("under-both")).expect("a key");
            vault.delete(ADMIN, &name("under-both")).expect("deleted");
        }
        if steps >= 3 {
            // Keys that are changed while the old master key is not there.
            drop(vault);
            vault = common::reopened(&place.store());
            enter(&vault, Register::Current, &NEXT);
            let grants = Grants::new();
            vault
                .set_grants(ADMIN, &name("key-5"), &grants)
                .expect("grants");
            assert!(vault.cancel(ADMIN).is_err(), "the old one is not there");
            enter(&vault, Register::Old, &MASTER);
        }
        vault.cancel(ADMIN).expect("undone");
        assert!(vault.cancel(ADMIN).is_err(), "nothing to undo");
        assert_eq!(vault.status().phase, Phase::Idle);
        all_serve(&vault, KEYS);
        drop(vault);
        all_serve(&place.open(), KEYS);
    }
}

#[test]
fn steps_come_in_their_order() {
    let place = Place::new();
    let vault = filled(&place);
    assert!(vault.prepare(ADMIN, drop).is_err(), "no new key");
    assert!(vault.activate(ADMIN).is_err(), "not prepared");
    assert!(vault.finalise(ADMIN).is_err(), "not activated");
    let same = vault.enter_whole(ADMIN, Register::New, &MASTER);
    assert!(same.is_err(), "the current one is not new");
    enter(&vault, Register::New, &NEXT);
    assert!(vault.enter_whole(ADMIN, Register::New, &[9; 32]).is_err());
    assert!(vault.activate(ADMIN).is_err(), "not prepared");
    vault.prepare(ADMIN, drop).expect("a roll");
    vault.prepare(ADMIN, drop).expect("again");
    vault.activate(ADMIN).expect("prepared");
    assert!(vault.enter_whole(ADMIN, Register::New, &[9; 32]).is_err());
    assert!(vault.prepare(ADMIN, drop).is_err(), "activated");
    vault.finalise(ADMIN).expect("activated");
    enter(&vault, Register::New, &MASTER);
    vault.cancel(ADMIN).expect("a new one");
    vault.verify().expect("a good log");
}

#[test]
fn a_key_that_changes_without_the_new_master_key_is_prepared_again() {
    let place = Place::new();
    let vault = filled(&place);
    enter(&vault, Register::New, &NEXT);
    vault.prepare(ADMIN, drop).expect("a roll");
    drop(vault);
    let vault = place.open();
    assert!(vault.activate(ADMIN).is_err(), "the new one is not there");
    vault.insert(ADMIN, &key("a")).expect("a key");
    vault
        .set_grants(ADMIN, &name("key-1"), &Grants::new())
        .expect("grants");
    assert_eq!(vault.status().phase, Phase::Preparing);
    enter(&vault, Register::New, &NEXT);
    assert!(vault.activate(ADMIN).is_err(), "not prepared");
    vault.prepare(ADMIN, drop).expect("a roll");
    vault.activate(ADMIN).expect("prepared");
    vault.finalise(ADMIN).expect("activated");
    all_serve(&vault, KEYS + 1);
}
