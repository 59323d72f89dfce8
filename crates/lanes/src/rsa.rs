//! RSA with moduli of 2048, 3072 and 4096 bits: the private operation with CRT, and the public one.
//!
//! These are the bare operations of RFC 8017, section 5 (x^d and x^e mod n on numbers): padding belongs to
//! the caller.
//!
//! ```text
//! key.rs       keys, parsed and precomputed once       number.rs      numbers of one key, off the lanes
//! private.rs   x^d mod n: CRT, recombined, checked     power.rs       secret exponents: windows, table scan
//! public.rs    x^e mod n                               montgomery.rs  multiplication modulo, 52 bits a digit
//! wide.rs      one operation across all lanes
//! ```

mod key;
mod montgomery;
mod number;
mod power;
mod private;
mod public;
pub mod wide;

pub use key::{Components, PrivateKey, PublicKey};

use crate::vector::{DIGIT, Digit, Mask, run, told};
use crate::{Error, LANES, digits, wipe};
use key::Size;
use zeroize::Zeroizing;

/// The private operation, x^d mod n, on each key and input. An input is a big-endian number below the
/// modulus, of at most its length; a result has exactly its length.
///
/// Every result was checked with the public exponent. Blinding is not needed and not done: no time, address
/// or branch depends on the key or on the input.
///
/// # Errors
/// For an item: [`Error::InputTooLarge`] if x is not below n; [`Error::Fault`] if the result failed its check
/// (a fault of the processor, or a key whose numbers do not belong to each other); [`Error::Unavailable`].
pub fn private(batch: &[(&PrivateKey, &[u8])]) -> Vec<Result<Vec<u8>, Error>> {
    by_size(batch, |key| key.public(), private_of_size)
}

/// The public operation, x^e mod n, on each key and input, as [`private`].
///
/// # Errors
/// For an item: [`Error::InputTooLarge`] if x is not below n; [`Error::Unavailable`].
pub fn public(batch: &[(&PublicKey, &[u8])]) -> Vec<Result<Vec<u8>, Error>> {
    by_size(batch, |key| key, public_of_size)
}

/// Up to eight keys and inputs of one size.
type Batch<'a, K> = [Option<(&'a K, &'a [u8])>; LANES];
/// Their results; those of empty lanes mean nothing.
type Results = [Result<Vec<u8>, Error>; LANES];

/// Sorts a batch by size, and runs each size eight at a time.
fn by_size<K>(
    batch: &[(&K, &[u8])],
    public: fn(&K) -> &PublicKey,
    operation: fn(&Batch<'_, K>, Size) -> Results,
) -> Vec<Result<Vec<u8>, Error>> {
    let mut results = vec![Err(Error::Unavailable); batch.len()];
    for size in Size::ALL {
        let of_size = |&i: &usize| public(batch[i].0).size == size;
        let items: Vec<usize> = (0..batch.len()).filter(of_size).collect();
        for items in items.chunks(LANES) {
            let lanes: Batch<'_, K> =
                core::array::from_fn(|lane| items.get(lane).map(|&i| batch[i]));
            let done = wipe::after(size.stack(), || operation(&lanes, size));
            for (&i, result) in items.iter().zip(done) {
                results[i] = result;
            }
        }
    }
    results
}

fn private_of_size(batch: &Batch<'_, PrivateKey>, size: Size) -> Results {
    fn run_it<const N: usize, const M: usize>(batch: &Batch<'_, PrivateKey>) -> Results {
        with_digits::<PrivateKey, M>(batch, PrivateKey::public, |keys, x, out| {
            run(private::Private::<N, M> { keys, x, out })
        })
    }
    match size {
        Size::Bits2048 => run_it::<20, 40>(batch),
        Size::Bits3072 => run_it::<30, 60>(batch),
        Size::Bits4096 => run_it::<40, 80>(batch),
    }
}

fn public_of_size(batch: &Batch<'_, PublicKey>, size: Size) -> Results {
    fn run_it<const M: usize>(batch: &Batch<'_, PublicKey>) -> Results {
        with_digits::<PublicKey, M>(
            batch,
            |key| key,
            |keys, x, out| run(public::PublicPower::<M>::new(keys, x, out)).map(|()| Mask::MAX),
        )
    }
    match size {
        Size::Bits2048 => run_it::<40>(batch),
        Size::Bits3072 => run_it::<60>(batch),
        Size::Bits4096 => run_it::<80>(batch),
    }
}

/// Parses the inputs, runs `operation` on those that are in range, and writes out the results of the lanes
/// that it says passed.
fn with_digits<K, const M: usize>(
    batch: &Batch<'_, K>,
    public: fn(&K) -> &PublicKey,
    operation: impl FnOnce([Option<&K>; LANES], &[Digit; M], &mut [Digit; M]) -> Result<Mask, Error>,
) -> Results {
    let inputs = batch.each_ref().map(|item| {
        let (key, input) = item.as_ref()?;
        let x = number::from_bytes(input, M)?;
        digits::is_below(&x, &public(key).n.m).then_some(x)
    });
    let keys = core::array::from_fn(|lane| {
        let (key, _) = batch[lane]?;
        inputs[lane].is_some().then_some(key)
    });
    let mut x = Zeroizing::new([Digit::ZERO; M]);
    key::side_by_side(&mut x[..], |lane| inputs[lane].as_ref().map(|x| &x[..]));
    let mut out = Zeroizing::new([Digit::ZERO; M]);
    let passed = operation(keys, &x, &mut out);
    core::array::from_fn(|lane| match (&passed, keys[lane]) {
        (Err(error), _) => Err(*error),
        (_, None) => Err(Error::InputTooLarge),
        (Ok(passed), Some(_)) if told(*passed) >> lane & 1 == 0 => Err(Error::Fault),
        (Ok(_), Some(key)) => {
            let mut bytes = vec![0; public(key).modulus_len()];
            // What the check read of a digit, and no more.
            digits::to_bytes(out.iter().map(|digit| digit.0[lane] & DIGIT), &mut bytes);
            Ok(bytes)
        }
    })
}
