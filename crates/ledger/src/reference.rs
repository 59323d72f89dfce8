//! That a process has references to keys of the card service: told by a sign on its mapping of the ledger.

use outboard_shared_memory::Sign;

use crate::global;

static SIGN: Sign = Sign::new();

/// While one lives, everybody who may look at this process sees that it has a reference to a key of the card service,
/// also before it asks for that key: the ledger is mapped once more, as a page that may not be read.
///
/// A forked child shows it, too, until it drops its own copy. A process without a ledger in a file shows nothing.
#[derive(Debug)]
pub struct ReferenceHeld(());

impl ReferenceHeld {
    /// As of now.
    #[expect(clippy::new_without_default, reason = "it has an effect")]
    pub fn new() -> Self {
        if let Some(image) = global().shared {
            SIGN.raise(image);
        }
        Self(())
    }
}

impl Clone for ReferenceHeld {
    fn clone(&self) -> Self {
        Self::new()
    }
}

impl Drop for ReferenceHeld {
    fn drop(&mut self) {
        SIGN.lower();
    }
}
