//! Logins with host keys that only the service has: sshd asks it as its agent.

use outboard_programs::Workplace;

use super::held;
use crate::Failure;
use crate::proof::Expected;
use crate::suite::{Measure, Options, Rounds, Session, Step};
use crate::workloads::ssh::logins::{Case, storm};
use crate::workloads::ssh::sshd;

const SETUPS: [&str; 2] = ["stock", "service"];

const MEASURES: [Measure; 2] = [
    Measure::lower("server CPU", "s"),
    Measure::higher("logins", "1/s"),
];

/// The host key's file, OpenSSH's names of its signature and of a key exchange, and the operation.
const CASES: [(Case, &str, &str); 2] = [
    (
        Case::new("ed25519", "ssh-ed25519", "curve25519-sha256"),
        "Ed25519",
        "ed25519-sign",
    ),
    (
        Case::new("rsa", "rsa-sha2-256", "curve25519-sha256"),
        "RSA-3072",
        "rsa-3072-sign",
    ),
];

pub(super) fn plan(options: &Options) -> Vec<Step> {
    let turns = f64::from(rounds(options).measured) * SETUPS.len() as f64;
    let seconds = 2.0 + turns * (0.2 + 0.06 * logins(options) as f64);
    let step = |(_, key, _): &(_, &str, _)| Step::new(name(key), seconds);
    cases(options).iter().map(step).collect()
}

pub(super) fn run(session: &mut Session<'_>) -> Result<(), Failure> {
    session.table(
        "logins",
        "sshd: logins, eight at once, each with one command",
        &["host_key"],
    );
    session.note(
        "the user's key has the host key's kind and lies in a file. sshd has stock OpenSSL in both setups.",
    );
    for (case, key, operation) in cases(session.options()) {
        session.step(&name(key));
        measure(session, case, key, operation)?;
    }
    Ok(())
}

fn measure(
    session: &mut Session<'_>,
    case: &Case,
    key: &str,
    operation: &str,
) -> Result<(), Failure> {
    let service = held::start(session, session.cores.server)?;
    // Its host keys have no private half there.
    let adopted = Workplace::in_memory(0)?;
    sshd(session, &adopted, &session.stock, "")?.stop()?;
    for kind in ["ed25519", "ecdsa", "rsa"] {
        let file = adopted.join(format!("host_{kind}"));
        service.adopt_file(&file, kind, &[&held::us_or("root")])?;
    }
    let agent = format!("HostKeyAgent {}\n", service.agent().display());
    let logins = logins(session.options());
    let rounds = rounds(session.options());
    let comparison = session.alternate(&SETUPS, rounds, |session, setup| {
        let (workplace, settings) = match SETUPS[setup] {
            "stock" => (&session.workplace, ""),
            _ => (&adopted, &*agent),
        };
        let before = service.cpu();
        let sshd = sshd(session, workplace, &session.stock, settings)?;
        let login = storm(session, workplace, sshd, case, &session.stock, logins)?;
        let service = service.cpu().saturating_sub(before).as_secs_f64();
        let cpu = login.server + service / logins as f64;
        Ok(vec![cpu, 1.0 / login.wall])
    })?;
    let all = u64::from(rounds.measured) * logins;
    let signatures = [Expected::operations(operation, all)];
    let proofs = &session.installation.proofs;
    let proofs = [
        session.proof(&session.stock, &[])?,
        proofs.find_in(service.ledger(), &signatures)?,
    ];
    service.stop()?;
    let labels = [("host_key", key)];
    session.record("logins", &labels, &MEASURES, &comparison, &proofs)
}

fn cases(options: &Options) -> &'static [(Case, &'static str, &'static str)] {
    options.pick(&CASES, &CASES, &CASES[..1])
}

fn name(key: &str) -> String {
    format!("logins, {key}")
}

fn logins(options: &Options) -> u64 {
    options.pick(48, 24, 2)
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(9, 6, 1),
    }
}
