//! AES-GCM and SHA-256 of 8 KiB, which Sun's study wanted to lose nothing: through the accelerator, and by EVP.

use super::caller::{ModuleProcess, Task};
use super::module::Module;
use crate::Failure;
use crate::suite::{Measure, Options, Rounds, Session, Step};

const SETUPS: [&str; 2] = ["EVP", "accelerator"];

const RATE: Measure = Measure::higher("rate", "1/s");

/// How the records are used, and the tasks of both setups.
const USES: [(&str, [Task; 2]); 2] = [
    ("AES-256-GCM", [Task::EvpSeal, Task::Seal]),
    ("SHA-256", [Task::EvpDigest, Task::Digest]),
];

/// Milliseconds. Both setups are one process, and take turns often.
const WINDOW: u64 = 10;

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let rounds = rounds(options);
    let turns = f64::from(rounds.warm_up + rounds.measured) * SETUPS.len() as f64;
    let step = |(name, _): &(&str, _)| Step::new(*name, 0.2 + turns * 1e-3 * WINDOW as f64);
    USES.iter().map(step).collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "records",
        "Records of 8 KiB through PKCS #11, and by the same process's EVP calls",
        &["use"],
    );
    let ledger = session.workplace.join("token-records");
    let module = Module::ours(session, "accelerator", "", &ledger)?;
    let mut caller = ModuleProcess::start(&module, &[])?;
    for (name, tasks) in USES {
        session.step(name);
        let rounds = rounds(session.options());
        let comparison = session.alternate(&SETUPS, rounds, |_, setup| {
            let window = caller.run(tasks[setup], WINDOW)?;
            Ok(vec![window.count as f64 / window.elapsed])
        })?;
        session.record("records", &[("use", name)], &[RATE], &comparison, &[])?;
    }
    Ok(())
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 2,
        measured: options.pick(201, 101, 1),
    }
}
