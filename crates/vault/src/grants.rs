//! Who may use or administer a key.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::encoding::{Reader, Writer};
use crate::error::{Error, Result};

/// The most grants of one key.
pub const MAX_GRANTS: usize = 1024;

/// Whom a grant is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A user, by uid.
    User(u32),
    /// Every member of a group, by gid.
    Group(u32),
}

/// What a grant allows. To administer a key does not include its use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Right {
    /// Operations with the key.
    Use,
    /// Its name, policy, grants, deletion and export.
    Administer,
}

/// The grants of a key. None at first: nobody may use it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Grants(BTreeSet<(Subject, Right)>);

impl Grants {
    /// No grants.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a grant; `false`: it was there.
    pub fn grant(&mut self, subject: Subject, right: Right) -> bool {
        self.0.insert((subject, right))
    }

    /// Takes a grant away; `false`: there was none.
    pub fn revoke(&mut self, subject: Subject, right: Right) -> bool {
        self.0.remove(&(subject, right))
    }

    /// Each grant, users first.
    pub fn iter(&self) -> impl Iterator<Item = (Subject, Right)> {
        self.0.iter().copied()
    }

    /// Whether a user in these groups may use the key.
    pub fn may_use(&self, uid: u32, gids: &[u32]) -> bool {
        self.has(Right::Use, uid, gids)
    }

    /// Whether a user in these groups may administer the key, by a grant.
    pub fn may_administer(&self, uid: u32, gids: &[u32]) -> bool {
        self.has(Right::Administer, uid, gids)
    }

    fn has(&self, right: Right, uid: u32, gids: &[u32]) -> bool {
        let granted = |subject| self.0.contains(&(subject, right));
        granted(Subject::User(uid)) || gids.iter().any(|&gid| granted(Subject::Group(gid)))
    }

    /// That they can be stored.
    ///
    /// # Errors
    /// [`Error::Invalid`].
    pub fn validate(&self) -> Result<()> {
        if self.0.len() <= MAX_GRANTS {
            return Ok(());
        }
        Err(Error::Invalid {
            what: "the number of grants",
            value: self.0.len().to_string(),
            reason: "a key has at most 1024 grants; grant its use to a group",
        })
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        for (subject, right) in self.iter() {
            let (kind, id) = match subject {
                Subject::User(uid) => (0, uid),
                Subject::Group(gid) => (1, gid),
            };
            writer.u8(kind).u32(id).u8(right as u8);
        }
        writer.finish()
    }

    pub(crate) fn decode(encoding: &[u8]) -> Option<Self> {
        let mut grants = Self::new();
        for grant in encoding.chunks(6) {
            let mut reader = Reader::new(grant);
            let (kind, id) = (reader.u8()?, reader.u32()?);
            let subject = match kind {
                0 => Subject::User(id),
                1 => Subject::Group(id),
                _ => return None,
            };
            let right = match reader.u8()? {
                0 => Right::Use,
                1 => Right::Administer,
                _ => return None,
            };
            grants.grant(subject, right);
        }
        (grants.encode() == encoding).then_some(grants)
    }
}

impl FromIterator<(Subject, Right)> for Grants {
    fn from_iter<T: IntoIterator<Item = (Subject, Right)>>(grants: T) -> Self {
        Self(grants.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_grants() -> impl Strategy<Value = Grants> {
        let subject = prop_oneof![
            (0_u32..8).prop_map(Subject::User),
            (0_u32..8).prop_map(Subject::Group)
        ];
        let right = prop_oneof![Just(Right::Use), Just(Right::Administer)];
        prop::collection::vec((subject, right), 0..12)
            .prop_map(|grants| grants.into_iter().collect())
    }

    proptest! {
        #[test]
        fn a_right_comes_from_a_grant_of_that_right_alone(
            grants in any_grants(), uid in 0_u32..8, gids in prop::collection::vec(0_u32..8, 0..4),
        ) {
            let has = |right| grants.iter().any(|(subject, granted)| granted == right && match subject {
                Subject::User(user) => user == uid,
                Subject::Group(group) => gids.contains(&group),
            });
            prop_assert_eq!(grants.may_use(uid, &gids), has(Right::Use));
            prop_assert_eq!(grants.may_administer(uid, &gids), has(Right::Administer));
        }

        #[test]
        fn revoking_undoes_granting(grants in any_grants(), uid in 8_u32..16) {
            let mut changed = grants.clone();
            prop_assert!(changed.grant(Subject::User(uid), Right::Use));
            prop_assert!(changed.may_use(uid, &[]));
            prop_assert!(changed.revoke(Subject::User(uid), Right::Use));
            prop_assert_eq!(changed, grants);
        }

        #[test]
        fn what_is_encoded_is_decoded(grants in any_grants()) {
            prop_assert_eq!(Grants::decode(&grants.encode()), Some(grants.clone()));
            let json = serde_json::to_string(&grants).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<Grants>(&json).expect("JSON"), grants);
        }
    }

    #[test]
    fn nobody_has_a_right_at_first() {
        assert!(!Grants::new().may_use(0, &[0]));
        assert!(!Grants::new().may_administer(0, &[0]));
    }
}
