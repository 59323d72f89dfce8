//! Key storage: tokens under labels, for DES, AES and public keys; and private keys that are kept inside.
//!
//! A label that an administrator made is everybody's to use, and no other user's to change. A label that another user made is
//! that user's own: to others it is not there.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use crate::answer::{Outcome, Refusal};
use crate::card::Caller;
use crate::value::Label;

/// Which key storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Store {
    Des,
    Aes,
    Pka,
    /// Private keys that no token leaves with.
    Retained,
}

impl Store {
    const ALL: [Self; 4] = [Self::Des, Self::Aes, Self::Pka, Self::Retained];

    fn name(self) -> &'static str {
        match self {
            Self::Des => "des",
            Self::Aes => "aes",
            Self::Pka => "pka",
            Self::Retained => "retained",
        }
    }
}

/// The most records of a store, and those of them that one user may have.
const MOST: usize = 20_000;
const MOST_OF_USER: usize = 1_000;

/// Whose a label is: everybody's, or a user's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Owner {
    Everybody,
    User(u32),
}

impl Owner {
    /// Of what the caller makes.
    pub(crate) fn of(caller: Caller) -> Self {
        match caller.administrator {
            true => Self::Everybody,
            false => Self::User(caller.user),
        }
    }
}

/// What names a record.
pub(crate) type Place = (Store, Owner, Label);

/// The records. A record without a token is empty.
#[derive(Default)]
pub(crate) struct Records(BTreeMap<Place, Zeroizing<Vec<u8>>>);

impl Records {
    /// The token of a label, as far as the caller has it.
    pub(crate) fn token(&self, store: Store, caller: Caller, label: &Label) -> Outcome<&[u8]> {
        let of = |owner| self.0.get(&(store, owner, label.clone()));
        match of(Owner::of(caller)).or_else(|| of(Owner::Everybody)) {
            Some(token) => Ok(token),
            None => Err(Refusal::NoSuchLabel),
        }
    }

    pub(crate) fn has(&self, store: Store, caller: Caller, label: &Label) -> bool {
        self.token(store, caller, label).is_ok()
    }

    /// The record of a label, if the caller may change it.
    pub(crate) fn own(&self, store: Store, caller: Caller, label: &Label) -> Outcome<Place> {
        let place = (store, Owner::of(caller), label.clone());
        match self.0.contains_key(&place) {
            true => Ok(place),
            false if self.has(store, caller, label) => Err(Refusal::AccessDenied),
            false => Err(Refusal::NoSuchLabel),
        }
    }

    /// Where a record of the caller's comes that is new.
    pub(crate) fn new_place(&self, store: Store, caller: Caller, label: Label) -> Outcome<Place> {
        if self.has(store, caller, &label) {
            return Err(Refusal::RecordExists);
        }
        let owner = Owner::of(caller);
        let of_store = || self.0.keys().filter(|(of, ..)| *of == store);
        let own = of_store().filter(|(_, of, _)| *of == owner);
        match of_store().count() >= MOST
            || (owner != Owner::Everybody && own.count() >= MOST_OF_USER)
        {
            true => Err(Refusal::Storage),
            false => Ok((store, owner, label)),
        }
    }

    /// The labels that a mask fits, in which `*` stands for any characters, as far as the caller has them.
    pub(crate) fn labels(&self, store: Store, caller: Caller, mask: &str) -> Vec<Label> {
        let owner = Owner::of(caller);
        let seen = self.0.keys().filter(|(of, of_owner, label)| {
            *of == store
                && (*of_owner == owner || *of_owner == Owner::Everybody)
                && fits(mask, label)
        });
        seen.map(|(_, _, label)| label.clone()).collect()
    }

    /// All records of a store, whoever has them.
    pub(crate) fn of_store(&self, store: Store) -> Vec<Place> {
        let places = self.0.keys().filter(|(of, ..)| *of == store);
        places.cloned().collect()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// What a record is stored as.
    pub(crate) fn entry((store, owner, label): &Place) -> String {
        let (store, label) = (store.name(), label.text());
        match owner {
            Owner::Everybody => format!("record/{store}/{label}"),
            Owner::User(user) => format!("record/{store}@{user}/{label}"),
        }
    }

    pub(crate) fn set(&mut self, place: Place, token: &[u8]) {
        self.0.insert(place, Zeroizing::new(token.to_vec()));
    }

    pub(crate) fn remove(&mut self, place: &Place) {
        self.0.remove(place);
    }

    pub(crate) fn load(&mut self, name: &str, value: &[u8]) -> bool {
        let read = || {
            let (store, label) = name.split_once('/')?;
            let (store, owner) = match store.split_once('@') {
                Some((store, user)) => (store, Owner::User(user.parse().ok()?)),
                None => (store, Owner::Everybody),
            };
            let store = Store::ALL.into_iter().find(|known| known.name() == store)?;
            Some((store, owner, Label::parse(label.as_bytes()).ok()?))
        };
        match read() {
            Some(place) => {
                self.set(place, value);
                true
            }
            None => false,
        }
    }
}

/// A mask of labels, without blanks at its end: no longer than a label, because each label is held against it.
pub(crate) fn mask(bytes: &[u8]) -> Outcome<&str> {
    let text = std::str::from_utf8(bytes).map_err(|_| Refusal::LabelCharacter)?;
    let text = text.trim_end_matches([' ', '\0']);
    match text.len() <= 64 {
        true => Ok(text),
        false => Err(Refusal::LabelFormat),
    }
}

/// Whether a mask fits a label.
pub(crate) fn fits(mask: &str, label: &Label) -> bool {
    let (mask, text) = (mask.as_bytes(), label.text().as_bytes());
    // Where the last star is, and what of the text it has swallowed.
    let (mut at, mut place, mut star) = (0, 0, None);
    while place < text.len() {
        match mask.get(at) {
            Some(b'*') => {
                star = Some((at, place));
                at += 1;
            }
            Some(byte) if byte.eq_ignore_ascii_case(&text[place]) => {
                (at, place) = (at + 1, place + 1)
            }
            _ => match star {
                Some((mask_at, text_at)) => {
                    star = Some((mask_at, text_at + 1));
                    (at, place) = (mask_at + 1, text_at + 1);
                }
                None => return false,
            },
        }
    }
    mask[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_have_stars() {
        for (mask, text, is_fit) in [
            ("*", "A", true),
            ("A*C", "ABBC", true),
            ("A*C", "ABBCD", false),
            ("*B*", "ABBC", true),
            ("abc", "ABC", true),
            ("AB", "ABC", false),
            ("*C*C", "CBC", true),
            ("", "A", false),
        ] {
            let label = Label::parse(text.as_bytes()).unwrap();
            assert_eq!(fits(mask, &label), is_fit, "{mask} {text}");
        }
    }
}
