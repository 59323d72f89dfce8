//! What the store knows of master keys and of its audit log's end: patterns, the roll's phase, the head.
//!
//! It is stored twice, in two tables, each copy with its digest: damage to one loses nothing.

use serde::Serialize;

use crate::cipher;
use crate::encoding::{Reader, Writer};
use crate::error::{Error, Result};
use crate::master::{MasterKey, Pattern, Register};

/// Where the roll of the master key is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// No roll is under way.
    Idle,
    /// Keys are being wrapped under the new master key, too.
    Preparing,
    /// Every key is wrapped under both.
    Prepared,
    /// The new master key is the current one; wrappings under the old one are still there.
    Activated,
}

/// The patterns in the registers, the phase, the audit log's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) phase: Phase,
    pub(crate) new: Option<Pattern>,
    pub(crate) current: Option<Pattern>,
    pub(crate) old: Option<Pattern>,
    /// The audit log's last entry.
    pub(crate) head: Head,
    /// The last entry that was written while the master key was there.
    pub(crate) sealed: Option<Seal>,
}

/// An entry of the audit log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) number: u64,
    pub(crate) hash: [u8; 32],
}

/// An authenticated entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) head: Head,
    pub(crate) code: [u8; 32],
}

impl State {
    /// Of a store that never had a master key.
    pub(crate) fn empty() -> Self {
        Self {
            phase: Phase::Idle,
            new: None,
            current: None,
            old: None,
            head: Head::default(),
            sealed: None,
        }
    }

    pub(crate) fn pattern(&self, register: Register) -> Option<Pattern> {
        match register {
            Register::New => self.new,
            Register::Current => self.current,
            Register::Old => self.old,
        }
    }

    /// Authenticates the log's head, the registers and the phase.
    pub(crate) fn seal(&mut self, master: &MasterKey) -> Result<()> {
        let code = master.code(&self.to_seal(self.head))?;
        self.sealed = Some(Seal {
            head: self.head,
            code,
        });
        Ok(())
    }

    /// Whether the seal is that of this master key. No seal is none.
    pub(crate) fn is_sealed_by(&self, master: &MasterKey) -> Result<bool> {
        let Some(seal) = &self.sealed else {
            return Ok(false);
        };
        let code = master.code(&self.to_seal(seal.head))?;
        Ok(cipher::equal(&code, &seal.code))
    }

    fn to_seal(&self, head: Head) -> Vec<u8> {
        let mut writer = Writer::labelled("outboard vault head 1");
        self.write_registers(&mut writer);
        writer.u64(head.number).bytes(&head.hash);
        writer.finish()
    }

    fn write_registers(&self, writer: &mut Writer) {
        writer.u8(self.phase as u8);
        for pattern in [self.new, self.current, self.old] {
            writer.optional(pattern.map(|pattern| u64::from_be_bytes(pattern.0)));
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::labelled("outboard vault state 1");
        self.write_registers(&mut writer);
        writer.u64(self.head.number).bytes(&self.head.hash);
        match &self.sealed {
            None => writer.u8(0),
            Some(seal) => writer
                .u8(1)
                .u64(seal.head.number)
                .bytes(&seal.head.hash)
                .bytes(&seal.code),
        };
        writer.finish()
    }

    pub(crate) fn decode(encoding: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(encoding);
        if reader.bytes()? != b"outboard vault state 1" {
            return None;
        }
        let phase = match reader.u8()? {
            0 => Phase::Idle,
            1 => Phase::Preparing,
            2 => Phase::Prepared,
            3 => Phase::Activated,
            _ => return None,
        };
        let mut pattern = || {
            let number = reader.optional()?;
            Some(number.map(|number| Pattern(number.to_be_bytes())))
        };
        let (new, current, old) = (pattern()?, pattern()?, pattern()?);
        let head = |reader: &mut Reader<'_>| {
            Some(Head {
                number: reader.u64()?,
                hash: reader.bytes()?.try_into().ok()?,
            })
        };
        let state = Self {
            phase,
            new,
            current,
            old,
            head: head(&mut reader)?,
            sealed: match reader.u8()? {
                0 => None,
                1 => Some(Seal {
                    head: head(&mut reader)?,
                    code: reader.bytes()?.try_into().ok()?,
                }),
                _ => return None,
            },
        };
        reader.finish()?;
        Some(state)
    }
}

/// The master keys that are in memory.
#[derive(Default)]
pub(crate) struct Masters {
    pub(crate) new: Option<MasterKey>,
    pub(crate) current: Option<MasterKey>,
    pub(crate) old: Option<MasterKey>,
}

impl Masters {
    pub(crate) fn register(&self, register: Register) -> Option<&MasterKey> {
        match register {
            Register::New => self.new.as_ref(),
            Register::Current => self.current.as_ref(),
            Register::Old => self.old.as_ref(),
        }
    }

    pub(crate) fn register_mut(&mut self, register: Register) -> &mut Option<MasterKey> {
        match register {
            Register::New => &mut self.new,
            Register::Current => &mut self.current,
            Register::Old => &mut self.old,
        }
    }

    /// The key with that pattern.
    pub(crate) fn with_pattern(&self, pattern: Option<Pattern>) -> Option<&MasterKey> {
        let keys = [&self.current, &self.new, &self.old];
        let mut keys = keys.into_iter().flatten();
        keys.find(|key| Some(key.pattern()) == pattern)
    }

    /// The current key.
    pub(crate) fn current(&self, state: &State) -> Result<&MasterKey> {
        match (&self.current, state.current) {
            (Some(key), _) => Ok(key),
            (None, Some(expected)) => Err(Error::Locked { expected }),
            (None, None) => Err(Error::Empty),
        }
    }

    /// The keys that a key is wrapped under when it is written: the current one, and the roll's other one if it is there.
    pub(crate) fn to_write(&self, state: &State) -> Result<Vec<&MasterKey>> {
        let other = match state.phase {
            Phase::Idle => None,
            Phase::Preparing | Phase::Prepared => self.new.as_ref(),
            Phase::Activated => self.old.as_ref(),
        };
        Ok(std::iter::once(self.current(state)?).chain(other).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written_and_sealed_by_its_key() {
        let mut state = State {
            phase: Phase::Prepared,
            new: Some(Pattern([1; 8])),
            current: Some(Pattern([2; 8])),
            old: None,
            head: Head {
                number: 7,
                hash: [3; 32],
            },
            sealed: None,
        };
        assert_eq!(State::decode(&state.encode()), Some(state.clone()));
        let master = MasterKey::new(&[1; 32]).expect("a key");
        assert!(!state.is_sealed_by(&master).expect("memory"));
        state.seal(&master).expect("memory");
        assert_eq!(State::decode(&state.encode()), Some(state.clone()));
        assert!(state.is_sealed_by(&master).expect("memory"));
        state.phase = Phase::Idle;
        assert!(!state.is_sealed_by(&master).expect("memory"));
    }
}
