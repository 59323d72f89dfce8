//! What a program that starts needs of a profile: what was decided, without all that it follows from.
//!
//! A saved profile begins with that, and has several times as much behind it. Every program that loads the
//! provider reads it, so only the beginning is read, and that only once.

use std::fmt;
use std::path::Path as FilePath;

use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};

use super::{
    BreakEven, Choices, LanesMeasurement, Libcrypto, Machine, Profile, ProfileError, Queueing,
    SCHEMA, VERSION, built_in, lanes, open_regular, read_at_most, same_place,
};

/// How much is read first: longer than any beginning that was saved so far.
const BEGINNING: u64 = 8 << 10;

/// What follows it. No string can hold this: in a string a line's end has another form.
const NEXT: &[u8] = b",\n  \"measurements\": [";

/// Which path each operation takes, and when the lanes pay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Which path each operation takes.
    pub choices: Choices,
    /// How many requests must come together for the lanes to pay.
    pub break_even: BreakEven,
}

impl Decision {
    /// Of the profile at `path`, if it holds for this machine and this version of libcrypto: as
    /// [`Profile::load`] has it, but what is behind its beginning is not looked at.
    ///
    /// # Errors
    /// As [`Profile::load`].
    pub fn load(
        path: &FilePath,
        machine: &Machine,
        libcrypto_version: &str,
    ) -> Result<Self, ProfileError> {
        Self::load_against(path, machine, Some(libcrypto_version))
    }

    /// The same against whichever libcrypto it was measured.
    ///
    /// # Errors
    /// As [`Profile::read`], and where it was measured on another machine.
    pub fn load_any(path: &FilePath, machine: &Machine) -> Result<Self, ProfileError> {
        Self::load_against(path, machine, None)
    }

    fn load_against(
        path: &FilePath,
        machine: &Machine,
        libcrypto_version: Option<&str>,
    ) -> Result<Self, ProfileError> {
        let (file, length) = open_regular(path)?;
        let text = read_at_most(path, &file, BEGINNING, length.min(BEGINNING))?;
        drop(file);
        let is_ours = |theirs: &Machine, version: &str| {
            let versions = (version, libcrypto_version.unwrap_or(version));
            same_place(path, (theirs, machine), versions)
        };
        match Beginning::of(text) {
            Some(beginning) => {
                is_ours(&beginning.machine, &beginning.libcrypto.version)?;
                let break_even = lanes::break_even(&beginning.lanes, &beginning.queueing);
                Ok(Self {
                    choices: beginning.choices,
                    break_even: break_even.as_chosen(&beginning.choices),
                })
            }
            // Ordered otherwise, longer, or no profile at all.
            None => {
                let profile = Profile::read(path)?;
                is_ours(&profile.machine, &profile.libcrypto.version)?;
                Ok(profile.into())
            }
        }
    }

    /// What is known of processors of this class without measuring.
    pub fn built_in(machine: &Machine, libcrypto_version: &str) -> Self {
        let choices = built_in::choices(machine, libcrypto_version);
        Self {
            choices,
            break_even: BreakEven::built_in(machine).as_chosen(&choices),
        }
    }
}

impl From<Profile> for Decision {
    fn from(profile: Profile) -> Self {
        Self {
            break_even: profile.break_even(),
            choices: profile.choices,
        }
    }
}

/// What a profile begins with.
struct Beginning {
    machine: Machine,
    libcrypto: Libcrypto,
    choices: Choices,
    lanes: Vec<LanesMeasurement>,
    queueing: Queueing,
}

impl Beginning {
    /// That of a profile whose text begins so; none if it is not all there.
    fn of(mut text: Vec<u8>) -> Option<Self> {
        end(&mut text);
        let mut found = Found::default();
        // An error, too, if nothing is wrong, where the text goes on after what the visitor wants.
        let _ = serde_json::Deserializer::from_slice(&text).deserialize_map(&mut found);
        found.complete()
    }
}

/// Ends the text where a saved profile's beginning does, so that it is a whole of its own: to say where an error is,
/// the parser asks the processor what it can do, and in a virtual machine each CPUID takes 5 to 20 µs. Text that was
/// saved otherwise goes on.
fn end(text: &mut Vec<u8>) {
    let next = |part: &[u8]| part[0] == b',' && part == NEXT;
    if let Some(end) = text.windows(NEXT.len()).rposition(next) {
        text.truncate(end);
        text.push(b'}');
    }
}

/// The parts of it, as they come.
#[derive(Default)]
struct Found {
    schema: Option<String>,
    version: Option<u32>,
    machine: Option<Machine>,
    libcrypto: Option<Libcrypto>,
    choices: Option<Choices>,
    lanes: Option<Vec<LanesMeasurement>>,
    queueing: Option<Queueing>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Field {
    Schema,
    Version,
    Machine,
    Libcrypto,
    Choices,
    Lanes,
    /// The last one, as profiles are saved.
    Queueing,
    #[serde(other)]
    Other,
}

impl<'de> Visitor<'de> for &mut Found {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a profile")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<(), A::Error> {
        while self.queueing.is_none() {
            match parts.next_key()? {
                Some(Field::Schema) => self.schema = Some(parts.next_value()?),
                Some(Field::Version) => self.version = Some(parts.next_value()?),
                Some(Field::Machine) => self.machine = Some(parts.next_value()?),
                Some(Field::Libcrypto) => self.libcrypto = Some(parts.next_value()?),
                Some(Field::Choices) => self.choices = Some(parts.next_value()?),
                Some(Field::Lanes) => self.lanes = Some(parts.next_value()?),
                Some(Field::Queueing) => self.queueing = Some(parts.next_value()?),
                Some(Field::Other) => drop(parts.next_value::<IgnoredAny>()?),
                None => break,
            }
        }
        Ok(())
    }
}

impl Found {
    /// All of it, if it is a profile that we understand.
    fn complete(self) -> Option<Beginning> {
        if self.schema? != SCHEMA || self.version? != VERSION {
            return None;
        }
        Some(Beginning {
            machine: self.machine?,
            libcrypto: self.libcrypto?,
            choices: self.choices?,
            lanes: self.lanes?,
            queueing: self.queueing?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_what_is_saved_is_read_without_an_error() {
        let directory = tempfile::tempdir().expect("the temporary directory is writable");
        let path = directory.path().join("profile.json");
        let profile = Profile::empty(Machine::glance(), "3.0.19");
        profile.save(&path).expect("the directory is ours");
        let mut text = std::fs::read(&path).expect("it was just saved");
        end(&mut text);
        let mut found = Found::default();
        let read = serde_json::Deserializer::from_slice(&text).deserialize_map(&mut found);
        assert!(read.is_ok(), "{read:?}");
        assert!(found.complete().is_some());
    }
}
