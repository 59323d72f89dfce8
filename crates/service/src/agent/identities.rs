//! Keys as ssh clients name them: by their public halves (RFC 4253, 6.6; RFC 5656, 3.1; RFC 8709, 4).

use std::sync::{Arc, Mutex};

use outboard_vault::{Condition, Error, Grants, KeyType, Record};
use outboard_wire::{KeyId, Public};

use super::message::{put_number, put_string};
use super::scheme::Kind;
use crate::gate::lock;
use crate::keys::Keys;
use crate::peer::Peer;

/// A key that clients may see.
pub(super) struct Identity {
    pub(super) id: KeyId,
    pub(super) kind: Kind,
    /// The public half in SSH's form.
    pub(super) public: Vec<u8>,
    pub(super) name: String,
    grants: Grants,
}

/// The service's keys in SSH's form, made anew only after one of them has changed: to read a record is to unwrap it.
#[derive(Default)]
pub(crate) struct Identities(Mutex<Option<(u64, List)>>);

/// The keys, by their public halves.
pub(super) type List = Arc<[Identity]>;

impl Identities {
    /// The keys as they are now; none while the service waits for its master key.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(super) fn now(&self, keys: &Keys) -> Result<List, Error> {
        // Before the keys are read: a change while they are read makes them anew at the next request.
        let changes = keys.changes();
        let mut known = lock(&self.0);
        if let Some((known_changes, list)) = &*known
            && *known_changes == changes
        {
            return Ok(Arc::clone(list));
        }
        // Until then nobody can say whether the grants are those that were given.
        if keys.vault.status().condition != Condition::Open {
            return Ok(Arc::new([]));
        }
        let records = keys.vault.records()?.records;
        let mut list: Vec<_> = records.into_iter().filter_map(Identity::of).collect();
        list.sort_by(|one, other| one.public.cmp(&other.public));
        let list = List::from(list);
        *known = Some((changes, Arc::clone(&list)));
        Ok(list)
    }
}

/// The key of that public half that the client may use.
pub(super) fn find<'a>(list: &'a [Identity], public: &[u8], peer: &Peer) -> Option<&'a Identity> {
    let first = list.partition_point(|identity| identity.public[..] < *public);
    let same = list[first..]
        .iter()
        .take_while(|identity| identity.public == public);
    // One key may be there under several names.
    let mut usable = same.filter(|identity| identity.is_usable_by(peer));
    usable.next()
}

impl Identity {
    /// None where the public half is damaged.
    fn of(record: Record) -> Option<Self> {
        let (kind, public) = public_half(record.key_type()?, &record.public)?;
        Some(Self {
            id: record.id,
            kind,
            public,
            name: record.name.to_string(),
            grants: record.grants,
        })
    }

    pub(super) fn is_usable_by(&self, peer: &Peer) -> bool {
        self.grants.may_use(peer.uid, &peer.gids)
    }
}

fn public_half(key_type: KeyType, info: &[u8]) -> Option<(Kind, Vec<u8>)> {
    let kind = Kind::of(key_type);
    let mut public = Vec::new();
    put_string(&mut public, kind.name().as_bytes());
    match (kind, Public::of(info)?) {
        (Kind::Rsa, Public::Rsa { n, e }) => {
            put_number(&mut public, e);
            put_number(&mut public, n);
        }
        (Kind::Ecdsa(curve), Public::Ec { point, .. }) => {
            put_string(&mut public, curve.name().as_bytes());
            put_string(&mut public, point);
        }
        (Kind::Ed25519, Public::Ed25519(half)) => put_string(&mut public, half),
        _ => return None,
    }
    Some((kind, public))
}
