//! The card service's program, outboardd.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use outboard_engine::profile::settings::service_limit;
use outboard_service::{Settings, restore, serve, serve_agent, serve_verbs};
use outboard_wire::SERVICE_LIMIT;

/// Hold private keys for programs that face the network
///
/// Programs with Outboard ask this service for each operation with a private key. 'outboard keys' says which keys it
/// has and who may use them. systemd starts it for the system; 'outboard service start --directory DIR' starts one
/// for development. ssh clients talk to a second process ('outboardd --agent'), which asks the service.
#[derive(Parser)]
#[command(name = "outboardd", version)]
struct Arguments {
    /// The directory of the sockets
    #[arg(long, value_name = "DIR", default_value = "/run/outboard")]
    directory: PathBuf,
    /// The directory of the store; otherwise 'store' in the sockets' directory, with a master key in a file
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Put a backup ('outboard keys backup') in the place of the store, and end; no service may run
    #[arg(long, value_name = "FILE")]
    restore: Option<PathBuf>,
    /// Serve ssh clients for the service of the directory, and hold no key
    #[arg(long, conflicts_with_all = ["store", "restore", "ledger"])]
    agent: bool,
    /// Carry out the coprocessor's verbs; the service itself starts this process
    #[arg(long, hide = true, conflicts_with_all = ["store", "restore", "ledger", "agent"])]
    verbs: bool,
    /// How many seconds an ssh client's request is tried while the service restarts, from 1 to 600 [default: 5]
    #[arg(long, value_name = "SECONDS", value_parser = limit, requires = "agent")]
    service_limit: Option<Duration>,
    /// The file of the counters
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
}

fn limit(text: &str) -> Result<Duration, &'static str> {
    service_limit(text).map_err(|_| "it takes a number of seconds from 1 to 600")
}

/// Between two starts that fail.
const PAUSE: Duration = Duration::from_secs(5);

fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .without_time()
        .with_target(false)
        .with_ansi(false)
        .with_writer(std::io::stderr)
        // A log that nobody reads any more must not end the service.
        .log_internal_errors(false)
        .init();
    let started = Instant::now();
    let arguments = Arguments::parse();
    let settings = Settings {
        directory: arguments.directory,
        store: arguments.store,
        ledger: arguments.ledger,
    };
    let outcome = match &arguments.restore {
        Some(backup) => restore(&settings, backup),
        None if arguments.verbs => serve_verbs(),
        None if arguments.agent => {
            let limit = arguments.service_limit.unwrap_or(SERVICE_LIMIT);
            serve_agent(&settings.directory, limit)
        }
        None => serve(&settings),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error}");
            // systemd starts a service that ended again at once. What ends it at its start will do so again.
            let is_systemd_s = std::env::var_os("NOTIFY_SOCKET").is_some() && !arguments.verbs;
            if is_systemd_s && started.elapsed() < PAUSE {
                std::thread::sleep(PAUSE);
            }
            ExitCode::FAILURE
        }
    }
}
