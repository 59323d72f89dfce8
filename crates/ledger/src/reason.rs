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
    Profile = "profile", "OpenSSL is as fast or faster, according to the profile";
    Key = "key", "Outboard does not support keys of this form";
    Curve = "curve", "Outboard does not support this curve";
    Digest = "digest", "Outboard does not support this digest";
    Parameter = "parameter", "Outboard does not support this parameter";
    Size = "size", "Outboard does not support this size";
    Error = "error", "the operation failed on the chosen path";
    Disabled = "disabled", "switched off by the configuration";
    CardFull = "card-full", "the card's queue was full";
    CardDied = "card-died", "the card died";
    Alone = "alone", "no other operation came at the same time to share the lanes";
    Randomness = "randomness", "the sandbox refuses the program randomness (getrandom)";
    Single = "single", "this process does one operation at a time (one thread, no asynchronous jobs)";
}

impl Reason {
    /// How many reasons there are.
    pub const COUNT: usize = Self::ALL.len();

    /// Whether the program's own OpenSSL then does the operation, and not another path of Outboard.
    pub const fn is_to_stock(self) -> bool {
        !matches!(
            self,
            Self::CardFull | Self::CardDied | Self::Alone | Self::Single
        )
    }

    /// The reason of that stable name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|reason| reason.name() == name)
    }
}
