//! Asynchronous jobs that sign.

use std::cell::RefCell;
use std::ffi::c_int;
use std::rc::Rc;
use std::time::Duration;

use outboard_libcrypto::{Context, Job, Key, Library, Params, Signer, Verifier};

/// Longer than any batch takes on the slowest machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What they sign.
pub(crate) const DIGEST: &[u8; 32] = b"thirty-two bytes to be signed...";

pub(crate) fn rsa(context: &Context) -> Key {
    Key::generate(context, "RSA", &Params::new().unsigned(c"bits", 2048)).unwrap()
}

pub(crate) fn p384(context: &Context) -> Key {
    Key::generate(context, "EC", &Params::new().text(c"group", "P-384")).unwrap()
}

pub(crate) fn sha256() -> Params {
    Params::new().text(c"digest", "SHA256")
}

pub(crate) fn is_right(key: &Key, signature: &[u8]) -> bool {
    Verifier::new(key, &sha256())
        .unwrap()
        .verify(signature, DIGEST)
        .unwrap()
}

/// A job that signs so often, and where the signatures are then.
pub(crate) fn signing(
    library: &Library,
    key: &Rc<Key>,
    times: usize,
) -> (Job, Rc<RefCell<Vec<Vec<u8>>>>) {
    let signatures = Rc::new(RefCell::new(Vec::new()));
    let (ours, key) = (Rc::clone(&signatures), Rc::clone(key));
    let job = Job::start(library, move || {
        for _ in 0..times {
            let signature = Signer::new(&key, &sha256()).and_then(|mut signer| signer.sign(DIGEST));
            match signature {
                Ok(signature) => ours.borrow_mut().push(signature),
                Err(_) => return false,
            }
        }
        true
    });
    (job.unwrap(), signatures)
}

/// Waits until one of the jobs can go on, as an event loop does.
pub(crate) fn wait_for_any(jobs: &[&Job]) {
    let mut polled: Vec<libc::pollfd> = jobs
        .iter()
        .flat_map(|job| job.descriptors())
        .map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    let patience = PATIENCE.as_millis() as c_int;
    // SAFETY: an array of so many live structures.
    let ready = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, patience) };
    assert!(ready > 0, "no job can go on after {PATIENCE:?}");
}

pub(crate) fn is_ready(job: &Job) -> bool {
    job.descriptors().into_iter().any(|fd| {
        let mut polled = libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        };
        // SAFETY: one live structure.
        unsafe { libc::poll(&raw mut polled, 1, 0) == 1 }
    })
}
