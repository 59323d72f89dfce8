//! An RSA key that survives a fork at any moment.
//!
//! AWS-LC keeps blinding values behind a lock in the key, and forbids using one in a child that was
//! forked from a process of many threads: the lock may be held by a thread that the child does not
//! have, and the values would be the parent's. So a child makes its own object of the same numbers
//! before it first uses the key, which takes no lock of the inherited one.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use aws_lc_sys as lc;

use super::owned::Owned;
use super::private_key;
use crate::error::Error;
use crate::fork;

/// A key with an object for each process that uses it.
pub(super) struct PerProcess {
    latest: AtomicPtr<Incarnation>,
}

/// The key's object in one process.
struct Incarnation {
    process: u64,
    rsa: Owned<lc::RSA>,
    /// The object of the process that forked this one, which must not be freed before the key is.
    inherited: *mut Incarnation,
}

impl PerProcess {
    /// A key of this process.
    pub(super) fn new(rsa: Owned<lc::RSA>) -> Self {
        let first = Incarnation {
            process: fork::process(),
            rsa,
            inherited: ptr::null_mut(),
        };
        Self {
            latest: AtomicPtr::new(Box::into_raw(Box::new(first))),
        }
    }

    /// This process's object; it lives as long as `self`.
    pub(super) fn as_ptr(&self) -> *mut lc::RSA {
        let process = fork::process();
        let inherited = self.latest.load(Ordering::Acquire);
        // SAFETY: from `Box::into_raw`, and freed only with the key.
        let latest = unsafe { &*inherited };
        if latest.process == process {
            return latest.rsa.as_ptr();
        }
        match copy_of(&latest.rsa) {
            Some(rsa) => self.adopt(Incarnation {
                process,
                rsa,
                inherited,
            }),
            // Out of memory. The inherited object is likely to do.
            None => latest.rsa.as_ptr(),
        }
    }

    #[cold]
    fn adopt(&self, ours: Incarnation) -> *mut lc::RSA {
        let inherited = ours.inherited;
        let ours = Box::into_raw(Box::new(ours));
        let exchange =
            self.latest
                .compare_exchange(inherited, ours, Ordering::AcqRel, Ordering::Acquire);
        let latest = match exchange {
            Ok(_) => ours,
            Err(theirs) => {
                // Another thread of this process was first.
                // SAFETY: ours was shared with nobody.
                drop(unsafe { Box::from_raw(ours) });
                theirs
            }
        };
        // SAFETY: from `Box::into_raw`, and freed only with the key.
        unsafe { (*latest).rsa.as_ptr() }
    }
}

impl Drop for PerProcess {
    fn drop(&mut self) {
        let mut next = *self.latest.get_mut();
        while !next.is_null() {
            // SAFETY: from `Box::into_raw`, in the chain once, and used by nobody any more.
            let incarnation = unsafe { Box::from_raw(next) };
            next = incarnation.inherited;
        }
    }
}

/// A new object of the same numbers; they never change, so this needs no lock.
fn copy_of(rsa: &Owned<lc::RSA>) -> Option<Owned<lc::RSA>> {
    let key = rsa.as_ptr();
    // SAFETY: a live key, whose numbers are read and copied.
    unsafe {
        let (n, e, d) = (
            lc::RSA_get0_n(key),
            lc::RSA_get0_e(key),
            lc::RSA_get0_d(key),
        );
        if d.is_null() {
            return Owned::new(lc::RSA_new_public_key(n, e), Error::Resource).ok();
        }
        let copy = |number| Owned::new(lc::BN_dup(number), Error::Resource);
        private_key::assemble(private_key::Numbers {
            n: copy(n).ok()?,
            e: copy(e).ok()?,
            d: copy(d).ok()?,
            p: copy(lc::RSA_get0_p(key)).ok()?,
            q: copy(lc::RSA_get0_q(key)).ok()?,
            dp: copy(lc::RSA_get0_dmp1(key)).ok()?,
            dq: copy(lc::RSA_get0_dmq1(key)).ok()?,
            qinv: copy(lc::RSA_get0_iqmp(key)).ok()?,
        })
        .ok()
    }
}

// SAFETY: the chain is only changed atomically, and its objects may be used from any thread.
unsafe impl Send for PerProcess {}
// SAFETY: as above.
unsafe impl Sync for PerProcess {}
