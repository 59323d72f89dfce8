//! `outboard enable`: the system's openssl.cnf loads Outboard from now on.

use crate::output::{To, fold, print, print_json};
use crate::{Failure, WrongUsage};
use outboard_file_replacement::{copy_beside, replace};
use outboard_inspect::{self as inspect, probe};
use outboard_installation::{self as installation, backup_of, changeable_by_others, module};
use outboard_libcrypto::Library;
use outboard_openssl_conf::{
    self as openssl_conf, Config, Earlier, Observer, Offer, POST_QUANTUM, Place, Settings,
};
use outboard_processes::{Process, restart_command, restart_lines, restart_names};
use outboard_profile::{Machine, Profile, Rollout, rollout};
use outboard_wording::printable;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  outboard enable --dry-run    Show the lines, change nothing
  outboard enable              Add the lines
  outboard enable --observe    Also observe, for 'outboard observe --all'
  outboard enable --no-observe End observing
  outboard enable --for nginx  Serve nginx, and programs named before
  outboard enable --for all    Serve every program
  outboard enable --post-quantum   Also give post-quantum key exchange
  outboard disable             Remove the lines

The lines are one marked block at the end of the file. No other line changes. A copy of the original \
file stays beside it until 'outboard disable'. A second 'outboard enable' keeps the options \
of the first one, and the lines that you added to the block.

Every program of the system runs the module's code, including root's programs. That is why root may name \
only a module that no other user can change, as 'make install' installs it. A file of your own (--config) \
may name any module.";

/// Switch Outboard on for every program of this system
///
/// Adds a block to the system's openssl.cnf. The block loads the provider and prefers it. Everything that the
/// file already says stays. The system's OpenSSL tries the new file before it replaces the old one.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Edit this configuration instead of the system's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Use this provider module instead of the installed one
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// Let programs use this profile instead of /var/lib/outboard/profile.json
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Which operations to offer
    #[arg(long, value_name = "WHICH")]
    offer: Option<Offer>,
    /// Count and time all cryptography of every program, for 'outboard observe --all'
    ///
    /// With --offer none, Outboard only observes and changes nothing else.
    #[arg(long)]
    observe: bool,
    /// Serve this program; repeat the option, or separate names by commas
    ///
    /// The name is that of the program's file. Other programs load Outboard too, but Outboard offers them
    /// nothing. If Outboard already serves every program, it continues to do so.
    #[arg(long = "for", value_name = "PROGRAM", value_delimiter = ',')]
    programs: Vec<String>,
    /// Give programs the post-quantum groups of TLS 1.3 and ML-KEM keys, which OpenSSL before 3.5 lacks
    ///
    /// X25519MLKEM768, SecP256r1MLKEM768 and SecP384r1MLKEM1024 come first in the list of groups of every program that
    /// names no groups itself. A server that does not know the first group asks such a client for another one, which
    /// takes one more round trip (see docs/post-quantum.md).
    #[arg(long)]
    post_quantum: bool,
    /// Keep the group that clients begin with; servers use the post-quantum groups with clients that offer them
    #[arg(long, requires = "post_quantum")]
    servers_only: bool,
    /// End what an earlier 'outboard enable --post-quantum' began
    #[arg(long, conflicts_with = "post_quantum")]
    no_post_quantum: bool,
    /// End observing that an earlier 'outboard enable --observe' began
    #[arg(long, conflicts_with = "observe")]
    no_observe: bool,
    /// Use this observing module instead of the installed one
    #[arg(long, value_name = "FILE", requires = "observe")]
    observer: Option<PathBuf>,
    /// Show the lines and change nothing
    #[arg(long)]
    dry_run: bool,
    /// A program without --for: refused with the line that is meant
    #[arg(hide = true)]
    stray: Vec<String>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
}

/// The settings that --for changes.
const ROLLOUT: [&str; 2] = ["programs", "except"];

#[derive(Serialize)]
struct Report {
    configuration: PathBuf,
    changed: bool,
    lines: String,
    backup: PathBuf,
    notes: Vec<String>,
    /// The programs that Outboard serves, in words.
    serves: String,
    restart: Vec<String>,
    /// The command that restarts the services among them.
    restart_command: Option<String>,
}

pub(crate) fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    refuse_stray("enable", &arguments.programs, &arguments.stray)?;
    let library = installation::library()?;
    let module = module::find(arguments.module.as_deref(), Some(&library))?;
    let file = resolve(arguments.config.clone(), &library)?;
    let for_all = is_the_system_s(&file, &library);
    refuse_unfit(&module, for_all)?;
    if let Some(profile) = arguments.profile.as_deref().filter(|_| for_all) {
        refuse_changeable(profile)?;
    }
    let text =
        fs::read(&file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;

    let programs = rollout::programs(&arguments.programs).map_err(WrongUsage)?;
    let mut earlier = openssl_conf::earlier(&text, &file, installation::environment)?;
    if let (true, Some(earlier)) = (arguments.no_post_quantum, &mut earlier) {
        earlier.settings.post_quantum = None;
    }
    let is_new = earlier.is_none();
    let mut notes = Vec::new();
    let observer = observer(&arguments, earlier.as_ref(), &library, &mut notes)?;
    if let Some(observer) = &observer {
        refuse_unfit(&observer.module, for_all)?;
    }

    // OpenSSL itself finds a module in its modules directory.
    let installed =
        module::in_modules_directory(Some(&library)).and_then(|path| path.canonicalize().ok());
    let named =
        Some(module.clone()).filter(|_| observer.is_some() || installed.as_ref() != Some(&module));
    let settings = Settings {
        module: named,
        profile: arguments
            .profile
            .as_ref()
            .map(std::path::absolute)
            .transpose()?,
        offer: arguments.offer,
        post_quantum: arguments.place(),
        ..Settings::default()
    };
    let mut settings = keep(settings, earlier, &module, &mut notes);
    if settings.post_quantum.is_some() && installation::has_post_quantum_groups(&library) {
        settings.post_quantum = None;
        notes.push(native_groups_note(&text, &file, &library));
    }
    let mut rollout = Rollout::of(&settings.others);
    let before = settings.others.clone();
    let served_before = rollout.clone();
    rollout.include(&programs, is_new);
    let processes = Process::all();
    notes.extend(unknown_notes(&arguments.programs, &processes));
    if !is_new && rollout == served_before && rollout.is_of_every_program() {
        notes.extend(served_already_note(&programs));
    }
    rollout.write(&mut settings.others);
    let stays =
        |line: &&(String, String)| ROLLOUT.contains(&line.0.as_str()) && before.contains(line);
    notes.extend(settings.others.iter().filter(stays).map(|(name, value)| {
        format!("'{name} = {value}' stays from an earlier 'outboard enable' (change it with --for)")
    }));
    let enabled = match &observer {
        None => openssl_conf::enable(&text, &file, &settings, installation::environment)?,
        Some(observer) => openssl_conf::observe(
            &text,
            &file,
            Some(&settings),
            observer,
            installation::environment,
        )?,
    };
    notes.extend(enabled.notes);
    let unobserved = enabled.unobserved.iter();
    notes.extend(unobserved.map(|name| format!("the work of the provider {name} is not observed")));
    notes.extend(profile_note(&settings, &library));
    if observer.is_some() && !arguments.dry_run {
        notes.push("'outboard observe --all' shows the work of programs".to_owned());
    }
    let mut report = Report {
        backup: backup_of(&file),
        changed: enabled.text != text,
        configuration: file.clone(),
        lines: enabled.lines,
        notes,
        serves: rollout.text(),
        restart: Vec::new(),
        restart_command: None,
    };
    if report.changed && !arguments.dry_run {
        replace(&file, &enabled.text, |candidate| {
            check(candidate, &module, observer.as_ref())?;
            back_up(&file, &text, &report.backup)?;
            refuse_edited(&file, &text)
        })
        .map_err(|error| {
            let remedy = installation::remedy();
            format!("{} is unchanged: {error}{remedy}", file.display())
        })?;
        let concerned: Vec<&Process> = processes
            .iter()
            .filter(|process| process.uses_openssl() && rollout.serves(&process.name))
            // A process with Outboard loaded reads the settings again when it restarts.
            .filter(|process| process.outboard.is_none() || !programs.is_empty())
            .collect();
        report.restart = restart_names(concerned.iter().copied());
        report.restart_command = restart_command(concerned);
    }
    if arguments.json {
        print_json("outboard-enable", &report)?;
    } else {
        print(&report.text(arguments.dry_run))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How to observe programs: as this command asks, else as an earlier `enable` asked.
fn observer(
    arguments: &Arguments,
    earlier: Option<&Earlier>,
    library: &Library,
    notes: &mut Vec<String>,
) -> Result<Option<Observer>, Failure> {
    let before = earlier.and_then(|earlier| earlier.observer.clone());
    if !arguments.observe {
        let Some(mut observer) = before.filter(|_| !arguments.no_observe) else {
            return Ok(None);
        };
        if module::obstacle(&observer.module).is_some() {
            observer.module = module::find_observer(None, Some(library)).map_err(|error| {
                format!("{error}; or run 'outboard enable --no-observe' to end observing")
            })?;
        }
        notes.push(
            "programs are still observed, because an earlier 'outboard enable --observe' asked for it \
             (--no-observe ends it)"
                .to_owned(),
        );
        return Ok(Some(observer));
    }
    Ok(Some(Observer {
        module: module::find_observer(arguments.observer.as_deref(), Some(library))?,
        record: before.and_then(|before| before.record),
        beside: true,
    }))
}

/// `settings`, completed from the existing block. Each kept setting gets a note.
fn keep(
    mut settings: Settings,
    earlier: Option<Earlier>,
    module: &Path,
    notes: &mut Vec<String>,
) -> Settings {
    let Some(Earlier {
        settings: before, ..
    }) = earlier
    else {
        return settings;
    };
    let mut keep = |line: String, how: &str| {
        notes.push(format!(
            "'{line}' stays from an earlier 'outboard enable' (change it with {how})"
        ));
    };
    if let (None, Some(offer)) = (settings.offer, before.offer) {
        keep(format!("offer = {offer}"), "--offer");
        settings.offer = Some(offer);
    }
    if let (None, Some(profile)) = (&settings.profile, &before.profile) {
        keep(format!("profile = {}", profile.display()), "--profile");
        settings.profile = Some(profile.clone());
    }
    if let (None, Some(place)) = (settings.post_quantum, before.post_quantum) {
        let how = match place {
            Place::First => "--post-quantum",
            Place::Second => "--post-quantum --servers-only",
        };
        keep(how.to_owned(), "--no-post-quantum");
        settings.post_quantum = Some(place);
    }
    if let Some(ledger) = before.ledger {
        keep(format!("ledger = {}", ledger.display()), "an editor");
        settings.ledger = Some(ledger);
    }
    for (name, value) in before.others {
        // What --for makes of the other two is not known yet.
        if !ROLLOUT.contains(&name.as_str()) {
            keep(format!("{name} = {value}"), "an editor");
        }
        settings.others.push((name, value));
    }
    // This command alone decides the module: both must come from the same build.
    if let Some(other) = before.module.filter(|before| before != module) {
        let (other, module) = (other.display(), module.display());
        notes.push(format!(
            "programs loaded {other} until now; from now on they load {module}"
        ));
    }
    settings
}

impl Arguments {
    /// Where the post-quantum groups are to stand.
    fn place(&self) -> Option<Place> {
        let place = match self.servers_only {
            true => Place::Second,
            false => Place::First,
        };
        self.post_quantum.then_some(place)
    }
}

/// What to know of OpenSSL's own groups.
fn native_groups_note(text: &[u8], file: &Path, library: &Library) -> String {
    let version = library.version();
    let config = Config::parse(text, file, installation::environment);
    match config
        .as_ref()
        .map(|config| (config.groups(), config.post_quantum_groups()))
    {
        Ok((Some(groups), None)) => format!(
            "OpenSSL {version} has the post-quantum groups itself, but the list in {} does not name them (add \
             {} at its beginning)",
            groups.origin, POST_QUANTUM[0]
        ),
        _ => format!(
            "OpenSSL {version} has the post-quantum groups itself, and programs use them: nothing was added for them"
        ),
    }
}

/// What to know of names that no program has.
fn unknown_notes<'a>(
    named: &'a [String],
    processes: &'a [Process],
) -> impl Iterator<Item = String> + 'a {
    let unknown =
        |program: &&String| *program != rollout::ALL && !inspect::is_known(program, processes);
    named.iter().filter(unknown).map(|program| {
        format!(
            "no program '{program}' is in PATH, and none of that name runs (is the name right?)"
        )
    })
}

/// What to know of a --for that changes nothing, because every program is served.
fn served_already_note(programs: &[String]) -> Option<String> {
    let names = programs.join(",");
    let is_of_some = !programs.is_empty() && !programs.iter().any(|name| name == rollout::ALL);
    is_of_some.then(|| {
        format!(
            "Outboard serves every program already, so '--for {names}' changes nothing (to serve no others, run \
             'outboard disable', then 'outboard enable --for {names}')"
        )
    })
}

/// Programs are named by --for alone: without it, the command is about every program.
pub(super) fn refuse_stray(
    command: &str,
    named: &[String],
    stray: &[String],
) -> Result<(), WrongUsage> {
    if stray.is_empty() {
        return Ok(());
    }
    let all: Vec<String> = named.iter().chain(stray).cloned().collect();
    let names = rollout::programs(&all).map_err(WrongUsage)?.join(",");
    let problem = format!("programs are named by --for: run 'outboard {command} --for {names}'");
    Err(WrongUsage(problem))
}

/// The file that `--config` or the system's OpenSSL names, with links followed: they stay.
pub(super) fn resolve(named: Option<PathBuf>, library: &Library) -> Result<PathBuf, Failure> {
    let file = match named {
        Some(file) => file,
        None => installation::configuration(library)?,
    };
    let found = file
        .canonicalize()
        .map_err(|error| format!("cannot find {}: {error}", file.display()))?;
    match found.is_file() {
        true => Ok(found),
        // A new file would take the place of a device.
        false => Err(format!(
            "{} is no regular file (see OPENSSL_CONF, or --config)",
            file.display()
        )
        .into()),
    }
}

/// Whether root is about to change what every program reads.
pub(super) fn is_the_system_s(file: &Path, library: &Library) -> bool {
    let own = installation::configuration(library).ok();
    installation::is_root() && own.and_then(|own| own.canonicalize().ok()).as_deref() == Some(file)
}

/// A profile that every program reads, root's too, is nobody's to change. Where there is none yet, nobody else may make it.
fn refuse_changeable(profile: &Path) -> Result<(), Failure> {
    const ROOT: u32 = 0;
    let cannot = |reason: String| {
        let profile = profile.display();
        Err(format!("cannot use {profile} for the whole system: {reason}").into())
    };
    if fs::symlink_metadata(profile).is_ok() && !profile.exists() {
        return cannot("it leads to a file that is not there".to_owned());
    }
    let whole = std::path::absolute(profile)?;
    let mut existing = whole.ancestors();
    match existing.find_map(|path| changeable_by_others(path, ROOT).ok()) {
        Some(Some(path)) => cannot(format!(
            "users other than root can change {} (copy the profile to /var/lib/outboard)",
            path.display()
        )),
        Some(None) | None => Ok(()),
    }
}

/// `for_all`: whether root's own programs will load it.
pub(super) fn refuse_unfit(module: &Path, for_all: bool) -> Result<(), Failure> {
    const ROOT: u32 = 0;
    let reason = match module::obstacle(module) {
        None if !for_all => return Ok(()),
        None => match changeable_by_others(module, ROOT)? {
            None => return Ok(()),
            Some(path) => format!(
                "users other than root can change {}, and root's programs would run their code (run 'sudo make \
                 install', then the 'outboard enable' that it installed)",
                path.display()
            ),
        },
        Some(module::Obstacle::Unreadable(reason) | module::Obstacle::Foreign(reason)) => reason,
        Some(module::Obstacle::Private(path)) => format!(
            "not every user can read it, because of the permissions of {} (run 'make install', or \
             'outboard run' for a single program)",
            path.display()
        ),
    };
    Err(format!(
        "cannot use {} for the whole system: {reason}",
        module.display()
    )
    .into())
}

/// Why programs could not use the profile, or that it chooses nothing for them.
fn profile_note(settings: &Settings, library: &Library) -> Option<String> {
    let named = settings.profile.as_deref();
    let path = named.unwrap_or(Path::new(installation::SYSTEM_PROFILE));
    let machine = Machine::detect().named();
    let (profile, error) = Profile::in_force(path, &machine, &library.version());
    if let Some(error) = error {
        return Some(printable(&error.to_string()));
    }
    let by_profile = matches!(settings.offer, None | Some(Offer::Profile));
    (by_profile && profile.chosen() == 0).then(|| {
        "no operation won the measurement of this machine, so programs gain nothing: OpenSSL does everything but what \
         needs a key of the card service"
            .to_owned()
    })
}

/// Keeps a copy of the old file, with the same permissions.
fn back_up(file: &Path, text: &[u8], backup: &Path) -> Result<(), Failure> {
    let original = openssl_conf::strip(text)?;
    copy_beside(file, &original, backup)
        .map_err(|error| format!("cannot write {}: {error}", backup.display()).into())
}

/// Another program may have changed the file while the new one was tried.
pub(super) fn refuse_edited(file: &Path, text: &[u8]) -> Result<(), Failure> {
    match fs::read(file)? == text {
        true => Ok(()),
        false => Err("another program just changed it (run this command again)".into()),
    }
}

/// Lets the system's OpenSSL load the new configuration before any other program does.
fn check(candidate: &Path, module: &Path, observer: Option<&Observer>) -> Result<(), Failure> {
    let report = probe::probe(Some(candidate), Some(module))?;
    let reason = if let Some(error) = report.configuration_error {
        error
    } else if !report.outboard_is_active {
        let reason = report
            .module_error
            .unwrap_or_else(|| "OpenSSL gives no reason".into());
        format!("OpenSSL cannot load {}: {reason}", module.display())
    } else if !report.default_is_active {
        "the default provider would no longer be active".into()
    } else if let Some(observer) = observer.filter(|_| !report.observed_is_active) {
        format!("OpenSSL cannot load {}", observer.module.display())
    } else {
        return Ok(());
    };
    Err(format!("{reason} (see 'outboard doctor')").into())
}

impl Report {
    fn text(&self, dry_run: bool) -> String {
        let file = self.configuration.display();
        let mut text = if !self.changed {
            let nothing = match dry_run {
                true => "nothing would be changed",
                false => "nothing was changed",
            };
            format!("{file} already loads Outboard; {nothing}.\n")
        } else if dry_run {
            format!(
                "These lines would be added at the end of {file}:\n\n{}\n",
                self.lines
            )
        } else {
            format!(
                "{file} now loads Outboard. Programs that start from now on use it.\n\
                 Serves: {}\nThe file as it was: {}\n",
                self.serves,
                self.backup.display()
            )
        };
        for note in &self.notes {
            text.push_str(&format!("Note: {note}.\n"));
        }
        if !self.restart.is_empty() {
            text.push_str(
                "These processes already run and use OpenSSL. They use Outboard after a restart:\n",
            );
            for line in restart_lines(&self.restart) {
                text.push_str(&fold(&format!("  {line}\n"), To::Stdout.room()));
            }
        }
        if let Some(command) = &self.restart_command {
            // Not folded, so that the user can copy it.
            text.push_str(&format!("To restart the services, run:\n  {command}\n"));
        }
        text
    }
}
