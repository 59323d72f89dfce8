//! The provider: what every context and key of a library context shares, and the algorithms offered.

use std::ffi::CStr;
use std::sync::Arc;
use std::time::Instant;

use once_cell::race::OnceBox;
use outboard_client::Client;
use outboard_engine::card::{self, Output, Request};
use outboard_engine::ledger;
use outboard_engine::profile::Choices;
use outboard_engine::settings::PostQuantum;
use outboard_engine::{Operation, Path, fork, scalar};
use outboard_libcrypto::{Encryptions, Library};
use outboard_provider_abi::raw::{Algorithm, Param};
use outboard_provider_abi::{Core, Error, Kind, Params, Provider, Reason, Result};

use crate::algorithms;
use crate::hashes::Hashes;
use crate::job::Job;
use crate::post_quantum;
use crate::settings::Settings;
use crate::stock::Stock;

/// The provider of one library context.
pub struct Outboard {
    shared: Arc<Shared>,
    /// What is offered of each kind, once it was asked for: then the program's own providers are there.
    lists: [OnceBox<algorithms::List>; 10],
}

/// What contexts and keys keep of it.
pub(crate) struct Shared {
    core: Core,
    choices: Choices,
    libcrypto_version: (u32, u32),
    asynchronous: bool,
    /// What programs get of post-quantum algorithms, which their OpenSSL lacks.
    post_quantum: PostQuantum,
    libcrypto: OnceBox<Option<Library>>,
    hashes: OnceBox<Hashes>,
    stock: Option<Stock>,
    service: Option<Arc<Client>>,
}

impl Provider for Outboard {
    const NAME: &'static CStr = c"Outboard";
    const VERSION: &'static CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no NUL"),
        };

    fn new(core: Core) -> Result<Self> {
        let settings = Settings::of(&core);
        let (choices, break_even) = settings.choices(&core);
        for complaint in &settings.complaints {
            core.raise(&Error::new(
                outboard_provider_abi::Reason::InvalidParameter,
                complaint.clone(),
            ));
        }
        fork::watch();
        ledger::open(&settings.ledger);
        let post_quantum = match version(&core) < (3, 5) {
            true => settings.post_quantum,
            false => PostQuantum::No,
        };
        if post_quantum != PostQuantum::No {
            post_quantum::name_objects(&core);
        }
        card::open(card::Settings {
            limit: settings.cards,
            break_even,
        });
        Ok(Self {
            lists: [const { OnceBox::new() }; 10],
            shared: Arc::new(Shared {
                core,
                choices,
                libcrypto_version: version(&core),
                asynchronous: settings.asynchronous,
                post_quantum,
                libcrypto: OnceBox::new(),
                hashes: OnceBox::new(),
                stock: Stock::reach(&core),
                service: settings
                    .service
                    .map(|service| Arc::new(Client::new(service))),
            }),
        })
    }

    fn algorithms(&self, kind: Kind) -> &[Algorithm] {
        let list = &self.lists[kind as usize];
        list.get_or_init(|| Box::new(self.offered().list(kind)))
            .as_slice()
    }

    /// Before 3.5, libssl used a group only where it and its keys come from one provider: the default
    /// provider's groups of the keys we own become ours.
    fn capabilities(&self, name: &CStr, give: &mut dyn FnMut(*const Param) -> bool) -> Result<()> {
        let wanted = self.shared.post_quantum;
        if wanted != PostQuantum::No && name == c"TLS-GROUP" {
            post_quantum::give_groups(give);
        }
        if wanted == PostQuantum::Certificates && name == c"TLS-SIGALG" {
            post_quantum::give_signature_algorithms(give);
        }
        let owned = self.offered().owned();
        if name != c"TLS-GROUP" || owned.is_empty() || self.shared.libcrypto_is_at_least(3, 5) {
            return Ok(());
        }
        let Some(stock) = self.stock() else {
            return Ok(());
        };
        stock.capabilities(name, &mut |params| {
            // SAFETY: the default provider's array, whole for the call.
            let algorithm = unsafe { Params::new(params) }.find(c"tls-group-alg");
            let algorithm = algorithm.and_then(|algorithm| algorithm.text().ok());
            let ours = owned.iter().any(|owned| {
                algorithm.is_some_and(|algorithm| algorithm.as_bytes() == owned.to_bytes())
            });
            !ours || give(params)
        });
        Ok(())
    }
}

impl Drop for Outboard {
    fn drop(&mut self) {
        card::close();
        ledger::close();
    }
}

impl Outboard {
    /// What contexts and keys keep.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// What the program would have without us.
    pub(crate) fn stock(&self) -> Option<&Stock> {
        self.shared.stock()
    }

    fn offered(&self) -> algorithms::Offered<'_> {
        algorithms::Offered::by(
            &self.shared.choices,
            self.stock(),
            self.shared.libcrypto_version,
            self.shared.service.is_some(),
            self.shared.post_quantum != PostQuantum::No,
        )
    }
}

impl Shared {
    /// Whether the program's libcrypto has that version or a later one.
    pub(crate) fn libcrypto_is_at_least(&self, major: u32, minor: u32) -> bool {
        self.libcrypto_version >= (major, minor)
    }

    /// Puts an error into the queue of a call that succeeds nevertheless.
    pub(crate) fn raise(&self, error: &Error) {
        self.core.raise(error);
    }

    /// Whether the engine should do this operation.
    pub(crate) fn offers(&self, operation: Operation) -> bool {
        self.path(operation) != Path::Stock
    }

    /// Where this operation should run.
    pub(crate) fn path(&self, operation: Operation) -> Path {
        self.choices.path(operation)
    }

    /// Runs a request on path `card`, which counts it itself. In one of OpenSSL's asynchronous jobs the job
    /// is paused meanwhile: the caller's frames may then be dropped without being unwound, so **no caller
    /// may own anything** that lives on its stack across this call.
    pub(crate) fn run_on_card(&self, request: Request) -> Result<Output> {
        match self.job() {
            Some(job) => job.run(request),
            None => card::run(request),
        }
        .map_err(refuse)
    }

    /// The asynchronous job that the caller is in.
    pub(crate) fn job(&self) -> Option<Job<'_>> {
        if self.asynchronous {
            Job::current(self.libcrypto()?)
        } else {
            None
        }
    }

    /// The libcrypto that loaded us; none where it cannot be reached.
    fn libcrypto(&self) -> Option<&Library> {
        let find = || Library::containing(self.core.address()?).ok();
        self.libcrypto.get_or_init(|| Box::new(find())).as_ref()
    }

    /// The hashes of key derivation.
    pub(crate) fn hashes(&self) -> &Hashes {
        self.hashes.get_or_init(|| Box::new(Hashes::of(&self.core)))
    }

    /// Runs an operation on that path, and counts and times it if it succeeds.
    pub(crate) fn run<R>(
        &self,
        operation: Option<Operation>,
        path: Path,
        body: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let Some(operation) = operation else {
            return body();
        };
        let started = Instant::now();
        match body() {
            Ok(result) => {
                ledger::record(operation, path, 0, started.elapsed());
                Ok(result)
            }
            Err(error) => {
                ledger::fall_back(operation, reason(&error));
                Err(error)
            }
        }
    }

    /// Fills `buffer` with randomness: the engine's, or the program's own libcrypto's where the system refuses it to the
    /// engine. A program that confines itself draws some before that, so libcrypto's may go on.
    pub(crate) fn randomise(&self, buffer: &mut [u8]) -> Result<()> {
        match scalar::randomise(buffer) {
            Err(refused @ outboard_engine::Error::Randomness) => match self.libcrypto() {
                Some(library) => library.randomise(buffer).map_err(|error| {
                    Error::new(outboard_provider_abi::Reason::Randomness, error.to_string())
                }),
                None => Err(refuse(refused)),
            },
            other => other.map_err(refuse),
        }
    }

    /// A private key's `PrivateKeyInfo`, encrypted by the program's own libcrypto.
    pub(crate) fn encrypt(&self, cipher: &CStr, passphrase: &[u8], info: &[u8]) -> Result<Vec<u8>> {
        let unreachable = crate::stock::unreachable;
        let address = self.core.address().ok_or_else(unreachable)?;
        let encryptions = Encryptions::containing(address).map_err(|_| unreachable())?;
        let context = self.core.library_context().cast();
        // SAFETY: the context that loaded us.
        let encrypted = unsafe { encryptions.encrypt(context, cipher, passphrase, info) };
        encrypted.map_err(|error| Error::new(Reason::OperationFailed, error.to_string()))
    }

    /// The card service, where there is one.
    pub(crate) fn service(&self) -> Option<&Arc<Client>> {
        self.service.as_ref()
    }

    /// What the program would have without us; none where its libcrypto cannot be reached.
    pub(crate) fn stock(&self) -> Option<&Stock> {
        self.stock.as_ref()
    }
}

/// The major and minor version of the libcrypto that loaded us; the oldest we serve if it does not say.
fn version(core: &Core) -> (u32, u32) {
    let version = core.setting(c"openssl-version").unwrap_or_default();
    let mut numbers = version.split('.').map(|number| number.parse().ok());
    match (numbers.next().flatten(), numbers.next().flatten()) {
        (Some(major), Some(minor)) => (major, minor),
        _ => (3, 0),
    }
}

/// Why an operation that ended so did not run where it might have.
pub(crate) fn reason(error: &Error) -> ledger::Reason {
    match error.reason() {
        Reason::Randomness => ledger::Reason::Randomness,
        _ => ledger::Reason::Error,
    }
}

/// An engine's error as OpenSSL shall see it.
pub(crate) fn refuse(error: outboard_engine::Error) -> Error {
    use outboard_engine::Error as Engine;
    use outboard_provider_abi::Reason;
    let reason = match error {
        Engine::InvalidKey | Engine::NoPrivateKey => Reason::InvalidKey,
        Engine::InvalidInput => Reason::InvalidParameter,
        Engine::Failed => Reason::OperationFailed,
        Engine::Resource => Reason::Resource,
        Engine::Randomness => Reason::Randomness,
    };
    Error::new(reason, error.text())
}
