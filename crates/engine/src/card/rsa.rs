//! RSA's private operation, in both forms.

use std::ops::Deref;
use std::sync::Arc;

use once_cell::race::OnceBox;
use outboard_lanes as lanes;
use zeroize::Zeroizing;

use super::request::Output;
use crate::error::Result;
use crate::scalar::rsa;

/// An RSA key with, once it was used, the lanes' form beside AWS-LC's: to make it takes a third of what AWS-LC needs before
/// its first operation with a key. It can do whatever a [`scalar::rsa::Key`](rsa::Key) can.
pub struct Key {
    scalar: rsa::Key,
    /// None inside: the lanes don't take such keys.
    lanes: OnceBox<Option<lanes::rsa::PrivateKey>>,
}

impl Key {
    /// That key for cards.
    pub const fn new(scalar: rsa::Key) -> Self {
        Self {
            scalar,
            lanes: OnceBox::new(),
        }
    }

    /// Whether the lanes will take it: of 2048, 3072 or 4096 bits.
    pub(super) fn is_for_lanes(&self) -> bool {
        if let Some(form) = self.lanes.get() {
            return form.is_some();
        }
        matches!(self.scalar.bits(), 2048 | 3072 | 4096) && self.scalar.is_private()
    }

    fn for_lanes(&self) -> Option<&lanes::rsa::PrivateKey> {
        let make = || {
            let components = self.scalar.components()?;
            let [n, e, p, q, dp, dq, qinv] = &components.0;
            lanes::rsa::PrivateKey::new(&lanes::rsa::Components {
                n,
                e,
                p,
                q,
                dp,
                dq,
                qinv,
            })
            .ok()
        };
        self.lanes.get_or_init(|| Box::new(make())).as_ref()
    }
}

impl Deref for Key {
    type Target = rsa::Key;

    fn deref(&self) -> &rsa::Key {
        &self.scalar
    }
}

/// A private operation on a number of the modulus's length.
pub(super) struct Power {
    pub(super) key: Arc<Key>,
    pub(super) block: Vec<u8>,
}

impl Power {
    pub(super) fn alone(&self) -> Result<Output> {
        let mut output = Zeroizing::new(vec![0; self.key.length()]);
        let written = self.key.power(&self.block, &mut output)?;
        output.truncate(written);
        Ok(output)
    }

    pub(super) fn across_lanes(&self) -> Option<Output> {
        let output = lanes::rsa::wide::private(self.key.for_lanes()?, &self.block);
        output.ok().map(Zeroizing::new)
    }

    pub(super) fn in_lanes(batch: &[&Self]) -> Vec<Option<Output>> {
        let forms: Vec<_> = batch.iter().map(|power| power.key.for_lanes()).collect();
        let taken: Vec<_> = forms
            .iter()
            .zip(batch)
            .filter_map(|(form, power)| form.map(|form| (form, &power.block[..])))
            .collect();
        let mut results = lanes::rsa::private(&taken).into_iter();
        let of_form = |form: &Option<_>| {
            let result = form.is_some().then(|| results.next()).flatten()?;
            result.ok().map(Zeroizing::new)
        };
        forms.iter().map(of_form).collect()
    }
}
