//! The PKCS #11 module with a token of the card service, and calls that no sane program makes: logins, objects that stay, and all
//! else, from one thread and from four. `TOKEN_ROUNDS` says how many processes make such calls (`make token-stress`).

#[path = "../../pkcs11/tests/attacker/mod.rs"]
mod attacker;
mod common;

use attacker::Attacker;
use common::calls::functions;
use common::service::Service;
use common::tokens;
use outboard_administration::{Reply, TokenRequest};
use outboard_programs::child::ends_well;
use std::thread;

/// Fewer than of a slot without a service: each object that stays is written to the disk.
const CALLS: usize = 2_000;

#[test]
fn whatever_is_asked_of_a_token_is_answered() {
    let service = Service::start();
    // Without PINs, so that most logins succeed.
    let slot = tokens::create(&service, "drawn", false).slot;
    // SAFETY: this process has one test, and nobody else reads the environment now.
    unsafe { std::env::set_var("OUTBOARD_PKCS11", tokens::settings(&service)) };
    let rounds = std::env::var("TOKEN_ROUNDS").ok();
    let rounds = rounds.map_or(2, |rounds| rounds.parse().expect("a number"));
    for seed in 0..rounds {
        let alone = || {
            let mut attacker = Attacker::new(functions(), seed, slot);
            (0..CALLS).for_each(|_| attacker.call());
            true
        };
        assert!(ends_well(alone), "seed {seed}");
        let in_threads = || {
            thread::scope(|scope| {
                for thread in 0..4 {
                    scope.spawn(move || {
                        let seed = seed << 8 | thread;
                        let mut attacker = Attacker::new(functions(), seed, slot);
                        (0..CALLS / 4).for_each(|_| attacker.call());
                    });
                }
            });
            true
        };
        assert!(ends_well(in_threads), "seed {seed}, threads");
    }
    let Reply::Tokens { tokens } = tokens::ask(&service, "drawn", TokenRequest::Show) else {
        panic!("it is there");
    };
    assert!(tokens[0].objects > 0, "none of the calls kept an object");
}
