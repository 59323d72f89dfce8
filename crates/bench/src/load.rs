//! What loading the provider costs: a process that starts, and one that sets up a context.
//!
//! sshd loads its configuration anew for every connection, so this counts.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use outboard_measure::{
    Configurations, Context, KeyKind, Keys, Library, Offer, Workload, statistics,
};
use serde::Serialize;

use crate::installation::find_module;
use crate::suite::Lock;
use crate::table::{Align, table};

/// Options of `outboard-bench load`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The provider [default: beside this program, else in OpenSSL's modules directory]
    #[arg(long, value_name = "PATH")]
    module: Option<PathBuf>,
    /// The profile [default: the system's, else the built-in measurements for this processor class]
    #[arg(long, value_name = "PATH")]
    profile: Option<PathBuf>,
    /// Only measurements with one of these texts in their names
    #[arg(value_name = "NAME")]
    only: Vec<String>,
    /// The number of pairs of runs
    #[arg(long, value_name = "NUMBER", default_value_t = 200)]
    pairs: usize,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// Runs it.
///
/// # Errors
/// In words for the user.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let module = find_module(arguments.module.as_deref())?;
    let _lock = Lock::take()?;
    let offer = Offer::Profile(arguments.profile.clone());
    let configurations = Configurations::new(&module, &offer)?;
    let library = Library::open(Library::SYSTEM)?;
    library.ignore_system_configuration()?;
    let plain = Context::new(&library)?;
    let keys = Keys::new(&plain);
    let directory = configurations.stock().with_file_name("");
    let key = directory.join("p384.pem");
    fs::write(&key, keys.private_pem(KeyKind::P384)?.as_slice())?;
    let key = key.to_string_lossy();

    let subjects: Vec<(&str, Box<Subject<'_>>)> = vec![
        (
            "openssl version",
            Box::new(|conf| process(conf, &["version"])),
        ),
        (
            "openssl list -providers",
            Box::new(|conf| process(conf, &["list", "-providers"])),
        ),
        (
            "openssl dgst -sign (P-384)",
            Box::new(|conf| process(conf, &["dgst", "-sha384", "-sign", &key, "/dev/null"])),
        ),
        (
            "a context, set up",
            Box::new(|conf| context(&library, conf, None)),
        ),
        (
            "a context, first P-384 key and signature",
            Box::new(|conf| context(&library, conf, Some(("p384-read-sign", &keys)))),
        ),
        (
            "a context, first AES-128-GCM seal",
            Box::new(|conf| context(&library, conf, Some(("aes-128-gcm-seal", &keys)))),
        ),
    ];
    let wanted = |name: &str| {
        arguments.only.is_empty() || arguments.only.iter().any(|part| name.contains(part))
    };
    let mut costs = Vec::new();
    for (name, subject) in subjects.iter().filter(|(name, _)| wanted(name)) {
        costs.push(compare(name, subject, &configurations, arguments.pairs)?);
    }

    let report = Report {
        schema: "outboard-bench-load",
        version: 1,
        libcrypto: library.version(),
        module: module.display().to_string(),
        costs,
    };
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print!("{}", report.table());
    }
    Ok(ExitCode::SUCCESS)
}

/// Does the work once under a configuration; answers the time that passed and the processor's time.
type Subject<'a> = dyn Fn(&Path) -> Result<Times, Box<dyn Error>> + 'a;

#[derive(Clone, Copy, Debug)]
struct Times {
    wall: Duration,
    cpu: Duration,
}

#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    version: u32,
    libcrypto: String,
    module: String,
    costs: Vec<Cost>,
}

/// All in microseconds; medians.
#[derive(Debug, Serialize)]
struct Cost {
    what: String,
    stock_us: f64,
    outboard_us: f64,
    /// Of the paired differences of the time that passed, with their quartiles.
    added_us: f64,
    low: f64,
    high: f64,
    /// Of the paired differences of the processor's time.
    added_cpu_us: f64,
}

fn compare(
    what: &str,
    subject: &Subject<'_>,
    configurations: &Configurations,
    pairs: usize,
) -> Result<Cost, Box<dyn Error>> {
    let (stock, outboard) = (configurations.stock(), configurations.outboard());
    // Once each for the caches of the file system.
    subject(&stock)?;
    subject(&outboard)?;
    let mut times: Vec<(Times, Times)> = Vec::with_capacity(pairs);
    for pair in 0..pairs.max(2) {
        times.push(if pair % 2 == 0 {
            let first = subject(&stock)?;
            (first, subject(&outboard)?)
        } else {
            let first = subject(&outboard)?;
            (subject(&stock)?, first)
        });
    }
    let each =
        |figure: &dyn Fn(&(Times, Times)) -> f64| times.iter().map(figure).collect::<Vec<_>>();
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    let added = each(&|(a, b)| microseconds(b.wall) - microseconds(a.wall));
    let (low, added_us, high) = statistics::quartiles(&added);
    Ok(Cost {
        what: what.to_owned(),
        stock_us: statistics::median(&each(&|(a, _)| microseconds(a.wall))),
        outboard_us: statistics::median(&each(&|(_, b)| microseconds(b.wall))),
        added_us,
        low,
        high,
        added_cpu_us: statistics::median(&each(&|(a, b)| {
            microseconds(b.cpu) - microseconds(a.cpu)
        })),
    })
}

/// Starts the system's `openssl` under a configuration and waits for its end.
fn process(configuration: &Path, arguments: &[&str]) -> Result<Times, Box<dyn Error>> {
    let start = Instant::now();
    let child = Command::new("openssl")
        .args(arguments)
        .env("OPENSSL_CONF", configuration)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("cannot start openssl: {error}"))?;
    let (status, cpu) = wait(child.id())?;
    let wall = start.elapsed();
    if status != 0 {
        return Err(format!(
            "openssl {} failed under {}",
            arguments.join(" "),
            configuration.display()
        )
        .into());
    }
    Ok(Times { wall, cpu })
}

/// Sets a context up in this process, lets it do some work once, and tears it down.
fn context(
    library: &Library,
    configuration: &Path,
    work: Option<(&str, &Keys)>,
) -> Result<Times, Box<dyn Error>> {
    let workload = work.and_then(|(name, _)| {
        let all = [Workload::operations(), Workload::loading()];
        all.into_iter()
            .flatten()
            .find(|workload| workload.name == name)
    });
    let start = outboard_measure::Instant::now();
    let context = Context::from_configuration(library, configuration)?;
    if let (Some(workload), Some((_, keys))) = (&workload, work) {
        workload.prepare(&context, keys)?.contender()(1)?;
    }
    drop(context);
    Ok(Times {
        wall: start.wall_since(),
        cpu: start.cpu_since(),
    })
}

/// Waits for a child; answers its raw status and the processor's time that it took.
fn wait(child: u32) -> io::Result<(i32, Duration)> {
    let mut status = 0;
    // SAFETY: all-zero is a valid rusage: numbers only.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live variables; the child is ours, and nothing else waits for it.
    let answer = unsafe { libc::wait4(child as libc::pid_t, &mut status, 0, &mut usage) };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    let time = |time: libc::timeval| {
        Duration::from_secs(time.tv_sec.unsigned_abs())
            + Duration::from_micros(time.tv_usec.unsigned_abs())
    };
    Ok((status, time(usage.ru_utime) + time(usage.ru_stime)))
}

impl Report {
    fn table(&self) -> String {
        let columns = [
            ("what", Align::Left),
            ("stock µs", Align::Right),
            ("outboard µs", Align::Right),
            ("added µs", Align::Right),
            ("quartiles", Align::Left),
            ("added CPU µs", Align::Right),
        ];
        let rows: Vec<Vec<String>> = self
            .costs
            .iter()
            .map(|cost| {
                vec![
                    cost.what.clone(),
                    format!("{:.0}", cost.stock_us),
                    format!("{:.0}", cost.outboard_us),
                    format!("{:.0}", cost.added_us),
                    format!("{:.0} to {:.0}", cost.low, cost.high),
                    format!("{:.0}", cost.added_cpu_us),
                ]
            })
            .collect();
        format!("OpenSSL {}\n\n{}", self.libcrypto, table(&columns, &rows))
    }
}
