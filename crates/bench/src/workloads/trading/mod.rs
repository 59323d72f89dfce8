//! A trading application on a Java server, as the WebSphere study of 2013 measured it.
//!
//! ```text
//! stand     one key: a card service, four Java servers, three Apaches in front of a fifth
//!   └─ crowd    25 users at once, for a second
//!        └─ user     login, quotes, portfolio, buy, sell …: one transaction after another
//! ```
//!
//! The application is `samples/trading`.

mod crowd;
mod stand;
mod user;

use std::path::{Path, PathBuf};
use std::time::Duration;

use outboard_programs::PostgreSqlOptions;

use self::crowd::Length;
use self::stand::{CONTENDERS, Stand};
use self::user::{Handshakes, User};
use crate::Failure;
use crate::statistics::{median, percentile};
use crate::suite::{Comparison, Measure, Options, Peer, Rounds, Session, Step, Workload};
use crate::workloads::tls::Key;
use crate::workloads::tls::client::{Cipher, Client, ClientOptions, Version};
use crate::workloads::tls::handshakes::{SATURATED, note_unsaturated};

/// See the module.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trading;

/// What does TLS, and where the key is used: in the program with its own code, in the program with Outboard (by PKCS #11, and by our
/// provider for Java), or in the card service.
const PLACES: [(&str, &[&str]); 2] = [
    ("-", &["stock", "outboard", "outboard.jar", "service"]),
    ("Apache", &["stock", "outboard", "service"]),
];

/// How many set-ups are those of a Java server that does TLS.
const DIRECT: usize = PLACES[0].1.len();

const MEASURES: [Measure; 4] = [
    Measure::higher("transactions", "1/s"),
    Measure::lower("server CPU", "s"),
    Measure::lower("response", "s"),
    Measure::lower("p99", "s"),
];

/// A Java server.
#[derive(Clone, Debug)]
enum Product {
    /// Debian's.
    Tomcat,
    /// In a directory.
    Liberty(PathBuf),
}

/// How users reach the servers of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Case {
    version: Version,
    handshakes: Handshakes,
}

impl Workload for Trading {
    fn name(&self) -> &'static str {
        "trading"
    }

    fn summary(&self) -> &'static str {
        "a Java application over HTTPS: transactions by where the server's key is used"
    }

    fn programs(&self) -> &'static [&'static str] {
        &[
            "apache2",
            "bash",
            "catalina.sh",
            "initdb",
            "java",
            "javac",
            "openssl",
            "postgres",
            "psql",
        ]
    }

    fn takes(&self, peer: &Peer) -> bool {
        peer.liberty().is_some()
    }

    fn space(&self, _: &Options) -> u64 {
        256 << 20
    }

    fn plan(&self, options: &Options) -> Vec<Step> {
        let turns = f64::from(rounds(options).measured) * CONTENDERS as f64;
        let windows = cases(options).len() as f64 * turns * window(options).as_secs_f64();
        let seconds = 14.0 + options.pick(200.0, 42.0, 2.0) + windows * 1.1;
        let stands = Product::all(options).into_iter();
        stands
            .flat_map(|product| {
                keys(options)
                    .iter()
                    .map(move |key| step_name(&product, *key))
            })
            .map(|name| Step::new(name, seconds))
            .collect()
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        super::versions::record(
            session,
            &[
                "apache2", "bash", "java", "javac", "openssl", "postgres", "psql",
            ],
        )?;
        session.table(
            "transactions",
            "A trading application over HTTPS, by what does TLS and where its key is used",
            &["server", "front", "key", "protocol", "handshakes"],
        );
        session.note(
            "25 users trade at once, each as fast as the server answers. Server CPU is that of the Java server, of Apache and of the \
             card service, all on one core. The database and the users are on another core, and do not count. The cipher is AES-256 \
             (GCM), and the key exchange X25519.",
        );
        let certificate = Key::P256.certificate(session)?;
        let database = PostgreSqlOptions {
            openssl: &session.stock,
            certificate: &certificate,
            core: session.cores.client,
        };
        let database = database.start(&session.workplace)?;
        outboard_programs::Trading::fill(&database, &session.stock, &session.workplace)?;
        let mut waiting = Vec::new();
        for product in Product::all(session.options()) {
            for &key in keys(session.options()) {
                session.step(&step_name(&product, key));
                let stand = Stand::start(session, &database, &product, key)?;
                measure(session, &product, key, stand, &mut waiting)?;
            }
        }
        note_unsaturated(session, &waiting);
        database.stop()?;
        Ok(())
    }
}

/// Everything with one key. `waiting` gets the cases whose server was not saturated.
fn measure(
    session: &mut Session<'_>,
    product: &Product,
    key: Key,
    mut stand: Stand,
    waiting: &mut Vec<String>,
) -> Result<(), Failure> {
    if let Some(version) = product.version(&stand.log()) {
        session.version(product.name(), version);
    }
    let options = session.options();
    let mut measured: Vec<(Case, Comparison)> = Vec::new();
    let names: Vec<&str> = PLACES.iter().flat_map(|place| place.1).copied().collect();
    let certificate = key.certificate(session)?;
    for (index, case) in cases(options).into_iter().enumerate() {
        let client = Client::new(&ClientOptions {
            server: &certificate,
            version: case.version,
            cipher: Cipher::Aes256Gcm,
            identity: None,
            resume: false,
        })?;
        if index == 0 {
            for contender in 0..CONTENDERS {
                for (handshakes, each) in warm_up(options, contender) {
                    let mut crowd = crowd(options, &client, handshakes, contender);
                    let length = Length::Transactions(each);
                    stand.window(session, contender, &mut crowd, length)?;
                }
            }
        }
        let mut crowds: Vec<Vec<User>> = (0..CONTENDERS)
            .map(|contender| crowd(options, &client, case.handshakes, contender))
            .collect();
        let comparison = session.alternate(&names, rounds(options), |session, contender| {
            let crowd = &mut crowds[contender];
            let time = Length::Time(window(options));
            let window = stand.window(session, contender, crowd, time)?;
            let responses = &window.trades.responses;
            let count = responses.len() as f64;
            let wall = window.trades.wall.as_secs_f64();
            Ok(vec![
                count / wall,
                window.cpu / count,
                responses.iter().sum::<f64>() / count,
                percentile(responses.clone(), 0.99),
                window.cpu / wall,
            ])
        })?;
        measured.push((case, comparison));
    }
    let proofs = stand.stop(session)?;
    for (case, comparison) in measured {
        let mut first = 0;
        for (front, names) in PLACES {
            let setups = first..first + names.len();
            first = setups.end;
            let part = comparison.setups(setups.clone());
            let busy = (0..names.len()).map(|setup| median(&part.values(setup, MEASURES.len())));
            let labels = [
                ("server", product.name()),
                ("front", front),
                ("key", key.name),
                ("protocol", case.version.name()),
                ("handshakes", case.handshakes.name()),
            ];
            if busy.fold(f64::MAX, f64::min) < SATURATED {
                let names = labels
                    .iter()
                    .map(|(_, label)| *label)
                    .filter(|label| *label != "-");
                waiting.push(names.collect::<Vec<_>>().join(", "));
            }
            session.record(
                "transactions",
                &labels,
                &MEASURES,
                &part.measures(0..MEASURES.len()),
                &proofs[setups],
            )?;
        }
    }
    Ok(())
}

/// The users of one contender.
fn crowd(
    options: &Options,
    client: &Client,
    handshakes: Handshakes,
    contender: usize,
) -> Vec<User> {
    let each = users(options);
    let numbers = contender * each..(contender + 1) * each;
    let of = (CONTENDERS * each) as u64;
    numbers
        .map(|number| User::new(client, handshakes, number as u64, of))
        .collect()
}

impl Product {
    /// Tomcat, and Liberty if the user names it as a peer.
    fn all(options: &Options) -> Vec<Self> {
        let liberty = options.peers.iter().filter_map(Peer::liberty);
        let liberty = liberty.map(|directory| Self::Liberty(directory.to_owned()));
        std::iter::once(Self::Tomcat).chain(liberty).collect()
    }

    /// As the results name it.
    fn name(&self) -> &'static str {
        match self {
            Self::Tomcat => "Tomcat",
            Self::Liberty(_) => "Open Liberty",
        }
    }

    fn directory(&self) -> Option<&Path> {
        match self {
            Self::Tomcat => None,
            Self::Liberty(directory) => Some(directory),
        }
    }

    /// As it says itself when it starts: "Apache Tomcat/10.1.60 (Debian)", "Open Liberty 26.0.0.3".
    fn version(&self, log: &str) -> Option<String> {
        let (begin, end) = match self {
            Self::Tomcat => ("Apache Tomcat/", ']'),
            Self::Liberty(_) => ("Open Liberty ", '/'),
        };
        let (_, said) = log.split_once(begin)?;
        Some(said.split(end).next()?.to_owned())
    }
}

fn step_name(product: &Product, key: Key) -> String {
    format!("{}, {}", product.name(), key.name)
}

/// The dearest first, which warms the servers up for all.
fn cases(options: &Options) -> Vec<Case> {
    let case = |version, handshakes| Case {
        version,
        handshakes,
    };
    let all = [
        case(Version::Tls13, Handshakes::EachRequest),
        case(Version::Tls12, Handshakes::EachRequest),
        case(Version::Tls13, Handshakes::EachSession),
        case(Version::Tls12, Handshakes::EachSession),
    ];
    all[..options.pick(4, 3, 4)].to_vec()
}

fn keys(options: &Options) -> &'static [Key] {
    let both = &[Key::RSA_2048, Key::RSA_4096];
    options.pick(both, both, &both[..1])
}

/// Users at once. The study's load generator had 25.
fn users(options: &Options) -> usize {
    options.pick(25, 25, 2)
}

fn rounds(options: &Options) -> Rounds {
    Rounds {
        warm_up: 0,
        measured: options.pick(9, 3, 1),
    }
}

/// How long users trade in one turn.
fn window(options: &Options) -> Duration {
    Duration::from_millis(options.pick(1000, 700, 20))
}

/// How many transactions of each user are before anything counts: Java compiles what it runs often. Every Java server gets as many,
/// the one behind Apache by the first of its contenders. Apache itself needs few.
fn warm_up(options: &Options, contender: usize) -> [(Handshakes, usize); 2] {
    let sessions = match contender <= DIRECT {
        true => options.pick(1000, 400, 1),
        false => options.pick(40, 8, 1),
    };
    let requests = match contender < DIRECT {
        true => options.pick(800, 120, 1),
        false => options.pick(80, 16, 1),
    };
    [
        (Handshakes::EachSession, sessions),
        (Handshakes::EachRequest, requests),
    ]
}
