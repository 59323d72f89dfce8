//! One operation at each interface through which it can be called: the kernel itself, the engine,
//! OpenSSL's EVP with Outboard, and EVP with stock. What an interface costs.
//!
//! All callers are in this process, do the same work with the same keys, and take turns every few
//! milliseconds. The kernel is the baseline: 0.9 times as good means that the interface costs a tenth.

use std::time::Duration;

use outboard_measure::layers::{Caller, Layer, OPERATIONS, callers};
use outboard_measure::{Contender, Keys, Library, Offer, Operation, Plan, Sides, contest};

use super::scores::{Figure, prove, rows};
use crate::Failure;
use crate::proof::Proof;
use crate::suite::{Options, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layers;

/// Lengths of messages, in bytes.
const SIZES: [usize; 8] = [64, 256, 1024, 4096, 16384, 65536, 1 << 18, 1 << 20];

impl Workload for Layers {
    fn name(&self) -> &'static str {
        "layers"
    }

    fn summary(&self) -> &'static str {
        "One operation at each interface (kernel, engine, EVP): the cost of an interface"
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let seconds = budget(options).as_secs_f64().max(0.1);
        let contests = contests(options).into_iter();
        contests
            .map(|(operation, size)| Step::new(step(operation, size), seconds))
            .collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let library = Library::open(Library::SYSTEM)?;
        // Everything is offered: the interface is the subject, not the choice.
        let module = &session.installation.outboard.module;
        let sides = Sides::new_in(session.in_process.path(), &library, module, &Offer::Scalar)?;
        let keys = Keys::new(&sides.stock);
        session.version("libcrypto", library.version());
        session.note(
            "one thread calls every interface, one operation after another; the figures are its CPU time.",
        );
        session.table(
            "bulk",
            "Sealing a message, by its length, at each interface",
            &["operation", "bytes"],
        );
        session.table(
            "keyed",
            "Signing a handshake's 130 bytes, at each interface",
            &["operation"],
        );
        let plan = Plan {
            budget: budget(session.options()),
            ..Plan::default()
        };
        for (operation, size) in contests(session.options()) {
            let name = step(operation, size);
            session.step(&name);
            let explain = |error| format!("{name}: {error}");
            let mut callers = callers(operation, size, &sides, &keys).map_err(explain)?;
            let by_outboard = served_by_outboard(&callers);
            let mut times = 0;
            let outcome = {
                let [kernel, engine, outboard, stock] = &mut callers;
                // What Outboard's side does is to be found in the ledger.
                let mut counted = |iterations| {
                    times += iterations;
                    (outboard.contender)(iterations)
                };
                let contenders: &mut [&mut Contender<'_>] = &mut [
                    &mut *kernel.contender,
                    &mut *engine.contender,
                    &mut counted,
                    &mut *stock.contender,
                ];
                contest(contenders, &plan).map_err(explain)?
            };
            let layers = callers.map(|caller| caller.layer);
            let proof = if by_outboard {
                prove(session, &sides, operation.name(), times)?
            } else {
                Proof::unproved(&format!("{} is not served by Outboard", operation.name()))
            };
            let bytes = size.to_string();
            let (table, labels, figures): (_, Vec<_>, &[Figure]) = if size > 0 {
                let labels = vec![("operation", operation.name()), ("bytes", &bytes)];
                ("bulk", labels, &[Figure::Rate(1), Figure::Throughput(size)])
            } else {
                let labels = vec![("operation", operation.name())];
                ("keyed", labels, &[Figure::Rate(1)])
            };
            let setups = layers.map(|layer| {
                let proof = (layer == Layer::Outboard).then_some(&proof);
                (layer.name(), proof)
            });
            let rows = figures
                .iter()
                .flat_map(|&figure| rows(&labels, figure, &setups, &outcome));
            session.rows(table, rows.collect())?;
        }
        Ok(())
    }
}

fn served_by_outboard(callers: &[Caller]) -> bool {
    callers.iter().any(|caller| {
        caller.layer == Layer::Outboard && caller.served_by.as_deref() == Some("outboard")
    })
}

/// For one contest.
fn budget(options: &Options) -> Duration {
    options.pick(
        Duration::from_secs(3),
        Duration::from_millis(900),
        Duration::ZERO,
    )
}

fn contests(options: &Options) -> Vec<(Operation, usize)> {
    let operations = options.pick(OPERATIONS.len(), OPERATIONS.len(), 0);
    let sizes = options.pick(&SIZES[..], &SIZES[..], &SIZES[..1]);
    let mut contests = Vec::new();
    for &operation in &OPERATIONS[..operations.max(1)] {
        if !operation.is_bulk() {
            contests.push((operation, 0));
        } else if operation == OPERATIONS[0] || options.pick(true, false, false) {
            contests.extend(sizes.iter().map(|&size| (operation, size)));
        }
    }
    contests
}

fn step(operation: Operation, size: usize) -> String {
    match size {
        0 => operation.name().to_owned(),
        size => format!("{}, {size} bytes", operation.name()),
    }
}
