//! One RSA operation across all eight lanes: for a caller that has no eight at a time.
//!
//! ```text
//! layout.rs    which digit is where                 key.rs       a key's numbers, laid out
//! multiply.rs  multiplication modulo                private.rs   x^d mod n: CRT, recombined, checked
//! carry.rs     carries, full reduction              power.rs     secret exponents: windows, table scan
//!                                                   public.rs    x^e mod n
//! ```
//!
//! The private operation works on p in four lanes and on q in the other four; then on n in all eight. It takes less than
//! half of the time that AWS-LC takes, and 1.5 to 1.7 times an eighth of a full batch's time: docs/lanes.md has the figures.
//!
//! Mathematics and bounds are in the headers of `multiply.rs` and `private.rs`.

mod carry;
mod key;
mod layout;
mod multiply;
mod power;
mod private;
mod public;

pub(super) use key::{PrivateKey as PrivateNumbers, PublicKey as PublicNumbers};

use super::key::{PrivateKey, PublicKey, Size};
use super::number;
use crate::vector::{DIGIT, Digit, Mask, run, told};
use crate::{Error, digits, wipe};
use zeroize::Zeroizing;

/// How much stack an operation uses at most.
const STACK_KIB: usize = 16;

/// The private operation, x^d mod n, of one key and input: the same as one item of [`rsa::private`](super::private).
///
/// # Errors
/// As there.
pub fn private(key: &PrivateKey, input: &[u8]) -> Result<Vec<u8>, Error> {
    fn run_it<const R: usize, const N: usize, const M: usize>(
        key: &PrivateKey,
        input: &[u8],
    ) -> Result<Vec<u8>, Error> {
        with_digits::<R, M>(&key.public, input, |x, out| {
            run(private::Private::<R, N, M> { key, x, out })
        })
    }
    wipe::after(wipe::depth(STACK_KIB), || match key.public.size {
        Size::Bits2048 => run_it::<5, 20, 40>(key, input),
        Size::Bits3072 => run_it::<8, 30, 60>(key, input),
        Size::Bits4096 => run_it::<10, 40, 80>(key, input),
    })
}

/// The public operation, x^e mod n, of one key and input: the same as one item of [`rsa::public`](super::public).
///
/// # Errors
/// As there.
pub fn public(key: &PublicKey, input: &[u8]) -> Result<Vec<u8>, Error> {
    fn run_it<const R: usize, const M: usize>(
        key: &PublicKey,
        input: &[u8],
    ) -> Result<Vec<u8>, Error> {
        with_digits::<R, M>(key, input, |x, out| {
            let x = &key::across(R, [(0, x)]);
            let x = key::row(x);
            run(public::PublicPower::<R, M> { key, x, out }).map(|()| Mask::MAX)
        })
    }
    wipe::after(wipe::depth(STACK_KIB), || match key.size {
        Size::Bits2048 => run_it::<5, 40>(key, input),
        Size::Bits3072 => run_it::<8, 60>(key, input),
        Size::Bits4096 => run_it::<10, 80>(key, input),
    })
}

/// Parses the input, runs `operation` on it if it is in range, and writes out the result if all lanes say that it
/// passed.
fn with_digits<const R: usize, const M: usize>(
    key: &PublicKey,
    input: &[u8],
    operation: impl FnOnce(&[u64], &mut [Digit; R]) -> Result<Mask, Error>,
) -> Result<Vec<u8>, Error> {
    let x = number::from_bytes(input, M).ok_or(Error::InputTooLarge)?;
    if !digits::is_below(&x, &key.n.m) {
        return Err(Error::InputTooLarge);
    }
    let mut out = Zeroizing::new([Digit::ZERO; R]);
    if told(operation(&x, &mut out)?) != Mask::MAX {
        return Err(Error::Fault);
    }
    let mut bytes = vec![0; key.modulus_len()];
    // 52 bits of each digit, as the check read them.
    let digit = |i: usize| out[i % R].0[i / R] & DIGIT;
    digits::to_bytes((0..M).map(digit), &mut bytes);
    Ok(bytes)
}

#[cfg(test)]
mod tests;
