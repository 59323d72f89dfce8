//! What the service complains of in its log: clients may repeat a mistake without end, and the log stays short.
//!
//! One line a minute for each client and complaint. The next line of the same kind says how many were left out.

use std::collections::HashMap;
use std::fmt::{self, Display};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use outboard_administration::Complaint;
use outboard_wire::{KeyId, Status};

use crate::gate::lock;
use crate::keys;
use crate::peer::Peer;

/// How long the same complaint is not repeated.
const MINUTE: Duration = Duration::from_secs(60);
/// How many different complaints about one user are told apart within a minute.
const MOST_OF_USER: usize = 32;
/// How many there may be about all users together. Where old ones make room, what they left out is forgotten.
const MOST: usize = 1024;

/// What there is to complain of. Whatever a client chooses freely is not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum About {
    /// Requests for that key, refused with that status; none: for keys that are not there.
    Key(Option<KeyId>, Status),
    /// An ssh client's messages.
    Agent(&'static str),
    /// Commands that the user may not use.
    Command,
    /// Connections that are not accepted.
    Connections,
    /// The store.
    Store,
    /// Verbs that end their process.
    Verbs,
    /// More kinds of complaints than are told apart.
    Others,
}

/// A user, if a user did it, and what.
type Place = (Option<u32>, About);

/// The complaints of the last minutes.
#[derive(Default)]
pub(crate) struct Complaints {
    said: Mutex<HashMap<Place, Said>>,
    last: Mutex<Option<Complaint>>,
}

/// A line that was written.
struct Said {
    when: Instant,
    /// How many followed it that were not written.
    left_out: u64,
}

impl Complaints {
    /// Complains of what a client did.
    pub(crate) fn of(&self, peer: &Peer, about: About, sentence: impl Display) {
        let Peer { uid, pid, .. } = peer;
        let who = format_args!("uid {uid} (process {pid})");
        self.say(Some(*uid), about, format_args!("{who}: {sentence}"));
    }

    /// Complains of what no client did.
    pub(crate) fn of_system(&self, about: About, sentence: impl Display) {
        self.say(None, about, sentence);
    }

    /// The last line in the log.
    pub(crate) fn last(&self) -> Option<Complaint> {
        lock(&self.last).clone()
    }

    fn say(&self, uid: Option<u32>, about: About, sentence: impl Display) {
        let Some(left_out) = self.may_say(uid, about, Instant::now()) else {
            return;
        };
        let sentence = format!("{sentence}{left_out}");
        tracing::warn!("{sentence}");
        *lock(&self.last) = Some(Complaint {
            time: keys::now(),
            sentence,
        });
    }

    /// How many were left out since the last line, where a line may be written now.
    fn may_say(&self, uid: Option<u32>, about: About, now: Instant) -> Option<LeftOut> {
        let mut said = lock(&self.said);
        let place = place(&mut said, (uid, about), now);
        match said.get_mut(&place) {
            Some(known) if known.is_recent(now) => {
                known.left_out += 1;
                None
            }
            known => {
                let left_out = known.map_or(0, |known| known.left_out);
                let new = Said {
                    when: now,
                    left_out: 0,
                };
                said.insert(place, new);
                Some(LeftOut(left_out))
            }
        }
    }
}

impl Said {
    fn is_recent(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.when) < MINUTE
    }
}

/// Where a complaint counts: as what it is, or with others where there is no room for one more.
fn place(said: &mut HashMap<Place, Said>, wanted: Place, now: Instant) -> Place {
    let (uid, _) = wanted;
    let (others_of_user, others) = ((uid, About::Others), (None, About::Others));
    let is_recent = |said: &HashMap<Place, Said>, place| {
        let known = said.get(&place);
        known.is_some_and(|known| known.is_recent(now))
    };
    if said.contains_key(&wanted) {
        return wanted;
    }
    // A flood costs no more than this.
    if is_recent(said, others_of_user) {
        return others_of_user;
    }
    if said.len() >= MOST && is_recent(said, others) {
        return others;
    }
    let of_user = |said: &HashMap<Place, Said>| {
        let of_user = said.keys().filter(|(other, _)| *other == uid);
        of_user.count()
    };
    if said.len() >= MOST || of_user(said) >= MOST_OF_USER {
        said.retain(|_, said| said.is_recent(now));
    }
    match (said.len() >= MOST, of_user(said) >= MOST_OF_USER) {
        (true, _) => others,
        (false, true) => others_of_user,
        (false, false) => wanted,
    }
}

/// How many lines were left out, as the end of the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LeftOut(u64);

impl Display for LeftOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            count => write!(formatter, " (and {count} times since the last such line)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENIED: About = About::Key(None, Status::Denied);

    #[test]
    fn a_complaint_is_repeated_after_a_minute_with_the_number_left_out() {
        let complaints = Complaints::default();
        let start = Instant::now();
        let say = |uid, about, seconds| {
            complaints.may_say(Some(uid), about, start + Duration::from_secs(seconds))
        };
        assert_eq!(say(33, DENIED, 0), Some(LeftOut(0)));
        for second in 0..60 {
            assert_eq!(say(33, DENIED, second), None);
        }
        // Of others, and of other things.
        assert_eq!(say(34, DENIED, 59), Some(LeftOut(0)));
        assert_eq!(say(33, About::Agent("x"), 59), Some(LeftOut(0)));
        assert_eq!(say(33, DENIED, 60), Some(LeftOut(60)));
        assert_eq!(say(33, DENIED, 61), None);
        assert_eq!(
            LeftOut(2).to_string(),
            " (and 2 times since the last such line)"
        );
    }

    /// A user who knows many keys writes few lines, and nobody else is silenced.
    #[test]
    fn memory_and_lines_are_bounded() {
        let complaints = Complaints::default();
        let now = Instant::now();
        let key = |number: u64| {
            let mut id = [0; 16];
            id[..8].copy_from_slice(&number.to_ne_bytes());
            About::Key(Some(KeyId(id)), Status::Denied)
        };
        let lines = |uid, keys: u64, now| {
            let said = (0..keys).filter(|&number| {
                let said = complaints.may_say(Some(uid), key(number), now);
                said.is_some()
            });
            said.count()
        };
        assert_eq!(lines(33, 10_000, now), MOST_OF_USER + 1);
        assert_eq!(lines(34, 1, now), 1);
        for uid in 1000..100_000 {
            lines(uid, 1, now);
        }
        assert!(lock(&complaints.said).len() <= MOST + 1);
        // What is old makes room.
        assert_eq!(lines(5, 1, now + MINUTE), 1);
        assert_eq!(lines(5, 1, now + MINUTE), 0);
        assert!(lock(&complaints.said).len() <= 2);
    }
}
