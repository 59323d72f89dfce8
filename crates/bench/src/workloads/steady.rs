//! 200 connections through a TLS front. Each sends one query a second. This shows the server's cost of a query that only
//! encrypts small records.

use std::time::{Duration, Instant};

use outboard_programs::OpenSsl;

use super::gate::{Gate, Opened, ask};
use super::tls::client::Connection;
use super::{client_thread, terminal, versions};
use crate::Failure;
use crate::proof::Expected;
use crate::suite::{Measure, Options, Rounds, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steady;

const SETUPS: [&str; 2] = ["stock", "outboard"];

const MEASURES: [Measure; 2] = [
    Measure::lower("server CPU", "s"),
    Measure::higher("transactions", "1/s"),
];

impl Workload for Steady {
    fn name(&self) -> &'static str {
        "steady"
    }

    fn summary(&self) -> &'static str {
        "200 kept connections through a TLS front, each with one query a second"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["haproxy", "openssl", "stunnel"]
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let Rounds { warm_up, measured } = rounds(options);
        let windows = f64::from(warm_up + measured) * SETUPS.len() as f64;
        let opening = 4e-3 * connections(options) as f64;
        let seconds = windows * window(options).as_secs_f64() + opening;
        Gate::ALL
            .map(|gate| Step::new(gate.name(), seconds))
            .to_vec()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        versions::record(session, &["haproxy", "openssl", "stunnel"])?;
        super::allow_files(4 * connections(session.options()) as u64 + 200)?;
        session.table(
            "transactions",
            "CPU time of the server for a query and its answer",
            &["front"],
        );
        session.note(
            "a query is a line, and its answer is a screen of 1,920 bytes, over TLS 1.3 with AES-128-GCM. The \
             setups take turns. The connections of a waiting setup stay open.",
        );
        let service = terminal::serve(session.cores.client)?;
        for gate in Gate::ALL {
            session.step(gate.name());
            measure(session, gate, service)?;
        }
        Ok(())
    }
}

struct Contender {
    openssl: OpenSsl,
    gate: Opened,
    connections: Vec<Connection>,
}

fn measure(session: &mut Session<'_>, gate: Gate, service: u16) -> Result<(), Failure> {
    let number = connections(session.options());
    let outboard = session.outboard(&format!("steady-{}", gate.name()))?;
    let mut contenders = Vec::new();
    for openssl in [session.stock.clone(), outboard] {
        let gate = gate.open(session, &openssl, false, service)?;
        let connections = gate.connect(number)?;
        contenders.push(Contender {
            openssl,
            gate,
            connections,
        });
    }
    let mut asked = 0;
    let rounds = rounds(session.options());
    let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
        let Contender {
            gate, connections, ..
        } = &mut contenders[setup];
        let before = gate.server.cpu();
        let start = Instant::now();
        let length = window(session.options());
        let queries = client_thread(session.cores.client, || query(connections, length))?;
        let used = gate.server.cpu().saturating_sub(before);
        if setup == 1 {
            asked += queries;
        }
        let queries = queries as f64;
        Ok(vec![
            used.as_secs_f64() / queries,
            queries / start.elapsed().as_secs_f64(),
        ])
    })?;

    let mut proofs = Vec::new();
    for contender in contenders {
        drop(contender.connections);
        contender.gate.server.stop()?;
        let operation = format!("{}-seal", Gate::CIPHER.name());
        let expected = Expected::operations(&operation, asked);
        proofs.push(session.proof(&contender.openssl, &[expected])?);
    }
    let labels = [("front", gate.name())];
    session.record("transactions", &labels, &MEASURES, &comparison, &proofs)
}

/// Every connection asks once a second, evenly spread over it; answers how many queries there were.
fn query(connections: &mut [Connection], length: Duration) -> std::io::Result<u64> {
    let interval = Duration::from_secs(1) / u32::try_from(connections.len()).unwrap_or(u32::MAX);
    let mut queries = 0;
    let start = Instant::now();
    let mut next = start;
    for index in (0..connections.len()).cycle() {
        if next.duration_since(start) >= length {
            break;
        }
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        ask(&mut connections[index])?;
        queries += 1;
        next += interval;
    }
    Ok(queries)
}

fn connections(options: &Options) -> usize {
    options.pick(200, 200, 20)
}

fn window(options: &Options) -> Duration {
    Duration::from_millis(options.pick(5_000, 700, 500))
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: options.pick(1, 0, 0),
        measured: options.pick(9, 6, 1),
    }
}
