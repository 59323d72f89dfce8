//! ML-KEM and ML-DSA in processes of their own: what the ledger counts, and what is kept where there is no memory.

mod common;

use common::asynchronous::{apart, nowhere, open};
use common::calls::{call, mechanism};
use common::lattices::{SETS, decapsulate, encapsulate, generate, sign, value, verify};
use cryptoki_sys::*;
use outboard_engine::lattice::has_lanes;
use outboard_engine::ledger::Snapshot;
use outboard_engine::profile::Decision;
use outboard_engine::{Machine, Operation, Path};

/// Each operation runs where the profile says, and is counted there: across the lanes where that is built in.
#[test]
fn operations_are_counted_on_their_path() {
    let directory = nowhere();
    apart(directory.path(), |functions| {
        let all = (functions, open(functions, 1, CKF_RW_SESSION));
        for set in SETS {
            let pair = generate(all, CKM_ML_DSA_KEY_PAIR_GEN, set).expect("a pair");
            let none = || mechanism(CKM_ML_DSA);
            for message in [b"first", b"again"] {
                let signature = sign(all, none(), pair.1, message).expect("a signature");
                verify(all, none(), pair.0, message, &signature).expect("it is one");
            }
            let pair = generate(all, CKM_ML_KEM_KEY_PAIR_GEN, set).expect("a pair");
            for _ in 0..2 {
                let (ciphertext, one) = encapsulate(all, pair.0).expect("a secret");
                let other = decapsulate(all, pair.1, &ciphertext).expect("a secret");
                assert_eq!(value(all, one, CKA_VALUE), value(all, other, CKA_VALUE));
            }
        }
    });
    let snapshot = Snapshot::read(&directory.path().join("ledger")).expect("a ledger");
    let (counts, choices) = (
        snapshot.total(),
        Decision::built_in(&Machine::glance(), "3.0").choices,
    );
    let mine = |name: &str| name.starts_with("ml-");
    let operations = Operation::ALL.iter().filter(|any| mine(any.name()));
    for &operation in operations {
        let path = match choices.path(operation) {
            Path::Wide if has_lanes() => Path::Wide,
            _ => Path::Scalar,
        };
        let counted = counts.work(operation, path).operations;
        let expected = if operation.name().ends_with("keygen") {
            1
        } else {
            2
        };
        assert_eq!(
            counted,
            expected,
            "{} on path {}",
            operation.name(),
            path.name()
        );
    }
}

/// Keys keep nothing in the reserve that the module has for operations: else it would be used up, and the module refuse all further calls.
#[test]
fn keys_keep_nothing_where_there_is_no_memory() {
    let directory = nowhere();
    apart(directory.path(), |functions| {
        let all = (functions, open(functions, 1, CKF_RW_SESSION));
        let pair = |kind| generate(all, kind, CKP_ML_DSA_87).expect("a pair");
        let keys: Vec<_> = (0..8).map(|_| pair(CKM_ML_DSA_KEY_PAIR_GEN)).collect();
        let (public, _) = pair(CKM_ML_KEM_KEY_PAIR_GEN);
        let sign = |key| sign(all, mechanism(CKM_ML_DSA), key, b"m");
        // What it makes once, it makes now.
        sign(keys[0].1).expect("a signature");

        without_memory(|| {
            for (_, private) in &keys {
                for _ in 0..2 {
                    sign(*private).expect("a signature");
                }
            }
            encapsulate(all, public).expect("a secret");
        });
        encapsulate(all, public).expect("a secret");
        for (_, private) in &keys {
            sign(*private).expect("a signature");
            assert_eq!(call!(functions, C_DestroyObject(all.1, *private)), CKR_OK);
        }
    });
}

/// Runs that while the system gives this process no more memory than a few KiB at a time.
fn without_memory(body: impl FnOnce()) {
    const LARGE: usize = 16 << 10;
    let limit = |bytes| {
        let limit = libc::rlimit {
            rlim_cur: bytes,
            rlim_max: libc::RLIM_INFINITY,
        };
        // SAFETY: it reads a limit.
        let answer = unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
        assert_eq!(answer, 0);
    };
    let mut taken = Vec::with_capacity(100_000);
    limit(0);
    while taken.len() < taken.capacity() {
        // SAFETY: has no preconditions; nor is it used.
        let memory = unsafe { libc::malloc(LARGE) };
        if memory.is_null() {
            break;
        }
        taken.push(memory);
    }
    // Small things are as before.
    for _ in 0..6 {
        let memory = taken.swap_remove(taken.len() / 2);
        // SAFETY: it is taken no more.
        unsafe { libc::free(memory) };
    }
    body();
    limit(libc::RLIM_INFINITY);
    for memory in taken {
        // SAFETY: each once.
        unsafe { libc::free(memory) };
    }
}
