//! A library context, and what a sequence has made in it.

use super::input::Input;
use super::{ciphers, key, messages, operations};
use crate::keys;
use crate::operations::Kind;
use crate::transcript::{Object, Transcript, quietly};

/// A key in its slot.
#[derive(Clone, Copy)]
pub(super) struct Key {
    pub(super) object: Object,
    /// The name of a fixed key, or one that begins alike.
    pub(super) name: &'static str,
    /// Whether its numbers are others every time.
    pub(super) random: bool,
}

impl Key {
    pub(super) fn kind(&self) -> Kind {
        Kind::of(self.name)
    }
}

/// A context in its slot, with the key that it was begun with.
#[derive(Clone, Copy)]
pub(super) struct Context {
    pub(super) object: Object,
    pub(super) key: Key,
}

/// What was last made: a signature, a secret.
#[derive(Default)]
pub(super) struct Made {
    pub(super) bytes: Vec<u8>,
    /// Whether it is the same every time.
    pub(super) exact: bool,
    /// The key that signed it; nothing for a secret.
    pub(super) key: &'static str,
}

/// A library context with all that a sequence shares between its calls.
pub(super) struct World<'a> {
    pub(super) t: &'a Transcript,
    pub(super) context: Object,
    pub(super) keys: [Option<Key>; 3],
    /// `EVP_PKEY_CTX`
    pub(super) operations: [Option<Context>; 3],
    /// `EVP_MD_CTX`
    pub(super) messages: [Option<Context>; 2],
    /// `EVP_CIPHER_CTX`
    pub(super) ciphers: [Option<Object>; 2],
    pub(super) made: Made,
}

type Action = fn(&mut World<'_>, &mut Input<'_>);

/// What can be done, and how often it is drawn.
const ACTIONS: &[(usize, Action)] = &[
    (4, key::read),
    (4, key::generate),
    (2, key::copy),
    (3, key::rebuild),
    (2, key::set_point),
    (3, key::ask),
    (1, key::compare),
    (12, operations::begin),
    (8, operations::set),
    (3, operations::get),
    (8, operations::peer),
    (24, operations::act),
    (4, operations::copy),
    (1, operations::end),
    (4, operations::message),
    (12, messages::begin),
    (10, messages::update),
    (14, messages::last),
    (8, messages::at_once),
    (5, messages::set),
    (5, messages::copy),
    (1, messages::end),
    (2, ciphers::begin),
    (6, ciphers::update),
    (2, ciphers::last),
    (2, ciphers::copy),
];

/// The most steps of a sequence.
const MOST: usize = 80;

impl<'a> World<'a> {
    pub(super) fn new(t: &'a Transcript, context: Object) -> Self {
        Self {
            t,
            context,
            keys: [None; 3],
            operations: [None; 3],
            messages: [None; 2],
            ciphers: [None; 2],
            made: Made::default(),
        }
    }

    /// Does what the input says, and frees everything.
    pub(super) fn run(mut self, mut input: Input<'_>) {
        self.t.scene("keys");
        for slot in 0..2 {
            key::read_into(&mut self, slot, &mut input);
        }
        let all = ACTIONS.iter().map(|(weight, _)| weight).sum();
        for step in 0..MOST {
            if input.is_empty() {
                break;
            }
            self.t.scene(step.to_string());
            let mut drawn = input.below(all);
            let action = ACTIONS.iter().find(|(weight, _)| {
                let found = drawn < *weight;
                drawn = drawn.wrapping_sub(*weight);
                found
            });
            if let Some((_, action)) = action {
                action(&mut self, &mut input);
            }
        }
    }

    /// A key of some slot.
    pub(super) fn key(&self, input: &mut Input<'_>) -> Option<Key> {
        input.filled(&self.keys)
    }

    /// Puts a key into some slot, in place of what was there.
    pub(super) fn put_key(&mut self, input: &mut Input<'_>, key: Key) {
        let slot = input.below(self.keys.len());
        self.put_key_into(slot, key);
    }

    pub(super) fn put_key_into(&mut self, slot: usize, key: Key) {
        if key.object.is_null() {
            return;
        }
        if let Some(old) = self.keys[slot].replace(key) {
            quietly!(self.t, EVP_PKEY_free(old.object));
        }
    }

    /// Notes what was made with a key, and says it where it is the same every time.
    pub(super) fn note(&mut self, key: Key, bytes: Vec<u8>, derived: bool) {
        let exact = !key.random
            && match key.kind() {
                Kind::Rsa => self.is_deterministic(key, &bytes),
                Kind::Ec => derived,
                kind => matches!(kind, Kind::Edwards | Kind::Montgomery),
            };
        if exact {
            self.t.say(&crate::params::hex(&bytes));
        }
        let key = if derived { "" } else { key.name };
        self.made = Made { bytes, exact, key };
    }

    /// Whether an RSA signature is padded without randomness: what it was made of begins so, or does not end as PSS.
    fn is_deterministic(&self, key: Key, signature: &[u8]) -> bool {
        let t = self.t;
        let public = keys::public_in(t, t.plain().into(), key.name);
        let operation =
            Object(quietly!(t, EVP_PKEY_CTX_new_from_pkey(t.plain(), public, 0_usize)) as *mut _);
        quietly!(t, EVP_PKEY_verify_recover_init(operation));
        quietly!(t, EVP_PKEY_CTX_set_rsa_padding(operation, 3));
        let (mut out, mut length) = (vec![0; 1024], 1024_usize);
        let recovered = quietly!(
            t,
            EVP_PKEY_verify_recover(operation, &mut out, &mut length, signature, signature.len())
        );
        quietly!(t, EVP_PKEY_CTX_free(operation));
        quietly!(t, EVP_PKEY_free(public));
        t.clear();
        let padded = &out[..length.min(out.len())];
        recovered as i32 == 1 && (padded.starts_with(&[0, 1]) || padded.last() != Some(&0xbc))
    }
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        let t = self.t;
        for message in self.messages.iter().flatten() {
            quietly!(t, EVP_MD_CTX_free(message.object));
        }
        for operation in self.operations.iter().flatten() {
            quietly!(t, EVP_PKEY_CTX_free(operation.object));
        }
        for cipher in self.ciphers.iter().flatten() {
            quietly!(t, EVP_CIPHER_CTX_free(*cipher));
        }
        for key in self.keys.iter().flatten() {
            quietly!(t, EVP_PKEY_free(key.object));
        }
    }
}
