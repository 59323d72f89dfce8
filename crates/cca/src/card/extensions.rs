//! User-defined extensions, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use zeroize::Zeroizing;

use crate::answer::{Outcome, Refusal};
use crate::extension::{Added, Extension};
use crate::value::Label;

/// How many there may be.
const MOST: usize = 16;
/// The longest name.
const MOST_NAME: usize = 16;

/// The extensions of a card.
#[derive(Default)]
pub(crate) struct Extensions(BTreeMap<String, Arc<Extension>>);

impl Extensions {
    /// A name: that of a label, of at most 16 characters.
    pub(crate) fn name(bytes: &[u8]) -> Outcome<String> {
        let label = Label::parse(bytes)?;
        match label.text().len() <= MOST_NAME {
            true => Ok(label.text().to_owned()),
            false => Err(Refusal::LabelFormat),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Outcome<Arc<Extension>> {
        let found = self.0.get(name).cloned();
        found.ok_or(Refusal::NoSuchExtension)
    }

    /// Refuses one more of that name where there are enough.
    pub(crate) fn has_room(&self, name: &str) -> Outcome<()> {
        match self.0.len() < MOST || self.0.contains_key(name) {
            true => Ok(()),
            false => Err(Refusal::Storage),
        }
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, &Arc<Extension>)> {
        self.0.iter()
    }

    pub(crate) fn entry(name: &str) -> String {
        format!("extension/{name}")
    }

    /// As it is stored.
    pub(crate) fn value(added: &Added) -> Outcome<Zeroizing<Vec<u8>>> {
        let value = crate::encoded(added).map_err(|_| Refusal::Resource)?;
        Ok(Zeroizing::new(value))
    }

    pub(crate) fn set(&mut self, name: String, extension: Option<Arc<Extension>>) {
        match extension {
            Some(extension) => self.0.insert(name, extension),
            None => self.0.remove(&name),
        };
    }

    pub(crate) fn load(&mut self, name: &str, value: &[u8]) -> bool {
        match crate::whole(postcard::take_from_bytes::<Added>(value)) {
            Ok(added) => {
                let extension = Arc::new(Extension::new(added));
                self.set(name.to_owned(), Some(extension));
                true
            }
            Err(_) => false,
        }
    }
}
