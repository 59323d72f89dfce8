//! Why an operation did not run where it might have.

use serde::{Deserialize, Serialize};

macro_rules! reasons {
    ($($variant:ident = $name:literal, $explanation:literal;)*) => {
        /// Why an operation ran elsewhere than on the fastest path.
        ///
        /// The order is part of the ledger's layout: append, never reorder. There is room for
        /// sixteen.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[repr(u8)]
        pub enum Reason {
            $(#[doc = $explanation] #[serde(rename = $name)] $variant,)*
        }

        impl Reason {
            /// Every reason, in the ledger's order.
            pub const ALL: &[Reason] = &[$(Reason::$variant,)*];

            /// The stable name, used in `--json`.
            pub const fn name(self) -> &'static str {
                match self { $(Reason::$variant => $name,)* }
            }

            /// The words for a person.
            pub const fn explanation(self) -> &'static str {
                match self { $(Reason::$variant => $explanation,)* }
            }
        }
    };
}

reasons! {
    Profile = "profile", "stock was measured to be as fast or faster";
    Key = "key", "the engine does not do keys of this shape";
    Curve = "curve", "the engine does not do this curve";
    Digest = "digest", "the engine does not do this digest";
    Parameter = "parameter", "the engine does not do this parameter";
    Size = "size", "the engine does not do this size";
    Error = "error", "the operation failed on the chosen path";
    Disabled = "disabled", "switched off by the configuration";
    CardFull = "card-full", "the card's queue was full";
    CardDied = "card-died", "the card died";
    Alone = "alone", "no other operation was there at that moment to share the lanes with";
    Randomness = "randomness", "the system refuses randomness to the program (getrandom)";
    Single = "single", "this process does one operation at a time: it has one thread and no asynchronous jobs";
}

impl Reason {
    /// How many reasons there are.
    pub const COUNT: usize = Self::ALL.len();

    /// The reason of that stable name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|reason| reason.name() == name)
    }
}
