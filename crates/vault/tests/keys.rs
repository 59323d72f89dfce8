//! Keys, grants, policies, approvals, the audit log: from outside.

mod common;

use common::{ADMIN, MASTER, NEXT, Place, enter, key, name, private};
use outboard_vault::{
    Act, Approvable, Approvals, Condition, Error, Grants, KeyId, NewKey, Operation, Outcome,
    Policy, Register, Right, Subject, Vault,
};

#[test]
fn a_key_is_what_it_was_after_a_restart() {
    let place = Place::new();
    let id = {
        let vault = place.create();
        let record = vault.insert(ADMIN, &key("site")).expect("a key");
        assert_eq!(vault.record(record.id).expect("it"), record);
        record.id
    };
    let vault = common::reopened(&place.store());
    assert_eq!(vault.status().condition, Condition::Locked);
    assert!(matches!(vault.material(id), Err(Error::Locked { .. })));
    let record = vault.record(&name("site")).expect("its attributes");
    assert_eq!(record.id, id);
    enter(&vault, Register::Current, &MASTER);
    assert_eq!(vault.material(id).expect("it")[..], private("site"));
    assert_eq!(vault.record(id).expect("it"), record);
    assert!(record.grants.may_use(33, &[]));
    assert_eq!(vault.verify().expect("a good log").keys, 1);
}

#[test]
fn without_a_master_key_there_are_no_keys() {
    let place = Place::new();
    let vault = Vault::create(place.store(), ADMIN).expect("a store");
    assert_eq!(vault.status().condition, Condition::Empty);
    assert!(matches!(
        vault.insert(ADMIN, &key("site")),
        Err(Error::Empty)
    ));
    enter(&vault, Register::Current, &MASTER);
    let id = vault.insert(ADMIN, &key("site")).expect("a key").id;
    vault.lock(ADMIN).expect("a log");
    assert!(matches!(vault.material(id), Err(Error::Locked { .. })));
    let wrong = vault.enter_whole(ADMIN, Register::Current, &NEXT);
    assert!(matches!(wrong, Err(Error::WrongMasterKey { .. })));
    assert!(matches!(
        vault.insert(ADMIN, &key("b")),
        Err(Error::Locked { .. })
    ));
    enter(&vault, Register::Current, &MASTER);
    assert_eq!(vault.material(id).expect("it")[..], private("site"));
}

#[test]
fn a_master_key_of_parts_opens_the_vault() {
    let place = Place::new();
    let vault = Vault::create(place.store(), ADMIN).expect("a store");
    let parts = [[1; 32], [2; 32], [4; 32]];
    let enter_parts = |vault: &Vault| {
        for (at, part) in parts.iter().enumerate() {
            let entered = vault.enter_part(at as u32, Register::Current, part);
            assert_eq!(entered.expect("a part").parts, at + 1);
        }
        vault.complete(ADMIN, Register::Current)
    };
    assert!(vault.complete(ADMIN, Register::Current).is_err(), "no part");
    let pattern = enter_parts(&vault).expect("a key").pattern;
    let id = vault.insert(ADMIN, &key("site")).expect("a key").id;
    drop(vault);
    let vault = common::reopened(&place.store());
    vault
        .enter_part(1, Register::Current, &parts[0])
        .expect("a part");
    assert!(
        vault.complete(ADMIN, Register::Current).is_err(),
        "one part"
    );
    vault
        .enter_part(2, Register::Current, &parts[0])
        .expect("a part");
    assert!(vault.complete(ADMIN, Register::Current).is_err(), "zeros");
    vault.discard_parts(Register::Current);
    assert_eq!(enter_parts(&vault).expect("the key").pattern, pattern);
    assert_eq!(vault.material(id).expect("it")[..], private("site"));
    let parts = vault.audit().map(|entry| entry.expect("an entry"));
    let parts = parts.filter(|entry| entry.act == Act::EnterPart);
    assert_eq!(
        parts.map(|entry| entry.uid).collect::<Vec<_>>(),
        [0, 1, 2, 1, 2, 0, 1, 2]
    );
}

#[test]
fn names_are_unique_and_change() {
    let place = Place::new();
    let vault = place.create();
    let id = vault.insert(ADMIN, &key("one")).expect("a key").id;
    assert!(matches!(
        vault.insert(ADMIN, &key("one")),
        Err(Error::NameTaken { .. })
    ));
    vault.insert(ADMIN, &key("two")).expect("a key");
    let taken = vault.rename(ADMIN, id, &name("two"));
    assert!(matches!(taken, Err(Error::NameTaken { .. })));
    vault
        .rename(ADMIN, &name("one"), &name("three"))
        .expect("a free name");
    assert_eq!(vault.record(&name("three")).expect("it").id, id);
    assert!(matches!(
        vault.record(&name("one")),
        Err(Error::NoKey { .. })
    ));
    assert_eq!(vault.material(id).expect("it")[..], private("one"));
    vault.insert(ADMIN, &key("one")).expect("free again");
    let both = vault.insert_all(ADMIN, &[key("four"), key("four")]);
    assert!(matches!(both, Err(Error::NameTaken { .. })));
    let names: Vec<_> = vault.records().expect("all").records;
    let names: Vec<_> = names.iter().map(|record| record.name.as_str()).collect();
    assert_eq!(names, ["one", "three", "two"], "all or none");
    vault.verify().expect("a good log");
}

#[test]
fn attributes_change_and_keys_go() {
    let place = Place::new();
    let vault = place.create();
    let id = vault.insert(ADMIN, &key("site")).expect("a key").id;
    let grants = Grants::from_iter([(Subject::Group(7), Right::Administer)]);
    vault.set_grants(ADMIN, id, &grants).expect("grants");
    let policy = Policy {
        operations: [Operation::Sign].into(),
        rate: Some(100),
        ..Policy::default()
    };
    vault.set_policy(ADMIN, id, &policy).expect("a policy");
    vault.set_certificates(ADMIN, id, b"a chain").expect("one");
    let long = vault.set_certificates(ADMIN, id, &[0; 32_769]);
    assert!(matches!(long, Err(Error::Invalid { .. })));
    drop(vault);
    let vault = place.open();
    let record = vault.record(id).expect("it");
    assert_eq!((record.grants, record.policy), (grants, policy));
    assert_eq!(record.certificates, b"a chain");
    let without = vault.set_certificates(ADMIN, id, b"").expect("it");
    assert_eq!(without.certificates, b"");
    assert_eq!(vault.record(id).expect("it"), without);
    let export = vault.export(ADMIN, id);
    assert!(matches!(export, Err(Error::NotExportable { .. })));
    vault.delete(ADMIN, id).expect("no approvals");
    assert!(matches!(vault.material(id), Err(Error::NoKey { .. })));
    assert!(matches!(vault.delete(ADMIN, id), Err(Error::NoKey { .. })));
    assert!(matches!(
        vault.material(KeyId([0; 16])),
        Err(Error::NoKey { .. })
    ));
    let acts: Vec<_> = vault
        .audit()
        .map(|entry| entry.expect("an entry"))
        .collect();
    let told: Vec<_> = acts
        .iter()
        .map(|entry| (entry.act, entry.outcome))
        .collect();
    use Outcome::{Done, Refused};
    assert_eq!(
        told,
        [
            (Act::CreateStore, Done),
            (Act::EnterMasterKey, Done),
            (Act::Insert, Done),
            (Act::SetGrants, Done),
            (Act::SetPolicy, Done),
            (Act::SetCertificates, Done),
            (Act::EnterMasterKey, Done),
            (Act::SetCertificates, Done),
            (Act::Export, Refused),
            (Act::Delete, Done),
        ]
    );
    assert!(acts[3..6].iter().all(|entry| entry.key == Some(id)));
    assert_eq!(vault.verify().expect("a good log").authenticated, Some(10));
}

#[test]
fn export_and_deletion_wait_for_enough_administrators() {
    let place = Place::new();
    let vault = place.create();
    let policy = Policy {
        approvals: Some(Approvals {
            needed: 2,
            administrators: [1, 2, 3].into(),
        }),
        ..Policy::default()
    };
    let new = NewKey {
        exportable: true,
        policy: policy.clone(),
        ..key("site")
    };
    let id = vault.insert(ADMIN, &new).expect("a key").id;
    let too_few = |result: Result<(), Error>| match result {
        Err(Error::Approvals { needed, given, .. }) => (needed, given),
        other => panic!("{other:?}"),
    };
    let export = |actor| vault.export(actor, id).map(drop);
    assert_eq!(too_few(export(ADMIN)), (2, 0));
    assert_eq!(too_few(export(1)), (2, 1), "the one who acts counts");
    assert!(vault.approve(ADMIN, id, &Approvable::Export).is_err());
    assert_eq!(
        vault.approve(1, id, &Approvable::Export).expect("one"),
        (1, 2)
    );
    assert_eq!(
        vault.approve(1, id, &Approvable::Export).expect("again"),
        (1, 2)
    );
    assert_eq!(too_few(export(1)), (2, 1), "once");
    assert_eq!(too_few(vault.delete(2, id)), (2, 1), "for the export alone");
    assert_eq!(
        vault.export(2, id).expect("both").private[..],
        private("site")
    );
    assert_eq!(too_few(export(2)), (2, 1), "approvals are spent");

    // Nobody gets round them by another policy.
    let open = Policy::default();
    let without = vault.set_policy(1, id, &open);
    assert_eq!(too_few(without.map(drop)), (2, 1));
    vault
        .approve(2, id, &Approvable::Policy(policy))
        .expect("of this one");
    assert_eq!(too_few(vault.set_policy(1, id, &open).map(drop)), (2, 1));

    // Together they give it one.
    let fewer = Policy {
        approvals: Some(Approvals {
            needed: 2,
            administrators: [1, 2].into(),
        }),
        ..Policy::default()
    };
    let agreed = Approvable::Policy(fewer.clone());
    vault.approve(2, id, &agreed).expect("of this one");
    vault.set_policy(1, id, &fewer).expect("both");

    // A change of the key ends them.
    vault.approve(2, id, &Approvable::Delete).expect("one");
    vault.rename(ADMIN, id, &name("other")).expect("a name");
    assert_eq!(too_few(vault.delete(1, id)), (2, 1));
    vault.approve(2, id, &Approvable::Delete).expect("one");
    vault.delete(1, id).expect("both");
    vault.verify().expect("a good log");
}

#[test]
fn one_process_has_a_store_and_nobody_else_reaches_it() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let vault = place.create();
    assert!(matches!(
        Vault::open(place.store()),
        Err(Error::InUse { .. })
    ));
    assert!(matches!(
        Vault::create(place.store(), ADMIN),
        Err(Error::InUse { .. })
    ));
    drop(vault);
    assert!(matches!(
        Vault::create(place.store(), ADMIN),
        Err(Error::Exists { .. })
    ));
    let mode = |path: &std::path::Path| {
        let metadata = std::fs::metadata(path).expect("it is there");
        metadata.permissions().mode() & 0o7777
    };
    assert_eq!(mode(&place.store()), 0o700);
    for entry in std::fs::read_dir(place.store()).expect("the store") {
        assert_eq!(mode(&entry.expect("a file").path()), 0o600);
    }
    let permissions = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(place.file(), permissions).expect("ours");
    let error = Vault::open(place.store()).map(drop).expect_err("exposed");
    assert!(error.to_string().contains("run 'chmod 600 "), "{error}");
    assert!(matches!(
        Vault::open(place.0.path().join("none")),
        Err(Error::Missing { .. })
    ));
}
