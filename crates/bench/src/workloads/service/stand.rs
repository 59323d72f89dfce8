//! A TLS server in each setup, and its clients.

use std::time::Duration;

use super::SETUPS;
use super::held::Held;
use crate::Failure;
use crate::proof::Proof;
use crate::suite::Session;
use crate::workloads::tls::client::{Cipher, Client, ClientOptions, Version};
use crate::workloads::tls::front::{Front, FrontOptions, Make};
use crate::workloads::tls::storm::{EXCHANGE, FILE, Storm};
use crate::workloads::tls::{Key, files};

/// The servers beside their card service.
pub(super) struct Stand {
    held: Held,
    contenders: Vec<Contender>,
}

/// What servers a stand has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) make: Make,
    pub(super) key: Key,
    /// Processes of each server.
    pub(super) workers: usize,
}

/// A server of one setup, with its clients.
struct Contender {
    server: Front,
    clients: Vec<Client>,
}

/// What some connections took.
pub(super) struct Window {
    /// CPU time of the server and the service for a connection, in seconds.
    pub(super) cpu: f64,
    /// Connections in a second.
    pub(super) rate: f64,
    /// How long each handshake took its client, in seconds.
    pub(super) handshakes: Vec<f64>,
}

impl Case {
    /// For people: "nginx, P-256, 16 workers".
    pub(super) fn name(&self) -> String {
        let workers = if self.workers == 1 {
            "worker"
        } else {
            "workers"
        };
        let (make, key) = (self.make.name(), self.key.name);
        format!("{make}, {key}, {} {workers}", self.workers)
    }

    /// Starts the servers, each with so many clients. HAProxy runs Outboard's operations as ASYNC jobs.
    pub(super) fn start(self, session: &Session<'_>, clients: usize) -> Result<Stand, Failure> {
        let core = session.cores.server;
        let name = self.name().replace(", ", "-").replace(' ', "-");
        let held = Held::new(session, self.key, &[self.make.user()], &name, core)?;
        let files = files(&session.workplace, FILE, EXCHANGE as u64)?;
        let mut contenders = Vec::new();
        for (setup, side) in held.sides.iter().enumerate() {
            let options = FrontOptions {
                openssl: &side.openssl,
                certificate: &side.certificate,
                files: &files,
                resumption: false,
                clients: None,
                asynchronous: setup > 0,
                workers: self.workers,
                core,
            };
            let client = Client::new(&ClientOptions {
                server: &side.certificate,
                version: Version::Tls13,
                cipher: Cipher::Aes128Gcm,
                identity: None,
                resume: false,
            })?;
            contenders.push(Contender {
                server: self.make.start(&session.workplace, options)?,
                clients: vec![client; clients],
            });
        }
        Ok(Stand { held, contenders })
    }
}

impl Stand {
    /// So many connections to the server of one setup, from so many clients at once.
    pub(super) fn window(
        &self,
        session: &Session<'_>,
        setup: usize,
        clients: usize,
        connections: u64,
    ) -> Result<Window, Failure> {
        let Contender {
            server,
            clients: all,
        } = &self.contenders[setup];
        let used = || server.cpu() + self.held.service.cpu();
        let before = used();
        let core = session.cores.client;
        let storm = Storm::run(&all[..clients], server.port(), connections, core)?;
        let cpu = used().saturating_sub(before).as_secs_f64();
        Ok(Window {
            cpu: cpu / connections as f64,
            rate: connections as f64 / storm.wall.as_secs_f64(),
            handshakes: storm.handshakes,
        })
    }

    /// Gets every setup warm with so many connections. Answers how many fill a window of that much CPU time of the cheapest
    /// setup.
    pub(super) fn warm_up(
        &self,
        session: &Session<'_>,
        clients: usize,
        connections: u64,
        window: Duration,
    ) -> Result<u64, Failure> {
        let mut least = f64::MAX;
        for setup in 0..SETUPS.len() {
            least = least.min(self.window(session, setup, clients, connections)?.cpu);
        }
        Ok((window.as_secs_f64() / least.max(1e-6)) as u64)
    }

    /// Stops the servers and the service; see [`Held::proofs`].
    pub(super) fn stop(
        self,
        session: &Session<'_>,
        connections: u64,
    ) -> Result<[Proof; SETUPS.len()], Failure> {
        for contender in self.contenders {
            contender.server.stop()?;
        }
        let proofs = self.held.proofs(session, connections)?;
        self.held.service.stop()?;
        Ok(proofs)
    }
}

impl Make {
    /// Whom its processes become if root starts it.
    fn user(self) -> &'static str {
        match self {
            Self::Nginx | Self::Apache | Self::ApachePrefork => "www-data",
            Self::HaProxy => "root",
        }
    }
}
