//! `outboard run`: one program under Outboard, or under the system's OpenSSL in the same way.

use crate::output::{self, remark, remark_exact};
use crate::stage::Stage;
use crate::supervise::supervise;
use crate::system::InForce;
use crate::{Failure, listing, module, probe, system};
use clap::ValueHint;
use outboard_ledger::Snapshot;
use outboard_openssl_conf::{self as openssl_conf, Offer, Settings};
use serde::Serialize;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const EXAMPLES: &str = "\
Examples:
  outboard run -- scp file host:           Copy a file, faster
  outboard run --proof -- curl URL         Then show what ran where
  outboard run --stock -- curl URL         The same without Outboard, to compare

The program reads an OpenSSL configuration made for it, which keeps all of the system's own settings; \
OPENSSL_CONF tells it where. Programs that clear their environment, are setuid, are linked statically \
or bring another library of cryptography do not see it: 'outboard doctor --program PROGRAM' tells.

Exit status: the program's; 128 + n if signal n ended it; 126 or 127 if it could not be started; \
1 if it succeeded and the proof could not be made.";

/// Run one program under Outboard
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Run it the same way, but without Outboard
    #[arg(long, conflicts_with_all = ["proof", "ledger", "profile", "offer", "module"])]
    stock: bool,
    /// Afterwards show, on standard error, what ran where
    #[arg(long)]
    proof: bool,
    /// Show the proof as a JSON document
    #[arg(long, requires = "proof")]
    json: bool,
    /// Count here instead of in a private file; the file stays
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Decide by this profile, instead of yours or the system's
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Which operations to offer [default: profile]
    #[arg(long, value_name = "WHICH")]
    offer: Option<Offer>,
    /// The provider's module, instead of the installed one
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
    // With --ledger the counts are for whoever named the file; without, only for the proof.
    let ledger = match &arguments.ledger {
        Some(ledger) => std::path::absolute(ledger)?,
        None => stage.path().join("ledger"),
    };
    let earlier = Snapshot::read(&ledger).ok();
    let library = system::library()?;
    let module = match arguments.stock {
        true => None,
        false => Some(module::find(arguments.module.as_deref(), Some(&library))?),
    };
    let in_force = InForce::find(&library)?;
    let text = compose(&arguments, &in_force, module.as_deref(), &ledger)?;
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

/// Tells what the program did, by the ledger it counted in.
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
    in_force: &InForce,
    module: Option<&Path>,
    ledger: &Path,
) -> Result<Vec<u8>, Failure> {
    let Some(module) = module else {
        return in_force.without_outboard();
    };
    let profile = match &arguments.profile {
        // The program may see a file that we do not; but a name that is wrong should be told here.
        Some(profile) => profile
            .canonicalize()
            .map_err(|error| format!("cannot find the profile {}: {error}", profile.display()))?,
        None => system::profile(),
    };
    let text = in_force.read()?;
    // What a person wrote into the block of 'outboard enable' holds for this program too.
    let others = openssl_conf::earlier(&text, in_force.name(), system::environment)?
        .map(|earlier| earlier.settings.others);
    let settings = Settings {
        module: Some(module.to_owned()),
        profile: Some(profile),
        ledger: Some(ledger.to_owned()),
        offer: arguments.offer,
        others: others.unwrap_or_default(),
    };
    let enabled = openssl_conf::enable(&text, in_force.name(), &settings, system::environment)?;
    for note in enabled.notes {
        remark(&format!("outboard: note: {note}"));
    }
    Ok(enabled.text)
}

/// What was counted, in words; `None` means that no process opened the ledger.
fn proof(program: &str, snapshot: Option<Snapshot>, module: &Path) -> String {
    let Some(snapshot) = snapshot else {
        let reason = match probe::probe(None, Some(module)) {
            Ok(report) => report
                .module_error
                .unwrap_or_else(|| format!("see 'outboard doctor --program {program}'")),
            Err(error) => error.to_string(),
        };
        return format!("outboard: {program} never loaded Outboard ({reason})");
    };
    let tables = listing::tables(&listing::by_program(&snapshot), output::To::Stderr);
    if tables.is_empty() {
        return nothing_used(program);
    }
    tables
}

/// What is said of a program that loaded Outboard and used none of it.
fn nothing_used(program: &str) -> String {
    let name = Path::new(program).file_name().unwrap_or_default();
    let its_own = match name.to_str() {
        Some("ssh" | "sshd" | "scp" | "sftp") => {
            ". OpenSSH has code of its own for curve25519-sha256, ssh-ed25519 and chacha20-poly1305: \
             'outboard advise ssh' names algorithms that it leaves to OpenSSL"
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
        counted: listing::Counted,
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
