//! A TLS front for a plain service: HAProxy in TCP mode, or stunnel, before a terminal's host.

use outboard_programs::{HaProxyMode, HaProxyOptions, OpenSsl, Server, StunnelOptions};

use super::client_thread;
use super::terminal::{QUERY, SCREEN};
use super::tls::Key;
use super::tls::client::{Cipher, Client, ClientOptions, Connection, Version};
use crate::Failure;
use crate::suite::Session;

/// The program, and how it works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// One thread for all connections.
    HaProxy,
    /// A thread for each connection.
    Stunnel,
}

/// A gate of one setup, and a client that trusts it.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) server: Server,
    client: Client,
    core: Option<usize>,
}

impl Gate {
    pub(super) const ALL: [Self; 2] = [Self::HaProxy, Self::Stunnel];

    /// The key that it shows, as most servers of the published study's kind would.
    pub(super) const KEY: Key = Key::RSA_2048;

    /// What its connections are encrypted with.
    pub(super) const CIPHER: Cipher = Cipher::Aes128Gcm;

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::HaProxy => "HAProxy",
            Self::Stunnel => "stunnel",
        }
    }

    /// How it works; the baseline first. HAProxy alone can leave a handshake to a card and go on meanwhile.
    pub(super) fn setups(self) -> &'static [&'static str] {
        match self {
            Self::HaProxy => &["stock", "outboard", Self::ASYNCHRONOUS],
            Self::Stunnel => &["stock", "outboard"],
        }
    }

    /// HAProxy with Outboard and `ssl-mode-async`.
    pub(super) const ASYNCHRONOUS: &str = "outboard-async";

    /// Starts one before the service on that port. Every connection through it is a full handshake
    /// of TLS 1.3.
    pub(super) fn open(
        self,
        session: &Session<'_>,
        openssl: &OpenSsl,
        asynchronous: bool,
        service: u16,
    ) -> Result<Opened, Failure> {
        let certificate = Self::KEY.certificate(session)?;
        let server = match self {
            Self::HaProxy => HaProxyOptions {
                openssl,
                certificates: &[&certificate],
                mode: HaProxyMode::Tcp(service),
                asynchronous,
                threads: 1,
                resumption: false,
                core: session.cores.server,
                settings: "",
                bind: "",
            }
            .start(&session.workplace)?,
            Self::Stunnel => StunnelOptions {
                openssl,
                certificate: &certificate,
                connect: service,
                resumption: false,
                core: session.cores.server,
                settings: "",
            }
            .start(&session.workplace)?,
        };
        let client = Client::new(&ClientOptions {
            server: &certificate,
            version: Version::Tls13,
            cipher: Self::CIPHER,
            identity: None,
            resume: false,
        })?;
        let core = session.cores.client;
        Ok(Opened {
            server,
            client,
            core,
        })
    }
}

impl Opened {
    /// Opens so many connections one after another, each greeted by the service.
    pub(super) fn connect(&self, number: usize) -> Result<Vec<Connection>, Failure> {
        let port = self.server.port;
        let connections = client_thread(self.core, || {
            (0..number)
                .map(|_| {
                    let mut connection = self.client.connect(port)?;
                    connection.receive(&mut [0; SCREEN])?;
                    Ok(connection)
                })
                .collect::<std::io::Result<Vec<_>>>()
        });
        Ok(connections.map_err(|error| format!("a connection through the gate: {error}"))?)
    }
}

/// One query and its answer.
pub(super) fn ask(connection: &mut Connection) -> std::io::Result<()> {
    connection.send(QUERY)?;
    connection.receive(&mut [0; SCREEN])
}
