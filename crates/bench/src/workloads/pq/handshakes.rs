//! What a handshake costs nginx, with X25519 and with X25519MLKEM768.

use std::time::Duration;

use outboard_programs::OpenSsl;
use rustls::crypto::SupportedKxGroup;
use rustls::crypto::ring::kx_group::X25519;

use super::ENCAPSULATION;
use super::group::X25519_MLKEM768;
use crate::Failure;
use crate::proof::Expected;
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::tls::client::{Cipher, Client, ClientOptions, Version};
use crate::workloads::tls::front::{Front, FrontOptions, Make};
use crate::workloads::tls::handshakes::{SATURATED, note_unsaturated};
use crate::workloads::tls::storm::{EXCHANGE, FILE, Storm};
use crate::workloads::tls::{Key, files};

const KEY: Key = Key::P256;

/// By setup: whether Outboard serves, and what the clients offer.
const SETUPS: [(&str, bool, &dyn SupportedKxGroup); 3] = [
    ("stock", false, X25519),
    ("outboard", true, X25519),
    ("outboard-pq", true, X25519_MLKEM768),
];

const MEASURES: [Measure; 3] = [
    Measure::lower("server CPU", "s"),
    Measure::higher("handshakes", "1/s"),
    Measure::neither("CPU utilization", ""),
];

const STEP: &str = "nginx, handshakes";

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let windows = f64::from(rounds(options).measured + 1) * SETUPS.len() as f64;
    let seconds = windows * window(options).as_secs_f64() * 1.5;
    vec![Step::new(STEP, seconds + 1.0)]
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.step(STEP);
    crate::workloads::versions::record(session, &["nginx", "openssl"])?;
    session.table(
        "handshakes",
        "Full TLS 1.3 handshakes of nginx, each with one exchange of 2,048 bytes",
        &["server", "key"],
    );
    session.note(
        "'stock' and 'outboard' agree by X25519, 'outboard-pq' by X25519MLKEM768. The clients are our own (rustls), many at \
         once on their own core; they compute ML-KEM by Outboard's engine.",
    );
    let setups = SETUPS.map(|(name, outboard, group)| start(session, name, outboard, group));
    let setups = setups.into_iter().collect::<Result<Vec<_>, _>>()?;

    // Everything gets warm, and how many fill a window is known.
    let core = session.cores.client;
    let mut cost = Duration::MAX;
    let at_once = setups[0].clients.len() as u64;
    let warm_up = 2 * at_once;
    for setup in &setups {
        let before = setup.server.cpu();
        Storm::run(&setup.clients, setup.server.port(), warm_up, core)?;
        let used = setup.server.cpu().saturating_sub(before);
        cost = cost.min(used / u32::try_from(warm_up).unwrap_or(u32::MAX));
    }
    let options = session.options();
    let fill = window(options).as_secs_f64() / cost.as_secs_f64().max(1e-6);
    let connections = (fill as u64).clamp(at_once, 4000);

    let names = SETUPS.map(|setup| setup.0);
    let comparison = session.alternate(&names, rounds(options), |_, setup| {
        let Setup {
            server, clients, ..
        } = &setups[setup];
        let before = server.cpu();
        let storm = Storm::run(clients, server.port(), connections, core)?;
        let used = server.cpu().saturating_sub(before).as_secs_f64();
        let (connections, wall) = (connections as f64, storm.wall.as_secs_f64());
        Ok(vec![used / connections, connections / wall, used / wall])
    })?;
    if crate::statistics::median(&comparison.values(0, 2)) < SATURATED {
        note_unsaturated(session, &[STEP.to_owned()]);
    }

    let all = warm_up + u64::from(rounds(options).measured) * connections;
    let mut proofs = Vec::new();
    for setup in setups {
        setup.server.stop()?;
        let mut expected = vec![Expected::operations(KEY.signature, all)];
        if setup.post_quantum {
            expected.push(Expected::operations(ENCAPSULATION, all));
        }
        proofs.push(session.proof(&setup.openssl, &expected)?);
    }
    let labels = [("server", Make::Nginx.name()), ("key", KEY.name)];
    session.record("handshakes", &labels, &MEASURES, &comparison, &proofs)
}

/// A server and its clients.
struct Setup {
    openssl: OpenSsl,
    server: Front,
    clients: Vec<Client>,
    post_quantum: bool,
}

fn start(
    session: &Session<'_>,
    name: &str,
    outboard: bool,
    group: &'static dyn SupportedKxGroup,
) -> Result<Setup, Failure> {
    let openssl = match outboard {
        true => super::enabled(session, name)?,
        false => session.stock.clone(),
    };
    let certificate = KEY.certificate(session)?;
    let options = FrontOptions {
        openssl: &openssl,
        certificate: &certificate,
        files: &files(&session.workplace, FILE, EXCHANGE as u64)?,
        resumption: false,
        clients: None,
        asynchronous: false,
        workers: 1,
        core: session.cores.server,
    };
    let server = Make::Nginx.start(&session.workplace, options)?;
    let client = ClientOptions {
        server: &certificate,
        version: Version::Tls13,
        cipher: Cipher::Aes128Gcm,
        identity: None,
        resume: false,
    };
    let client = Client::with_groups(&client, vec![group])?;
    Ok(Setup {
        clients: vec![client; session.options().pick(64, 64, 4)],
        post_quantum: group.name() == X25519_MLKEM768.name(),
        openssl,
        server,
    })
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(21, 9, 1),
    }
}

/// CPU time of the cheapest setup's server in a window, about.
fn window(options: &Options) -> Duration {
    Duration::from_millis(options.pick(200, 80, 10))
}
