//! The ledger of a process, as the provider uses it: one test, because it is one.

use std::path::PathBuf;
use std::time::Duration;

use outboard_ledger::{self as ledger, Reason, Snapshot, Status};
use outboard_operation::{Operation, Path};

struct Removed(PathBuf);

impl Drop for Removed {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn one_ledger_for_all_who_open_it() {
    let name = format!("ledger-global-{}", std::process::id());
    let path = Removed(std::env::temp_dir().join(name));
    let read = || Snapshot::read(&path.0).expect("it is there");
    let sign = || {
        let time = Duration::from_micros(10);
        ledger::record(Operation::Ed25519Sign, Path::Scalar, 0, time);
    };

    let first = ledger::open(&path.0);
    let second = ledger::open("/nonexistent/ledger".as_ref());
    assert!(std::ptr::eq(first, second), "the first decides");
    assert!(std::ptr::eq(first, ledger::global()));
    assert!(matches!(first.status(), Status::Shared(shared) if *shared == path.0));

    sign();
    ledger::fall_back(Operation::Rsa2048Sign, Reason::Profile);
    ledger::close();
    assert!(read().processes[0].alive, "one is still open");
    ledger::close();
    assert!(!read().processes[0].alive);
    ledger::close(); // one too many does no harm
    let total = read().total();
    assert_eq!(
        total.work(Operation::Ed25519Sign, Path::Scalar).operations,
        1
    );
    assert_eq!(total.fallbacks(Operation::Rsa2048Sign, Reason::Profile), 1);

    ledger::open(&path.0);
    sign();
    assert!(read().processes.iter().any(|process| process.alive));
    ledger::close();
}
