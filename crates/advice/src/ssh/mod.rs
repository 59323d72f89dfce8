//! The cost of each algorithm of the installed OpenSSH on this machine, and the order that follows.
//!
//! ```text
//! installed  the algorithms of ssh and sshd, and the configured ones   (ssh -Q, sshd -T, ssh -G)
//! algorithm  which algorithms may be used, and why
//! measure    the cost of each: real transfers and logins               (stand, cost)
//! recommend  an order
//! drop_in    this order as configuration, tried before it is written   (include, reading)
//! file       the file of a drop-in                                     (apply: all of them or none)
//! report     the result                                                (prove)
//! upgraded   later: whether OpenSSH still accepts the drop-ins
//! ```

mod algorithm;
mod apply;
mod cost;
mod drop_in;
mod file;
mod include;
mod installed;
mod measure;
mod prove;
mod reading;
mod recommend;
mod report;
mod stand;
mod upgraded;

pub use algorithm::Kind;
pub use apply::revert;
pub use cost::{Cost, Costs};
pub use installed::{Lists, Side};
pub use prove::Proof;
pub use recommend::Choice;
pub use report::{Half, Judged, Report};
pub use stand::Negotiated;
pub use upgraded::{DropIn, Verdict, drop_ins};

use drop_in::Target;
use measure::{Effort, measurable, measure};
use outboard_installation as installation;
use outboard_programs::{Workplace, without_interruption};
use outboard_wording::printable;
use prove::Proving;
use reading::{Places, Reading};
use stand::Stand;
use std::io;
use std::path::{Path, PathBuf};

use super::check_only;
use super::serving::Serving;
use super::{Listener, Wanted};
use crate::Error;

/// Where distributions have OpenSSH's configuration.
pub const SSH_DIRECTORY: &str = "/etc/ssh";

/// The schema of the document that [`Report`] makes, which a later run can read.
pub const SCHEMA: &str = "outboard-advise-ssh";

/// What is to be advised, and what is done with it.
#[derive(Clone, Debug)]
pub struct Request {
    /// How to choose.
    pub choice: Choice,
    /// For which sides.
    pub sides: Vec<Side>,
    /// The directory of sshd_config, ssh_config and their drop-ins.
    pub directory: PathBuf,
    /// Whether the drop-ins are written.
    pub apply: bool,
    /// Whether to measure roughly.
    pub is_quick: bool,
    /// Measure these alone; all if it is empty.
    pub only: Vec<String>,
    /// A document with costs, instead of a measurement.
    pub costs: Option<PathBuf>,
    /// Whether to copy a large file, before and after.
    pub prove: bool,
    /// The provider of the measured programs.
    pub serving: Wanted,
}

/// Whether drop-ins could lie below `directory`; a system without OpenSSH has no directory of its own for them.
///
/// # Errors
/// If it is another than the system's, and is no directory.
pub fn check_directory(directory: &Path, remedy: &str) -> Result<(), Error> {
    if directory == Path::new(SSH_DIRECTORY) {
        return Ok(());
    }
    let name = directory.display();
    match directory.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(format!("{name} is not a directory {remedy}").into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("there is no directory {name} {remedy}").into())
        }
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(format!("cannot examine {name}: {error}{}", installation::remedy()).into())
        }
        Err(error) => Err(format!("cannot examine {name}: {error} {remedy}").into()),
    }
}

/// Measures, chooses, tries the choice with sshd and ssh, and writes it if that was asked for.
///
/// # Errors
/// In words; nothing was changed then.
pub fn advise(request: &Request, listener: &dyn Listener) -> Result<Report, Error> {
    let scratch = Workplace::new()?;
    let key = installed::temporary_key(scratch.path())?;
    let sides = request.sides.iter();
    let targets: Vec<Target<'_>> = sides
        .map(|&side| Target::new(side, &request.directory, &scratch, &key))
        .collect();

    // Find every reason to refuse before the measurement, which takes a minute.
    if request.prove && !request.sides.contains(&Side::Client) {
        return Err("--prove copies with the client's settings (leave out --for)".into());
    }
    let proving = match request.prove {
        true => Some(Proving::new(request.is_quick)?),
        false => None,
    };
    let mut configured = Vec::new();
    for target in &targets {
        if request.apply {
            target.file.check_writable()?;
        }
        configured.push((target.today()?, target.default()?));
    }
    let serving = Serving::find(&request.serving)?;
    let offered = match request.costs.is_none() || request.prove {
        true => offered(&key)?,
        false => Lists::new(),
    };
    if !request.only.is_empty() {
        let names: Vec<&str> = measurable(&offered).map(|(_, name)| name).collect();
        check_only(&request.only, &names, "this OpenSSH")?;
    }
    let measured = match &request.costs {
        Some(file) => Costs::read(file)?,
        None => measured(request, &serving, &offered, listener)?,
    };

    let installed = installed_lists()?;
    let mut configurations = Vec::new();
    for (target, (today, default)) in targets.iter().zip(configured) {
        let advice = recommend::advise(
            target.side,
            &today,
            &default,
            &installed,
            &measured,
            request.choice,
        )
        .map_err(|reason| format!("{}: {reason}", target.main.display()))?;
        configurations.push(Half::new(target, today, advice, request.choice.level));
    }
    let obstacle = configurations
        .iter()
        .find_map(|half| half.obstacle.as_ref());
    if let Some(obstacle) = obstacle.filter(|_| request.apply) {
        return Err(format!("nothing was changed: {obstacle}").into());
    }
    let proof = match proving {
        Some(proving) => Some(proving.measure(&serving, &offered, &configurations, listener)?),
        None => None,
    };
    let notes = serving.note.into_iter().chain(notes(&targets));
    let notes = notes.map(|note| printable(&note)).collect();
    // This comes last, because a later failure would hide that the files were written.
    if request.apply {
        apply::tell_losses(&configurations, listener);
        without_interruption(|| apply::apply(&targets, &mut configurations))?;
    }
    Ok(Report::new(request, measured, configurations, notes, proof))
}

/// The costs of what is offered, measured now.
fn measured(
    request: &Request,
    serving: &Serving,
    offered: &Lists,
    listener: &dyn Listener,
) -> Result<Costs, Error> {
    let effort = match request.is_quick {
        true => Effort::QUICK,
        false => Effort::USUAL,
    };
    let workplace = Workplace::in_memory(2 * effort.bytes)?;
    let openssl = serving.openssl(&workplace)?;
    let stand = Stand::new(workplace, openssl, offered, effort.bytes)?;
    let with_outboard = serving.is_outboard();
    measure(
        &stand,
        offered,
        with_outboard,
        request.choice,
        effort,
        &request.only,
        listener,
    )
}

/// All that `ssh -Q` lists and this sshd accepts, too.
fn offered(key: &std::path::Path) -> Result<Lists, Error> {
    let mut offered = installed_lists()?;
    for (&kind, names) in &mut offered {
        *names = installed::accepted(kind, std::mem::take(names), key)?;
    }
    Ok(offered)
}

fn installed_lists() -> Result<Lists, Error> {
    Kind::ALL
        .into_iter()
        .map(|kind| Ok((kind, installed::known(kind)?)))
        .collect()
}

/// Other files that also decide which algorithms are used.
fn notes(targets: &[Target<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    for target in targets.iter().filter(|target| target.side == Side::Client) {
        notes.extend(target.exceptions());
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let Some(home) = home else {
            continue;
        };
        let places = Places {
            directory: &home.join(".ssh"),
            home: Some(&home),
        };
        let own = Reading::of(&places.directory.join("config"), places, None);
        if let Some(reason) = own.unread() {
            notes.push(format!(
                "{reason}; for its user, the settings in it come first"
            ));
        }
        for kind in Kind::ORDERED {
            let keyword = kind.keyword();
            if let Some(first) = own.before().iter().find(|one| one.sets(keyword)) {
                let (own, line) = (first.line.file.display(), first.line.number);
                notes.push(format!(
                    "{own} line {line} sets {keyword}; for its user, that line comes first"
                ));
            }
        }
    }
    notes
}
