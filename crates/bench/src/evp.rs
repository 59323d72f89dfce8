//! Each operation through EVP: stock and Outboard, alternating in one process.
//!
//! Two library contexts of one libcrypto, one of them with the provider preferred, take turns every
//! few milliseconds; the figure is the median of the ratios, which other load on the machine hardly
//! moves. Two stock contexts run first, as a control of the method.

mod report;
mod target;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use outboard_measure::{Keys, Library, Offer, Outcome, Plan, Sides, Workload, duel};

use crate::installation::find_module;
use crate::suite::Lock;
use report::{Measured, Report};

/// Options of `outboard-bench evp`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The provider [default: beside this program, else in OpenSSL's modules directory]
    #[arg(long, value_name = "PATH")]
    module: Option<PathBuf>,
    /// Measure in this libcrypto
    #[arg(long, value_name = "PATH", default_value = Library::SYSTEM)]
    libcrypto: PathBuf,
    /// Which operations Outboard offers: those that win according to the profile, or all
    #[arg(long, value_enum, default_value_t = OfferArgument::Profile)]
    offer: OfferArgument,
    /// The profile [default: the system's, else the built-in measurements for this processor class]
    #[arg(long, value_name = "PATH")]
    profile: Option<PathBuf>,
    /// Only workloads with one of these texts in their names
    #[arg(value_name = "NAME")]
    only: Vec<String>,
    /// The approximate total time, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 90.0)]
    time: f64,
    /// Print the results as JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Write the results as JSON to this file
    #[arg(long, value_name = "PATH", default_value = "target/bench/evp.json")]
    output: PathBuf,
    /// End with status 1 if a target is missed
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OfferArgument {
    Profile,
    All,
}

/// Runs it.
///
/// # Errors
/// In words for the user.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let module = find_module(arguments.module.as_deref())?;
    let _lock = Lock::take()?;
    let library = Library::open(&arguments.libcrypto)?;
    let offer = match arguments.offer {
        OfferArgument::All => Offer::Scalar,
        OfferArgument::Profile => Offer::Profile(arguments.profile.clone()),
    };
    let sides = Sides::new(&library, &module, &offer)?;
    let control = Sides::stock_twice(&library)?;
    let keys = Keys::new(&sides.stock);

    let wanted = |workload: &Workload| {
        arguments.only.is_empty()
            || arguments
                .only
                .iter()
                .any(|part| workload.name.contains(part))
    };
    let mut contests: Vec<(Group, Workload)> = Vec::new();
    for group in Group::ALL {
        contests.extend(
            group
                .workloads()
                .into_iter()
                .filter(wanted)
                .map(|w| (group, w)),
        );
    }
    if contests.iter().all(|(group, _)| *group == Group::Control) {
        return Err(format!("there is no workload {}", arguments.only.join(" or ")).into());
    }
    let plan = Plan {
        budget: Duration::from_secs_f64(arguments.time.clamp(1.0, 3600.0) / contests.len() as f64),
        ..Plan::default()
    };

    let mut measured = Vec::new();
    for (done, (group, workload)) in contests.iter().enumerate() {
        progress(done, contests.len(), &workload.name);
        let sides = if *group == Group::Control {
            &control
        } else {
            &sides
        };
        let outcome = measure(workload, sides, &keys, &plan)
            .map_err(|error| format!("{}, {} bytes: {error}", workload.name, workload.size))?;
        let (outcome, served_by) = outcome;
        measured.push(Measured::new(
            *group,
            workload,
            served_by.as_deref(),
            &outcome,
        ));
    }
    progress_ends();

    let report = Report::new(
        &library,
        &module,
        arguments.offer == OfferArgument::All,
        measured,
    );
    report.save(&arguments.output)?;
    if arguments.json {
        println!("{}", report.json()?);
    } else {
        print!("{}", report.table());
    }
    let failed = arguments.check && report.misses() > 0;
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The outcome, and the provider that served Outboard's side, if OpenSSL reports it.
fn measure(
    workload: &Workload,
    sides: &Sides,
    keys: &Keys,
    plan: &Plan,
) -> outboard_measure::Result<(Outcome, Option<String>)> {
    let mut stock = workload.prepare(&sides.stock, keys)?;
    let mut outboard = workload.prepare(&sides.outboard, keys)?;
    let outcome = duel(stock.contender(), outboard.contender(), plan)?;
    Ok((outcome, outboard.served_by))
}

/// Which part of the report a workload belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Control,
    Operations,
    Extractions,
    Records,
    Loading,
    PassThrough,
}

impl Group {
    const ALL: [Self; 6] = [
        Self::Control,
        Self::Operations,
        Self::Extractions,
        Self::Records,
        Self::Loading,
        Self::PassThrough,
    ];

    fn title(self) -> &'static str {
        match self {
            Self::Control => "control: stock against stock",
            Self::Operations => "operations",
            Self::Extractions => "the other half of TLS13-KDF",
            Self::Records => "records, as protocols seal them",
            Self::Loading => "reading keys, and using a key that was just read",
            Self::PassThrough => "left to stock",
        }
    }

    fn workloads(self) -> Vec<Workload> {
        match self {
            Self::Control => Workload::control(),
            Self::Operations => Workload::operations(),
            Self::Extractions => Workload::extractions(),
            Self::Records => Workload::records(),
            Self::Loading => Workload::loading(),
            Self::PassThrough => Workload::pass_through(),
        }
    }
}

/// Shows the progress on a terminal.
fn progress(done: usize, total: usize, name: &str) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        // A progress line that cannot be written is no reason to stop.
        let _ = write!(terminal, "\r\x1b[K[{done}/{total}] {name}");
        let _ = terminal.flush();
    }
}

fn progress_ends() {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        let _ = write!(terminal, "\r\x1b[K");
    }
}
