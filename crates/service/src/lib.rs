//! The card service: private keys outside of the programs that face the network.
//!
//! ```text
//!   programs ──service.sock──────────────▶ gate ──▶ keys ──▶ vault (SQLite, master key)
//!   sshd, ssh ──agent.sock──▶ front ──▶    │         └─ who may do what with which key
//!                               relay.sock └──▶ work ──▶ engine: scalar | lanes
//!   outboard ──admin.sock────────────────▶ administration ──▶ keys
//!   gate ──▶ coprocessor ──pair──▶ verbs: a process of its own, in a sandbox, with outboard-cca
//!                 └──▶ their state in the vault
//! ```
//!
//! ```text
//! sockets.rs  where it listens      peer.rs     who is at the other end
//! gate/       requests and answers  company.rs  whether a short wait fills lanes
//! cards.rs    the workers as cards  usage.rs    who used which key
//! complaints.rs  what the log says, and how often
//! agent/      what ssh clients say  front/      a process of its own, which ssh clients talk to
//! limits.rs   how many connections there may be
//! visitor.rs  sockets that may bring descriptors   closing.rs  how such sockets are closed
//! keys.rs     keys that are ready   work.rs     what is done with a key
//! coprocessor/  who may call verbs, and what they store   verbs/  the process that carries them out
//! tokens.rs   what changed in tokens, and whose turn it is
//! dry.rs      all that without sockets, for the fuzzer
//! master.rs   where the master key comes from   process.rs  what the kernel keeps others from
//! ```

mod administration;
mod agent;
mod cards;
mod closing;
mod company;
mod complaints;
mod coprocessor;
#[cfg(any(test, feature = "fuzz"))]
pub mod dry;
mod front;
mod gate;
mod keys;
mod limits;
mod master;
mod peer;
mod process;
mod sockets;
mod tokens;
mod usage;
mod verbs;
mod visitor;
mod work;

use std::fs::{self, DirBuilder};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use outboard_engine::card::BreakEven;
use outboard_engine::profile::{Decision, SYSTEM_PATH};
use outboard_engine::{Machine, ledger};
use outboard_vault::Vault;
use outboard_wire::AGENT_SOCKET;
use rustix::event::{PollFd, PollFlags};

use administration::Administration;
use complaints::About;
use gate::Gate;
use keys::Keys;
use master::Source;
use sockets::Sockets;
use tokens::Tokens;
use visitor::Visitor;

pub use front::serve_agent;
pub use verbs::serve_verbs;

/// What a service is started with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where its sockets are.
    pub directory: PathBuf,
    /// Where its store is; none: in a directory of the sockets' one.
    pub store: Option<PathBuf>,
    /// Where it counts; none: where its user's programs do.
    pub ledger: Option<PathBuf>,
}

/// Why a service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Of the vault.
    #[error(transparent)]
    Vault(#[from] outboard_vault::Error),
    /// Of the file system or the sockets.
    #[error("the card service cannot {action}: {reason}")]
    System {
        /// What it cannot do.
        action: String,
        /// Why.
        reason: io::Error,
    },
}

/// That nobody else can change what is in the sockets' directory: whoever can put another socket there is taken for the service or
/// its front, and whoever can move the store, for the store.
fn only_ours(directory: &Path) -> Result<(), Error> {
    let uses = || cannot(format!("use {}", directory.display()));
    let metadata = fs::metadata(directory).map_err(uses())?;
    let us = rustix::process::geteuid().as_raw();
    let problem = match (metadata.uid(), metadata.mode() & 0o022) {
        (owner, _) if owner != us && owner != 0 => {
            format!("it belongs to uid {owner} (name a directory of uid {us})")
        }
        (_, 0) => return Ok(()),
        _ => format!(
            "others can write there (run 'chmod go-w {}')",
            directory.display()
        ),
    };
    Err(uses()(io::Error::new(
        io::ErrorKind::PermissionDenied,
        problem,
    )))
}

fn cannot(action: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
    let action = action.into();
    move |reason| Error::System { action, reason }
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// It cannot start.
pub fn serve(settings: &Settings) -> Result<(), Error> {
    process::end_on_panic();
    let locked_memory = process::harden();
    process::raise_descriptors();
    let us = rustix::process::geteuid().as_raw();
    let own_directory = |path: &Path| {
        let made = DirBuilder::new().mode(0o755).recursive(true).create(path);
        made.map_err(cannot(format!("make {}", path.display())))
    };
    own_directory(&settings.directory)?;
    let directory = fs::canonicalize(&settings.directory)
        .map_err(cannot(format!("find {}", settings.directory.display())))?;
    only_ours(&directory)?;
    let store = settings.store();
    let ledger_path = match &settings.ledger {
        Some(path) => path.clone(),
        None => ledger::default_path(us),
    };
    ledger::open(&ledger_path);
    let vault = open_vault(&store, us)?;
    let source = Source::of(&store, settings.store.is_none());
    source
        .unlock(&vault, us)
        .map_err(cannot("read the master key"))?;
    let keys = Arc::new(Keys::new(vault, &directory));

    let ends = told_to_end()?;
    let mut sockets =
        Sockets::open(&directory).map_err(cannot(format!("listen in {}", directory.display())))?;
    let service = std::mem::take(&mut sockets.service);
    let relay = sockets.relay.take();
    let agent = directory.join(AGENT_SOCKET);
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get());
    let gate = Gate::new(
        service,
        relay,
        &agent,
        Arc::clone(&keys),
        workers,
        ends.as_fd(),
    );
    let gate = Arc::new(gate.map_err(cannot("watch its sockets"))?);
    let workers: Vec<_> = (0..workers)
        .map(|card| {
            let gate = Arc::clone(&gate);
            let work = move || gate.work(card);
            std::thread::Builder::new()
                .name("worker".into())
                .spawn(work)
        })
        .collect::<Result<_, _>>()
        .map_err(cannot("start its workers"))?;
    let keeper = {
        let (gate, directory) = (Arc::clone(&gate), directory.clone());
        let keep = move || gate.coprocessor.keep(Arc::clone(&gate), &directory);
        let thread = std::thread::Builder::new().name("keeper".into());
        thread
            .spawn(keep)
            .map_err(cannot("start the keeper of the verbs"))?
    };
    let administration = Arc::new(Administration {
        keys,
        tokens: Tokens::default(),
        gate: Arc::clone(&gate),
        source,
        store: store.display().to_string(),
        since: keys::now(),
        locked_memory,
        connected: Mutex::default(),
    });
    tracing::info!("serving at {}", directory.display());
    tell_systemd("READY=1");
    listen(&administration, &sockets, ends.as_fd());
    tell_systemd("STOPPING=1");
    // What clients wait for is answered; then the workers see the end.
    gate.coprocessor.end();
    for worker in workers {
        let _ = worker.join();
    }
    let _ = keeper.join();
    // Before the gate closes its own: nobody finds files of sockets where nobody listens.
    drop(sockets);
    Ok(())
}

/// A socket that SIGTERM and SIGINT make readable, for every thread.
fn told_to_end() -> Result<UnixStream, Error> {
    let (ends, end) = UnixStream::pair().map_err(cannot("make a socket pair"))?;
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        let end = end.try_clone().map_err(cannot("copy a descriptor"))?;
        signal_hook::low_level::pipe::register(signal, end)
            .map_err(cannot("prepare for its end"))?;
    }
    Ok(ends)
}

/// Opens the store, or makes it. One that was killed a moment ago may still have it.
fn open_vault(store: &Path, us: u32) -> Result<Vault, Error> {
    let since = Instant::now();
    loop {
        match Vault::open(store) {
            Err(outboard_vault::Error::Missing { .. }) => return Ok(Vault::create(store, us)?),
            Err(outboard_vault::Error::InUse { .. }) if since.elapsed() < sockets::DYING => {
                std::thread::sleep(sockets::DYING / 50);
            }
            opened => return Ok(opened?),
        }
    }
}

/// Puts a backup in the place of the store. No service may run.
///
/// # Errors
/// It is no backup, or the store is in use; the store is then as it was.
pub fn restore(settings: &Settings, backup: &Path) -> Result<(), Error> {
    let us = rustix::process::geteuid().as_raw();
    let restored = Vault::restore(us, backup, settings.store())?;
    tracing::info!(
        "the store in {} is restored; keys in it, without those of tokens: {}",
        settings.store().display(),
        restored.keys
    );
    if let Some(replaced) = restored.replaced {
        tracing::info!("the store that was there is {}", replaced.display());
    }
    Ok(())
}

impl Settings {
    fn store(&self) -> PathBuf {
        match &self.store {
            Some(store) => store.clone(),
            None => self.directory.join("store"),
        }
    }
}

/// Accepts commands until the end.
fn listen(
    administration: &Arc<Administration>,
    sockets: &Sockets,
    ends: std::os::fd::BorrowedFd<'_>,
) {
    loop {
        let mut watched = [
            PollFd::new(&sockets.administration, PollFlags::IN),
            PollFd::from_borrowed_fd(ends, PollFlags::IN),
        ];
        if rustix::event::poll(&mut watched, None).is_err() {
            continue; // interrupted
        }
        if !watched[1].revents().is_empty() {
            return;
        }
        match Visitor::accept(&sockets.administration) {
            Ok(Some(socket)) => administration.welcome(socket),
            Ok(None) => {}
            Err(error) => {
                let problem = format_args!("a command cannot be accepted: {error}");
                let complaints = &administration.gate.complaints;
                complaints.of_system(About::Connections, problem);
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
    }
}

/// When the lanes pay on this machine.
fn break_even() -> BreakEven {
    let machine = Machine::glance();
    // Against whichever libcrypto it was measured: the lanes know none.
    Decision::load_any(Path::new(SYSTEM_PATH), &machine).map_or_else(
        |_| BreakEven::built_in(&machine),
        |decision| decision.break_even,
    )
}

/// Tells systemd how the service does (`sd_notify(3)`), where systemd started it.
fn tell_systemd(state: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};
    let Some(address) = std::env::var_os("NOTIFY_SOCKET") else {
        return;
    };
    let address = address.to_string_lossy();
    let address = match address.strip_prefix('@') {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&*address),
    };
    let told = address.and_then(|address| {
        let socket = UnixDatagram::unbound()?;
        socket.send_to_addr(state.as_bytes(), &address)
    });
    if let Err(error) = told {
        tracing::warn!("systemd cannot be told '{state}': {error}");
    }
}
