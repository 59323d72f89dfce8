//! The card service: nginx with keys in files, and with keys that only the service has.

use std::time::Duration;

use outboard_programs::{CardService, Nginx, NginxOptions, OpenSsl};

use super::tls::Key;
use super::tls::client::{Cipher, Client, ClientOptions, Version};
use super::tls::storm::{EXCHANGE, FILE, Storm};
use super::{tls, versions};
use crate::Failure;
use crate::installation::find_daemon;
use crate::proof::{Expected, Proof};
use crate::suite::{Measure, Options, Rounds, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service;

const SETUPS: [&str; 3] = ["stock", "outboard", "service"];

const MEASURES: [Measure; 2] = [
    Measure::lower("server CPU", "s"),
    Measure::higher("handshakes", "1/s"),
];

/// How many connections there are at once.
const AT_ONCE: usize = 64;

impl Workload for Service {
    fn name(&self) -> &'static str {
        "service"
    }

    fn summary(&self) -> &'static str {
        "nginx with keys in files, and with keys that only the card service has"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["nginx", "openssl"]
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let windows = f64::from(rounds(options).measured + 1) * SETUPS.len() as f64;
        let seconds = windows * window(options).as_secs_f64() * 1.5 + 1.5;
        let step = |(key, workers)| Step::new(name(key, workers), seconds);
        cases(options).into_iter().map(step).collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        versions::record(session, &["nginx", "openssl"])?;
        session.table(
            "handshakes",
            "TLS 1.3 handshakes, each with one exchange of 2,048 bytes",
            &["key", "workers"],
        );
        session.note(
            "server CPU is that of nginx's workers and of the card service together. Both are held to one core, and the \
             64 clients to another one.",
        );
        for (key, workers) in cases(session.options()) {
            session.step(&name(key, workers));
            measure(session, key, workers)?;
        }
        Ok(())
    }
}

/// Each key with one worker, and with as many as fill the lanes.
fn cases(options: &Options) -> Vec<(Key, usize)> {
    let (keys, workers): (&[Key], &[usize]) = options.pick(
        (&Key::ALL, &[1, 4, 16]),
        (&[Key::RSA_2048, Key::P256, Key::P384], &[1, 16]),
        (&[Key::P256], &[2]),
    );
    let with = |&key: &Key| workers.iter().map(move |&workers| (key, workers));
    keys.iter().flat_map(with).collect()
}

fn name(key: Key, workers: usize) -> String {
    format!("{}, {workers} workers", key.name)
}

/// A server of one setup, with its clients.
struct Contender {
    openssl: OpenSsl,
    nginx: Nginx,
    clients: Vec<Client>,
}

fn measure(session: &mut Session<'_>, key: Key, workers: usize) -> Result<(), Failure> {
    let certificate = key.certificate_in(&session.workplace, &session.stock)?;
    let files = tls::files(&session.workplace, FILE, EXCHANGE as u64)?;
    let command = session.installation.command.clone();
    let daemon = find_daemon(&command)?;
    let core = session.cores.server;
    let service = CardService::start(&session.workplace, &daemon, &command, core)?;
    let users = match rustix::process::getuid().is_root() {
        true => vec!["www-data"],
        false => vec![],
    };
    let us = rustix::process::getuid().as_raw().to_string();
    let users = if users.is_empty() { vec![&*us] } else { users };
    let adopted = service.adopt(&certificate, &key.name.to_lowercase(), &users)?;

    let mut contenders = Vec::new();
    for setup in SETUPS {
        let ledger = format!("service-{}-{workers}-{setup}", key.name);
        let installed = &session.installation.outboard;
        let (openssl, shown) = match setup {
            "stock" => (session.stock.clone(), &certificate),
            "outboard" => (session.outboard(&ledger)?, &certificate),
            _ => {
                let setting = service.setting();
                let with = OpenSsl::outboard_with(&session.workplace, installed, &ledger, &setting);
                (with?, &adopted)
            }
        };
        let options = NginxOptions {
            openssl: &openssl,
            certificates: &[shown],
            files: Some(&files),
            core,
            settings: "",
        };
        let nginx = Nginx::start_workers(&session.workplace, options, workers)?;
        let client = ClientOptions {
            server: &certificate,
            version: Version::Tls13,
            cipher: Cipher::Aes128Gcm,
            identity: None,
            resume: false,
        };
        let at_once = session.options().pick(AT_ONCE, AT_ONCE, 4);
        let clients = (0..at_once).map(|_| Client::new(&client));
        contenders.push(Contender {
            nginx,
            clients: clients.collect::<Result<Vec<_>, _>>()?,
            openssl,
        });
    }

    // Everything gets warm, and how many fill a window is known.
    let used = |contender: &Contender| contender.nginx.cpu() + service.cpu();
    let warm_up = 2 * contenders[0].clients.len() as u64;
    let mut cost = Duration::MAX;
    for contender in &contenders {
        let before = used(contender);
        let port = contender.nginx.port;
        Storm::run(&contender.clients, port, warm_up, session.cores.client)?;
        let spent = used(contender).saturating_sub(before);
        cost = cost.min(spent / u32::try_from(warm_up).unwrap_or(u32::MAX));
    }
    let fill = window(session.options()).as_secs_f64() / cost.as_secs_f64().max(1e-6);
    let connections = (fill as u64).clamp(contenders[0].clients.len() as u64, 4000);

    let rounds = rounds(session.options());
    let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
        let contender = &contenders[setup];
        let before = used(contender);
        let (port, core) = (contender.nginx.port, session.cores.client);
        let storm = Storm::run(&contender.clients, port, connections, core)?;
        let spent = used(contender).saturating_sub(before).as_secs_f64();
        let connections = connections as f64;
        Ok(vec![
            spent / connections,
            connections / storm.wall.as_secs_f64(),
        ])
    })?;

    let all = warm_up + u64::from(rounds.measured) * connections;
    let ledger = service.ledger().to_owned();
    let mut configurations = Vec::new();
    for contender in contenders {
        contender.nginx.stop()?;
        configurations.push(contender.openssl);
    }
    service.stop()?;
    let signatures = [Expected::operations(key.signature, all)];
    let proofs = &session.installation.proofs;
    let proofs = [
        session.proof(&configurations[0], &[])?,
        match proofs.knows(key.signature) {
            true => session.proof(&configurations[1], &signatures)?,
            false => Proof::not_ours(key.name),
        },
        // The service does every signature itself, whatever the profile says.
        proofs.find_in(&ledger, &signatures)?,
    ];
    let workers = workers.to_string();
    session.record(
        "handshakes",
        &[("key", key.name), ("workers", &workers)],
        &MEASURES,
        &comparison,
        &proofs,
    )
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
