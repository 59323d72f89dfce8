//! The table of `openssl speed`: every operation through EVP, stock and Outboard alternating.
//!
//! Both sides are library contexts of the system's libcrypto in this very process, and take turns
//! every few milliseconds; what counts is the CPU time of the thread.

use std::time::Duration;

use outboard_measure::workload::Prepared;
use outboard_measure::{
    Contender, Context, Keys, Library, Offer, Plan, Sides, Workload as Contest, contest,
};

use super::scores::{Figure, prove, rows};
use crate::Failure;
use crate::proof::Proof;
use crate::suite::{Options, Peer, Session, Step, Workload};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speed;

/// Lengths of messages, in bytes: those of `openssl speed`, and two that are longer.
const SIZES: [usize; 8] = [16, 64, 256, 1024, 8192, 16384, 65536, 1 << 20];
const QUICK_SIZES: [usize; 4] = [16, 1024, 16384, 1 << 20];

/// One of each kind.
const TINY: [&str; 4] = ["aes-128-gcm-seal", "sha-256", "p384-sign", "x25519-derive"];

impl Workload for Speed {
    fn name(&self) -> &'static str {
        "speed"
    }

    fn summary(&self) -> &'static str {
        "Each operation through OpenSSL's EVP interface, as 'openssl speed' does it"
    }

    fn takes(&self, peer: &Peer) -> bool {
        peer.libcrypto().is_some()
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let seconds = budget(options).as_secs_f64();
        let contests = contests(options).into_iter();
        contests
            .map(|contest| Step::new(step(&contest), seconds))
            .collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let library = Library::open(Library::SYSTEM)?;
        let outboard = &session.installation.outboard;
        let offer = Offer::Profile(outboard.profile.clone());
        let sides = Sides::new_in(
            session.in_process.path(),
            &library,
            &outboard.module,
            &offer,
        )?;
        let keys = Keys::new(&sides.stock);
        session.version("libcrypto", library.version());
        session.table(
            "keyed",
            "Signatures, verifications, key exchanges: per second of one core",
            &["operation"],
        );
        session.table(
            "bulk",
            "Ciphers and digests: bytes per second of one core, by the length of a message",
            &["operation", "bytes"],
        );
        let peers = Others::open(session)?;
        let plan = Plan {
            budget: budget(session.options()),
            ..Plan::default()
        };
        for each in contests(session.options()) {
            session.step(&step(&each));
            let explain = |error| format!("{}: {error}", step(&each));
            let mut stock = each.prepare(&sides.stock, &keys).map_err(explain)?;
            let mut outboard = each.prepare(&sides.outboard, &keys).map_err(explain)?;
            let mut others = peers.prepare(&each, &keys).map_err(explain)?;
            let mut times = 0;
            let outcome = {
                let mut counted = |iterations| {
                    times += iterations;
                    outboard.contender()(iterations)
                };
                let mut contenders: Vec<&mut Contender<'_>> = vec![stock.contender(), &mut counted];
                for other in &mut others {
                    contenders.push(other.contender());
                }
                contest(&mut contenders, &plan).map_err(explain)?
            };
            let by_outboard = outboard.served_by.as_deref() == Some("outboard");
            drop(outboard);
            let proof = if by_outboard {
                prove(session, &sides, &each.name, times)?
            } else {
                Proof::left_to_stock()
            };
            let bytes = each.size.to_string();
            let operation = ("operation", each.name.as_str());
            let (table, labels, figure) = if each.size > 0 {
                let figure = Figure::Throughput(each.size);
                ("bulk", vec![operation, ("bytes", &bytes)], figure)
            } else {
                ("keyed", vec![operation], Figure::Rate(1))
            };
            let mut setups = vec![("stock", None), ("outboard", Some(&proof))];
            setups.extend(peers.names().map(|name| (name, None)));
            session.rows(table, rows(&labels, figure, &setups, &outcome))?;
        }
        Ok(())
    }
}

/// The peers, each in a library context of its own.
struct Others {
    contexts: Vec<(String, Context)>,
}

impl Others {
    fn open(session: &mut Session<'_>) -> Result<Self, Failure> {
        let mut contexts = Vec::new();
        for peer in &session.options().peers {
            let Some(file) = peer.libcrypto() else {
                continue;
            };
            let library = Library::open(file)?;
            library.ignore_system_configuration()?;
            session.version(&peer.name, library.version());
            session.note(format!(
                "{} is {}. This program does not know how it was built (the repository's own tests build theirs \
                 with little optimisation of the C code)",
                peer.name,
                library.path().display()
            ));
            contexts.push((peer.name.clone(), Context::new(&library)?));
        }
        Ok(Self { contexts })
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.contexts.iter().map(|(name, _)| name.as_str())
    }

    fn prepare(&self, contest: &Contest, keys: &Keys) -> outboard_measure::Result<Vec<Prepared>> {
        let contexts = self.contexts.iter();
        contexts
            .map(|(_, context)| contest.prepare(context, keys))
            .collect()
    }
}

/// For one contest.
fn budget(options: &Options) -> Duration {
    options.pick(
        Duration::from_millis(1500),
        Duration::from_millis(300),
        Duration::ZERO,
    )
}

fn contests(options: &Options) -> Vec<Contest> {
    let sizes = options.pick(&SIZES[..], &QUICK_SIZES[..], &SIZES[..1]);
    let mut contests = Contest::table(sizes);
    contests.retain(|contest| options.pick(true, true, TINY.contains(&contest.name.as_str())));
    contests
}

fn step(contest: &Contest) -> String {
    match contest.size {
        0 => contest.name.clone(),
        size => format!("{}, {size} bytes", contest.name),
    }
}
