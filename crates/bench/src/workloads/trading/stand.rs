//! The servers of one key: four Java servers, and three Apaches in front of a fifth, beside one card service.

use std::path::PathBuf;
use std::time::Duration;

use outboard_programs::{
    ApacheOptions, ApacheWorkers, PostgreSql, Server, Trading, TradingKey, TradingOptions, front_of,
};

use super::crowd::{Length, Trades, trade};
use super::user::User;
use super::{DIRECT, PLACES, Product};
use crate::Failure;
use crate::installation::{find_jar, find_pkcs11};
use crate::proof::{Expected, Proof};
use crate::suite::Session;
use crate::workloads::service::held::{Held, Side};
use crate::workloads::tls::Key;
use crate::workloads::token::module;

/// How many set-ups take turns.
pub(super) const CONTENDERS: usize = DIRECT + PLACES[1].1.len();

/// All servers of one key.
pub(super) struct Stand {
    held: Held,
    key: Key,
    /// In the order of [`PLACES`].
    servers: [Trading; DIRECT],
    /// The server behind the web servers in front. It has a key, too, which nobody uses.
    plain: Trading,
    fronts: [Server; CONTENDERS - DIRECT],
    /// Of the second and of the third server.
    ledgers: [PathBuf; 2],
    /// The handshakes so far of each contender.
    handshakes: [u64; CONTENDERS],
}

/// What the users of one contender got, and what it cost.
pub(super) struct Window {
    pub(super) trades: Trades,
    /// CPU time of the server's processes and of the card service, in seconds.
    pub(super) cpu: f64,
}

impl Stand {
    pub(super) fn start(
        session: &Session<'_>,
        database: &PostgreSql,
        product: &Product,
        key: Key,
    ) -> Result<Self, Failure> {
        let core = session.cores.server;
        let name = format!("trading-{}", product.name());
        // Apache's processes become www-data. The Java servers stay ours.
        let held = Held::new(session, key, &["www-data", "root"], &name, core)?;
        let [stock, outboard, service] = &held.sides;
        let own_key = &stock.certificate;
        let of_service = key.name.to_lowercase();
        held.service.certify(&of_service, own_key)?;
        let module_file = find_pkcs11(&session.installation.command)?;
        let module = module_file.as_path();
        let jar = find_jar(&session.installation.command)
            .ok_or("outboard.jar is not beside the command outboard: type 'make jar'")?;
        let ledger = |setup: &str| {
            session
                .workplace
                .join(format!("{name}-{}-{setup}-java", key.name))
        };
        let accelerator = module::settings(session, "", &ledger("outboard"));
        let provider = module::settings(session, "", &ledger("provider"));
        let asking = format!("service={}, ", held.service.directory().display());
        let coprocessor = module::settings(session, &asking, &ledger("service"));
        let server = |key| {
            let options = TradingOptions {
                openssl: &session.stock,
                database,
                certificate: own_key,
                key,
                liberty: product.directory(),
                core,
            };
            options.start(&session.workplace)
        };
        let servers = [
            server(TradingKey::File)?,
            server(TradingKey::Accelerator {
                module,
                settings: &accelerator,
            })?,
            server(TradingKey::Provider {
                jar: &jar,
                settings: &provider,
            })?,
            server(TradingKey::Coprocessor {
                module,
                settings: &coprocessor,
                name: &of_service,
            })?,
        ];
        let plain = server(TradingKey::File)?;
        let settings = front_of(plain.http());
        let front = |side: &Side| {
            let options = ApacheOptions {
                openssl: &side.openssl,
                certificates: &[&side.certificate],
                files: None,
                workers: ApacheWorkers::Threads(64),
                resumption: false,
                core,
                settings: &settings,
            };
            options.start(&session.workplace)
        };
        let fronts = [front(stock)?, front(outboard)?, front(service)?];
        let ledgers = ["outboard", "provider"].map(ledger);
        Ok(Self {
            servers,
            plain,
            fronts,
            held,
            key,
            ledgers,
            handshakes: [0; CONTENDERS],
        })
    }

    /// What its server says of itself.
    pub(super) fn log(&self) -> String {
        self.servers[0].log()
    }

    /// Lets users trade with one contender for that long.
    pub(super) fn window(
        &mut self,
        session: &Session<'_>,
        contender: usize,
        users: &mut [User],
        length: Length,
    ) -> Result<Window, Failure> {
        let port = match contender.checked_sub(DIRECT) {
            None => self.servers[contender].port(),
            Some(front) => self.fronts[front].port,
        };
        let before = self.cpu(contender);
        let trades = trade(users, port, length, session.cores.client)?;
        let cpu = self.cpu(contender).saturating_sub(before).as_secs_f64();
        self.handshakes[contender] += trades.handshakes;
        Ok(Window { trades, cpu })
    }

    /// The CPU time so far of what serves the users of one contender. The service does nothing for those that do not ask it.
    fn cpu(&self, contender: usize) -> Duration {
        let served = match contender.checked_sub(DIRECT) {
            None => self.servers[contender].cpu(),
            Some(front) => self.fronts[front].cpu() + self.plain.cpu(),
        };
        served + self.held.service.cpu()
    }

    /// Stops everything. Answers for each contender whether as many signatures were made where they should as there were
    /// handshakes.
    pub(super) fn stop(self, session: &Session<'_>) -> Result<[Proof; CONTENDERS], Failure> {
        for front in self.fronts {
            front.stop()?;
        }
        for server in self.servers.into_iter().chain([self.plain]) {
            server.stop()?;
        }
        let [_, accelerator, provider, coprocessor, _, of_front, asked] = self.handshakes;
        let prove = |ledger, handshakes| {
            let expected = [Expected::operations(self.key.signature, handshakes)];
            session.installation.proofs.find_in(ledger, &expected)
        };
        let by_pkcs11 = prove(&self.ledgers[0], accelerator)?;
        let by_provider = prove(&self.ledgers[1], provider)?;
        let [stock, in_apache, _] = self.held.proofs(session, of_front)?;
        let in_service = self
            .held
            .proof_of_the_service(session, coprocessor + asked)?;
        self.held.service.stop()?;
        Ok([
            stock.clone(),
            by_pkcs11,
            by_provider,
            in_service.clone(),
            stock,
            in_apache,
            in_service,
        ])
    }
}
