//! Verbs that are known, and not built yet: they answer 12/93.

use super::Verb;
use crate::answer::{Outcome, Refusal};
use crate::card::Call;
use crate::request::*;

macro_rules! pending {
    ($($verb:ty => $reply:ty;)*) => {$(
        impl Verb for $verb {
            type Reply = $reply;

            fn run(&self, _: &Call<'_>) -> Outcome<$reply> {
                Err(Refusal::NotSupported)
            }
        }
    )*};
}

pending! {
    PinChangeUnblock => PinMessage;
    PkaKeyImport => PkaImported;
}
