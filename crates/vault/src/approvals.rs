//! Approvals: administrators who agree to an act, before another performs it.
//!
//! An approval is bound to the key, to the act, and to the key as it is: each change of the key ends it, as does an act that
//! it was for, the activation of a new master key, and a day. The master key authenticates it.

use std::collections::BTreeSet;

use crate::KeyId;
use crate::audit::{self, Act, New};
use crate::cipher;
use crate::encoding::Writer;
use crate::error::{Error, Result};
use crate::master::MasterKey;
use crate::policy::Policy;
use crate::record::{Record, Which};
use crate::vault::{Change, Inner, Vault};

/// How long an approval counts, in seconds.
const LASTS: u64 = 24 * 60 * 60;

/// What administrators agree to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approvable {
    /// The key leaves the vault.
    Export,
    /// The key is deleted.
    Delete,
    /// The key gets this policy, whose approvals differ.
    Policy(Policy),
}

impl Approvable {
    fn act(&self) -> Act {
        match self {
            Self::Export => Act::Export,
            Self::Delete => Act::Delete,
            Self::Policy(_) => Act::SetPolicy,
        }
    }

    /// Tells one policy from the other.
    fn subject(&self) -> [u8; 32] {
        match self {
            Self::Export | Self::Delete => [0; 32],
            Self::Policy(policy) => cipher::sha256(&policy.encode()),
        }
    }
}

impl Vault {
    /// An administrator agrees to an act; how many of those who are needed agree now, and how many are needed.
    ///
    /// # Errors
    /// The vault is not open; there is no such key, or it is damaged; its policy needs no approvals, or not this user's; the
    /// store cannot be written.
    pub fn approve<'a>(
        &self,
        actor: u32,
        which: impl Into<Which<'a>>,
        what: &Approvable,
    ) -> Result<(u8, u8)> {
        self.inner().approve(actor, which.into(), what)
    }
}

impl Inner {
    fn approve(&mut self, actor: u32, which: Which<'_>, what: &Approvable) -> Result<(u8, u8)> {
        let record = self.unwrap(which)?.record;
        let act = what.act();
        let new = New::of(actor, Act::Approve)
            .detail(act.as_str())
            .key(record.id, &record.name);
        let approvals = match &record.policy.approvals {
            Some(approvals) if approvals.administrators.contains(&actor) => approvals,
            _ => {
                let refused = Error::Refused {
                    what: "the approval",
                    reason: "the key's policy does not ask for this user's (see the policy's approvals)",
                };
                return self.refused(new, Err(refused));
            }
        };
        let time = audit::now();
        self.change(|change| {
            let master = change.masters.current(&change.state)?;
            let code = code(master, &record, what, actor, time)?;
            change.execute(
                "INSERT OR REPLACE INTO approvals VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                (
                    &record.id.0[..],
                    act.as_str(),
                    &what.subject()[..],
                    actor,
                    time as i64,
                    record.revision as i64,
                    &code[..],
                ),
            )?;
            change.append(&new)
        })?;
        let agreeing = self.agreeing(&record, what)?;
        Ok((approvals.given_by(&agreeing), approvals.needed))
    }

    /// That enough administrators agree, with whoever acts.
    pub(crate) fn approved(&mut self, new: &New, record: &Record, what: &Approvable) -> Result<()> {
        let Some(approvals) = &record.policy.approvals else {
            return Ok(());
        };
        let mut agreeing = self.agreeing(record, what)?;
        agreeing.insert(new.uid);
        if approvals.met_by(&agreeing) {
            return Ok(());
        }
        let refused = Error::Approvals {
            name: record.name.to_string(),
            act: new.act.as_str(),
            needed: approvals.needed,
            given: approvals.given_by(&agreeing),
            administrators: approvals.administrators.iter().copied().collect(),
        };
        let new = New::of(new.uid, new.act).key(record.id, &record.name);
        self.refused(new, Err(refused))
    }

    /// Those whose approval counts.
    fn agreeing(&self, record: &Record, what: &Approvable) -> Result<BTreeSet<u32>> {
        let master = self.masters.current(&self.state)?;
        let rows = || -> rusqlite::Result<Vec<(u32, i64, Vec<u8>)>> {
            let statement = "SELECT uid, time, code FROM approvals WHERE key = ?1 AND act = ?2 AND subject = ?3";
            let mut statement = self.store.connection.prepare_cached(statement)?;
            let subject = what.subject();
            let values = (&record.id.0[..], what.act().as_str(), &subject[..]);
            let rows =
                statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect()
        };
        let now = audit::now();
        let mut agreeing = BTreeSet::new();
        for (uid, time, given) in rows().map_err(self.store.failed())? {
            let time = time as u64;
            let lasts = time <= now && now - time < LASTS;
            if lasts && cipher::equal(&given, &code(master, record, what, uid, time)?) {
                agreeing.insert(uid);
            }
        }
        Ok(agreeing)
    }
}

/// Ends a key's approvals.
pub(crate) fn spend(change: &Change<'_>, id: KeyId) -> Result<()> {
    change.execute("DELETE FROM approvals WHERE key = ?1", [&id.0[..]])?;
    Ok(())
}

/// Authenticates an approval of the key as it is.
fn code(
    master: &MasterKey,
    record: &Record,
    what: &Approvable,
    uid: u32,
    time: u64,
) -> Result<[u8; 32]> {
    let mut writer = Writer::labelled("outboard vault approval 1");
    writer
        .bytes(&record.id.0)
        .u64(record.revision)
        .bytes(what.act().as_str().as_bytes())
        .bytes(&what.subject())
        .u32(uid)
        .u64(time);
    master.code(&writer.finish())
}
