//! What each algorithm of the installed OpenSSH costs on this machine.
//!
//! Everything runs next to a reference, each first in its turn; what counts is the time that client
//! and server spend in user mode, so that other work on the machine does not tilt the result.

use super::algorithm::{Judgement, Kind, judge, measured_as};
use super::cost::{Cost, Costs};
use super::installed::{self, Lists};
use super::recommend::Choice;
use super::stand::{Seconds, Stand};
use crate::order::scatter;
use crate::pairs::{alternate, median};
use crate::{Error, Listener, Progress};

/// How thoroughly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// The size of the copy, in bytes.
    pub(super) bytes: u64,
    /// How often what is a candidate runs next to its reference.
    pairs: u32,
    /// How many logins are one measurement.
    logins: u32,
    /// Whether what is out anyway is measured, too.
    all: bool,
}

impl Effort {
    /// A minute or two.
    pub(super) const USUAL: Self = Self {
        bytes: 64 << 20,
        pairs: 5,
        logins: 4,
        all: true,
    };

    /// Some twenty seconds.
    pub(super) const QUICK: Self = Self {
        bytes: 32 << 20,
        pairs: 3,
        logins: 2,
        all: false,
    };
}

/// One measurement: an algorithm and its partners.
struct Plan {
    subjects: Vec<(Kind, String, u32)>,
    mac: String,
    cipher: String,
    exchange: String,
}

/// Host keys that the stand has; tokens and certificates cost the server what these do.
const HOST_KEYS: [&str; 6] = [
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-256",
    "rsa-sha2-512",
];

/// The names in `offered` that can be measured. Of two names for one algorithm, this is the usual one. Of host keys, these
/// are the ones that the stand has.
pub(super) fn measurable(offered: &Lists) -> impl Iterator<Item = (Kind, &str)> {
    offered.iter().flat_map(|(&kind, names)| {
        let is_synonym = |name: &str| {
            let usual = measured_as(name);
            usual != name && names.iter().any(|other| other == usual)
        };
        names
            .iter()
            .map(String::as_str)
            .filter(move |name| !is_synonym(name))
            .filter(move |name| kind != Kind::HostKey || HOST_KEYS.contains(name))
            .map(move |name| (kind, name))
    })
}

/// Measures all of `offered`, or `only` these: names of what is [`measurable`].
pub(super) fn measure(
    stand: &Stand,
    offered: &Lists,
    with_outboard: bool,
    choice: Choice,
    effort: Effort,
    only: &[String],
    listener: &dyn Listener,
) -> Result<Costs, Error> {
    let talk = stand.talk()?.errors;
    // OpenSSH's client offers it in its list of key exchanges, which it shows at this verbosity.
    let strict_key_exchange = talk.contains("kex-strict-c-v00@openssh.com");
    // An algorithm that the user named is measured, even if it is judged out.
    let effort = Effort {
        all: effort.all || !only.is_empty(),
        ..effort
    };
    let mut plan = Plan::new(offered, choice, strict_key_exchange, effort)?;
    if !only.is_empty() {
        plan.subjects.retain(|(_, name, _)| only.contains(name));
    }
    let steps = plan
        .subjects
        .iter()
        .map(|(_, _, pairs)| u64::from(*pairs))
        .sum();
    let mut progress = listener.begin(
        steps,
        &match plan.subjects.len() {
            1 => "measuring one algorithm".to_owned(),
            several => format!("measuring {several} algorithms"),
        },
    );

    let mut costs = Costs {
        openssh: installed::version()?,
        with_outboard,
        strict_key_exchange,
        mac_of_ciphers: plan.mac.clone(),
        cipher_of_macs: plan.cipher.clone(),
        costs: Vec::new(),
    };
    for kind in Kind::ALL {
        if !plan.subjects.iter().any(|(of, ..)| *of == kind) {
            continue;
        }
        let contest = Contest::new(kind, stand, &plan, effort)?;
        for (_, name, pairs) in plan.subjects.iter().filter(|(of, ..)| *of == kind) {
            progress.name(&format!("{kind} {name}"));
            match contest.cost(name, *pairs, &mut *progress) {
                Ok(cost) => costs.costs.push(cost),
                Err(error) => listener.note(&format!("{kind} {name} was not measured: {error}")),
            }
        }
    }
    Ok(costs)
}

impl Plan {
    fn new(
        offered: &Lists,
        choice: Choice,
        strict_key_exchange: bool,
        effort: Effort,
    ) -> Result<Self, Error> {
        let of = |kind| offered.get(&kind).map(Vec::as_slice).unwrap_or_default();
        let prefer = |kind, names: &[&str]| -> Result<String, Error> {
            let has = |name: &&&str| of(kind).iter().any(|other| other == **name);
            let first = of(kind).first().map(String::as_str);
            names
                .iter()
                .find(has)
                .copied()
                .or(first)
                .map(str::to_owned)
                .ok_or_else(|| format!("this sshd accepts no {kind}").into())
        };
        let mut subjects = Vec::new();
        for (kind, name) in measurable(offered) {
            let judgement = judge(kind, name, choice.level, strict_key_exchange);
            match judgement {
                Judgement::Out(_) if !effort.all => {}
                Judgement::Out(_) => subjects.push((kind, name.to_owned(), 1)),
                _ => subjects.push((kind, name.to_owned(), effort.pairs)),
            }
        }
        Ok(Self {
            subjects,
            mac: prefer(
                Kind::Mac,
                &["hmac-sha2-256-etm@openssh.com", "hmac-sha2-256"],
            )?,
            cipher: prefer(Kind::Cipher, &["aes128-ctr"])?,
            exchange: prefer(
                Kind::KeyExchange,
                &["curve25519-sha256", "ecdh-sha2-nistp256"],
            )?,
        })
    }
}

/// The algorithms of one kind against one of them.
struct Contest<'a> {
    kind: Kind,
    stand: &'a Stand,
    plan: &'a Plan,
    effort: Effort,
    reference: String,
    /// Other work: starting the server, logging in.
    besides: Seconds,
}

impl<'a> Contest<'a> {
    fn new(kind: Kind, stand: &'a Stand, plan: &'a Plan, effort: Effort) -> Result<Self, Error> {
        let reference = match kind {
            Kind::Cipher => &plan.cipher,
            Kind::Mac => &plan.mac,
            Kind::KeyExchange => &plan.exchange,
            Kind::HostKey => "ssh-ed25519",
        };
        let mut contest = Self {
            kind,
            stand,
            plan,
            effort,
            reference: reference.to_owned(),
            besides: Seconds::default(),
        };
        let mut besides = Vec::new();
        for _ in 0..3 {
            besides.push(match kind {
                Kind::Cipher | Kind::Mac => stand.empty_transfer(&contest.wishes(reference))?,
                Kind::KeyExchange | Kind::HostKey => stand.logins(0, &[])?,
            });
        }
        let middle = |of: fn(&Seconds) -> f64| median(besides.iter().map(of)).unwrap_or_default();
        contest.besides = Seconds {
            client: middle(|spent| spent.client),
            server: middle(|spent| spent.server),
            client_cpu: middle(|spent| spent.client_cpu),
        };
        Ok(contest)
    }

    /// The cost of one of them.
    fn cost(&self, name: &str, pairs: u32, progress: &mut dyn Progress) -> Result<Cost, Error> {
        let mut taken = Vec::new();
        for pair in 0..pairs {
            let run = |name: &str| self.run(name);
            taken.push(alternate(pair, || run(&self.reference), || run(name))?);
            progress.step();
        }
        // The median of the ratios, applied to the median of the reference: a disturbance that
        // lasts hits both of a pair.
        let settle = |of: fn(&Seconds) -> f64| {
            let ratios = taken.iter().map(|(r, s)| of(s) / of(r));
            let reference = median(taken.iter().map(|(r, _)| of(r))).unwrap_or_default();
            let ratio = median(ratios.clone()).unwrap_or_default();
            let scatter = scatter(ratios).map(|ends| ends.map(|ratio| ratio * reference));
            (ratio * reference, scatter)
        };
        let (client_seconds, _) = settle(|spent| spent.client);
        let (server_seconds, _) = settle(|spent| spent.server);
        let (_, scatter_seconds) = settle(|spent| spent.client + spent.server);
        Ok(Cost {
            kind: self.kind,
            name: name.to_owned(),
            client_seconds,
            server_seconds,
            scatter_seconds,
            pairs,
        })
    }

    fn wishes<'n>(&'n self, name: &'n str) -> Vec<(&'n str, &'n str)> {
        let mut wishes = vec![(self.kind.keyword(), name)];
        match self.kind {
            Kind::Cipher => wishes.push((Kind::Mac.keyword(), &self.plan.mac)),
            Kind::Mac => wishes.push((Kind::Cipher.keyword(), &self.plan.cipher)),
            Kind::KeyExchange => {}
            Kind::HostKey => wishes.push((Kind::KeyExchange.keyword(), &self.plan.exchange)),
        }
        if matches!(self.kind, Kind::Cipher | Kind::Mac) {
            wishes.push((Kind::KeyExchange.keyword(), &self.plan.exchange));
        }
        wishes
    }

    /// One measurement: for 1 GiB, or for one login.
    fn run(&self, name: &str) -> Result<Seconds, Error> {
        #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
        let (spent, parts) = match self.kind {
            Kind::Cipher | Kind::Mac => (
                self.stand.transfer(&self.wishes(name))?,
                self.effort.bytes as f64 / GIBIBYTE,
            ),
            Kind::KeyExchange | Kind::HostKey => (
                self.stand.logins(self.effort.logins, &self.wishes(name))?,
                f64::from(self.effort.logins),
            ),
        };
        let share = |spent: f64, besides: f64| (spent - besides).max(SMALLEST) / parts;
        Ok(Seconds {
            client: share(spent.client, self.besides.client),
            server: share(spent.server, self.besides.server),
            client_cpu: share(spent.client_cpu, self.besides.client_cpu),
        })
    }
}

const GIBIBYTE: f64 = (1_u64 << 30) as f64;

/// A microsecond: less cannot be told from nothing, and nothing cannot be divided by.
const SMALLEST: f64 = 1e-6;
