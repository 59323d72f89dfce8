//! Path `scalar`: AWS-LC's kernels on the caller's thread.
//!
//! One file for each kind of key or cipher. Everything here owns its data and can be used from any
//! thread. AWS-LC verifies each private RSA result with the public key before it returns it, and
//! works in constant time on secrets. What takes a lock inside AWS-LC is kept whole from forks
//! ([`fork`](crate::fork)): its random numbers, and all that draws them.

pub mod aes;
pub mod aes_ccm;
pub mod aes_gcm;
pub mod block_cipher;
pub mod des3;
pub mod digest;
pub mod ec;
pub mod ed25519;
pub mod hkdf;
pub mod hmac;
pub mod key_schedule;
pub mod key_wrap;
pub mod mac;
pub mod ml_dsa;
pub mod ml_kem;
pub mod pair;
pub mod rsa;
pub mod x25519;

mod big_number;
pub(crate) mod memory;
mod owned;
mod per_process;
mod private_key;
mod randomness;
mod raw_key;
mod shake;
mod wipe;

use crate::fork;

pub use crate::error::{Error, Result};
pub use randomness::randomise;
pub use wipe::{SecretBytes, wipe};

/// A true answer of AWS-LC, or that error; the details stay out of AWS-LC's own error queue.
fn check(answer: i32, otherwise: Error) -> Result<()> {
    if answer == 1 {
        return Ok(());
    }
    // This may be the thread's first use of AWS-LC.
    fork::ready();
    // SAFETY: clears this thread's queue, which belongs to our copy of AWS-LC alone.
    unsafe { aws_lc_sys::ERR_clear_error() };
    Err(otherwise)
}
