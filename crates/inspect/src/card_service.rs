//! Where the card service of this system's programs is, and whether it answers.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use outboard_administration::{Connection, Error, KeyUsage, Reply, Request, Status};
use outboard_installation::{self as installation, InForce};
use outboard_openssl_conf::Config;
pub use outboard_wire::directory_option as option;
use outboard_wire::{ADMINISTRATION_SOCKET, SYSTEM_DIRECTORY};
use outboard_wording::printable;

/// How long a command that only looks waits for an answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where the service is that programs ask.
#[derive(Clone, Debug)]
pub struct Place {
    /// The directory of its sockets.
    pub directory: PathBuf,
    /// The setting `service` that names the directory, where there is one.
    pub setting: Option<Setting>,
    /// systemd's units of the service, where systemd runs and has them. None for other directories than the system's.
    pub units: Vec<Unit>,
}

/// Where the setting `service` is.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The configuration that has it.
    pub file: PathBuf,
    /// The section in which it is.
    pub section: String,
}

impl Place {
    /// The one that programs use which read the configuration in force.
    pub fn in_force() -> Self {
        let (directory, setting) = match setting() {
            Some((directory, setting)) => (directory, Some(setting)),
            None => (PathBuf::from(SYSTEM_DIRECTORY), None),
        };
        let is_system = directory == Path::new(SYSTEM_DIRECTORY);
        Self {
            directory,
            setting,
            units: if is_system { Unit::all() } else { Vec::new() },
        }
    }

    /// Whether this is the system's service, which systemd starts.
    pub fn is_system(&self) -> bool {
        self.directory == Path::new(SYSTEM_DIRECTORY)
    }

    /// Whether somebody wants the service to run: the configuration names it, or systemd starts it.
    pub fn is_expected(&self) -> bool {
        self.setting.is_some() || self.units.iter().any(Unit::is_enabled)
    }

    /// Whether there is anything to say of a service.
    pub fn is_known(&self) -> bool {
        let is_used = |unit: &Unit| unit.is_masked() || unit.has_failed();
        self.is_expected() || self.directory.exists() || self.units.iter().any(is_used)
    }

    /// The option that names its directory.
    pub fn option(&self) -> String {
        option(&self.directory)
    }

    /// The socket of administration.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(ADMINISTRATION_SOCKET)
    }

    /// Asks the service how it does.
    pub fn ask(&self) -> Answer {
        self.ask_for(|service| match service.ask(&Request::Status)? {
            Reply::Status(status) => Ok(status),
            _ => Err(service.surprised()),
        })
    }

    /// Asks the service who used which key, as far as this user may know.
    pub fn usage(&self) -> Answer<Usage> {
        self.ask_for(|service| {
            let mut all = Usage::default();
            let mut after = None;
            loop {
                match service.ask(&Request::Usage { after })? {
                    Reply::Usage { since, keys, next } => {
                        all.since = since;
                        all.keys.extend(keys.into_iter().map(shown));
                        after = next;
                    }
                    _ => return Err(service.surprised()),
                }
                if after.is_none() {
                    all.keys.sort_by(|one, other| one.name.cmp(&other.name));
                    return Ok(all);
                }
            }
        })
    }

    /// Asks the service for something.
    pub fn ask_for<T>(&self, ask: impl FnOnce(&mut Connection) -> Result<T, Error>) -> Answer<T> {
        let asked = self.connect().and_then(|mut service| ask(&mut service));
        match asked {
            Ok(told) => Answer::Up(told),
            Err(Error::Unreachable { reason, .. }) => match reason.kind() {
                io::ErrorKind::NotFound if !self.directory.exists() => Answer::NoDirectory,
                io::ErrorKind::PermissionDenied => Answer::Refused,
                _ => Answer::Down,
            },
            Err(Error::Lost { .. } | Error::Silent { .. }) => Answer::Silent,
            Err(error) => Answer::Strange(error.to_string()),
        }
    }

    /// A connection that does not wait long for answers.
    pub fn connect(&self) -> Result<Connection, Error> {
        Connection::open_for(&self.directory, PATIENCE)
    }
}

/// Who used which key since the service started.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    /// When that was, in seconds since 1970.
    pub since: u64,
    /// The keys that were used, by name.
    pub keys: Vec<KeyUsage>,
}

/// With commands that steer no terminal: a process chooses its own.
fn shown(mut key: KeyUsage) -> KeyUsage {
    for process in &mut key.processes {
        process.command = process.command.as_deref().map(printable);
    }
    key
}

/// The time that the service gives as seconds since 1970.
pub fn time_of(seconds: u64) -> SystemTime {
    let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    time.unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Whether the service answers.
#[derive(Clone, Debug)]
pub enum Answer<T = Box<Status>> {
    /// It does.
    Up(T),
    /// Its directory does not exist.
    NoDirectory,
    /// Nobody listens.
    Down,
    /// This user may not connect.
    Refused,
    /// It accepts connections and says nothing.
    Silent,
    /// It says what this command does not understand.
    Strange(String),
}

impl<T> Answer<T> {
    /// What it told.
    pub fn told(&self) -> Option<&T> {
        match self {
            Self::Up(told) => Some(told),
            _ => None,
        }
    }

    /// In one word, for documents.
    pub fn state(&self) -> &'static str {
        match self {
            Self::Up(_) => "running",
            Self::NoDirectory => "none",
            Self::Down => "down",
            Self::Refused => "refused",
            Self::Silent => "silent",
            Self::Strange(_) => "strange",
        }
    }

    /// Why it told nothing; none where it did, or where nobody expects a service.
    pub fn trouble(&self, place: &Place) -> Option<String> {
        let option = place.option();
        Some(match self {
            Self::Up(_) => return None,
            Self::NoDirectory if !place.is_expected() => return None,
            Self::NoDirectory | Self::Down => {
                format!("does not run (run 'outboard service start{option}')")
            }
            Self::Refused => format!(
                "does not let this user ask: {} refuses the connection (ask root; 'outboard doctor' says why)",
                place.socket().display()
            ),
            Self::Silent => "does not answer (run 'outboard doctor')".to_owned(),
            Self::Strange(reason) => format!("does not tell: {reason}"),
        })
    }
}

/// The directory that the configuration in force names.
fn setting() -> Option<(PathBuf, Setting)> {
    let in_force = InForce::find(&installation::library().ok()?).ok()?;
    let file = in_force.path()?.to_owned();
    let text = in_force.read().ok()?;
    let config = Config::parse(&text, in_force.name(), installation::environment).ok()?;
    let section = config.outboard()?.section.clone();
    let directory = PathBuf::from(&config.assignment(&section, "service")?.value);
    Some((directory, Setting { file, section }))
}

/// A unit of systemd, as `systemctl show` tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unit {
    /// Such as `outboard.socket`.
    pub name: String,
    /// loaded, masked, not-found, …
    load: String,
    /// active, inactive, failed, activating, …
    active: String,
    /// running, auto-restart, …
    sub: String,
    /// Why it failed: exit-code, signal, …
    pub result: String,
    /// enabled, disabled, masked, …
    file: String,
}

impl Unit {
    /// The service's units; none where systemd does not run, or does not have them.
    fn all() -> Vec<Self> {
        let shown = Command::new("systemctl")
            .args(["show", "outboard.service", "outboard.socket"])
            .args(["outboard-agent.service", "outboard-agent.socket"])
            .args([
                "--property",
                "Id,LoadState,ActiveState,SubState,Result,UnitFileState",
            ])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output();
        match shown {
            Ok(shown) if shown.status.success() => {
                Self::parse(&String::from_utf8_lossy(&shown.stdout))
            }
            _ => Vec::new(),
        }
    }

    fn parse(shown: &str) -> Vec<Self> {
        let unit = |text: &str| {
            let value = |name: &str| {
                let mut values = text.lines().filter_map(|line| line.split_once('='));
                let found = values.find(|(key, _)| *key == name);
                found.map_or_else(String::new, |(_, value)| value.to_owned())
            };
            Self {
                name: value("Id"),
                load: value("LoadState"),
                active: value("ActiveState"),
                sub: value("SubState"),
                result: value("Result"),
                file: value("UnitFileState"),
            }
        };
        let units = shown.trim().split("\n\n").map(unit);
        units
            .filter(|unit| !unit.name.is_empty() && unit.load != "not-found")
            .collect()
    }

    /// Whether systemd starts it at boot.
    pub fn is_enabled(&self) -> bool {
        self.file == "enabled" || self.file == "enabled-runtime"
    }

    /// Whether it is of the front for ssh clients.
    pub fn is_front(&self) -> bool {
        self.name.starts_with("outboard-agent.")
    }

    /// Whether it runs now.
    pub fn is_active(&self) -> bool {
        self.active == "active"
    }

    /// Whether systemd refuses to start it.
    pub fn is_masked(&self) -> bool {
        self.load == "masked" || self.file.starts_with("masked")
    }

    /// Whether it ended with an error. systemd may try again meanwhile.
    pub fn has_failed(&self) -> bool {
        let is_tried_again = self.active == "activating" && self.sub == "auto-restart";
        self.active == "failed" || (is_tried_again && self.result != "success")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read_as_systemctl_shows_them() {
        let shown = "\
Id=outboard.service
LoadState=loaded
ActiveState=activating
SubState=auto-restart
Result=exit-code
UnitFileState=enabled

Id=outboard.socket
LoadState=masked
ActiveState=inactive
SubState=dead
Result=success
UnitFileState=masked
";
        let units = Unit::parse(shown);
        assert_eq!(units.len(), 2);
        assert!(units[0].is_enabled() && units[0].has_failed() && !units[0].is_masked());
        assert!(units[1].is_masked() && !units[1].has_failed() && !units[1].is_enabled());
        let gone = "Id=outboard.service\nLoadState=not-found\nActiveState=inactive\n";
        assert_eq!(Unit::parse(gone), []);
        assert_eq!(Unit::parse(""), []);
    }
}
