//! `outboard advise ssh`: the cost of each algorithm of the installed OpenSSH on this machine, and the advised order.
//!
//! ```text
//! installed  the algorithms of ssh and sshd, and the configured ones   (ssh -Q, sshd -T, ssh -G)
//! algorithm  which algorithms may be used, and why
//! measure    the cost of each: real transfers and logins               (stand, cost)
//! recommend  an order
//! drop_in    this order as configuration, tried before it is written   (include, reading)
//! file       the file of a drop-in
//! report     the result, in words and for programs                     (prove)
//! upgraded   later: whether OpenSSH still accepts the drop-ins
//! ```

mod algorithm;
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

use algorithm::Kind;
use cost::Costs;
use drop_in::Target;
use file::DropInFile;
use installed::Lists;
pub(crate) use installed::Side;
use measure::{Effort, measurable, measure};
use outboard_programs::{OpenSsl, Workplace, clean_up_on_signals, without_interruption};
use prove::{Proof, prove};
use reading::{Places, Reading};
use recommend::{Choice, advise};
use report::{Half, Report};
use stand::Stand;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
pub(crate) use upgraded::{DropIn, Verdict, drop_ins};

use super::check_only;
use super::level::Level;
use super::serving::{Serving, ServingArguments};
use crate::output::{print, print_json, printable, remark};
use crate::{Failure, system};

/// Where distributions have OpenSSH's configuration.
pub(crate) const SSH_DIRECTORY: &str = "/etc/ssh";

/// The document that `--json` prints and `--costs` reads.
const SCHEMA: &str = "outboard-advise-ssh";

const EXAMPLES: &str = "\
Examples:
  outboard advise ssh                      Measure and show, change nothing
  outboard advise ssh --apply              Write the advice as drop-ins
  outboard advise ssh --revert             Remove the drop-ins
  outboard advise ssh --level fips         Only what FIPS 140-3 allows
  outboard advise ssh --prove              Also copy 1 GiB, before and after
  outboard advise ssh --json >costs.json   Measure once;
  outboard advise ssh --costs costs.json   advise without measuring again

In SSH the client's order decides: both use the first algorithm of the client's list that the server also has. \
So the client's drop-in makes copies from this machine fast. The server's drop-in excludes algorithms.

Drop-in: a file of its own in /etc/ssh/sshd_config.d or /etc/ssh/ssh_config.d.";

/// Which ciphers, MACs and key exchanges should this machine's ssh and sshd use?
///
/// Measures each algorithm of the installed OpenSSH, in real transfers and logins through a temporary sshd on
/// loopback (a minute or two). Then it puts the algorithms that are safe today in order, the fastest first. An
/// algorithm that is configured today and is not broken stays at the end, so that nobody is locked out.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// How careful the choice is
    #[arg(long, value_name = "LEVEL", default_value_t)]
    level: Level,
    /// Leave out algorithms that would only come last
    #[arg(long)]
    strict: bool,
    /// Advise for the server, the client or both
    #[arg(long = "for", value_name = "WHOSE", default_value_t)]
    whose: Whose,
    /// Show the drop-ins and change nothing (default)
    #[arg(long, conflicts_with_all = ["apply", "revert"])]
    dry_run: bool,
    /// Write the drop-ins
    #[arg(long, conflicts_with = "revert")]
    apply: bool,
    /// Remove the drop-ins that --apply wrote
    #[arg(long)]
    revert: bool,
    /// Measure roughly, in about twenty seconds
    #[arg(long)]
    quick: bool,
    /// Measure only these algorithms; the others come after them
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Take the costs from a document that --json printed, instead of measuring
    #[arg(long, value_name = "FILE", conflicts_with = "only")]
    costs: Option<PathBuf>,
    /// Copy a file of 1 GiB (128 MiB with --quick) with today's and with the advised lists, in pairs
    #[arg(long, conflicts_with = "revert")]
    prove: bool,
    #[command(flatten)]
    serving: ServingArguments,
    /// The directory of sshd_config, ssh_config and their drop-ins
    #[arg(long, value_name = "DIRECTORY", default_value = SSH_DIRECTORY)]
    directory: PathBuf,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum Whose {
    #[default]
    Both,
    Server,
    Client,
}

impl std::fmt::Display for Whose {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Both => "both",
            Self::Server => "server",
            Self::Client => "client",
        })
    }
}

impl Whose {
    fn sides(self) -> &'static [Side] {
        match self {
            Self::Both => &[Side::Server, Side::Client],
            Self::Server => &[Side::Server],
            Self::Client => &[Side::Client],
        }
    }
}

/// Whether drop-ins could lie below `directory`; a system without OpenSSH has no directory of its own for them.
///
/// # Errors
/// If it is another than the system's, and is no directory.
pub(crate) fn check_directory(directory: &Path, remedy: &str) -> Result<(), Failure> {
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
            Err(format!("cannot examine {name}: {error}{}", system::remedy()).into())
        }
        Err(error) => Err(format!("cannot examine {name}: {error} {remedy}").into()),
    }
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    clean_up_on_signals()?;
    let directory = std::path::absolute(&arguments.directory)?;
    let sides = arguments.whose.sides().iter();
    if arguments.revert {
        check_directory(&directory, "(name it with --directory)")?;
        let files: Vec<DropInFile> = sides
            .map(|&side| DropInFile::new(side, &directory))
            .collect();
        return without_interruption(|| revert(&files, arguments.json));
    }
    let scratch = Workplace::new()?;
    let key = installed::temporary_key(scratch.path())?;
    let targets: Vec<Target<'_>> = sides
        .map(|&side| Target::new(side, &directory, &scratch, &key))
        .collect();

    // Find every reason to refuse before the measurement, which takes a minute.
    if arguments.prove && arguments.whose == Whose::Server {
        return Err("--prove copies with the client's settings (leave out --for)".into());
    }
    let proving = match arguments.prove {
        true => Some(Proving::new(arguments.quick)?),
        false => None,
    };
    let mut configured = Vec::new();
    for target in &targets {
        if arguments.apply {
            target.file.check_writable()?;
        }
        configured.push((target.today()?, target.default()?));
    }
    let serving = Serving::find(&arguments.serving)?;
    let choice = Choice {
        level: arguments.level,
        strict: arguments.strict,
    };
    let offered = match arguments.costs.is_none() || arguments.prove {
        true => offered(&key)?,
        false => Lists::new(),
    };
    if !arguments.only.is_empty() {
        let names: Vec<&str> = measurable(&offered).map(|(_, name)| name).collect();
        check_only(&arguments.only, &names, "this OpenSSH")?;
    }
    let costs = match &arguments.costs {
        Some(file) => Costs::read(file)?,
        None => {
            let effort = if arguments.quick {
                Effort::QUICK
            } else {
                Effort::USUAL
            };
            let workplace = Workplace::in_memory(2 * effort.bytes)?;
            let openssl = serving.openssl(&workplace)?;
            let stand = Stand::new(workplace, openssl, &offered, effort.bytes)?;
            let with_outboard = serving.is_outboard();
            measure(
                &stand,
                &offered,
                with_outboard,
                choice,
                effort,
                &arguments.only,
            )?
        }
    };

    let installed = installed_lists()?;
    let mut halves = Vec::new();
    for (target, (today, default)) in targets.iter().zip(configured) {
        let advice = advise(target.side, &today, &default, &installed, &costs, choice)
            .map_err(|reason| format!("{}: {reason}", target.main.display()))?;
        halves.push(Half::new(target, today, advice, choice.level));
    }
    let obstacle = halves.iter().find_map(|half| half.obstacle.as_ref());
    if let Some(obstacle) = obstacle.filter(|_| arguments.apply) {
        return Err(format!("nothing was changed: {obstacle}").into());
    }
    let proof = match proving {
        Some(proving) => Some(measure_proof(proving, &serving, &offered, &halves)?),
        None => None,
    };
    let notes = serving.note.into_iter().chain(notes(&targets));
    let notes = notes.map(|note| printable(&note)).collect();
    // This comes last, because a later failure would hide that the files were written.
    if arguments.apply {
        tell_losses(&halves);
        without_interruption(|| apply(&targets, &mut halves))?;
    }
    let report = Report {
        level: choice.level,
        strict: choice.strict,
        applied: arguments.apply,
        notes,
        measured: costs,
        halves,
        proof,
    };
    if arguments.json {
        print_json(SCHEMA, &report.document())?;
    } else {
        print(&report.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// All that `ssh -Q` lists and this sshd accepts, too.
fn offered(key: &std::path::Path) -> Result<Lists, Failure> {
    let mut offered = installed_lists()?;
    for (&kind, names) in &mut offered {
        *names = installed::accepted(kind, std::mem::take(names), key)?;
    }
    Ok(offered)
}

fn installed_lists() -> Result<Lists, Failure> {
    Kind::ALL
        .into_iter()
        .map(|kind| Ok((kind, installed::known(kind)?)))
        .collect()
}

/// Says which peers will be locked out, while the user can still prevent it.
fn tell_losses(halves: &[Half]) {
    let changing = |half: &&Half| half.obstacle.is_none() && !half.in_place;
    for half in halves.iter().filter(changing) {
        for lost in &half.advice.no_longer {
            remark(&format!("outboard: note: locked out: {lost}"));
        }
    }
}

/// Writes all drop-ins or none.
fn apply(targets: &[Target<'_>], halves: &mut [Half]) -> Result<(), Failure> {
    let mut written: Vec<(&Target<'_>, Option<Vec<u8>>)> = Vec::new();
    for (target, half) in targets.iter().zip(halves.iter_mut()) {
        if target.file.holds(&half.text) {
            continue;
        }
        let failure = match target.file.write(&half.text) {
            Ok(previous) => {
                written.push((target, previous));
                half.changed = true;
                target.verify(&half.advice.lists).map(Failure::from)
            }
            Err(error) => Some(error),
        };
        if let Some(failure) = failure {
            for (target, previous) in written.into_iter().rev() {
                target.file.restore(previous)?;
            }
            return Err(format!("everything is as it was: {failure}").into());
        }
    }
    Ok(())
}

fn revert(files: &[DropInFile], json: bool) -> Result<ExitCode, Failure> {
    let mut taken: Vec<(&DropInFile, String)> = Vec::new();
    for file in files {
        match file.remove() {
            Ok(text) => taken.extend(text.map(|text| (file, text))),
            Err(failure) => {
                for (file, text) in taken {
                    file.write(&text)?;
                }
                return Err(format!("everything is as it was: {failure}").into());
            }
        }
    }
    let removed: Vec<PathBuf> = taken.iter().map(|(file, _)| file.path.clone()).collect();
    if json {
        #[derive(serde::Serialize)]
        struct Reverted<'a> {
            removed: &'a [PathBuf],
        }
        print_json(
            "outboard-advise-ssh-revert",
            &Reverted { removed: &removed },
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text: String = removed
        .iter()
        .map(|place| format!("Removed {}.\n", place.display()))
        .collect();
    if text.is_empty() {
        text = "There is no drop-in of Outboard; nothing was changed.\n".into();
    } else if removed
        .iter()
        .any(|place| place.ends_with("sshd_config.d/10-outboard.conf"))
    {
        text += report::RELOAD;
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The size of a proof, and its place.
struct Proving {
    workplace: Workplace,
    bytes: u64,
    pairs: u32,
}

impl Proving {
    /// With room for the file and its copy.
    fn new(quick: bool) -> Result<Self, Failure> {
        let (bytes, pairs) = if quick { (128 << 20, 3) } else { (1 << 30, 5) };
        Ok(Self {
            workplace: room_for(2 * bytes)?,
            bytes,
            pairs,
        })
    }
}

/// A directory in memory, or else where temporary files are.
///
/// # Errors
/// If so many bytes have no room there.
fn room_for(bytes: u64) -> Result<Workplace, Failure> {
    let workplace = Workplace::in_memory(bytes)?;
    let space = rustix::fs::statvfs(workplace.path())?;
    if space.f_bavail.saturating_mul(space.f_frsize) < bytes {
        let place = workplace.path().parent().unwrap_or(workplace.path());
        let (place, size) = (place.display(), bytes >> 20);
        return Err(format!(
            "{place} has no room for {size} MiB (name another directory with TMPDIR)"
        )
        .into());
    }
    Ok(workplace)
}

fn measure_proof(
    proving: Proving,
    serving: &Serving,
    offered: &Lists,
    halves: &[Half],
) -> Result<Proof, Failure> {
    let client = halves
        .iter()
        .find(|half| half.side == Side::Client)
        .ok_or("the client's settings are not among these")?;
    let Proving {
        workplace,
        bytes,
        pairs,
    } = proving;
    let stock = OpenSsl::stock(&workplace)?;
    let openssl = serving.openssl(&workplace)?;
    let stand = Stand::new(workplace, stock.clone(), offered, bytes)?;
    prove(
        &stand,
        (&client.today, &stock),
        (&client.advice.lists, &openssl),
        bytes,
        pairs,
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_refused_at_once() {
        drop(room_for(1).expect("a byte has room"));
        let refusal = room_for(1 << 60).expect_err("an exbibyte has none");
        assert!(
            refusal.to_string().contains(" has no room for "),
            "{refusal}"
        );
    }
}
