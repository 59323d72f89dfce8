//! Which path each operation takes.

use std::fmt;

use outboard_operation::{Operation, Path};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A path for every operation; `stock` unless something better is known.
///
/// In JSON an object: `{"rsa-2048-sign": "stock", …}`. An operation that it doesn't name takes `stock`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices([Path; Operation::COUNT]);

impl Choices {
    /// The path of an operation.
    pub const fn path(&self, operation: Operation) -> Path {
        self.0[operation as usize]
    }

    /// Chooses a path for an operation.
    pub const fn set(&mut self, operation: Operation, path: Path) {
        self.0[operation as usize] = path;
    }

    /// All operations and their paths.
    pub fn iter(&self) -> impl Iterator<Item = (Operation, Path)> {
        Operation::ALL.iter().copied().zip(self.0)
    }
}

impl Default for Choices {
    /// Everything stays with `stock`.
    fn default() -> Self {
        Self([Path::Stock; Operation::COUNT])
    }
}

impl Serialize for Choices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Choices {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Choices;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path for each operation")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Choices, A::Error> {
                let mut choices = Choices::default();
                while let Some((operation, path)) = pairs.next_entry()? {
                    choices.set(operation, path);
                }
                Ok(choices)
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}
