//! K-PKE (FIPS 203, algorithms 14 and 15), of hashes that lie ready.

use crate::ml_kem::hashes::Hashes;
use crate::ml_kem::ntt::{Inverse, Transform};
use crate::ml_kem::ring::{self, Dot, Forms, Polynomial, ZERO};
use crate::ml_kem::{BYTES, MOST, Set, bytes, sample};
use crate::vector::Vector;
use crate::vector::shorts::Shorts;

/// K-PKE.Encrypt, of noise, the transposed matrix and the public key's vector, which lie ready.
#[inline(always)]
pub(super) fn encrypt<V: Vector, S: Shorts>(
    set: Set,
    (matrix, public): (&[Polynomial], &[Polynomial]),
    hashes: &Hashes<'_, S>,
    message: &[u8; BYTES],
    ciphertext: &mut [u8],
) {
    let (rank, (u_bits, _)) = (set.rank(), set.bits());
    let mut y = Forms::ZERO;
    let mut polynomial = ZERO;
    for i in 0..rank {
        sample::noise::<S>(set.width(), &hashes.noise[i], &mut polynomial);
        S::call(Transform(&mut polynomial));
        y.set::<S>(i, &polynomial);
    }
    let (u, v) = ciphertext.split_at_mut(32 * u_bits * rank);
    let mut sum = ZERO;
    for (i, to) in u.chunks_exact_mut(32 * u_bits).enumerate() {
        product::<S>(&matrix[rank * i..rank * (i + 1)], &y, &mut sum);
        sample::noise::<S>(2, &hashes.noise[rank + i], &mut polynomial);
        ring::add::<S>(&mut sum, &polynomial);
        ring::make_canonical::<S>(&mut sum);
        if u_bits == 10 {
            bytes::compress::<10, V, S>(&sum, to);
        } else {
            bytes::compress::<11, V, S>(&sum, to);
        }
    }
    product::<S>(&public[..rank], &y, &mut sum);
    sample::noise::<S>(2, &hashes.noise[2 * rank], &mut polynomial);
    ring::add::<S>(&mut sum, &polynomial);
    bytes::of_message::<S>(message, &mut polynomial);
    // At most 1780, 2 and 1665.
    ring::add::<S>(&mut sum, &polynomial);
    ring::make_canonical::<S>(&mut sum);
    if u_bits == 10 {
        bytes::compress::<4, V, S>(&sum, v);
    } else {
        bytes::compress::<5, V, S>(&sum, v);
    }
}

/// K-PKE.Decrypt.
#[inline(always)]
pub(super) fn decrypt<V: Vector, S: Shorts>(
    set: Set,
    private: &[u8],
    ciphertext: &[u8],
    message: &mut [u8; BYTES],
) {
    let (rank, (u_bits, _)) = (set.rank(), set.bits());
    let (u, v) = ciphertext.split_at(32 * u_bits * rank);
    let mut forms = Forms::ZERO;
    let mut polynomial = ZERO;
    for (i, from) in u.chunks_exact(32 * u_bits).enumerate() {
        if u_bits == 10 {
            bytes::decompress::<10, S>(from, &mut polynomial);
        } else {
            bytes::decompress::<11, S>(from, &mut polynomial);
        }
        S::call(Transform(&mut polynomial));
        forms.set::<S>(i, &polynomial);
    }
    let mut secret = [ZERO; MOST];
    // What is not below q is the same number modulo q.
    decode_all::<S>(private, &mut secret);
    let mut sum = ZERO;
    product::<S>(&secret[..rank], &forms, &mut sum);
    if u_bits == 10 {
        bytes::decompress::<4, S>(v, &mut polynomial);
    } else {
        bytes::decompress::<5, S>(v, &mut polynomial);
    }
    // At most 3328 and 1780.
    ring::subtract_from::<S>(&mut sum, &polynomial);
    ring::make_canonical::<S>(&mut sum);
    bytes::to_message::<S>(&sum, message);
}

/// The sum of products, out of the transform's domain: within ±1780.
#[inline(always)]
fn product<S: Shorts>(a: &[Polynomial], b: &Forms, sum: &mut Polynomial) {
    S::call(Dot {
        a,
        b,
        sum: &mut *sum,
    });
    S::call(Inverse(sum));
}

/// Decodes a vector of polynomials. Whether all coefficients are below q.
#[inline(always)]
pub(super) fn decode_all<S: Shorts>(bytes: &[u8], to: &mut [Polynomial]) -> bool {
    let mut all = true;
    for (bytes, to) in bytes.chunks_exact(384).zip(to) {
        all &= bytes::decode::<S>(bytes, to);
    }
    all
}

pub(super) fn first_half(bytes: &[u8]) -> [u8; BYTES] {
    core::array::from_fn(|i| bytes[i])
}
