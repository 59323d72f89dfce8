//! What a card knows of cloning: how many shares a master key has, those that it gives and takes, and whose certificates it believes.
//!
//! A set of shares is drawn when its first share is asked for, and lasts until its master key changes (CSNBMKP with SET) or an administrator
//! sets the number of shares (CSUACFC with SET-MOFN). A card counts its sets. Another card takes the shares of one set, and afterwards
//! none of an earlier set of the same card.

use std::collections::BTreeMap;

use outboard_engine::scalar::mac::equal;
use outboard_engine::scalar::randomise;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use zeroize::Zeroizing;

use super::master::{Kind, MasterKey};
use super::storage::Entry;
use crate::algorithm::shamir;
use crate::answer::{Outcome, Refusal};
use crate::token::certificate::Environment;
use crate::token::clone_info::{Set, Share};
use crate::value::{Bytes, Label};

/// The most shares.
pub(crate) const MOST_SHARES: u8 = 15;
/// The most public keys and hashes, each.
const MOST_REGISTERED: usize = 64;

/// All of it.
#[derive(Default)]
pub(crate) struct Cloning {
    pub(crate) setting: Setting,
    given: [Option<Given>; 4],
    taken: [Option<Taken>; 4],
    pub(crate) hashes: Registered<[u8; 32]>,
    /// Public sections.
    pub(crate) keys: Registered<Vec<u8>>,
}

/// What is of all master keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setting {
    pub(crate) environment: Option<Environment>,
    /// How many shares are needed, and how many there are.
    pub(crate) shares: Option<(u8, u8)>,
    /// How many sets the card has drawn.
    sets: u64,
}

/// The set that a card gives shares of.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Given {
    number: u64,
    name: [u8; 16],
    needed: u8,
    all: u8,
    coefficients: Bytes,
    /// How often each share was given.
    pub(crate) times: [u8; MOST_SHARES as usize],
}

/// The set that a card takes shares of. Without shares: the last one.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Taken {
    /// The hash of the source's public key.
    source: [u8; 32],
    number: u64,
    name: [u8; 16],
    pattern: [u8; 8],
    pub(crate) shares: Vec<(u8, Bytes)>,
}

/// Names of keys or hashes, and whether each is for cloning.
pub(crate) struct Registered<T>(BTreeMap<Label, (bool, T)>);

impl<T> Default for Registered<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Registered<T> {
    fn labels(&self) -> impl Iterator<Item = &Label> {
        self.0.keys()
    }

    pub(crate) fn get(&self, label: &Label) -> Option<&(bool, T)> {
        self.0.get(label)
    }

    /// Refuses one more where there are enough.
    pub(crate) fn has_room(&self) -> Outcome<()> {
        match self.0.len() < MOST_REGISTERED {
            true => Ok(()),
            false => Err(Refusal::Storage),
        }
    }

    pub(crate) fn set(&mut self, label: Label, value: Option<(bool, T)>) {
        match value {
            Some(value) => self.0.insert(label, value),
            None => self.0.remove(&label),
        };
    }
}

/// The name of what is stored of a public key, or of a hash.
pub(crate) fn key_entry(label: &Label) -> String {
    format!("clone/key/{}", label.text())
}

/// Likewise.
pub(crate) fn hash_entry(label: &Label) -> String {
    format!("clone/hash/{}", label.text())
}

/// What is stored.
pub(crate) fn value(value: &impl Serialize) -> Outcome<Zeroizing<Vec<u8>>> {
    let value = crate::encoded(value).map_err(|_| Refusal::Resource)?;
    Ok(Zeroizing::new(value))
}

impl Setting {
    pub(crate) const ENTRY: &str = "clone/setting";
}

impl Given {
    /// A new set of shares.
    pub(crate) fn new(kind: Kind, setting: &mut Setting) -> Outcome<Self> {
        let (needed, all) = setting.shares.ok_or(Refusal::MasterKeyShare)?;
        setting.sets += 1;
        let mut name = [0; 16];
        randomise(&mut name)?;
        let coefficients = shamir::draw(kind.length(), needed)?;
        Ok(Self {
            number: setting.sets,
            name,
            needed,
            all,
            coefficients: coefficients[..].into(),
            times: [0; MOST_SHARES as usize],
        })
    }

    /// The share of that index, and its set.
    pub(crate) fn share(
        &mut self,
        (kind, master): (Kind, &MasterKey),
        index: u8,
    ) -> (Set, Zeroizing<Vec<u8>>) {
        let times = &mut self.times[usize::from(index - 1)];
        *times = times.saturating_add(1);
        let set = Set {
            kind,
            needed: self.needed,
            all: self.all,
            number: self.number,
            name: self.name,
            pattern: master.pattern(),
        };
        (set, master.share(&self.coefficients, index))
    }
}

impl Taken {
    /// With one more share, from a source.
    pub(crate) fn with(before: Option<&Self>, source: [u8; 32], share: &Share) -> Outcome<Self> {
        let set = &share.set;
        let mut taken = Self {
            source,
            number: set.number,
            name: set.name,
            pattern: set.pattern,
            shares: Vec::new(),
        };
        if let Some(before) = before {
            let is_same = before.source == source
                && (before.number, before.name) == (set.number, set.name)
                && before.pattern == set.pattern;
            let is_older = before.source == source && set.number < before.number;
            if is_older || !(is_same || before.shares.is_empty()) {
                return Err(Refusal::ShareDistribution);
            }
            taken.shares.clone_from(&before.shares);
        }
        if taken.shares.iter().any(|(index, _)| *index == share.index) {
            return Err(Refusal::ShareDistribution);
        }
        taken.shares.push((share.index, share.share[..].into()));
        Ok(taken)
    }

    /// The master key, once as many shares are there as it needs. They are then forgotten.
    pub(crate) fn whole(&mut self, needed: u8) -> Option<Zeroizing<Vec<u8>>> {
        if self.shares.len() < usize::from(needed) {
            return None;
        }
        let shares = std::mem::take(&mut self.shares);
        let shares: Vec<_> = shares
            .iter()
            .map(|(index, share)| (*index, &share[..]))
            .collect();
        Some(shamir::combine(&shares))
    }

    /// Whether that is the pattern of the master key that the shares are of.
    pub(crate) fn is_of(&self, pattern: &[u8]) -> bool {
        equal(&self.pattern, pattern)
    }

    pub(crate) fn without_shares(&self) -> Self {
        Self {
            shares: Vec::new(),
            ..self.clone()
        }
    }
}

impl Cloning {
    /// Whether a key or a hash of that name is registered.
    pub(crate) fn has(&self, label: &Label) -> bool {
        self.keys.get(label).is_some() || self.hashes.get(label).is_some()
    }

    /// The names of the keys and hashes that are registered.
    pub(crate) fn labels(&self) -> impl Iterator<Item = &Label> {
        self.keys.labels().chain(self.hashes.labels())
    }

    pub(crate) fn given(&self, kind: Kind) -> Option<&Given> {
        self.given[kind as usize].as_ref()
    }

    pub(crate) fn set_given(&mut self, kind: Kind, given: Option<Given>) {
        self.given[kind as usize] = given;
    }

    pub(crate) fn taken(&self, kind: Kind) -> Option<&Taken> {
        self.taken[kind as usize].as_ref()
    }

    pub(crate) fn set_taken(&mut self, kind: Kind, taken: Option<Taken>) {
        self.taken[kind as usize] = taken;
    }

    pub(crate) fn given_entry(kind: Kind) -> String {
        format!("clone/given/{}", kind.name())
    }

    pub(crate) fn taken_entry(kind: Kind) -> String {
        format!("clone/taken/{}", kind.name())
    }

    /// What is stored where no share of that master key is there any more.
    pub(crate) fn emptied(&self, kind: Kind) -> Outcome<Vec<Entry>> {
        Ok(match self.taken(kind) {
            Some(taken) => vec![(Self::taken_entry(kind), value(&taken.without_shares())?)],
            None => Vec::new(),
        })
    }

    /// No share of that master key is there any more.
    pub(crate) fn empty(&mut self, kind: Kind) {
        let taken = self.taken(kind).map(Taken::without_shares);
        self.set_taken(kind, taken);
    }

    /// What is stored, and what is removed, where no set of that master key is given any more either.
    pub(crate) fn ended(&self, kind: Kind) -> Outcome<(Vec<Entry>, Vec<String>)> {
        Ok((self.emptied(kind)?, vec![Self::given_entry(kind)]))
    }

    /// Likewise: no set is given any more, and no share is there.
    pub(crate) fn end(&mut self, kind: Kind) {
        self.set_given(kind, None);
        self.empty(kind);
    }

    pub(crate) fn load(&mut self, name: &str, value: &[u8]) -> bool {
        let (what, rest) = name.split_once('/').unwrap_or((name, ""));
        let kind = Kind::ALL.into_iter().find(|kind| kind.name() == rest);
        let label = || Label::parse(rest.as_bytes()).ok();
        let mut load = || {
            match what {
                "setting" => self.setting = read(value)?,
                "given" => self.set_given(kind?, Some(read(value)?)),
                "taken" => self.set_taken(kind?, Some(read(value)?)),
                "hash" => self.hashes.set(label()?, Some(read(value)?)),
                "key" => self.keys.set(label()?, Some(read(value)?)),
                // Of a later version.
                _ => {}
            }
            Some(())
        };
        load().is_some()
    }
}

fn read<T: DeserializeOwned>(value: &[u8]) -> Option<T> {
    crate::whole(postcard::take_from_bytes(value)).ok()
}
