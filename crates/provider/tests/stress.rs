//! Many threads at once, and forks in the midst of them.

#![allow(clippy::unwrap_used)] // in helpers too, not only in the tests themselves

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use outboard_engine::ledger::Snapshot;
use outboard_engine::{Operation, Path};
use outboard_libcrypto::{
    Cipher, CipherContext, Context, Deriver, DigestSigner, DigestVerifier, Direction, Key, Params,
};
use outboard_measure::Sides;
use outboard_programs::child;

const THREADS: usize = 4;
const FORKS: usize = 60;

/// Keys that all threads and children share, as a server's are.
struct Shared {
    signing: Vec<(Key, Option<&'static str>)>,
    exchange: Vec<(Key, Key)>,
    cipher: Cipher,
}

impl Shared {
    fn new(context: &Context) -> Self {
        let curve =
            |name: &str| Key::generate(context, "EC", &Params::new().text(c"group", name)).unwrap();
        let plain = |kind: &str| Key::generate(context, kind, &Params::new()).unwrap();
        let rsa = Params::new().unsigned(c"bits", 2048);
        Self {
            signing: vec![
                (Key::generate(context, "RSA", &rsa).unwrap(), Some("SHA256")),
                (curve("P-256"), Some("SHA256")),
                (curve("P-384"), Some("SHA384")),
                (plain("ED25519"), None),
            ],
            exchange: vec![
                (curve("P-256"), curve("P-256")),
                (plain("X25519"), plain("X25519")),
            ],
            cipher: Cipher::fetch(context, "AES-128-GCM", None).unwrap(),
        }
    }

    /// One of everything, each result checked.
    fn round(&self) -> Result<(), outboard_libcrypto::Error> {
        let message = b"a message that many sign";
        for (key, digest) in &self.signing {
            let signature = DigestSigner::new(key, *digest, &Params::new())?.sign(message)?;
            let mut verifier = DigestVerifier::new(key, *digest, &Params::new())?;
            assert!(verifier.verify(&signature, message)?);
        }
        for (one, other) in &self.exchange {
            let derive = |ours: &Key, theirs: &Key| {
                let mut deriver = Deriver::new(ours, &Params::new())?;
                deriver.set_peer(theirs)?;
                deriver.derive()
            };
            assert_eq!(derive(one, other)?, derive(other, one)?);
        }
        let (key, iv) = ([7; 16], [9; 12]);
        let (mut data, mut tag) = (message.to_vec(), [0; 16]);
        let mut seal = CipherContext::new(&self.cipher, Direction::Encrypt)?;
        seal.start(Some(&key), Some(&iv))?;
        seal.update_in_place(&mut data)?;
        seal.finish(&mut [0; 16])?;
        seal.tag(&mut tag)?;
        let mut open = CipherContext::new(&self.cipher, Direction::Decrypt)?;
        open.start(Some(&key), Some(&iv))?;
        open.set_tag(&tag)?;
        open.update_in_place(&mut data)?;
        open.finish(&mut [0; 16])?;
        assert_eq!(data, message);
        Ok(())
    }
}

#[test]
fn threads_share_keys_while_the_process_forks() {
    let sides = common::sides();
    let shared = Shared::new(&sides.outboard);
    // What is fetched is then cached: libcrypto's own locks are only read from here on. It does not
    // promise more across a fork in a process of many threads.
    shared.round().unwrap();

    let stop = AtomicBool::new(false);
    let rounds = AtomicUsize::new(0);
    let lost = thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    shared.round().unwrap();
                    rounds.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let lost = (0..FORKS)
            .filter(|_| !child::ends_well(|| shared.round().is_ok()))
            .count();
        stop.store(true, Ordering::Relaxed);
        lost
    });
    assert_eq!(lost, 0, "children that failed or stuck");
    assert_all_counted(&sides, rounds.into_inner() + 1 + FORKS);
}

/// The ledger has every signature of every round, of parent and children, whatever path it took.
fn assert_all_counted(sides: &Sides, rounds: usize) {
    let total = Snapshot::read(&sides.configurations().ledger())
        .unwrap()
        .total();
    for operation in [
        Operation::Rsa2048Sign,
        Operation::P256Sign,
        Operation::P384Sign,
        Operation::Ed25519Sign,
    ] {
        let counted: u64 = [Path::Scalar, Path::Wide, Path::Card]
            .map(|path| total.work(operation, path).operations)
            .iter()
            .sum();
        assert_eq!(counted, rounds as u64, "{}", operation.name());
    }
}
