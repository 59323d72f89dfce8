//! Eight private-key operations handed over together, on one core: the best case of a card that is always full, and the
//! same eight operations by others.

use std::time::Duration;

use outboard_crypto_mb::Library as CryptoMb;
use outboard_measure::together::{EIGHT, OPERATIONS, are_possible, doers};
use outboard_measure::{Contender, Context, Keys, Library, Operation, Plan, contest};

use crate::Failure;
use crate::suite::{Options, Peer, Session, Step};
use crate::workloads::scores::{Figure, rows};

const TABLE: &str = "together";

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let seconds = budget(options).as_secs_f64().max(0.1);
    let operations = operations(options).iter();
    operations
        .map(|&operation| Step::new(step(operation), seconds))
        .collect()
}

/// Intel's library, if the user named it: opened before anything is measured.
pub(super) fn crypto_mb(session: &mut Session<'_>) -> Result<Option<CryptoMb>, Failure> {
    let mut peers = session.options().peers.iter();
    let Some(file) = peers.find_map(Peer::crypto_mb) else {
        return Ok(None);
    };
    if !are_possible() {
        return Err(
            "crypto_mb needs a processor with AVX-512 and IFMA; this processor has none".into(),
        );
    }
    let library = CryptoMb::open(file)?;
    session.version("crypto_mb", library.version()?);
    Ok(Some(library))
}

pub(super) fn run(session: &mut Session<'_>, crypto_mb: Option<CryptoMb>) -> Result<(), Failure> {
    if !are_possible() {
        session
            .note("this processor has no lanes (AVX-512 with IFMA), so it cannot do eight operations at once");
        return Ok(());
    }
    session.table(
        TABLE,
        "Eight private-key operations handed over together: per second of one core",
        &["operation"],
    );
    session.note(
        "together: stock and AWS-LC do the eight operations one after another; lanes and crypto_mb do them at \
         once. No card and no provider is involved. All except crypto_mb check RSA results and make ECDSA's \
         nonces.",
    );
    let library = Library::open(Library::SYSTEM)?;
    library.ignore_system_configuration()?;
    let stock = Context::new(&library)?;
    let keys = Keys::new(&stock);
    session.version("libcrypto", library.version());
    let plan = Plan {
        budget: budget(session.options()),
        ..Plan::default()
    };
    for &operation in operations(session.options()) {
        session.step(&step(operation));
        let explain = |error| format!("{}: {error}", step(operation));
        let mut doers = doers(operation, &stock, &keys, crypto_mb).map_err(explain)?;
        let names: Vec<_> = doers.iter().map(|doer| (doer.name, None)).collect();
        let mut contenders: Vec<&mut Contender<'_>> = Vec::new();
        for doer in &mut doers {
            contenders.push(&mut *doer.contender);
        }
        let outcome = contest(&mut contenders, &plan).map_err(explain)?;
        let labels = [("operation", operation.name())];
        session.rows(TABLE, rows(&labels, Figure::Rate(EIGHT), &names, &outcome))?;
    }
    Ok(())
}

/// For one contest.
fn budget(options: &Options) -> Duration {
    options.pick(
        Duration::from_secs(2),
        Duration::from_millis(300),
        Duration::ZERO,
    )
}

fn operations(options: &Options) -> &'static [Operation] {
    options.pick(OPERATIONS, OPERATIONS, &OPERATIONS[4..5])
}

fn step(operation: Operation) -> String {
    format!("{EIGHT} {} together", operation.name())
}
