//! PostgreSQL, which forks a process for each connection.

use outboard_programs::{PostgreSql, PostgreSqlOptions};

use super::SETUPS;
use super::held::Held;
use crate::Failure;
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::tls::Key;

const MEASURES: [Measure; 2] = [
    Measure::lower("server CPU", "s"),
    Measure::higher("connections", "1/s"),
];

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let (clients, each) = connections(options);
    let turns = f64::from(rounds(options).measured + 1) * SETUPS.len() as f64;
    let seconds = 2.0 * SETUPS.len() as f64 + turns * f64::from(clients * each) * 0.015;
    let step = |key: &Key| Step::new(name(*key), seconds);
    keys(options).iter().map(step).collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "postgresql",
        "PostgreSQL: connections over TLS, 32 at once, each with a password and one statement",
        &["key"],
    );
    session
        .note("the clients of PostgreSQL are pgbench's threads (pgbench -C), with stock OpenSSL.");
    for &key in keys(session.options()) {
        session.step(&name(key));
        measure(session, key)?;
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, key: Key) -> Result<(), Failure> {
    let core = session.cores.server;
    let held = Held::new(session, key, &["postgres"], "postgresql", core)?;
    let mut servers = Vec::new();
    for side in &held.sides {
        let options = PostgreSqlOptions {
            openssl: &side.openssl,
            certificate: &side.certificate,
            core,
        };
        servers.push(options.start(&session.workplace)?);
    }
    session.workplace.write("statement.sql", "SELECT 1;\n")?;
    let (clients, each) = connections(session.options());
    let rounds = rounds(session.options());
    let servers = std::cell::RefCell::new(servers);
    let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
        let server = &mut servers.borrow_mut()[setup];
        let mut used = || Ok::<_, Failure>(server.cpu()? + held.service.cpu());
        let before = used()?;
        let rate = connect(session, server, clients, each)?;
        let cpu = (server.cpu()? + held.service.cpu()).saturating_sub(before);
        Ok(vec![cpu.as_secs_f64() / f64::from(clients * each), rate])
    })?;
    for server in servers.into_inner() {
        server.stop()?;
    }
    let all = (rounds.warm_up + rounds.measured) * clients * each;
    let proofs = held.proofs(session, u64::from(all))?;
    held.service.stop()?;
    let labels = [("key", key.name)];
    session.record("postgresql", &labels, &MEASURES, &comparison, &proofs)
}

/// Each client connects so many times. Answers the connections per second.
fn connect(
    session: &Session<'_>,
    server: &PostgreSql,
    clients: u32,
    each: u32,
) -> Result<f64, Failure> {
    let clients = clients.to_string();
    let said = server
        .client("pgbench", &session.stock)?
        .on(session.cores.client)
        .args(["--no-vacuum", "--connect", "--client", &clients])
        .args(["--jobs", &clients, "--transactions", &each.to_string()])
        .arg("--file")
        .arg(session.workplace.join("statement.sql"))
        .succeed()?
        .output;
    let mut lines = said.lines();
    let rate = lines.find_map(|line| line.strip_prefix("tps = ")?.split(' ').next()?.parse().ok());
    Ok(rate.ok_or_else(|| format!("pgbench says no rate: {said}"))?)
}

fn keys(options: &Options) -> &'static [Key] {
    options.pick(
        &[Key::RSA_2048, Key::P256],
        &[Key::RSA_2048],
        &[Key::RSA_2048],
    )
}

fn name(key: Key) -> String {
    format!("PostgreSQL, {}", key.name)
}

/// Clients at once, and the connections of each.
fn connections(options: &Options) -> (u32, u32) {
    options.pick((32, 8), (32, 4), (2, 1))
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: options.pick(1, 1, 0),
        measured: options.pick(9, 6, 1),
    }
}
