//! ML-KEM and ML-DSA in the ledger. A program of its own: its modules read their settings from the environment.

mod common;

use common::asynchronous::{apart, nowhere, open};
use common::calls::mechanism;
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
    let mine = |name: &str| name.starts_with("ml-") && !name.ends_with("keygen");
    let operations = Operation::ALL.iter().filter(|any| mine(any.name()));
    for &operation in operations {
        let path = match choices.path(operation) {
            Path::Wide if has_lanes() => Path::Wide,
            _ => Path::Scalar,
        };
        let counted = counts.work(operation, path).operations;
        assert_eq!(counted, 2, "{} on path {}", operation.name(), path.name());
    }
}
