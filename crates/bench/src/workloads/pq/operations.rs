//! ML-KEM and ML-DSA: each operation, by every library that has it.
//!
//! All are in this process, and take turns every few milliseconds. The baseline is the first peer, which is what a user
//! could upgrade to; without a peer it is AWS-LC.

use std::time::Duration;

use outboard_measure::layers::{engine_of, kernel_of};
use outboard_measure::{
    Contender, Context, Keys, Library, Offer, Operation, Plan, Sides, Workload, contest,
};

use crate::Failure;
use crate::proof::Proof;
use crate::suite::{Options, Session, Step};
use crate::workloads::scores::{Figure, prove, rows};

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let contenders = (options.peers.len() + 3) as f64;
    let seconds = budget(options).as_secs_f64().max(0.01 * contenders);
    let operations = operations(options);
    operations
        .map(|operation| Step::new(operation.name(), seconds))
        .collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    let library = Library::open(Library::SYSTEM)?;
    let module = &session.installation.outboard.module;
    let offer = Offer::PostQuantum;
    let sides = Sides::new_in(session.in_process.path(), &library, module, &offer)?;
    let keys = Keys::new(&sides.stock);
    session.version("libcrypto", library.version());
    session.table(
        "operations",
        "ML-KEM and ML-DSA: operations per second of one core, one at a time",
        &["operation"],
    );
    session.note(
        "'outboard' and the versions of OpenSSL are called through EVP, 'aws-lc' by its own functions, 'engine' is Outboard \
         without EVP, on path scalar: its difference to 'aws-lc' is what clearing secrets, a stack of its own and counting cost. Its \
         difference to 'outboard' is what EVP and the provider cost, where that takes path scalar, too.",
    );
    session.note(
        "One key serves all operations of a row but 'keygen'. OpenSSL from 3.5 on keeps the matrix of such a key, and Outboard does across the \
         lanes. The handshakes show what a server pays, which has a new key of each client.",
    );
    let peers = peers(session)?;
    if peers.is_empty() {
        session.note("no other OpenSSL was named (--peers openssl-3.5,openssl-4.0)");
    }
    let plan = Plan {
        budget: budget(session.options()),
        ..Plan::default()
    };
    for operation in operations(session.options()) {
        let name = operation.name();
        session.step(name);
        let explain = |error| format!("{name}: {error}");
        let workload = Workload::of_size(operation, 0);
        let mut others = Vec::new();
        for (_, context) in &peers {
            let prepared = workload.prepare(context, &keys).map_err(explain)?;
            others.push(prepared.into_contender());
        }
        let mut kernel = kernel_of(operation).map_err(explain)?;
        let mut engine = engine_of(operation).map_err(explain)?;
        let outboard = workload.prepare(&sides.outboard, &keys).map_err(explain)?;
        let by_outboard = outboard.served_by.as_deref() == Some("outboard");
        let mut outboard = outboard.into_contender();
        let mut times = 0;
        let outcome = {
            let mut counted = |iterations| {
                times += iterations;
                outboard(iterations)
            };
            let mut contenders: Vec<&mut Contender<'_>> = Vec::new();
            for other in &mut others {
                contenders.push(&mut **other);
            }
            contenders.push(&mut *kernel);
            contenders.push(&mut *engine);
            contenders.push(&mut counted);
            contest(&mut contenders, &plan).map_err(explain)?
        };
        let proof = match by_outboard {
            true => prove(session, &sides, name, times)?,
            false => Proof::left_to_stock(),
        };
        let mut setups: Vec<_> = peers
            .iter()
            .map(|(name, _)| (name.as_str(), None))
            .collect();
        setups.extend([
            ("aws-lc", None),
            ("engine", None),
            ("outboard", Some(&proof)),
        ]);
        let rows = rows(&[("operation", name)], Figure::Rate(1), &setups, &outcome);
        session.rows("operations", rows)?;
    }
    Ok(())
}

/// Each in a library context of its own.
fn peers(session: &mut Session<'_>) -> Result<Vec<(String, Context)>, Failure> {
    let mut peers = Vec::new();
    for peer in &session.options().peers {
        let Some(file) = peer.libcrypto() else {
            continue;
        };
        let library = Library::open(file)?;
        library.ignore_system_configuration()?;
        session.version(&peer.name, library.version());
        session.note(format!(
            "{} is {}. This program does not know how it was built (the repository's own tests build theirs with little \
             optimisation of the C code, and ML-KEM and ML-DSA are C code there)",
            peer.name,
            library.path().display()
        ));
        peers.push((peer.name.clone(), Context::new(&library)?));
    }
    Ok(peers)
}

fn operations(options: &Options) -> impl Iterator<Item = Operation> {
    let all = Operation::ALL.iter().copied();
    all.filter(|operation| operation.is_post_quantum())
        .take(options.pick(usize::MAX, usize::MAX, 3))
}

/// For one operation.
fn budget(options: &Options) -> Duration {
    options.pick(
        Duration::from_secs(3),
        Duration::from_millis(600),
        Duration::ZERO,
    )
}
