//! What the lanes gain, and what a card costs: the profile's other half.
//!
//! No libcrypto has a part in it: the same requests on the scalar path and in the lanes, eight at a
//! time, taking turns.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use outboard_engine::card::{self, DEPTH, Request};
use outboard_engine::scalar::ec::{self, Curve};
use outboard_engine::scalar::{ed25519, rsa, x25519};
use outboard_engine::{dsa, kem, lattice};
use outboard_libcrypto::{Context, Job, Library};
use outboard_operation::{Operation, Path};
use outboard_profile::{LanesMeasurement, Queueing};

use crate::clock;
use crate::layers::RsaNumbers;
use crate::workload::MESSAGE;
use crate::{Error, Instant, KeyKind, Keys, Plan, Result, duel, statistics};

/// The lanes of this machine. Nothing where it has none.
///
/// # Errors
/// What OpenSSL says where a key cannot be made; [`Error::Lanes`] where the lanes are wrong.
pub fn measure(context: &Context, keys: &Keys, budget: Duration) -> Result<Vec<LanesMeasurement>> {
    let operations: Vec<_> = Operation::ALL
        .iter()
        .copied()
        .filter(|&one| is_there(one))
        .collect();
    let plan = Plan {
        budget: budget / u32::try_from(operations.len()).unwrap_or(u32::MAX).max(1),
        ..Plan::default()
    };
    let measured = operations.into_iter().map(|operation| {
        if operation.is_wide_alone() {
            return across_alone(operation, &plan);
        }
        let batch = batch(context, keys, operation)?;
        of(operation, &batch, &plan)
    });
    measured.collect()
}

/// Whether the lanes of this machine do that.
fn is_there(operation: Operation) -> bool {
    card::takes(operation) && card::are_there() || operation.is_wide_alone() && lattice::has_lanes()
}

/// What the lanes do one at a time alone: ML-KEM and ML-DSA.
fn across_alone(operation: Operation, plan: &Plan) -> Result<LanesMeasurement> {
    let kem = kem::Set::ALL
        .into_iter()
        .find(|set| [set.keygen(), set.encapsulation(), set.decapsulation()].contains(&operation));
    let dsa = dsa::Set::ALL
        .into_iter()
        .find(|set| [set.keygen(), set.signing(), set.verification()].contains(&operation));
    match (kem, dsa) {
        (Some(set), _) => kem_across(set, operation, plan),
        (None, Some(set)) => dsa_across(set, operation, plan),
        (None, None) => Err(Error::Lanes(operation)),
    }
}

/// A public half is new each time, as a TLS server has one of each client: with one that serves again, path `wide` is faster than that.
fn kem_across(set: kem::Set, operation: Operation, plan: &Plan) -> Result<LanesMeasurement> {
    let key = kem::generate(set, Path::Scalar)?;
    let (ciphertext, _) = key.encapsulate(Path::Scalar)?;
    by_path(operation, plan, |path| match operation {
        _ if operation == set.keygen() => kem::generate(set, path).map(drop),
        _ if operation == set.encapsulation() => key.to_public().encapsulate(path).map(drop),
        _ => key.decapsulate(path, &ciphertext).map(drop),
    })
}

/// How many attempts a signature takes depends on its randomness: the rounds of a duel even this out. A public half is new each time.
fn dsa_across(set: dsa::Set, operation: Operation, plan: &Plan) -> Result<LanesMeasurement> {
    let key = dsa::generate(set, Path::Scalar)?;
    let signature = key.sign(Path::Scalar, &MESSAGE, &[])?;
    by_path(operation, plan, |path| match operation {
        _ if operation == set.keygen() => dsa::generate(set, path).map(drop),
        _ if operation == set.signing() => key.sign(path, &MESSAGE, &[]).map(drop),
        _ => {
            let public = key.to_public();
            public.verify(path, &MESSAGE, &[], &signature).map(drop)
        }
    })
}

fn by_path(
    operation: Operation,
    plan: &Plan,
    once: impl Fn(Path) -> outboard_engine::Result<()>,
) -> Result<LanesMeasurement> {
    let on = |path| {
        let once = &once;
        move |iterations| (0..iterations).try_for_each(|_| Ok(once(path)?))
    };
    let wide = duel(&mut on(Path::Scalar), &mut on(Path::Wide), plan)?;
    Ok(LanesMeasurement {
        operation,
        scalar_ns: wide.scores[0].nanoseconds,
        batch_ns: None,
        wide_ns: Some(wide.scores[1].nanoseconds),
    })
}

/// Eight requests of an operation: all with one key, as a server has one.
pub(crate) fn batch(context: &Context, keys: &Keys, operation: Operation) -> Result<Vec<Request>> {
    let eight = |make: &dyn Fn() -> outboard_engine::Result<Request>| {
        let requests = (0..DEPTH).map(|_| make());
        Ok(requests.collect::<outboard_engine::Result<_>>()?)
    };
    let rsa = |bits: usize| {
        let key = RsaNumbers::of(&keys.private(context, KeyKind::Rsa(bits))?)?;
        let key = Arc::new(card::rsa::Key::new(rsa::Key::new(&key.numbers())?));
        let block = key.encode_unnamed(&[7; 32])?;
        eight(&|| Ok(Request::rsa(operation, Arc::clone(&key), block.clone())))
    };
    let pair = |curve| -> Result<_> {
        Ok((
            Arc::new(ec::Key::generate(curve)?),
            Arc::new(ec::Key::generate(curve)?),
        ))
    };
    let sign = |curve| {
        let (key, _) = pair(curve)?;
        eight(&|| Request::ecdsa(Arc::clone(&key), &[7; 32]))
    };
    let derive = |curve| {
        let (key, peer) = pair(curve)?;
        eight(&|| Request::ecdh(Arc::clone(&key), Arc::clone(&peer)))
    };
    match operation {
        Operation::Rsa2048Sign | Operation::Rsa2048Decrypt => rsa(2048),
        Operation::Rsa3072Sign | Operation::Rsa3072Decrypt => rsa(3072),
        Operation::Rsa4096Sign | Operation::Rsa4096Decrypt => rsa(4096),
        Operation::P256Sign => sign(Curve::P256),
        Operation::P384Sign => sign(Curve::P384),
        Operation::P256Derive => derive(Curve::P256),
        Operation::P384Derive => derive(Curve::P384),
        Operation::P256Keygen => eight(&|| Ok(Request::ec_generate(Curve::P256))),
        Operation::P384Keygen => eight(&|| Ok(Request::ec_generate(Curve::P384))),
        Operation::X25519Derive => {
            let (private, peer) = (x25519::generate()?, x25519::generate()?);
            let peer = x25519::public_of(&peer);
            eight(&|| Ok(Request::x25519(&private, &peer)))
        }
        Operation::X25519Keygen => eight(&|| Ok(Request::x25519_generate())),
        Operation::Ed25519Sign => {
            let key = ed25519::Private::from_seed(&[7; 32]);
            let key = Arc::new(card::ed25519::Key::new(key));
            eight(&|| Request::ed25519(Arc::clone(&key), &[7; 130]))
        }
        other => Err(Error::Lanes(other)),
    }
}

fn of(operation: Operation, batch: &[Request], plan: &Plan) -> Result<LanesMeasurement> {
    let mut one_by_one = |iterations| {
        for request in batch.iter().cycle().take(iterations as usize) {
            request.run_scalar()?;
        }
        Ok(())
    };
    let mut lanes = |iterations| {
        for _ in 0..iterations {
            if !Request::run_in_lanes(batch).iter().all(Option::is_some) {
                return Err(Error::Lanes(operation));
            }
        }
        Ok(())
    };
    let outcome = duel(&mut one_by_one, &mut lanes, plan)?;
    let mut across = |iterations| {
        for request in batch.iter().cycle().take(iterations as usize) {
            request.run_across_lanes().ok_or(Error::Lanes(operation))?;
        }
        Ok(())
    };
    let wide = duel(&mut one_by_one, &mut across, plan)?;
    Ok(LanesMeasurement {
        operation,
        scalar_ns: outcome.scores[0].nanoseconds,
        batch_ns: Some(outcome.scores[1].nanoseconds),
        // By the ratio, for the two were measured after each other.
        wide_ns: Some(outcome.scores[0].nanoseconds / wide.scores[1].ratio),
    })
}

/// What a card costs each request, by the means that it uses itself: a worker that is woken, and a
/// descriptor for each request that an event loop waits on; and what pausing a job of OpenSSL's costs.
///
/// # Errors
/// Where the system has no descriptors or threads to give, or OpenSSL no jobs.
pub fn queueing(library: &Library) -> Result<Queueing> {
    let (one, eight) = queue()?;
    Ok(Queueing {
        queue_ns: eight / DEPTH as f64,
        wake_ns: ((DEPTH as f64 * one - eight) / (DEPTH - 1) as f64).max(0.0),
        pause_ns: pause(library)?,
        sleep_ns: sleep(),
    })
}

const ROUNDS: usize = 25;
const BATCHES: usize = 200;

/// Nanoseconds to queue a batch of one and to be told, and a batch of eight.
fn queue() -> Result<(f64, f64)> {
    let epoll = owned(|| {
        // SAFETY: takes a flag.
        unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }
    })?;
    let mut events = Vec::with_capacity(DEPTH);
    for _ in 0..DEPTH {
        let event = owned(|| {
            // SAFETY: takes a count and flags.
            unsafe { libc::eventfd(0, libc::EFD_NONBLOCK | libc::EFD_CLOEXEC) }
        })?;
        let mut interest = libc::epoll_event {
            events: libc::EPOLLIN as u32,
            u64: event.as_raw_fd() as u64,
        };
        let (set, one) = (epoll.as_raw_fd(), event.as_raw_fd());
        // SAFETY: live descriptors.
        if unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, one, &raw mut interest) } != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        events.push(event);
    }
    let (wake, woken) = channel::<usize>();
    let costs = std::thread::scope(|scope| {
        let events = &events;
        scope.spawn(move || {
            while let Ok(filled) = woken.recv() {
                for event in &events[..filled] {
                    let one = 1_u64;
                    // SAFETY: a live descriptor, and eight bytes.
                    unsafe { libc::write(event.as_raw_fd(), (&raw const one).cast(), 8) };
                }
            }
        });
        let round = |filled| {
            let before = clock::cpu_of_process();
            for _ in 0..BATCHES {
                let _ = wake.send(filled); // the thread ends only after us
                collect(&epoll, filled);
            }
            let time = clock::cpu_of_process().saturating_sub(before);
            time.as_nanos() as f64 / BATCHES as f64
        };
        // In turns; the first warms up.
        let rounds: Vec<[f64; 2]> = (0..ROUNDS).map(|_| [1, DEPTH].map(round)).collect();
        drop(wake);
        [0, 1].map(|which| {
            let of_one = rounds[1..].iter().map(|round| round[which]);
            statistics::median(&of_one.collect::<Vec<_>>())
        })
    });
    Ok((costs[0], costs[1]))
}

/// Waits for all events of a batch of so many, and reads each.
fn collect(epoll: &OwnedFd, filled: usize) {
    let mut missing = filled;
    while missing > 0 {
        let mut ready = [libc::epoll_event { events: 0, u64: 0 }; DEPTH];
        // SAFETY: room for as many events as it is told.
        let count =
            unsafe { libc::epoll_wait(epoll.as_raw_fd(), ready.as_mut_ptr(), DEPTH as i32, -1) };
        for event in &ready[..count.max(0) as usize] {
            let mut number = 0_u64;
            // SAFETY: a live descriptor, and eight bytes.
            let read = unsafe { libc::read(event.u64 as i32, (&raw mut number).cast(), 8) };
            missing -= usize::from(read == 8).min(missing);
        }
    }
}

/// Processor time of one of eight threads that sleep until one of them has done the work of all, as threads of a card do.
fn sleep() -> f64 {
    let barrier = Barrier::new(DEPTH);
    let round = || {
        let before = clock::cpu_of_process();
        std::thread::scope(|scope| {
            for _ in 0..DEPTH {
                scope.spawn(|| {
                    for _ in 0..BATCHES {
                        barrier.wait();
                    }
                });
            }
        });
        let time = clock::cpu_of_process().saturating_sub(before);
        time.as_nanos() as f64 / (BATCHES * DEPTH) as f64
    };
    let rounds: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    statistics::median(&rounds)
}

fn owned(make: impl FnOnce() -> i32) -> Result<OwnedFd> {
    let descriptor = make();
    if descriptor < 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    // SAFETY: just made, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// One pause of a job and its resumption.
fn pause(library: &Library) -> Result<f64> {
    let within = library.clone();
    let mut job = Job::start(library, move || {
        for _ in 0..ROUNDS * BATCHES {
            Job::pause(&within);
        }
        true
    })?;
    let mut rounds = Vec::with_capacity(ROUNDS);
    while job.result().is_none() {
        let started = Instant::now();
        for _ in 0..BATCHES {
            job.resume()?;
        }
        rounds.push(started.cpu_since().as_nanos() as f64 / BATCHES as f64);
    }
    Ok(statistics::median(&rounds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_that_the_lanes_do_is_measured() {
        let library = Library::open(Library::SYSTEM).unwrap();
        let context = Context::new(&library).unwrap();
        let keys = Keys::new(&context);
        let found = measure(&context, &keys, Duration::ZERO).unwrap();
        for operation in Operation::ALL.iter().copied() {
            let one = found.iter().find(|one| one.operation == operation);
            assert_eq!(one.is_some(), is_there(operation), "{}", operation.name());
            let Some(one) = one else { continue };
            let times = [Some(one.scalar_ns), one.batch_ns, one.wide_ns];
            assert!(times.iter().flatten().all(|&time| time > 0.0), "{one:?}");
            assert_eq!(one.batch_ns.is_none(), operation.is_wide_alone());
        }
    }

    /// Measured on whatever lanes there are; where there are none, path `wide` is path `scalar`.
    #[test]
    fn what_has_no_card_is_measured_across_the_lanes() {
        for &operation in Operation::ALL.iter().filter(|one| one.is_wide_alone()) {
            let plan = Plan {
                budget: Duration::ZERO,
                ..Plan::default()
            };
            let one = across_alone(operation, &plan).unwrap();
            assert!(one.wide_ns.is_some_and(|time| time > 0.0) && one.scalar_ns > 0.0);
            assert_eq!(one.break_even(), 9);
        }
    }

    #[test]
    fn a_queue_and_a_pause_cost_something() {
        let library = Library::open(Library::SYSTEM).unwrap();
        let costs = queueing(&library).unwrap();
        assert!(costs.queue_ns > 0.0 && costs.pause_ns > 0.0, "{costs:?}");
    }
}
