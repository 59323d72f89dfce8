//! Key storage: tokens under labels, for DES, AES and public keys; and private keys that are kept inside.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use crate::answer::{Outcome, Refusal};
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

/// The records. A record without a token is empty.
#[derive(Default)]
pub(crate) struct Records(BTreeMap<(Store, Label), Zeroizing<Vec<u8>>>);

impl Records {
    /// The token of a label.
    pub(crate) fn token(&self, store: Store, label: &Label) -> Outcome<&[u8]> {
        match self.0.get(&(store, label.clone())) {
            Some(token) => Ok(token),
            None => Err(Refusal::NoSuchLabel),
        }
    }

    pub(crate) fn has(&self, store: Store, label: &Label) -> bool {
        self.0.contains_key(&(store, label.clone()))
    }

    /// The labels that a mask fits, in which `*` stands for any characters.
    pub(crate) fn labels(&self, store: Store, mask: &str) -> Vec<Label> {
        let of_store = self
            .0
            .keys()
            .filter(|(of, label)| *of == store && fits(mask.as_bytes(), label.text().as_bytes()));
        of_store.map(|(_, label)| label.clone()).collect()
    }

    /// What a record is stored as.
    pub(crate) fn entry(store: Store, label: &Label) -> String {
        format!("record/{}/{}", store.name(), label.text())
    }

    pub(crate) fn set(&mut self, store: Store, label: Label, token: &[u8]) {
        self.0
            .insert((store, label), Zeroizing::new(token.to_vec()));
    }

    pub(crate) fn remove(&mut self, store: Store, label: &Label) {
        self.0.remove(&(store, label.clone()));
    }

    /// Whether there are as many records of that store as there may be.
    pub(crate) fn is_full(&self, store: Store) -> bool {
        const MOST: usize = 100_000;
        self.0.keys().filter(|(of, _)| *of == store).count() >= MOST
    }

    pub(crate) fn load(&mut self, name: &str, value: &[u8]) -> bool {
        let Some((store, label)) = name.split_once('/') else {
            return false;
        };
        let store = Store::ALL.into_iter().find(|known| known.name() == store);
        match (store, Label::parse(label.as_bytes())) {
            (Some(store), Ok(label)) => {
                self.set(store, label, value);
                true
            }
            _ => false,
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

fn fits(mask: &[u8], text: &[u8]) -> bool {
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
    use super::fits;

    #[test]
    fn masks_have_stars() {
        for (mask, text, is_fit) in [
            ("*", "A", true),
            ("A*C", "ABBC", true),
            ("A*C", "ABBCD", false),
            ("*B*", "ABBC", true),
            ("ABC", "abc", true),
            ("AB", "ABC", false),
            ("*C*C", "CBC", true),
            ("", "A", false),
        ] {
            assert_eq!(
                fits(mask.as_bytes(), text.as_bytes()),
                is_fit,
                "{mask} {text}"
            );
        }
    }
}
