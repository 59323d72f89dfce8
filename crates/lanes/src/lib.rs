//! Eight private-key operations at once, in the eight 64-bit lanes of AVX-512; or one across all of them.
//!
//! Each operation takes any number of independent items, runs them eight at a time and returns one
//! result for each, in order. An item never influences another's result; lanes that are left empty
//! are filled with a harmless public dummy. This crate is arithmetic: it knows no queue, no owner of
//! a key, no OpenSSL and does no I/O.
//!
//! ```text
//! lib.rs      what a caller needs: available(), Error
//! vector.rs   the eight lanes: trait Vector, the instructions used, and how a kernel runs on them
//! digits.rs   numbers outside the lanes: bytes, digits, comparison
//! wipe.rs     what an operation leaves on the stack and in registers is cleared
//! checks.rs   what a result must pass: the list of all checks
//! fault.rs    (tests) flips a bit in any intermediate, leaves out a check
//! secrets.rs  (tests) looks for branches and addresses that depend on a secret
//! ```
//!
//! Everything is constant time in its secrets unless its documentation says otherwise: no branch
//! and no address depends on one.

// An index that runs through several numbers at once is what digits are about.
#![allow(clippy::needless_range_loop)]

mod checks;
mod digits;
mod kept;
mod vector;
mod wipe;

pub use wipe::after as wiped;

pub mod rsa;

mod curve25519;
pub mod ed25519;
pub mod x25519;

pub mod p256;
pub mod p384;
mod sha512;
mod weierstrass;

mod keccak;
pub mod ml_dsa;
pub mod ml_kem;

#[cfg(feature = "fault")]
pub mod fault;

#[cfg(all(test, feature = "emulation"))]
mod secrets;

/// How many operations run at once: the 64-bit lanes of a 512-bit vector.
pub const LANES: usize = 8;

/// Whether this processor (and its operating system) can run the lanes: AVX-512 with IFMA.
///
/// Decided once, then remembered. Where it is `false` every operation of this crate answers
/// [`Error::Unavailable`].
pub fn available() -> bool {
    vector::available()
}

/// Why an item has no result. One lane's error says nothing about the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The processor lacks what the lanes need.
    #[error("this processor has no AVX-512 IFMA: run the operation on one of the scalar paths")]
    Unavailable,
    /// The private key is not a number that the group has.
    #[error("the private key is 0 or not below the group's order: it is no key of this curve")]
    InvalidPrivateKey,
    /// The public key is not a point of the curve, or not in the form that is read.
    #[error("the public key is not an uncompressed point of the curve: refuse it")]
    InvalidPublicKey,
    /// ECDSA: r or s came out as zero.
    #[error("r or s of the signature is 0, a chance of 2^-255: sign again")]
    DegenerateSignature,
    /// X25519: the shared secret would be zero.
    #[error("the peer's public key is a point of low order, which shares no secret: refuse it")]
    LowOrderPoint,
    /// The signature is not this key's signature of this message.
    #[error("the signature does not belong to this message and public key: refuse the message")]
    InvalidSignature,
    /// RSA: a modulus other than 2048, 3072 or 4096 bits, or a public exponent of more than 64.
    #[error("the lanes take RSA keys of 2048, 3072 and 4096 bits: use one of the scalar paths")]
    UnsupportedKey,
    /// RSA: the primes are not both half as long as the modulus.
    #[error("the key's primes differ in length: use one of the scalar paths")]
    UnequalPrimes,
    /// RSA: the numbers are no key.
    #[error("the numbers of the RSA key do not belong together: refuse the key")]
    InvalidRsaKey,
    /// RSA: the input is not below the modulus.
    #[error("the input is not below the key's modulus: refuse it")]
    InputTooLarge,
    /// ML-KEM: the public key is not in its encoding, or of another parameter set.
    #[error("the ML-KEM public key has another length, or a number that is not below q: refuse it")]
    InvalidEncapsulationKey,
    /// ML-KEM: the private key is of another parameter set, or its parts do not belong together.
    #[error(
        "the ML-KEM private key has another length, or its hash is not that of its public key: refuse it"
    )]
    InvalidDecapsulationKey,
    /// ML-KEM: the ciphertext is of another parameter set.
    #[error("the ML-KEM ciphertext has another length than its parameter set: refuse it")]
    InvalidCiphertext,
    /// ML-DSA: the private key is of another parameter set, or has a coefficient that no key has.
    #[error(
        "the ML-DSA private key has another length, or a coefficient that is out of range: refuse it"
    )]
    InvalidSigningKey,
    /// ML-DSA: the public key is of another parameter set.
    #[error("the ML-DSA public key has another length than its parameter set: refuse it")]
    InvalidVerificationKey,
    /// There is no memory to keep an expanded key in.
    #[error("there is no memory to keep the key's numbers in: run the operation without")]
    Memory,
    /// A result failed its check, and was not released: the processor or its memory made a mistake.
    #[error("the result failed its check and was withheld: run the operation again elsewhere")]
    Fault,
}

/// Runs `batch` on eight items at a time; `item` takes each result from its lane. Then clears what they left on
/// the stack, of which they use `stack_kib` at most, and in registers.
pub(crate) fn each_eight<T, B, R>(
    stack_kib: usize,
    items: &[T],
    batch: impl Fn(&[T]) -> Result<B, Error>,
    item: impl Fn(&B, usize) -> Result<R, Error>,
) -> Vec<Result<R, Error>> {
    wipe::after(wipe::depth(stack_kib), || {
        let mut results = Vec::with_capacity(items.len());
        for items in items.chunks(LANES) {
            let batch = batch(items);
            results.extend((0..items.len()).map(|lane| match &batch {
                Ok(batch) => item(batch, lane),
                Err(error) => Err(*error),
            }));
        }
        results
    })
}
