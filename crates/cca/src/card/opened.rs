//! Private keys that were used last, ready to compute with: to read one again takes as long as a third of a signature.
//!
//! A key is found by a name that the master key makes of its whole token (`PkaToken::name_of_private`): so another token, and a token
//! under a master key that the card has no more, finds none. Keys are wiped when they leave.

use std::collections::VecDeque;
use std::sync::Arc;

use outboard_engine::scalar::pair::Private;

use crate::token::pka::Use;

/// How many keys are kept.
const MOST: usize = 64;

struct Key {
    name: [u8; 32],
    private: Arc<Private>,
    of: Use,
}

/// The keys; the one that was used last is the first.
#[derive(Default)]
pub(crate) struct Opened(VecDeque<Key>);

impl Opened {
    /// The key of that name.
    pub(crate) fn get(&mut self, name: &[u8; 32]) -> Option<(Arc<Private>, Use)> {
        let place = self.0.iter().position(|key| key.name == *name)?;
        let key = self.0.remove(place)?;
        let found = (Arc::clone(&key.private), key.of);
        self.0.push_front(key);
        Some(found)
    }

    /// Keeps a key, in the place of the one that was used longest ago.
    pub(crate) fn keep(&mut self, name: [u8; 32], private: &Arc<Private>, of: Use) {
        if self.get(&name).is_some() {
            return;
        }
        self.0.truncate(MOST - 1);
        self.0.push_front(Key {
            name,
            private: Arc::clone(private),
            of,
        });
    }

    /// Forgets all.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use outboard_engine::scalar::ec::Curve;
    use outboard_engine::scalar::pair::{Kind, Pair};

    use super::*;

    #[test]
    fn the_keys_that_were_used_last_stay() {
        let private = || Arc::new(Pair::generate(Kind::Ec(Curve::P256)).unwrap().private);
        let mut opened = Opened::default();
        for number in 0..MOST as u8 {
            opened.keep([number; 32], &private(), Use::Sign);
        }
        assert!(opened.get(&[0; 32]).is_some());
        opened.keep([200; 32], &private(), Use::Decrypt);
        assert!(opened.get(&[1; 32]).is_none(), "unused for longest");
        assert!(opened.get(&[0; 32]).is_some());
        assert_eq!(opened.get(&[200; 32]).map(|(_, of)| of), Some(Use::Decrypt));
        assert_eq!(opened.0.len(), MOST);
        opened.forget();
        assert!(opened.get(&[0; 32]).is_none());
    }
}
