//! A card service with one key, and what the programs of each setup read.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use outboard_programs::{CardService, Certificate, OpenSsl};

use super::SETUPS;
use crate::Failure;
use crate::installation::find_daemon;
use crate::proof::{Expected, Proof};
use crate::suite::Session;
use crate::workloads::tls::Key;

/// A key that the service has, and that also lies in a file.
pub(in crate::workloads) struct Held {
    pub(in crate::workloads) service: CardService,
    /// In the order of [`SETUPS`].
    pub(in crate::workloads) sides: [Side; SETUPS.len()],
    key: Key,
}

/// What a program of one setup reads.
pub(in crate::workloads) struct Side {
    pub(in crate::workloads) openssl: OpenSsl,
    /// With the key, or with a reference to the service's.
    pub(in crate::workloads) certificate: Certificate,
}

/// Where the ledgers are: each user's programs make their own.
const LEDGERS: &str = "ledgers";

impl Held {
    /// Starts a service that is held to that core, and lets these users' programs use its key. `name` distinguishes the ledgers.
    pub(in crate::workloads) fn new(
        session: &Session<'_>,
        key: Key,
        users: &[&str],
        name: &str,
        core: Option<usize>,
    ) -> Result<Self, Failure> {
        let certificate = key.certificate(session)?;
        let service = start(session, core)?;
        let mut users: Vec<String> = users.iter().map(|user| us_or(user)).collect();
        users.dedup();
        let users: Vec<&str> = users.iter().map(String::as_str).collect();
        let adopted = service.adopt(&certificate, &key.name.to_lowercase(), &users)?;
        let ledgers = session.workplace.join(LEDGERS);
        fs::create_dir_all(&ledgers)?;
        fs::set_permissions(&ledgers, Permissions::from_mode(0o1777))?;
        let with = |setup, settings: &str| {
            let installed = &session.installation.outboard;
            let ledger = format!("{LEDGERS}/{name}-{}-{setup}", key.name);
            OpenSsl::outboard_with(&session.workplace, installed, &ledger, settings)
        };
        let outboard = with("outboard", "")?;
        let asking = with("service", &service.setting())?;
        let side = |openssl, certificate: &Certificate| Side {
            openssl,
            certificate: certificate.clone(),
        };
        let sides = [
            side(session.stock.clone(), &certificate),
            side(outboard, &certificate),
            side(asking, &adopted),
        ];
        Ok(Self {
            service,
            sides,
            key,
        })
    }

    /// Whether each setup has made so many signatures where it should.
    pub(in crate::workloads) fn proofs(
        &self,
        session: &Session<'_>,
        signatures: u64,
    ) -> Result<[Proof; SETUPS.len()], Failure> {
        let expected = [Expected::operations(self.key.signature, signatures)];
        let proofs = &session.installation.proofs;
        Ok([
            session.proof(&self.sides[0].openssl, &[])?,
            match proofs.knows(self.key.signature) {
                true => session.proof(&self.sides[1].openssl, &expected)?,
                false => Proof::not_ours(self.key.name),
            },
            self.proof_of_the_service(session, signatures)?,
        ])
    }

    /// The service makes every signature itself, whatever the profile says.
    pub(in crate::workloads) fn proof_of_the_service(
        &self,
        session: &Session<'_>,
        signatures: u64,
    ) -> Result<Proof, Failure> {
        let expected = Expected::operations(self.key.signature, signatures);
        let proofs = &session.installation.proofs;
        proofs.find_in(self.service.ledger(), &[expected])
    }
}

/// Starts a service that has no key yet.
pub(super) fn start(session: &Session<'_>, core: Option<usize>) -> Result<CardService, Failure> {
    let command = &session.installation.command;
    let daemon = find_daemon(command)?;
    Ok(CardService::start(
        &session.workplace,
        &daemon,
        command,
        core,
    )?)
}

/// The user that a server's processes become if root starts it; otherwise they stay ours.
pub(in crate::workloads) fn us_or(user: &str) -> String {
    let us = rustix::process::getuid();
    match us.is_root() {
        true => user.to_owned(),
        false => us.as_raw().to_string(),
    }
}
