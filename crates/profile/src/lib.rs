//! The profile: what each operation costs on each path on this machine, and which path it therefore
//! takes.
//!
//! ```text
//! outboard calibrate ──▶ measurements ──decide──▶ choices ──save──▶ profile.json
//!                                                                        │ load (or built_in)
//! provider at its start ◀── Decision: choices, when lanes pay ◀──────────┘
//! ```

mod break_even;
mod built_in;
mod choices;
mod decision;
mod error;
mod lanes;
pub mod machine;
pub mod rollout;
mod serving;
pub mod settings;
mod time;
mod verdict;

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path as FilePath, PathBuf};
use std::time::SystemTime;

use outboard_operation::{Operation, Path};
use serde::{Deserialize, Serialize};

pub use break_even::BreakEven;
pub use choices::Choices;
pub use decision::Decision;
pub use error::ProfileError;
pub use lanes::{LanesMeasurement, Queueing};
pub use machine::{Machine, TakesLanes};
pub use rollout::Rollout;
pub use serving::{Serving, serving};
pub use time::rfc3339;
pub use verdict::Verdict;

/// Where the system's profile is, unless configured otherwise.
pub const SYSTEM_PATH: &str = "/var/lib/outboard/profile.json";

const SCHEMA: &str = "outboard-profile";
const VERSION: u32 = 2;
/// The version of Outboard.
const OURS: &str = env!("CARGO_PKG_VERSION");
/// A profile has some 15 kB.
const LARGEST: u64 = 1 << 20;

/// What was measured on a machine against a libcrypto, and what follows from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    schema: String,
    version: u32,
    /// When it was measured (RFC 3339); empty for a built-in profile.
    pub created: String,
    /// Where it holds.
    pub machine: Machine,
    /// Against what it was measured.
    pub libcrypto: Libcrypto,
    /// The version of Outboard that was measured.
    pub outboard: String,
    /// Which path each operation takes.
    pub choices: Choices,
    /// What the lanes gain; empty where there are none, and for a built-in profile.
    pub lanes: Vec<LanesMeasurement>,
    /// What a card costs. Saved before all that programs don't read at their start ([`Decision`]).
    pub queueing: Queueing,
    /// What was measured; empty for a built-in profile.
    pub measurements: Vec<Measurement>,
}

/// The program's own libcrypto.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Libcrypto {
    /// Its version, such as `3.0.22`.
    pub version: String,
}

/// One operation at one size on both paths, alternating in one process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// What was measured.
    pub operation: Operation,
    /// Bytes it worked on; 0 where that means nothing.
    pub size: u64,
    /// Median nanoseconds per operation on path `stock`.
    pub stock_ns: f64,
    /// Median nanoseconds per operation on path `scalar`.
    pub scalar_ns: f64,
    /// Median of the paired ratios stock / scalar: above 1, `scalar` is faster.
    pub ratio: f64,
    /// The lower quartile of the ratios.
    pub low: f64,
    /// The upper quartile of the ratios.
    pub high: f64,
}

impl Profile {
    /// What was measured just now on `machine` against that version of libcrypto, and what follows.
    pub fn measured(
        machine: Machine,
        libcrypto_version: &str,
        measurements: Vec<Measurement>,
    ) -> Self {
        Self {
            created: rfc3339(SystemTime::now()),
            choices: Self::decide(&measurements),
            measurements,
            ..Self::empty(machine, libcrypto_version)
        }
    }

    /// The same with what was measured of the lanes, and of cards, and with what follows from that.
    pub fn with_lanes(mut self, lanes: Vec<LanesMeasurement>, queueing: Queueing) -> Self {
        lanes::choose(&mut self.choices, &self.measurements, &lanes, &queueing);
        Self {
            lanes,
            queueing,
            ..self
        }
    }

    /// What is known of processors of this class without measuring.
    pub fn built_in(machine: &Machine, libcrypto_version: &str) -> Self {
        Self {
            choices: built_in::choices(machine, libcrypto_version),
            ..Self::empty(machine.clone(), libcrypto_version)
        }
    }

    /// The profile that the provider uses if its setting is `path`, and the reason if it is not the file at `path`.
    pub fn in_force(
        path: &FilePath,
        machine: &Machine,
        libcrypto_version: &str,
    ) -> (Self, Option<ProfileError>) {
        match Self::load(path, machine, libcrypto_version) {
            Ok(profile) => (profile, None),
            Err(error) => (Self::built_in(machine, libcrypto_version), Some(error)),
        }
    }

    /// Why it should be made anew though it is used, in words.
    pub fn out_of_date(&self, libcrypto_version: &str) -> Option<String> {
        let measured = (&*self.outboard, &*self.libcrypto.version);
        let now = (OURS, libcrypto_version);
        (measured != now).then(|| {
            format!(
                "it was measured with Outboard {} and OpenSSL {}; installed are {} and {}",
                measured.0, measured.1, now.0, now.1
            )
        })
    }

    /// The profile at `path`, if it holds for this machine and this version of libcrypto.
    ///
    /// # Errors
    /// Where there is none, it can't be read, is damaged, or was measured elsewhere.
    pub fn load(
        path: &FilePath,
        machine: &Machine,
        libcrypto_version: &str,
    ) -> Result<Self, ProfileError> {
        let profile = Self::read(path)?;
        same_place(
            path,
            (&profile.machine, machine),
            (&profile.libcrypto.version, libcrypto_version),
        )?;
        Ok(profile)
    }

    /// The profile at `path`, wherever it was measured.
    ///
    /// # Errors
    /// Where there is none, it can't be read, or is damaged.
    pub fn read(path: &FilePath) -> Result<Self, ProfileError> {
        let text = read_bounded(path)?;
        let damaged = |reason: String| ProfileError::Damaged {
            path: path.into(),
            reason,
        };
        // What a newer version means by its fields is not for us to guess: look at the version first
        // only if the whole makes no sense.
        match serde_json::from_slice::<Self>(&text) {
            Ok(profile) if profile.schema != SCHEMA => Err(damaged("it is something else".into())),
            Ok(profile) if profile.version != VERSION => Err(ProfileError::Version {
                path: path.into(),
                version: profile.version,
                outboard: profile.outboard,
            }),
            Ok(profile) => Ok(profile),
            Err(error) => Err(match serde_json::from_slice::<Heading>(&text) {
                Ok(heading) if heading.is_of_another_version() => ProfileError::Version {
                    path: path.into(),
                    version: heading.version,
                    outboard: heading.outboard,
                },
                _ => damaged(error.to_string()),
            }),
        }
    }

    /// Puts the profile at `path`, readable by all, whole or not at all.
    ///
    /// # Errors
    /// What the system says.
    pub fn save(&self, path: &FilePath) -> Result<(), ProfileError> {
        self.save_inner(path)
            .map_err(|source| ProfileError::Unwritable {
                path: path.into(),
                source,
            })
    }

    /// Which path each operation should take by its [`Verdict`].
    pub fn decide(measurements: &[Measurement]) -> Choices {
        let mut choices = Choices::default();
        for &operation in Operation::ALL {
            if Verdict::of(operation, measurements).is_ours() {
                choices.set(operation, Path::Scalar);
            }
        }
        choices
    }

    /// Whether Outboard should do this operation at all.
    pub fn offers(&self, operation: Operation) -> bool {
        self.path(operation) != Path::Stock
    }

    /// The path this operation takes.
    pub fn path(&self, operation: Operation) -> Path {
        self.choices.path(operation)
    }

    /// How many operations that every OpenSSL has take one of Outboard's own paths. 0: this machine has nothing to gain, as
    /// far as is known.
    pub fn chosen(&self) -> usize {
        Operation::compared()
            .filter(|&operation| self.offers(operation))
            .count()
    }

    /// How many requests must come together for the lanes to pay, and what goes across them alone.
    pub fn break_even(&self) -> BreakEven {
        let break_even = match self.is_built_in() {
            true => BreakEven::built_in(&self.machine),
            false => lanes::break_even(&self.lanes, &self.queueing),
        };
        break_even.as_chosen(&self.choices)
    }

    /// Whether this was built in, not measured.
    pub fn is_built_in(&self) -> bool {
        self.created.is_empty()
    }

    fn empty(machine: Machine, libcrypto_version: &str) -> Self {
        Self {
            schema: SCHEMA.into(),
            version: VERSION,
            created: String::new(),
            machine,
            libcrypto: Libcrypto {
                version: libcrypto_version.into(),
            },
            outboard: OURS.into(),
            choices: Choices::default(),
            lanes: Vec::new(),
            queueing: Queueing::default(),
            measurements: Vec::new(),
        }
    }

    fn save_inner(&self, path: &FilePath) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let temporary = temporary_beside(path);
        let outcome = (|| {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&temporary)?;
            file.write_all(&text)?;
            file.set_permissions(std::fs::Permissions::from_mode(0o644))?; // whatever the umask
            file.sync_all()?;
            std::fs::rename(&temporary, path)
        })();
        if outcome.is_err() {
            let _ = std::fs::remove_file(&temporary); // the first error is the one to tell
        }
        outcome?;
        // The new name, too, should survive a power cut.
        match path.parent().filter(|parent| *parent != FilePath::new("")) {
            Some(directory) => File::open(directory)?.sync_all(),
            None => File::open(".")?.sync_all(),
        }
    }
}

/// What every version of a profile begins with.
#[derive(Deserialize)]
struct Heading {
    schema: String,
    version: u32,
    outboard: String,
}

impl Heading {
    /// Whether what is not understood was made by another version, which may know other operations in the same format.
    fn is_of_another_version(&self) -> bool {
        self.schema == SCHEMA && (self.version != VERSION || self.outboard != OURS)
    }
}

/// Major and minor version: what decides a libcrypto's speed.
fn series(version: &str) -> (&str, &str) {
    let mut parts = version.splitn(3, '.');
    (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    )
}

/// Refuses a profile of another machine, or against another libcrypto: theirs, then ours.
fn same_place(
    path: &FilePath,
    machines: (&Machine, &Machine),
    versions: (&str, &str),
) -> Result<(), ProfileError> {
    if !machines.0.is_like(machines.1) {
        return Err(ProfileError::OtherMachine {
            path: path.into(),
            theirs: machines.0.told_apart(machines.1),
            ours: machines.1.told_apart(machines.0),
        });
    }
    if series(versions.0) != series(versions.1) {
        return Err(ProfileError::OtherLibcrypto {
            path: path.into(),
            theirs: versions.0.into(),
            ours: versions.1.into(),
        });
    }
    Ok(())
}

fn read_bounded(path: &FilePath) -> Result<Vec<u8>, ProfileError> {
    let (file, length) = open_regular(path)?;
    // One byte more than allowed tells a file that is too large, however large it says it is.
    let text = read_at_most(path, &file, LARGEST + 1, length)?;
    if text.len() as u64 > LARGEST {
        return Err(ProfileError::Damaged {
            path: path.into(),
            reason: "it is larger than a mebibyte".into(),
        });
    }
    Ok(text)
}

/// Opens what is a regular file; answers its length, too.
fn open_regular(path: &FilePath) -> Result<(File, u64), ProfileError> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY) // never wait for a pipe's other end
        .open(path)
        .map_err(|error| unreadable(path, error))?;
    let metadata = file.metadata().map_err(|error| unreadable(path, error))?;
    if !metadata.is_file() {
        return Err(ProfileError::Damaged {
            path: path.into(),
            reason: "it is no regular file".into(),
        });
    }
    Ok((file, metadata.len()))
}

/// So many bytes of it, or all that there are; room is made for the length that is expected.
fn read_at_most(
    path: &FilePath,
    file: &File,
    most: u64,
    expected: u64,
) -> Result<Vec<u8>, ProfileError> {
    let mut text = Vec::with_capacity(expected.min(LARGEST) as usize + 1);
    file.take(most)
        .read_to_end(&mut text)
        .map_err(|error| unreadable(path, error))?;
    Ok(text)
}

fn unreadable(path: &FilePath, source: io::Error) -> ProfileError {
    match source.kind() {
        io::ErrorKind::NotFound => ProfileError::Missing { path: path.into() },
        _ => ProfileError::Unreadable {
            path: path.into(),
            source,
        },
    }
}

fn temporary_beside(path: &FilePath) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}", std::process::id()));
    name.into()
}
