//! What a curve's module `wide` offers, the same for each curve.

use super::derive::Derive;
use super::keys::PublicKey;
use super::sign::Sign;
use crate::digits;
use crate::vector::{self, Digit, Mask, told};
use crate::weierstrass::api::{Coordinates, Deriving, Signing, digest_as_signed};
use crate::weierstrass::convert::to_bytes;
use crate::weierstrass::curve::Curve;
use crate::weierstrass::nonce::Nonces;
use crate::weierstrass::point::StoredAffine;
use crate::{Error, wipe};
use core::marker::PhantomData;
use zeroize::Zeroizing;

/// Signs a digest.
pub(crate) fn sign<C: Curve<N>, const N: usize, const OUT: usize>(
    item: &Signing<'_>,
) -> Result<[u8; OUT], Error> {
    wipe::after(wipe::depth(5 * N), || {
        let table = C::wide_table()?;
        let digest = digest_as_signed(item.digest, C::BYTES);
        let z = &digest[..C::BYTES];
        let d = Zeroizing::new(in_every_lane(item.key));
        let k = Zeroizing::new(vector::run(Nonces {
            messages: &[[item.entropy, item.key, z]],
            order: PhantomData::<C::Order>,
        })?);
        let k = Zeroizing::new(k.map(|digit| Digit::splat(digit.0[0])));
        let signature = vector::run(Sign {
            d: &d,
            z: &in_every_lane(z),
            k: &k,
            table,
            curve: PhantomData::<C>,
        })?;
        if told(signature.degenerate) != 0 {
            return Err(Error::DegenerateSignature);
        }
        if told(signature.intact) != Mask::MAX {
            return Err(Error::Fault);
        }
        let mut out = [0; OUT];
        let (r, s) = out.split_at_mut(C::BYTES);
        to_bytes(&signature.r, 0, r);
        to_bytes(&signature.s, 0, s);
        Ok(out)
    })
}

/// The point of a private key.
pub(crate) fn public_key<C: Curve<N>, const N: usize, const OUT: usize>(
    key: &[u8],
) -> Result<Coordinates<OUT>, Error> {
    wipe::after(wipe::depth(4 * N), || {
        let table = C::wide_table()?;
        let d = Zeroizing::new(in_every_lane(key));
        let point = vector::run(PublicKey {
            d: &d,
            table,
            curve: PhantomData::<C>,
        })?;
        if told(point.intact) != Mask::MAX {
            return Err(Error::Fault);
        }
        let (mut x, mut y) = ([0; OUT], [0; OUT]);
        to_bytes(&point.affine.x, 0, &mut x);
        to_bytes(&point.affine.y, 0, &mut y);
        Ok(Coordinates { x, y })
    })
}

/// The secret that a key and a point share.
pub(crate) fn derive<C: Curve<N>, const N: usize>(
    item: &Deriving<'_>,
) -> Result<Zeroizing<Vec<u8>>, Error> {
    wipe::after(wipe::depth(7 * N), || {
        let d = Zeroizing::new(in_every_lane(item.key));
        let peer = StoredAffine {
            x: in_every_lane(item.x),
            y: in_every_lane(item.y),
        };
        let secret = Zeroizing::new(vector::run(Derive {
            d: &d,
            peer: &peer,
            curve: PhantomData::<C>,
        })?);
        if told(secret.valid) != Mask::MAX {
            return Err(Error::InvalidPublicKey);
        }
        if told(secret.intact) != Mask::MAX {
            return Err(Error::Fault);
        }
        let mut out = Zeroizing::new(vec![0; C::BYTES]);
        to_bytes(&secret.x, 0, &mut out);
        Ok(out)
    })
}

/// A big-endian number, which fits, in every lane.
fn in_every_lane<const N: usize>(bytes: &[u8]) -> [Digit; N] {
    let mut number = [0; N];
    digits::from_bytes(bytes, &mut number);
    number.map(Digit::splat)
}

/// Builds the base point's table if it isn't yet.
pub(crate) fn prepare<C: Curve<N>, const N: usize>() -> Result<(), Error> {
    C::wide_table().map(|_| ())
}

/// Builds the base point's table once more. Whether it is the one in use.
#[cfg(feature = "fault")]
pub(crate) fn rebuild<C: Curve<N>, const N: usize>() -> Result<bool, Error> {
    Ok(super::comb::build::<C, N>()?.equals(C::wide_table()?))
}
