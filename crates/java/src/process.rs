//! What this process has opened: the ledger, the cards, and its connection to the card service.

use std::sync::OnceLock;

use outboard_client::{self as client, Client};
use outboard_engine::card::{Output, Request};
use outboard_engine::fork;
use outboard_engine::front::{Paths, Settings};
use outboard_engine::{Operation, Path};

use crate::error::{Error, Result};

/// The one of this process: the settings of the first one that opens it count.
static PROCESS: OnceLock<Process> = OnceLock::new();

struct Process {
    paths: Paths,
    settings: client::Settings,
    /// Made when it is first asked.
    client: OnceLock<Client>,
}

/// Opens it.
pub(crate) fn open(settings: &str) {
    outboard_guest::silence();
    fork::watch();
    PROCESS.get_or_init(|| {
        let settings = Settings::read(settings);
        Process {
            paths: settings.open(true),
            settings: client::Settings::told(settings.service.as_deref(), settings.limit),
            client: OnceLock::new(),
        }
    });
}

/// Runs a request on the path that the profile says.
pub(crate) fn run(request: Request) -> Result<Output> {
    Ok(get()?.paths.run(request)?)
}

/// The path of an operation of ML-KEM.
pub(crate) fn path(operation: Operation) -> Result<Path> {
    Ok(get()?.paths.of(operation))
}

/// The card service.
pub(crate) fn service() -> Result<&'static Client> {
    let process = get()?;
    let make = || Client::new(process.settings.clone());
    Ok(process.client.get_or_init(make))
}

fn get() -> Result<&'static Process> {
    PROCESS.get().ok_or(Error::Misused)
}
