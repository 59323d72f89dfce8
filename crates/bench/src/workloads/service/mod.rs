//! The card service: programs with keys in files, and with keys that only the service has.
//!
//! ```text
//! held         a card service with one key ──▶ for each setup: OpenSSL's configuration, certificate
//!   ├─ stand        a TLS server in each setup, and its clients
//!   │    ├─ handshakes   nginx, HAProxy, Apache with processes, at saturation
//!   │    └─ concurrency  nginx with 1 to 512 clients: rate, median and 99th percentile
//!   ├─ postgresql   connections, a process for each
//!   └─ request      one signature at a time, in this process
//! sshd         logins with host keys in the service
//! ```

mod concurrency;
mod handshakes;
pub(super) mod held;
mod postgresql;
mod request;
mod sshd;
mod stand;

use crate::Failure;
use crate::suite::{Options, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service;

/// What has the key: the program under stock OpenSSL, the program under Outboard, or the card service.
const SETUPS: [&str; 3] = ["stock", "outboard", "service"];

/// A part, which can run alone.
struct Part {
    name: &'static str,
    plan: fn(&Options) -> Vec<Step>,
    run: fn(&mut Session<'_>) -> Result<(), Failure>,
}

const PARTS: [Part; 7] = [
    Part {
        name: "nginx",
        plan: handshakes::plan_nginx,
        run: handshakes::run_nginx,
    },
    Part {
        name: "haproxy",
        plan: handshakes::plan_haproxy,
        run: handshakes::run_haproxy,
    },
    Part {
        name: "apache",
        plan: handshakes::plan_apache,
        run: handshakes::run_apache,
    },
    Part {
        name: "postgresql",
        plan: postgresql::plan,
        run: postgresql::run,
    },
    Part {
        name: "sshd",
        plan: sshd::plan,
        run: sshd::run,
    },
    Part {
        name: "request",
        plan: request::plan,
        run: request::run,
    },
    Part {
        name: "concurrency",
        plan: concurrency::plan,
        run: concurrency::run,
    },
];

const NAMES: [&str; PARTS.len()] = {
    let mut names = [""; PARTS.len()];
    let mut part = 0;
    while part < PARTS.len() {
        names[part] = PARTS[part].name;
        part += 1;
    }
    names
};

impl Workload for Service {
    fn name(&self) -> &'static str {
        "service"
    }

    fn summary(&self) -> &'static str {
        "programs with keys in files, and with keys that only the card service has"
    }

    fn parts(&self) -> &'static [&'static str] {
        &NAMES
    }

    fn programs(&self) -> &'static [&'static str] {
        &[
            "apache2",
            "haproxy",
            "initdb",
            "nginx",
            "openssl",
            "pgbench",
            "postgres",
            "ssh",
            "ssh-keygen",
            "sshd",
        ]
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        parts(options)
            .flat_map(|part| (part.plan)(options))
            .collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let programs = ["apache2", "haproxy", "nginx", "openssl", "postgres", "ssh"];
        super::versions::record(session, &programs)?;
        session.note(
            "server CPU is that of the server's processes and of the card service together. Both are held to one core, and \
             the clients to another one.",
        );
        parts(session.options()).try_for_each(|part| (part.run)(session))
    }
}

/// Those that the user asked for.
fn parts(options: &Options) -> impl Iterator<Item = &'static Part> {
    let asked = PARTS.iter().map(|part| (part, options.runs(part.name)));
    let asked: Vec<_> = asked.collect();
    asked
        .into_iter()
        .filter_map(|(part, runs)| runs.then_some(part))
}
