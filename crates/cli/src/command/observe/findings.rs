//! What is weak or on its way out, and what cannot be seen.

use super::catalogue::{self, Severity};
use super::openssh;
use super::report::{Row, Sources, is_preparation};
use crate::table::count;
use outboard_observation::{Operation, RecordedProcess, sum};
use serde::Serialize;

/// A weak or legacy kind of work.
#[derive(Serialize)]
pub(super) struct Finding {
    pub(super) severity: Severity,
    pub(super) name: String,
    pub(super) operation: Operation,
    pub(super) calls: u64,
    /// Those that answered an error, which are not among the calls.
    pub(super) failed: u64,
    pub(super) because: String,
    pub(super) programs: Vec<String>,
}

/// Those of all work, the worst first.
pub(super) fn findings(rows: &[Row], processes: &[RecordedProcess]) -> Vec<Finding> {
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

/// What cannot be seen of these processes, one sentence each.
pub(super) fn unseen(processes: &[RecordedProcess], sources: &Sources<'_>) -> Vec<String> {
    let mut unseen = vec![
        "programs that are linked statically, bring their own libcrypto, or use GnuTLS, NSS or \
         another library"
            .to_owned(),
        "code that calls libcrypto past EVP (RSA_sign, AES_encrypt and the like), and randomness"
            .to_owned(),
        // legacy is observed where one program is: see outboard-openssl-conf.
        match sources.program {
            Some(_) => "providers that a program loads by itself, but for legacy; library contexts of its own",
            None => "providers that programs load by themselves; library contexts of their own",
        }
        .to_owned(),
    ];
    if sources.program.is_some() {
        // Its file is of mode 0600.
        let others =
            "what runs as another user (su, sudo, setuid): the record is open to yours alone";
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
            "the time of {} operations in asynchronous jobs, for others run meanwhile: it is in no sum and no share",
            count(untimed)
        ));
    }
    if processes
        .iter()
        .any(|process| openssh::is_openssh(&process.program))
    {
        unseen.push(
            "OpenSSH's own Curve25519 and Ed25519 (some milliseconds of a login), NTRU Prime, \
             Poly1305 and UMAC, and before its version 9.9 its RSA and ECDSA"
                .to_owned(),
        );
    }
    unseen
}
