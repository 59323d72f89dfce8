//! Master keys: four kinds, each with registers new, current and old.
//!
//! A key is wrapped in a token under a key that belongs to what the token says of it:
//! ```text
//! wrapping base      = HMAC-SHA-256(master key, "outboard cca wrapping 1" ‖ kind)
//! key of one token   = HMAC-SHA-256(wrapping base, what the token says of its key: type, usage, length …)
//! wrapped key        = AES-256 key wrap (RFC 3394; RFC 5649 for private keys), which detects every change
//! verification pattern = the first 8 bytes of SHA-256(01 ‖ master key)
//! ```
//! So a token whose type or usage was edited does not unwrap: its key is wrapped under another key.

use outboard_engine::scalar::digest::{Digest, Hasher};
use outboard_engine::scalar::key_wrap::{self, Padding};
use outboard_engine::scalar::mac::{Mac, equal};
use outboard_engine::scalar::randomise;
use zeroize::Zeroizing;

use crate::algorithm::shamir;
use crate::answer::{Outcome, Refusal};

/// Which keys a master key wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// DES keys (SYM-MK).
    Symmetric,
    /// AES and HMAC keys (AES-MK).
    Aes,
    /// RSA keys (ASYM-MK).
    Asymmetric,
    /// Keys on elliptic curves (APKA-MK).
    Apka,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] = [Self::Symmetric, Self::Aes, Self::Asymmetric, Self::Apka];

    /// Bytes of the longest.
    const MOST_LENGTH: usize = 32;

    /// Bytes of the master key and of each part.
    pub(crate) fn length(self) -> usize {
        match self {
            Self::Symmetric | Self::Asymmetric => 24,
            Self::Aes | Self::Apka => 32,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Symmetric => "sym",
            Self::Aes => "aes",
            Self::Asymmetric => "asym",
            Self::Apka => "apka",
        }
    }
}

/// A verification pattern.
pub(crate) type Pattern = [u8; 8];

/// Which register a token is to be wrapped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
    New,
    Current,
}

/// A master key.
#[derive(Clone)]
pub(crate) struct MasterKey {
    key: Zeroizing<Vec<u8>>,
    base: Zeroizing<Vec<u8>>,
    pattern: Pattern,
}

impl MasterKey {
    fn new(kind: Kind, key: &[u8]) -> Outcome<Self> {
        let label = [
            b"outboard cca wrapping 1".as_slice(),
            kind.name().as_bytes(),
        ]
        .concat();
        let mut hasher = Hasher::new(Digest::Sha256)?;
        hasher.update(&[1])?;
        hasher.update(key)?;
        let mut pattern = [0; 8];
        pattern.copy_from_slice(&hasher.end()?[..8]);
        Ok(Self {
            key: Zeroizing::new(key.to_vec()),
            base: hmac(key, &label)?,
            pattern,
        })
    }

    pub(crate) fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// The share of that index of its bytes.
    pub(crate) fn share(&self, coefficients: &[u8], index: u8) -> Zeroizing<Vec<u8>> {
        shamir::share(&self.key, coefficients, index)
    }

    /// A key for what is no key: what a verb hides between two calls.
    pub(crate) fn derive(&self, said: &[u8]) -> Outcome<Zeroizing<Vec<u8>>> {
        hmac(&self.base, said)
    }

    /// Wraps a key that belongs to what is said of it.
    pub(crate) fn wrap(&self, said: &[u8], key: &[u8], padding: Padding) -> Outcome<Vec<u8>> {
        let wrapping = hmac(&self.base, said)?;
        Ok(key_wrap::wrap(&wrapping, key, padding)?)
    }

    /// The key, if this master key wrapped it and nothing that is said of it was changed.
    pub(crate) fn unwrap(
        &self,
        said: &[u8],
        wrapped: &[u8],
        padding: Padding,
    ) -> Outcome<Zeroizing<Vec<u8>>> {
        let wrapping = hmac(&self.base, said)?;
        key_wrap::unwrap(&wrapping, wrapped, padding).map_err(|error| match error {
            outboard_engine::Error::Resource => Refusal::Resource,
            _ => Refusal::InternalTvv,
        })
    }
}

fn hmac(key: &[u8], data: &[u8]) -> Outcome<Zeroizing<Vec<u8>>> {
    let mut mac = Mac::hmac(Digest::Sha256, key)?;
    mac.update(data)?;
    Ok(Zeroizing::new(mac.finish()?.to_vec()))
}

/// The state of the new register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NewState {
    Empty,
    /// Some parts are entered.
    Partial,
    /// The last part is entered.
    Full,
}

/// The registers of one kind.
#[derive(Clone, Default)]
pub(crate) struct Registers {
    new: Option<(Zeroizing<Vec<u8>>, bool)>,
    pub(crate) current: Option<MasterKey>,
    pub(crate) old: Option<MasterKey>,
}

impl Registers {
    pub(crate) fn new_state(&self) -> NewState {
        match &self.new {
            None => NewState::Empty,
            Some((_, false)) => NewState::Partial,
            Some((_, true)) => NewState::Full,
        }
    }

    /// The new master key, once its last part is entered.
    fn new_key(&self, kind: Kind) -> Outcome<MasterKey> {
        match &self.new {
            Some((key, true)) => MasterKey::new(kind, key),
            _ => Err(Refusal::RegisterState),
        }
    }

    /// With the first part, or a further one; `is_last` closes the register.
    pub(crate) fn with_part(
        &self,
        kind: Kind,
        part: &[u8],
        is_first: bool,
        is_last: bool,
    ) -> Outcome<Self> {
        if part.len() < kind.length() {
            return Err(Refusal::Size);
        }
        let part = &part[..kind.length()];
        let sum = match (&self.new, is_first) {
            (None, true) => Zeroizing::new(part.to_vec()),
            (Some((sum, false)), false) => Zeroizing::new(
                sum.iter()
                    .zip(part)
                    .map(|(one, other)| one ^ other)
                    .collect(),
            ),
            _ => return Err(Refusal::RegisterState),
        };
        if is_last && is_weak(kind, &sum) {
            return Err(Refusal::WeakMasterKey);
        }
        Ok(Self {
            new: Some((sum, is_last)),
            ..self.clone()
        })
    }

    pub(crate) fn with_random(&self, kind: Kind) -> Outcome<Self> {
        if self.new.is_some() {
            return Err(Refusal::RegisterState);
        }
        let mut key = Zeroizing::new(vec![0; kind.length()]);
        randomise(&mut key)?;
        Ok(Self {
            new: Some((key, true)),
            ..self.clone()
        })
    }

    /// With a whole key that came in shares.
    pub(crate) fn with_whole(&self, kind: Kind, key: Zeroizing<Vec<u8>>) -> Outcome<Self> {
        if self.new.is_some() {
            return Err(Refusal::RegisterState);
        }
        if is_weak(kind, &key) {
            return Err(Refusal::WeakMasterKey);
        }
        Ok(Self {
            new: Some((key, true)),
            ..self.clone()
        })
    }

    pub(crate) fn with_new_cleared(&self) -> Self {
        Self {
            new: None,
            ..self.clone()
        }
    }

    pub(crate) fn with_old_cleared(&self) -> Self {
        Self {
            old: None,
            ..self.clone()
        }
    }

    /// New becomes current, current becomes old.
    pub(crate) fn with_new_set(&self, kind: Kind) -> Outcome<Self> {
        Ok(Self {
            new: None,
            current: Some(self.new_key(kind)?),
            old: self.current.clone(),
        })
    }

    /// The pattern of the new register, once it is full.
    pub(crate) fn new_pattern(&self, kind: Kind) -> Option<Pattern> {
        self.new_key(kind).ok().map(|key| key.pattern)
    }

    fn value(&self) -> Zeroizing<Vec<u8>> {
        // Room that does not grow: what it left behind would have keys.
        let mut value = Zeroizing::new(Vec::with_capacity(1 + 3 * (1 + Kind::MOST_LENGTH)));
        let (state, new) = match &self.new {
            None => (0, None),
            Some((key, is_full)) => (1 + u8::from(*is_full), Some(key)),
        };
        value.push(state);
        let keys = [
            new,
            self.current.as_ref().map(|key| &key.key),
            self.old.as_ref().map(|key| &key.key),
        ];
        for key in keys {
            let key = key.map_or(&[][..], |key| key);
            value.push(key.len() as u8);
            value.extend_from_slice(key);
        }
        value
    }

    fn read(kind: Kind, value: &[u8]) -> Option<Self> {
        let (&state, mut rest) = value.split_first()?;
        let mut keys = Vec::new();
        for _ in 0..3 {
            let (&length, after) = rest.split_first()?;
            let (key, after) = after.split_at_checked(usize::from(length))?;
            if length != 0 && key.len() != kind.length() {
                return None;
            }
            keys.push((length != 0).then(|| Zeroizing::new(key.to_vec())));
            rest = after;
        }
        let [new, current, old] = <[_; 3]>::try_from(keys).ok()?;
        let full = |key: Option<Zeroizing<Vec<u8>>>| {
            key.map(|key| MasterKey::new(kind, &key)).transpose().ok()
        };
        Some(Self {
            new: match (state, new) {
                (0, None) => None,
                (1 | 2, Some(key)) => Some((key, state == 2)),
                _ => return None,
            },
            current: full(current)?,
            old: full(old)?,
        })
    }
}

/// A key whose thirds or halves are equal is less than it seems. (All zero, too.)
fn is_weak(kind: Kind, key: &[u8]) -> bool {
    let parts: Vec<_> = key
        .chunks(kind.length() / if kind.length() == 24 { 3 } else { 2 })
        .collect();
    (1..parts.len()).any(|at| parts[..at].iter().any(|part| equal(part, parts[at])))
}

/// All master keys of a card.
#[derive(Clone, Default)]
pub(crate) struct Masters([Registers; 4]);

impl Masters {
    pub(crate) fn of(&self, kind: Kind) -> &Registers {
        &self.0[kind as usize]
    }

    /// The current key.
    pub(crate) fn current(&self, kind: Kind) -> Outcome<&MasterKey> {
        self.of(kind).current.as_ref().ok_or(Refusal::NoMasterKey)
    }

    /// The key of a register to re-encipher to.
    pub(crate) fn in_register(&self, kind: Kind, register: Register) -> Outcome<MasterKey> {
        match register {
            Register::Current => self.current(kind).cloned(),
            Register::New => self.of(kind).new_key(kind),
        }
    }

    /// The key, current or old, that has that pattern.
    pub(crate) fn of_pattern(&self, kind: Kind, pattern: &[u8]) -> Outcome<&MasterKey> {
        let registers = self.of(kind);
        if registers.current.is_none() {
            return Err(Refusal::NoMasterKey);
        }
        let mut keys = registers.current.iter().chain(&registers.old);
        keys.find(|key| key.pattern[..] == *pattern)
            .ok_or(Refusal::UnknownMasterKey)
    }

    pub(crate) fn entry(kind: Kind, registers: &Registers) -> (String, Zeroizing<Vec<u8>>) {
        (format!("master/{}", kind.name()), registers.value())
    }

    pub(crate) fn set(&mut self, kind: Kind, registers: Registers) {
        self.0[kind as usize] = registers;
    }

    pub(crate) fn load(&mut self, name: &str, value: &[u8]) -> bool {
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        match kind.and_then(|kind| Some((kind, Registers::read(kind, value)?))) {
            Some((kind, registers)) => {
                self.set(kind, registers);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(first: u8) -> Vec<u8> {
        (0..32)
            .map(|place| first.wrapping_mul(31).wrapping_add(place))
            .collect()
    }

    #[test]
    fn a_master_key_is_the_sum_of_its_parts_and_comes_back_from_storage() {
        let kind = Kind::Aes;
        let registers = Registers::default();
        assert_eq!(
            registers.with_part(kind, &part(1), false, false).err(),
            Some(Refusal::RegisterState)
        );
        let one = registers.with_part(kind, &part(1), true, false).unwrap();
        assert_eq!(one.new_state(), NewState::Partial);
        assert_eq!(one.with_new_set(kind).err(), Some(Refusal::RegisterState));
        let two = one.with_part(kind, &part(2), false, true).unwrap();
        let set = two.with_new_set(kind).unwrap();
        let sum: Vec<u8> = part(1).iter().zip(part(2)).map(|(a, b)| a ^ b).collect();
        let wanted = MasterKey::new(kind, &sum).unwrap().pattern;
        assert_eq!(set.current.as_ref().map(|key| key.pattern), Some(wanted));
        let mut masters = Masters::default();
        let (name, value) = Masters::entry(kind, &set);
        assert_eq!(name, "master/aes");
        assert!(masters.load("aes", &value));
        assert_eq!(masters.current(kind).unwrap().pattern, wanted);
        assert!(!masters.load("aes", &value[1..]));
        assert!(!masters.load("none", &value));
    }

    #[test]
    fn weak_master_keys_are_refused() {
        let registers = Registers::default()
            .with_part(Kind::Symmetric, &[7; 24], true, false)
            .unwrap();
        assert_eq!(
            registers
                .with_part(Kind::Symmetric, &[9; 24], false, true)
                .err(),
            Some(Refusal::WeakMasterKey)
        );
    }

    #[test]
    fn what_is_said_of_a_key_is_bound_to_it() {
        let key = MasterKey::new(Kind::Symmetric, &part(3)[..24]).unwrap();
        let wrapped = key.wrap(b"a MAC key", &[5; 16], Padding::None).unwrap();
        assert_eq!(
            **key.unwrap(b"a MAC key", &wrapped, Padding::None).unwrap(),
            [5; 16]
        );
        let other = key.unwrap(b"a PIN key", &wrapped, Padding::None);
        assert_eq!(other.err(), Some(Refusal::InternalTvv));
    }
}
