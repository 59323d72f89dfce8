//! Many objects: what it costs to find one, and to make another.

use super::caller::{ModuleProcess, Task};
use super::module::Module;
use crate::Failure;
use crate::suite::{Measure, Options, Rounds, Session, Step};

const SETUPS: [&str; 2] = ["SoftHSM2", "accelerator"];

const MEASURES: [Measure; 2] = [
    Measure::lower("find", "s"),
    Measure::lower("make and drop", "s"),
];

/// Milliseconds.
const WINDOW: u64 = 50;

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let rounds = rounds(options);
    let turns = f64::from(rounds.warm_up + rounds.measured) * SETUPS.len() as f64;
    let seconds = |objects: u64| turns * 2e-3 * WINDOW as f64 + objects as f64 * 1e-4;
    let step = |&objects: &u64| Step::new(name(objects), seconds(objects));
    numbers(options).iter().map(step).collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "objects",
        "Data objects of a session: one is found by its label in a session of its own, and one is made and destroyed",
        &["objects"],
    );
    for &objects in numbers(session.options()) {
        session.step(&name(objects));
        let ledger = session.workplace.join("token-objects");
        let modules = [
            Module::softhsm2(session)?,
            Module::ours(session, "accelerator", "", &ledger)?,
        ];
        let mut callers = modules
            .iter()
            .map(|module| {
                let mut caller = ModuleProcess::start(module, &[])?;
                caller.run(Task::Fill, objects)?;
                Ok(caller)
            })
            .collect::<Result<Vec<_>, Failure>>()?;
        let rounds = rounds(session.options());
        let comparison = session.alternate(&SETUPS, rounds, |_, setup| {
            let mut times = Vec::new();
            for task in [Task::Find, Task::Make] {
                let window = callers[setup].run(task, WINDOW)?;
                times.push(window.elapsed / window.count as f64);
            }
            Ok(times)
        })?;
        let labels = [("objects", &*objects.to_string())];
        session.record("objects", &labels, &MEASURES, &comparison, &[])?;
    }
    Ok(())
}

fn numbers(options: &Options) -> &'static [u64] {
    options.pick(&[10, 10_000, 50_000], &[10, 10_000], &[10])
}

fn name(objects: u64) -> String {
    format!("{objects} objects")
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 1,
        measured: options.pick(15, 7, 1),
    }
}
