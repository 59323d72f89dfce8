//! What the command `outboard cca` asks of the service's CCA coprocessor, beside its verbs.

use serde::{Deserialize, Serialize};

use crate::message::Grant;

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum CoprocessorRequest {
    /// How it does. Everybody may ask.
    Show,
    /// Switches it on, and makes it if there is none. Administrators of the service may, as in what follows.
    Enable,
    /// Switches it off. Its state stays.
    Disable,
    /// Destroys it and its state.
    Destroy,
    /// Lets users or groups call its verbs or administer it, or no longer.
    Grant {
        /// Who may do what.
        grant: Grant,
        /// Whether they may from now on.
        given: bool,
    },
}

/// How the coprocessor does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoprocessorInfo {
    /// Whether it was made.
    pub made: bool,
    /// Whether it takes verbs.
    pub enabled: bool,
    /// Whether who asks may call verbs.
    pub may_call: bool,
    /// Whether who asks may administer it: enter master keys, switch access-control points.
    pub may_administer: bool,
    /// Who may do what, for those who may administer it.
    pub grants: Vec<Grant>,
    /// How many records its key storage has; none before the first verb since the service started.
    pub records: Option<u64>,
    /// The verbs that were called since the service started.
    pub verbs: Vec<VerbUsage>,
}

/// How often a verb was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerbUsage {
    /// Its name.
    pub verb: String,
    /// With return code 0.
    pub done: u64,
    /// With return code 4: what was to be verified is wrong.
    pub unverified: u64,
    /// With another return code.
    pub refused: u64,
}
