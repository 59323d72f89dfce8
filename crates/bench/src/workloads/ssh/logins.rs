//! Many logins at once: the cost of a handshake at each side, by host key and key exchange.

use std::time::{Duration, Instant};

use outboard_programs::{Launch, OpenSsl, Sshd, Workplace, cpu_time_of};

use super::cipher::Suite;
use super::{client, sshd};
use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::sides::{SETUPS, at_client, at_server, prove};

const MEASURES: [Measure; 3] = [
    Measure::lower("client CPU", "s"),
    Measure::lower("server CPU", "s"),
    Measure::higher("logins", "1/s"),
];

/// How many clients log in at once.
const AT_ONCE: usize = 8;

/// The algorithms of a login. The user's key has the host key's kind.
pub(in crate::workloads) struct Case {
    pub(in crate::workloads) host_key: &'static str,
    /// OpenSSH's name of the signature.
    signature: &'static str,
    key_exchange: &'static str,
}

/// CPU time of a login at each side, and the time between two, in seconds.
pub(in crate::workloads) struct Login {
    pub(in crate::workloads) client: f64,
    pub(in crate::workloads) server: f64,
    pub(in crate::workloads) wall: f64,
}

const CASES: [Case; 4] = [
    Case::new("rsa", "rsa-sha2-256", "ecdh-sha2-nistp256"),
    Case::new("ed25519", "ssh-ed25519", "curve25519-sha256"),
    Case::new("ecdsa", "ecdsa-sha2-nistp256", "ecdh-sha2-nistp384"),
    Case::new("rsa", "rsa-sha2-256", "diffie-hellman-group14-sha256"),
];

impl Case {
    pub(in crate::workloads) const fn new(
        host_key: &'static str,
        signature: &'static str,
        key_exchange: &'static str,
    ) -> Self {
        Self {
            host_key,
            signature,
            key_exchange,
        }
    }

    fn name(&self) -> String {
        format!("logins, {}, {}", self.host_key, self.key_exchange)
    }
}

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let windows = f64::from(rounds(options).measured) * SETUPS.len() as f64;
    let seconds = windows * (0.1 + 0.05 * logins(options) as f64);
    let cases = cases(options).iter();
    cases.map(|case| Step::new(case.name(), seconds)).collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "logins",
        "Logins, eight at once, each with one command",
        &["host_key", "kex"],
    );
    session.note(
        "before version 9.9, OpenSSH makes signatures and key exchanges with OpenSSL calls that no provider sees \
         (RSA_sign, ECDSA_do_sign, ECDH_compute_key), or in its own code (Curve25519, Ed25519). A login then \
         gains only in the encryption of its session. It loses the time for loading the provider, which sshd \
         does for every connection.",
    );
    for case in cases(session.options()) {
        session.step(&case.name());
        measure(session, case)?;
    }
    Ok(())
}

fn measure(session: &mut Session<'_>, case: &Case) -> Result<(), Failure> {
    let ledger = |side| format!("logins-{}-{}-{side}", case.host_key, case.key_exchange);
    let client = session.outboard(&ledger("client"))?;
    let server = session.outboard(&ledger("server"))?;
    let rounds = rounds(session.options());
    let logins = logins(session.options());
    let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
        let client = if at_client(setup) {
            &client
        } else {
            &session.stock
        };
        let server = if at_server(setup) {
            &server
        } else {
            &session.stock
        };
        let sshd = sshd(session, &session.workplace, server, "")?;
        let login = storm(session, &session.workplace, sshd, case, client, logins)?;
        Ok(vec![login.client, login.server, 1.0 / login.wall])
    })?;
    // Each login seals a few packets on each side, in two of the four setups.
    let all = 2 * u64::from(rounds.measured) * logins;
    let side = |openssl| -> Result<Proof, Failure> {
        session.proof(openssl, &[Expected::operations("aes-128-gcm-seal", all)])
    };
    let proofs = prove(side(&client)?, side(&server)?);
    let labels = [("host_key", case.host_key), ("kex", case.key_exchange)];
    session.record("logins", &labels, &MEASURES, &comparison, &proofs)
}

/// So many logins at an sshd of its own, which then ends: so the kernel tells the time of all its processes.
pub(in crate::workloads) fn storm(
    session: &Session<'_>,
    workplace: &Workplace,
    mut sshd: Sshd,
    case: &Case,
    at_client: &OpenSsl,
    logins: u64,
) -> Result<Login, Failure> {
    let before = cpu_time_of(sshd.process().id()).unwrap_or_default();
    let launches = (0..logins)
        .map(|_| login(session, workplace, &sshd, case, at_client))
        .collect::<Result<Vec<_>, _>>()?;
    let begin = Instant::now();
    let client = all_at_once(launches)?;
    let wall = begin.elapsed();
    let server = sshd.stop()?.cpu.saturating_sub(before);
    let each = |time: Duration| time.as_secs_f64() / logins as f64;
    Ok(Login {
        client: each(client),
        server: each(server),
        wall: each(wall),
    })
}

fn login(
    session: &Session<'_>,
    workplace: &Workplace,
    sshd: &Sshd,
    case: &Case,
    openssl: &OpenSsl,
) -> Result<Launch, Failure> {
    let user_key = Sshd::user_key(workplace, case.host_key);
    Ok(client(session, sshd, "ssh", &Suite::AES_128_GCM, openssl)?
        .args(["-o", &format!("HostKeyAlgorithms={}", case.signature)])
        .args(["-o", &format!("KexAlgorithms={}", case.key_exchange)])
        .args(["-o", "IdentityFile=none", "-i"])
        .arg(user_key)
        .args([Sshd::HOST, "true"]))
}

/// Runs them, so many at once; the CPU time of all.
fn all_at_once(launches: Vec<Launch>) -> Result<Duration, Failure> {
    let queue = std::sync::Mutex::new(launches);
    let next = || queue.lock().unwrap_or_else(|e| e.into_inner()).pop();
    let work = || -> Result<Duration, outboard_programs::Error> {
        let mut used = Duration::ZERO;
        while let Some(launch) = next() {
            used += launch.succeed()?.cpu;
        }
        Ok(used)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        let mut used = Duration::ZERO;
        for worker in workers {
            match worker.join() {
                Ok(result) => used += result?,
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(used)
    })
}

fn cases(options: &Options) -> &'static [Case] {
    &CASES[..options.pick(4, 1, 1)]
}

fn logins(options: &Options) -> u64 {
    options.pick(48, 24, 4)
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(6, 2, 1),
    }
}
