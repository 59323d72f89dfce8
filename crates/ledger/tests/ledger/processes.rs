//! Processes: their entries, their forks, their deaths. Whatever they do, the sum is right.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use outboard_ledger::{Ledger, Process, Reason, Snapshot, Work};
use outboard_operation::{Operation, Path};

use crate::support::{Directory, fork, open, wait_for_ever};

const SIGN: Operation = Operation::Rsa3072Sign;
const MICROSECOND: Duration = Duration::from_micros(1);

fn read(directory: &Directory) -> Snapshot {
    Snapshot::read(&directory.file()).expect("it was made a moment ago")
}

fn operations(snapshot: &Snapshot) -> u64 {
    snapshot.total().work(SIGN, Path::Scalar).operations
}

#[test]
fn what_is_counted_is_read() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    ledger.record(SIGN, Path::Scalar, 32, MICROSECOND);
    ledger.record(SIGN, Path::Scalar, 64, 3 * MICROSECOND);
    ledger.fall_back(Operation::P256Verify, Reason::Profile);

    let snapshot = read(&directory);
    let [process] = &snapshot.processes[..] else {
        panic!("one process: {:?}", snapshot.processes);
    };
    assert_eq!(process.pid, std::process::id());
    assert!(process.alive);
    assert!(process.program.starts_with("ledger"), "{}", process.program);
    // The system's clock may have been set back.
    let age = process.started.elapsed().unwrap_or_default();
    assert!(age < Duration::from_secs(60), "{age:?}");
    assert_eq!(
        process.counts.work(SIGN, Path::Scalar),
        Work {
            operations: 2,
            bytes: 96,
            timed_operations: 2,
            timed_bytes: 96,
            nanoseconds: 4000,
        }
    );
    assert_eq!(process.counts.rows().count(), 1);
    let fallbacks: Vec<_> = process.counts.fallback_rows().collect();
    assert_eq!(fallbacks.len(), 1);
    assert_eq!(fallbacks[0].operation, Operation::P256Verify);
    assert_eq!(
        (fallbacks[0].reason, fallbacks[0].count),
        (Reason::Profile, 1)
    );
    assert_eq!(ledger.counts(), process.counts);
    assert!(snapshot.programs.is_empty());
}

#[test]
fn who_counts_nothing_takes_no_entry() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    assert!(read(&directory).processes.is_empty());
    ledger.close();
    assert!(read(&directory).processes.is_empty());
}

#[test]
fn a_child_counts_for_itself() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
    let child = fork(|| {
        ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
        ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
        wait_for_ever();
    });
    let of = |pid: u32| {
        let snapshot = read(&directory);
        let process = snapshot.processes.iter().find(|process| process.pid == pid);
        process.map_or((0, false), |process| {
            let work = process.counts.work(SIGN, Path::Scalar);
            (work.operations, process.alive)
        })
    };
    while of(child.pid()).0 < 2 {
        std::thread::yield_now();
    }
    assert_eq!(of(child.pid()), (2, true));
    assert_eq!(of(std::process::id()), (1, true));

    let pid = child.pid();
    child.kill();
    assert_eq!(of(pid), (2, false), "killed, and its counts are there");
    assert_eq!(operations(&read(&directory)), 3);
}

#[test]
fn a_grandchild_counts_for_itself() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    fork(|| {
        ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
        fork(|| ledger.record(SIGN, Path::Scalar, 0, MICROSECOND)).join();
        ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
    })
    .join();
    let snapshot = read(&directory);
    let counts: Vec<u64> = snapshot
        .processes
        .iter()
        .map(|process| process.counts.work(SIGN, Path::Scalar).operations)
        .collect();
    assert_eq!(counts, [2, 1]);
}

#[test]
fn closing_gives_the_entry_up_and_keeps_the_counts() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
    ledger.close();
    let snapshot = read(&directory);
    assert!(!snapshot.processes[0].alive);
    assert_eq!(operations(&snapshot), 1);

    ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
    assert_eq!(operations(&read(&directory)), 2);
    ledger.close();
    ledger.close();
    assert_eq!(operations(&read(&directory)), 2);
}

#[test]
fn more_processes_than_entries_lose_nothing() {
    const PROCESSES: u64 = 400;
    let directory = Directory::new();
    let ledger = open(&directory.file());
    ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
    for _ in 0..PROCESSES {
        // They die without closing, and their parent never opens the ledger again: the worst case.
        fork(|| ledger.record(SIGN, Path::Scalar, 0, MICROSECOND)).join();
    }
    let full = read(&directory);
    assert_eq!(operations(&full), PROCESSES + 1);
    assert_eq!(full.processes.len(), 128);
    assert_eq!(full.programs.len(), 1, "{:?}", full.programs);
    assert_eq!(full.programs[0].program, full.processes[0].program);

    // The next one that opens it makes room.
    open(&directory.file());
    let collected = read(&directory);
    assert_eq!(operations(&collected), PROCESSES + 1);
    let [process] = &collected.processes[..] else {
        panic!("those that died were added up: {:?}", collected.processes);
    };
    assert!(process.alive);
    assert_eq!(collected.programs[0].processes, 127);

    let since = collected.since(&full);
    assert!(
        since.processes.is_empty() && since.programs.is_empty(),
        "{since:?}"
    );
}

#[test]
fn a_full_table_of_the_living_still_counts() {
    let directory = Directory::new();
    let ledger = open(&directory.file());
    let children: Vec<_> = (0..140)
        .map(|_| {
            fork(|| {
                ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
                wait_for_ever();
            })
        })
        .collect();
    while operations(&read(&directory)) < 140 {
        std::thread::yield_now();
    }
    let late = open(&directory.file());
    late.record(SIGN, Path::Scalar, 0, MICROSECOND);
    let snapshot = read(&directory);
    assert_eq!(operations(&snapshot), 141);
    assert_eq!(snapshot.processes.len(), 128);
    assert!(snapshot.processes.iter().all(|process| process.alive));
    late.close();
    children.into_iter().for_each(|child| child.kill());
}

#[test]
fn threads_and_forks_add_up() {
    const THREADS: u64 = 8;
    const FORKS: u64 = 24;
    const EACH: u64 = 50;
    let directory = Directory::new();
    let ledger = open(&directory.file());
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..FORKS {
                    let count = || {
                        for _ in 0..EACH {
                            ledger.record(SIGN, Path::Scalar, 7, MICROSECOND);
                        }
                    };
                    let child = fork(count);
                    count();
                    child.join();
                }
            });
        }
    });
    let work = read(&directory).total().work(SIGN, Path::Scalar);
    let expected = THREADS * FORKS * EACH * 2;
    assert_eq!(work.operations, expected);
    assert_eq!(work.bytes, 7 * expected);
    assert_eq!(work.nanoseconds, 1000 * expected);
}

/// Threads that count for the first time at once may each take an entry; all but one are given back.
#[test]
fn threads_that_begin_together_share_an_entry() {
    const ROUNDS: u64 = 300;
    const THREADS: u64 = 2;
    let directory = Directory::new();
    let ledger = open(&directory.file());
    // Not a `Barrier`: it would wake one after the other.
    let arrived = AtomicU64::new(0);
    let meet = |times| {
        arrived.fetch_add(1, SeqCst);
        while arrived.load(SeqCst) < times * THREADS {
            std::thread::yield_now();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    meet(2 * round + 1);
                    ledger.close();
                    meet(2 * round + 2);
                    ledger.record(SIGN, Path::Scalar, 0, MICROSECOND);
                }
            });
        }
    });
    let snapshot = read(&directory);
    assert_eq!(operations(&snapshot), ROUNDS * THREADS);
    let alive = |process: &&Process| process.alive;
    assert_eq!(snapshot.processes.iter().filter(alive).count(), 1);
    let last = snapshot.processes.iter().find(alive).expect("one");
    assert_eq!(last.counts.work(SIGN, Path::Scalar).operations, THREADS);
}

#[test]
fn many_create_one_ledger() {
    for _ in 0..20 {
        let directory = Directory::new();
        let file = directory.file();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| open(&file).record(SIGN, Path::Scalar, 0, MICROSECOND));
            }
        });
        assert_eq!(operations(&read(&directory)), 8);
        let left: Vec<_> = std::fs::read_dir(directory.path())
            .expect("it is there")
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        assert_eq!(left, ["ledger"], "no temporary file is left");
    }
}

#[test]
fn no_descriptor_stays_open() {
    let count = || std::fs::read_dir("/proc/self/fd").expect("proc").count();
    let directory = Directory::new();
    // Other tests of this process open files of their own; some moment is quiet.
    let quiet = (0..1000).any(|_| {
        let before = count();
        Ledger::open(&directory.file()).close();
        let after = count();
        std::thread::sleep(MICROSECOND);
        before == after && {
            let before = count();
            for _ in 0..20 {
                Ledger::open(&directory.file()).close();
            }
            count() < before + 10
        }
    });
    assert!(quiet);
}

#[test]
fn a_private_ledger_counts() {
    let ledger = Ledger::private();
    ledger.record(SIGN, Path::Scalar, 5, MICROSECOND);
    assert_eq!(ledger.counts().work(SIGN, Path::Scalar).bytes, 5);
    assert_eq!(ledger.status().to_string(), "counting privately");
}
