//! One request at a time: a signature in this process, with its own key and with one of the service.

use std::time::Instant;

use outboard_measure::workload::Prepared;
use outboard_measure::{Contender, Context, KeyKind, Library, Offer, Sides};
use outboard_programs::cpu_time_of;

use super::SETUPS;
use super::held::Held;
use crate::Failure;
use crate::proof::Proof;
use crate::statistics::percentile;
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::scores::prove;
use crate::workloads::tls::Key;

const MEASURES: [Measure; 2] = [Measure::lower("elapsed", "s"), Measure::lower("CPU", "s")];

/// Where else the figures are of the whole operation.
const ADDED: [Measure; 2] = [
    Measure::lower("elapsed, added", "s"),
    Measure::lower("CPU, added", "s"),
];

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let seconds = 1.0 + f64::from(rounds(options).measured * requests(options)) * 2e-3;
    let step = |(key, _): &(Key, _)| Step::new(name(*key), seconds);
    cases(options).iter().map(step).collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "request",
        "A signature without company: with the process's own key, and with one of the service",
        &["key"],
    );
    session.table(
        "added",
        "What a signature takes more with a key of the service",
        &["key"],
    );
    session.note(
        "a lone request: one thread signs through EVP, one signature after another, with Outboard in both setups. Neither the \
         thread nor the service is held to a core. Elapsed time is the median of a window's requests; CPU time is that of \
         the process and the service.",
    );
    for &(key, kind) in cases(session.options()) {
        session.step(&name(key));
        measure(session, key, kind)?;
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, key: Key, kind: KeyKind) -> Result<(), Failure> {
    let library = Library::open(Library::SYSTEM)?;
    let outboard = &session.installation.outboard;
    let offer = Offer::Profile(outboard.profile.clone());
    let parent = session.in_process.path();
    let sides = Sides::new_in(parent, &library, &outboard.module, &offer)?;
    let held = Held::new(session, key, &["root"], "request", None)?;
    let [_, own, asking] = &held.sides;
    let asking_context = Context::from_configuration(&library, asking.openssl.configuration())?;
    let prepare = |context, pem| -> Result<Prepared, Failure> {
        Ok(Prepared::signing(context, &std::fs::read(pem)?, kind)?)
    };
    let own = prepare(&sides.outboard, &own.certificate.key)?;
    let served = own.served_by.as_deref() == Some("outboard");
    let asking = prepare(&asking_context, &asking.certificate.key)?;
    let mut callers = [own.into_contender(), asking.into_contender()];

    let requests = requests(session.options());
    let rounds = rounds(session.options());
    let comparison = session.alternate(&SETUPS[1..], rounds, |_, setup| {
        let used = || cpu_time_of(std::process::id()).unwrap_or_default() + held.service.cpu();
        let before = used();
        let elapsed = elapsed(&mut callers[setup], requests)?;
        let cpu = used().saturating_sub(before).as_secs_f64();
        Ok(vec![percentile(elapsed, 0.5), cpu / f64::from(requests)])
    })?;
    drop(callers);
    let all = u64::from((rounds.warm_up + rounds.measured) * requests);
    let proofs = [
        match served {
            true => prove(session, &sides, key.signature, all)?,
            false => Proof::left_to_stock(),
        },
        held.proof_of_the_service(session, all)?,
    ];
    held.service.stop()?;
    let labels = [("key", key.name)];
    session.record("request", &labels, &MEASURES, &comparison, &proofs)?;
    let added = comparison.beyond_the_baseline();
    session.record("added", &labels, &ADDED, &added, &proofs[1..])
}

/// How long each of so many requests takes, in seconds.
fn elapsed(caller: &mut Contender<'_>, requests: u32) -> Result<Vec<f64>, Failure> {
    let mut elapsed = Vec::new();
    for _ in 0..requests {
        let start = Instant::now();
        caller(1)?;
        elapsed.push(start.elapsed().as_secs_f64());
    }
    Ok(elapsed)
}

fn cases(options: &Options) -> &'static [(Key, KeyKind)] {
    const CASES: [(Key, KeyKind); 5] = [
        (Key::RSA_2048, KeyKind::Rsa(2048)),
        (Key::RSA_3072, KeyKind::Rsa(3072)),
        (Key::RSA_4096, KeyKind::Rsa(4096)),
        (Key::P256, KeyKind::P256),
        (Key::P384, KeyKind::P384),
    ];
    options.pick(&CASES, &CASES, &CASES[3..4])
}

fn name(key: Key) -> String {
    format!("a lone request, {}", key.name)
}

/// In a window.
fn requests(options: &Options) -> u32 {
    options.pick(400, 200, 2)
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 1,
        measured: options.pick(15, 9, 1),
    }
}
