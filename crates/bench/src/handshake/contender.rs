//! A server in one setup, with the stopwatch.

use std::time::Duration;

use outboard_programs::OpenSsl;
use outboard_stopwatch::{Rate, Sheet, VARIABLE};

use super::pair::Pair;
use super::window::Window;
use super::{Case, Place, Setting};
use crate::Failure;
use crate::workloads::tls::client::{Cipher, Client, ClientOptions};
use crate::workloads::tls::files;
use crate::workloads::tls::front::{Front, FrontOptions, Make};
use crate::workloads::tls::storm::{EXCHANGE, FILE, Storm};

/// See the module.
pub(super) struct Contender {
    side: Side,
    sheet: &'static Sheet,
    rate: Rate,
}

enum Side {
    Pair(Pair),
    Server {
        front: Front,
        clients: Vec<Client>,
        resumed: bool,
        core: Option<usize>,
    },
}

/// Time of a window, about.
const WINDOW: Duration = Duration::from_millis(100);

/// Connections at once. Few: what is sought is where time goes, not how much a server can bear.
const CLIENTS: u64 = 8;

impl Contender {
    pub(super) fn start(
        setting: &Setting,
        case: Case,
        openssl: OpenSsl,
        name: &str,
    ) -> Result<Self, Failure> {
        let path = setting.workplace.join(format!("{name}.sheet"));
        let sheet = Sheet::create(&path)
            .map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        let openssl = openssl.variable(VARIABLE, path);
        let certificate = case
            .key
            .certificate_in(&setting.workplace, &setting.stock)?;
        let make = match case.place {
            Place::Nginx => Some(Make::Nginx),
            Place::HaProxy => Some(Make::HaProxy),
            Place::Memory => None,
        };
        let side = match make {
            None => Side::Pair(Pair::start(setting, case, &openssl, &certificate)?),
            Some(make) => {
                let openssl = openssl.variable("LD_PRELOAD", &setting.stopwatch);
                let files = files(&setting.workplace, FILE, EXCHANGE as u64)?;
                let options = FrontOptions {
                    openssl: &openssl,
                    certificate: &certificate,
                    files: &files,
                    resumption: case.resumed,
                    clients: None,
                    asynchronous: false,
                    workers: 1,
                    core: setting.cores.server,
                };
                let client = ClientOptions {
                    server: &certificate,
                    version: case.version,
                    cipher: Cipher::Aes256Gcm,
                    identity: None,
                    resume: case.resumed,
                };
                let clients = (0..CLIENTS).map(|_| Client::new(&client));
                Side::Server {
                    front: make.start(&setting.workplace, options)?,
                    clients: clients.collect::<Result<_, _>>()?,
                    resumed: case.resumed,
                    core: setting.cores.client,
                }
            }
        };
        Ok(Self {
            side,
            sheet,
            rate: Rate::begin(),
        })
    }

    /// Gets everything warm, and every client its first session. Answers how many connections fill a window.
    pub(super) fn warm_up(&mut self) -> Result<u64, Failure> {
        if let Side::Server {
            front,
            clients,
            core,
            ..
        } = &self.side
        {
            for client in clients {
                Storm::run(std::slice::from_ref(client), front.port(), 2, *core)?;
            }
        }
        let window = self.window(4 * CLIENTS)?;
        let fill = WINDOW.as_nanos() as f64 / window.total().max(1e3);
        Ok((fill as u64).clamp(CLIENTS, 4000))
    }

    /// Makes so many connections.
    pub(super) fn window(&mut self, connections: u64) -> Result<Window, Failure> {
        let before = self.sheet.read();
        let cpu = match &mut self.side {
            Side::Pair(pair) => {
                pair.connect(connections)?;
                None
            }
            Side::Server {
                front,
                clients,
                resumed,
                core,
            } => {
                let used = front.cpu();
                let storm = Storm::run(clients, front.port(), connections, *core)?;
                if *resumed && storm.resumed != connections {
                    let resumed = storm.resumed;
                    return Err(
                        format!("{resumed} of {connections} connections were resumed").into(),
                    );
                }
                // The server may still have to close the last ones.
                std::thread::sleep(Duration::from_millis(2));
                Some(front.cpu().saturating_sub(used))
            }
        };
        let after = self.sheet.read();
        if after == before {
            return Err(
                "the stopwatch has not seen a connection: does the server use the system's libssl?"
                    .into(),
            );
        }
        let nanoseconds = self.rate.nanoseconds();
        Ok(Window::new(
            connections,
            (&before, &after),
            nanoseconds,
            cpu,
        ))
    }

    pub(super) fn stop(self) -> Result<(), Failure> {
        match self.side {
            Side::Pair(pair) => pair.stop(),
            Side::Server { front, .. } => front.stop(),
        }
    }
}
