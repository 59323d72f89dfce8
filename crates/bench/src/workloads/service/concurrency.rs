//! nginx with few clients and with many: how many handshakes it makes, and how long its clients wait for them.

use std::time::Duration;

use super::SETUPS;
use super::stand::Case;
use crate::Failure;
use crate::statistics::percentile;
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::allow_files;
use crate::workloads::tls::Key;
use crate::workloads::tls::front::Make;

const RATE: [Measure; 1] = [Measure::higher("handshakes", "1/s")];

const LATENCY: [Measure; 2] = [Measure::lower("p99", "s"), Measure::lower("p50", "s")];

/// How many clients there are at once.
const CLIENTS: [usize; 10] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

const KEYS: [Key; 2] = [Key::RSA_2048, Key::P256];

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let turns = f64::from(rounds(options).measured + 1) * SETUPS.len() as f64;
    let step = |case: Case| {
        // Each client shakes hands twice, however many there are.
        let windows = clients(options).iter().map(|&clients| {
            let handshakes = 2.0 * clients as f64 * 1e-3;
            handshakes.max(window(options).as_secs_f64())
        });
        Step::new(name(case), 2.0 + windows.sum::<f64>() * turns)
    };
    cases(options).into_iter().map(step).collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    // A socket at each end, and what else there is.
    allow_files(4096)?;
    let columns = ["key", "clients"];
    session.table(
        "concurrency",
        "nginx with 16 workers: handshakes, by the number of clients at once",
        &columns,
    );
    session.table(
        "latency",
        "The time that a client's handshake takes, by the number of clients at once",
        &columns,
    );
    for case in cases(session.options()) {
        session.step(&name(case));
        measure(session, case)?;
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, case: Case) -> Result<(), Failure> {
    let options = session.options();
    let steps = clients(options);
    let most = steps.iter().copied().max().unwrap_or(1);
    let stand = case.start(session, most)?;
    let rounds = rounds(options);
    let mut all = 0;
    let mut measured = Vec::new();
    for (step, &clients) in steps.iter().enumerate() {
        let warm_up = 2 * clients as u64;
        let fill = stand.warm_up(session, clients, warm_up, window(options))?;
        let connections = fill.clamp(warm_up, 4000);
        let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
            let window = stand.window(session, setup, clients, connections)?;
            let p50 = percentile(window.handshakes.clone(), 0.5);
            let p99 = percentile(window.handshakes, 0.99);
            Ok(vec![window.rate, p99, p50])
        })?;
        session.fraction((step + 1) as f64 / steps.len() as f64);
        all += warm_up + u64::from(rounds.measured) * connections;
        measured.push((clients.to_string(), comparison));
    }
    let proofs = stand.stop(session, all)?;
    for (clients, comparison) in measured {
        let labels = [("key", case.key.name), ("clients", &clients)];
        let (rate, latency) = (comparison.measures(0..1), comparison.measures(1..3));
        session.record("concurrency", &labels, &RATE, &rate, &proofs)?;
        session.record("latency", &labels, &LATENCY, &latency, &proofs)?;
    }
    Ok(())
}

fn cases(options: &Options) -> Vec<Case> {
    let keys = options.pick(&KEYS[..], &KEYS[..], &KEYS[1..]);
    let case = |&key| Case {
        make: Make::Nginx,
        key,
        workers: options.pick(16, 16, 2),
    };
    keys.iter().map(case).collect()
}

fn name(case: Case) -> String {
    format!("clients of {}", case.name())
}

fn clients(options: &Options) -> &'static [usize] {
    options.pick(&CLIENTS, &CLIENTS, &CLIENTS[..2])
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(9, 6, 1),
    }
}

/// CPU time of the cheapest setup's server in a window, about.
fn window(options: &Options) -> Duration {
    Duration::from_millis(options.pick(300, 150, 10))
}
