//! What certificates, groups and cipher suites cost: `openssl s_server` and `openssl s_time` on
//! loopback, one server stock and one with Outboard, each first in its turn.

use outboard_programs::{Certificate, Cores, OpenSsl, Process, Workplace, cpu_time_of, free_port};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::cost::{Added, Cost, Costs};
use super::policy::{self, Kind, Known};
use crate::check_only;
use crate::order::scatter;
use crate::pairs::{alternate, median};
use crate::{Error, Listener};

/// The certificate with which groups and suites are measured.
const USUAL_CERTIFICATE: &str = "P-256";

/// What a suite carries for its cost, in bytes, at a time.
const FILE: &str = "file";
const FILE_BYTES: u64 = 32 << 20;

/// Under what servers run.
pub(super) struct Sides {
    pub(super) stock: OpenSsl,
    /// With Outboard, if there is any; then with `post-quantum = yes`.
    pub(super) outboard: Option<[OpenSsl; 2]>,
}

/// Measures all that this OpenSSL has, stock and with Outboard if there is any; with Outboard alone the groups that it adds.
pub(super) fn measure(
    workplace: &Workplace,
    sides: &Sides,
    pairs: u32,
    only: &[String],
    listener: &dyn Listener,
) -> Result<Costs, Error> {
    let stock = &sides.stock;
    let own = groups(stock)?;
    let all = match &sides.outboard {
        Some([_, post_quantum]) => groups(post_quantum)?,
        None => own.clone(),
    };
    let mut wanted: Vec<&Known> = Kind::ALL
        .into_iter()
        .flat_map(policy::all)
        .filter(|known| known.kind != Kind::Group || all.contains(&known.name))
        .collect();
    let names: BTreeSet<&str> = wanted.iter().map(|known| known.name).collect();
    check_only(only, &Vec::from_iter(names), "this OpenSSL")?;
    wanted.retain(|known| only.is_empty() || only.iter().any(|name| name == known.name));
    workplace.write_noise(FILE, FILE_BYTES)?;
    let mut subjects = wanted
        .into_iter()
        .map(|known| {
            let is_own = known.kind != Kind::Group || own.contains(&known.name);
            match (is_own, &sides.outboard) {
                (false, Some([_, post_quantum])) => {
                    Subject::new(workplace, (None, Some(post_quantum)), known, &all)
                }
                (_, Some([outboard, _])) => {
                    Subject::new(workplace, (Some(stock), Some(outboard)), known, &own)
                }
                (_, None) => Subject::new(workplace, (Some(stock), None), known, &own),
            }
        })
        .collect::<Result<Vec<_>, _>>()?;

    let servers = subjects.iter().map(Subject::servers).sum::<u64>();
    let steps = subjects.len() as u64 * u64::from(pairs);
    // Each starts a client, too.
    let seconds = (servers + servers / 2) * u64::from(pairs);
    let mut progress = listener.begin(steps, &format!("measuring for about {seconds} seconds"));
    for pair in 0..pairs {
        for subject in &mut subjects {
            progress.name(subject.known.name);
            subject.measure(pair)?;
            progress.step();
        }
    }
    let version = stock.command()?.arg("version").succeed()?.output;
    Ok(Costs {
        openssl: version.trim().to_owned(),
        costs: subjects.iter().filter_map(Subject::cost).collect(),
        post_quantum: subjects.iter().filter_map(Subject::added).collect(),
    })
}

/// The groups of this OpenSSL: those that its client accepts as an argument.
fn groups(openssl: &OpenSsl) -> Result<Vec<&'static str>, Error> {
    let mut groups = Vec::new();
    for known in policy::all(Kind::Group) {
        // Nothing listens there. openssl reports an unknown name before it tries to connect.
        let said = openssl
            .command()?
            .args(["s_client", "-connect", "127.0.0.1:1", "-groups", known.name])
            .finish()?;
        if !said.errors.contains("-groups") {
            groups.push(known.name);
        }
    }
    Ok(groups)
}

/// One choice, its servers and what they took so far.
struct Subject {
    known: &'static Known,
    /// None for what stock lacks.
    stock: Option<Server>,
    outboard: Option<Server>,
    client: Client,
    taken: Vec<Taken>,
}

/// What the servers of a pair took.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    stock: Option<Window>,
    outboard: Option<Window>,
}

/// CPU seconds for one handshake, or for 1 GiB.
#[derive(Clone, Copy, Debug)]
struct Window {
    server: f64,
    client: f64,
}

impl Subject {
    /// The client is stock where stock can.
    fn new(
        workplace: &Workplace,
        (stock, outboard): (Option<&OpenSsl>, Option<&OpenSsl>),
        known: &'static Known,
        groups: &[&str],
    ) -> Result<Self, Error> {
        let certificate = match known.kind {
            Kind::Certificate => known,
            Kind::Group | Kind::Suite => policy::find(Kind::Certificate, USUAL_CERTIFICATE)
                .expect("invariant: the table has it"),
        };
        let able = stock.or(outboard).expect("invariant: one is there");
        let certificate = certificate_of(workplace, able, certificate)?;
        let server = |openssl| Server::start(workplace, openssl, &certificate, known.kind, groups);
        Ok(Self {
            known,
            stock: stock.map(server).transpose()?,
            outboard: outboard.map(server).transpose()?,
            client: Client::new(workplace, able, known)?,
            taken: Vec::new(),
        })
    }

    fn servers(&self) -> u64 {
        u64::from(self.stock.is_some()) + u64::from(self.outboard.is_some())
    }

    fn measure(&mut self, pair: u32) -> Result<(), Error> {
        let window = |server: &Server| self.client.window(server);
        let taken = match (&self.stock, &self.outboard) {
            (Some(stock), Some(outboard)) => {
                let (stock, outboard) = alternate(pair, || window(stock), || window(outboard))?;
                Taken {
                    stock: Some(stock),
                    outboard: Some(outboard),
                }
            }
            (stock, outboard) => Taken {
                stock: stock.as_ref().map(window).transpose()?,
                outboard: outboard.as_ref().map(window).transpose()?,
            },
        };
        self.taken.push(taken);
        Ok(())
    }

    fn stock(&self) -> impl Iterator<Item = Window> {
        self.taken.iter().filter_map(|taken| taken.stock)
    }

    fn outboard(&self) -> impl Iterator<Item = Window> {
        self.taken.iter().filter_map(|taken| taken.outboard)
    }

    /// The servers' as they will be, with Outboard where that is: the least and the most.
    fn scatter(&self) -> Option<[f64; 2]> {
        let served = self.taken.iter().filter_map(|taken| {
            let window = taken.outboard.or(taken.stock)?;
            Some(window.server)
        });
        scatter(served)
    }

    fn pairs(&self) -> u32 {
        u32::try_from(self.taken.len()).unwrap_or(u32::MAX)
    }

    /// Of what stock has.
    fn cost(&self) -> Option<Cost> {
        self.stock.as_ref()?;
        let ratios = self
            .taken
            .iter()
            .filter_map(|taken| Some(taken.stock?.server / taken.outboard?.server));
        Some(Cost {
            kind: self.known.kind,
            name: self.known.name.to_owned(),
            stock_seconds: median(self.stock().map(|one| one.server)).unwrap_or_default(),
            outboard_seconds: median(self.outboard().map(|one| one.server)),
            ratio: median(ratios),
            client_seconds: median(self.stock().map(|one| one.client)).unwrap_or_default(),
            scatter_seconds: self.scatter(),
            pairs: self.pairs(),
        })
    }

    /// Of a group that stock lacks.
    fn added(&self) -> Option<Added> {
        if self.stock.is_some() {
            return None;
        }
        Some(Added {
            name: self.known.name.to_owned(),
            outboard_seconds: median(self.outboard().map(|one| one.server))?,
            client_seconds: median(self.outboard().map(|one| one.client))?,
            scatter_seconds: self.scatter(),
            pairs: self.pairs(),
        })
    }
}

/// One certificate for each kind of key, made once.
fn certificate_of(
    workplace: &Workplace,
    openssl: &OpenSsl,
    known: &Known,
) -> Result<Certificate, Error> {
    let made = Certificate {
        certificate: workplace.join(format!("{}.crt", known.name)),
        key: workplace.join(format!("{}.key", known.name)),
    };
    if made.certificate.exists() {
        return Ok(made);
    }
    Ok(Certificate::generate(
        workplace,
        openssl,
        known.name,
        known.detail,
    )?)
}

/// An `openssl s_server`.
struct Server {
    process: Process,
    port: u16,
}

impl Server {
    fn start(
        workplace: &Workplace,
        openssl: &OpenSsl,
        certificate: &Certificate,
        kind: Kind,
        groups: &[&str],
    ) -> Result<Self, Error> {
        let port = free_port()?;
        let mut process = openssl
            .command()?
            .args([
                "s_server",
                "-quiet",
                "-groups",
                &groups.join(":"),
                "-accept",
            ])
            .arg(format!("127.0.0.1:{port}"))
            .arg("-cert")
            .arg(&certificate.certificate)
            .arg("-key")
            .arg(&certificate.key)
            // For suites, the file. Otherwise a page that no client requests.
            .arg(if kind == Kind::Suite { "-WWW" } else { "-www" })
            .directory(workplace.path())
            .on(Cores::choose().server)
            .start(&workplace.join(format!("s_server.{port}.log")))?;
        process.wait_for_port(port)?;
        Ok(Self { process, port })
    }

    fn cpu(&self) -> Result<Duration, Error> {
        cpu_time_of(self.process.id()).ok_or_else(|| "openssl s_server has ended".into())
    }
}

/// How `openssl s_time` asks for one choice.
struct Client {
    openssl: OpenSsl,
    configuration: PathBuf,
    kind: Kind,
    arguments: Vec<String>,
}

impl Client {
    fn new(workplace: &Workplace, openssl: &OpenSsl, known: &Known) -> Result<Self, Error> {
        // s_time has no option for the group; a configuration has.
        let mut configuration = fs::read_to_string(openssl.configuration())?;
        let mut arguments = Vec::new();
        match known.kind {
            Kind::Certificate => {}
            Kind::Group => {
                configuration += &format!(
                    "[openssl_init]\nssl_conf = ssl_sections\n\
                     [ssl_sections]\nsystem_default = system_defaults\n\
                     [system_defaults]\nGroups = {}\n",
                    known.name
                );
            }
            Kind::Suite => arguments.extend([
                "-ciphersuites".to_owned(),
                known.name.to_owned(),
                "-www".to_owned(),
                format!("/{FILE}"),
            ]),
        }
        Ok(Self {
            openssl: openssl.clone(),
            configuration: workplace.write(&format!("client.{}.cnf", known.name), configuration)?,
            kind: known.kind,
            arguments,
        })
    }

    /// A second of handshakes or of downloads.
    fn window(&self, server: &Server) -> Result<Window, Error> {
        // A machine that stands still for as long gets none done: again, then.
        const ATTEMPTS: u32 = 3;
        let mut said = String::new();
        for _ in 0..ATTEMPTS {
            let before = server.cpu()?;
            let client = self
                .openssl
                .command()?
                .env("OPENSSL_CONF", &self.configuration)
                .args(["s_time", "-new", "-tls1_3", "-time", "1", "-connect"])
                .arg(format!("127.0.0.1:{}", server.port))
                .args(&self.arguments)
                .on(Cores::choose().client)
                .succeed()?;
            let used = server.cpu()? - before;
            if let Some(units) = units(&client.output, self.kind) {
                return Ok(Window {
                    server: used.as_secs_f64() / units,
                    client: client.cpu.as_secs_f64() / units,
                });
            }
            said = client.output + &client.errors;
        }
        Err(format!("openssl s_time made no connection:\n{said}").into())
    }
}

/// Handshakes or gibibytes, from `1234 connections in 2 real seconds, 56 bytes read per connection`.
fn units(output: &str, kind: Kind) -> Option<f64> {
    let line = output.lines().find(|line| {
        line.contains(" connections in ") && line.contains(" bytes read per connection")
    })?;
    let mut words = line.split_whitespace();
    let connections: f64 = words.next()?.parse().ok()?;
    let bytes: f64 = line
        .split(", ")
        .nth(1)?
        .split_whitespace()
        .next()?
        .parse()
        .ok()?;
    let units = match kind {
        Kind::Suite => connections * bytes / (1_u64 << 30) as f64,
        Kind::Certificate | Kind::Group => connections,
    };
    (units > 0.0).then_some(units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_s_time_prints_is_understood() {
        let output = "\n\n812 connections in 0.41s; 1980.49 connections/user sec, bytes read 0\n\
                      812 connections in 2 real seconds, 1073741824 bytes read per connection\n";
        assert_eq!(units(output, Kind::Group), Some(812.0));
        assert_eq!(units(output, Kind::Suite), Some(812.0));
        assert_eq!(
            units(
                "0 connections in 2 real seconds, 0 bytes read per connection\n",
                Kind::Group
            ),
            None
        );
        assert_eq!(units("nothing", Kind::Group), None);
    }
}
