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
    let vault = common::reopened(&elsewhere);
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
    for other in [&b"something else"[..], b""] {
        fs::write(&backup, other).expect("it is ours");
        assert!(matches!(restore(), Err(Error::NoBackup { .. })));
    }
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

/// A store whose file may not grow, as on a full disk: a limit of the process, so in a child.
#[test]
fn a_store_that_cannot_grow_says_so_and_loses_nothing() {
    let place = Place::new();
    drop(place.create());
    let child = std::process::Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "child_without_room", "--ignored", "--nocapture"])
        .env("VAULT_PLACE", place.store())
        .output()
        .expect("a child");
    let output = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success(), "{output}");
    let inserted: Vec<_> = output
        .lines()
        .filter_map(|line| line.strip_prefix("inserted "))
        .collect();
    assert!(
        !inserted.is_empty() && output.contains("refused: "),
        "{output}"
    );
    let vault = place.open();
    assert_eq!(vault.records().expect("all").records.len(), inserted.len());
    for text in inserted {
        let found = vault.unwrap(&name(text)).expect("acknowledged");
        assert_eq!(found.private[..], private(text));
    }
    vault.verify().expect("a good log");
    vault.insert(ADMIN, &key("after")).expect("room again");
}

#[test]
#[ignore = "a child of the test above"]
fn child_without_room() {
    let Some(store) = std::env::var_os("VAULT_PLACE").map(std::path::PathBuf::from) else {
        return;
    };
    let vault = common::open(&store);
    let size = fs::metadata(store.join("vault.db")).expect("it").len() + 32_768;
    let limit = libc::rlimit {
        rlim_cur: size,
        rlim_max: size,
    };
    // SAFETY: of this process alone; what is too long fails then instead of a signal.
    unsafe {
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &limit), 0);
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
    println!();
    for at in 0..1000 {
        let text = format!("key-{at}");
        match vault.insert(ADMIN, &key(&text)) {
            Ok(_) => println!("inserted {text}"),
            Err(error) => {
                println!("refused: {error}");
                assert!(error.to_string().contains("vault.db"), "{error}");
                assert_eq!(
                    vault.records().expect("all").records.len(),
                    at,
                    "reading goes on"
                );
                vault.verify().expect("a good log");
                return;
            }
        }
    }
    panic!("no limit");
}

/// A file system that is mounted read-only, in a mount namespace of the test's own. Only root may do that.
#[test]
fn a_read_only_store_serves() {
    let place = Place::new();
    let vault = place.create();
    let id = vault.insert(ADMIN, &key("site")).expect("a key").id;
    drop(vault);
    let store = std::ffi::CString::new(place.store().to_str().expect("text")).expect("no zeros");
    let tried = std::thread::spawn(move || {
        let (none, flags) = (std::ptr::null(), libc::MS_REC | libc::MS_PRIVATE);
        let read_only = libc::MS_BIND | libc::MS_REMOUNT | libc::MS_RDONLY;
        // SAFETY: this thread alone sees these mounts; all strings end.
        let mounted = unsafe {
            libc::unshare(libc::CLONE_FS | libc::CLONE_NEWNS) == 0
                && libc::mount(none, c"/".as_ptr(), none, flags, none.cast()) == 0
                && libc::mount(
                    store.as_ptr(),
                    store.as_ptr(),
                    none,
                    libc::MS_BIND,
                    none.cast(),
                ) == 0
                && libc::mount(none, store.as_ptr(), none, read_only, none.cast()) == 0
        };
        if !mounted {
            return false;
        }
        let vault = Vault::open(store.to_str().expect("text")).expect("the store");
        let entered = vault
            .enter_whole(ADMIN, Register::Current, &MASTER)
            .expect("the master key");
        assert!(matches!(entered.unlogged, Some(Error::ReadOnly { .. })));
        assert!(!vault.status().writable);
        assert_eq!(vault.material(id).expect("it")[..], private("site"));
        let refused = vault.insert(ADMIN, &key("other"));
        assert!(
            matches!(refused, Err(Error::ReadOnly { .. })),
            "{refused:?}"
        );
        vault.verify().expect("a good log");
        true
    });
    if !tried.join().expect("no failed assertion") {
        println!("not root: not tried");
    }
}
