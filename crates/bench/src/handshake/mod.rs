//! Where a server's time goes in a TLS connection: a table and a picture.
//!
//! ```text
//! Case        a server, a key, a version
//! contender   a server in one setup, the stopwatch preloaded
//!   ├─ pair   server and client in memory, in a process of their own
//!   └─ nginx, HAProxy (workloads::tls)
//!      └─▶ window   some connections ──▶ time in each phase, CPU time
//! report      medians of windows ──▶ table, JSON, picture
//! ```
//!
//! The stopwatch (`crates/stopwatch-preload`) measures libssl's calls from outside, so both setups are measured alike.

mod contender;
mod pair;
mod report;
mod window;

use std::path::PathBuf;
use std::process::ExitCode;

use outboard_programs::{Cores, OpenSsl, Workplace, all_installed, clean_up_on_signals};

use crate::Failure;
use crate::first_light::progress::Progress;
use crate::installation::{Installation, InstallationArguments, Search, find_stopwatch};
use crate::suite::Lock;
use crate::workloads::allow_files;
use crate::workloads::tls::Key;
use crate::workloads::tls::client::Version;

use contender::Contender;
pub use pair::{PairArguments, pair};
use report::{Compared, Report};

/// `outboard-bench handshake`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The servers: memory is a server and its client in one process, without a network
    #[arg(long, value_enum, value_name = "SERVER", default_values_t = [Place::Memory, Place::Nginx, Place::HaProxy])]
    server: Vec<Place>,
    /// The keys of their certificates
    #[arg(long, value_enum, value_name = "KEY", default_values_t = [KeyArgument::P256])]
    key: Vec<KeyArgument>,
    /// The version of TLS
    #[arg(long, value_enum, value_name = "VERSION", default_value_t = VersionArgument::Tls13)]
    tls: VersionArgument,
    /// Resume a session in every connection
    #[arg(long)]
    resumed: bool,
    /// Measure a few windows, and never calibrate first: without a profile, built-in numbers decide what Outboard does
    #[arg(long)]
    quick: bool,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Draw the phases into this SVG file
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// The library that measures [default: beside this program, else in ../lib/outboard]
    #[arg(long, value_name = "FILE")]
    stopwatch: Option<PathBuf>,
    #[command(flatten)]
    installation: InstallationArguments,
}

/// Where the server's side is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Place {
    Memory,
    Nginx,
    #[value(name = "haproxy")]
    HaProxy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum KeyArgument {
    Rsa2048,
    Rsa3072,
    Rsa4096,
    P256,
    P384,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum VersionArgument {
    #[value(name = "1.2")]
    Tls12,
    #[value(name = "1.3")]
    Tls13,
}

/// What is measured at once.
#[derive(Clone, Copy, Debug)]
struct Case {
    place: Place,
    key: Key,
    version: Version,
    resumed: bool,
}

/// What all cases share.
struct Setting {
    workplace: Workplace,
    cores: Cores,
    stock: OpenSsl,
    installation: Installation,
    stopwatch: PathBuf,
}

/// Measures, and prints a table for each case.
///
/// # Errors
/// If a program is missing or fails.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    clean_up_on_signals()?;
    let _lock = Lock::take()?;
    let programs = arguments
        .server
        .iter()
        .filter_map(|place| place.program())
        .chain(["openssl"]);
    all_installed(&programs.collect::<Vec<_>>())?;
    allow_files(4096)?;
    let workplace = Workplace::in_memory(1 << 22)?;
    let setting = Setting {
        stock: OpenSsl::stock(&workplace)?,
        stopwatch: find_stopwatch(arguments.stopwatch.as_deref())?,
        installation: if arguments.quick {
            Search::new(&arguments.installation, false)?.installation()?
        } else {
            Installation::find(&arguments.installation)?
        },
        cores: Cores::choose(),
        workplace,
    };
    let cases = arguments.cases();
    let rounds = if arguments.quick { 3 } else { 15 };
    let steps = u32::try_from(cases.len()).unwrap_or(u32::MAX);
    let mut progress = Progress::new(steps.saturating_mul(rounds));
    let mut compared = Vec::new();
    for case in cases {
        progress.workload(&case.name());
        compared.push(measure(&setting, case, rounds, &mut progress)?);
    }
    progress.finish();
    let report = Report::new(compared);
    if let Some(picture) = &arguments.picture {
        std::fs::write(picture, report.picture())
            .map_err(|error| format!("cannot write {}: {error}", picture.display()))?;
    }
    if arguments.json {
        println!("{}", report.json()?);
    } else {
        print!("{}", report.text());
    }
    Ok(ExitCode::SUCCESS)
}

/// Both setups in turns.
fn measure(
    setting: &Setting,
    case: Case,
    rounds: u32,
    progress: &mut Progress,
) -> Result<Compared, Failure> {
    let name = case.name().replace([',', ' ', '/'], "_");
    let outboard = &setting.installation.outboard;
    let outboard = OpenSsl::outboard(&setting.workplace, outboard, &name)?;
    let mut contenders = [
        Contender::start(
            setting,
            case,
            setting.stock.clone(),
            &format!("{name}.stock"),
        )?,
        Contender::start(setting, case, outboard, &format!("{name}.outboard"))?,
    ];
    let mut connections = u64::MAX;
    for contender in &mut contenders {
        connections = connections.min(contender.warm_up()?);
    }
    let mut windows = Vec::new();
    for round in 0..rounds {
        let (first, second) = if round % 2 == 0 { (0, 1) } else { (1, 0) };
        let mut pair = [None, None];
        for side in [first, second] {
            pair[side] = Some(contenders[side].window(connections)?);
        }
        windows.extend(pair[0].take().zip(pair[1].take()));
        progress.step();
    }
    for contender in contenders {
        contender.stop()?;
    }
    Ok(Compared::new(case, connections, &windows))
}

impl Arguments {
    fn cases(&self) -> Vec<Case> {
        let places = self.server.iter();
        places
            .flat_map(|&place| {
                self.key.iter().map(move |key| Case {
                    place,
                    key: key.key(),
                    version: self.tls.version(),
                    resumed: self.resumed,
                })
            })
            .collect()
    }
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Memory => "in memory",
            Self::Nginx => "nginx",
            Self::HaProxy => "HAProxy",
        }
    }

    fn program(self) -> Option<&'static str> {
        match self {
            Self::Memory => None,
            Self::Nginx => Some("nginx"),
            Self::HaProxy => Some("haproxy"),
        }
    }
}

impl KeyArgument {
    fn key(self) -> Key {
        match self {
            Self::Rsa2048 => Key::RSA_2048,
            Self::Rsa3072 => Key::RSA_3072,
            Self::Rsa4096 => Key::RSA_4096,
            Self::P256 => Key::P256,
            Self::P384 => Key::P384,
        }
    }
}

impl VersionArgument {
    fn version(self) -> Version {
        match self {
            Self::Tls12 => Version::Tls12,
            Self::Tls13 => Version::Tls13,
        }
    }
}

impl Case {
    /// For people: `nginx, P-256, TLS 1.3, resumed`.
    fn name(&self) -> String {
        let resumed = if self.resumed { ", resumed" } else { "" };
        let (place, key) = (self.place.name(), self.key.name);
        format!("{place}, {key}, {}{resumed}", self.version.name())
    }
}
