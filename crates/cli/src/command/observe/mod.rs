//! `outboard observe`: what programs' cryptography is, and what it costs.
//!
//! The report itself is `outboard-observe-report`'s; text and sizes write it for people.

mod sizes;
mod text;

use crate::Failure;
use crate::output::{self, To, print, print_json, remark};
use crate::stage::Stage;
use crate::supervise::supervise;
use clap::ValueHint;
use outboard_file_replacement as replace;
use outboard_installation::{self as installation, InForce, module};
use outboard_observation::{self as observation, FileError, Record, RecordError};
use outboard_observe_report::cpu::{self, Times, Watch};
use outboard_observe_report::{Report, Services, Sources, bill_of_materials};
use outboard_openssl_conf::{self as openssl_conf, Config, Observer, Offer, Settings};
use outboard_profile::{Machine, Profile, Rollout};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const EXAMPLES: &str = "\
Examples:
  outboard observe -- scp file host:        Show what a transfer costs
  outboard observe -- curl -O URL           Show algorithms, keys, time, share
  outboard observe --cbom cbom.json -- PROGRAM
                                            Also write a bill of materials
  outboard observe --all                    Show services after enable --observe

An observing provider counts and times each call of OpenSSL's EVP interface, and forwards the call to the real \
provider. The program reads a temporary OpenSSL configuration, which keeps all of the system's own settings. The \
report appears on standard error after the program has ended. With --json, it goes to standard output, or to the \
file that --output names.

Exit status: the program's, as with 'outboard run'; 1 if the program succeeded, but the report could not be \
made or written.";

/// Show a program's cryptography and its cost
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Switch Outboard on for the program, and observe both Outboard and OpenSSL
    #[arg(long, conflicts_with = "stock", requires = "program")]
    accelerate: bool,
    /// Observe only OpenSSL, even if this system uses Outboard
    #[arg(long, requires = "program")]
    stock: bool,
    /// Which operations Outboard offers [default: profile]
    #[arg(long, value_name = "WHICH", requires = "accelerate")]
    offer: Option<Offer>,
    /// Show each process separately
    #[arg(long)]
    processes: bool,
    /// Show the sizes of the pieces of data
    #[arg(long)]
    sizes: bool,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    /// Write the report to this file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write a cryptographic bill of materials (CycloneDX 1.6) to this file
    #[arg(long, value_name = "FILE")]
    cbom: Option<PathBuf>,
    /// Count in this record, which stays; without a program, read it
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Show the services of all users whose record you may read
    #[arg(long, conflicts_with_all = ["record", "program"])]
    all: bool,
    /// Set the counters to zero
    #[arg(long, conflicts_with_all = ["program", "json", "cbom", "output", "processes", "sizes"])]
    reset: bool,
    /// Use this profile for the possible saving, instead of yours or the system's
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Use this observing module instead of the installed one
    #[arg(long, value_name = "FILE")]
    observer: Option<PathBuf>,
    /// Use this provider module for --accelerate instead of the installed one
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// The program and its arguments; without a program, the report is about services
    #[arg(
        trailing_var_arg = true,
        value_hint = ValueHint::CommandWithArguments,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    // A user who names a profile wants exactly that one. Do not report built-in measurements in its place.
    if let Some(path) = &arguments.profile {
        Profile::load(
            path,
            &Machine::detect(),
            &installation::library()?.version(),
        )?;
    }
    match arguments.program.split_first() {
        Some((program, rest)) => observe(&arguments, program, rest),
        None => services(&arguments),
    }
}

/// Runs the program, observed, and reports.
fn observe(
    arguments: &Arguments,
    program: &OsString,
    rest: &[OsString],
) -> Result<ExitCode, Failure> {
    let library = installation::library()?;
    let stage = Stage::new()?;
    let record = match &arguments.record {
        Some(record) => std::path::absolute(record)?,
        None => stage.path().join("record"),
    };
    // Report an error before the program has done anything.
    for file in arguments.cbom.iter().chain(&arguments.output) {
        replace::check(file).map_err(|error| cannot_write(file, &error))?;
    }
    let has_earlier_work = match record.exists() {
        true => {
            let earlier = Record::read(&record).map_err(|error| arguments.no_record(error))?;
            !earlier.processes.is_empty()
        }
        false => {
            observation::create(&record)?;
            false
        }
    };
    let observer = Observer {
        module: module::find_observer(arguments.observer.as_deref(), Some(&library))?,
        record: Some(record.clone()),
        beside: false,
    };
    let in_force = InForce::find(&library)?;
    let (text, unobserved) = compose(arguments, &in_force, &observer, &library, &stage)?;
    let configuration = stage.write("openssl.cnf", &text, in_force.path())?;

    let mut command = Command::new(program);
    command.args(rest).env("OPENSSL_CONF", &configuration);
    let before = cpu::of_children();
    let watch = Watch::start(&record);
    let end = supervise(&mut command);
    let times = watch.stop();
    let used = cpu::of_children() - before;
    let end = match end {
        Ok(end) => end,
        Err(status) => return Ok(status),
    };
    let cpu = match () {
        () if end.left_processes => Err("processes that the program started still run"),
        () if has_earlier_work => Err("the record also contains earlier work"),
        () => Ok(used),
    };
    let name = Path::new(program)
        .file_name()
        .unwrap_or(program)
        .to_string_lossy()
        .into_owned();
    let told = Record::read(&record)
        .map_err(Failure::from)
        .and_then(|record| {
            let report = arguments.report(record, Some(name), cpu, &times, &unobserved);
            arguments.tell(&report, false)
        });
    if end.left_processes {
        stage.keep();
    }
    Ok(end.exit_code(told))
}

/// Reports what services did.
fn services(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let own = observation::default_path(rustix::process::geteuid().as_raw());
    let paths = match &arguments.record {
        Some(record) => vec![record.clone()],
        None if arguments.all => observation::all_paths(),
        None => vec![own.clone()],
    };
    if arguments.reset {
        return Ok(arguments.reset(&paths));
    }
    let mut services = match arguments.all {
        true => Services::of_all(&paths),
        false => {
            let path = arguments.record.as_ref().unwrap_or(&own);
            Services::of_one(path).map_err(|error| arguments.no_record(error))?
        }
    };
    for note in &services.notes {
        remark(&format!("outboard: note: {note}"));
    }
    let record = services.record.take();
    let record = record.ok_or_else(|| arguments.no_record(observation::missing(&own)))?;
    let cpu = services.cpu(&record.processes);
    let report = arguments.report(record, None, cpu, &services.times, &unobserved());
    arguments.tell(&report, true)?;
    Ok(ExitCode::SUCCESS)
}

/// The providers of this system that are not observed; none where its configuration cannot be understood.
fn unobserved() -> Vec<String> {
    let configured = || {
        let in_force = InForce::find(&installation::library()?)?;
        let text = in_force.read()?;
        let config = Config::parse(&text, in_force.name(), installation::environment)?;
        Ok::<_, Failure>(config.unobserved())
    };
    configured().unwrap_or_default()
}

impl Arguments {
    /// Sets the counters of each record to zero, even if another record has an error. With --all, a record may disappear
    /// after it was listed; that is no error.
    fn reset(&self, paths: &[PathBuf]) -> ExitCode {
        let mut outcome = ExitCode::SUCCESS;
        for path in paths {
            match observation::reset(path) {
                Ok(()) => {}
                Err(error) if self.all && error.is_missing() => {}
                Err(error) => {
                    output::complain(&self.no_record(error).to_string());
                    outcome = ExitCode::FAILURE;
                }
            }
        }
        outcome
    }

    /// The error for a record that cannot be read. For a missing record, it says how to make one.
    fn no_record(&self, error: RecordError) -> Failure {
        let path = error.path.display();
        match (&error.reason, &self.record) {
            (FileError::Missing, Some(_)) => format!(
                "there is no record {path} ('outboard observe --record {path} -- PROGRAM' makes it)"
            )
            .into(),
            (FileError::Missing, None) => format!(
                "there is no record {path} (after 'outboard enable --observe', the next program that starts \
                 makes it; to observe one program, run 'outboard observe -- PROGRAM')"
            )
            .into(),
            // This may be another file that something needs, so do not advise to remove it.
            (reason @ (FileError::NotRegular | FileError::WrongSize | FileError::WrongBeginning), Some(_)) => {
                format!("{path} is not a record: {reason} (name another file)").into()
            }
            _ => error.into(),
        }
    }

    fn report(
        &self,
        record: Record,
        program: Option<String>,
        cpu: Result<u64, &'static str>,
        times: &Times,
        unobserved: &[String],
    ) -> Report {
        let path = self.profile.clone().unwrap_or_else(installation::profile);
        let version =
            installation::library().map_or_else(|_| String::new(), |library| library.version());
        let (profile, _) = Profile::in_force(&path, &Machine::detect(), &version);
        Report::new(
            record,
            Sources {
                program,
                cpu,
                times,
                unobserved,
                profile: &profile,
            },
        )
    }

    /// Writes the report to the requested places. Standard output belongs to the program, so the table goes there only if
    /// no program ran. If one place fails, the others still get the report.
    fn tell(&self, report: &Report, alone: bool) -> Result<(), Failure> {
        let bill = self.cbom.as_ref().map_or(Ok(()), |file| {
            // Services may have run with an earlier one.
            let library = self
                .program
                .first()
                .and_then(|_| installation::library().ok());
            let version = library.map(|library| library.version());
            let bill = bill_of_materials(report, version.as_deref());
            let text = serde_json::to_string_pretty(&bill)? + "\n";
            write(file, text.as_bytes())
        });
        let to = match self.output {
            Some(_) => To::File,
            None if alone => To::Stdout,
            None => To::Stderr,
        };
        let text = match self.json {
            true => output::json(SCHEMA, report)?,
            false => text::of(report, self.processes || alone, self.sizes, to),
        };
        let told = match (&self.output, self.json || alone) {
            (Some(file), _) => {
                let plain = anstream::adapter::strip_str(&text).to_string();
                let written = write(file, plain.as_bytes());
                if written.is_err() {
                    remark(text.trim_end());
                }
                written
            }
            (None, true) if self.json => print_json(SCHEMA, report).map_err(Failure::from),
            (None, true) => print(&text).map_err(Failure::from),
            (None, false) => {
                remark(text.trim_end());
                Ok(())
            }
        };
        bill.and(told)
    }
}

const SCHEMA: &str = "outboard-observe";

fn write(file: &Path, text: &[u8]) -> Result<(), Failure> {
    replace::write(file, text).map_err(|error| cannot_write(file, &error))
}

fn cannot_write(file: &Path, error: &std::io::Error) -> Failure {
    format!("cannot write {}: {error}", file.display()).into()
}

/// The configuration for the program: the one in force, observed; and the providers in it that are not.
fn compose(
    arguments: &Arguments,
    in_force: &InForce,
    observer: &Observer,
    library: &outboard_libcrypto::Library,
    stage: &Stage,
) -> Result<(Vec<u8>, Vec<String>), Failure> {
    let (file, text) = (in_force.name(), in_force.read()?);
    let configured = Config::parse(&text, file, installation::environment)?.outboard_settings();
    let base = match arguments.stock {
        true => in_force.without_outboard()?,
        false => openssl_conf::strip(&text)?,
    };
    let mut settings = match configured {
        _ if arguments.stock => None,
        Some(settings) => Some(settings),
        None if arguments.accelerate => Some(Settings {
            profile: Some(installation::profile()),
            ledger: Some(stage.path().join("ledger")),
            offer: arguments.offer,
            ..Settings::default()
        }),
        None => None,
    };
    if let Some(settings) = &mut settings {
        if arguments.accelerate {
            // This program, whichever the system's configuration serves.
            Rollout::default().write(&mut settings.others);
        }
        let named = arguments.module.as_deref().or(settings.module.as_deref());
        settings.module = Some(module::find(named, Some(library))?);
        if let Some(profile) = &arguments.profile {
            settings.profile = Some(std::path::absolute(profile)?);
        }
    }
    let observed = openssl_conf::observe(
        &base,
        file,
        settings.as_ref(),
        observer,
        installation::environment,
    )?;
    for note in observed.notes {
        remark(&format!("outboard: note: {note}"));
    }
    Ok((observed.text, observed.unobserved))
}
