//! What verbs compute, without keys in tokens or a card.

pub(crate) mod cmac;
pub(crate) mod des;
pub(crate) mod dukpt;
pub(crate) mod emv;
pub(crate) mod hash;
pub(crate) mod hmac;
pub(crate) mod mac;
pub(crate) mod method;
pub(crate) mod pin;
pub(crate) mod shamir;
pub(crate) mod tr31;

/// Whether what AWS-LC computes is what the standards say: one answer for each algorithm.
pub(crate) fn known_answers() -> bool {
    des::known_answer()
}
