//! The measured Outboard: the provider, the command `outboard`, and the profile, which decides what Outboard offers.

use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;

use outboard_programs::{Launch, Offer, Outboard, Workplace};

use crate::Failure;
use crate::proof::Proofs;

/// Options that say where it is.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InstallationArguments {
    /// The provider [default: beside this program, else in OpenSSL's modules directory]
    #[arg(long, value_name = "FILE")]
    pub module: Option<PathBuf>,
    /// The command outboard [default: beside this program, else in PATH]
    #[arg(long, value_name = "FILE")]
    pub outboard: Option<PathBuf>,
    /// The profile, which decides what Outboard offers [default: the one measured with this provider; if there is
    /// none, outboard-bench measures one for itself]
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
}

/// An installed (or just built) Outboard.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The command `outboard`.
    pub command: PathBuf,
    /// The provider with its profile, as a user has it.
    pub outboard: Outboard,
    /// Proofs: the operations that the profile leaves to stock, and the counts of ledgers.
    pub proofs: Proofs,
}

/// What there is before anything is measured.
#[derive(Clone, Debug)]
pub struct Search {
    module: PathBuf,
    command: PathBuf,
    profile: Profile,
}

#[derive(Clone, Debug)]
enum Profile {
    /// The provider's own choice: its profile, or the built-in measurements.
    Providers,
    Is(PathBuf),
    /// To be measured into that file.
    Lacking(PathBuf),
}

impl Installation {
    /// Finds it. Without a profile for this build of the provider, it first calibrates (under a minute, with a message).
    ///
    /// # Errors
    /// If something is missing or does not work, with the remedy.
    pub fn find(arguments: &InstallationArguments) -> Result<Self, Failure> {
        let search = Search::new(arguments, true)?;
        if search.seconds_to_calibrate() > 0.0 {
            eprintln!(
                "Calibrating: measuring each operation with stock OpenSSL and with Outboard (under a minute)"
            );
        }
        match search.calibrate()? {
            Some(conclusion) => eprintln!("{}", conclusion.trim_end()),
            None => search.remark_on_profile(arguments),
        }
        search.installation()
    }
}

impl Search {
    /// Looks for the provider, the command and a profile. Without a profile for this build of the provider, the caller
    /// measures one, unless `calibrate` is false: the provider then makes its own choice.
    ///
    /// # Errors
    /// If something is missing, with the remedy.
    pub fn new(arguments: &InstallationArguments, calibrate: bool) -> Result<Self, Failure> {
        let module = find_module(arguments.module.as_deref())?;
        let profile = match &arguments.profile {
            Some(profile) => Profile::Is(
                profile
                    .canonicalize()
                    .map_err(|error| format!("cannot read {}: {error}", profile.display()))?,
            ),
            None if calibrate => find_profile(&module)?,
            None => Profile::Providers,
        };
        Ok(Self {
            command: find_command(arguments)?,
            module,
            profile,
        })
    }

    /// How long [`Search::calibrate`] takes, about, in seconds.
    pub fn seconds_to_calibrate(&self) -> f64 {
        match self.profile {
            Profile::Lacking(_) => 42.0,
            _ => 0.0,
        }
    }

    /// Measures the profile where it is lacking. What the command concludes, below its table: a warning, too, if the machine was busy.
    ///
    /// # Errors
    /// If there is no place for the profile, or the command `outboard` fails.
    pub fn calibrate(&self) -> Result<Option<String>, Failure> {
        let Profile::Lacking(profile) = &self.profile else {
            return Ok(None);
        };
        if let Some(directory) = profile.parent() {
            std::fs::create_dir_all(directory)
                .map_err(|error| format!("cannot make {}: {error}", directory.display()))?;
        }
        // If the command is killed, its files disappear with ours.
        let temporary = Workplace::new()?;
        let finished = Launch::at(&self.command)
            .args(["calibrate", "--output"])
            .arg(profile)
            .arg("--module")
            .arg(&self.module)
            .env("TMPDIR", temporary.path())
            .limit(Duration::from_secs(180))
            .succeed()?;
        let (_table, conclusion) = finished.output.split_once("\n\n").unwrap_or_default();
        Ok(Some(conclusion.to_owned()))
    }

    /// Names the profile that was there, and what measures it anew: nobody else does.
    fn remark_on_profile(&self, arguments: &InstallationArguments) {
        if let (Profile::Is(profile), None) = (&self.profile, &arguments.profile) {
            eprintln!(
                "The profile is {} (delete it to measure again)",
                profile.display()
            );
        }
    }

    /// All together, once there is a profile.
    ///
    /// # Errors
    /// If the command `outboard` fails.
    pub fn installation(self) -> Result<Installation, Failure> {
        let profile = match self.profile {
            Profile::Providers => None,
            Profile::Is(profile) | Profile::Lacking(profile) => Some(profile),
        };
        Ok(Installation {
            proofs: Proofs::new(self.command.clone(), profile.as_deref())?,
            command: self.command,
            outboard: Outboard {
                module: self.module,
                offer: Offer::Profile,
                profile,
            },
        })
    }
}

/// The module that was named; else the one beside this program, or where OpenSSL keeps its modules.
pub(crate) fn find_module(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let mut candidates = match named {
        Some(module) => vec![module.to_owned()],
        None => vec![beside_us("liboutboard.so"), beside_us("outboard.so")],
    };
    if named.is_none() && existing(&candidates).is_none() {
        candidates.extend(modules_directory().map(|directory| directory.join("outboard.so")));
    }
    existing(&candidates).ok_or_else(|| not_found("the provider", &candidates, "--module"))
}

/// Where OpenSSL keeps its modules, as it says itself: `MODULESDIR: "/usr/lib/…"`.
fn modules_directory() -> Option<PathBuf> {
    let told = Launch::new("openssl").ok()?.args(["version", "-m"]);
    let told = told.succeed().ok()?;
    let (_, quoted) = told.output.split_once('"')?;
    Some(quoted.split_once('"')?.0.into())
}

/// What `outboard-bench handshake` preloads: beside this program in a build, below `lib` once installed.
pub(crate) fn find_stopwatch(named: Option<&Path>) -> Result<PathBuf, Failure> {
    const FILE: &str = "liboutboard_stopwatch.so";
    let candidates = match named {
        Some(library) => vec![library.to_owned()],
        None => vec![beside_us(FILE), beside_us("../lib/outboard").join(FILE)],
    };
    existing(&candidates).ok_or_else(|| not_found("the stopwatch", &candidates, "--stopwatch"))
}

/// The PKCS #11 module: beside the command in a build, below `lib` once installed.
pub(crate) fn find_pkcs11(command: &Path) -> Result<PathBuf, Failure> {
    let here = command.parent().unwrap_or(Path::new("."));
    let candidates = [
        here.join("liboutboard_pkcs11.so"),
        here.join("../lib/outboard/outboard-pkcs11.so"),
    ];
    existing(&candidates).ok_or_else(|| not_found("the PKCS #11 module", &candidates, "--outboard"))
}

/// The C library of CCA verbs: beside the command in a build, below `lib` once installed.
pub(crate) fn find_cca(command: &Path) -> Result<PathBuf, Failure> {
    const FILE: &str = "libcsulcca.so";
    let here = command.parent().unwrap_or(Path::new("."));
    let candidates = [here.join(FILE), here.join("../lib/outboard").join(FILE)];
    existing(&candidates)
        .ok_or_else(|| not_found("the library of CCA verbs", &candidates, "--outboard"))
}

/// The provider for Java: where the module is. It is there only if a JDK was.
pub(crate) fn find_jar(command: &Path) -> Option<PathBuf> {
    let here = command.parent().unwrap_or(Path::new("."));
    let candidates = [
        here.join("outboard.jar"),
        here.join("../lib/outboard/outboard.jar"),
    ];
    existing(&candidates)
}

/// The card service's program: beside the command in a build, in `sbin` once installed.
pub(crate) fn find_daemon(command: &Path) -> Result<PathBuf, Failure> {
    const FILE: &str = "outboardd";
    let here = command.parent().unwrap_or(Path::new("."));
    let candidates = [here.join(FILE), here.join("../sbin").join(FILE)];
    existing(&candidates).ok_or_else(|| not_found("the card service", &candidates, "--outboard"))
}

fn find_command(arguments: &InstallationArguments) -> Result<PathBuf, Failure> {
    let mut candidates = vec![beside_us("outboard")];
    let path = env::var_os("PATH").unwrap_or_default();
    candidates.extend(env::split_paths(&path).map(|directory| directory.join("outboard")));
    if let Some(command) = &arguments.outboard {
        candidates = vec![command.clone()];
    }
    existing(&candidates)
        .ok_or_else(|| not_found("the command outboard", &candidates[..1], "--outboard"))
}

/// The first profile that is younger than the module, else the place for a new one. A profile of another build says
/// nothing about this build.
///
/// A fresh build has its profile beside it. An installed Outboard has the system's profile, the user's, or one in the
/// user's cache: a measurement does not change what the system's programs do.
fn find_profile(module: &Path) -> Result<Profile, Failure> {
    let installed = modules_directory()
        .and_then(|directory| directory.canonicalize().ok())
        .is_some_and(|directory| module.parent() == Some(&directory));
    let own = match home("XDG_CACHE_HOME", ".cache") {
        _ if !installed => module.with_file_name("outboard-profile.json"),
        Some(cache) => cache.join("outboard/bench-profile.json"),
        None => {
            return Err(
                "neither XDG_CACHE_HOME nor HOME is set, so there is no place for a profile (give --profile)"
                    .into(),
            );
        }
    };
    let mut candidates = vec![own.clone()];
    if installed {
        candidates.extend(home("XDG_STATE_HOME", ".local/state").map(|state| state.join(PROFILE)));
        candidates.push(Path::new("/var/lib").join(PROFILE));
    }
    let changed = |path: &Path| {
        path.metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
    };
    let young = |candidate: &PathBuf| changed(candidate) > changed(module);
    Ok(match candidates.into_iter().find(young) {
        Some(profile) => Profile::Is(profile),
        None => Profile::Lacking(own),
    })
}

/// Where `outboard calibrate` writes below a directory of state.
const PROFILE: &str = "outboard/profile.json";

/// A directory of the XDG base directory specification.
fn home(variable: &str, otherwise: &str) -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty());
    let own = set(variable).map(PathBuf::from);
    own.filter(|path| path.is_absolute())
        .or_else(|| set("HOME").map(|home| Path::new(&home).join(otherwise)))
}

fn beside_us(name: &str) -> PathBuf {
    let program = env::current_exe().unwrap_or_default();
    program.parent().unwrap_or(Path::new(".")).join(name)
}

/// The first that exists, as an absolute path: programs change their directory.
fn existing(candidates: &[PathBuf]) -> Option<PathBuf> {
    candidates
        .iter()
        .find(|candidate| candidate.is_file())
        .and_then(|candidate| candidate.canonicalize().ok())
}

fn not_found(what: &str, candidates: &[PathBuf], option: &str) -> Failure {
    let places: Vec<String> = candidates
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    format!(
        "cannot find {what} in {} (run 'make' or 'make install', or give {option})",
        places.join(", ")
    )
    .into()
}
