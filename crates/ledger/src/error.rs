//! Why a file is not, or can't be, the ledger.

use outboard_shared_memory::{Unusable, Words};

/// Why a ledger can't be used. The file is left as it was found.
pub type LedgerError = Unusable;

pub(super) const WORDS: &Words = &Words {
    name: "ledger",
    made: "one is made when a program first runs under Outboard",
    users: "the programs that run under Outboard",
    makes_room: true,
};
