//! An operation in, a result out: keys, paths, cards.
//!
//! ```text
//! front ──▶ engine ──▶ path: stock | scalar | wide | card ──▶ result
//!           (profile       │
//!            decides)      └─▶ ledger
//!
//! scalar/    AWS-LC on the caller's thread
//! card/      the lanes: what can be asked of them, `wide` (alone.rs) and `card`
//! kem.rs     ML-KEM on its paths
//! dsa.rs     ML-DSA: its signatures
//! lattice.rs the keys of both
//! front.rs   how a front that is not OpenSSL's opens all that
//! ```
//!
//! Knows `lanes`, AWS-LC, `profile` and `ledger`; never OpenSSL's types.

pub mod card;
pub mod dsa;
mod error;
pub mod fork;
pub mod front;
pub mod kem;
pub mod lattice;
pub mod scalar;

pub use error::{Error, Result};

// What the engine is asked for, decides by and counts in, for those that stand above it.
pub use outboard_ledger as ledger;
pub use outboard_operation::{Family, Operation, Path};
pub use outboard_profile::{self as profile, Machine, settings};

#[cfg(test)]
mod tests {
    use outboard_profile::machine::{Class, Machine};

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_best_class_has_lanes() {
        let mut machine = Machine::detect();
        if machine.class() == Class::Avx512 {
            assert!(outboard_lanes::available());
            // As a hypervisor may show it.
            machine.features.retain(|name| name != "avx512vbmi2");
            assert_ne!(machine.class(), Class::Avx512);
        }
    }
}
