//! ssh, nginx and curl as Debian ships them, on loopback, with stock OpenSSL and with Outboard.
//!
//! ```text
//! Setting      options, programs, cores, the two configurations
//!   ├─ secure_shell   scp and sftp through a real sshd: client, server, both
//!   ├─ handshakes     full TLS 1.3 handshakes with nginx, by certificate
//!   └─ download       curl from nginx over TLS 1.3
//!        └─▶ Row      CPU time stock / Outboard, ratio, proof from the ledger ──▶ report
//! ```
//!
//! This compares CPU time (user and system, as the kernel accounts it), not elapsed time. CPU time is what users pay for,
//! and it is steadier on a machine with other work. Contenders alternate. A ratio is one of neighbours in time.

mod download;
mod handshakes;
pub(crate) mod progress;
mod report;
mod secure_shell;
mod setting;
mod statistics;

use std::process::ExitCode;

use outboard_programs::clean_up_on_signals;
use progress::Progress;
use report::Report;
use setting::Setting;

use crate::Failure;
use crate::installation::InstallationArguments;
use crate::suite::Lock;

/// `outboard-bench first-light`.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
    /// Make fewer and smaller runs: under a minute, for a first look
    #[arg(long)]
    quick: bool,
    /// Compare stock with stock; every difference is then noise
    #[arg(long)]
    null: bool,
    /// Only workloads with this text in their names
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
    #[command(flatten)]
    installation: InstallationArguments,
}

/// Runs the workloads and prints the table. The status is 0 if every row has its proof.
///
/// # Errors
/// If a program is missing or fails.
pub fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    clean_up_on_signals()?;
    let _lock = Lock::take()?;
    let setting = Setting::new(arguments)?;
    let steps = setting.plan();
    if steps == 0 {
        let only = arguments.only.as_deref().unwrap_or_default();
        return Err(format!(
            "no workload has '{only}' in its name (the names stand in the first column of the table, without --only)"
        )
        .into());
    }
    let mut progress = Progress::new(steps);
    let mut rows = secure_shell::run(&setting, &mut progress)?;
    rows.extend(handshakes::run(&setting, &mut progress)?);
    rows.extend(download::run(&setting, &mut progress)?);
    progress.finish();

    let report = Report::new(&setting, rows);
    if arguments.json {
        println!("{}", report.json()?);
    } else {
        print!("{}", report.text(room()));
    }
    Ok(if report.is_valid() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// How many characters a line of standard output has room for: without end where it is no terminal.
fn room() -> usize {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    match size.map_or(0, |size| usize::from(size.ws_col)) {
        0 => usize::MAX,
        columns => columns,
    }
}
