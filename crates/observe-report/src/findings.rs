//! Weak and legacy work, and the work that the report cannot see.

use super::catalogue::{self, Severity};
use super::openssh;
use super::report::{Row, Sources, is_preparation};
use outboard_observation::{Operation, RecordedProcess, sum};
use outboard_wording::count;
use serde::Serialize;

/// A weak or legacy kind of work.
#[derive(Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The kind of work, by the name that people use.
    pub name: String,
    /// What was done.
    pub operation: Operation,
    /// Calls that succeeded.
    pub calls: u64,
    /// Calls that returned an error. They are not among `calls`.
    pub failed: u64,
    /// Why, in words.
    pub because: String,
    /// The programs that did it.
    pub programs: Vec<String>,
}

/// The findings about all work, the worst first.
pub(crate) fn findings(rows: &[Row], processes: &[RecordedProcess]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = rows
        .iter()
        .filter(|row| !is_preparation(&row.work))
        .filter_map(|row| {
            let (severity, _) = catalogue::finding(&row.work)?;
            let reasons: Vec<&str> = catalogue::all_findings(&row.work)
                .into_iter()
                .map(|(_, because)| because)
                .collect();
            let mut programs: Vec<String> = processes
                .iter()
                .filter(|process| process.work.iter().any(|work| work.is_like(&row.work)))
                .map(|process| process.program.clone())
                .collect();
            programs.sort_unstable();
            programs.dedup();
            let name = match row.with.as_str() {
                "" => row.name.clone(),
                with => format!("{} with {with}", row.name),
            };
            Some(Finding {
                severity,
                name,
                operation: row.work.operation,
                calls: row.work.calls,
                failed: row.work.failed,
                because: reasons.join("; "),
                programs,
            })
        })
        .collect();
    findings.sort_by(|a, b| (a.severity, &a.name).cmp(&(b.severity, &b.name)));
    findings
}

/// The work that the report cannot see, one sentence each.
pub(crate) fn unseen(processes: &[RecordedProcess], sources: &Sources<'_>) -> Vec<String> {
    let mut unseen = vec![
        "programs that are linked statically, contain their own libcrypto, or use GnuTLS, NSS or another library"
            .to_owned(),
        "calls that do not go through EVP (RSA_sign, AES_encrypt and similar), and randomness"
            .to_owned(),
        // legacy is observed where one program is: see outboard-openssl-conf.
        match sources.program {
            Some(_) => "providers that a program loads itself, except legacy; a program's own library contexts",
            None => "providers that programs load themselves; programs' own library contexts",
        }
        .to_owned(),
    ];
    if sources.program.is_some() {
        // Its file is of mode 0600.
        let others = "processes of another user (su, sudo, setuid), because only your user can open the record";
        unseen.push(others.to_owned());
    }
    match sources.unobserved {
        [] => {}
        [one] => unseen.push(format!("the provider {one}, which the configuration names")),
        several => unseen.push(format!(
            "the providers {}, which the configuration names",
            several.join(" and ")
        )),
    }
    let untimed = processes.iter().flat_map(|process| &process.work);
    let untimed = sum(untimed.map(|work| work.untimed));
    if untimed > 0 {
        unseen.push(format!(
            "the time of {} operations in asynchronous jobs, because other jobs run meanwhile; no sum and no \
             share includes it",
            count(untimed)
        ));
    }
    if processes
        .iter()
        .any(|process| openssh::is_openssh(&process.program))
    {
        unseen.push(
            "OpenSSH's own code: Curve25519 and Ed25519 (some milliseconds of a login), NTRU Prime, Poly1305 and \
             UMAC; before OpenSSH 9.9 also RSA and ECDSA"
                .to_owned(),
        );
    }
    unseen
}
