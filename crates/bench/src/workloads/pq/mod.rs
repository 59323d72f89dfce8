//! Post-quantum key exchange: what an operation costs, what a handshake costs a server, and what the longer hellos cost a
//! client over a slow link.
//!
//! ```text
//! operations   ML-KEM through EVP (Outboard, OpenSSL's own from 3.5 on) and by AWS-LC itself ──▶ rate
//! handshakes   nginx: stock with X25519, Outboard with X25519, Outboard with X25519MLKEM768 ──▶ CPU per handshake
//! link         a client behind a slow link (relay) ──▶ time, bytes and round trips of a handshake
//!   └─ group   X25519MLKEM768 for the client (rustls)
//! ```

mod group;
mod handshakes;
mod link;
mod operations;
mod relay;

use outboard_programs::OpenSsl;

use crate::Failure;
use crate::suite::{Options, Peer, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct PostQuantum;

const PARTS: [&str; 3] = ["operations", "handshakes", "link"];

/// What the ledger counts of a server for each handshake with [`group::X25519_MLKEM768`].
const ENCAPSULATION: &str = "ml-kem-768-encapsulate";

impl Workload for PostQuantum {
    fn name(&self) -> &'static str {
        "pq"
    }

    fn summary(&self) -> &'static str {
        "Post-quantum key exchange: ML-KEM, handshakes of nginx, and a client behind a slow link"
    }

    fn parts(&self) -> &'static [&'static str] {
        &PARTS
    }

    fn programs(&self) -> &'static [&'static str] {
        &["nginx", "openssl"]
    }

    fn takes(&self, peer: &Peer) -> bool {
        peer.libcrypto().is_some()
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let parts = [operations::plan, handshakes::plan, link::plan];
        let parts = PARTS.into_iter().zip(parts);
        parts
            .filter(|(part, _)| options.runs(part))
            .flat_map(|(_, plan)| plan(options))
            .collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let parts = [operations::run, handshakes::run, link::run];
        for (part, run) in PARTS.into_iter().zip(parts) {
            if session.options().runs(part) {
                run(session)?;
            }
        }
        Ok(())
    }
}

/// As `outboard enable --post-quantum` has it, with a ledger of its own of that name.
fn enabled(session: &Session<'_>, ledger: &str) -> Result<OpenSsl, Failure> {
    let settings = "post-quantum = yes\n[openssl_init]\nssl_conf = ssl\n[ssl]\nsystem_default = tls\n\
                    [tls]\nGroups = X25519MLKEM768:X25519:P-256\n";
    let outboard = &session.installation.outboard;
    Ok(OpenSsl::outboard_with(
        &session.workplace,
        outboard,
        ledger,
        settings,
    )?)
}
