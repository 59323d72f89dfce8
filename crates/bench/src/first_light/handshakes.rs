//! (b) Full TLS 1.3 handshakes with nginx, by certificate.
//!
//! Two nginx, stock and Outboard, are up at once; h2load makes a fixed number of connections to one
//! and the other in turn, each a full handshake and one request. What counts is the CPU time of the
//! server's worker.

use std::time::Duration;

use outboard_programs::{Certificate, Error, Launch, Nginx, NginxOptions, OpenSsl};

use super::report::Row;
use super::statistics::compare;
use super::{Progress, Setting};
use crate::Failure;
use crate::proof::Expected;

/// Name, argument of `openssl req -newkey`, the engine's name of the signature.
const CERTIFICATES: [(&str, &str, &str); 5] = [
    ("RSA-2048", "rsa:2048", "rsa-2048-sign"),
    ("RSA-3072", "rsa:3072", "rsa-3072-sign"),
    ("RSA-4096", "rsa:4096", "rsa-4096-sign"),
    ("P-256", "ec -pkeyopt ec_paramgen_curve:P-256", "p256-sign"),
    ("P-384", "ec -pkeyopt ec_paramgen_curve:P-384", "p384-sign"),
];

/// Windows of each contender, for each certificate.
const PAIRS: u32 = 15;

/// CPU time of the stock server's worker in a window, about.
const WINDOW: Duration = Duration::from_millis(200);

/// Connections to get everything warm, and to learn how many fill a window.
const WARM_UP: u64 = 60;

pub(super) fn steps(setting: &Setting) -> u32 {
    let wanted = CERTIFICATES
        .iter()
        .filter(|(name, ..)| setting.wants(&workload(name)))
        .count();
    u32::try_from(wanted).unwrap_or(u32::MAX) * setting.rounds(PAIRS)
}

/// Runs the selected workloads.
pub(super) fn run(setting: &Setting, progress: &mut Progress) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (name, new_key, operation) in CERTIFICATES {
        if setting.wants(&workload(name)) {
            progress.workload(&workload(name));
            rows.push(measure(setting, name, new_key, operation, progress)?);
        }
    }
    Ok(rows)
}

fn workload(certificate: &str) -> String {
    format!("nginx, TLS 1.3 handshake, {certificate}")
}

fn measure(
    setting: &Setting,
    name: &str,
    new_key: &str,
    operation: &str,
    progress: &mut Progress,
) -> Result<Row, Failure> {
    let certificate = Certificate::generate(&setting.workplace, &setting.stock, name, new_key)?;
    let outboard = setting.outboard(&format!("nginx-{name}"))?;
    let server = |openssl: &OpenSsl| {
        let options = NginxOptions {
            openssl,
            certificates: &[&certificate],
            files: None,
            core: setting.cores.server,
            settings: "",
        };
        Nginx::start(&setting.workplace, options)
    };
    let contenders = [server(&setting.stock)?, server(&outboard)?];

    let cost = window(setting, &contenders[0], WARM_UP)?;
    window(setting, &contenders[1], WARM_UP)?;
    let fill = WINDOW.as_secs_f64() / cost.as_secs_f64();
    // Between the two: enough for a mean, few enough that the window stays short.
    let connections = (fill as u64).clamp(50, 2000);

    let mut pairs = Vec::new();
    for round in 0..setting.rounds(PAIRS) {
        let (stock, with_outboard);
        if round % 2 == 0 {
            stock = window(setting, &contenders[0], connections)?;
            with_outboard = window(setting, &contenders[1], connections)?;
        } else {
            with_outboard = window(setting, &contenders[1], connections)?;
            stock = window(setting, &contenders[0], connections)?;
        }
        pairs.push((stock, with_outboard));
        progress.step();
    }
    let handshakes = WARM_UP + u64::from(setting.rounds(PAIRS)) * connections;
    let proof = setting.proof(&outboard, &[Expected::operations(operation, handshakes)])?;
    for contender in contenders {
        contender.stop()?;
    }
    Ok(Row {
        workload: workload(name),
        subject: "server",
        unit: "handshake",
        compared: compare(&pairs),
        proof,
    })
}

/// The server's CPU time for one handshake, from so many connections.
fn window(setting: &Setting, nginx: &Nginx, connections: u64) -> Result<Duration, Failure> {
    let accepted = nginx.accepted()?;
    let before = nginx.worker_cpu()?;
    let client = Launch::new("h2load")?
        .args(["--h1", "--clients=16", "--header=Connection: close"])
        .arg(format!("--requests={connections}"))
        .arg(format!("https://127.0.0.1:{}/", nginx.port))
        // Stock on both sides of the comparison: the client's own cost is not the subject.
        .with(&setting.stock)
        .on(setting.cores.client)
        .succeed()?;
    let used = nginx.worker_cpu()? - before;

    // One connection for each request, none lost, none that asked twice.
    let all_succeeded = format!("{connections} succeeded, 0 failed, 0 errored, 0 timeout");
    if !client.output.contains(&all_succeeded) {
        return Err(unexpected(all_succeeded, client.output));
    }
    // The second question about the number is itself a connection, and comes after the first.
    let accepted = nginx.accepted()?.saturating_sub(accepted + 1);
    if accepted != connections {
        let reason = format!("{connections} connections, but nginx accepted {accepted}");
        return Err(unexpected(reason, client.output));
    }
    Ok(used / u32::try_from(connections).unwrap_or(u32::MAX))
}

fn unexpected(reason: String, output: String) -> Failure {
    let program = "h2load".to_owned();
    Error::Unexpected {
        program,
        reason,
        output,
    }
    .into()
}
