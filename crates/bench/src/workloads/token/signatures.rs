//! Signatures: one thread, and eight.

use outboard_programs::CardService;

use super::caller::{Kind, ModuleProcess, Task, argument};
use super::module::Module;
use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::process::Window;
use crate::workloads::service::held::Held;
use crate::workloads::tls::Key;

const SETUPS: [&str; 3] = ["SoftHSM2", "accelerator", "coprocessor"];

const MEASURES: [Measure; 2] = [Measure::higher("rate", "1/s"), Measure::lower("CPU", "s")];

const KINDS: [(Key, Kind); 4] = [
    (Key::RSA_2048, Kind::Rsa2048),
    (Key::RSA_4096, Kind::Rsa4096),
    (Key::P256, Kind::P256),
    (Key::P384, Kind::P384),
];

/// What one thread has outstanding, compared with so many threads.
const OUTSTANDING: usize = 8;

const WAYS: [&str; 2] = ["8 threads", "8 outstanding"];

/// Milliseconds.
const WINDOW: u64 = 150;

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let rounds = rounds(options);
    let seconds = |threads| {
        let setups = SETUPS.len() + if threads == OUTSTANDING { 4 } else { 0 };
        let turns = f64::from(rounds.warm_up + rounds.measured) * setups as f64;
        2.0 + turns * 1e-3 * WINDOW as f64
    };
    let cases = cases(options).into_iter();
    cases
        .map(|(key, _, threads)| Step::new(name(key, threads), seconds(threads)))
        .collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "signatures",
        "Signatures through PKCS #11, by the threads of the program",
        &["key", "threads"],
    );
    session.note(
        "a process for each setup signs digests through C_SignInit and C_Sign with every thread. No process is held to a core. CPU is \
         that of one signature, the card service's included. With SoftHSM2 and in the accelerator the process makes its key; \
         the coprocessor's is the card service's.",
    );
    session.table(
        "outstanding",
        "Eight threads, and one thread with eight signatures outstanding in asynchronous sessions",
        &["key", "slot"],
    );
    for (key, kind, threads) in cases(session.options()) {
        session.step(&name(key, threads));
        measure(session, key, kind, threads)?;
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, key: Key, kind: Kind, threads: usize) -> Result<(), Failure> {
    let held = Held::new(session, key, &["root"], "token", None)?;
    let ledgers = ["accelerator", "coprocessor"].map(|slot| {
        let name = format!("token-{slot}-{}-{threads}", key.name);
        session.workplace.join(name)
    });
    let asks = format!("service={}, ", held.service.directory().display());
    let modules = [
        Module::softhsm2(session)?,
        Module::ours(session, "accelerator", "", &ledgers[0])?,
        Module::ours(session, "coprocessor", &asks, &ledgers[1])?,
    ];
    let of_key = [
        format!("--kind={}", argument(&kind)),
        format!("--threads={threads}"),
    ];
    let mut callers = Vec::new();
    for (module, setup) in modules.iter().zip(SETUPS) {
        let mut arguments = of_key.to_vec();
        if setup == "coprocessor" {
            arguments.push(format!("--key={}", key.name.to_lowercase()));
        }
        callers.push(ModuleProcess::start(module, &arguments)?);
    }
    let mut done = [0; SETUPS.len()];
    let rounds = rounds(session.options());
    let comparison = session.alternate(&SETUPS, rounds, |_, setup| {
        let before = cpu(&held.service, setup);
        let window = callers[setup].run(Task::Sign, WINDOW)?;
        let of_service = cpu(&held.service, setup) - before;
        done[setup] += window.count;
        Ok(values(window, of_service))
    })?;
    let rounds = self::rounds(session.options());
    let mut asynchronous = Vec::new();
    if threads == OUTSTANDING {
        for (setup, caller) in callers.iter_mut().enumerate().skip(1) {
            let tasks = [Task::Sign, Task::Outstanding];
            let comparison = session.alternate(&WAYS, rounds, |_, way| {
                let before = cpu(&held.service, setup);
                let window = caller.run(tasks[way], WINDOW)?;
                let of_service = cpu(&held.service, setup) - before;
                done[setup] += window.count;
                Ok(values(window, of_service))
            })?;
            asynchronous.push((SETUPS[setup], comparison));
        }
    }
    drop(callers);
    let proofs = &session.installation.proofs;
    let expected = [Expected::operations(key.signature, done[1])];
    let proofs = [
        Proof::not_needed(),
        proofs.find_in(&ledgers[0], &expected)?,
        held.proof_of_the_service(session, done[2])?,
    ];
    held.service.stop()?;
    let threads = threads.to_string();
    let labels = [("key", key.name), ("threads", &*threads)];
    session.record("signatures", &labels, &MEASURES, &comparison, &proofs)?;
    for ((slot, comparison), proof) in asynchronous.into_iter().zip(&proofs[1..]) {
        let labels = [("key", key.name), ("slot", slot)];
        let proofs = [proof.clone(), proof.clone()];
        session.record("outstanding", &labels, &MEASURES, &comparison, &proofs)?;
    }
    Ok(())
}

/// A window's rate, and the CPU time of each signature.
fn values(window: Window, of_service: f64) -> Vec<f64> {
    let count = window.count as f64;
    vec![count / window.elapsed, (window.cpu + of_service) / count]
}

/// What the service has used, where it takes part.
fn cpu(service: &CardService, setup: usize) -> f64 {
    match SETUPS[setup] {
        "coprocessor" => service.cpu().as_secs_f64(),
        _ => 0.0,
    }
}

fn cases(options: &Options) -> Vec<(Key, Kind, usize)> {
    let kinds = options.pick(&KINDS[..], &KINDS[..], &KINDS[2..3]);
    let threads: &[usize] = options.pick(&[1, 8], &[1, 8], &[8]);
    let cases = kinds
        .iter()
        .flat_map(|&(key, kind)| threads.iter().map(move |&threads| (key, kind, threads)));
    cases.collect()
}

fn name(key: Key, threads: usize) -> String {
    format!("through PKCS #11, {}, {threads} threads", key.name)
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 1,
        measured: options.pick(21, 9, 1),
    }
}
