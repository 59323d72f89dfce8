//! Keys: parsed and precomputed once, used for ever.

use super::montgomery::Modulus;
use super::number::{self, Constants, Number};
use super::power::window_bits;
use super::wide;
use crate::digits;
use crate::vector::{DIGIT, Digit};
use crate::{Error, wipe};
use zeroize::Zeroizing;

/// How much stack loading a key uses at most; digits are on the heap.
const LOADING_KIB: usize = 4;

/// The moduli that the lanes take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Size {
    Bits2048,
    Bits3072,
    Bits4096,
}

impl Size {
    pub(super) const ALL: [Size; 3] = [Size::Bits2048, Size::Bits3072, Size::Bits4096];

    pub(super) const fn bits(self) -> usize {
        match self {
            Size::Bits2048 => 2048,
            Size::Bits3072 => 3072,
            Size::Bits4096 => 4096,
        }
    }

    /// Digits of a prime; the modulus has twice as many. 16, 24 or 32 bits are to spare.
    pub(super) const fn prime_digits(self) -> usize {
        match self {
            Size::Bits2048 => 20,
            Size::Bits3072 => 30,
            Size::Bits4096 => 40,
        }
    }

    /// How much stack an operation uses at most.
    pub(super) const fn stack(self) -> usize {
        crate::wipe::depth(match self {
            Size::Bits2048 => 48,
            Size::Bits3072 => 60,
            Size::Bits4096 => 72,
        })
    }
}

/// A public key of 2048, 3072 or 4096 bits, ready for the lanes.
pub struct PublicKey {
    pub(super) size: Size,
    /// Odd, 3 or more.
    pub(super) e: u64,
    pub(super) n: Constants,
    /// n across the lanes.
    pub(super) wide: wide::PublicNumbers,
}

impl PublicKey {
    /// A key from its modulus and exponent, big-endian; leading zeros are allowed.
    ///
    /// # Errors
    /// [`Error::UnsupportedKey`]: a modulus of another size, or an exponent of more than 64 bits.
    /// [`Error::InvalidRsaKey`]: an even modulus, an exponent that is even or 1.
    pub fn new(n: &[u8], e: &[u8]) -> Result<Self, Error> {
        let n = number::from_bytes(n, 80).ok_or(Error::UnsupportedKey)?;
        let bits = number::bit_length(&n);
        let size = Size::ALL.into_iter().find(|size| size.bits() == bits);
        let size = size.ok_or(Error::UnsupportedKey)?;
        let e = number::from_bytes(e, 2).ok_or(Error::UnsupportedKey)?;
        if e[1] >> 12 != 0 {
            return Err(Error::UnsupportedKey);
        }
        let e = e[0] | e[1] << 52;
        if n[0] & 1 == 0 || e & 1 == 0 || e < 3 {
            return Err(Error::InvalidRsaKey);
        }
        let n = Number::new(n[..2 * size.prime_digits()].to_vec());
        let n = Constants::new(n, bits);
        let wide = wide::PublicNumbers::new(&n, size);
        Ok(Self { size, e, n, wide })
    }

    /// The length of the modulus in bytes: that of every input and result.
    pub fn modulus_len(&self) -> usize {
        self.size.bits() / 8
    }
}

/// The numbers of a private key as PKCS #1 (RFC 8017, A.1.2) names them, big-endian; leading zeros are
/// allowed. Either prime may be the larger.
#[derive(Clone, Copy)]
pub struct Components<'a> {
    /// The modulus.
    pub n: &'a [u8],
    /// The public exponent.
    pub e: &'a [u8],
    /// The first prime.
    pub p: &'a [u8],
    /// The second prime.
    pub q: &'a [u8],
    /// d mod (p − 1).
    pub dp: &'a [u8],
    /// d mod (q − 1).
    pub dq: &'a [u8],
    /// 1/q mod p.
    pub qinv: &'a [u8],
}

/// A private key of 2048, 3072 or 4096 bits with two primes of half that length, ready for the lanes.
/// Wiped when dropped.
pub struct PrivateKey {
    pub(super) public: PublicKey,
    pub(super) p: Prime,
    pub(super) q: Prime,
    /// (1/q)·R mod p.
    pub(super) qinv: Number,
    /// All of it across the lanes.
    pub(super) wide: wide::PrivateNumbers,
}

/// One half of the key.
pub(super) struct Prime {
    pub(super) constants: Constants,
    /// R³ mod the prime.
    pub(super) r3: Number,
    /// d mod (prime − 1), in windows of [`window_bits`], the highest first.
    pub(super) windows: Zeroizing<Vec<u8>>,
}

impl PrivateKey {
    /// A key from its numbers. Takes about as long as one private operation: do it once a key.
    ///
    /// # Errors
    /// [`Error::UnequalPrimes`] if p or q is not exactly half as long as n: such keys are rare, and
    /// another path has to take them. [`Error::UnsupportedKey`] and [`Error::InvalidRsaKey`] as for
    /// [`PublicKey::new`]; the latter also if p·q is not n, or an exponent or coefficient is out of range.
    /// That they belong to each other is not checked here: every result is.
    pub fn new(components: &Components<'_>) -> Result<Self, Error> {
        wipe::after(wipe::depth(LOADING_KIB), || Self::load(components))
    }

    fn load(components: &Components<'_>) -> Result<Self, Error> {
        let Components {
            n,
            e,
            p,
            q,
            dp,
            dq,
            qinv,
        } = *components;
        let public = PublicKey::new(n, e)?;
        let digits = public.size.prime_digits();
        let prime = |prime: &[u8]| {
            let prime = number::from_bytes(prime, 2 * digits).ok_or(Error::InvalidRsaKey)?;
            if !number::has_length(&prime, public.size.bits() / 2) {
                return Err(Error::UnequalPrimes);
            }
            Ok(Number::new(prime[..digits].to_vec()))
        };
        let (p, q) = (prime(p)?, prime(q)?);
        if !number::is_product(&p, &q, &public.n.m) {
            return Err(Error::InvalidRsaKey);
        }
        let below = |bytes: &[u8], prime: &[u64]| {
            let number = number::from_bytes(bytes, digits).ok_or(Error::InvalidRsaKey)?;
            if digits::is_below(&number, prime) {
                Ok(number)
            } else {
                Err(Error::InvalidRsaKey)
            }
        };
        let (dp, dq, qinv) = (below(dp, &p)?, below(dq, &q)?, below(qinv, &p)?);
        let half = |prime, exponent: &Number| {
            let constants = Constants::new(prime, public.size.bits() / 2);
            let r3 = constants.multiply(&constants.r2, &constants.r2);
            Prime {
                constants,
                r3,
                windows: windows(exponent, public.size),
            }
        };
        let (p, q) = (half(p, &dp), half(q, &dq));
        let qinv = p.constants.multiply(&qinv, &p.constants.r2);
        let wide = wide::PrivateNumbers::new(
            [&p.constants, &q.constants],
            [&p.r3, &q.r3],
            [&dp, &dq],
            &qinv,
            &public.n,
            public.size,
        );
        Ok(Self {
            public,
            p,
            q,
            qinv,
            wide,
        })
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// All of it that is secret.
    #[cfg(all(test, feature = "emulation"))]
    pub(crate) fn secrets(&self) -> impl Iterator<Item = &[u64]> {
        let of_prime = [&self.p, &self.q].map(|Prime { constants, r3, .. }| {
            let Constants { m, k, one, r2 } = constants;
            [&m[..], &k[..], &one[..], &r2[..], &r3[..]]
        });
        let wide = self.wide.secrets().flatten().map(|digit| &digit.0[..]);
        of_prime
            .into_iter()
            .flatten()
            .chain([&self.qinv[..]])
            .chain(wide)
    }

    /// The exponents, in windows: secret too.
    #[cfg(all(test, feature = "emulation"))]
    pub(crate) fn exponents(&self) -> [&[u8]; 3] {
        let wide = self.wide.windows().as_flattened();
        [&self.p.windows, &self.q.windows, wide]
    }
}

impl core::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PublicKey")
            .field("bits", &self.size.bits())
            .field("e", &self.e)
            .finish()
    }
}

impl core::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PrivateKey")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

/// An exponent's windows, the highest first.
fn windows(exponent: &Number, size: Size) -> Zeroizing<Vec<u8>> {
    let width = window_bits(size.prime_digits());
    let count = (size.bits() / 2).div_ceil(width);
    let window = |i: usize| number::bits(exponent, (count - 1 - i) * width, width) as u8;
    Zeroizing::new((0..count).map(window).collect())
}

/// Fills `digits`, which are 0, with eight numbers side by side: `number(lane)`, or 0 where there is none.
pub(super) fn side_by_side<'a>(digits: &mut [Digit], number: impl Fn(usize) -> Option<&'a [u64]>) {
    for lane in 0..crate::LANES {
        for (digit, value) in digits.iter_mut().zip(number(lane).unwrap_or(&[])) {
            digit.0[lane] = *value;
        }
    }
}

impl<const N: usize> Modulus<N> {
    /// Fills a [`Modulus::new`] with eight moduli side by side. A lane without one has the modulus 1: every
    /// number is 0 in it.
    pub(super) fn fill<'a>(&mut self, constants: impl Fn(usize) -> Option<&'a Constants>) {
        side_by_side(&mut self.digits, |lane| constants(lane).map(|c| &c.m[..]));
        for lane in 0..crate::LANES {
            let constants = constants(lane);
            self.k.0[lane] = constants.map_or(DIGIT, |c| c.k[0]);
            self.digits[0].0[lane] |= u64::from(constants.is_none());
        }
    }
}
