//! What every test starts from: a workplace, the two configurations, and the ledger.

use std::env;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use outboard_engine::ledger::{Counts, Snapshot};
use outboard_engine::{Operation, Path as EnginePath, card};
use outboard_programs::{Certificate, Offer, OpenSsl, Outboard, Workplace, missing};

/// A directory of one's own, and a program's libcrypto without and with Outboard.
pub(crate) struct Stand {
    pub(crate) workplace: Workplace,
    pub(crate) stock: OpenSsl,
    pub(crate) outboard: OpenSsl,
}

impl Stand {
    /// With a provider that offers all that it can do.
    pub(crate) fn new() -> Self {
        Self::offering(Offer::All)
    }

    /// With a provider that offers so much.
    pub(crate) fn offering(offer: Offer) -> Self {
        let workplace = Workplace::new().unwrap();
        let stock = OpenSsl::stock(&workplace).unwrap();
        let outboard = if is_stock_alone() {
            stock.clone()
        } else {
            OpenSsl::outboard(&workplace, &outboard(offer), "outboard").unwrap()
        };
        Self {
            workplace,
            stock,
            outboard,
        }
    }

    /// What Outboard has counted so far, over all processes.
    pub(crate) fn counts(&self) -> Counts {
        counts(&self.outboard)
    }

    /// Each operation was done at least once by a path of Outboard's own.
    pub(crate) fn assert_served(&self, operations: &[Operation]) {
        assert_served(&self.counts(), operations);
    }
}

/// A stand, and a certificate whose key is made as `openssl req -newkey` is told; none where one of the
/// programs is not installed.
pub(crate) fn site(programs: &[&str], new_key: &str) -> Option<(Stand, Certificate)> {
    if !installed(programs) {
        return None;
    }
    let stand = Stand::new();
    let certificate = Certificate::generate(&stand.workplace, &stand.stock, "server", new_key);
    Some((stand, certificate.unwrap()))
}

/// The provider that cargo built beside this test; `OUTBOARD_MODULE` names another.
pub(crate) fn outboard(offer: Offer) -> Outboard {
    let module = env::var_os("OUTBOARD_MODULE").map_or_else(built_module, PathBuf::from);
    assert!(
        module.is_file(),
        "no provider at {}: cargo build -p outboard-provider",
        module.display()
    );
    Outboard {
        module,
        offer,
        profile: None,
    }
}

/// Cargo builds it into the directory of this test program, and only `cargo build` brings it a level
/// higher: what is there may be old.
fn built_module() -> PathBuf {
    let program = env::current_exe().unwrap();
    program.with_file_name("liboutboard.so")
}

pub(crate) fn is_stock_alone() -> bool {
    env::var_os("OUTBOARD_TEST_STOCK").is_some()
}

pub(crate) fn counts(openssl: &OpenSsl) -> Counts {
    let Some(ledger) = openssl.ledger() else {
        return Counts::new();
    };
    Snapshot::read(ledger)
        .unwrap_or_else(|error| panic!("{}: {error}", ledger.display()))
        .total()
}

pub(crate) fn served(counts: &Counts, operation: Operation) -> u64 {
    [EnginePath::Scalar, EnginePath::Wide, EnginePath::Card]
        .map(|path| counts.work(operation, path).operations)
        .iter()
        .sum()
}

pub(crate) fn served_bytes(counts: &Counts, operation: Operation) -> u64 {
    [EnginePath::Scalar, EnginePath::Wide, EnginePath::Card]
        .map(|path| counts.work(operation, path).bytes)
        .iter()
        .sum()
}

pub(crate) fn assert_served(counts: &Counts, operations: &[Operation]) {
    if is_stock_alone() {
        return;
    }
    for &operation in operations {
        assert!(
            served(counts, operation) > 0,
            "Outboard did no {}; it did {:?}, and left {:?}",
            operation.name(),
            counts.rows().collect::<Vec<_>>(),
            counts.fallback_rows().collect::<Vec<_>>(),
        );
    }
}

/// The operation was done so often: a signature for each handshake, say.
pub(crate) fn assert_served_times(counts: &Counts, operation: Operation, times: u64) {
    if !is_stock_alone() {
        assert_eq!(served(counts, operation), times, "{}", operation.name());
    }
}

/// Does it until cards did some of the operation in lanes, where there are lanes; answers how often that was. How many
/// requests find company is a busy machine's matter, and how many do on a quiet one the benchmarks tell.
pub(crate) fn until_on_cards(stand: &Stand, operation: Operation, mut load: impl FnMut()) -> u64 {
    const PATIENCE: Duration = Duration::from_secs(60);
    let begun = Instant::now();
    for times in 1.. {
        load();
        let counts = stand.counts();
        let on_cards = counts.work(operation, EnginePath::Card).operations;
        if is_stock_alone() || !card::are_there() || on_cards >= card::DEPTH as u64 {
            return times;
        }
        assert!(
            begun.elapsed() < PATIENCE,
            "{}: only {on_cards} of {} in lanes; {:?}, {:?}",
            operation.name(),
            served(&counts, operation),
            counts.rows().collect::<Vec<_>>(),
            counts.fallback_rows().collect::<Vec<_>>(),
        );
    }
    unreachable!("it is answered, or patience ends")
}

/// Whether the programs of a test are all installed. Where they are not, the test is passed over and
/// says so; `OUTBOARD_TEST_ALL=1` makes that a failure.
pub(crate) fn installed(programs: &[&str]) -> bool {
    let missing = missing(programs);
    for program in &missing {
        eprintln!(
            "passed over: {} is not installed (apt-get install {})",
            program.name, program.package
        );
    }
    assert!(
        missing.is_empty() || env::var_os("OUTBOARD_TEST_ALL").is_none(),
        "OUTBOARD_TEST_ALL is set, and programs are missing"
    );
    missing.is_empty()
}

/// `NAME` as a path of this crate's sources.
pub(crate) fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/programs")
        .join(name)
}
