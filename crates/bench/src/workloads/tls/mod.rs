//! TLS servers: the handshakes and bytes that a core serves, and the cost of each.
//!
//! ```text
//! case         what is varied: server, key, version, cipher, resumption, client's certificate
//! handshakes   a case with all its setups ──▶ CPU per handshake, handshakes per second
//!   ├─ front   nginx, HAProxy or Apache behind one interface
//!   ├─ storm   64 connections at once, each with one exchange of 2,048 bytes
//!   └─ client  one connection (rustls)
//! bulk         curl fetches a large file ──▶ bytes per second, CPU per gigabyte
//! ```

mod bulk;
mod case;
pub(crate) mod client;
pub(crate) mod front;
pub(crate) mod handshakes;
pub(crate) mod storm;

use std::path::PathBuf;

use outboard_programs::{Certificate, OpenSsl, Workplace};

use crate::Failure;
use crate::suite::{Options, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tls;

impl Workload for Tls {
    fn name(&self) -> &'static str {
        "tls"
    }

    fn summary(&self) -> &'static str {
        "TLS servers at saturation: full and resumed handshakes, and downloads"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["apache2", "curl", "haproxy", "nginx", "openssl"]
    }

    fn space(&self, options: &Options) -> u64 {
        bulk::bytes(options)
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let mut steps = handshakes::plan(options);
        steps.extend(bulk::plan(options));
        steps
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        super::versions::record(session, &["apache2", "curl", "haproxy", "nginx", "openssl"])?;
        handshakes::run(session)?;
        bulk::run(session)
    }
}

/// A server's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// As people write it, and as the results name it.
    pub(crate) name: &'static str,
    /// The argument of `openssl req -newkey`.
    new_key: &'static str,
    /// The engine's name of a signature with it.
    pub(crate) signature: &'static str,
}

impl Key {
    pub(crate) const RSA_2048: Self = Self::new("RSA-2048", "rsa:2048", "rsa-2048-sign");
    pub(crate) const RSA_3072: Self = Self::new("RSA-3072", "rsa:3072", "rsa-3072-sign");
    pub(crate) const RSA_4096: Self = Self::new("RSA-4096", "rsa:4096", "rsa-4096-sign");
    pub(crate) const P256: Self =
        Self::new("P-256", "ec -pkeyopt ec_paramgen_curve:P-256", "p256-sign");
    pub(crate) const P384: Self =
        Self::new("P-384", "ec -pkeyopt ec_paramgen_curve:P-384", "p384-sign");
    pub(crate) const ALL: [Self; 5] = [
        Self::RSA_2048,
        Self::RSA_3072,
        Self::RSA_4096,
        Self::P256,
        Self::P384,
    ];

    const fn new(name: &'static str, new_key: &'static str, signature: &'static str) -> Self {
        Self {
            name,
            new_key,
            signature,
        }
    }

    /// A certificate with such a key; made when it is first asked for.
    pub(super) fn certificate(self, session: &Session<'_>) -> Result<Certificate, Failure> {
        self.certificate_in(&session.workplace, &session.stock)
    }

    /// The same, in a workplace.
    pub(crate) fn certificate_in(
        self,
        workplace: &Workplace,
        stock: &OpenSsl,
    ) -> Result<Certificate, Failure> {
        let made = Certificate {
            certificate: workplace.join(format!("{}.crt", self.name)),
            key: workplace.join(format!("{}.key", self.name)),
        };
        if made.certificate.exists() {
            return Ok(made);
        }
        Ok(Certificate::generate(
            workplace,
            stock,
            self.name,
            self.new_key,
        )?)
    }
}

/// A directory that servers serve, with a file of so many bytes in it.
pub(crate) fn files(workplace: &Workplace, name: &str, bytes: u64) -> Result<PathBuf, Failure> {
    let directory = workplace.join("files");
    if !directory.exists() {
        std::fs::create_dir(&directory)?;
    }
    let file = format!("files/{name}");
    if !workplace.join(&file).exists() {
        workplace.write_noise(&file, bytes)?;
    }
    Ok(directory)
}
