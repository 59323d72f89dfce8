//! A download over a line that is slower than the machine: not how fast it is, but how busy sshd is.

use outboard_programs::{OpenSsl, cpu_time_of};

use super::cipher::Suite;
use super::{bytes, check, client, copy, file, remote, sshd};
use crate::Failure;
use crate::proof::Proof;
use crate::suite::{Measure, Options, Rounds, Session, Step};

/// The line's speed: bytes per second, and in the Kbit/s of `scp -l`.
const LINE: u64 = 50_000_000;
const LINE_KBITS: &str = "400000";

const SETUPS: [&str; 2] = ["stock", "server"];

const MEASURES: [Measure; 1] = [Measure::lower("sshd CPU share", "")];

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let downloads = f64::from(rounds(options).measured) * SETUPS.len() as f64;
    let seconds = downloads * (0.3 + bytes(options) as f64 / LINE as f64);
    suites(options)
        .iter()
        .map(|suite| Step::new(step(suite), seconds))
        .collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "download",
        "sshd's share of a core during a download at 50 MB/s",
        &["cipher", "mac"],
    );
    for suite in suites(session.options()) {
        session.step(&step(&suite));
        let ledger = format!("download-{}-{}", suite.cipher, suite.mac);
        let with = session.outboard(&ledger)?;
        let rounds = rounds(session.options());
        let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
            let openssl = if setup == 0 { &session.stock } else { &with };
            download(session, &suite, openssl)
        })?;
        let bytes = u64::from(rounds.measured) * bytes(session.options());
        let proof = suite.prove(session, &with, "seal", bytes)?;
        let proofs = [Proof::not_needed(), proof];
        let labels = [("cipher", suite.cipher), ("mac", suite.mac)];
        session.record("download", &labels, &MEASURES, &comparison, &proofs)?;
    }
    Ok(())
}

fn download(
    session: &Session<'_>,
    suite: &Suite,
    at_server: &OpenSsl,
) -> Result<Vec<f64>, Failure> {
    let mut sshd = sshd(session, &session.workplace, at_server, "")?;
    let start = cpu_time_of(sshd.process().id()).unwrap_or_default();
    let client = client(session, &sshd, "scp", suite, &session.stock)?
        .args(["-l", LINE_KBITS])
        .arg(remote(&file(session)))
        .arg(copy(session))
        .succeed()?;
    check(session)?;
    let used = sshd.stop()?.cpu.saturating_sub(start);
    Ok(vec![used.as_secs_f64() / client.wall.as_secs_f64()])
}

fn suites(options: &Options) -> Vec<Suite> {
    let all = [
        Suite::AES_128_GCM,
        Suite::new("aes128-cbc", "hmac-sha1"),
        Suite::DEFAULT,
    ];
    all[..options.pick(3, 1, 1)].to_vec()
}

fn step(suite: &Suite) -> String {
    format!("download, {}", suite.name())
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(6, 2, 1),
    }
}
