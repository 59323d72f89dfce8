//! Files that are no ledger, or not ours: refused, left as they are, and counting goes on.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::Path as FilePath;
use std::time::Duration;

use outboard_ledger::{Ledger, Snapshot, Status, reset};
use outboard_operation::{Operation, Path};
use outboard_shared_memory::FileError;

use crate::support::{Directory, fork, is_shared, open};

/// A process that is pointed at `path` counts privately, a reader and a reset fail, each for the
/// reason given.
fn assert_refused(path: &FilePath, reason: &str) {
    let ledger = Ledger::open(path);
    let Status::Private(Some(error)) = ledger.status() else {
        panic!("{} should be refused: {}", path.display(), ledger.status());
    };
    assert!(error.to_string().contains(reason), "{error}");
    ledger.record(Operation::X25519Derive, Path::Scalar, 32, Duration::ZERO);
    assert_eq!(ledger.counts().rows().count(), 1, "it counts all the same");
    assert_unreadable(path, reason);
}

fn assert_unreadable(path: &FilePath, reason: &str) {
    for error in [
        Snapshot::read(path).expect_err("it is no ledger"),
        reset(path, None).expect_err("it is no ledger"),
    ] {
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// A good ledger's bytes.
fn good(directory: &Directory) -> Vec<u8> {
    open(&directory.file()).close();
    let bytes = fs::read(directory.file()).expect("it was just made");
    fs::remove_file(directory.file()).expect("it is ours");
    bytes
}

fn write(path: &FilePath, bytes: &[u8]) {
    fs::write(path, bytes).expect("the directory is ours");
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).expect("it is ours");
}

#[test]
fn a_new_ledger_is_its_owners_alone() {
    let directory = Directory::new();
    let file = directory.file();
    // In a child, for the mask is the whole process's. (glibc's allocator survives a fork.)
    fork(|| {
        // SAFETY: has no preconditions.
        unsafe { libc::umask(0o777) };
        Ledger::open(&file);
    })
    .join();
    let metadata = fs::metadata(directory.file()).expect("it was just made");
    assert_eq!(metadata.mode() & 0o7777, 0o600);
    assert!(
        metadata.blocks() * 512 >= metadata.len(),
        "reserved, no holes"
    );
}

#[test]
fn nothing_there() {
    let directory = Directory::new();
    let error = Snapshot::read(&directory.file()).expect_err("there is none");
    assert!(error.is_missing(), "{error}");
    assert!(!directory.file().exists(), "a reader makes none");
    let nowhere = directory.path().join("no/such/directory");
    let status = Ledger::open(&nowhere).status().to_string();
    assert!(status.contains("cannot create"), "{status}");
    assert_unreadable(&nowhere, "there is no ledger");
}

#[test]
fn other_content() {
    let directory = Directory::new();
    let good = good(&directory);
    let mut garbage = good.clone();
    let mut state = 0x9e37_79b9_u32;
    for byte in &mut garbage {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8;
    }
    let with = |offset: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[offset] ^= byte;
        bytes
    };
    // With tables of other sizes, in a file of our size or of another.
    let other_build = format!(
        "of version 4, but another build of Outboard made it: a size in it is {} where {} is expected (restart the programs",
        good.len() ^ 1,
        good.len()
    );
    let cases: &[(&str, Vec<u8>)] = &[
        ("wrong size", Vec::new()),
        ("wrong size", good[..good.len() - 1].to_vec()),
        ("wrong size", good[..64].to_vec()),
        ("wrong size", [&good[..], &[0]].concat()),
        ("wrong beginning", vec![0; good.len()]),
        ("wrong beginning", garbage),
        ("wrong beginning", with(0, 1)),
        ("of version 12, not 4 (restart the programs", with(8, 8)),
        (&other_build, with(16, 1)),
        (&other_build, [&with(16, 1)[..], &[0]].concat()),
    ];
    for (reason, bytes) in cases {
        write(&directory.file(), bytes);
        assert_refused(&directory.file(), reason);
        let after = fs::read(directory.file()).expect("it is still there");
        assert!(after == *bytes, "{reason}: changed");
        fs::remove_file(directory.file()).expect("it is ours");
    }
    write(&directory.file(), &good);
    assert!(
        is_shared(&Ledger::open(&directory.file())),
        "or the above proves nothing"
    );
}

/// As after an upgrade: what is said of the old file is what happens to it.
#[test]
fn an_earlier_version_is_replaced_by_a_program() {
    let directory = Directory::new();
    let mut earlier = good(&directory);
    earlier[8] -= 1;
    write(&directory.file(), &earlier);
    let error = Snapshot::read(&directory.file()).expect_err("it is an earlier one");
    let remedy = "a new one replaces it when one of the programs that run under Outboard starts";
    assert!(error.to_string().contains(remedy), "{error}");
    assert!(is_shared(&Ledger::open(&directory.file())));
    Snapshot::read(&directory.file()).expect("it is a new one");
}

#[test]
fn no_regular_file() {
    let directory = Directory::new();
    let target = directory.path().join("target");
    open(&target);
    let link = directory.path().join("link");
    symlink(&target, &link).expect("the directory is ours");
    assert_refused(&link, "no regular file");
    let nowhere = directory.path().join("nowhere");
    symlink(directory.path().join("new"), &nowhere).expect("the directory is ours");
    assert_refused(&nowhere, "no regular file");
    assert!(!directory.path().join("new").exists());

    assert_refused(directory.path(), "no regular file");
    assert_refused(FilePath::new("/dev/zero"), "no regular file");

    let pipe = directory.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("coreutils").success());
    assert_refused(&pipe, "no regular file");
}

#[test]
fn open_to_others() {
    let directory = Directory::new();
    let good = good(&directory);
    write(&directory.file(), &good);
    for mode in [0o640, 0o620, 0o604, 0o602, 0o666] {
        fs::set_permissions(directory.file(), fs::Permissions::from_mode(mode)).expect("ours");
        assert_refused(&directory.file(), "open to others");
    }
}

#[test]
fn of_another_user() {
    const NOBODY: u32 = 65534;
    let directory = Directory::new();
    let good = good(&directory);
    write(&directory.file(), &good);
    // SAFETY: has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return; // only root can give a file away
    }
    std::os::unix::fs::chown(directory.file(), Some(NOBODY), None).expect("root may");
    let ledger = Ledger::open(&directory.file());
    assert!(matches!(
        ledger.status(),
        Status::Private(Some(error)) if matches!(error.reason, FileError::Foreign { owner: NOBODY })
    ));
    assert!(
        fs::read(directory.file()).expect("root may") == good,
        "unchanged"
    );
    // Root's command may look.
    assert!(Snapshot::read(&directory.file()).is_ok());
}

/// A ledger of our own full of nonsense behind a good beginning: everything goes on, nothing hangs.
#[test]
fn nonsense_behind_a_good_beginning() {
    let directory = Directory::new();
    let good = good(&directory);
    for seed in 1..=20_u64 {
        let mut bytes = good.clone();
        let mut state = seed;
        for word in bytes[64..].chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Sometimes nearly meaningful: small numbers are states, processes and counters.
            let value = if state % 3 == 0 {
                state
            } else {
                (state % 7) | ((state % 5) << 32)
            };
            word.copy_from_slice(&value.to_ne_bytes());
        }
        if seed > 1 {
            // Words 9 and 10, the fold counters. Where they differ, readers wait for a moment.
            bytes.copy_within(72..80, 80);
        }
        write(&directory.file(), &bytes);
        let ledger = Ledger::open(&directory.file());
        assert!(is_shared(&ledger), "{}", ledger.status());
        ledger.record(Operation::P521Sign, Path::Scalar, 1, Duration::from_secs(1));
        let snapshot = Snapshot::read(&directory.file()).expect("its beginning is good");
        let total = snapshot.total();
        for row in total.rows() {
            row.work.estimated_nanoseconds();
        }
        for process in &snapshot.processes {
            assert!(!process.program.chars().any(char::is_control));
        }
        snapshot.since(&snapshot);
        reset(&directory.file(), None).expect("it is ours");
        let after = Snapshot::read(&directory.file()).expect("its beginning is good");
        assert!(after.total().is_empty());
        fs::remove_file(directory.file()).expect("it is ours");
    }
}

/// Whoever may write the file can shorten it while it is read; the reader lives.
#[test]
fn shortened_while_read() {
    let directory = Directory::new();
    let good = good(&directory);
    write(&directory.file(), &good);
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let file = File::options()
                .write(true)
                .open(directory.file())
                .expect("ours");
            while !done.load(std::sync::atomic::Ordering::Relaxed) {
                file.set_len(100).expect("ours");
                file.set_len(good.len() as u64).expect("ours");
                file.write_all_at(&good[..100], 0).expect("ours");
            }
        });
        for _ in 0..300 {
            let _ = Snapshot::read(&directory.file());
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// A process that may not write files of that size counts privately, and lives: the kernel would end
/// it for trying.
#[test]
fn a_limit_on_files() {
    let directory = Directory::new();
    let file = directory.file();
    fork(|| {
        let none = libc::rlimit {
            rlim_cur: 0,
            rlim_max: 0,
        };
        // SAFETY: reads the limit that it is given.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &none) };
        let ledger = Ledger::open(&file);
        ledger.record(Operation::X25519Derive, Path::Scalar, 0, Duration::ZERO);
    })
    .join();
    let left = fs::read_dir(directory.path()).expect("it is ours").count();
    assert_eq!(left, 0, "nothing is left behind");
}

/// No room for a ledger: found out when it is made, not by a bus error when it is used.
#[test]
fn a_full_file_system() {
    // SAFETY: has no preconditions.
    if unsafe { libc::geteuid() } != 0 {
        return; // only root can mount
    }
    let directory = Directory::new();
    let mount = |arguments: &[&str]| {
        let status = std::process::Command::new(arguments[0])
            .args(&arguments[1..])
            .arg(directory.path())
            .status();
        status.is_ok_and(|status| status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs"]) {
        return; // a container without that right
    }
    let refused = std::panic::catch_unwind(|| {
        let ledger = Ledger::open(&directory.file());
        assert!(
            ledger.status().to_string().contains("No space left"),
            "{}",
            ledger.status()
        );
        let left = fs::read_dir(directory.path())
            .expect("it is mounted")
            .count();
        assert_eq!(left, 0, "nothing is left behind");
    });
    assert!(mount(&["umount", "--lazy"])); // a child of another test may hold a file
    refused.unwrap();
}

/// Whose a ledger is, the file system says. What it holds itself may be a lie.
#[test]
fn nobody_counts_as_somebody_else() {
    let directory = Directory::new();
    open(&directory.file()).record(Operation::X25519Derive, Path::Scalar, 0, Duration::ZERO);
    // The third word of each entry: where the first versions kept it.
    const HEADER: u64 = 128;
    const ENTRY: u64 = 64;
    let file = File::options().write(true).open(directory.file());
    let file = file.expect("it is ours");
    for entry in 0..160 {
        let place = HEADER + entry * ENTRY + 16;
        file.write_all_at(&54_321_u64.to_ne_bytes(), place)
            .expect("it is ours");
    }
    let snapshot = Snapshot::read(&directory.file()).expect("it is there");
    // SAFETY: has no preconditions.
    let user = unsafe { libc::geteuid() };
    let users: Vec<u32> = snapshot.processes.iter().map(|one| one.uid).collect();
    assert_eq!(users, [user]);
}
