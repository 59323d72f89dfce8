//! `outboard-bench run` and `outboard-bench list`.

use std::path::PathBuf;
use std::process::ExitCode;

use outboard_programs::{Workplace, all_installed, missing};

use super::{Lock, Options, Peer, Progress, Session, Step, Workload, stop, summary};
use crate::Failure;
use crate::installation::{InstallationArguments, Search};
use crate::result::{Extent, ResultFile};
use crate::table::{Align, table};
use crate::workloads;

/// Options of `outboard-bench run`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// The workloads [default: all; see outboard-bench list]
    #[arg(value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Make fewer and smaller runs: all workloads in some twelve minutes
    #[arg(long)]
    quick: bool,
    /// Make the smallest possible runs; they show that everything is installed, and measure nothing
    #[arg(long, conflicts_with = "quick", hide = true)]
    tiny: bool,
    /// Measure every combination of server, key, cipher and so on (tls, ssh); this takes hours
    #[arg(long)]
    all: bool,
    /// Measure only these parts. service: nginx, haproxy, apache, postgresql, sshd, request, concurrency; token: signatures,
    /// records, objects; java: signatures, handshakes, agreements
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    only: Vec<String>,
    /// Also measure these: openssl-3.5, openssl-4.0 or NAME=PATH of a libcrypto (speed); crypto_mb or
    /// crypto_mb=PATH (cards); liberty or liberty=DIRECTORY of Open Liberty (trading); accp=JAR or
    /// conscrypt=JAR (java)
    #[arg(long, value_name = "PEER", value_delimiter = ',')]
    peers: Vec<Peer>,
    /// Write the results into this directory, one file for each workload
    #[arg(long, value_name = "DIR", default_value = "outboard-results")]
    out: PathBuf,
    #[command(flatten)]
    installation: InstallationArguments,
}

/// Options of `outboard-bench list`.
#[derive(Clone, Debug, clap::Args)]
pub struct ListArguments {}

/// As clap ends the command, which does not know the workloads.
const WRONG_USAGE: u8 = 2;

/// Runs workloads. The status is 0 if all ran to their ends with their proofs.
///
/// # Errors
/// If nothing can be measured: a program that is missing, a directory that cannot be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let chosen = match choose(&arguments.workloads) {
        Ok(chosen) => chosen,
        Err(unknown) => {
            eprintln!("outboard-bench: {unknown}");
            return Ok(ExitCode::from(WRONG_USAGE));
        }
    };
    for peer in &arguments.peers {
        if !chosen.iter().any(|workload| workload.takes(peer)) {
            let all = workloads::all().into_iter();
            let takers: Vec<_> = all
                .filter(|workload| workload.takes(peer))
                .map(|one| one.name())
                .collect();
            let (name, takers) = (&peer.name, takers.join(", "));
            return Err(format!("only these workloads can measure {name}: {takers}").into());
        }
    }
    for part in &arguments.only {
        let parts = chosen.iter().flat_map(|workload| workload.parts());
        let parts: Vec<&str> = parts.copied().collect();
        if !parts.contains(&part.as_str()) {
            let parts = match parts.is_empty() {
                true => "they have none".to_owned(),
                false => format!("the parts are {}", parts.join(", ")),
            };
            eprintln!("outboard-bench: the workloads have no part {part} ({parts})");
            return Ok(ExitCode::from(WRONG_USAGE));
        }
    }
    let programs: Vec<&str> = chosen
        .iter()
        .flat_map(|workload| workload.programs())
        .copied()
        .collect();
    all_installed(&programs)?;
    std::fs::create_dir_all(&arguments.out)
        .map_err(|error| format!("cannot make {}: {error}", arguments.out.display()))?;
    // Check before the measurement, which takes minutes, whether results can be written.
    tempfile::tempfile_in(&arguments.out)
        .map_err(|error| format!("cannot write into {}: {error}", arguments.out.display()))?;
    stop::on_signals(&arguments.out)?;
    // The tests' runs, as small as can be, measure nothing that counts.
    let _lock = (!arguments.tiny).then(Lock::take).transpose()?;
    let search = Search::new(&arguments.installation, !arguments.tiny)?;
    let options = Options {
        extent: match (arguments.quick, arguments.tiny) {
            (_, true) => Extent::Tiny,
            (true, false) => Extent::Quick,
            (false, false) => Extent::Full,
        },
        all: arguments.all,
        only: arguments.only.clone(),
        peers: arguments.peers.clone(),
    };
    let plans = chosen.iter().flat_map(|workload| workload.plan(&options));
    let plans: f64 = plans.map(|step| step.seconds).sum();
    let calibration = Step::new(
        "each operation, for the choice of paths",
        search.seconds_to_calibrate(),
    );
    let mut progress = Progress::new(plans + calibration.seconds);
    if calibration.seconds > 0.0 {
        progress.workload("calibrating");
        // As text, because a failure may not cross from one thread to another.
        let calibrate = || {
            let calibrated = search.calibrate();
            calibrated
                .map(|_| ())
                .map_err(|failure| failure.to_string())
        };
        if let Err(failure) = progress.pass(calibration, calibrate) {
            stop::wait_if_stopped();
            return Err(failure.into());
        }
    }
    let installation = search.installation()?;
    let in_process = Workplace::new()?;
    let mut results = Vec::new();
    for workload in &chosen {
        let mut session = Session::begin(
            workload.as_ref(),
            &options,
            &installation,
            &in_process,
            &arguments.out,
            &mut progress,
        )?;
        let outcome = workload.run(&mut session);
        results.push(session.finish(outcome)?);
    }
    progress.clear();
    for result in &results {
        print!("{}", summary::of(result));
    }
    println!("The figures are in {}", arguments.out.display());
    Ok(if results.iter().all(ResultFile::is_valid) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Lists the workloads: what they measure, how long they take and what they lack here.
///
/// # Errors
/// None today.
pub fn list(_: &ListArguments) -> Result<ExitCode, Failure> {
    let mut columns = vec![
        ("workload", Align::Left),
        ("quick", Align::Right),
        ("full", Align::Right),
        ("what it measures", Align::Left),
        ("to install", Align::Left),
    ];
    let mut rows: Vec<Vec<String>> = workloads::all()
        .iter()
        .map(|workload| {
            let seconds = |extent| {
                let options = Options {
                    extent,
                    all: false,
                    only: Vec::new(),
                    peers: Vec::new(),
                };
                let steps = workload.plan(&options);
                let seconds: f64 = steps.iter().map(|step| step.seconds).sum();
                format!("{seconds:.0} s")
            };
            let mut packages: Vec<&str> = missing(workload.programs())
                .iter()
                .map(|program| program.package)
                .collect();
            packages.sort_unstable();
            packages.dedup();
            vec![
                workload.name().to_owned(),
                seconds(Extent::Quick),
                seconds(Extent::Full),
                workload.summary().to_owned(),
                packages.join(" "),
            ]
        })
        .collect();
    if rows
        .iter()
        .all(|row| row.last().is_some_and(String::is_empty))
    {
        columns.pop();
        rows.iter_mut().for_each(|row| row.truncate(columns.len()));
    }
    print!("{}", table(&columns, &rows));
    Ok(ExitCode::SUCCESS)
}

/// In the order in which they are listed, each once.
fn choose(names: &[String]) -> Result<Vec<Box<dyn Workload>>, Failure> {
    let all = workloads::all();
    let known = |name: &&String| all.iter().any(|workload| workload.name() == *name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let names: Vec<&str> = all.iter().map(|workload| workload.name()).collect();
        return Err(format!(
            "there is no workload {unknown} (the workloads are {})",
            names.join(", ")
        )
        .into());
    }
    Ok(all
        .into_iter()
        .filter(|workload| names.is_empty() || names.iter().any(|name| name == workload.name()))
        .collect())
}
