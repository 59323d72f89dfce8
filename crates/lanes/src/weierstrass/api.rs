//! What a curve's module offers, the same for each curve.

use super::convert::{gather, to_bytes};
use super::curve::Curve;
use super::ecdh::{Derive, PublicKeys};
use super::ecdsa::Sign;
use super::modulus::Modulus;
use super::nonce::{ENTROPY, Nonces};
use super::point::StoredAffine;
use crate::digits;
use crate::sha512::padding::NOTHING;
use crate::vector::{self, told};
use crate::{Error, LANES, each_eight, wipe};
use core::marker::PhantomData;
use zeroize::Zeroizing;

/// Defines the public types and functions of a curve: `curve_api!(P256, 5 digits, 32 bytes)`.
macro_rules! curve_api {
    ($curve:ident, $digits:literal digits, $bytes:literal bytes) => {
        use $crate::Error;
        use $crate::weierstrass::api;
        use zeroize::Zeroizing;

        #[doc = concat!("Bytes of a scalar and of a coordinate: ", $bytes, ".")]
        pub const BYTES: usize = $bytes;

        /// A private key, in [1, n - 1]: the caller's bytes, which stay where they are. Nothing is copied,
        /// so that wiping them is enough.
        #[derive(Clone, Copy)]
        pub struct PrivateKey<'a>(&'a [u8; BYTES]);

        /// A public key: two coordinates below p. Whether they are on the curve is checked where
        /// they are used.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub struct PublicKey {
            /// The x-coordinate, big-endian.
            x: [u8; BYTES],
            /// The y-coordinate, big-endian.
            y: [u8; BYTES],
        }

        /// A signature: r then s, both big-endian (IEEE P1363's form).
        pub type Signature = [u8; 2 * BYTES];

        /// The secret that two parties share: a point's x-coordinate, big-endian. Wiped when dropped. On the
        /// heap, so that moving it leaves no copy behind.
        pub type SharedSecret = Zeroizing<Vec<u8>>;

        /// One signature to make.
        #[derive(Clone, Copy)]
        pub struct Signing<'a> {
            /// Signs.
            pub key: &'a PrivateKey<'a>,
            /// The message's digest, of any length; what is longer than n is cut on the right
            /// (FIPS 186-5, section 6.4.1).
            pub digest: &'a [u8],
            /// Fresh randomness, which the nonce is made of together with key and digest. If it
            /// fails to be fresh the signature is still sound: the nonce is then deterministic.
            pub entropy: &'a [u8; 32],
        }

        impl<'a> PrivateKey<'a> {
            /// The key of a big-endian number.
            ///
            /// # Errors
            /// [`Error::InvalidPrivateKey`] for 0, n and above.
            pub fn new(bytes: &'a [u8; BYTES]) -> Result<Self, Error> {
                if !api::is_scalar::<$curve, $digits>(bytes) {
                    return Err(Error::InvalidPrivateKey);
                }
                Ok(PrivateKey(bytes))
            }
        }

        impl PublicKey {
            /// The key of an uncompressed point, `04 ‖ x ‖ y` (SEC 1, section 2.3.3).
            ///
            /// # Errors
            /// [`Error::InvalidPublicKey`] for another form or length, or coordinates of p and
            /// above.
            pub fn from_sec1(bytes: &[u8]) -> Result<PublicKey, Error> {
                let (Some((&4, coordinates)), true) =
                    (bytes.split_first(), bytes.len() == 1 + 2 * BYTES)
                else {
                    return Err(Error::InvalidPublicKey);
                };
                let mut key = PublicKey {
                    x: [0; BYTES],
                    y: [0; BYTES],
                };
                let (x, y) = coordinates.split_at(BYTES);
                key.x.copy_from_slice(x);
                key.y.copy_from_slice(y);
                if !(api::is_coordinate::<$curve, $digits>(x)
                    && api::is_coordinate::<$curve, $digits>(y))
                {
                    return Err(Error::InvalidPublicKey);
                }
                Ok(key)
            }

            /// The uncompressed point, `04 ‖ x ‖ y`.
            pub fn to_sec1(&self) -> [u8; 1 + 2 * BYTES] {
                let mut bytes = [4; 1 + 2 * BYTES];
                bytes[1..=BYTES].copy_from_slice(&self.x);
                bytes[1 + BYTES..].copy_from_slice(&self.y);
                bytes
            }
        }

        /// ECDSA signatures of digests.
        ///
        /// # Errors
        /// [`Error::DegenerateSignature`] where r or s came out as 0, which has a probability of
        /// about 2 / n. [`Error::Fault`] where a check failed (`checks.rs`).
        /// [`Error::Unavailable`] for all where there are no lanes.
        pub fn sign(items: &[Signing<'_>]) -> Vec<Result<Signature, Error>> {
            let parts: Vec<_> = items
                .iter()
                .map(|item| api::Signing {
                    key: item.key.0,
                    digest: item.digest,
                    entropy: item.entropy,
                })
                .collect();
            api::sign::<$curve, $digits, { 2 * BYTES }>(&parts)
        }

        /// The shared secret of each private key with a peer's public key (ECDH).
        ///
        /// # Errors
        /// [`Error::InvalidPublicKey`] where the peer's point is not on the curve.
        /// [`Error::Fault`] where a check failed (`checks.rs`).
        /// [`Error::Unavailable`] for all where there are no lanes.
        pub fn derive(items: &[(&PrivateKey<'_>, &PublicKey)]) -> Vec<Result<SharedSecret, Error>> {
            let parts: Vec<_> = items
                .iter()
                .map(|(key, peer)| api::Deriving {
                    key: key.0,
                    x: &peer.x,
                    y: &peer.y,
                })
                .collect();
            api::derive::<$curve, $digits>(&parts)
        }

        /// The public key of each private key.
        ///
        /// # Errors
        /// [`Error::Fault`] where a check failed (`checks.rs`).
        /// [`Error::Unavailable`] for all where there are no lanes.
        pub fn public_keys(keys: &[&PrivateKey<'_>]) -> Vec<Result<PublicKey, Error>> {
            let keys: Vec<_> = keys.iter().map(|key| &key.0[..]).collect();
            let points = api::public_keys::<$curve, $digits, BYTES>(&keys);
            let key = |api::Coordinates { x, y }| PublicKey { x, y };
            points.into_iter().map(|point| point.map(key)).collect()
        }

        /// Builds the base point's table now, rather than at the first use.
        ///
        /// # Errors
        /// [`Error::Unavailable`] where there are no lanes.
        pub fn prepare() -> Result<(), Error> {
            api::prepare::<$curve, $digits>()
        }

        /// One operation across all eight lanes: for a caller that has only one.
        pub mod wide {
            use super::{
                BYTES, Error, PrivateKey, PublicKey, SharedSecret, Signature, Signing, api, $curve,
            };
            use $crate::weierstrass::wide;

            /// The ECDSA signature of a digest.
            ///
            /// # Errors
            /// As [`sign`](super::sign).
            pub fn sign(item: &Signing<'_>) -> Result<Signature, Error> {
                wide::api::sign::<$curve, $digits, { 2 * BYTES }>(&api::Signing {
                    key: item.key.0,
                    digest: item.digest,
                    entropy: item.entropy,
                })
            }

            /// The public key of a private key.
            ///
            /// # Errors
            /// As [`public_keys`](super::public_keys).
            pub fn public_key(key: &PrivateKey<'_>) -> Result<PublicKey, Error> {
                let point = wide::api::public_key::<$curve, $digits, BYTES>(key.0)?;
                Ok(PublicKey {
                    x: point.x,
                    y: point.y,
                })
            }

            /// The secret that a private key shares with a peer's public key (ECDH).
            ///
            /// # Errors
            /// As [`derive`](super::derive).
            pub fn derive(key: &PrivateKey<'_>, peer: &PublicKey) -> Result<SharedSecret, Error> {
                wide::api::derive::<$curve, $digits>(&api::Deriving {
                    key: key.0,
                    x: &peer.x,
                    y: &peer.y,
                })
            }

            /// Builds the base point's table of these operations now, rather than at the first use.
            ///
            /// # Errors
            /// [`Error::Unavailable`] where there are no lanes.
            pub fn prepare() -> Result<(), Error> {
                wide::api::prepare::<$curve, $digits>()
            }

            /// Builds the table once more, for tests of faults. Whether it is the one in use.
            ///
            /// # Errors
            /// [`Error::Fault`] where its check failed.
            #[cfg(feature = "fault")]
            pub fn rebuild() -> Result<bool, Error> {
                wide::api::rebuild::<$curve, $digits>()
            }
        }

        /// Builds the base point's table once more, for tests of faults. Whether it is the one in use.
        ///
        /// # Errors
        /// [`Error::Fault`] where its check failed.
        #[cfg(feature = "fault")]
        pub fn rebuild() -> Result<bool, Error> {
            api::rebuild::<$curve, $digits>()
        }
    };
}
pub(crate) use curve_api;

/// How much stack it uses at most to look at a key.
const LOADING_KIB: usize = 1;

/// Whether 0 < k < n. Constant time but for the answer. Leaves nothing of k.
pub(crate) fn is_scalar<C: Curve<N>, const N: usize>(bytes: &[u8]) -> bool {
    wipe::after(wipe::depth(LOADING_KIB), || {
        let mut k = [0; N];
        digits::from_bytes(bytes, &mut k);
        let any = k.iter().fold(0, |any, digit| any | digit);
        digits::is_below(&k, &C::Order::DIGITS) && told(any != 0)
    })
}

/// Whether x < p.
pub(crate) fn is_coordinate<C: Curve<N>, const N: usize>(bytes: &[u8]) -> bool {
    let mut x = [0; N];
    digits::from_bytes(bytes, &mut x);
    digits::is_below(&x, &C::Field::DIGITS)
}

/// A digest to sign.
pub(crate) struct Signing<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) digest: &'a [u8],
    pub(crate) entropy: &'a [u8; ENTROPY],
}

/// What is signed: the digest's leftmost bytes, as many as n has, else zeros before it.
pub(crate) fn digest_as_signed(digest: &[u8], bytes: usize) -> [u8; 64] {
    let mut full = [0; 64];
    let used = digest.len().min(bytes);
    full[bytes - used..bytes].copy_from_slice(&digest[..used]);
    full
}

/// A private key and a peer's point.
pub(crate) struct Deriving<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) x: &'a [u8],
    pub(crate) y: &'a [u8],
}

/// A point's coordinates, big-endian.
pub(crate) struct Coordinates<const BYTES: usize> {
    pub(crate) x: [u8; BYTES],
    pub(crate) y: [u8; BYTES],
}

/// Signs each digest.
pub(crate) fn sign<C: Curve<N>, const N: usize, const OUT: usize>(
    items: &[Signing<'_>],
) -> Vec<Result<[u8; OUT], Error>> {
    each_eight(
        5 * N,
        items,
        |items| {
            let comb = C::comb()?;
            let mut digests = [[0_u8; 64]; LANES];
            for (full, item) in digests.iter_mut().zip(items) {
                *full = digest_as_signed(item.digest, C::BYTES);
            }
            let digests = || digests.iter().map(|digest| &digest[..C::BYTES]);
            let mut messages = [NOTHING; LANES];
            for (message, (item, z)) in messages.iter_mut().zip(items.iter().zip(digests())) {
                *message = [item.entropy, item.key, z];
            }
            let d = Zeroizing::new(gather(items.iter().map(|item| item.key), one()));
            let k = Zeroizing::new(vector::run(Nonces {
                messages: &messages[..items.len()],
                order: PhantomData::<C::Order>,
            })?);
            vector::run(Sign {
                d: &d,
                z: &gather(digests(), one()),
                k: &k,
                comb,
                curve: PhantomData::<C>,
            })
        },
        |signatures, lane| {
            if told(signatures.degenerate) >> lane & 1 == 1 {
                return Err(Error::DegenerateSignature);
            }
            if told(signatures.intact) >> lane & 1 == 0 {
                return Err(Error::Fault);
            }
            let mut out = [0; OUT];
            let (r, s) = out.split_at_mut(C::BYTES);
            to_bytes(&signatures.r, lane, r);
            to_bytes(&signatures.s, lane, s);
            Ok(out)
        },
    )
}

/// The secret that each key and point share.
pub(crate) fn derive<C: Curve<N>, const N: usize>(
    items: &[Deriving<'_>],
) -> Vec<Result<Zeroizing<Vec<u8>>, Error>> {
    let [x, y] = C::GENERATOR;
    each_eight(
        7 * N,
        items,
        |items| {
            let d = Zeroizing::new(gather(items.iter().map(|item| item.key), one()));
            let peers = StoredAffine {
                x: gather(items.iter().map(|item| item.x), x),
                y: gather(items.iter().map(|item| item.y), y),
            };
            Ok(Zeroizing::new(vector::run(Derive {
                d: &d,
                peers: &peers,
                curve: PhantomData::<C>,
            })?))
        },
        |secrets, lane| {
            if told(secrets.valid) >> lane & 1 == 0 {
                return Err(Error::InvalidPublicKey);
            }
            if told(secrets.intact) >> lane & 1 == 0 {
                return Err(Error::Fault);
            }
            let mut out = Zeroizing::new(vec![0; C::BYTES]);
            to_bytes(&secrets.x, lane, &mut out);
            Ok(out)
        },
    )
}

/// The point of each private key.
pub(crate) fn public_keys<C: Curve<N>, const N: usize, const OUT: usize>(
    keys: &[&[u8]],
) -> Vec<Result<Coordinates<OUT>, Error>> {
    each_eight(
        3 * N,
        keys,
        |keys| {
            let comb = C::comb()?;
            let d = Zeroizing::new(gather(keys.iter().copied(), one()));
            vector::run(PublicKeys {
                d: &d,
                comb,
                curve: PhantomData::<C>,
            })
        },
        |points, lane| {
            if told(points.intact) >> lane & 1 == 0 {
                return Err(Error::Fault);
            }
            let (mut x, mut y) = ([0; OUT], [0; OUT]);
            to_bytes(&points.affine.x, lane, &mut x);
            to_bytes(&points.affine.y, lane, &mut y);
            Ok(Coordinates { x, y })
        },
    )
}

/// Builds the base point's table if it isn't yet.
pub(crate) fn prepare<C: Curve<N>, const N: usize>() -> Result<(), Error> {
    C::comb().map(|_| ())
}

/// Builds the base point's table once more. Whether it is the one in use.
#[cfg(feature = "fault")]
pub(crate) fn rebuild<C: Curve<N>, const N: usize>() -> Result<bool, Error> {
    Ok(super::comb::build::<C, N>()?.equals(C::comb()?))
}

/// The scalar of lanes that are left empty.
fn one<const N: usize>() -> [u64; N] {
    let mut one = [0; N];
    one[0] = 1;
    one
}
