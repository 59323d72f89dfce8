//! Ed25519 signatures, in both forms.

use std::ops::Deref;
use std::sync::Arc;

use once_cell::race::OnceBox;
use outboard_lanes::ed25519 as lanes;
use zeroize::Zeroizing;

use super::request::Output;
use crate::error::Result;
use crate::scalar::ed25519::{Private, SIGNATURE_LENGTH};

/// An Ed25519 key with, once it is needed, the lanes' form beside AWS-LC's. It can do whatever a
/// [`scalar::ed25519::Private`](Private) can.
pub struct Key {
    scalar: Private,
    lanes: OnceBox<Option<lanes::PrivateKey>>,
}

impl Key {
    /// That key for cards.
    pub const fn new(scalar: Private) -> Self {
        Self {
            scalar,
            lanes: OnceBox::new(),
        }
    }

    /// None where the public half that came with the seed is not the seed's: with both, signatures
    /// would tell the secret.
    ///
    /// `make` makes it, with the table of those who ask: another one may be in the making in a process that forked this one.
    fn for_lanes(
        &self,
        make: fn(&[u8; 32]) -> std::result::Result<lanes::PrivateKey, outboard_lanes::Error>,
    ) -> Option<&lanes::PrivateKey> {
        let make = || {
            let key = make(self.scalar.seed()).ok()?;
            (key.public_key() == self.scalar.public()).then_some(key)
        };
        self.lanes.get_or_init(|| Box::new(make())).as_ref()
    }
}

impl Deref for Key {
    type Target = Private;

    fn deref(&self) -> &Private {
        &self.scalar
    }
}

/// The longest message whose signature is faster across the lanes.
const LONGEST_ACROSS: usize = 1 << 10;

/// A signature of a message.
pub(super) struct Sign {
    pub(super) key: Arc<Key>,
    pub(super) message: Vec<u8>,
}

impl Sign {
    pub(super) fn alone(&self) -> Result<Output> {
        let mut signature = [0; SIGNATURE_LENGTH];
        self.key.sign(&self.message, &mut signature)?;
        Ok(Zeroizing::new(signature.to_vec()))
    }

    pub(super) fn across_lanes(&self) -> Option<Output> {
        // Its hash has one lane, and is slower there than a scalar one.
        if self.message.len() > LONGEST_ACROSS {
            return None;
        }
        let signature =
            lanes::wide::sign(self.key.for_lanes(lanes::wide::private_key)?, &self.message).ok()?;
        Some(Zeroizing::new(signature.to_vec()))
    }

    pub(super) fn in_lanes(batch: &[&Self]) -> Vec<Option<Output>> {
        let forms: Vec<_> = batch
            .iter()
            .map(|sign| sign.key.for_lanes(lanes::PrivateKey::new))
            .collect();
        let taken: Vec<_> = forms
            .iter()
            .zip(batch)
            .filter_map(|(form, sign)| form.map(|form| (form, &sign.message[..])))
            .collect();
        let mut results = lanes::sign(&taken).into_iter();
        let of_form = |form: &Option<_>| {
            let result = form.is_some().then(|| results.next()).flatten()?;
            result.ok().map(|one| Zeroizing::new(one.to_vec()))
        };
        forms.iter().map(of_form).collect()
    }
}
