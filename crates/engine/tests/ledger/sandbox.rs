//! A process that its kernel kills for any system call but the few that the strictest sandboxes of
//! real programs allow still counts.

use std::time::Duration;

use outboard_engine::ledger::{Reason, Snapshot, Tally};
use outboard_engine::{Operation, Path};

use crate::support::{Directory, fork, open};

/// Kills this process for every system call but `getpid` and leaving it. sshd's sandbox allows these
/// and some twenty more, the clock among them: here it has to be read without ([`reads_the_clock`]).
fn confine() {
    const ALLOWED: [libc::c_long; 2] = [libc::SYS_getpid, libc::SYS_exit_group];
    let statement = |code: u32, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let allow_if = |number: libc::c_long, skip: u8| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: skip,
        jf: 0,
        k: number as u32,
    };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0), // seccomp_data.nr
        allow_if(ALLOWED[0], 2),
        allow_if(ALLOWED[1], 1),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_KILL_PROCESS),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: filter.len() as u16,
        filter: filter.as_mut_ptr(),
    };
    // SAFETY: the program and its filter live through the calls, which copy them.
    let confined = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
            ) == 0
    };
    if !confined {
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

fn count(ledger: &'static outboard_engine::ledger::Ledger) {
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
    let ledger: &outboard_engine::ledger::Ledger =
        Box::leak(Box::new(outboard_engine::ledger::Ledger::private()));
    fork(|| {
        confine();
        count(ledger);
        ledger.close();
    })
    .join();
    assert!(ledger.counts().is_empty(), "the child's counts are its own");
}
