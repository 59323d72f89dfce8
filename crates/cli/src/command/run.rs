//! `outboard run`: runs one program with Outboard, or in the same way with the system's OpenSSL alone.

use crate::output::{self, remark, remark_exact};
use crate::stage::Stage;
use crate::supervise::supervise;
use crate::{Failure, listing};
use clap::ValueHint;
use outboard_inspect::probe;
use outboard_installation::{self as installation, InForce, module};
use outboard_ledger::Snapshot;
use outboard_ledger_report::{Counted, by_program};
use outboard_libcrypto::Library;
use outboard_openssl_conf::{self as openssl_conf, Offer, Place, Settings};
use outboard_profile::{Machine, Profile, Rollout};
use serde::Serialize;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const EXAMPLES: &str = "\
Examples:
  outboard run -- scp file host:           Copy a file, faster
  outboard run --proof -- curl URL         Show afterwards what ran where
  outboard run --post-quantum -- curl URL  Use post-quantum key exchange
  outboard run --stock -- curl URL         Run without Outboard, to compare

The program reads a temporary OpenSSL configuration, which OPENSSL_CONF names. The configuration keeps all \
of the system's own settings. A program does not read it if it clears its environment, is setuid, is linked \
statically, or uses another cryptographic library. 'outboard doctor --program PROGRAM' recognises such programs.

Exit status: the program's; 128 + n if signal n ended it; 126 or 127 if it could not be started; \
1 if it succeeded, but the proof could not be made.";

/// Run one program with Outboard
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Run the program the same way, but without Outboard
    #[arg(long, conflicts_with_all = ["proof", "ledger", "profile", "offer", "module", "post_quantum"])]
    stock: bool,
    /// Show afterwards, on standard error, what ran where
    #[arg(long)]
    proof: bool,
    /// Show the proof as a JSON document
    #[arg(long, requires = "proof")]
    json: bool,
    /// Count in this file instead of a private one; the file stays
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Use this profile instead of yours or the system's
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Which operations to offer [default: profile]
    #[arg(long, value_name = "WHICH")]
    offer: Option<Offer>,
    /// Give the program the post-quantum groups of TLS 1.3, which OpenSSL before 3.5 lacks, as 'outboard enable
    /// --post-quantum' does
    #[arg(long)]
    post_quantum: bool,
    /// Use this provider module instead of the installed one
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        value_hint = ValueHint::CommandWithArguments,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    let (program, program_arguments) = arguments
        .program
        .split_first()
        .expect("invariant: clap demands a program");
    let stage = Stage::new()?;
    // With --ledger, the user reads the counts. Without it, only the proof needs them.
    let ledger = match &arguments.ledger {
        Some(ledger) => std::path::absolute(ledger)?,
        None => stage.path().join("ledger"),
    };
    let earlier = Snapshot::read(&ledger).ok();
    let library = installation::library()?;
    let module = match arguments.stock {
        true => None,
        false => Some(module::find(arguments.module.as_deref(), Some(&library))?),
    };
    let in_force = InForce::find(&library)?;
    let text = compose(&arguments, &library, &in_force, module.as_deref(), &ledger)?;
    let configuration = stage.write("openssl.cnf", &text, in_force.path())?;

    let mut command = Command::new(program);
    command
        .args(program_arguments)
        .env("OPENSSL_CONF", &configuration);
    let end = match supervise(&mut command) {
        Ok(end) => end,
        Err(status) => return Ok(status),
    };
    let told = match module.filter(|_| arguments.proof) {
        None => Ok(()),
        Some(module) => tell(
            &program.to_string_lossy(),
            &ledger,
            earlier.as_ref(),
            &module,
            arguments.json,
        ),
    };
    if end.left_processes {
        stage.keep();
    }
    Ok(end.exit_code(told))
}

/// Prints what the program did, according to the ledger that it counted in.
fn tell(
    program: &str,
    ledger: &Path,
    earlier: Option<&Snapshot>,
    module: &Path,
    json: bool,
) -> Result<(), Failure> {
    let snapshot = match Snapshot::read(ledger) {
        Ok(now) => Some(match earlier {
            Some(earlier) => now.since(earlier),
            None => now,
        }),
        Err(error) if error.is_missing() => None,
        Err(error) => return Err(error.into()),
    };
    match json {
        true => remark_exact(proof_document(program, snapshot)?.trim_end()),
        false => remark(proof(program, snapshot, module).trim_end()),
    }
    Ok(())
}

/// The configuration for the program: the one in force, with or without Outboard.
fn compose(
    arguments: &Arguments,
    library: &Library,
    in_force: &InForce,
    module: Option<&Path>,
    ledger: &Path,
) -> Result<Vec<u8>, Failure> {
    let Some(module) = module else {
        return Ok(in_force.without_outboard()?);
    };
    let profile = match &arguments.profile {
        // The program would go on without it, and say nothing.
        Some(profile) => {
            let profile = profile.canonicalize().map_err(|error| {
                format!("cannot find the profile {}: {error}", profile.display())
            })?;
            Profile::load(&profile, &Machine::glance(), &library.version())?;
            profile
        }
        None => installation::profile(),
    };
    let text = in_force.read()?;
    // Lines that a person wrote into the block of 'outboard enable' apply to this program too, except which programs are served:
    // this one is.
    let earlier = openssl_conf::earlier(&text, in_force.name(), installation::environment)?;
    let mut earlier = earlier.map(|earlier| earlier.settings).unwrap_or_default();
    Rollout::default().write(&mut earlier.others);
    let settings = Settings {
        module: Some(module.to_owned()),
        profile: Some(profile),
        ledger: Some(ledger.to_owned()),
        offer: arguments.offer,
        post_quantum: match arguments.post_quantum
            && !installation::has_post_quantum_groups(library)
        {
            true => Some(Place::First),
            false => earlier.post_quantum,
        },
        others: earlier.others,
    };
    let enabled =
        openssl_conf::enable(&text, in_force.name(), &settings, installation::environment)?;
    for note in enabled.notes {
        remark(&format!("outboard: note: {note}"));
    }
    Ok(enabled.text)
}

/// The counts in words. `None` means that no process opened the ledger.
fn proof(program: &str, snapshot: Option<Snapshot>, module: &Path) -> String {
    let Some(snapshot) = snapshot else {
        let reason = match probe::probe(None, Some(module)) {
            Ok(report) => report.module_error,
            Err(error) => Some(error.to_string()),
        };
        return match reason {
            Some(reason) => format!("outboard: {program} did not load Outboard ({reason})"),
            // It loads here, so nobody knows which of both it was.
            None => format!(
                "outboard: {program} did not load Outboard, or could not make the file of its counters \
                 (see 'outboard doctor --program {program}')"
            ),
        };
    };
    let tables = listing::tables(&by_program(&snapshot), output::To::Stderr);
    if tables.is_empty() {
        return nothing_used(program);
    }
    tables
}

/// The message about a program that loaded Outboard and used no operation of it.
fn nothing_used(program: &str) -> String {
    let name = Path::new(program).file_name().unwrap_or_default();
    let its_own = match name.to_str() {
        Some("ssh" | "sshd" | "scp" | "sftp") => {
            ". OpenSSH uses its own code for curve25519-sha256, ssh-ed25519 and chacha20-poly1305. 'outboard \
             advise ssh' names algorithms for which OpenSSH uses OpenSSL"
        }
        _ => "",
    };
    format!(
        "outboard: {program} loaded Outboard, but used no operation that Outboard offers here \
         ('outboard info' lists them){its_own}"
    )
}

/// The same for programs.
fn proof_document(program: &str, snapshot: Option<Snapshot>) -> io::Result<String> {
    #[derive(Serialize)]
    struct Proof<'a> {
        program: &'a str,
        /// That counted anything.
        processes: usize,
        #[serde(flatten)]
        counted: Counted,
    }
    let processes = snapshot
        .as_ref()
        .map_or(0, |snapshot| snapshot.processes.len());
    let total = snapshot
        .map(|snapshot| snapshot.total())
        .unwrap_or_default();
    let counted = (&total).into();
    output::json(
        "outboard-proof",
        &Proof {
            program,
            processes,
            counted,
        },
    )
}
