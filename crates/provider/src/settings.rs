//! What the provider's section of `openssl.cnf` says.

use std::ffi::{CStr, CString};
use std::path::{Path as FilePath, PathBuf};

use outboard_engine::card::BreakEven;
use outboard_engine::profile::{Choices, Decision, SYSTEM_PATH};
use outboard_engine::settings::{self, Offer, PostQuantum};
use outboard_engine::{Machine, Operation, Path, ledger};
use outboard_provider_abi::Core;

/// The settings of one library context.
pub(crate) struct Settings {
    /// Where to count.
    pub(crate) ledger: PathBuf,
    /// How many cards at most; none for one per core.
    pub(crate) cards: Option<usize>,
    /// Whether a job of OpenSSL's is paused while a card works for it.
    pub(crate) asynchronous: bool,
    /// What programs get of post-quantum algorithms where their OpenSSL has none.
    pub(crate) post_quantum: PostQuantum,
    /// How the card service is asked; none where there is none.
    pub(crate) service: Option<outboard_client::Settings>,
    /// What was not understood, and is passed over.
    pub(crate) complaints: Vec<String>,
    offer: Offer,
    profile: PathBuf,
    algorithms: Option<String>,
}

/// Whether this process is to be served. The program's name is asked for only where a setting needs it.
fn is_served(programs: Option<&str>, except: Option<&str>) -> bool {
    if programs.is_none() && except.is_none() {
        return true;
    }
    let program = std::env::current_exe().ok();
    let name = program
        .as_deref()
        .and_then(|program| program.file_name()?.to_str());
    // Once its package was updated, a program's file is called "nginx (deleted)".
    let name = name.map(|name| name.strip_suffix(" (deleted)").unwrap_or(name));
    // Without /proc, nobody knows: a list of exceptions may be about this program.
    name.is_some_and(|name| settings::serves(programs, except, name))
}

/// Whether there is such a file. Costs one system call, which is all that a machine without a card service pays.
fn is_there(path: &FilePath) -> bool {
    let path = CString::new(path.as_os_str().as_encoded_bytes());
    // SAFETY: a terminated text.
    path.is_ok_and(|path| unsafe { libc::access(path.as_ptr(), libc::F_OK) } == 0)
}

impl Settings {
    /// Reads them. A value that makes no sense is treated as if it were not there, and complained of: a
    /// program must not fail because of us.
    pub(crate) fn of(core: &Core) -> Self {
        let text = |name: &CStr| core.setting(name).filter(|value| !value.is_empty());
        let mut complaints = Vec::new();
        let mut understood = |error: Result<(), String>| complaints.extend(error.err());
        let (mut offer, mut cards, mut asynchronous) = (Offer::Profile, None, true);
        if let Some(value) = text(c"offer") {
            understood(settings::offer(&value).map(|value| offer = value));
        }
        if let Some(value) = text(c"cards") {
            understood(settings::cards(&value).map(|value| cards = value));
        }
        if let Some(value) = text(c"async") {
            understood(settings::asynchronous(&value).map(|value| asynchronous = value));
        }
        let algorithms = text(c"algorithms");
        if let Some(value) = &algorithms {
            understood(settings::algorithms(value).1.map_or(Ok(()), Err));
        }
        let mut post_quantum = PostQuantum::No;
        if let Some(value) = text(c"post-quantum") {
            understood(settings::post_quantum(&value).map(|value| post_quantum = value));
        }
        let (programs, except) = (text(c"programs"), text(c"except"));
        let served = is_served(programs.as_deref(), except.as_deref());
        if !served {
            offer = Offer::None;
        }
        let mut limit = None;
        if let Some(value) = text(c"service-limit") {
            understood(settings::service_limit(&value).map(|value| limit = Some(value)));
        }
        let directory =
            text(c"service").map_or_else(|| outboard_wire::SYSTEM_DIRECTORY.into(), PathBuf::from);
        // For every program: a server that is left out has a reference in its key file, too.
        let service = is_there(&directory).then(|| {
            let mut service = outboard_client::Settings::of(&directory);
            service.limit = limit.unwrap_or(service.limit);
            service
        });
        Self {
            service,
            ledger: text(c"ledger").map_or_else(
                // SAFETY: has no preconditions.
                || ledger::default_path(unsafe { libc::geteuid() }),
                PathBuf::from,
            ),
            profile: text(c"profile").map_or_else(|| SYSTEM_PATH.into(), PathBuf::from),
            cards,
            asynchronous,
            post_quantum,
            complaints,
            offer,
            algorithms,
        }
    }

    /// The path of each operation, and when the lanes pay.
    pub(crate) fn choices(&self, core: &Core) -> (Choices, BreakEven) {
        let (mut choices, break_even) = match self.offer {
            Offer::None => (Choices::default(), BreakEven::default()),
            Offer::All => (self.all(), BreakEven::built_in(&Machine::glance())),
            Offer::Profile => {
                let version = core.setting(c"openssl-version").unwrap_or_default();
                let machine = Machine::glance();
                let decision = Decision::load(&self.profile, &machine, &version)
                    .unwrap_or_else(|_| Decision::built_in(&machine, &version));
                (decision.choices, decision.break_even)
            }
        };
        if let Some(list) = &self.algorithms {
            let (among, _) = settings::algorithms(list);
            for &operation in Operation::ALL
                .iter()
                .filter(|&&operation| !among(operation))
            {
                choices.set(operation, Path::Stock);
            }
        }
        (choices, break_even)
    }

    /// Everything, on cards where there may be any, and across the lanes where not.
    fn all(&self) -> Choices {
        let in_lanes = match self.cards {
            Some(0) => Path::Wide,
            _ => Path::Card,
        };
        let mut choices = Choices::default();
        for &operation in Operation::ALL {
            let path = match operation {
                _ if operation.has_lanes() => in_lanes,
                _ if operation.is_wide_alone() => Path::Wide,
                _ => Path::Scalar,
            };
            choices.set(operation, path);
        }
        choices
    }
}
