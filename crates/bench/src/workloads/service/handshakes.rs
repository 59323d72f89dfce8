//! Servers at saturation: what a handshake costs the server and the service, and how many a core serves.

use std::time::Duration;

use super::SETUPS;
use super::stand::Case;
use crate::Failure;
use crate::statistics::median;
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::tls::Key;
use crate::workloads::tls::front::Make;
use crate::workloads::tls::handshakes::{SATURATED, note_unsaturated};

const MEASURES: [Measure; 2] = [
    Measure::lower("server CPU", "s"),
    Measure::higher("handshakes", "1/s"),
];

const COLUMNS: [&str; 3] = ["server", "key", "workers"];

/// More workers than this fill the lanes of the service. What it costs a server without company, fewer show.
const FEW: usize = 4;

pub(super) fn plan_nginx(options: &Options) -> Vec<Step> {
    plan(&nginx(options), options)
}

pub(super) fn plan_haproxy(options: &Options) -> Vec<Step> {
    plan(&haproxy(options), options)
}

pub(super) fn plan_apache(options: &Options) -> Vec<Step> {
    plan(&apache(options), options)
}

pub(super) fn run_nginx(session: &mut Session<'_>) -> Result<(), Failure> {
    run(session, nginx(session.options()))
}

pub(super) fn run_haproxy(session: &mut Session<'_>) -> Result<(), Failure> {
    run(session, haproxy(session.options()))
}

pub(super) fn run_apache(session: &mut Session<'_>) -> Result<(), Failure> {
    run(session, apache(session.options()))
}

/// Each key with few workers, and with as many as fill the lanes.
fn nginx(options: &Options) -> Vec<Case> {
    let all = || {
        let with = |key| [1, 2, FEW, 16].map(|workers| (key, workers));
        Key::ALL.into_iter().flat_map(with).collect()
    };
    let some = || {
        let mut some: Vec<_> = [1, 2, FEW, 16]
            .map(|workers| (Key::RSA_2048, workers))
            .into();
        some.extend([Key::RSA_3072, Key::RSA_4096].map(|key| (key, 16)));
        some.extend([1, 16].map(|workers| (Key::P256, workers)));
        some.extend([1, 16].map(|workers| (Key::P384, workers)));
        some
    };
    let cases: Vec<(Key, usize)> =
        options.pick::<&dyn Fn() -> _>(&all, &some, &|| vec![(Key::P256, 2)])();
    let case = |(key, workers)| Case {
        make: Make::Nginx,
        key,
        workers,
    };
    cases.into_iter().map(case).collect()
}

/// One process with one thread.
fn haproxy(options: &Options) -> Vec<Case> {
    let keys: &[Key] = options.pick(
        &Key::ALL,
        &[Key::RSA_2048, Key::P256, Key::P384],
        &[Key::P256],
    );
    let case = |&key| Case {
        make: Make::HaProxy,
        key,
        workers: 1,
    };
    keys.iter().map(case).collect()
}

/// Processes, each with one connection at a time.
fn apache(options: &Options) -> Vec<Case> {
    let keys: &[Key] = options.pick(&Key::ALL, &[Key::RSA_2048, Key::P256], &[Key::P256]);
    let case = |&key| Case {
        make: Make::ApachePrefork,
        key,
        workers: options.pick(32, 32, 2),
    };
    keys.iter().map(case).collect()
}

fn plan(cases: &[Case], options: &Options) -> Vec<Step> {
    let windows = f64::from(rounds(options).measured + 1) * SETUPS.len() as f64;
    let seconds = windows * window(options).as_secs_f64() * 1.5 + 1.5;
    let step = |case: &Case| Step::new(case.name(), seconds);
    cases.iter().map(step).collect()
}

fn run(session: &mut Session<'_>, cases: Vec<Case>) -> Result<(), Failure> {
    session.table(
        "handshakes",
        "TLS 1.3 handshakes, each with one exchange of 2,048 bytes",
        &COLUMNS,
    );
    session.table(
        "own-key",
        "The same handshakes with the key in the service, against Outboard with the key in the server",
        &COLUMNS,
    );
    session.note(
        "64 clients connect to nginx and HAProxy, and 32 to Apache, which has 32 processes. HAProxy has one thread, and \
         ssl-mode-async except with stock.",
    );
    let mut waiting = Vec::new();
    for case in cases {
        session.step(&case.name());
        if measure(session, case)? < SATURATED {
            waiting.push(case.name());
        }
    }
    note_unsaturated(session, &waiting);
    Ok(())
}

/// Answers how busy the core of the server and the service was, in the setup that kept it least busy.
fn measure(session: &mut Session<'_>, case: Case) -> Result<f64, Failure> {
    let options = session.options();
    let most = match case.make {
        Make::ApachePrefork => case.workers,
        _ => 64,
    };
    let clients = options.pick(most, most, 4);
    let stand = case.start(session, clients)?;
    let at_once = clients as u64;
    let warm_up = 2 * at_once;
    let fill = stand.warm_up(session, clients, warm_up, window(options))?;
    let connections = fill.clamp(at_once, 4000);
    let rounds = rounds(options);
    let comparison = session.alternate(&setups(case.make), rounds, |session, setup| {
        let window = stand.window(session, setup, clients, connections)?;
        Ok(vec![window.cpu, window.rate, window.cpu * window.rate])
    })?;
    let busy = (0..SETUPS.len()).map(|setup| median(&comparison.values(setup, 2)));
    let busy = busy.fold(f64::MAX, f64::min);
    let comparison = comparison.measures(0..2);
    let all = warm_up + u64::from(rounds.measured) * connections;
    let proofs = stand.stop(session, all)?;
    let workers = case.workers.to_string();
    let labels = [case.make.name(), case.key.name, &workers];
    let labels: Vec<_> = COLUMNS.into_iter().zip(labels).collect();
    session.record("handshakes", &labels, &MEASURES, &comparison, &proofs)?;
    if case.workers <= FEW {
        let own_key = comparison.setups(1..3);
        session.record("own-key", &labels, &MEASURES, &own_key, &proofs[1..])?;
    }
    Ok(busy)
}

fn setups(make: Make) -> [&'static str; 3] {
    match make {
        Make::HaProxy => ["stock", "outboard-async", "service"],
        _ => SETUPS,
    }
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(9, 6, 1),
    }
}

/// CPU time of the cheapest setup's server in a window, about.
fn window(options: &Options) -> Duration {
    Duration::from_millis(options.pick(200, 100, 10))
}
