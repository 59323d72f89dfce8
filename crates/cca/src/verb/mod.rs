//! The verbs, one file for each group.

mod administration;
mod aes_keys;
mod cloning;
mod data;
mod extensions;
mod keys;
mod pin;
mod pka;
mod pka_tokens;
mod records;
mod tokens;
mod tr31;
mod transport;

use crate::answer::Outcome;
use crate::card::Call;

/// What a request's verb does.
pub(crate) trait Verb {
    /// What it makes.
    type Reply;

    /// Carries it out.
    fn run(&self, call: &Call<'_>) -> Outcome<Self::Reply>;
}
