//! `outboard java`: servers of a JDK use Outboard's PKCS #11 module.

mod plan;
mod provider;
mod report;
mod trial;

use crate::Failure;
use crate::completion;
use crate::output::{print, print_json};
use outboard_file_replacement::{create, replace};
use outboard_installation::{self as installation, backup_of};
use outboard_wire::SYSTEM_DIRECTORY;
use plan::{File, Plan, Way};
use report::{Report, Reverted};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use super::enable::{refuse_edited, refuse_unfit};

const EXAMPLES: &str = "\
Examples:
  outboard java --print              Show the files, change nothing
  outboard java                      Write the files for a server
  outboard java --token web --user tomcat --pin-file /etc/tomcat/token.pin
                                     The same, for the keys of a token
  outboard java --provider           Register outboard.jar: key agreements, too
  outboard java --whole-jdk          Change the JDK: for each of its programs
  outboard java --revert             Remove the files
  outboard doctor --java 1234        Say why a Java server does not use it

Without --token and --coprocessor, Java servers keep their keys and key stores, and Outboard computes their \
signatures (slot 1, the accelerator).

Start a server with the option that the command prints. The JDK's own files stay as they are, so that upgrades of \
the JDK go on as before, and other Java programs see no change.

Exit status: 0 done, 1 an error: then nothing was changed, 2 wrong usage.";

/// Let Java servers use Outboard
///
/// Writes a configuration of the JDK's provider SunPKCS11, and security properties that register it after all other
/// providers and prefer it for signatures alone. The JDK tries both before they count.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The JDK: its directory, or its 'java' [default: JAVA_HOME and PATH]
    #[arg(long = "for", value_name = "JDK")]
    jdk: Option<PathBuf>,
    /// For the keys of this token of the card service
    #[arg(long, value_name = "NAME", conflicts_with = "coprocessor", add = completion::tokens())]
    token: Option<String>,
    /// For the keys that 'outboard keys' manages (slot 0)
    #[arg(long)]
    coprocessor: bool,
    /// Register outboard.jar instead, which does key agreements, too
    ///
    /// The JDK measures which operations outboard.jar does faster. The others stay with the JDK.
    #[arg(long, conflicts_with_all = ["token", "coprocessor", "whole_jdk"])]
    provider: bool,
    /// With --provider: use this jar instead of the installed one
    #[arg(long, value_name = "FILE", requires = "provider")]
    jar: Option<PathBuf>,
    /// With --provider: total time of the measurement [default: 40]
    #[arg(long, value_name = "SECONDS", requires = "provider",
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    time: Option<u64>,
    /// Write these security properties [default: /etc/outboard/java.security]
    ///
    /// The configuration of SunPKCS11 is beside this file. Its name ends with .cfg.
    #[arg(long, value_name = "FILE", conflicts_with = "whole_jdk")]
    server_file: Option<PathBuf>,
    /// Change the JDK's own java.security, for each program of this JDK
    #[arg(long)]
    whole_jdk: bool,
    /// Let this user try it, who has the server's grant
    #[arg(long, value_name = "USER", add = completion::users())]
    user: Option<String>,
    /// With --token: try a login with the PIN in the first line of this file
    #[arg(long, value_name = "FILE", requires = "token")]
    pin_file: Option<PathBuf>,
    /// Show the files and change nothing
    #[arg(long)]
    print: bool,
    /// Remove what 'outboard java' wrote with these options
    #[arg(long, conflicts_with = "print")]
    revert: bool,
    /// Use this PKCS #11 module instead of the installed one
    #[arg(long, value_name = "FILE", conflicts_with = "provider")]
    module: Option<PathBuf>,
    /// The directory of the card service's sockets
    #[arg(long, value_name = "DIR", default_value = SYSTEM_DIRECTORY)]
    directory: PathBuf,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    if arguments.revert {
        let reverted = revert(&plan::places(&arguments)?, arguments.provider)?;
        match arguments.json {
            true => print_json("outboard-java-revert", &reverted)?,
            false => print(&reverted.text())?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.provider {
        let report = provider::run(&arguments)?;
        match arguments.json {
            true => print_json("outboard-java-provider", &report)?,
            false => print(&report.text(arguments.print))?,
        }
        return Ok(ExitCode::SUCCESS);
    }
    let plan = Plan::of(&arguments)?;
    let mut report = Report::of(&plan);
    if !arguments.print {
        // Root's own programs would load it, or those of any user.
        let is_for_all = installation::is_root() && arguments.server_file.is_none();
        refuse_unfit(&plan.pkcs11.library, is_for_all)?;
        refuse_foreign(&plan.configuration)?;
        if plan.way == Way::Server {
            refuse_foreign(&plan.properties)?;
        }
        report.tried = trial::run(&plan, &arguments)?;
        report.changed = write(&plan)?;
        report.name_restarts(&plan);
    }
    match arguments.json {
        true => print_json("outboard-java", &report)?,
        false => print(&report.text(arguments.print))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Puts both files in their places, the one that names the other last. Whether anything changed.
fn write(plan: &Plan) -> Result<bool, Failure> {
    let changed = put(&plan.configuration)?;
    if plan.way == Way::Server {
        return Ok(put(&plan.properties)? || changed);
    }
    let File { path, text } = &plan.properties;
    if plan.before == *text {
        return Ok(changed);
    }
    replace(path, text, |_| {
        refuse_edited(path, &plan.before)?;
        outboard_file_replacement::copy_beside(path, &plan.base, &backup_of(path))?;
        Ok::<(), Failure>(())
    })
    .map_err(|error| failed(path, &*error))?;
    Ok(true)
}

/// A file of somebody else stays.
fn refuse_foreign(file: &File) -> Result<(), Failure> {
    let path = &file.path;
    match fs::read(path) {
        Ok(text) if !plan::is_ours(&text) => Err(format!(
            "{} was not written by 'outboard java' (move it away, or name another place with --server-file)",
            path.display()
        )
        .into()),
        _ => Ok(()),
    }
}

/// Writes a file of ours.
fn put(file: &File) -> Result<bool, Failure> {
    let File { path, text } = file;
    let failed = |error: io::Error| failed(path, &error);
    match fs::read(path) {
        Ok(before) if before == *text => return Ok(false),
        Ok(_) => replace(path, text, |_| Ok(())).map_err(failed)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                make_public(directory).map_err(failed)?;
            }
            create(path, text).map_err(failed)?;
        }
        Err(error) => return Err(failed(error)),
    }
    Ok(true)
}

/// Makes a directory that each server may enter, whatever the administrator's umask is.
fn make_public(directory: &Path) -> io::Result<()> {
    if directory.exists() {
        return Ok(());
    }
    fs::create_dir_all(directory)?;
    fs::set_permissions(directory, PermissionsExt::from_mode(0o755))
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    let remedy = installation::remedy();
    format!("cannot write {}: {error}{remedy}", path.display()).into()
}

/// Takes out what these options wrote.
fn revert(places: &plan::Places, is_provider: bool) -> Result<Reverted, Failure> {
    let plan::Places {
        way,
        properties,
        configuration,
    } = places;
    let mut reverted = Reverted::default();
    if *way == Way::Jdk {
        let text = plan::read(properties)?;
        let base = outboard_jdk::BLOCK.strip(&text)?;
        if base != text {
            replace(properties, &base, |_| refuse_edited(properties, &text))
                .map_err(|error| failed(properties, &*error))?;
            reverted.changed.push(properties.clone());
        }
        let backup = backup_of(properties);
        if fs::read(&backup).is_ok_and(|original| original == base) {
            reverted.is_as_before = true;
            fs::remove_file(&backup).map_err(|error| failed(&backup, &error))?;
        }
    } else {
        reverted.remove(properties)?;
    }
    // With --provider, there is none; a file of this name is another command's.
    if !is_provider {
        reverted.remove(configuration)?;
    }
    Ok(reverted)
}
