//! Handshakes at saturation: what one costs the server, and how many a core serves.

use std::time::Duration;

use outboard_programs::OpenSsl;

use super::case::Case;
use super::client::{Client, ClientOptions, Version};
use super::front::{Front, FrontOptions, Make};
use super::storm::{EXCHANGE, FILE, Storm};
use super::{Key, files};
use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::suite::{Measure, Options, Rounds, Session, Step};

/// By setup: its name, whether it has Outboard, whether HAProxy runs its operations as ASYNC jobs.
type Setup = (&'static str, bool, bool);

const SETUPS: [Setup; 3] = [
    ("stock", false, false),
    ("outboard", true, false),
    ("outboard-async", true, true),
];

const MEASURES: [Measure; 3] = [
    Measure::lower("server CPU", "s"),
    Measure::higher("handshakes", "1/s"),
    Measure::neither("CPU utilization", ""),
];

/// A server that is less busy than this waits for its clients: its rate is theirs.
pub(in crate::workloads) const SATURATED: f64 = 0.9;

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let cases = Case::all(options).into_iter();
    cases
        .map(|case| {
            let contenders = setups(case.make).len() as f64;
            // A handshake for each client takes longer than a window with the slowest key.
            let slow = if case.key == Key::RSA_4096 && !case.resumed {
                3.0
            } else {
                1.2
            };
            let windows = f64::from(rounds(options).measured + 1) * contenders;
            let seconds = windows * window(options).as_secs_f64() * slow;
            // A certificate, and a server for each.
            Step::new(case.name(), seconds + 0.2 + 0.3 * contenders)
        })
        .collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "handshakes",
        "TLS handshakes, each with one exchange of 2,048 bytes",
        &Case::COLUMNS,
    );
    session.note(
        "the clients are our own and use rustls, with 64 connections at once, on their own core. No program in \
         Debian resumes sessions, shows a certificate and keeps many connections in flight.",
    );
    session.note(
        "a client's certificate is P-256, so that the figure shows the server's check and not the clients' own \
         signatures. Resumption is by tickets.",
    );
    let mut waiting = Vec::new();
    for case in Case::all(session.options()) {
        session.step(&case.name());
        if measure(session, case)? < SATURATED {
            waiting.push(case.name());
        }
    }
    note_unsaturated(session, &waiting);
    Ok(())
}

/// Says of which cases the rate is not the server's.
pub(in crate::workloads) fn note_unsaturated(session: &mut Session<'_>, cases: &[String]) {
    if !cases.is_empty() {
        session.note(format!(
            "the server was not saturated in {} cases. There, the clients or other work on the machine limit the \
             handshakes per second. The CPU time per handshake is not affected ({})",
            cases.len(),
            cases.join("; ")
        ));
    }
}

/// Answers how busy stock's server was, as a share of a core.
fn measure(session: &mut Session<'_>, case: Case) -> Result<f64, Failure> {
    let certificate = case.key.certificate(session)?;
    let identity = Key::P256.certificate(session)?;
    let identity = case.authentication.then_some(&identity);
    let files = files(&session.workplace, FILE, EXCHANGE as u64)?;

    let setups = setups(case.make);
    let mut contenders = Vec::new();
    for &(name, outboard, asynchronous) in setups {
        let openssl = if outboard {
            session.outboard(&format!("{}, {name}", case.name()).replace(", ", "_"))?
        } else {
            session.stock.clone()
        };
        let front = FrontOptions {
            openssl: &openssl,
            certificate: &certificate,
            files: &files,
            resumption: case.resumed,
            clients: identity,
            asynchronous,
            workers: 1,
            core: session.cores.server,
        };
        let server = case.make.start(&session.workplace, front)?;
        let client = ClientOptions {
            server: &certificate,
            version: case.version,
            cipher: case.cipher,
            identity,
            resume: case.resumed,
        };
        // Each with sessions of its own: a ticket of TLS 1.3 is used once.
        let clients = (0..session.options().pick(64, 64, 4))
            .map(|_| Client::new(&client))
            .collect::<Result<Vec<_>, _>>()?;
        contenders.push(Contender {
            openssl,
            server,
            clients,
        });
    }

    // Everything gets warm, every client gets its first ticket, and how many fill a window is known.
    let options = session.options();
    let at_once = contenders[0].clients.len() as u64;
    let warm_up = 2 * at_once;
    let core = session.cores.client;
    let mut cost = Duration::MAX;
    for contender in &contenders {
        let before = contender.server.cpu();
        let port = contender.server.port();
        if case.resumed {
            // One after another: of all at once, some might find nothing left to do, and have no ticket.
            for client in &contender.clients {
                Storm::run(std::slice::from_ref(client), port, 2, core)?;
            }
        } else {
            Storm::run(&contender.clients, port, warm_up, core)?;
        }
        let used = contender.server.cpu().saturating_sub(before);
        cost = cost.min(used / u32::try_from(warm_up).unwrap_or(u32::MAX));
    }
    let fill = window(options).as_secs_f64() / cost.as_secs_f64().max(1e-6);
    let connections = (fill as u64).clamp(at_once, 4000);

    let names: Vec<&str> = setups.iter().map(|setup| setup.0).collect();
    let comparison = session.alternate(&names, rounds(options), |session, setup| {
        let Contender {
            server, clients, ..
        } = &contenders[setup];
        let before = server.cpu();
        let storm = Storm::run(clients, server.port(), connections, session.cores.client)?;
        let used = server.cpu().saturating_sub(before).as_secs_f64();
        let expected = if case.resumed { connections } else { 0 };
        if storm.resumed != expected {
            let resumed = storm.resumed;
            return Err(format!("{resumed} of {connections} connections were resumed").into());
        }
        let (connections, wall) = (connections as f64, storm.wall.as_secs_f64());
        Ok(vec![used / connections, connections / wall, used / wall])
    })?;

    let all = warm_up + u64::from(rounds(options).measured) * connections;
    let mut proofs = Vec::new();
    for Contender {
        openssl, server, ..
    } in contenders
    {
        server.stop()?;
        proofs.push(prove(session, &case, &openssl, all)?);
    }
    session.record(
        "handshakes",
        &case.labels(),
        &MEASURES,
        &comparison,
        &proofs,
    )?;
    Ok(crate::statistics::median(&comparison.values(0, 2)))
}

/// A server of one setup with its clients.
struct Contender {
    openssl: OpenSsl,
    server: Front,
    clients: Vec<Client>,
}

/// A full handshake signs; a resumed one of TLS 1.3 still agrees on a key; one of TLS 1.2 only seals.
fn prove(
    session: &Session<'_>,
    case: &Case,
    openssl: &OpenSsl,
    handshakes: u64,
) -> Result<Proof, Failure> {
    let operation = match (case.resumed, case.version) {
        (false, _) => case.key.signature.to_owned(),
        (true, Version::Tls13) => "x25519-derive".to_owned(),
        (true, Version::Tls12) => format!("{}-seal", case.cipher.name()),
    };
    if !session.installation.proofs.knows(&operation) {
        return Ok(Proof::not_ours(case.cipher.name()));
    }
    session.proof(openssl, &[Expected::operations(&operation, handshakes)])
}

fn setups(make: Make) -> &'static [Setup] {
    match make {
        Make::HaProxy => &SETUPS,
        Make::Nginx | Make::Apache | Make::ApachePrefork => &SETUPS[..2],
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
    Duration::from_millis(options.pick(200, 80, 10))
}
