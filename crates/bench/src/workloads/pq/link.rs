//! What the longer hellos cost a client behind a slow link.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustls::crypto::SupportedKxGroup;
use rustls::crypto::ring::kx_group::X25519;

use super::ENCAPSULATION;
use super::group::X25519_MLKEM768;
use super::relay::{Link, Passed};
use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::tls::Key;
use crate::workloads::tls::client::{Cipher, Client, ClientOptions, Version};
use crate::workloads::tls::front::{FrontOptions, Make};
use crate::workloads::tls::storm::{EXCHANGE, FILE};

const LINK: Link = Link {
    delay: Duration::from_millis(50),
    rate: 1e6,
};

/// By setup: whether Outboard serves, and what the client offers, which sends a share of the first alone.
const SETUPS: [(&str, bool, &[&dyn SupportedKxGroup]); 3] = [
    ("stock", false, &[X25519]),
    ("outboard-pq", true, &[X25519_MLKEM768, X25519]),
    ("retry", false, &[X25519_MLKEM768, X25519]),
];

const MEASURES: [Measure; 4] = [
    Measure::lower("handshake", "s"),
    Measure::lower("to the server", "B"),
    Measure::lower("to the client", "B"),
    Measure::lower("round trips", "1"),
];

const STEP: &str = "nginx, slow link";

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let handshakes = f64::from(rounds(options).measured) * SETUPS.len() as f64;
    vec![Step::new(STEP, 1.0 + 0.4 * handshakes)]
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.step(STEP);
    session.table(
        "link",
        "A full TLS 1.3 handshake over a slow link: time, bytes and round trips, without TCP's own",
        &["link", "key"],
    );
    session.note(
        "the link delays each byte by 50 ms and carries 1 Mbit/s, each way. It is a relay of this program, which loses no \
         packet. 'stock' agrees by X25519, 'outboard-pq' by X25519MLKEM768. 'retry' is a client that offers X25519MLKEM768 \
         first to a stock server, which asks for X25519 (HelloRetryRequest).",
    );
    let key = Key::P256;
    let certificate = key.certificate(session)?;
    let files = crate::workloads::tls::files(&session.workplace, FILE, EXCHANGE as u64)?;
    let mut setups = Vec::new();
    for (name, outboard, groups) in SETUPS {
        let openssl = match outboard {
            true => super::enabled(session, &format!("link-{name}"))?,
            false => session.stock.clone(),
        };
        let options = FrontOptions {
            openssl: &openssl,
            certificate: &certificate,
            files: &files,
            resumption: false,
            clients: None,
            asynchronous: false,
            workers: 1,
            core: None,
        };
        let server = Make::Nginx.start(&session.workplace, options)?;
        let client = ClientOptions {
            server: &certificate,
            version: Version::Tls13,
            cipher: Cipher::Aes128Gcm,
            identity: None,
            resume: false,
        };
        let client = Client::with_groups(&client, groups.to_vec())?;
        setups.push((openssl, server, client));
    }
    let rounds = rounds(session.options());
    let names = SETUPS.map(|setup| setup.0);
    let comparison = session.alternate(&names, rounds, |_, setup| {
        let (_, server, client) = &setups[setup];
        let passed = Mutex::new(Passed::default());
        let time = LINK.between(server.port(), &passed, |port| {
            let start = Instant::now();
            client.connect(port).map(|_| start.elapsed())
        })?;
        // Only now all has passed: the client's last message, and the server's farewell.
        let passed = passed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let counts = [passed.to_server, passed.to_client, passed.turns - 1];
        let counts = counts.map(|count| count as f64);
        Ok([&[time.as_secs_f64()], &counts[..]].concat())
    })?;
    let mut proofs = Vec::new();
    for ((openssl, server, _), (_, outboard, _)) in setups.into_iter().zip(SETUPS) {
        server.stop()?;
        let expected = [Expected::operations(
            ENCAPSULATION,
            u64::from(rounds.measured),
        )];
        proofs.push(match outboard {
            true => session.proof(&openssl, &expected)?,
            false => Proof::not_needed(),
        });
    }
    let labels = [("link", "50 ms, 1 Mbit/s"), ("key", key.name)];
    session.record("link", &labels, &MEASURES, &comparison, &proofs)
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(15, 7, 1),
    }
}
