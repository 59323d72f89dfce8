//! A process that its kernel kills for any system call but the few that the strictest sandboxes of
//! real programs allow still counts.

use std::time::Duration;

use outboard_ledger::{Reason, Snapshot, Tally};
use outboard_operation::{Operation, Path};

use crate::support::{Directory, fork, open};

/// Kills this process for every system call but `getpid` and leaving it. sshd's sandbox allows these
/// and some twenty more, the clock among them: here it has to be read without ([`reads_the_clock`]).
fn confine() {
    if outboard_programs::sandbox::allow_only(&[libc::SYS_getpid, libc::SYS_exit_group]).is_err() {
        // SAFETY: ends the child; its status tells.
        unsafe { libc::_exit(99) };
    }
}

/// Whether a confined process can read the clock. Where the machine's own can't be read from programs
/// (a virtual machine's may not), the system has to be asked.
fn reads_the_clock() -> bool {
    let child = fork(|| {
        confine();
        let mut time = std::mem::MaybeUninit::<libc::timespec>::zeroed();
        // SAFETY: writes a timespec of ours.
        unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, time.as_mut_ptr()) };
    });
    let status = child.reap();
    let killed = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSYS;
    assert!(killed || status == 0, "wait status {status:#x}");
    if killed {
        eprintln!("passed over: this machine's clock is not read without a system call");
    }
    !killed
}

fn count(ledger: &'static outboard_ledger::Ledger) {
    ledger.record(
        Operation::P384Sign,
        Path::Scalar,
        0,
        Duration::from_micros(90),
    );
    ledger.fall_back(Operation::P384Verify, Reason::Key);
    let mut tally = Tally::of(ledger, Operation::Aes256GcmOpen, Path::Scalar);
    for _ in 0..100 {
        if tally.wants_time() {
            tally.count_timed(32, Duration::from_nanos(90));
        } else {
            tally.count(32);
        }
    }
}

#[test]
fn the_sandbox_kills() {
    let child = fork(|| {
        confine();
        // SAFETY: never returns if the sandbox works.
        unsafe { libc::getppid() };
    });
    let died = std::panic::catch_unwind(|| child.join()).is_err();
    assert!(died, "or the tests below prove nothing");
}

#[test]
fn a_confined_process_counts() {
    if !reads_the_clock() {
        return;
    }
    let directory = Directory::new();
    let ledger = open(&directory.file());
    fork(|| {
        confine();
        count(ledger);
    })
    .join();
    let total = Snapshot::read(&directory.file())
        .expect("it is there")
        .total();
    assert_eq!(total.work(Operation::P384Sign, Path::Scalar).operations, 1);
    assert_eq!(total.fallbacks(Operation::P384Verify, Reason::Key), 1);
    assert_eq!(
        total
            .work(Operation::Aes256GcmOpen, Path::Scalar)
            .operations,
        100
    );
}

#[test]
fn a_confined_process_counts_when_the_table_is_full() {
    if !reads_the_clock() {
        return;
    }
    let directory = Directory::new();
    let ledger = open(&directory.file());
    for _ in 0..130 {
        fork(|| ledger.fall_back(Operation::P384Verify, Reason::Key)).join();
    }
    fork(|| {
        confine();
        count(ledger);
    })
    .join();
    let total = Snapshot::read(&directory.file())
        .expect("it is there")
        .total();
    assert_eq!(total.fallbacks(Operation::P384Verify, Reason::Key), 131);
    assert_eq!(
        total.work(Operation::Aes256GcmOpen, Path::Scalar).bytes,
        3200
    );
}

#[test]
fn a_confined_process_counts_privately() {
    if !reads_the_clock() {
        return;
    }
    let ledger: &outboard_ledger::Ledger = Box::leak(Box::new(outboard_ledger::Ledger::private()));
    fork(|| {
        confine();
        count(ledger);
        ledger.close();
    })
    .join();
    assert!(ledger.counts().is_empty(), "the child's counts are its own");
}
