//! X25519 for one key, spread across the eight lanes: half the time of a batch with one item.
//!
//! A batch of eight takes less time for each item. From three secrets or four public keys on, the batch is the better
//! choice.
//!
//! Constant time in scalars and points; secrets are wiped, as in the batch's functions.

use super::{PrivateKey, PublicKey, SharedSecret, release};
use crate::curve25519::montgomery;
use crate::curve25519::wide::{comb, ladder};
use crate::curve25519::words::Words;
use crate::vector::{self, Kernel, Mask, Vector, told};
use crate::{Error, LANES, wipe};
use zeroize::Zeroizing;

/// The shared secret of a private key with a peer's public key.
///
/// # Errors
/// As of [`super::derive`].
pub fn derive(key: &PrivateKey<'_>, peer: &PublicKey) -> Result<SharedSecret, Error> {
    wipe::after(wipe::depth(14), || {
        let (secrets, right) = vector::run(WideLadder {
            scalar: scalar(key),
            point: Words::from_bytes([peer; LANES]),
        })?;
        release(&secrets, right, 0)
    })
}

/// The public key of a private key.
///
/// # Errors
/// As of [`super::public_keys`].
pub fn public_key(key: &PrivateKey<'_>) -> Result<PublicKey, Error> {
    let table = comb::table()?;
    wipe::after(wipe::depth(14), || {
        let (public, right) = vector::run(WideBase {
            scalar: scalar(key),
            table,
        })?;
        if told(right) & 1 == 0 {
            return Err(Error::Fault);
        }
        Ok(public.bytes(0))
    })
}

/// Builds the base point's table once more, for tests of faults. Whether it is the one in use.
///
/// # Errors
/// [`Error::Fault`] where its check failed.
#[cfg(feature = "fault")]
pub fn rebuild() -> Result<bool, Error> {
    comb::rebuild()
}

/// The key's scalar in all lanes.
fn scalar(key: &PrivateKey<'_>) -> Zeroizing<Words> {
    super::scalars([key; LANES].into_iter())
}

/// The u-coordinate of the scalar times the point, and whether it passed the check: in lane 0.
struct WideLadder {
    scalar: Zeroizing<Words>,
    point: Words,
}

impl Kernel for WideLadder {
    type Output = (Zeroizing<Words>, Mask);

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let (product, right) = ladder::multiply::<V>(&self.scalar, &self.point);
        (Zeroizing::new(product), right)
    }
}

/// The u-coordinate of the scalar times the base point, and whether it passed the check: in lane 0.
struct WideBase {
    scalar: Zeroizing<Words>,
    table: &'static comb::Table,
}

impl Kernel for WideBase {
    type Output = (Words, Mask);

    #[inline(always)]
    fn run<V: Vector>(self) -> Self::Output {
        let WideBase { scalar, table } = self;
        let product = table.multiply::<V>(&scalar);
        let (u, right) = montgomery::from_edwards_alone::<V>(&product.point);
        (u, right & product.is_of::<V>(&scalar))
    }
}
