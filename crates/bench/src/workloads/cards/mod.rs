//! Private and public key operations per second against jobs and cards, as the tables of
//! cryptographic cards have it: latency with one job, saturation with many, scaling with cards.
//!
//! A job is one of OpenSSL's asynchronous jobs: it asks for one operation after another. The command
//! is `openssl speed -elapsed -async_jobs JOBS`, which anyone can type. What counts is the time that
//! passes, as a card's time is not the caller's.

mod together;

use std::time::Duration;

use outboard_programs::{Error, Finished, OpenSsl};

use crate::Failure;
use crate::proof::{Expected, Proof};
use crate::result::Extent;
use crate::suite::{Comparison, Measure, Options, Peer, Rounds, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(in crate::workloads) struct Cards;

/// A kind of key: the name that `openssl speed` takes, and the ledger's names of the operation with
/// the private key and, where there is one, with the public key.
#[derive(Clone, Copy, Debug)]
struct Kind {
    algorithm: &'static str,
    private: &'static str,
    public: Option<&'static str>,
}

const KINDS: [Kind; 7] = [
    Kind::new("rsa2048", "rsa-2048-sign", Some("rsa-2048-verify")),
    Kind::new("ecdsap384", "p384-sign", Some("p384-verify")),
    Kind::new("rsa3072", "rsa-3072-sign", Some("rsa-3072-verify")),
    Kind::new("rsa4096", "rsa-4096-sign", Some("rsa-4096-verify")),
    Kind::new("ecdsap256", "p256-sign", Some("p256-verify")),
    Kind::new("ecdhx25519", "x25519-derive", None),
    Kind::new("ed25519", "ed25519-sign", Some("ed25519-verify")),
];

/// From this many jobs on a card has enough at once to run in lanes most of the time.
const MANY: u32 = 8;

const RATE: Measure = Measure::higher("rate", "1/s");
/// The mean time from a job's request to its answer: jobs / rate (Little's law).
const LATENCY: Measure = Measure::lower("latency", "s");

impl Kind {
    const fn new(
        algorithm: &'static str,
        private: &'static str,
        public: Option<&'static str>,
    ) -> Self {
        Self {
            algorithm,
            private,
            public,
        }
    }

    /// How many figures a run has, each of one second.
    fn phases(self) -> usize {
        1 + usize::from(self.public.is_some())
    }
}

impl Workload for Cards {
    fn name(&self) -> &'static str {
        "cards"
    }

    fn summary(&self) -> &'static str {
        "Private and public key operations per second, by jobs and cards"
    }

    fn programs(&self) -> &'static [&'static str] {
        &["openssl"]
    }

    fn takes(&self, peer: &Peer) -> bool {
        peer.crypto_mb().is_some()
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let setups = 1 + cards(options).len();
        let rounds = rounds(options);
        let turns = f64::from(rounds.warm_up + rounds.measured) * setups as f64;
        let mut steps = Vec::new();
        for (kind, jobs) in cells(options) {
            // A second for each figure, and the start of a program.
            let seconds = turns * (0.15 + kind.phases() as f64);
            steps.push(Step::new(step(kind, jobs), seconds));
        }
        steps.extend(together::plan(options));
        steps
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let options = session.options();
        let crypto_mb = together::crypto_mb(session)?;
        let columns = &["operation", "jobs"];
        session.table(
            "private",
            "Operations with the private key, by the number of jobs",
            columns,
        );
        session.table(
            "public",
            "Operations with the public key, by the number of jobs",
            columns,
        );
        session.note(
            "rates are per second of elapsed time, for one process. Cards beyond the first use further cores. \
             The latency is the mean: jobs / rate. If the profile runs an operation on the caller's thread or \
             leaves it to stock, it is measured there, even if there are cards.",
        );
        let version = session.stock.command()?.arg("version").succeed()?;
        session.version("openssl", version.output.trim());
        for (kind, jobs) in cells(options) {
            session.step(&step(kind, jobs));
            measure(session, kind, jobs)?;
        }
        together::run(session, crypto_mb)
    }
}

fn measure(session: &mut Session<'_>, kind: Kind, jobs: u32) -> Result<(), Failure> {
    let mut setups = vec!["stock".to_owned()];
    let mut sides = vec![session.stock.clone()];
    for cards in cards(session.options()) {
        setups.push(match cards {
            1 => "1 card".to_owned(),
            more => format!("{more} cards"),
        });
        sides.push(OpenSsl::outboard_with(
            &session.workplace,
            &session.installation.outboard,
            &format!("{}-{jobs}-{cards}", kind.algorithm),
            &format!("cards = {cards}\n"),
        )?);
    }
    session.command(format!(
        "openssl speed -elapsed -seconds 1 -async_jobs {jobs} {}",
        kind.algorithm
    ));
    let names: Vec<&str> = setups.iter().map(String::as_str).collect();
    let mut done = vec![0; sides.len()];
    let rounds = rounds(session.options());
    let comparison = session.alternate(&names, rounds, |_, setup| {
        let speed = Speed::run(&sides[setup], kind, jobs)?;
        done[setup] += speed.private;
        Ok(speed.values(jobs))
    })?;
    let mut proofs = vec![Proof::not_needed()];
    for (side, &done) in sides.iter().zip(&done).skip(1) {
        let expected = match jobs {
            MANY.. => Expected::in_company(kind.private, done),
            _ => Expected::operations(kind.private, done),
        };
        proofs.push(session.proof(side, &[expected])?);
    }
    let jobs = jobs.to_string();
    record(
        session,
        "private",
        kind.private,
        &jobs,
        &comparison,
        &proofs,
        0,
    )?;
    if let Some(public) = kind.public {
        record(session, "public", public, &jobs, &comparison, &[], 2)?;
    }
    Ok(())
}

fn record(
    session: &mut Session<'_>,
    table: &str,
    operation: &str,
    jobs: &str,
    comparison: &Comparison,
    proofs: &[Proof],
    first: usize,
) -> Result<(), Failure> {
    let labels = [("operation", operation), ("jobs", jobs)];
    let comparison = comparison.measures(first..first + 2);
    session.record(table, &labels, &[RATE, LATENCY], &comparison, proofs)
}

/// What one run of `openssl speed` found.
#[derive(Clone, Debug, PartialEq)]
struct Speed {
    /// How many operations with the private key it counted.
    private: u64,
    /// Operations per second: with the private key, and with the public key where there is one.
    rates: Vec<f64>,
}

impl Speed {
    fn run(openssl: &OpenSsl, kind: Kind, jobs: u32) -> Result<Self, Failure> {
        let jobs = jobs.to_string();
        let finished = openssl
            .command()?
            .args(["speed", "-mr", "-elapsed", "-seconds", "1"])
            .args(["-async_jobs", &jobs, kind.algorithm])
            .limit(Duration::from_secs(60))
            .succeed()?;
        let speed = Self::parse(&finished.errors).or_else(|| Self::parse(&finished.output));
        let speed = speed.filter(|speed| speed.rates.len() == kind.phases());
        Ok(speed.ok_or_else(|| unexpected(&finished))?)
    }

    /// Lines like `+R1:371:2048:1.00`: what it is, how many operations, of which size, in how many
    /// seconds.
    fn parse(text: &str) -> Option<Self> {
        let counts: Vec<(u64, f64)> = text
            .lines()
            .filter(|line| line.starts_with("+R"))
            .map(|line| {
                let count = line.split(':').nth(1)?.parse().ok()?;
                let seconds: f64 = line.rsplit(':').next()?.parse().ok()?;
                (seconds > 0.0).then_some((count, seconds))
            })
            .collect::<Option<_>>()?;
        let &(private, _) = counts.first()?;
        let rates = counts
            .iter()
            .map(|&(count, seconds)| count as f64 / seconds)
            .collect();
        Some(Self { private, rates })
    }

    /// Rate and latency of each.
    fn values(&self, jobs: u32) -> Vec<f64> {
        let rates = self.rates.iter();
        rates
            .flat_map(|&rate| [rate, f64::from(jobs) / rate])
            .collect()
    }
}

fn unexpected(finished: &Finished) -> Error {
    Error::Unexpected {
        program: "openssl speed".to_owned(),
        reason: "no rates".to_owned(),
        output: format!("{}{}", finished.output, finished.errors),
    }
}

/// What is measured with how many jobs.
fn cells(options: &Options) -> Vec<(Kind, u32)> {
    let [rsa_2048, p384, ..] = KINDS;
    let full = || {
        let jobs = [1, 2, 4, 8, 16, 32];
        let cells = KINDS.iter().map(|&kind| jobs.map(|jobs| (kind, jobs)));
        cells.flatten().collect()
    };
    match options.extent {
        Extent::Full => full(),
        // Enough for latency, a full queue, and saturation.
        Extent::Quick => vec![
            (rsa_2048, 1),
            (rsa_2048, 8),
            (rsa_2048, 32),
            (p384, 1),
            (p384, 32),
        ],
        Extent::Tiny => vec![(p384, 8)],
    }
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(3, 1, 1),
    }
}

/// The numbers of cards: powers of two, and one for each core.
fn cards(options: &Options) -> Vec<usize> {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut all: Vec<usize> = (0..)
        .map(|power| 1 << power)
        .take_while(|&cards| cards < cores)
        .collect();
    all.push(cores);
    match options.pick(all.len(), 2, 1) {
        1 => vec![1],
        2 if all.len() > 2 => vec![1, cores],
        _ => all,
    }
}

fn step(kind: Kind, jobs: u32) -> String {
    match jobs {
        1 => format!("{}, 1 job", kind.private),
        _ => format!("{}, {jobs} jobs", kind.private),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_openssl_speed_prints_is_understood() {
        let text = "+DTP:2048:private:rsa:1\n+R1:371:2048:1.00\n+DTP:2048:public:rsa:1\n\
                    +R2:7674:2048:2.00\n+F2:2:2048:371.000000:3837.000000\n";
        let speed = Speed::parse(text).unwrap();
        assert_eq!(
            (speed.private, &speed.rates[..]),
            (371, &[371.0, 3837.0][..])
        );
        assert_eq!(speed.values(8)[1], 8.0 / 371.0);
        assert_eq!(Speed::parse("no such algorithm"), None);
        assert_eq!(Speed::parse("+R1:0:2048:0.00\n"), None);
    }
}
