//! Key storage: records of tokens under labels.

use super::Verb;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::card::master::Register;
use crate::card::records::{Records, Store, mask};
use crate::request::*;
use crate::value::{Identifier, Label, Rules};

/// The longest token.
const MOST: usize = 8192;

impl Call<'_> {
    fn create_record(&self, store: Store, label: &[u8], token: &[u8]) -> Outcome<Done> {
        let label = Label::parse(label)?;
        check(token)?;
        let mut state = self.change();
        let place = state.records.new_place(store, self.caller(), label)?;
        self.keep(&Records::entry(&place), token)?;
        state.records.set(place, token);
        Ok(Done {})
    }

    fn write_record(&self, store: Store, label: &[u8], token: &[u8]) -> Outcome<Done> {
        let label = Label::parse(label)?;
        check(token)?;
        let mut state = self.change();
        let place = state.records.own(store, self.caller(), &label)?;
        self.keep(&Records::entry(&place), token)?;
        state.records.set(place, token);
        Ok(Done {})
    }

    /// Writes a token that was re-enciphered to the current master key into the record that it came from, if the caller may change that. A
    /// token that somebody wrote there meanwhile stays.
    pub(super) fn keep_changed(
        &self,
        (store, identifier): (Store, &[u8]),
        register: Register,
        (before, after): (&[u8], &[u8]),
    ) -> Outcome<()> {
        let Identifier::Label(label) = Identifier::parse(identifier)? else {
            return Ok(());
        };
        if register != Register::Current || self.is_within() {
            return Ok(());
        }
        let mut state = self.change();
        let Ok(place) = state.records.own(store, self.caller(), &label) else {
            return Ok(());
        };
        if state.records.token(store, self.caller(), &label)? == before {
            self.keep(&Records::entry(&place), after)?;
            state.records.set(place, after);
        }
        Ok(())
    }

    fn read_record(&self, store: Store, label: &[u8]) -> Outcome<Vec<u8>> {
        let label = Label::parse(label)?;
        let state = self.state();
        Ok(state.records.token(store, self.caller(), &label)?.to_vec())
    }

    fn delete_record(&self, store: Store, rules: &Rules, label: &[u8]) -> Outcome<Done> {
        let mut rules = rules.parse();
        let is_whole = rules
            .one(&[("LABEL-DL", true), ("TOKEN-DL", false)])?
            .unwrap_or(false);
        rules.end()?;
        let label = Label::parse(label)?;
        let mut state = self.change();
        let place = state.records.own(store, self.caller(), &label)?;
        match is_whole {
            true => {
                self.forget(&Records::entry(&place))?;
                state.records.remove(&place);
            }
            false => {
                let empty = empty(store);
                self.keep(&Records::entry(&place), empty)?;
                state.records.set(place, empty);
            }
        }
        Ok(Done {})
    }

    fn list_records(&self, store: Store, text: &[u8]) -> Outcome<Vec<String>> {
        let mask = mask(text)?;
        let labels = self.state().records.labels(store, self.caller(), mask);
        Ok(labels.iter().map(|label| label.text().to_owned()).collect())
    }
}

/// The null token of a record without one.
fn empty(store: Store) -> &'static [u8] {
    match store {
        Store::Des | Store::Aes => &[0; 64],
        Store::Pka | Store::Retained => &[0; 8],
    }
}

/// A token must be one, or none: what is stored is only looked at when it is used.
fn check(token: &[u8]) -> Outcome<()> {
    match token.first() {
        Some(0 | 1 | 2 | 0x1e | 0x1f) if token.len() <= MOST => Ok(()),
        _ => Err(Refusal::TokenVersion),
    }
}

macro_rules! store {
    ($store:expr, $create:ident $read:ident $write:ident $delete:ident $list:ident
     => $recorded:ident $labels:ident, $key:ident) => {
        impl Verb for $read {
            type Reply = $recorded;

            fn run(&self, call: &Call<'_>) -> Outcome<$recorded> {
                Ok($recorded {
                    key_token: call.read_record($store, &self.key_label)?.into(),
                })
            }
        }

        impl Verb for $write {
            type Reply = Done;

            fn run(&self, call: &Call<'_>) -> Outcome<Done> {
                call.write_record($store, &self.key_label, &self.key_token)
            }
        }

        impl Verb for $delete {
            type Reply = Done;

            fn run(&self, call: &Call<'_>) -> Outcome<Done> {
                call.delete_record($store, &self.rule_array, &self.$key)
            }
        }

        impl Verb for $list {
            type Reply = $labels;

            fn run(&self, call: &Call<'_>) -> Outcome<$labels> {
                Ok($labels {
                    key_labels: call.list_records($store, &self.key_label)?,
                })
            }
        }
    };
}

store!(Store::Des, KeyRecordCreate KeyRecordRead KeyRecordWrite KeyRecordDelete KeyRecordList
    => RecordedKey Labels, key_identifier);
store!(Store::Aes, AesKeyRecordCreate AesKeyRecordRead AesKeyRecordWrite AesKeyRecordDelete AesKeyRecordList
    => AesRecordedKey AesLabels, key_label);
store!(Store::Pka, PkaKeyRecordCreate PkaKeyRecordRead PkaKeyRecordWrite PkaKeyRecordDelete PkaKeyRecordList
    => PkaRecordedKey PkaLabels, key_identifier);

impl Verb for KeyRecordCreate {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        call.create_record(Store::Des, &self.key_label, empty(Store::Des))
    }
}

impl Verb for AesKeyRecordCreate {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        call.create_record(
            Store::Aes,
            &self.key_label,
            or_empty(&self.key_token, Store::Aes),
        )
    }
}

impl Verb for PkaKeyRecordCreate {
    type Reply = Done;

    fn run(&self, call: &Call<'_>) -> Outcome<Done> {
        self.rule_array.parse().end()?;
        call.create_record(
            Store::Pka,
            &self.key_label,
            or_empty(&self.key_token, Store::Pka),
        )
    }
}

fn or_empty(token: &[u8], store: Store) -> &[u8] {
    match token.is_empty() {
        true => empty(store),
        false => token,
    }
}
