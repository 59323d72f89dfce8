//! A sandbox that refuses randomness is told of; AWS-LC alone would abort the process.

use outboard_engine::scalar::ec::{Curve, Key, MAX_SIGNATURE_LENGTH};
use outboard_engine::scalar::{self, x25519};
use outboard_engine::{Error, fork};
use outboard_programs::{child, sandbox};

/// More than AWS-LC draws until it seeds anew.
const MANY: usize = 5_000;

fn confine() {
    sandbox::refuse(libc::SYS_getrandom).expect("the kernel has filters");
}

fn key() -> Key {
    Key::generate(Curve::P256).expect("there is randomness")
}

fn sign(key: &Key) -> outboard_engine::Result<usize> {
    key.sign(&[7; 32], &mut [0; MAX_SIGNATURE_LENGTH])
}

#[test]
fn the_first_draw_is_refused() {
    assert!(child::ends_well(|| {
        confine();
        let refused = Err(Error::Randomness);
        scalar::randomise(&mut [0; 16]) == refused
            && Key::generate(Curve::P384).err() == refused.err()
            && x25519::generate().err() == refused.err()
    }));
}

/// As daemons do it: a parent that has keys and has used them forks children that confine themselves.
#[test]
fn the_first_draw_after_a_fork_is_refused() {
    fork::watch();
    let key = key();
    assert!(sign(&key).is_ok());
    assert!(child::ends_well(|| {
        confine();
        sign(&key) == Err(Error::Randomness)
    }));
}

#[test]
fn the_first_draw_of_a_thread_is_refused() {
    let key = key();
    assert!(child::ends_well(|| {
        let granted = sign(&key).is_ok();
        confine();
        // This thread's generator is seeded, and stays so for a while.
        granted
            && sign(&key).is_ok()
            && std::thread::scope(|scope| scope.spawn(|| sign(&key)).join())
                .is_ok_and(|signed| signed == Err(Error::Randomness))
    }));
}

/// Before AWS-LC seeds anew.
#[test]
fn a_thread_that_confines_itself_is_refused_in_time() {
    let key = key();
    assert!(child::ends_well(|| {
        let granted = sign(&key).is_ok();
        confine();
        granted && (0..MANY).any(|_| sign(&key) == Err(Error::Randomness))
    }));
}

/// What needs none goes on.
#[test]
fn verifying_and_deriving_need_none() {
    let key = key();
    let mut signature = [0; MAX_SIGNATURE_LENGTH];
    let length = key.sign(&[7; 32], &mut signature).expect("it signs");
    assert!(child::ends_well(|| {
        confine();
        let mut secret = [0; 32];
        key.verify(&[7; 32], &signature[..length]) && key.derive(&key, &mut secret).is_ok()
    }));
}
