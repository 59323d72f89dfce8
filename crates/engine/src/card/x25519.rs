//! X25519: the shared secret, and making keys.

use outboard_lanes::x25519 as lanes;
use zeroize::Zeroizing;

use super::request::Output;
use crate::error::Result;
use crate::scalar::x25519::{self, LENGTH, Private, Public};

/// The secret shared with a peer.
pub(super) struct Derive {
    /// On the heap: requests are moved, and what is moved leaves a copy behind.
    pub(super) private: Box<Private>,
    pub(super) peer: Public,
}

/// A key: the private half, then the public one.
pub(super) struct Generate;

impl Derive {
    pub(super) fn alone(&self) -> Result<Output> {
        let mut secret = Zeroizing::new(vec![0; LENGTH]);
        let (whole, _) = secret.as_chunks_mut();
        x25519::derive(&self.private, &self.peer, &mut whole[0])?;
        Ok(secret)
    }

    pub(super) fn across_lanes(&self) -> Option<Output> {
        let private = lanes::PrivateKey::new(&self.private);
        lanes::wide::derive(&private, &self.peer).ok()
    }

    pub(super) fn in_lanes(batch: &[&Self]) -> Vec<Option<Output>> {
        let keys: Vec<_> = batch
            .iter()
            .map(|derive| lanes::PrivateKey::new(&derive.private))
            .collect();
        let items: Vec<_> = keys
            .iter()
            .zip(batch)
            .map(|(key, derive)| (key, &derive.peer))
            .collect();
        let secrets = lanes::derive(&items).into_iter();
        secrets.map(|secret| secret.ok()).collect()
    }
}

impl Generate {
    pub(super) fn alone(&self) -> Result<Output> {
        let mut private = Zeroizing::new([0; LENGTH]);
        x25519::generate_into(&mut private)?;
        Ok(pair(&private, &x25519::public_of(&private)))
    }

    pub(super) fn across_lanes() -> Option<Output> {
        let mut private = Zeroizing::new([0; LENGTH]);
        x25519::generate_into(&mut private).ok()?;
        let public = lanes::wide::public_key(&lanes::PrivateKey::new(&private)).ok()?;
        Some(pair(&private, &public))
    }

    pub(super) fn in_lanes(batch: &[&Self]) -> Vec<Option<Output>> {
        let mut privates = Zeroizing::new(vec![[0; LENGTH]; batch.len()]);
        if privates
            .iter_mut()
            .any(|private| x25519::generate_into(private).is_err())
        {
            return batch.iter().map(|_| None).collect();
        }
        let keys: Vec<_> = privates.iter().map(lanes::PrivateKey::new).collect();
        let publics = lanes::public_keys(&keys.iter().collect::<Vec<_>>());
        let pairs = publics.into_iter().zip(privates.iter());
        pairs
            .map(|(public, private)| Some(pair(private, &public.ok()?)))
            .collect()
    }
}

fn pair(private: &[u8; LENGTH], public: &[u8; LENGTH]) -> Output {
    let mut both = Zeroizing::new(Vec::with_capacity(2 * LENGTH));
    both.extend_from_slice(private);
    both.extend_from_slice(public);
    both
}
