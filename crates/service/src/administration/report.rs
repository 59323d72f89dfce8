//! What the service tells of itself, and the cards that an administrator steers.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use outboard_administration::{KeyUsage, Master, MasterState, Reply, Served, Status};
use outboard_engine::card;
use outboard_vault::{self as vault, Act, Condition, Outcome};
use outboard_wire::KeyId;

use super::translate::{malformed, refused};
use super::{Administration, Result, administrates, administrator};
use crate::peer::Peer;
use crate::usage::{Usage, View};

/// Of how many keys one answer says how they were used: a line has room for all their rows.
const PAGE_OF_USAGE: usize = 50;

impl Administration {
    pub(super) fn status(&self, peer: &Peer) -> Status {
        let status = self.keys.vault.status();
        let pattern = |register: vault::RegisterStatus| register.pattern.map(|it| it.to_string());
        let counts = &self.gate.counts;
        let (verbs, malformed) = self.gate.coprocessor.counts();
        Status {
            outboard: env!("CARGO_PKG_VERSION").into(),
            pid: std::process::id(),
            since: self.since,
            store: self.store.clone(),
            master: Master {
                state: match status.condition {
                    Condition::Empty => MasterState::Empty,
                    Condition::Locked => MasterState::Locked,
                    Condition::Open => MasterState::Open,
                },
                patterns: [status.new, status.current, status.old].map(pattern),
                parts: [status.new, status.current, status.old]
                    .iter()
                    .map(|register| register.parts)
                    .sum(),
                phase: format!("{:?}", status.phase).to_lowercase(),
                source: Some(self.source.name().into()),
            },
            keys: status.keys.unwrap_or_default(),
            connections: self.gate.connections() as u64,
            lanes: card::are_there(),
            locked_memory: self.locked_memory,
            served: Served {
                done: counts.done.load(Relaxed) + verbs,
                in_lanes: counts.in_lanes.load(Relaxed),
                refused: counts.refused.load(Relaxed) + malformed,
            },
            // It may name users and keys.
            complaint: administrator(peer)
                .ok()
                .and_then(|()| self.gate.complaints.last()),
        }
    }

    /// A page of how keys were used, as far as the peer may know.
    pub(super) fn usage(&self, peer: &Peer, after: Option<&str>) -> Result<Reply> {
        let after = after.map(|id| id.parse().map_err(malformed)).transpose()?;
        let page = self.keys.usage_after(after, PAGE_OF_USAGE);
        let last = page.last().map(|(id, _)| id.to_string());
        let key = |(id, usage): &(KeyId, Arc<Usage>)| {
            // Of a key that is damaged, or was just deleted, nobody can say who may know.
            let record = self.keys.vault.record(*id).ok()?;
            let view = match administrates(peer, &record) {
                true => View::All,
                false if record.grants.may_use(peer.uid, &peer.gids) => View::Of(peer.uid),
                false => return None,
            };
            let users = usage.users(view);
            (!users.is_empty()).then(|| KeyUsage {
                name: record.name.to_string(),
                id: id.to_string(),
                users,
                processes: usage.processes(view),
            })
        };
        Ok(Reply::Usage {
            since: self.since,
            keys: page.iter().filter_map(key).collect(),
            next: last.filter(|_| page.len() == PAGE_OF_USAGE),
        })
    }

    /// The audit log has it before it is done.
    pub(super) fn set_card(&self, peer: &Peer, number: usize, online: bool) -> Result<Reply> {
        let card = self.gate.card(number).ok_or_else(|| {
            malformed(match self.gate.cards().len() {
                0 => "the service has no cards, because this processor has no lanes".to_owned(),
                count => format!(
                    "there is no card {number}: the service has cards 0 to {}",
                    count - 1
                ),
            })
        })?;
        let state = if online { "online" } else { "offline" };
        let note = format!("card {number} is {state}");
        let vault = &self.keys.vault;
        vault
            .note(peer.uid, Act::Note, None, &note, Outcome::Done)
            .map_err(refused)?;
        card.set_online(online);
        tracing::info!("uid {} set card {number} {state}", peer.uid);
        Ok(Reply::Done)
    }
}
